//! Neighbourhood collectives: each call is recorded as its messages, which are posted together and complete
//! together.

use super::{Listener, OpenCommunication, Reach, Search};
use crate::stream::TraceState;

impl Search {
    /// Opens the messages of completed neighbourhood collectives; `blocking` is true if the call that began
    /// them completes them.
    #[allow(clippy::vec_box, reason = "open communications are kept in boxes")]
    pub(super) fn open_together(
        &mut self,
        number: u64,
        mut messages: Vec<Box<OpenCommunication>>,
        blocking: bool,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        while let Some(line) = messages.first().map(|open| open.spread.line) {
            let end = messages.iter().position(|open| open.spread.line != line).unwrap_or(messages.len());
            let rest = messages.split_off(end);
            let early = latest(messages.iter().map(|open| &open.spread.early));
            let free = messages.iter().map(|open| open.spread.beyond.as_deref().unwrap_or(&open.spread.early));
            let beyond = latest(free)
                .filter(|beyond| early.as_ref().is_some_and(|early| beyond.block.stamp < early.block.stamp));
            let first = self.base + self.open.len() as u64;
            let together = first..first + messages.len() as u64;
            for (place, mut open) in (0..).zip(std::mem::replace(&mut messages, rest)) {
                open.together = together.clone();
                let spread = &mut open.spread;
                (spread.neighbour, spread.beyond) = (Some(place), beyond.clone().map(Box::new));
                if let Some(early) = &early {
                    spread.early = early.clone();
                }
                if blocking {
                    spread.waits = None;
                }
                self.open(number, open, listener, known);
            }
        }
    }
}

/// Returns the reach that goes back least.
fn latest<'r>(reaches: impl Iterator<Item = &'r Reach>) -> Option<Reach> {
    reaches.max_by_key(|reach| reach.block.stamp).cloned()
}
