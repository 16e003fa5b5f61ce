//! Ranks that cannot continue, and the reasons.

use super::graph::GraphRank;
use super::keys::is_of_program;
use super::played::Stuck;
use super::rank::RankPlayer;
use super::sequence::Sequence;
use super::thread::{State, Thread};
use crate::ids::{IdVec, RankId};
use crate::program::{Action, Op, Program};

/// Returns the ranks that have not come to their end.
pub(super) fn all(ranks: &IdVec<RankId, RankPlayer>, program: &Program) -> Vec<Stuck> {
    let stuck = ranks.iter_ids().filter_map(|(me, rank)| match rank {
        RankPlayer::Sequence(rank) => rank.threads().find_map(|thread| of_sequence(rank, thread, program)),
        RankPlayer::Graph(rank) => of_graph(me, rank, program),
    });
    stuck.collect()
}

fn of_graph(me: RankId, rank: &GraphRank, program: &Program) -> Option<Stuck> {
    let mut open = rank.open();
    let key = open.next()?;
    let op = program.rank(me).ops[key as usize];
    let step = rank.awaited_step(key);
    let mut what = program.describe(me, &op);
    if let Some(step) = &step {
        what = format!("{what}, in its {}", program.describe(me, step));
    }
    let mut what = at_place(what, me, key, program);
    let more = open.count();
    if more > 0 {
        what += &format!(", and {more} more");
    }
    Some(Stuck { rank: me, op: key, what, place: program.place(me, key), on: peer(&step.unwrap_or(op)) })
}

/// Describes a thread that cannot continue; `None` for one that waits for another thread, which gives the
/// reason itself.
fn of_sequence(rank: &Sequence, thread: &Thread, program: &Program) -> Option<Stuck> {
    let (key, request) = match thread.state {
        State::Ended | State::Busy | State::Held => return None,
        State::Blocked(key) | State::Probing(key) => (key, None),
        State::Waiting { op, .. } => {
            // The request that is missing tells which rank this one waits for.
            let open = |key: &u32| rank.requests.get(key).is_some_and(|one| one.done.is_none());
            (op, waited_for(rank, thread, op, program).into_iter().find(open))
        }
    };
    let me = rank.me;
    let op = rank.op_in(thread, key, program).unwrap_or(Op::wait(0));
    let waited = request.and_then(|key| rank.op_in(thread, key, program));
    let in_program = thread.in_program(key);
    let mut what = match waited {
        Some(waited) => format!("{} for {}", op.kind.name(), program.describe(me, &waited)),
        None => program.describe(me, &op),
    };
    if !is_of_program(key)
        && let Some(collective) = program.rank(me).ops.get(in_program as usize)
    {
        what = format!("{what}, in {}", program.describe(me, collective));
    }
    // A collective in the background is stuck in one of its steps.
    let strand = request.and_then(|key| rank.strands.iter().find(|strand| strand.op == key));
    let step = strand.and_then(|strand| strand.step(strand.waits_for()?));
    if let Some(step) = &step {
        what = format!("{what}, in its {}", program.describe(me, step));
    }
    let what = at_place(what, me, in_program, program);
    let on = peer(&step.or(waited).unwrap_or(op));
    Some(Stuck { rank: me, op: in_program, what, place: program.place(me, in_program), on })
}

fn waited_for(rank: &Sequence, thread: &Thread, wait: u32, program: &Program) -> Vec<u32> {
    let step = rank.base(wait);
    match rank.op_in(thread, wait, program).map(|op| op.action()) {
        Some(Action::Wait(started)) => vec![started | step],
        Some(Action::WaitList { first, count, .. }) => program.rank(rank.me).list(first, count).to_vec(),
        _ => Vec::new(),
    }
}

/// Adds the place in the input to a description.
fn at_place(what: String, me: RankId, op: u32, program: &Program) -> String {
    match program.place(me, op) {
        Some(place) => format!("{what} ({place})"),
        None => what,
    }
}

/// Returns the other end of the message of an operation.
fn peer(op: &Op) -> Option<RankId> {
    match op.action() {
        Action::Send { to, .. } => to.rank(),
        Action::Recv { from, .. } | Action::Probe(from) => from.rank(),
        _ => None,
    }
}
