//! Who cannot go on, and why.

use super::Stuck;
use super::state::{Player, STEP, State};
use crate::ids::RankId;
use crate::workload::program::{Action, Op};

impl Player<'_> {
    /// Ranks that have not come to their end.
    pub(super) fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for rank in self.program.rank_ids() {
            match self.ranks[rank].state {
                State::Ended => {}
                State::Blocked(key) | State::Probing(key) => stuck.push(self.stuck_in(rank, key, None)),
                State::Waiting { op, .. } => {
                    // The request that is missing says whom the rank waits for.
                    let requests = self.waited_for(rank, op);
                    let open = |key: &u32| self.ranks[rank].requests.get(key).is_some_and(|one| one.done.is_none());
                    stuck.push(self.stuck_in(rank, op, requests.into_iter().find(open)));
                }
                State::Busy => {
                    let Some(graph) = &self.ranks[rank].graph else { continue };
                    let mut open = graph.open();
                    if let Some(op) = open.next() {
                        let mut one = self.stuck_in(rank, op, None);
                        let more = open.count();
                        if more > 0 {
                            one.what += &format!(", and {more} more");
                        }
                        stuck.push(one);
                    }
                }
            }
        }
        stuck
    }

    fn waited_for(&self, rank: RankId, wait: u32) -> Vec<u32> {
        let step = wait & STEP;
        match self.op(rank, wait).map(|op| op.action()) {
            Some(Action::Wait(started)) => vec![started | step],
            Some(Action::WaitList { first, count, .. }) => self.program.rank(rank).list(first, count).to_vec(),
            _ => Vec::new(),
        }
    }

    /// A rank that is stuck in this operation, and perhaps in what that waits for.
    fn stuck_in(&self, rank: RankId, key: u32, request: Option<u32>) -> Stuck {
        let nothing = Op::wait(0);
        let op = self.op(rank, key).unwrap_or(nothing);
        let waited = request.and_then(|key| self.op(rank, key));
        // Inside a collective the operation is the collective.
        let in_program = if key & STEP == 0 { key } else { self.ranks[rank].next.saturating_sub(1) };
        let mut what = match waited {
            Some(waited) => format!("{} for {}", op.kind.name(), self.program.describe(rank, &waited)),
            None => self.program.describe(rank, &op),
        };
        if key & STEP != 0
            && let Some(collective) = self.program.rank(rank).ops.get(in_program as usize)
        {
            what = format!("{what}, in {}", self.program.describe(rank, collective));
        }
        // What goes on in the background is stuck in one of its steps.
        let strand = request.and_then(|key| self.ranks[rank].strands.iter().find(|strand| strand.op == key));
        let step = strand.and_then(|strand| strand.step(strand.waits_for()?));
        if let Some(step) = &step {
            what = format!("{what}, in its {}", self.program.describe(rank, step));
        }
        let place = self.program.place(rank, in_program);
        if let Some(place) = &place {
            what = format!("{what} ({place})");
        }
        let named = step.or(waited).unwrap_or(op);
        let on = match named.action() {
            Action::Send { to, .. } => to.rank(),
            Action::Recv { from, .. } | Action::Probe(from) => from.rank(),
            _ => None,
        };
        Stuck { rank, op: in_program, what, place, on }
    }
}
