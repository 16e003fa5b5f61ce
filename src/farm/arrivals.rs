//! The master's event queue: the arrival time of the next message of each worker.
//!
//! Each worker has one next message, so the queue holds one time per worker. Nearly always the earliest is
//! taken and replaced by that worker's next time. There are two queues:
//!
//! * [`Keyed`], the `priority-queue` crate, in which any worker's time may be set at any moment;
//! * [`Tournament`], a tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1). Only the winner's time
//!   changes, so a change walks one path to the root and compares once per level, without a branch that depends
//!   on the outcome.
//!
//! `benches/master_slave.rs` compares them. With the tournament a million tasks on a thousand workers take
//! tens of milliseconds.

use std::cmp::Reverse;

use priority_queue::PriorityQueue;

use crate::units::Time;

/// Arrivals in order of (time, worker).
pub trait Arrivals {
    /// Creates a queue in which a message of every worker has arrived at time 0.
    fn all_at_zero(workers: usize) -> Self;
    /// Returns the earliest arrival; [`Time::NEVER`] if there is none.
    fn first(&self) -> (Time, u32);
    /// Changes the arrival time of the worker that arrives first.
    fn replace_first(&mut self, time: Time);
}

/// Arrivals in a queue of the `priority-queue` crate.
#[derive(Debug, Default)]
pub struct Keyed(PriorityQueue<u32, Reverse<(Time, u32)>>);

impl Keyed {
    /// Sets the arrival time of this worker's next message.
    pub fn set(&mut self, worker: u32, time: Time) {
        self.0.push(worker, Reverse((time, worker)));
    }
}

impl Arrivals for Keyed {
    fn all_at_zero(workers: usize) -> Self {
        Self((0..workers as u32).map(|worker| (worker, Reverse((Time::ZERO, worker)))).collect())
    }

    fn first(&self) -> (Time, u32) {
        self.0.peek().map_or((Time::NEVER, u32::MAX), |(_, Reverse(first))| *first)
    }

    fn replace_first(&mut self, time: Time) {
        if let Some((&worker, _)) = self.0.peek() {
            self.set(worker, time);
        }
    }
}

/// An arrival as a number in the order of (time, worker). Times are not negative, and the bits of such
/// doubles have the order of their values.
type Key = u128;

fn key(time: Time, worker: u32) -> Key {
    // Minus zero would come last.
    Key::from((time.ps() + 0.0).to_bits()) << 32 | Key::from(worker)
}

/// Arrivals in a tree of losers.
#[derive(Debug)]
pub struct Tournament {
    winner: Key,
    /// Loser of the match at each node. Node i has the children 2i and 2i + 1; worker w starts at the parent
    /// of leaf `losers.len() + w`.
    losers: Vec<Key>,
}

impl Arrivals for Tournament {
    fn all_at_zero(workers: usize) -> Self {
        let leaves = workers.next_power_of_two().max(2);
        let leaf = |i: usize| if i < workers { key(Time::ZERO, i as u32) } else { key(Time::NEVER, i as u32) };
        let mut winners: Vec<Key> = vec![0; leaves];
        winners.extend((0..leaves).map(leaf));
        let mut losers = vec![0; leaves];
        for node in (1..leaves).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = (a.min(b), a.max(b));
        }
        Self { winner: winners[1], losers }
    }

    #[inline]
    fn first(&self) -> (Time, u32) {
        (Time::from_ps(f64::from_bits((self.winner >> 32) as u64)), self.winner as u32)
    }

    #[inline]
    fn replace_first(&mut self, time: Time) {
        let worker = self.winner as u32;
        let mut playing = key(time, worker);
        let mut node = (self.losers.len() + worker as usize) / 2;
        while node > 0 {
            let loser = self.losers[node];
            let (a, b) = if playing < loser { (playing, loser) } else { (loser, playing) };
            (playing, self.losers[node]) = (a, b);
            node /= 2;
        }
        self.winner = playing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn both_queues_give_the_same_arrivals_in_the_same_order() {
        for workers in [1, 2, 3, 7, 64, 100] {
            let mut random = Stream::new(workers as u64, "arrivals");
            let (mut keyed, mut tournament) = (Keyed::all_at_zero(workers), Tournament::all_at_zero(workers));
            let mut turns = 0;
            loop {
                assert_eq!(keyed.first().0, tournament.first().0);
                let (now, worker) = tournament.first();
                if now == Time::NEVER {
                    break;
                }
                assert_eq!(keyed.first().1, worker);
                turns += 1;
                // Only a few different times, so that many are equal. In the end all workers stop.
                let next = match random.below(3 + turns / 200) {
                    step @ 0..3 => now + Time::from_ps(step as f64),
                    _ => Time::NEVER,
                };
                keyed.replace_first(next);
                tournament.replace_first(next);
            }
            assert!(turns > workers as u64);
        }
    }
}
