//! A pattern as the program that a rank of it would be: so that patterns run on node models, where calls cost something.
//!
//! Every rank posts all its receives first, at no cost, then sends in the order of the pattern, and waits for what is still open at its end. When
//! it sends is said by the injection rule, in calls:
//!
//! | rule | calls |
//! |---|---|
//! | `queue`, `left` | a blocking send each: the node model says when it is over |
//! | `sendrecv` | a blocking send each, after a wait for everything it receives in earlier steps |
//! | `barrier` | the same as `queue`, with a barrier before each step |
//! | `all` | non-blocking sends |
//! | `window=k` | the same, each after a wait for the k-th before it |
//!
//! What a message needs to have been received before it is waited for; delays and start offsets are computation.

use super::pattern::{After, Injection, Pattern, start_offset};
use super::program::{Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, MessageId, RankId};
use crate::units::Time;

/// Messages of a pattern that is spelled out as a program, at most: each takes some 100 bytes.
const MOST: u64 = 50_000_000;

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
    let (ranks, messages) = (pattern.ranks(), pattern.messages());
    if messages > MOST {
        let message = format!("a pattern of {messages} messages is too long for a node model: {MOST} are the most");
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
    let mut program = ProgramBuilder::new(ranks);
    let barrier = Collective { call: CollectiveCall::Barrier, comm: 0, root: 0, counts: Counts::Same(0) };
    let barrier = (injection == Injection::Barrier).then(|| program.collective(barrier));
    for rank in (0..ranks).map(RankId) {
        let mut calls = program.sequence(rank.0);
        let mut receives = Receives::default();
        let offset = start_offset(seed, jitter, rank);
        if offset > Time::ZERO {
            calls.push(Op::calc(offset));
        }
        // Of one sender they come in the order in which it sends them.
        for message in std::mem::take(&mut incoming[rank]) {
            let from = Envelope::world(message.message.src.0, 0);
            let request = calls.push(Op::irecv(from, message.bytes).marked(Op::WITHIN_CALL));
            receives.open.push((message, request));
        }
        let mut sends: Vec<u32> = Vec::new();
        let mut step = 0;
        for index in 0..pattern.sends(rank) {
            let message = pattern.message(rank, index);
            while let Some(barrier) = barrier.filter(|_| step < message.step) {
                calls.push(Op::collective(barrier));
                step += 1;
            }
            let mut wanted = match &message.after {
                After::Messages(needed) => receives.take(|incoming| needed.contains(&incoming.message)),
                After::EarlierSteps => receives.take(|incoming| incoming.step < message.step),
                After::Nothing if injection == Injection::SendRecv => {
                    receives.take(|incoming| incoming.step < message.step)
                }
                After::Nothing => Vec::new(),
            };
            if let Injection::Window(window) = injection
                && let Some(at) = sends.len().checked_sub(window as usize)
            {
                wanted.push(sends[at]);
            }
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
        let waited = match injection {
            Injection::Window(window) => sends.len().saturating_sub(window as usize),
            _ => 0,
        };
        let mut rest = receives.take(|_| true);
        rest.extend_from_slice(&sends[waited..]);
        if !rest.is_empty() {
            calls.wait_list(OpKind::Waitall, &rest);
        }
        program.finish_rank(calls);
    }
    program.build()
}

/// What a rank receives, as far as it has not been waited for, with the request of each.
#[derive(Default)]
struct Receives {
    open: Vec<(Incoming, u32)>,
}

impl Receives {
    /// The requests of those that are wanted and have not been waited for.
    fn take(&mut self, wanted: impl Fn(&Incoming) -> bool) -> Vec<u32> {
        let mut taken = Vec::new();
        self.open.retain(|(incoming, request)| {
            let is_wanted = wanted(incoming);
            if is_wanted {
                taken.push(*request);
            }
            !is_wanted
        });
        taken
    }
}
