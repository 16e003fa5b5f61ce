//! Expansion of a collective into the steps of each rank.

use smallvec::SmallVec;

use super::algorithm::{Algorithm, Plan};
use super::call::Call;
use super::compose;
use super::phase::Phase;
use super::rounds::Action;

/// Next step of a rank in a collective; ranks are numbered within the communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Sends, and returns when the buffer may be used again (a blocking send).
    Send {
        /// Receiver.
        to: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Sends to a child of a tree, and returns while the message may still be leaving: children share the node's links.
    Post {
        /// Receiver.
        to: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Receives, and returns when the message has arrived.
    Receive {
        /// Sender.
        from: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Sends and receives at once, and returns when both are done.
    Exchange {
        /// Receiver of the sent message.
        to: u32,
        /// Size of the sent message \[B\].
        send_bytes: u64,
        /// Sender of the received message.
        from: u32,
        /// Size of the received message \[B\].
        receive_bytes: u64,
    },
    /// Starts a send, and returns at once.
    StartSend {
        /// Receiver.
        to: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Starts a receive, and returns at once.
    StartReceive {
        /// Sender.
        from: u32,
        /// Size \[B\].
        bytes: u64,
    },
    /// Waits for all messages that it has started.
    WaitAll,
    /// Combines two operands.
    Reduce {
        /// Size of one operand \[B\].
        bytes: u64,
    },
}

/// Position of a rank in an expansion; the default is the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    index: u64,
    /// Bytes to combine before the next action \[B\].
    reduce: u64,
    phase: u8,
}

/// A collective as the steps of each rank.
///
/// Messages between two ranks match in the order in which they are sent: sender and receiver agree on it.
/// Tags must keep different calls on one communicator apart.
#[derive(Clone, Debug)]
pub struct Expansion {
    pub(super) phases: SmallVec<[Phase; 2]>,
}

impl Expansion {
    /// Expands a call by an algorithm.
    ///
    /// If the algorithm cannot perform this call, the closest that can is taken, as in [`Plan::of`]. It may
    /// not exist for the operation, not support the number of ranks, or need an operator that commutes.
    pub fn new(call: &Call, algorithm: Algorithm) -> Self {
        Self::of(call, Plan::of(call, algorithm))
    }

    /// Expands a call by a plan, or by the closest that can perform the call.
    pub fn of(call: &Call, plan: Plan) -> Self {
        Self { phases: compose::phases(call, plan.feasible(call)) }
    }

    /// Returns the next step of a rank and advances the cursor; `None` when the rank is done.
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
                Action::Send { to, data } if phase.posts() => Step::Post { to, bytes: size(data) },
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

    /// Returns all steps of a rank.
    pub fn steps(&self, rank: u32) -> impl Iterator<Item = Step> + '_ {
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || self.next(rank, &mut cursor))
    }
}
