//! Results of calls besides their messages (status, index, count, flag), and hazards that no access shows.
//!
//! A call writes its results when it is complete, so only its completion must stay before the first read of
//! them ([`Span::result`]). The program chooses the place of the results: a later write to the place, or the
//! end of its block, delays nothing.

use super::Search;
use crate::doubts::Doubts;
use crate::model::Dependence;
use crate::stream::TraceState;
use crate::watch::{Blocker, Span};

impl Search {
    /// Records the results of the call at `here`, which depend on the communications opened since `first`.
    pub(super) fn record_results(&mut self, here: Blocker, told: &[Span], first: u64) {
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

    /// Updates the hazards that began or ended in the newest interval.
    pub(super) fn update_hazards(&mut self, known: &TraceState) {
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
