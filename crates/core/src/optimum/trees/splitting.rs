//! Removal of switches: pairs of links become links between the switch's neighbours.

use std::collections::BTreeMap;

use super::demand::Demand;
use super::graph::{Error, Progress, report};
use super::max_flow::Network;

/// Paths of the fabric that joined links take.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    /// Links of the fabric; they are the first paths.
    links: &'a [(u32, u32, i64)],
    /// Pairs of paths, one behind the other; they are the paths behind the links.
    joins: Vec<(u32, u32)>,
}

impl Paths<'_> {
    fn join(&mut self, first: u32, second: u32) -> u32 {
        self.joins.push((first, second));
        (self.links.len() + self.joins.len()) as u32 - 1
    }

    /// Returns the links of a path in order, without the parts between two visits of the same vertex.
    pub fn links(&self, path: u32) -> Vec<u32> {
        let (mut links, mut open): (Vec<u32>, _) = (Vec::new(), vec![path]);
        while let Some(path) = open.pop() {
            let Some(&(_, to, _)) = self.links.get(path as usize) else {
                let (first, second) = self.joins[path as usize - self.links.len()];
                open.extend([second, first]);
                continue;
            };
            match links.iter().position(|&link| self.links[link as usize].0 == to) {
                Some(earlier) => links.truncate(earlier),
                None => links.push(path),
            }
        }
        links
    }
}

/// Capacities between pairs of vertices, each with its paths and their amounts.
pub(super) type Edges = BTreeMap<(u32, u32), Vec<(u32, i64)>>;

/// Returns the sum of the amounts.
pub(super) fn total(pieces: &[(u32, i64)]) -> i64 {
    pieces.iter().map(|piece| piece.1).sum()
}

/// Removes all switches from the links `(from, to, capacity)`. Returns the edges between compute nodes.
///
/// A switch w is removed by splitting: capacity m of u->w and w->t becomes capacity m of u->t. An even dealing of
/// what comes in is tried first. Where it makes a cut too small, the largest amount m that does not is computed by
/// maximum flows. The farthest switches go first.
///
/// Source: J. Bang-Jensen, A. Frank, B. Jackson, SIAM J. Discrete Math. 8 (1995) 155; ForestColl.
pub(super) fn remove_switches<'a>(
    links: &'a [(u32, u32, i64)],
    demand: &Demand<'_>,
    progress: &mut Progress<'_>,
) -> Result<(Edges, Paths<'a>), Error> {
    let mut paths = Paths { links, joins: Vec::new() };
    let mut edges = Edges::new();
    for (path, &(from, to, capacity)) in (0..).zip(links).filter(|(_, (from, to, _))| from != to) {
        edges.entry((from, to)).or_default().push((path, capacity));
    }
    let order = farthest_first(demand, &edges);
    for (index, &switch) in order.iter().enumerate() {
        let mut part = |_: f64| progress(index as f64 / order.len() as f64);
        remove(switch, &mut edges, &mut paths, demand, &mut part)?;
    }
    Ok((edges, paths))
}

/// Returns the switches, those farthest from compute nodes first, and of these those with few neighbours first.
fn farthest_first(demand: &Demand<'_>, edges: &Edges) -> Vec<u32> {
    let compute = demand.shares.len() as u32;
    let mut distance = vec![0; compute as usize];
    distance.resize(demand.vertices as usize, demand.vertices);
    for (from, to) in (compute..demand.vertices).flat_map(|_| edges.keys().copied()) {
        distance[to as usize] = distance[to as usize].min(distance[from as usize] + 1);
    }
    let degree = |switch: u32| edges.range((switch, 0)..(switch + 1, 0)).count();
    let mut order: Vec<u32> = (compute..demand.vertices).collect();
    order.sort_by_key(|&switch| (demand.vertices - distance[switch as usize], degree(switch)));
    order
}

/// Neighbour of a switch on one side, with the number of its link in the network and the capacity that is left.
#[derive(Clone, Copy, Debug)]
struct End {
    vertex: u32,
    link: usize,
    left: i64,
}

/// Way through a switch.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Indices of its ends.
    from: usize,
    to: usize,
    /// Number of the link past the switch, in the network.
    link: usize,
    /// Amount that takes this link.
    amount: i64,
    /// Capacity between the ends before, or `None` if they are the same neighbour.
    before: Option<i64>,
}

/// Removes one switch.
fn remove(
    switch: u32,
    edges: &mut Edges,
    paths: &mut Paths,
    demand: &Demand<'_>,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    let mut splitter = Splitter::new(switch, edges, demand);
    let even = splitter.deal(progress)?;
    splitter.split(&even, progress)?;
    for number in 0..splitter.pairs.len() {
        let Pair { from, to, .. } = splitter.pairs[number];
        let left = splitter.ins[from].left.min(splitter.outs[to].left);
        if left > 0 {
            splitter.split(&[(number, left)], progress)?;
        }
    }
    let Splitter { ins, outs, pairs, .. } = splitter;
    if [&ins, &outs].iter().all(|ends| ends.iter().any(|end| end.left > 0)) {
        return Err(Error::Unbalanced(switch));
    }
    for Pair { from, to, amount, .. } in pairs.into_iter().filter(|pair| pair.amount > 0) {
        let (from, to) = (ins[from].vertex, outs[to].vertex);
        let mut first = take(edges.entry((from, switch)).or_default(), amount);
        let mut second = take(edges.entry((switch, to)).or_default(), amount);
        let pieces = edges.entry((from, to)).or_default();
        while let (Some(a), Some(b), true) = (first.last_mut(), second.last_mut(), from != to) {
            let least = a.1.min(b.1);
            pieces.push((paths.join(a.0, b.0), least));
            (a.1, b.1) = (a.1 - least, b.1 - least);
            first.pop_if(|piece| piece.1 == 0);
            second.pop_if(|piece| piece.1 == 0);
        }
    }
    edges.retain(|&(from, to), pieces| from != switch && to != switch && !pieces.is_empty());
    Ok(())
}

/// Takes pieces of this amount from the end of the list, which has at least that much.
pub(super) fn take(pieces: &mut Vec<(u32, i64)>, mut amount: i64) -> Vec<(u32, i64)> {
    let mut taken = Vec::new();
    while let Some(last) = pieces.last_mut().filter(|_| amount > 0) {
        let least = last.1.min(amount);
        taken.push((last.0, least));
        (last.1, amount) = (last.1 - least, amount - least);
        pieces.pop_if(|piece| piece.1 == 0);
    }
    taken
}

/// Number of grains in which an input is dealt.
const GRAINS: i64 = 256;

/// Splits of one switch, with the network on which they are checked.
#[derive(Debug)]
struct Splitter<'a> {
    demand: &'a Demand<'a>,
    /// Links from a source, behind the vertices, to each vertex, and then all edges.
    network: Network,
    ins: Vec<End>,
    outs: Vec<End>,
    /// All pairs, those of an input behind each other.
    pairs: Vec<Pair>,
    /// Node at which the last flow was too small. It is checked first.
    suspect: u32,
}

impl<'a> Splitter<'a> {
    fn new(switch: u32, edges: &Edges, demand: &'a Demand<'a>) -> Self {
        let mut network = demand.network(edges.iter().map(|(&(from, to), pieces)| (from, to, total(pieces))));
        let (mut ins, mut outs, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for (link, (&(from, to), pieces)) in (demand.shares.len()..).zip(edges) {
            let end = |vertex| End { vertex, link, left: total(pieces) };
            ins.extend((to == switch).then(|| end(from)));
            outs.extend((from == switch).then(|| end(to)));
        }
        for (from, to) in (0..ins.len()).flat_map(|from| (0..outs.len()).map(move |to| (from, to))) {
            let (link, ends) = (demand.shares.len() + edges.len() + pairs.len(), (ins[from].vertex, outs[to].vertex));
            let before = (ends.0 != ends.1).then(|| edges.get(&ends).map_or(0, |pieces| total(pieces)));
            pairs.push(Pair { from, to, link, amount: 0, before });
            network.link(ends.0, ends.1, 0);
        }
        Self { demand, network, ins, outs, pairs, suspect: 0 }
    }

    /// Deals the capacity that comes in to the outputs, never back to its origin. Each input in turn gives a grain to
    /// the output to which it has the least capacity so far, relative to what leaves there. Returns numbers of pairs
    /// with their amounts.
    fn deal(&self, progress: &mut Progress<'_>) -> Result<Vec<(usize, i64)>, Error> {
        let outputs = self.outs.len();
        let mut left_in: Vec<i64> = self.ins.iter().map(|end| end.left).collect();
        let mut left_out: Vec<i64> = self.outs.iter().map(|end| end.left).collect();
        // Ties go to neighbours that are far from each other, not to the next ones.
        let step = (outputs * 618 / 1000) | 1;
        let (mut dealt, mut moved) = (vec![0; self.pairs.len()], true);
        while moved {
            moved = false;
            report(progress, 0.0)?;
            for (i, left_in) in left_in.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
                let row = i * outputs;
                let key = |o: usize| {
                    let fill = (self.pairs[row + o].before? + dealt[row + o]) as f64 / self.outs[o].left as f64;
                    let key = (fill.to_bits(), -left_out[o], (o + outputs - i % outputs) * step % outputs);
                    (left_out[o] > 0).then_some((key, o))
                };
                let Some((_, o)) = (0..outputs).filter_map(key).min() else { continue };
                let amount = (self.ins[i].left / GRAINS).max(1).min(*left_in).min(left_out[o]);
                dealt[row + o] += amount;
                (*left_in, left_out[o], moved) = (*left_in - amount, left_out[o] - amount, true);
            }
        }
        Ok(dealt.into_iter().enumerate().filter(|pair| pair.1 > 0).collect())
    }

    /// Joins `amount` of an input and an output.
    fn join(&mut self, number: usize, amount: i64) {
        let pair = &mut self.pairs[number];
        pair.amount += amount;
        for end in [&mut self.ins[pair.from], &mut self.outs[pair.to]] {
            end.left -= amount;
            self.network.add(end.link, -amount);
        }
        self.network.add(pair.link, amount);
    }

    /// Splits pairs by these amounts, as many pairs at once as do no harm. A cut gets smaller by the amount of a pair
    /// or not at all, so what is lacking then has to be taken back.
    fn split(&mut self, pairs: &[(usize, i64)], progress: &mut Progress<'_>) -> Result<(), Error> {
        let (mut start, mut step) = (0, pairs.len());
        while start < pairs.len() {
            let batch = &pairs[start..pairs.len().min(start + step)];
            batch.iter().for_each(|&(number, amount)| self.join(number, amount));
            loop {
                let lacks;
                (lacks, self.suspect) = self.demand.lacking(&mut self.network, self.suspect, progress)?;
                if lacks == 0 {
                    (start, step) = (start + batch.len(), 2 * step);
                    break;
                } else if let &[(number, _)] = batch {
                    self.join(number, -lacks);
                } else {
                    batch.iter().for_each(|&(number, amount)| self.join(number, -amount));
                    step = batch.len() / 2;
                    break;
                }
            }
        }
        Ok(())
    }
}
