//! Rings that turn at once, of which one rank of each class plays a beginning.
//!
//! All steps of a ring with equal blocks are alike. If in the middle of a beginning every rank ends each step one
//! period after the one before, or after the one some steps before, the state repeats, and further steps add periods.
//! Ranks that do the same are played once ([`symmetry`](crate::symmetry)).

use std::sync::Arc;

use super::link_uses::LinkUses;
use super::program::{ProgramWork, play_on_network};
use super::symmetry::Quotient;
use crate::engine::{Progress, Watch};
use crate::ids::RankId;
use crate::player::{Observers, Play, Player};
use crate::program::{Envelope, Op, Program, ProgramBuilder};
use crate::record::LinkMeasures;
use crate::symmetry::{Channel, Exchanges, Folded, RankShape, mix};
use crate::system::System;
use crate::training::EQUAL;
use crate::units::Time;

/// Numbers of steps that are played in search of a repetition.
const PLAYED: [u64; 4] = [64, 256, 1024, 4096];

/// Largest number of operations that are played.
const MOST_PLAYED: u64 = 1 << 25;

/// Rings of the same ranks. In each step every rank sends a block to the next one of each ring, once it has received
/// the block of the step before and sent its own.
#[derive(Clone, Debug)]
pub struct Rings {
    /// Ranks of each ring, in their order: the same ranks from 0 on, each once.
    pub orders: Vec<Vec<u32>>,
    /// Size of a block \[B\].
    pub block: u64,
    /// Number of steps.
    pub steps: u64,
}

/// Times of rings that were played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RingsTimes {
    /// End of the last step.
    pub makespan: Time,
    /// Bytes of a link over its capacity, the largest of all links \[s\].
    pub busiest_s: f64,
}

impl Rings {
    /// Number of messages.
    pub fn messages(&self) -> u64 {
        self.orders.iter().map(|order| order.len() as u64 * self.steps).sum()
    }

    /// Returns work of as many ranks that do nothing, to load a system for the rings.
    pub fn idle(&self) -> ProgramWork {
        let ranks = self.orders.first().map_or(0, Vec::len) as u32;
        let mut program = ProgramBuilder::new(ranks);
        (0..ranks).for_each(|rank| program.finish_rank(program.sequence(rank)));
        ProgramWork::new(program.build().expect("ranks that do nothing make no mistakes"), "rings")
    }

    /// Plays the rings on a system. Returns `None` if an order is no permutation of the ranks, if the network cannot
    /// be folded, if too many steps pass before they repeat, or if `watch` ends the run.
    pub fn play(&self, system: &System, watch: Option<&dyn Watch>) -> Option<RingsTimes> {
        let mut numbers = PLAYED.to_vec();
        numbers.push(self.steps);
        self.play_first(&numbers, system, watch)
    }

    /// Plays the first of these numbers of steps that repeats.
    fn play_first(&self, numbers: &[u64], system: &System, watch: Option<&dyn Watch>) -> Option<RingsTimes> {
        let network = system.network().filter(|network| network.can_fold())?;
        let costs = system.node().costs().unwrap_or_default();
        let ranks = self.orders.first()?.len();
        let is_whole = |order: &Vec<u32>| {
            let mut seen = vec![false; ranks];
            let all = order
                .iter()
                .all(|&rank| seen.get_mut(rank as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
            all && order.len() == ranks
        };
        if !self.orders.iter().all(is_whole) {
            return None;
        }
        // The next and the last rank of each, by ring.
        let neighbours = self.orders.iter().map(|order| {
            let mut of = vec![[0; 2]; ranks];
            for (at, &rank) in order.iter().enumerate() {
                of[rank as usize] = [order[(at + 1) % ranks], order[(at + ranks - 1) % ranks]];
            }
            of
        });
        let neighbours: Vec<Vec<[u32; 2]>> = neighbours.collect();
        let shapes = (0..ranks).map(|rank| shape(neighbours.iter().map(|of| of[rank])));
        let folded = Quotient::fold(Exchanges::new(shapes)?, network, &costs, ranks as u32)?;
        let played = |steps| self.beginning(&neighbours, steps, system, &folded, watch);
        numbers.iter().find_map(|&most| {
            let few = self.steps.min(most);
            let goes_on = || watch.is_none_or(|watch| watch.tick(Progress { now: Time::ZERO, delivered: 0, total: 1 }));
            if !goes_on()
                || few.saturating_mul(2 * self.orders.len() as u64 * u64::from(folded.classes())) > MOST_PLAYED
            {
                return None;
            }
            let (mut first, mut period, mut times) = (played(few)?, 0.0, 0);
            if few < self.steps {
                // Blocks that begin equally far from a slow hop are as far apart as nodes or segments are large.
                let mut cycles = (1..=few / 8).filter(|cycle| *cycle <= 16 || cycle.is_multiple_of(8));
                let cycle = cycles.find(|&cycle| period_of(&first.1, few, cycle).is_some())?;
                let more = few + (self.steps - few) % cycle;
                if more > few {
                    first = played(more)?;
                }
                period = period_of(&first.1, more, cycle)?;
                times = (self.steps - more) / cycle;
            }
            let (last, ends, links) = first;
            let steps = ends.len() / (2 * self.orders.len() * folded.classes() as usize);
            let busiest_s = links.busiest_s() / steps as f64 * self.steps as f64;
            Some(RingsTimes { makespan: last + Time::from_ps(period * times as f64), busiest_s })
        })
    }

    /// Plays the first steps. Returns their end, the end of each receive of each rank that is played, and the use of
    /// links.
    fn beginning(
        &self,
        neighbours: &[Vec<[u32; 2]>],
        steps: u64,
        system: &System,
        folded: &Arc<Folded>,
        watch: Option<&dyn Watch>,
    ) -> Option<(Time, Vec<f64>, LinkUses)> {
        let program = self.program(neighbours, steps, folded)?;
        let network = system.network()?.folded(folded);
        let costs = system.node().costs().unwrap_or_default();
        let length = 2 * steps as usize * neighbours.len();
        let mut place = vec![usize::MAX; folded.ranks() as usize];
        let played = (0..folded.ranks()).filter(|&rank| folded.is_played(RankId(rank)));
        played.zip((0..).step_by(length)).for_each(|(rank, at)| place[rank as usize] = at);
        let mut ends = vec![0.0; length * folded.classes() as usize];
        let mut see = |rank: RankId, op: u32, now: Time| ends[place[rank.0 as usize] + op as usize] = now.ps();
        let observers = Observers { on_done: Some(&mut see), ..Observers::default() };
        let play = Play { program: &program, costs, expand: None, cpu_speed: 1.0, on_fabric: true };
        let player = Player::new(play, observers).folded(folded);
        let measures = LinkMeasures { times: true, series: false };
        let (played, _, links) = play_on_network(&network, player, Some(folded), measures, watch);
        (!played.interrupted && played.stuck.is_empty()).then_some((played.last, ends, links))
    }

    /// Returns the program of the first steps of the ranks that are played: for each ring sends, then receives.
    fn program(&self, neighbours: &[Vec<[u32; 2]>], steps: u64, folded: &Folded) -> Option<Program> {
        let mut builder = ProgramBuilder::new(folded.ranks());
        for rank in 0..folded.ranks() {
            let mut graph = builder.graph(rank);
            let rings = neighbours.iter().filter(|_| folded.is_played(RankId(rank)));
            for (ring, of) in (0..).zip(rings) {
                let [next, last] = of[rank as usize];
                for step in 0..steps {
                    let send = graph.push(Op::send(Envelope::world(next, ring), self.block));
                    let receive = graph.push(Op::recv(Envelope::world(last, ring), self.block));
                    if step > 0 {
                        for before in [send - 2, receive - 2] {
                            graph.requires(send, before);
                        }
                        graph.requires(receive, receive - 2);
                    }
                }
            }
            builder.finish_rank(graph);
        }
        builder.build().ok()
    }
}

/// Returns the shape of a rank with these next and last ranks.
fn shape(neighbours: impl Iterator<Item = [u32; 2]>) -> RankShape {
    let mut shape = RankShape::default();
    for [next, last] in neighbours {
        for (ends, peer) in [(&mut shape.sends, next), (&mut shape.receives, last)] {
            let channel = Channel { peer, kind: 0 };
            let at = ends.iter().position(|end| *end == channel).unwrap_or(ends.len());
            if at == ends.len() {
                ends.push(channel);
            }
            shape.colour = mix(shape.colour, at as u64);
        }
    }
    // A ring of two has the same peer in both directions.
    let pairs = shape.sends.iter().map(|send| shape.receives.iter().position(|receive| receive == send));
    shape.colour = pairs.fold(shape.colour, |hash, at| mix(hash, at.map_or(u64::MAX, |at| at as u64)));
    shape
}

/// Returns the time by which each step of the middle half ends after the step `cycle` before \[ps\], if it is the same
/// for all, and if all are in that half at once for two such times. Then no transfer lasts from before its begin to
/// after its end, so that the state repeats.
fn period_of(ends: &[f64], steps: u64, cycle: u64) -> Option<f64> {
    let (steps, cycle) = (2 * steps as usize, 2 * cycle as usize);
    let checked = steps / 4..3 * steps / 4;
    let (begin, end) = (checked.start, checked.end.checked_sub(2)?);
    let period = *ends.get(end)? - *ends.get(end.checked_sub(cycle)?)?;
    let is_same = |ring: &[f64]| {
        let mut ops = checked.clone().filter(|&op| op >= cycle);
        ops.all(|op| (ring[op] - ring[op - cycle] - period).abs() <= EQUAL * ring[op])
    };
    let from = ends.chunks(steps).map(|ring| ring[begin]).fold(0.0, f64::max);
    let to = ends.chunks(steps).map(|ring| ring[end]).fold(f64::MAX, f64::min);
    (period > 0.0 && to - from >= 2.0 * period && ends.chunks(steps).all(is_same)).then_some(period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Loader;

    /// Returns rings, and a system for them.
    fn rings(topology: &str, orders: &[Vec<u32>], steps: u64) -> (Rings, System) {
        let rings = Rings { orders: orders.to_vec(), block: 20_000, steps };
        let scenario = Loader::new().topology(topology).load_program(rings.idle()).unwrap();
        (rings, scenario.system().clone())
    }

    #[test]
    fn rings_on_a_crossbar_take_the_time_of_their_bytes() {
        let up: Vec<u32> = (0..12).collect();
        let down: Vec<u32> = (0..12).rev().collect();
        for steps in [1, 22, 1000, 1_000_000_007] {
            let time = |orders: &[Vec<u32>]| {
                let (rings, system) = rings("crossbar:nodes=12,bandwidth=1 GB/s", orders, steps);
                rings.play(&system, None).unwrap().makespan
            };
            let one = time(std::slice::from_ref(&up));
            assert!((one.ps() / (steps as f64 * 20e6) - 1.0).abs() < 1e-9, "{steps} steps: {} ps", one.ps());
            let both = time(&[up.clone(), down.clone()]);
            assert!((both.ps() / one.ps() - 2.0).abs() < 1e-9, "{steps} steps: {} ps", both.ps());
        }
    }

    #[test]
    fn steps_that_repeat_add_what_they_take_if_they_are_played() {
        // Rings in opposite directions, and one that crosses segments, over hops of different latency.
        let rails = "rails:servers=8,gpus=4,segment=2,spines=2,bandwidth=1 GB/s,latency=3 us,nvlink-bandwidth=7 GB/s";
        let orders: Vec<Vec<u32>> =
            vec![(0..32).collect(), (0..32).rev().collect(), (0..32).map(|i| i * 5 % 32).collect()];
        for topology in [rails, "torus:dims=[4,8],bandwidth=1 GB/s,latency=1 us"] {
            for orders in [&orders[..1], &orders[..2], &orders[..]] {
                let (rings, system) = rings(topology, orders, 605);
                let [short, whole] = [&PLAYED[..], &[605]].map(|steps| rings.play_first(steps, &system, None).unwrap());
                assert!((short.makespan.ps() / whole.makespan.ps() - 1.0).abs() < 1e-9, "{short:?}, whole {whole:?}");
                assert!((short.busiest_s / whole.busiest_s - 1.0).abs() < 1e-9, "{short:?}, whole {whole:?}");
            }
        }
    }
}
