//! How the fixed point is looked for, link by link.

use super::queues::{Claim, NONE, Turn};
use super::{BUBBLE, Blocking, DOWN, LEAST, STALE, UP};

impl Blocking {
    /// Works out the levels of links until none of them is stale, or there have been too many.
    pub(super) fn relax(&mut self) {
        for _ in 0..self.most {
            let Some(link) = self.stale.pop_front() else { return };
            let state = &mut self.queues.links[link as usize];
            (state.is_stale, state.drift) = (false, 0.0);
            self.work_out_levels(link);
            for place in 0..self.queues.links[link as usize].claims.len() {
                let claim = self.queues.links[link as usize].claims[place];
                self.follow(self.queues.claims[claim as usize].fifo, link);
            }
        }
    }

    /// What each queue before a link would get of it, and of the queues behind it.
    fn work_out_levels(&mut self, link: u32) {
        let Self { queues, solver, taken, levels, .. } = self;
        let state = &queues.links[link as usize];
        let claims = &mut queues.claims;
        taken.clear();
        taken.extend(state.claims.iter().map(|&claim| claims[claim as usize].taken));
        solver.of(taken, state.capacity, levels);
        for (&claim, &level) in state.claims.iter().zip(&*levels) {
            claims[claim as usize].level = level;
        }
        let mut narrowest = state.capacity;
        for &fifo in state.fifos.iter().filter(|&&fifo| fifo != NONE) {
            let fifo = &queues.fifos[fifo as usize];
            if fifo.drain >= state.capacity || !fifo.is_known {
                continue;
            }
            narrowest = narrowest.min(fifo.drain);
            let turns = || fifo.turns.iter().map(|&turn| &queues.turns[turn as usize]);
            let in_ring: f64 = turns().filter(|turn| !turn.enters).map(|turn| turn.taken).sum();
            for enters in [false, true] {
                let behind = |turn: &&Turn| turn.enters == enters;
                taken.clear();
                taken.extend(turns().filter(behind).map(|turn| turn.taken));
                let left = if enters { (fifo.drain - in_ring).max(BUBBLE * fifo.drain) } else { fifo.drain };
                solver.of(taken, left, levels);
                for (turn, &level) in turns().filter(behind).zip(&*levels) {
                    let claim = &mut claims[turn.claim as usize];
                    // Of two parts each holds up both.
                    let level = if claim.turns[1] == NONE { level } else { level * (claim.taken / turn.taken) };
                    claim.level = if level < claim.level { level } else { claim.level };
                }
            }
        }
        queues.links[link as usize].narrowest = narrowest;
    }

    /// q as the levels ask for it: the worst output of a queue holds up all that is in it.
    fn asked_for(&self, fifo: u32) -> f64 {
        let fifo = &self.queues.fifos[fifo as usize];
        let capacity = self.queues.links[fifo.link as usize].capacity;
        let (mut sum, mut level, mut taken) = (0.0, f64::INFINITY, 1.0);
        for &claim in &fifo.claims {
            let Claim { taken: own, level: offered, .. } = self.queues.claims[claim as usize];
            sum += own;
            if offered * taken < level * own {
                (level, taken) = (offered, own);
            }
        }
        let drain = sum * level / taken;
        // (Not a number where nothing is taken yet.)
        if drain < capacity { drain.max(LEAST * capacity) } else { capacity }
    }

    /// A queue lets through what the levels ask for, or comes closer to it.
    fn follow(&mut self, fifo: u32, ahead: u32) {
        let asked = self.asked_for(fifo);
        let state = &mut self.queues.fifos[fifo as usize];
        let old = state.drain;
        if !std::mem::replace(&mut state.is_known, true) && state.starts.is_empty() {
            state.drain = asked;
        }
        let by = asked - state.drain;
        if by.abs() > self.tolerance * state.drain {
            state.drain += if by < 0.0 { DOWN } else { UP } * by;
        }
        let (new, link, is_fed) = (state.drain, state.link, !state.turns.is_empty());
        if new == old {
            return;
        }
        let has_starts = !state.starts.is_empty();
        if has_starts {
            self.divide(fifo);
        }
        if is_fed {
            self.mark(link);
        }
        if (asked - new).abs() > self.tolerance * new {
            self.mark(ahead);
        }
    }

    /// Divides what a queue lets through among the flows that start there.
    pub(super) fn divide(&mut self, fifo: u32) {
        let state = &self.queues.fifos[fifo as usize];
        let count = state.starts.len();
        let each = state.drain / count as f64;
        for place in 0..count {
            let flow = self.queues.fifos[fifo as usize].starts[place];
            self.touch(flow);
            let more = each - std::mem::replace(&mut self.queues.flows[flow as usize].rate, each);
            for hop in 0..self.queues.flows[flow as usize].turns.len() {
                let link = self.queues.take(self.queues.flows[flow as usize].turns[hop], more);
                let state = &mut self.queues.links[link as usize];
                state.drift += more.abs();
                if state.drift * state.claims.len() as f64 > STALE * self.tolerance * state.narrowest {
                    self.mark(link);
                }
            }
        }
    }
}
