//! A pattern as the program that a rank of it would be: so that patterns run on node models, where calls cost
//! something.
//!
//! Every rank posts all its receives first, at no cost, then sends in the order of the pattern, and waits for what is
//! still open at its end. When it sends is said by the injection rule, in calls:
//!
//! | rule | calls |
//! |---|---|
//! | `queue`, `left` | a blocking send each: the node model says when it is over |
//! | `sendrecv` | a blocking send each, after a wait for everything it receives in earlier steps |
//! | `barrier` | the same as `queue`, with a barrier before each step |
//! | `all` | non-blocking sends |
//! | `window=k` | the same, each after a wait for the k-th before it |
//!
//! What a message needs to have been received before it is waited for, where its sender receives it; of a message of
//! its own the sender waits until it has left. Delays and start offsets are computation.

use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, MessageId, RankId};
use crate::pattern::{After, Injection, Pattern, start_offsets};
use crate::program::{Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::units::{Bytes, Time};

/// What a message takes that is spelled out: its calls, and its receive while it is posted \[B\].
const EACH: u64 = 256;

/// A message that a rank receives.
struct Incoming {
    message: MessageId,
    bytes: u64,
    step: u32,
}

/// The calls that a pattern makes under an injection rule. Cost: proportional to its messages, in time and memory.
///
/// # Errors
/// It has too many messages to be spelled out, or one for a rank that there is not.
pub fn as_program(
    pattern: &dyn Pattern,
    injection: Injection,
    jitter: Time,
    seed: u64,
) -> Result<Program, Vec<Diagnostic>> {
    let ranks = pattern.ranks();
    let needed = pattern.messages().saturating_mul(EACH);
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
    let barrier = Collective { call: CollectiveCall::Barrier, comm: 0, root: 0, counts: Counts::Same(0) };
    let barrier = (injection == Injection::Barrier).then(|| program.collective(barrier));
    for rank in (0..ranks).map(RankId) {
        let mut calls = program.sequence(rank.0);
        let offset = starts(rank);
        if offset > Time::ZERO {
            calls.push(Op::calc(offset));
        }
        // Of one sender they come in the order in which it sends them.
        let incoming = std::mem::take(&mut incoming[rank]);
        let first = calls.ops().len() as u32;
        for message in &incoming {
            let from = Envelope::world(message.message.src.0, 0);
            calls.push(Op::irecv(from, message.bytes).marked(Op::WITHIN_CALL));
        }
        let mut receives = Receives::new(incoming, first);
        let mut sends: Vec<u32> = Vec::new();
        // How many of them have been waited for.
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
                        // Its own: a call that is over has left it alone already.
                        wanted.extend(sends.get(message.index as usize).filter(|_| message.index as usize >= over));
                    } else if !receives.wait_for(*message, &mut wanted) {
                        return Err(vec![elsewhere(pattern, rank, *message)]);
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

/// The mistake of a message that waits for one which its sender does not receive: no call could wait for that.
fn elsewhere(pattern: &dyn Pattern, rank: RankId, message: MessageId) -> Diagnostic {
    let MessageId { src, index } = message;
    let dst = pattern.message(src, index).dst;
    let text = format!("rank {rank} waits for message {index} of rank {src}, which goes to rank {dst}");
    let help = "on nodes that cost something a rank waits for what it receives; take ideal nodes, or send it a message";
    Diagnostic::new("message-elsewhere", text).help(help)
}

/// What a rank receives, in the order in which it is posted, and what of it has been waited for.
struct Receives {
    incoming: Vec<Incoming>,
    /// The request of the first of them; the others follow.
    first: u32,
    waited: Vec<bool>,
    /// In order of their steps, and how many of these have been looked at.
    by_step: Vec<u32>,
    looked_at: usize,
}

impl Receives {
    fn new(incoming: Vec<Incoming>, first: u32) -> Self {
        let mut by_step: Vec<u32> = (0..incoming.len() as u32).collect();
        by_step.sort_by_key(|&at| incoming[at as usize].step);
        Self { waited: vec![false; incoming.len()], incoming, first, by_step, looked_at: 0 }
    }

    /// Adds the request of this message, if it has not been waited for; whether it is received here at all.
    fn wait_for(&mut self, message: MessageId, requests: &mut Vec<u32>) -> bool {
        // Posted in order of senders and of their messages.
        let found = self.incoming.binary_search_by_key(&message, |incoming| incoming.message);
        if let Ok(at) = found {
            self.wait(at as u32, requests);
        }
        found.is_ok()
    }

    /// Adds the requests of all messages of earlier steps than this that have not been waited for.
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
