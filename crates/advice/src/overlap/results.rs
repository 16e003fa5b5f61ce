//! What calls tell beside their messages (status, index, count, flag), and hazards that no access shows.
//!
//! What a call tells is written when it is complete, so only its completion is kept before the first reading of it
//! ([`Span::result`]). Where it is kept is the program's choice: that the place is written again, or ends, holds nobody
//! up.

use super::Search;
use crate::doubts::Doubts;
use crate::model::Dependence;
use crate::stream::Known;
use crate::watch::{Block, Span};

impl Search {
    /// Notes what the call at `here` tells, on which the communications depend that were opened since `first`.
    pub(super) fn tell(&mut self, here: Block, told: &[Span], first: u64) {
        let number = here.stamp.0;
        for span in told.iter().filter(|span| span.result) {
            let known = self.watch.find(span);
            let at = known.unwrap_or_else(|| self.watch.add(*span, here, number));
            self.idle.push_back((at, number));
            let Some(buffer) = self.watch.get(at) else { continue };
            (buffer.used, buffer.brought) = (number, Some(here.of(Dependence::Control)));
            let base = self.base;
            buffer.open.retain(|serial| *serial >= base);
            for serial in first..self.base + self.open.len() as u64 {
                let open = self.open.get_mut((serial - base) as usize).and_then(Option::as_mut);
                if let (Some(open), Some(buffer)) = (open, self.watch.get(at)) {
                    open.buffers.push(at);
                    buffer.open.push(serial);
                }
            }
        }
    }

    /// Takes note of hazards that began or ended in the newest interval.
    pub(super) fn endangered(&mut self, known: &Known) {
        for &site in &self.past.accesses().hazards {
            let Some(site) = known.sites.get(site as usize) else { continue };
            if site.write {
                self.hazards.and(site.hazard);
            } else {
                self.hazards = Doubts(self.hazards.0 & !site.hazard.0);
            }
        }
    }
}
