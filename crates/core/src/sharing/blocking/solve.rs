//! Search for the fixed point, link by link.

use super::queues::{Claim, Fifo, NONE, Queues, Turn};
use super::{BUBBLE, Blocking, CLOSE, DOWN, MIN_DRAIN, PIPE, STALE_THRESHOLD, UP};
use crate::base::portable;

/// Lowers a claim to the rate at which this turn gets at most `level`. Each of two turns holds up both.
#[inline]
fn hold_back(claims: &mut [Claim], turn: &Turn, level: f64) {
    let claim = &mut claims[turn.claim as usize];
    let level = if claim.turns[1] == NONE { level } else { level * (claim.taken / turn.taken) };
    claim.level = if level < claim.level { level } else { claim.level };
}

impl Blocking {
    /// Computes the levels of links until none is stale, or the limit of updates is reached.
    pub(super) fn relax(&mut self) {
        for _ in 0..self.most {
            let Some(link) = self.stale.pop_front() else { return };
            let state = &mut self.queues.links[link as usize];
            (state.is_stale, state.drift) = (false, 0.0);
            self.work_out_levels(link);
            for place in 0..self.queues.links[link as usize].claims.len() {
                let claim = self.queues.links[link as usize].claims[place];
                self.update_drain(self.queues.claims[claim as usize].fifo, link);
            }
        }
    }

    /// Computes the level of each queue before a link, given the link and the queues behind it.
    fn work_out_levels(&mut self, link: u32) {
        let Self { queues: Queues { links, fifos, claims, turns, .. }, solver, .. } = self;
        let state = &mut links[link as usize];
        let inputs = state.claims.iter().map(|&claim| claims[claim as usize].taken);
        let levels = solver.of(inputs, state.capacity);
        for (&claim, &level) in state.claims.iter().zip(levels) {
            claims[claim as usize].level = level;
        }
        state.narrowest = state.capacity;
        for &fifo in state.fifos.iter().filter(|&&fifo| fifo != NONE) {
            let Fifo { drain, is_known, turns: ref inputs, entering, .. } = fifos[fifo as usize];
            if drain >= state.capacity || !is_known {
                continue;
            }
            state.narrowest = state.narrowest.min(drain);
            if entering == 0 {
                let taken = inputs.iter().map(|&turn| turns[turn as usize].taken);
                let levels = solver.of(taken, drain);
                for (&turn, &level) in inputs.iter().zip(levels) {
                    hold_back(claims, &turns[turn as usize], level);
                }
                continue;
            }
            let of =
                |enters| inputs.iter().map(|&turn| &turns[turn as usize]).filter(move |turn| turn.enters == enters);
            let in_ring: f64 = of(false).map(|turn| turn.taken).sum();
            for (enters, room) in [(false, drain), (true, (drain - in_ring).max(BUBBLE * drain))] {
                let levels = solver.of(of(enters).map(|turn| turn.taken), room);
                for (turn, &level) in of(enters).zip(levels) {
                    hold_back(claims, turn, level);
                }
            }
        }
    }

    /// Returns the q that the levels ask for: the worst output of a queue holds up everything in it, and a
    /// turn of that output may find no byte for it at the head.
    fn required_drain(&self, fifo: u32) -> f64 {
        let fifo = &self.queues.fifos[fifo as usize];
        let capacity = self.queues.links[fifo.link as usize].capacity;
        let claims = || fifo.claims.iter().map(|&claim| &self.queues.claims[claim as usize]);
        let (mut sum, mut level, mut taken, mut times) = (0.0, f64::INFINITY, 1.0, 0.0);
        for &Claim { taken: own, level: offered, .. } in claims() {
            sum += own;
            times += own / offered.min(capacity);
            if offered * taken < level * own {
                (level, taken) = (offered, own);
            }
        }
        let mut drain = sum * level / taken;
        if fifo.claims.len() > 1 && fifo.starts.is_empty() && drain < f64::INFINITY {
            let mut passes = f64::INFINITY;
            for &Claim { taken: own, level: offered, .. } in claims() {
                let others = sum - own;
                if own > 0.0 && others > 0.0 {
                    let (time, part) = ((times - own / offered.min(capacity)) / others, others / sum);
                    let passed = part * time * portable::exp(portable::ln(part) / (offered * time));
                    passes = passes.min(passed);
                }
            }
            if passes < f64::INFINITY {
                drain = 1.0 / (1.0 / drain + passes);
            }
        }
        // (NaN where nothing is taken yet.)
        if drain < capacity { drain.max(MIN_DRAIN * capacity) } else { capacity }
    }

    /// Moves the q of a queue to, or closer to, the value that the levels ask for. A queue behind a link
    /// whose bytes all go the same way is a pipe: its errors must not add up along a path.
    fn update_drain(&mut self, fifo: u32, ahead: u32) {
        let asked = self.required_drain(fifo);
        let state = &mut self.queues.fifos[fifo as usize];
        let old = state.drain;
        if !std::mem::replace(&mut state.is_known, true) && state.starts.is_empty() {
            state.drain = asked;
        }
        let by = asked - state.drain;
        let is_pipe = state.claims.len() == 1 && state.starts.is_empty();
        let tolerance = if is_pipe && by > 0.0 { PIPE * self.tolerance } else { self.tolerance };
        if by.abs() > tolerance * state.drain {
            state.drain = match by {
                _ if is_pipe && by.abs() < CLOSE * state.drain => asked,
                _ if by < 0.0 => state.drain + DOWN * by,
                _ => state.drain + UP * by,
            };
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
        if (asked - new).abs() > tolerance * new {
            self.mark(ahead);
        }
    }

    /// Divides the q of a queue among the flows that start there.
    pub(super) fn divide(&mut self, fifo: u32) {
        let Self { queues, stale, touched, tolerance, .. } = self;
        let Queues { links, fifos, claims, turns, flows, .. } = queues;
        let Fifo { drain, ref starts, .. } = fifos[fifo as usize];
        let each = drain / starts.len() as f64;
        for &flow in starts {
            let state = &mut flows[flow as usize];
            if !std::mem::replace(&mut state.is_touched, true) {
                touched.push(flow);
            }
            let more = each - std::mem::replace(&mut state.rate, each);
            for hop in &state.hops {
                hop.take(claims, turns, more);
                let state = &mut links[hop.link as usize];
                state.drift += more.abs();
                let is_stale = state.drift * state.claims.len() as f64 > STALE_THRESHOLD * *tolerance * state.narrowest;
                if is_stale && !std::mem::replace(&mut state.is_stale, true) {
                    stale.push_back(hop.link);
                }
            }
        }
    }
}
