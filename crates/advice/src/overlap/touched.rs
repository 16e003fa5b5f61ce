//! Effects of accesses and calls on watched buffers: they bound later uses of a buffer, and end its open
//! communications.

use super::{Listener, OpenCommunication, Search};
use crate::accesses::Accesses;
use crate::address::End;
use crate::model::Dependence;
use crate::stream::TraceState;
use crate::watch::{Blocker, Completion, NO_LINE};

impl Search {
    /// Applies the accesses of the interval to the watched buffers.
    pub(super) fn accessed(&mut self, number: u64, listener: &mut impl Listener, known: &TraceState) {
        let accesses: &Accesses = self.past.accesses();
        if accesses.count == 0 && accesses.frames.is_empty() {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        let mut marked = std::mem::take(&mut self.marked);
        let mut read: Vec<Completion> = Vec::new();
        for piece in accesses.touching() {
            let (low, high) = piece.span();
            self.watch.touching(low, high, &mut found);
            let Some(site) = known.sites.get(piece.site() as usize) else { continue };
            for &buffer_number in &found {
                let Some(buffer) = self.watch.get(buffer_number) else { continue };
                let span = buffer.span;
                if let Some(brought) = buffer.brought.filter(|_| !site.write)
                    && (buffer.read != number || self.reading < (number, piece.last()))
                    && piece.hit(span.low, span.high, End::First).is_some()
                {
                    // Only the last communication that ended on the buffer can have ended late.
                    let ended = buffer.through.back().filter(|_| buffer.read != number).copied();
                    buffer.read = number;
                    read.extend(ended);
                    self.control = self.control.max(brought);
                    self.reading = self.reading.max((number, piece.last()));
                }
                if let Some(before) = span.dependence(site.write, true)
                    && buffer.last.stamp < (number, piece.last())
                    && let Some(hit) = piece.hit(span.low, span.high, End::Last)
                    && buffer.last.stamp < (number, hit.position)
                {
                    let stamp = (number, hit.position);
                    buffer.last =
                        Blocker { stamp, dependence: before, line: site.line, call: site.block, address: hit.address };
                }
                if !buffer.open.is_empty()
                    && let Some(hit) = piece.hit(span.low, span.high, End::First)
                    && buffer.first.is_none_or(|first| (number, hit.position) < first.stamp)
                    && let Some(dependence) = span.dependence(site.write, false)
                {
                    if buffer.first.is_none() {
                        marked.push(buffer_number);
                    }
                    let stamp = (number, hit.position);
                    buffer.first =
                        Some(Blocker { stamp, dependence, line: site.line, call: site.block, address: hit.address });
                }
            }
        }
        let opaque = |&(position, site): &(u64, u32)| {
            let line = known.sites.get(site as usize).map_or(NO_LINE, |site| site.line);
            Blocker { line, ..Blocker::nowhere((number, position), Dependence::Opaque) }
        };
        let unknown = accesses.opaque.first().map(opaque);
        if let Some(last) = accesses.opaque.last().map(opaque) {
            self.fence = self.fence.max(last);
        }
        // Communications end where a marked buffer is touched, but not after the first unknown call.
        let mut ends: Vec<(u64, Blocker)> = Vec::new();
        for &buffer_number in &marked {
            let Some(buffer) = self.watch.get(buffer_number) else { continue };
            let Some(first) = buffer.first.take() else { continue };
            ends.extend(buffer.open.drain(..).map(|serial| (serial, first)));
        }
        marked.clear();
        if let Some(block) = unknown {
            ends.extend((self.base..self.base + self.open.len() as u64).map(|serial| (serial, block)));
        }
        read.into_iter().for_each(|through| self.record_read(through));
        ends.sort_by_key(|&(serial, block)| (serial, block.stamp));
        for (serial, block) in ends {
            self.close(serial, block, listener, known);
        }
        (self.found, self.marked) = (found, marked);
    }

    /// Applies the use of a communication's buffers by a call.
    pub(super) fn used(
        &mut self,
        open: &OpenCommunication,
        block: Blocker,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        let mut found = std::mem::take(&mut self.found);
        for (span, &buffer) in open.spans.iter().zip(&open.buffers) {
            self.watch.around(buffer, span, &mut found);
            for &number in &found {
                let Some(buffer) = self.watch.get(number) else { continue };
                let conflict = buffer.span.low.max(span.low);
                let address = conflict;
                if let Some(dependence) = buffer.span.dependence(span.write, true)
                    && buffer.last.stamp < block.stamp
                {
                    buffer.last = Blocker { dependence, address, ..block };
                }
                if let Some(dependence) = buffer.span.dependence(span.write, false) {
                    for serial in std::mem::take(&mut buffer.open) {
                        self.close(serial, Blocker { dependence, address, ..block }, listener, known);
                    }
                }
            }
        }
        self.found = found;
    }
}
