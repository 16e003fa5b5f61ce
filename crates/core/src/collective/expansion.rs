//! A collective in steps: what each rank does, one after the other.

use smallvec::SmallVec;

use super::algorithm::{Algorithm, Plan};
use super::call::Call;
use super::compose;
use super::phase::Phase;
use super::rounds::Action;

/// What a rank does next in a collective; ranks are numbered within the communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Sends, and goes on when the message may be forgotten (a blocking send).
    Send {
        /// Who gets it.
        to: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Receives, and goes on when the message is there.
    Receive {
        /// Who sends it.
        from: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Sends and receives at once, and goes on when both are done.
    Exchange {
        /// Who gets what is sent.
        to: u32,
        /// Size of what is sent \[B\].
        send_bytes: u64,
        /// Who sends what is received.
        from: u32,
        /// Size of what is received \[B\].
        receive_bytes: u64,
    },
    /// Starts to send, and goes on at once.
    StartSend {
        /// Who gets it.
        to: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Starts to receive, and goes on at once.
    StartReceive {
        /// Who sends it.
        from: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Waits for everything that it has started.
    WaitAll,
    /// Combines so many bytes of two operands.
    Reduce {
        /// Size of one operand \[B\].
        bytes: u64,
    },
}

/// Where a rank is in an expansion; starts at the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    index: u64,
    /// Bytes to combine before the next action \[B\].
    reduce: u64,
    phase: u8,
}

/// A collective in steps.
///
/// Messages of two ranks match in the order in which they are sent: sender and receiver agree on it. Different calls
/// on one communicator must be kept apart by their tags.
#[derive(Clone, Debug)]
pub struct Expansion {
    pub(super) phases: SmallVec<[Phase; 2]>,
}

impl Expansion {
    /// The expansion of a call by an algorithm.
    ///
    /// Where the algorithm cannot do this call (no such algorithm for the operation, a number of ranks it is not made
    /// for, an operator that does not commute), a close one that can is taken: [`Plan::of`] says which.
    pub fn new(call: &Call, algorithm: Algorithm) -> Self {
        Self::of(call, Plan::of(call, algorithm))
    }

    /// The expansion of a call by a plan, or by the closest that can do the call.
    pub fn of(call: &Call, plan: Plan) -> Self {
        Self { phases: compose::phases(call, plan.feasible(call)) }
    }

    /// The next step of a rank, and moves the cursor on; `None` when the rank is done.
    ///
    /// Cost: constant for most algorithms, O(log P) in trees.
    pub fn next(&self, rank: u32, cursor: &mut Cursor) -> Option<Step> {
        if cursor.reduce > 0 {
            return Some(Step::Reduce { bytes: std::mem::take(&mut cursor.reduce) });
        }
        loop {
            let phase = self.phases.get(usize::from(cursor.phase))?;
            let Some(action) = phase.action(rank, cursor.index) else {
                cursor.phase += 1;
                cursor.index = 0;
                continue;
            };
            cursor.index += 1;
            let size = |data| phase.bytes(rank, data);
            let step = match action {
                Action::Nothing => continue,
                Action::Send { to, data } => Step::Send { to, bytes: size(data) },
                Action::StartSend { to, data } => Step::StartSend { to, bytes: size(data) },
                Action::StartReceive { from, data } => Step::StartReceive { from, bytes: size(data) },
                Action::WaitAll => Step::WaitAll,
                Action::Receive { from, data, then } => {
                    let bytes = size(data);
                    cursor.reduce = then.operands() * bytes;
                    Step::Receive { from, bytes }
                }
                Action::Exchange { to, sent, from, received, then } => {
                    let receive_bytes = size(received);
                    cursor.reduce = then.operands() * receive_bytes;
                    Step::Exchange { to, send_bytes: size(sent), from, receive_bytes }
                }
            };
            return Some(step);
        }
    }

    /// All steps of a rank.
    pub fn steps(&self, rank: u32) -> impl Iterator<Item = Step> + '_ {
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || self.next(rank, &mut cursor))
    }
}
