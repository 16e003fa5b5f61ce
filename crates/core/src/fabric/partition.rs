//! Search for halves of a fabric with little bandwidth between them.
//!
//! A switch and the nodes attached to it alone are one place, whose weight is the number of nodes. In a pass,
//! places change sides one at a time, each once: from the heavier side, the one that reduces the cut most.
//! The best state of a pass is kept, and passes continue while they find a better one. A surplus node on one
//! side costs the mean capacity of a node's links, as if it were cut off from its switch, which is done at
//! the end. The search starts from the halves of the family, from some that grow around a place, and from
//! random ones; the best result is taken.
//!
//! Source: C. M. Fiduccia, R. M. Mattheyses, "A linear-time heuristic for improving network partitions", DAC
//! 1982.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Fabric;
use crate::base::threads;
use crate::ids::NodeId;
use crate::rng::Stream;

/// Approximate number of links between places examined by all passes together: some tenths of a second.
const WORK: usize = 1 << 23;
/// Usual number of passes of a start.
const USUAL_PASSES: usize = 8;
/// Largest number of passes of a start.
const MOST_PASSES: usize = 24;
/// Smallest and largest number of starts in addition to that of the family.
const STARTS: (usize, usize) = (3, 63);
/// Integer capacity of the widest link, to which all capacities are scaled.
const WIDEST: f64 = (1 << 20) as f64;

/// Places and the links between them, by vertex of the fabric; a node attached to a switch is not a place of
/// its own.
struct Places {
    /// Start of each place's links in `joined`.
    starts: Vec<usize>,
    /// Other end of each link, and the capacity both ways.
    joined: Vec<(u32, i64)>,
    /// Number of nodes of each place.
    weight: Vec<i64>,
    /// Place of each node.
    place: Vec<u32>,
    /// Mean capacity of the links of a node, both ways together.
    of_node: i64,
}

/// Returns the best halves found, as true for each vertex of the first half. It has exactly half of the
/// nodes, rounded down.
pub(super) fn halves(fabric: &Fabric, of_family: &[bool]) -> Vec<bool> {
    let places = Places::of(fabric);
    let count = WORK / (USUAL_PASSES * places.joined.len().max(1));
    let starts = (0..=count.clamp(STARTS.0, STARTS.1)).collect();
    let found = threads::map(starts, |start| {
        let mut side = places.start(start, of_family);
        let mut cost = places.cost(&side);
        for _ in 0..MOST_PASSES {
            let after = places.pass(&mut side, cost);
            if after == std::mem::replace(&mut cost, after) {
                break;
            }
        }
        (cost, side)
    });
    let best = found.into_iter().min_by_key(|&(cost, _)| cost).map(|(_, side)| side);
    places.exact(best.unwrap_or_default())
}

impl Places {
    /// Returns the places of a fabric.
    fn of(fabric: &Fabric) -> Self {
        let vertices = fabric.graph().node_count();
        let home = fabric.homes();
        let place: Vec<u32> = (0..).zip(&home).map(|(node, home)| home.map_or(node, |switch| switch.0)).collect();
        let mut weight = vec![0; vertices];
        place.iter().for_each(|&place| weight[place as usize] += 1);
        let links = || fabric.links().iter_ids().filter(|&(id, _)| !fabric.has_failed(id));
        let widest = links().map(|(id, _)| fabric.capacity(id)).fold(0.0, f64::max);
        // The sum over the links of a node may overflow.
        let whole = |capacity: f64| ((capacity / widest).min(f64::from(u16::MAX)) * WIDEST).round() as i64;
        let hangs = |vertex: u32| home.get(vertex as usize).is_some_and(Option::is_some);
        let mut ends: Vec<(u32, u32, i64)> = links()
            .filter_map(|(id, link)| link.ends.map(|(a, b)| (a.0, b.0, whole(fabric.capacity(id)))))
            .filter(|&(a, b, _)| a != b && !hangs(a) && !hangs(b))
            .flat_map(|(a, b, carried)| [(a, b, carried), (b, a, carried)])
            .collect();
        ends.sort_unstable();
        ends.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0 };
            same
        });
        let mut starts = vec![0; vertices + 1];
        ends.iter().for_each(|&(a, _, _)| starts[a as usize + 1] += 1);
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let both = |node: NodeId| {
            let (out, into) = fabric.capacity_of(node);
            whole(out.bytes_per_second() + into.bytes_per_second())
        };
        let of_node = fabric.node_ids().map(both).sum::<i64>() / i64::from(fabric.nodes().max(1));
        Self { starts, joined: ends.into_iter().map(|(_, b, carried)| (b, carried)).collect(), weight, place, of_node }
    }

    /// Returns the other ends of a place's links, with their capacities both ways.
    fn joined(&self, place: usize) -> &[(u32, i64)] {
        &self.joined[self.starts[place]..self.starts[place + 1]]
    }

    /// Returns the approximate halves of a start: those of the family, around a place, or random.
    fn start(&self, start: usize, of_family: &[bool]) -> Vec<bool> {
        let count = self.weight.len();
        let mut random = Stream::new(start as u64, "partition");
        let mut order: Vec<u32> = (0..count as u32).collect();
        match start {
            0 => {
                let mut inside = vec![0; count];
                self.place
                    .iter()
                    .zip(of_family)
                    .for_each(|(&place, &first)| inside[place as usize] += i64::from(first));
                return inside.iter().zip(&self.weight).map(|(inside, weight)| 2 * inside > *weight).collect();
            }
            1 => order = self.around(*self.around(self.place[0]).last().unwrap_or(&0)),
            _ if start.is_multiple_of(2) => random.shuffle(&mut order),
            _ => order = self.around(self.place[random.below(self.place.len() as u64) as usize]),
        }
        let (mut side, mut left) = (vec![false; count], self.place.len() as i64 / 2);
        for place in order {
            left -= self.weight[place as usize];
            side[place as usize] = left >= 0;
        }
        side
    }

    /// Returns the places by their distance from one, followed by those that it does not reach.
    fn around(&self, from: u32) -> Vec<u32> {
        let (mut seen, mut order) = (vec![false; self.weight.len()], Vec::new());
        for start in std::iter::once(from).chain(0..self.weight.len() as u32) {
            let mut queue = VecDeque::from([start]);
            while let Some(place) = queue.pop_front() {
                if !std::mem::replace(&mut seen[place as usize], true) {
                    order.push(place);
                    queue.extend(self.joined(place as usize).iter().map(|&(to, _)| to));
                }
            }
        }
        order.retain(|&place| self.weight[place as usize] > 0 || !self.joined(place as usize).is_empty());
        order
    }

    /// Returns the weight of the first side minus that of the second.
    fn surplus(&self, side: &[bool]) -> i64 {
        side.iter().zip(&self.weight).map(|(&first, &weight)| if first { weight } else { -weight }).sum()
    }

    /// Returns the capacity of the links of the surplus nodes on one side.
    fn parted(&self, surplus: i64) -> i64 {
        surplus.abs() / 2 * self.of_node
    }

    /// Returns the reduction of the cut if this place changed its side.
    fn gain(&self, side: &[bool], place: usize) -> i64 {
        let of = |&(to, carried): &(u32, i64)| if side[to as usize] == side[place] { -carried } else { carried };
        self.joined(place).iter().map(of).sum()
    }

    /// Returns the capacity between two sides, plus that of the links of surplus nodes.
    fn cost(&self, side: &[bool]) -> i64 {
        let cut = |place: usize| {
            let across = self.joined(place).iter().filter(|(to, _)| side[*to as usize] != side[place]);
            across.map(|(_, carried)| carried).sum::<i64>()
        };
        (0..side.len()).map(cut).sum::<i64>() / 2 + self.parted(self.surplus(side))
    }

    /// Improves halves of this cost by one pass. Returns the new cost.
    fn pass(&self, side: &mut [bool], cost: i64) -> i64 {
        let mut gain: Vec<i64> = (0..side.len()).map(|place| self.gain(side, place)).collect();
        let mut is_free: Vec<bool> =
            (0..side.len()).map(|place| self.weight[place] > 0 || !self.joined(place).is_empty()).collect();
        let mut queues = [BinaryHeap::new(), BinaryHeap::new()];
        for place in (0..side.len()).filter(|&place| is_free[place]) {
            queues[usize::from(side[place])].push((gain[place], Reverse(place as u32)));
        }
        let mut surplus = self.surplus(side);
        let mut cut = cost - self.parted(surplus);
        let (mut moved, mut best) = (Vec::new(), (cost, 0));
        let patience = 50 + side.len() / 4;
        while moved.len() - best.1 < patience {
            let next = [0, 1].map(|from| {
                let queue = &mut queues[from];
                while let Some(&(value, Reverse(place))) = queue.peek() {
                    if is_free[place as usize] && gain[place as usize] == value {
                        return Some((value, place as usize));
                    }
                    queue.pop();
                }
                None
            });
            let next = match surplus.signum() {
                1 => next[1],
                -1 => next[0],
                _ => next[0].max(next[1]),
            };
            let Some((value, place)) = next else { break };
            surplus += if side[place] { -2 * self.weight[place] } else { 2 * self.weight[place] };
            cut -= value;
            (side[place], is_free[place]) = (!side[place], false);
            moved.push(place);
            for &(to, carried) in self.joined(place) {
                let to = to as usize;
                if is_free[to] {
                    gain[to] += if side[to] == side[place] { -2 * carried } else { 2 * carried };
                    queues[usize::from(side[to])].push((gain[to], Reverse(to as u32)));
                }
            }
            if cut + self.parted(surplus) < best.0 {
                best = (cut + self.parted(surplus), moved.len());
            }
        }
        moved[best.1..].iter().for_each(|&place| side[place] = !side[place]);
        best.0
    }

    /// Returns the side of each vertex. Surplus nodes are cut off from the places that lose least.
    fn exact(&self, mut side: Vec<bool>) -> Vec<bool> {
        let surplus = self.surplus(&side);
        let mut nodes: Vec<usize> =
            (0..self.place.len()).filter(|&node| side[self.place[node] as usize] == (surplus > 0)).collect();
        nodes.sort_by_cached_key(|&node| {
            let place = self.place[node];
            (Reverse(self.gain(&side, place as usize)), place)
        });
        for (node, &place) in self.place.iter().enumerate() {
            side[node] = side[place as usize];
        }
        nodes[..surplus.unsigned_abs() as usize / 2].iter().for_each(|&node| side[node] = !side[node]);
        // (The first half is the smaller one.)
        if 2 * side[..self.place.len()].iter().filter(|&&first| first).count() > self.place.len() {
            side.iter_mut().for_each(|first| *first = !*first);
        }
        side
    }
}
