//! What a communication must stay behind: messages that it must not overtake, and earlier communications that use its
//! bytes and could end late.
//!
//! [`Search`] says how far one communication can be spread while all others stay where they are. Two that both move
//! could still cross: with `X -> Y`, X may be waited for up to `e_X`, the first thing that needs it, and Y be posted
//! from `s_Y` on, behind the last thing that it needs; both lie between X and Y, and `s_Y < e_X` is the rule where the
//! bytes rest in between. So each communication names those before it that use its bytes and for which that is so:
//! ```text
//! needs(Y) = { X : X -> Y, e_X > s_Y }
//! ```
//! The same holds of an X whose results were read before Y, which may decide whether Y is made and how.
//! Of all others the end cannot pass Y's post, wherever the two are put. Every pair that could cross by its bytes is in
//! it: accesses do not move, and posts only move forward in the order of messages, each not before the place where its
//! predecessor is now.
//!
//! Cost: the buffers that touch those of the communication, and the communications that are named.

use hayase_trace::Event;
use smallvec::SmallVec;

use super::{Listener, Open, Search, Spread};
use crate::calls::Communication;
use crate::model::{CallPart, Dependence, Needed};
use crate::stream::Known;
use crate::watch::{AT_EVENT, Block, Span, Stamp, Through};

/// Size of the largest number that a call takes by address \[B\].
pub(super) const NUMBER: u64 = 8;

/// Communications that one at event `event` depends on, counted back from there.
pub(crate) fn needed(needs: &[Through], event: u64) -> Vec<Needed> {
    needs.iter().map(|need| Needed { distance: event - need.event, part: need.part }).collect()
}

impl Search {
    /// Earlier communications that use the bytes of one of this call, in a way that keeps them in order, and could end
    /// behind `data`, the last thing whose data it needs.
    pub(super) fn needs(
        &mut self,
        number: u64,
        part: &Communication,
        buffers: &[u32],
        data: Stamp,
    ) -> SmallVec<[Through; 2]> {
        let mut needs: SmallVec<[Through; 2]> = SmallVec::new();
        let mut found = std::mem::take(&mut self.found);
        for (span, &buffer) in part.spans.iter().zip(buffers) {
            self.watch.around(buffer, span, &mut found);
            for &near in &found {
                let Some(buffer) = self.watch.get(near) else { continue };
                if buffer.span.dependence(span.write, true).is_none() {
                    continue;
                }
                // Those that this call ends, and those that something else has ended.
                let open = buffer.open.iter().filter_map(|serial| {
                    let Spread { event, part, .. } =
                        self.open.get(usize::try_from(serial.checked_sub(self.base)?).ok()?)?.as_ref()?.spread;
                    Some(Through { event, part, until: (number, AT_EVENT) })
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

    /// Returns the last thing that may decide the arguments of the newest call, or whether it is made: a call whose
    /// results have been read, or a write of a variable that is an argument or is read behind the last loop.
    pub(super) fn decided(&mut self, number: u64, arguments: &[Span], known: &Known) -> Block {
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

    /// Returns communications whose results have been read, and that could end behind `data`.
    pub(super) fn decided_by(&self, data: Stamp) -> SmallVec<[Through; 2]> {
        let read = self.read.iter().rev().take_while(|through| through.until.0 >= data.0);
        read.filter(|through| through.until > data).copied().collect()
    }

    /// Notes that results of a communication have been read.
    pub(super) fn was_read(&mut self, through: Through) {
        let first = self.past.number().saturating_sub(self.limits.back);
        while self.read.front().is_some_and(|old| old.until.0 < first) {
            self.read.pop_front();
        }
        self.read.push_back(through);
    }

    /// A communication could be under way up to here.
    pub(super) fn ended(&mut self, open: &Open, until: Stamp) {
        let Spread { event, part, completion, .. } = open.spread;
        if until <= (completion, AT_EVENT) {
            return;
        }
        // As long as another may be posted before that.
        let first = self.past.number().saturating_sub(self.limits.back);
        for &buffer in &open.buffers {
            let Some(buffer) = self.watch.get(buffer) else { continue };
            while buffer.through.front().is_some_and(|old| old.until.0 < first) {
                buffer.through.pop_front();
            }
            buffer.through.push_back(Through { event, part, until });
        }
    }

    /// A call that is given counts reads them, and where they lie was not recorded: what came and could be counts is
    /// complete by then.
    pub(super) fn counted(
        &mut self,
        number: u64,
        event: &Event,
        line: u32,
        listener: &mut impl Listener,
        known: &Known,
    ) {
        let most = 8 * event.counts.len().max(event.counts2.len()) as u64;
        if most == 0 {
            return;
        }
        let here = Block { line, call: Some(self.name), ..Block::nowhere((number, AT_EVENT), Dependence::Flow) };
        let counts = |span: &Span| span.write && span.high - span.low <= most;
        for serial in self.base..self.base + self.open.len() as u64 {
            let at = serial.checked_sub(self.base).and_then(|at| self.open.get(at as usize)?.as_ref());
            if at.is_some_and(|open| open.spans.iter().any(counts)) {
                self.close(serial, here, listener, known);
            }
        }
    }

    /// What a communication must not be posted before, because of the order of messages; notes its own place in it.
    pub(super) fn order(&mut self, event: &Event, part: &Communication, here: Block) -> Block {
        let comm = event.comm;
        let mut last = Block::nowhere((0, 0), Dependence::Program);
        let mut behind = |block: Option<Block>| last = last.max(block.unwrap_or(last));
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
