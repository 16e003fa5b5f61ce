//! A pattern converted to a program, so that patterns run on node models, where calls take time.
//!
//! Every rank first posts all its receives, at no cost. It then sends in the order of the pattern, and waits
//! at its end for all requests that are still open. The injection rule decides which calls send:
//!
//! | rule | calls |
//! |---|---|
//! | `queue`, `left` | a blocking send for each message: the node model decides when it returns |
//! | `sendrecv` | a blocking send for each message, after a wait for all messages received in earlier steps |
//! | `barrier` | as `queue`, with a barrier before each step |
//! | `all` | non-blocking sends |
//! | `window=k` | non-blocking sends, each after a wait for the k-th before it |
//!
//! A pattern that is one call of a collective becomes this call, unless it has another injection rule. So its ranks
//! wait and combine as in a program.
//!
//! If a message depends on received messages, its sender waits for these before it sends. If it depends on a
//! message of its own sender, the sender waits until that one has left. Delays and start offsets become
//! computation.

use crate::base::memory;
use crate::collective::{Call, Plan};
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, MessageId, RankId};
use crate::pattern::{After, Injection, Pattern, start_offsets};
use crate::program::{Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::units::{Bytes, Time};

/// Memory of one converted message: its calls, and its receive while it is posted \[B\].
const MEMORY_PER_MESSAGE: u64 = 256;

/// A message that a rank receives.
struct Incoming {
    message: MessageId,
    bytes: u64,
    step: u32,
}

/// Returns the program in which all ranks make one call of a collective with this size, by a plan.
///
/// # Errors
/// The program has too many operations.
pub fn call_as_program(
    call: &Call,
    bytes: u64,
    plan: Plan,
    (jitter, seed): (Time, u64),
) -> Result<Program, Vec<Diagnostic>> {
    let starts = start_offsets(seed, jitter);
    let mut program = ProgramBuilder::new(call.ranks);
    let (counts, plan) = (Counts::Same(bytes), Some(plan));
    let number =
        program.collective(Collective { call: call.collective.into(), comm: 0, root: call.root, counts, plan });
    for rank in (0..call.ranks).map(RankId) {
        let mut calls = program.sequence(rank.0);
        let offset = starts(rank);
        if offset > Time::ZERO {
            calls.push(Op::calc(offset));
        }
        calls.push(Op::collective(number));
        program.finish_rank(calls);
    }
    program.build()
}

/// Converts a pattern to a program under an injection rule. Cost: proportional to its messages, in time and
/// memory.
///
/// # Errors
/// The pattern has too many messages for the free memory, a message to a rank that does not exist, or messages with
/// paths or weights of their own.
pub fn as_program(
    pattern: &dyn Pattern,
    injection: Injection,
    jitter: Time,
    seed: u64,
) -> Result<Program, Vec<Diagnostic>> {
    let ranks = pattern.ranks();
    if let Some(plan) = pattern.plan().filter(|plan| plan.has_paths || plan.is_weighted()) {
        let column = if plan.has_paths { "path" } else { "flow_weight" };
        let text = format!("the column `{column}` is for ideal nodes: on nodes with costs a pattern is a program");
        return Err(vec![Diagnostic::new("wrong-choice", text).help("leave the column out, or take ideal nodes")]);
    }
    let needed = pattern.messages().saturating_mul(MEMORY_PER_MESSAGE);
    if let Some(free) = memory::free().filter(|free| needed > *free) {
        let (needed, free) = (Bytes(needed), Bytes(free));
        let message =
            format!("on nodes that cost something this pattern needs about {needed} of memory, and {free} are free");
        return Err(vec![Diagnostic::new("too-large", message).help("take fewer ranks, or ideal nodes")]);
    }
    let mut incoming: IdVec<RankId, Vec<Incoming>> = (0..ranks).map(|_| Vec::new()).collect();
    for src in (0..ranks).map(RankId) {
        for index in 0..pattern.sends(src) {
            let message = pattern.message(src, index);
            if message.dst.0 >= ranks {
                let text = format!("rank {src} sends to rank {}, but there are {ranks} ranks", message.dst);
                return Err(vec![Diagnostic::new("unknown-rank", text)]);
            }
            let id = MessageId { src, index };
            incoming[message.dst].push(Incoming { message: id, bytes: message.bytes, step: message.step });
        }
    }
    let starts = start_offsets(seed, jitter);
    let mut program = ProgramBuilder::new(ranks);
    let barrier = Collective { call: CollectiveCall::Barrier, comm: 0, root: 0, counts: Counts::Same(0), plan: None };
    let barrier = (injection == Injection::Barrier).then(|| program.collective(barrier));
    for rank in (0..ranks).map(RankId) {
        let mut calls = program.sequence(rank.0);
        let offset = starts(rank);
        if offset > Time::ZERO {
            calls.push(Op::calc(offset));
        }
        // Messages of one sender are in the order in which it sends them.
        let incoming = std::mem::take(&mut incoming[rank]);
        let first = calls.ops().len() as u32;
        for message in &incoming {
            let from = Envelope::world(message.message.src.0, 0);
            calls.push(Op::irecv(from, message.bytes).marked(Op::WITHIN_CALL));
        }
        let mut receives = Receives::new(incoming, first);
        let mut sends: Vec<u32> = Vec::new();
        // Number of sends that have been waited for.
        let mut over = 0;
        let mut last = 0;
        let mut step = 0;
        for index in 0..pattern.sends(rank) {
            let message = pattern.message(rank, index);
            while let Some(barrier) = barrier.filter(|_| step < message.step) {
                calls.push(Op::collective(barrier));
                step += 1;
            }
            let mut wanted = Vec::new();
            if let After::Messages(needed) = &message.after {
                for message in needed {
                    if message.src == rank {
                        // Its own message: a send that is over needs no wait.
                        wanted.extend(sends.get(message.index as usize).filter(|_| message.index as usize >= over));
                    } else if !receives.wait_for(*message, &mut wanted) {
                        return Err(vec![not_received(pattern, rank, *message)]);
                    }
                }
            }
            if message.after == After::EarlierSteps || injection == Injection::SendRecv {
                receives.wait_for_steps_before(message.step, &mut wanted);
            }
            if let Injection::Window(window) = injection
                && let Some(at) = sends.len().checked_sub(window as usize).filter(|at| *at >= over)
            {
                wanted.push(sends[at]);
                over = at + 1;
            }
            if pattern.waits_for_sends() && message.step > last {
                wanted.extend_from_slice(&sends[over..]);
                over = sends.len();
            }
            last = message.step;
            if !wanted.is_empty() {
                calls.wait_list(OpKind::Waitall, &wanted);
            }
            if message.delay > Time::ZERO {
                calls.push(Op::calc(message.delay));
            }
            let to = Envelope::world(message.dst.0, 0);
            match injection {
                Injection::All | Injection::Window(_) => sends.push(calls.push(Op::isend(to, message.bytes))),
                Injection::Queue | Injection::SendRecv | Injection::Barrier | Injection::Left => {
                    calls.push(Op::send(to, message.bytes));
                }
            }
        }
        while let Some(barrier) = barrier.filter(|_| step + 1 < pattern.steps()) {
            calls.push(Op::collective(barrier));
            step += 1;
        }
        let mut rest = Vec::new();
        receives.wait_for_steps_before(u32::MAX, &mut rest);
        rest.extend_from_slice(&sends[over..]);
        if !rest.is_empty() {
            calls.wait_list(OpKind::Waitall, &rest);
        }
        program.finish_rank(calls);
    }
    program.build()
}

/// Reports a message that depends on one which its sender does not receive: no call could wait for that.
fn not_received(pattern: &dyn Pattern, rank: RankId, message: MessageId) -> Diagnostic {
    let MessageId { src, index } = message;
    let dst = pattern.message(src, index).dst;
    let text = format!("rank {rank} waits for message {index} of rank {src}, which goes to rank {dst}");
    let help =
        "on nodes with costs a rank waits only for messages that it receives; take ideal nodes, or send it a message";
    Diagnostic::new("message-elsewhere", text).help(help)
}

/// Receives of a rank in posting order, and which of them have been waited for.
struct Receives {
    incoming: Vec<Incoming>,
    /// Request of the first receive; those of the next receives follow.
    first: u32,
    waited: Vec<bool>,
    /// Positions in `incoming` by step; the first `looked_at` of them are done.
    by_step: Vec<u32>,
    looked_at: usize,
}

impl Receives {
    fn new(incoming: Vec<Incoming>, first: u32) -> Self {
        let mut by_step: Vec<u32> = (0..incoming.len() as u32).collect();
        by_step.sort_by_key(|&at| incoming[at as usize].step);
        Self { waited: vec![false; incoming.len()], incoming, first, by_step, looked_at: 0 }
    }

    /// Adds the request of this message unless it has been waited for. Returns true if this rank receives the
    /// message.
    fn wait_for(&mut self, message: MessageId, requests: &mut Vec<u32>) -> bool {
        // Receives are posted in order of their senders and of the senders' messages.
        let found = self.incoming.binary_search_by_key(&message, |incoming| incoming.message);
        if let Ok(at) = found {
            self.wait(at as u32, requests);
        }
        found.is_ok()
    }

    /// Adds the requests of all messages of steps before `step` that have not been waited for.
    fn wait_for_steps_before(&mut self, step: u32, requests: &mut Vec<u32>) {
        while let Some(&at) = self.by_step.get(self.looked_at) {
            if step < u32::MAX && self.incoming[at as usize].step >= step {
                return;
            }
            self.looked_at += 1;
            self.wait(at, requests);
        }
    }

    fn wait(&mut self, at: u32, requests: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.waited[at as usize], true) {
            requests.push(self.first + at);
        }
    }
}
