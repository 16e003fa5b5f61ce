//! Who cannot go on, and why.

use super::graph::GraphRank;
use super::keys::{STEP, is_of_program};
use super::played::Stuck;
use super::rank::RankPlayer;
use super::sequence::{Sequence, State};
use crate::ids::{IdVec, RankId};
use crate::workload::program::{Action, Op, Program};

/// Ranks that have not come to their end.
pub(super) fn all(ranks: &IdVec<RankId, RankPlayer>, program: &Program) -> Vec<Stuck> {
    let stuck = ranks.iter_ids().filter_map(|(me, rank)| match rank {
        RankPlayer::Sequence(rank) => of_sequence(rank, program),
        RankPlayer::Graph(rank) => of_graph(me, rank, program),
    });
    stuck.collect()
}

fn of_graph(me: RankId, rank: &GraphRank, program: &Program) -> Option<Stuck> {
    let mut open = rank.open();
    let key = open.next()?;
    let op = program.rank(me).ops[key as usize];
    let mut what = at_place(program.describe(me, &op), me, key, program);
    let more = open.count();
    if more > 0 {
        what += &format!(", and {more} more");
    }
    Some(Stuck { rank: me, op: key, what, place: program.place(me, key), on: peer(&op) })
}

fn of_sequence(rank: &Sequence, program: &Program) -> Option<Stuck> {
    let (key, request) = match rank.state {
        State::Ended | State::Busy => return None,
        State::Blocked(key) | State::Probing(key) => (key, None),
        State::Waiting { op, .. } => {
            // The request that is missing says whom the rank waits for.
            let open = |key: &u32| rank.requests.get(key).is_some_and(|one| one.done.is_none());
            (op, waited_for(rank, op, program).into_iter().find(open))
        }
    };
    let me = rank.me;
    let op = rank.op(key, program).unwrap_or(Op::wait(0));
    let waited = request.and_then(|key| rank.op(key, program));
    let in_program = rank.in_program(key);
    let mut what = match waited {
        Some(waited) => format!("{} for {}", op.kind.name(), program.describe(me, &waited)),
        None => program.describe(me, &op),
    };
    if !is_of_program(key)
        && let Some(collective) = program.rank(me).ops.get(in_program as usize)
    {
        what = format!("{what}, in {}", program.describe(me, collective));
    }
    // What goes on in the background is stuck in one of its steps.
    let strand = request.and_then(|key| rank.strands.iter().find(|strand| strand.op == key));
    let step = strand.and_then(|strand| strand.step(strand.waits_for()?));
    if let Some(step) = &step {
        what = format!("{what}, in its {}", program.describe(me, step));
    }
    let what = at_place(what, me, in_program, program);
    let on = peer(&step.or(waited).unwrap_or(op));
    Some(Stuck { rank: me, op: in_program, what, place: program.place(me, in_program), on })
}

fn waited_for(rank: &Sequence, wait: u32, program: &Program) -> Vec<u32> {
    let step = wait & STEP;
    match rank.op(wait, program).map(|op| op.action()) {
        Some(Action::Wait(started)) => vec![started | step],
        Some(Action::WaitList { first, count, .. }) => program.rank(rank.me).list(first, count).to_vec(),
        _ => Vec::new(),
    }
}

/// The same, with the place in the input.
fn at_place(what: String, me: RankId, op: u32, program: &Program) -> String {
    match program.place(me, op) {
        Some(place) => format!("{what} ({place})"),
        None => what,
    }
}

/// The other end of the message that an operation is about.
fn peer(op: &Op) -> Option<RankId> {
    match op.action() {
        Action::Send { to, .. } => to.rank(),
        Action::Recv { from, .. } | Action::Probe(from) => from.rank(),
        _ => None,
    }
}
