//! The buffers that messages use, found by the bytes an access touches.
//!
//! Buffers are kept by size class (powers of two) and by their lowest byte: those of class `c` that touch the bytes
//! `low..high` begin after `low - 2^(c+1)` and before `high`, so a look-up sees no more than twice those that it finds
//! and a few beside.
//!
//! Cost: O(C log B + hits) for C classes in use and B buffers.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::{CallPart, Dependence};

/// When something happens on a rank: the interval and the position in it; events are after all accesses of their
/// interval.
pub type Stamp = (u64, u64);

/// The position of an event in its interval.
pub const AT_EVENT: u64 = u64::MAX;

/// Bytes that a message is taken from or put into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Lowest byte.
    pub low: u64,
    /// One past the highest.
    pub high: u64,
    /// Set if the message is put there.
    pub write: bool,
    /// Set for what a call tells when it is complete beside the message: status, index, flag. Nobody needs the place as
    /// such, another would serve as well; so only reading it depends on the call.
    pub result: bool,
}

impl Span {
    /// Returns the bytes of a message.
    pub fn new(low: u64, high: u64, write: bool) -> Self {
        Self { low, high, write, result: false }
    }

    /// Returns what a call tells when it is complete.
    pub fn result(low: u64, high: u64) -> Self {
        Self { low, high, write: true, result: true }
    }

    /// Whether some bytes belong to both.
    pub fn touches(&self, other: &Self) -> bool {
        self.low < other.high && other.low < self.high
    }

    /// Returns why an access in `write` direction and this one cannot change places; `None`: they can. `first`: the
    /// access is first.
    pub fn dependence(&self, write: bool, first: bool) -> Option<Dependence> {
        match (write, self.write) {
            _ if self.result => (!write && !first).then_some(Dependence::Flow),
            (false, false) => None,
            (true, true) => Some(Dependence::Output),
            // What is written first and then read.
            (written, _) if written == first => Some(Dependence::Flow),
            _ => Some(Dependence::Anti),
        }
    }
}

/// What stands in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// When.
    pub stamp: Stamp,
    /// Why.
    pub dependence: Dependence,
    /// Line, [`NO_LINE`]: none.
    pub line: u32,
    /// Name of the call, if it is one.
    pub call: Option<&'static str>,
    /// Address of the conflict; 0: none.
    pub address: u64,
}

/// In the place of a line's number.
pub const NO_LINE: u32 = u32::MAX;

impl Block {
    /// Something that is at no place and has no address.
    pub fn nowhere(stamp: Stamp, dependence: Dependence) -> Self {
        Self { stamp, dependence, line: NO_LINE, call: None, address: 0 }
    }
}

/// A communication that is complete, and how late it could have been.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Through {
    /// The event that posts it.
    pub event: u64,
    /// Which part of the call.
    pub part: CallPart,
    /// What must stay behind it: it could be waited for up to here.
    pub until: Stamp,
}

/// A buffer of messages.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its bytes and direction.
    pub span: Span,
    /// The last that must stay before a message that uses it.
    pub last: Block,
    /// The first in this interval that must stay after one.
    pub first: Option<Block>,
    /// Communications that could be under way until something touches it: their serial numbers.
    pub open: SmallVec<[u64; 4]>,
    /// Communications that used it, as long as others may be posted before they could end; by the interval of their
    /// end.
    pub through: VecDeque<Through>,
    /// The last interval in which the program read it, where a message is put there; 0: none.
    pub read: u64,
    /// The call that completed the last message that was put there; `None`: none was.
    pub brought: Option<Block>,
    /// The event that used it last.
    pub used: u64,
    /// The buffers that touch it, itself among them, and the state of the watch in which that was so.
    around: (u64, SmallVec<[u32; 4]>),
}

/// All buffers of a rank that are watched.
#[derive(Debug)]
pub struct Watch {
    classes: Vec<BTreeMap<(u64, u32), ()>>,
    /// Bit `c`: class `c` is not empty.
    in_use: u64,
    buffers: Vec<Option<Buffer>>,
    free: Vec<u32>,
    numbers: FxHashMap<Span, u32>,
    /// Counts buffers that came and went.
    state: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            classes: vec![BTreeMap::new(); 64],
            in_use: 0,
            buffers: Vec::new(),
            free: Vec::new(),
            numbers: FxHashMap::default(),
            state: 1,
        }
    }
}

fn class(span: &Span) -> usize {
    (span.high - span.low).max(1).ilog2() as usize
}

impl Watch {
    /// The number of the buffer with these bytes and direction.
    pub fn find(&self, span: &Span) -> Option<u32> {
        self.numbers.get(span).copied()
    }

    /// Watches a buffer.
    pub fn add(&mut self, span: Span, last: Block, used: u64) -> u32 {
        let buffer = Some(Buffer {
            span,
            last,
            first: None,
            open: SmallVec::new(),
            through: VecDeque::new(),
            read: 0,
            brought: None,
            used,
            around: (0, SmallVec::new()),
        });
        self.state += 1;
        let number = match self.free.pop() {
            Some(number) => {
                self.buffers[number as usize] = buffer;
                number
            }
            None => {
                self.buffers.push(buffer);
                self.buffers.len() as u32 - 1
            }
        };
        self.numbers.insert(span, number);
        let class = class(&span);
        self.classes[class].insert((span.low, number), ());
        self.in_use |= 1 << class;
        number
    }

    /// The last interval in which the program read what was put there; 0: none.
    pub fn read(&self, span: &Span) -> u64 {
        let buffer = self.find(span).and_then(|number| self.buffers.get(number as usize)?.as_ref());
        buffer.map_or(0, |buffer| buffer.read)
    }

    /// Stops watching a buffer.
    pub fn remove(&mut self, number: u32) {
        let Some(buffer) = self.buffers.get_mut(number as usize).and_then(Option::take) else { return };
        self.numbers.remove(&buffer.span);
        self.state += 1;
        let class = class(&buffer.span);
        self.classes[class].remove(&(buffer.span.low, number));
        if self.classes[class].is_empty() {
            self.in_use &= !(1 << class);
        }
        self.free.push(number);
    }

    /// A buffer.
    pub fn get(&mut self, number: u32) -> Option<&mut Buffer> {
        self.buffers.get_mut(number as usize).and_then(Option::as_mut)
    }

    /// The buffers that have bytes of this one, which has these bytes: as [`touching`](Self::touching) finds them, once
    /// for all uses of a buffer until others come or go.
    pub fn around(&mut self, number: u32, span: &Span, found: &mut Vec<u32>) {
        let state = self.state;
        if let Some(Buffer { around: (known, around), span: own, .. }) = self.get(number)
            && *known == state
            && own == span
        {
            found.clear();
            found.extend_from_slice(around);
            return;
        }
        self.touching(span.low, span.high, found);
        if let Some(buffer) = self.get(number)
            && buffer.span == *span
        {
            buffer.around = (state, SmallVec::from_slice(found));
        }
    }

    /// The buffers that have some of the bytes `low..high`.
    pub fn touching(&self, low: u64, high: u64, found: &mut Vec<u32>) {
        found.clear();
        let mut classes = self.in_use;
        while classes != 0 {
            let class = classes.trailing_zeros();
            classes &= classes - 1;
            let longest = if class >= 62 { u64::MAX } else { 2 << class };
            let from = (low.saturating_sub(longest), 0);
            for (&(_, number), ()) in self.classes[class as usize].range(from..(high, 0)) {
                if self.buffers[number as usize].as_ref().is_some_and(|buffer| buffer.span.high > low) {
                    found.push(number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_buffer_that_is_touched_is_found_and_no_other(
            spans in prop::collection::vec((0_u64..300, 1_u64..80, any::<bool>()), 0..30),
            removed in prop::collection::vec(0_u32..30, 0..10),
            low in 0_u64..300, length in 1_u64..50,
        ) {
            let mut watch = Watch::default();
            let mut spans: Vec<Span> =
                spans.into_iter().map(|(low, length, write)| Span::new(low, low + length, write)).collect();
            spans.sort_by_key(|span| (span.low, span.high, span.write));
            spans.dedup();
            for &span in &spans {
                watch.add(span, Block::nowhere((0, 0), Dependence::Program), 0);
            }
            for &number in &removed {
                watch.remove(number);
            }
            let mut found = Vec::new();
            watch.touching(low, low + length, &mut found);
            found.sort_unstable();
            for (number, span) in (0..).zip(&spans) {
                let (mut first, mut again) = (Vec::new(), Vec::new());
                watch.around(number, span, &mut first);
                watch.around(number, span, &mut again);
                prop_assert_eq!(&first, &again);
                watch.touching(span.low, span.high, &mut again);
                prop_assert_eq!(&first, &again);
            }
            let asked = Span::new(low, low + length, true);
            let expected: Vec<u32> = (0..spans.len() as u32)
                .filter(|number| !removed.contains(number) && spans[*number as usize].touches(&asked))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn dependences_have_the_names_of_the_paper() {
        let (sent, received) = (Span::new(0, 8, false), Span::new(0, 8, true));
        assert_eq!(sent.dependence(true, true), Some(Dependence::Flow));
        assert_eq!(sent.dependence(true, false), Some(Dependence::Anti));
        assert_eq!(sent.dependence(false, true), None);
        assert_eq!(received.dependence(false, false), Some(Dependence::Flow));
        assert_eq!(received.dependence(false, true), Some(Dependence::Anti));
        assert_eq!(received.dependence(true, false), Some(Dependence::Output));
        let told = Span::result(0, 8);
        assert_eq!(told.dependence(false, false), Some(Dependence::Flow), "what follows may depend on a status");
        assert_eq!([(false, true), (true, true), (true, false)].map(|(w, f)| told.dependence(w, f)), [None; 3]);
    }
}
