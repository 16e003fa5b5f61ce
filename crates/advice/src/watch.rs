//! Buffers of messages, found by the bytes that an access touches.
//!
//! Buffers are kept by size class (powers of two) and by their lowest byte. Buffers of class `c` that touch
//! the bytes `low..high` begin after `low - 2^(c+1)` and before `high`. So a look-up sees at most twice as
//! many buffers as it returns, and a few more.
//!
//! Cost: O(C log B + hits) for C classes in use and B buffers.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::{CallPart, Dependence};

/// Time of an event on a rank: the interval and the position in it. A call comes after all accesses of its
/// interval.
pub type Stamp = (u64, u64);

/// Position of a call in its interval.
pub const AT_EVENT: u64 = u64::MAX;

/// Bytes that a message is read from or written to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Lowest byte.
    pub low: u64,
    /// One past the highest byte.
    pub high: u64,
    /// Set if the message is written there.
    pub write: bool,
    /// Set for a result besides the message: status, index or flag. Another place would serve as well, so
    /// only reads of it depend on the call.
    pub result: bool,
}

impl Span {
    /// Returns the bytes of a message.
    pub fn new(low: u64, high: u64, write: bool) -> Self {
        Self { low, high, write, result: false }
    }

    /// Returns the bytes of a result of a call.
    pub fn result(low: u64, high: u64) -> Self {
        Self { low, high, write: true, result: true }
    }

    /// True if both have a byte in common.
    pub fn touches(&self, other: &Self) -> bool {
        self.low < other.high && other.low < self.high
    }

    /// Returns the dependence that keeps an access in `write` direction and this one in order; `None` if they
    /// can be exchanged. `first` is true if the access is first.
    pub fn dependence(&self, write: bool, first: bool) -> Option<Dependence> {
        match (write, self.write) {
            _ if self.result => (!write && !first).then_some(Dependence::Flow),
            (false, false) => None,
            (true, true) => Some(Dependence::Output),
            // A write and then a read.
            (written, _) if written == first => Some(Dependence::Flow),
            _ => Some(Dependence::Anti),
        }
    }
}

/// Blocker: an access or call that a communication cannot pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocker {
    /// Time of the blocker.
    pub stamp: Stamp,
    /// Dependence that forbids passing it.
    pub dependence: Dependence,
    /// Number of the line; [`NO_LINE`] if there is none.
    pub line: u32,
    /// Name of the call, if it is one.
    pub call: Option<&'static str>,
    /// Address of the conflict; 0 if there is none.
    pub address: u64,
}

/// Value in place of a line's number if there is no line.
pub const NO_LINE: u32 = u32::MAX;

impl Blocker {
    /// Returns a block without a line and an address.
    pub fn nowhere(stamp: Stamp, dependence: Dependence) -> Self {
        Self { stamp, dependence, line: NO_LINE, call: None, address: 0 }
    }
}

/// Completed communication and its latest possible end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Completion {
    /// Event that posts it.
    pub event: u64,
    /// Part of the call.
    pub part: CallPart,
    /// Latest time up to which it could be waited for.
    pub until: Stamp,
}

/// Watched buffer of messages.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Bytes and direction.
    pub span: Span,
    /// Last access or call that must stay before a message that uses the buffer.
    pub last: Blocker,
    /// First access of this interval that must stay after an open message.
    pub first: Option<Blocker>,
    /// Serial numbers of communications that could be under way until something touches the buffer.
    pub open: SmallVec<[u64; 4]>,
    /// Communications that used the buffer, ordered by the interval of their end. They are kept while others
    /// may be posted before they could end.
    pub through: VecDeque<Completion>,
    /// Last interval in which the program read received data from it; 0 if none.
    pub read: u64,
    /// Call that completed the last message received into it; `None` if there was none.
    pub brought: Option<Blocker>,
    /// Event that used it last.
    pub used: u64,
    /// Buffers that touch it, including itself, and the state of the watch for which the list is valid.
    around: (u64, SmallVec<[u32; 4]>),
}

/// All watched buffers of a rank.
#[derive(Debug)]
pub struct Watch {
    classes: Vec<BTreeMap<(u64, u32), ()>>,
    /// Bit `c` is set if class `c` is not empty.
    in_use: u64,
    buffers: Vec<Option<Buffer>>,
    free: Vec<u32>,
    numbers: FxHashMap<Span, u32>,
    /// Counter of added and removed buffers.
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
    /// Returns the number of the buffer with these bytes and direction.
    pub fn find(&self, span: &Span) -> Option<u32> {
        self.numbers.get(span).copied()
    }

    /// Adds a buffer and returns its number.
    pub fn add(&mut self, span: Span, last: Blocker, used: u64) -> u32 {
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

    /// Returns the last interval in which the program read received data from these bytes; 0 if none.
    pub fn read(&self, span: &Span) -> u64 {
        let buffer = self.find(span).and_then(|number| self.buffers.get(number as usize)?.as_ref());
        buffer.map_or(0, |buffer| buffer.read)
    }

    /// Removes a buffer.
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

    /// Returns the buffer with this number.
    pub fn get(&mut self, number: u32) -> Option<&mut Buffer> {
        self.buffers.get_mut(number as usize).and_then(Option::as_mut)
    }

    /// Finds the buffers that overlap buffer `number` with bytes `span`, as [`touching`](Self::touching)
    /// does.
    ///
    /// The result is cached until a buffer is added or removed.
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

    /// Finds the buffers that overlap the bytes `low..high`.
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
                watch.add(span, Blocker::nowhere((0, 0), Dependence::Program), 0);
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
