//! Order of communications: messages that must not overtake each other, and earlier communications that use
//! the same bytes and could end late.
//!
//! [`Search`] spreads each communication while all others stay in place. Two that both move could still
//! cross. With `X -> Y`, X may be waited for up to `e_X`, the first thing that needs it. Y may be posted from
//! `s_Y` on, behind the last thing that it needs. Both lie between X and Y, and often `s_Y < e_X`, because
//! the bytes are not touched in between. So each communication names the earlier ones on its bytes for which
//! that holds:
//! ```text
//! needs(Y) = { X : X -> Y, e_X > s_Y }
//! ```
//! It also names every X whose results were read before Y, because X may decide if Y is made and with which
//! arguments. The end of any other communication cannot pass the post of Y, wherever the two are put. `needs`
//! covers every pair that could cross by its bytes: accesses do not move, and posts only move forward in the
//! order of messages, each not before the present place of its predecessor.
//!
//! Cost: the buffers that touch those of the communication, and the communications that are named.

use hayase_trace::Event;
use smallvec::SmallVec;

use super::{Listener, OpenCommunication, Search, Spread};
use crate::calls::Communication;
use crate::model::{CallPart, Dependence, Needed};
use crate::stream::TraceState;
use crate::watch::{AT_EVENT, Blocker, Completion, Span, Stamp};

/// Size of the largest number that a call takes by address \[B\].
pub(super) const NUMBER: u64 = 8;

/// Converts the communications that an event needs to distances from it.
pub(crate) fn needed(needs: &[Completion], event: u64) -> Vec<Needed> {
    needs.iter().map(|need| Needed { distance: event - need.event, part: need.part }).collect()
}

impl Search {
    /// Returns the earlier communications that use bytes of `part`, must stay in order with it, and could end
    /// after `data`.
    pub(super) fn needs(
        &mut self,
        number: u64,
        part: &Communication,
        buffers: &[u32],
        data: Stamp,
    ) -> SmallVec<[Completion; 2]> {
        let mut needs: SmallVec<[Completion; 2]> = SmallVec::new();
        let mut found = std::mem::take(&mut self.found);
        for (span, &buffer) in part.spans.iter().zip(buffers) {
            self.watch.around(buffer, span, &mut found);
            for &near in &found {
                let Some(buffer) = self.watch.get(near) else { continue };
                if buffer.span.dependence(span.write, true).is_none() {
                    continue;
                }
                // Communications that this call ends, and those that ended before.
                let open = buffer.open.iter().filter_map(|serial| {
                    let Spread { event, part, .. } =
                        self.open.get(usize::try_from(serial.checked_sub(self.base)?).ok()?)?.as_ref()?.spread;
                    Some(Completion { event, part, until: (number, AT_EVENT) })
                });
                needs.extend(open);
                let ended = buffer.through.iter().rev().take_while(|through| through.until.0 >= data.0);
                needs.extend(ended.filter(|through| through.until > data).copied());
            }
        }
        self.found = found;
        if needs.len() > 1 {
            needs.sort_unstable();
            needs.dedup();
        }
        needs
    }

    /// Returns the last event that may decide the newest call or its arguments.
    ///
    /// It is a call whose results have been read, or a write of a variable that is an argument or is read
    /// after the last loop.
    pub(super) fn decided(&mut self, number: u64, arguments: &[Span], known: &TraceState) -> Blocker {
        let mut control = self.control;
        for &span in self.past.accesses().read_last(&known.sites).iter().chain(arguments) {
            let variable = match self.watch.find(&span) {
                Some(variable) => variable,
                None => self.watch.add(span, self.past.last(&span, self.limits.back, known), number),
            };
            self.idle.push_back((variable, number));
            let Some(variable) = self.watch.get(variable) else { continue };
            variable.used = number;
            if variable.last.dependence != Dependence::Limit {
                control = control.max(variable.last.of(Dependence::Control));
            }
        }
        control
    }

    /// Returns the communications whose results have been read, and that could end after `data`.
    pub(super) fn decided_by(&self, data: Stamp) -> SmallVec<[Completion; 2]> {
        let read = self.read.iter().rev().take_while(|through| through.until.0 >= data.0);
        read.filter(|through| through.until > data).copied().collect()
    }

    /// Records that results of a communication have been read.
    pub(super) fn record_read(&mut self, through: Completion) {
        let first = self.past.number().saturating_sub(self.limits.back);
        while self.read.front().is_some_and(|old| old.until.0 < first) {
            self.read.pop_front();
        }
        self.read.push_back(through);
    }

    /// Records in its buffers that a communication could be under way until `until`.
    pub(super) fn record_end(&mut self, open: &OpenCommunication, until: Stamp) {
        let Spread { event, part, completion, .. } = open.spread;
        if until <= (completion, AT_EVENT) {
            return;
        }
        // Kept while another communication may be posted before that end.
        let first = self.past.number().saturating_sub(self.limits.back);
        for &buffer in &open.buffers {
            let Some(buffer) = self.watch.get(buffer) else { continue };
            while buffer.through.front().is_some_and(|old| old.until.0 < first) {
                buffer.through.pop_front();
            }
            buffer.through.push_back(Completion { event, part, until });
        }
    }

    /// Ends the open communications whose data could be the counts of a call.
    ///
    /// The call reads its counts, and their place in memory was not recorded.
    pub(super) fn end_possible_counts(
        &mut self,
        number: u64,
        event: &Event,
        line: u32,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        let most = 8 * event.counts.len().max(event.counts2.len()) as u64;
        if most == 0 {
            return;
        }
        let here = Blocker { line, call: Some(self.name), ..Blocker::nowhere((number, AT_EVENT), Dependence::Flow) };
        let counts = |span: &Span| span.write && span.high - span.low <= most;
        for serial in self.base..self.base + self.open.len() as u64 {
            let at = serial.checked_sub(self.base).and_then(|at| self.open.get(at as usize)?.as_ref());
            if at.is_some_and(|open| open.spans.iter().any(counts)) {
                self.close(serial, here, listener, known);
            }
        }
    }

    /// Returns the last call that a communication must not overtake, and records its own place in the order.
    pub(super) fn order(&mut self, event: &Event, part: &Communication, here: Blocker) -> Blocker {
        let comm = event.comm;
        let mut last = Blocker::nowhere((0, 0), Dependence::Program);
        let mut behind = |block: Option<Blocker>| last = last.max(block.unwrap_or(last));
        let key = (part.part, comm, part.peer, part.tag);
        match part.part {
            CallPart::Receive if part.wildcard => {
                self.wild.insert(comm, here);
                behind(self.receives.insert(comm, here));
            }
            CallPart::Receive => {
                behind(self.order.insert(key, here));
                behind(self.wild.get(&comm).copied());
                self.receives.insert(comm, here);
            }
            CallPart::Send => behind(self.order.insert(key, here)),
            CallPart::Collective => behind(self.order.insert((part.part, comm, 0, 0), here)),
        }
        last
    }
}
