//! Search over a graph of switches for all links by which messages may go on to one switch.

use super::graph::{Graph, NONE};

/// Link that leads on: the port at its place, the link, and the place at its other end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub port: u16,
    pub link: u32,
    pub place: u32,
}

/// Places from which messages reach one target, nearest first, each with the links that they may take.
///
/// All paths of candidates from a place are equally long: their length is the distance of the place.
#[derive(Default)]
pub(super) struct LegalPaths {
    /// Place, and the end of its candidates.
    pub places: Vec<(u32, u32)>,
    pub candidates: Vec<Candidate>,
}

impl LegalPaths {
    /// Returns the candidates of each place, nearest places first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[Candidate])> {
        let mut start = 0;
        self.places.iter().map(move |&(place, end)| {
            let candidates = &self.candidates[start as usize..end as usize];
            start = end;
            (place, candidates)
        })
    }

    /// Returns the candidates of each place, furthest places first.
    pub fn furthest_first(&self) -> impl Iterator<Item = (u32, &[Candidate])> {
        (0..self.places.len()).rev().map(|i| {
            let start = i.checked_sub(1).map_or(0, |before| self.places[before].1);
            (self.places[i].0, &self.candidates[start as usize..self.places[i].1 as usize])
        })
    }
}

/// State of a place that has not been reached.
const UNSEEN: u8 = 0;
/// State of a place whose path goes down only.
const DOWN: u8 = 1;
/// State of a place whose path goes up first.
const UP: u8 = 2;

/// Finds the shortest paths to `target`; with `ranks` (by place, 0 is the top) those that never go up after
/// down.
///
/// The search goes from the target against the links, level by level. A place is reached in one of two ways:
/// by a link down to a place whose own path goes down only, or by a link up to any reached place. If both are
/// equally short the first is taken. So messages that have gone down continue down, although tables do not
/// know where a message came from.
///
/// Messages do not cross closed places; links of these are neither up nor down.
pub(super) fn legal_paths(graph: &Graph, target: u32, ranks: Option<&[u32]>) -> LegalPaths {
    match ranks {
        None => shortest_ways(graph, target),
        Some(ranks) => ranked_ways(graph, target, ranks),
    }
}

/// Finds all shortest paths to `target`.
fn shortest_ways(graph: &Graph, target: u32) -> LegalPaths {
    let mut levels = vec![NONE; graph.places() as usize];
    let mut order = vec![target];
    levels[target as usize] = 0;
    // Number of links of each place that lead closer, and all these links in the order of the search.
    let (mut counts, mut found) = (vec![0_u32; levels.len()], Vec::new());
    let mut next = 0;
    while let Some(&to) = order.get(next) {
        next += 1;
        if to != target && !graph.is_open(to) {
            continue;
        }
        let level = levels[to as usize] + 1;
        for way in graph.links_into(to) {
            let from = way.place as usize;
            if levels[from] == NONE {
                levels[from] = level;
                order.push(way.place);
            }
            if levels[from] == level {
                counts[from] += 1;
                found.push((way.place, Candidate { port: way.port, link: way.link, place: to }));
            }
        }
    }
    let mut ways = LegalPaths { places: Vec::with_capacity(order.len()), candidates: Vec::new() };
    let mut end = 0;
    for &place in &order[1..] {
        // From here on `counts` is the index of the next candidate of the place.
        let start = end;
        end += std::mem::replace(&mut counts[place as usize], start);
        ways.places.push((place, end));
    }
    if let Some(&(_, any)) = found.first() {
        ways.candidates.resize(found.len(), any);
    }
    for (place, candidate) in found {
        let at = &mut counts[place as usize];
        ways.candidates[*at as usize] = candidate;
        *at += 1;
    }
    let mut start = 0;
    for &(_, end) in &ways.places {
        ways.candidates[start as usize..end as usize].sort_unstable_by_key(|candidate| candidate.port);
        start = end;
    }
    ways
}

/// Finds the shortest paths that never go up after down.
fn ranked_ways(graph: &Graph, target: u32, ranks: &[u32]) -> LegalPaths {
    let mut levels = vec![NONE; graph.places() as usize];
    let mut kinds = vec![UNSEEN; graph.places() as usize];
    let rises =
        |from: u32, to: u32| ranks[to as usize] < ranks[from as usize] && graph.is_open(from) && graph.is_open(to);
    let mut order = vec![target];
    levels[target as usize] = 0;
    kinds[target as usize] = DOWN;
    let (mut start, mut level) = (0, 0);
    while start < order.len() {
        let end = order.len();
        for kind in [DOWN, UP] {
            for i in start..end {
                let to = order[i];
                if (to != target && !graph.is_open(to)) || (kind == DOWN && kinds[to as usize] != DOWN) {
                    continue;
                }
                for way in graph.links_into(to) {
                    let from = way.place;
                    if kinds[from as usize] == UNSEEN && rises(from, to) == (kind == UP) {
                        // No message comes to a closed place from elsewhere: any link on is legal there.
                        kinds[from as usize] = kind;
                        levels[from as usize] = level + 1;
                        order.push(from);
                    }
                }
            }
            if kind == DOWN {
                // A closed place may take any link.
                for i in start..end {
                    let to = order[i];
                    for way in graph.links_into(to) {
                        let from = way.place;
                        if kinds[from as usize] == UNSEEN && !graph.is_open(from) && graph.is_open(to) {
                            kinds[from as usize] = UP;
                            levels[from as usize] = level + 1;
                            order.push(from);
                        }
                    }
                }
            }
        }
        start = end;
        level += 1;
    }
    let mut ways = LegalPaths { places: Vec::with_capacity(order.len()), candidates: Vec::new() };
    for &place in &order[1..] {
        let here = place as usize;
        for way in graph.links_out_of(place) {
            let there = way.place as usize;
            let ends_or_passes = way.place == target || graph.is_open(way.place);
            // (A sum, since the level of a place that is not reached is the largest number.)
            if levels[there] != NONE
                && levels[there] + 1 == levels[here]
                && ends_or_passes
                && (!graph.is_open(place) || rises(place, way.place) == (kinds[here] == UP))
                && (kinds[here] != DOWN || kinds[there] == DOWN)
            {
                ways.candidates.push(Candidate { port: way.port, link: way.link, place: way.place });
            }
        }
        ways.places.push((place, ways.candidates.len() as u32));
    }
    ways
}
