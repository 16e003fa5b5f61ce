//! Ranges over which communications could be spread.

use hayase_trace::{Call, CallKind};
use smallvec::SmallVec;

use crate::doubts::Doubts;
use crate::fold::Arguments;
use crate::model::CallPart;
use crate::past::IterationShare;
use crate::watch::{Blocker, Completion};

/// Communication and the range over which it could be spread.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Event that posts it.
    pub event: u64,
    /// Event that completes it; the same as `event` if it blocks.
    pub completion: u64,
    /// Call that begins it.
    pub call: Call,
    /// Name of the call at the line; for a persistent request, the name of the start.
    pub name: &'static str,
    /// Line of the call.
    pub line: u32,
    /// Name and line of the call that completes it, if it is another call.
    pub waits: Option<(&'static str, u32)>,
    /// Index among the messages of a neighbourhood collective, from 0; `None` if it belongs to none.
    pub neighbour: Option<u32>,
    /// Part of the call.
    pub part: CallPart,
    /// Payload \[B\].
    pub bytes: u64,
    /// Arguments of the call; the same for all receives that accept any source or any tag.
    pub arguments: Arguments,
    /// Doubts that need a check by eye.
    pub doubts: Doubts,
    /// Set if the buffer is a variable on the stack.
    pub on_stack: bool,
    /// Reach of the post, and the blocker before it.
    pub early: Reach,
    /// Reach of the completion, and the blocker after it.
    pub late: Reach,
    /// Set if it could be posted before the program reads data that arrived earlier: its arguments may depend
    /// on the data.
    pub before_reading: bool,
    /// Reach of the post if neither its arguments nor its execution depend on earlier data.
    pub beyond: Option<Box<Reach>>,
    /// True if lines were collected.
    pub detailed: bool,
    /// Earlier communications that must be complete when it is posted, and could end after
    /// [`early`](Self::early).
    pub needs: SmallVec<[Completion; 2]>,
}

impl Spread {
    /// True if a test or a wait for any of several requests found it complete, perhaps without the others.
    pub fn completed_by_itself(&self) -> bool {
        let call = self.waits.and_then(|(name, _)| Call::from_name(name));
        call.is_some_and(|call| matches!(call.kind(), CallKind::WaitAny | CallKind::Test))
    }
}

/// Range over which a communication could be spread to one side.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Blocker that ends the range.
    pub block: Blocker,
    /// Point of the end: the interval, and the share of it before the point.
    pub point: (u64, f32),
    /// Computation in the range, which does not overlap the communication now \[ns\].
    pub time: u64,
    /// Number of accesses in the range.
    pub accesses: u64,
    /// Lines in the range, with their iterations.
    pub lines: Vec<IterationShare>,
}

impl Reach {
    /// Returns an empty range.
    pub(super) fn none(block: Blocker, point: (u64, f32)) -> Self {
        Self { block, point, time: 0, accesses: 0, lines: Vec::new() }
    }
}
