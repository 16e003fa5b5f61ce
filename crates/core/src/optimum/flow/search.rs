//! Shortest paths from one vertex, and the flow along all of them.
use super::Links;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Relative difference up to which a path counts as shortest, so that a turn spreads its flow over several paths.
const TIE: f64 = 1e-2;
/// Rank of a vertex that is not reached.
const UNREACHED: u32 = u32::MAX;

/// Distances from one source, and memory that the next search uses again.
pub(super) struct Search {
    /// Distance of each vertex; infinite if it is not reached.
    pub distance: Vec<f64>,
    /// Vertices in the order in which they were settled, the source first.
    pub order: Vec<u32>,
    /// Last link of a shortest path to each vertex.
    last: Vec<u32>,
    /// Position of each vertex in `order`.
    rank: Vec<u32>,
    /// Bytes that are still to be brought to each vertex.
    due: Vec<f64>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Search {
    pub fn new(vertices: usize) -> Self {
        Self {
            distance: vec![f64::INFINITY; vertices],
            order: Vec::with_capacity(vertices),
            last: vec![0; vertices],
            rank: vec![UNREACHED; vertices],
            due: vec![0.0; vertices],
            heap: BinaryHeap::new(),
        }
    }

    fn start(&mut self, source: u32) {
        self.distance.fill(f64::INFINITY);
        self.rank.fill(UNREACHED);
        self.order.clear();
        self.distance[source as usize] = 0.0;
    }

    fn settle(&mut self, vertex: u32) {
        self.rank[vertex as usize] = self.order.len() as u32;
        self.order.push(vertex);
    }

    /// Searches by number of links (breadth first).
    pub fn by_hops(&mut self, links: &Links, source: u32) {
        self.start(source);
        self.settle(source);
        let mut next = 0;
        while let Some(&vertex) = self.order.get(next) {
            next += 1;
            if vertex != source && !links.passes(vertex) {
                continue;
            }
            for &(_, to) in links.out(vertex) {
                if self.rank[to as usize] == UNREACHED {
                    self.distance[to as usize] = self.distance[vertex as usize] + 1.0;
                    self.settle(to);
                }
            }
        }
    }

    /// Searches by the sum of the lengths, all of them above 0 (Dijkstra).
    pub fn by_length(&mut self, links: &Links, lengths: &[f64], source: u32) {
        self.start(source);
        self.heap.push(Reverse((0, source)));
        while let Some(Reverse((_, vertex))) = self.heap.pop() {
            if self.rank[vertex as usize] != UNREACHED {
                continue;
            }
            self.settle(vertex);
            if vertex != source && !links.passes(vertex) {
                continue;
            }
            let here = self.distance[vertex as usize];
            for &(link, to) in links.out(vertex) {
                let distance = here + lengths[link as usize];
                if distance < self.distance[to as usize] {
                    self.distance[to as usize] = distance;
                    self.last[to as usize] = link;
                    // Bits of numbers above 0 are in the order of the numbers.
                    self.heap.push(Reverse((distance.to_bits(), to)));
                }
            }
        }
    }

    /// Adds the bytes of all destinations to `bytes` of each link, split over the shortest paths of the last search.
    ///
    /// Each vertex draws from its last links by their capacity. Only links from vertices settled earlier count, so
    /// nothing is lost where distances are equal. `lengths` are those of the search, `None` for hops.
    pub fn route(&mut self, links: &Links, lengths: Option<&[f64]>, row: &[(u32, f64)], bytes: &mut [f64]) {
        row.iter().for_each(|&(to, due)| self.due[to as usize] = due);
        for &vertex in self.order[1..].iter().rev() {
            let due = std::mem::take(&mut self.due[vertex as usize]);
            if due == 0.0 {
                continue;
            }
            let farthest = self.distance[vertex as usize] * (1.0 + TIE);
            let last = links.into(vertex).iter().filter(|&&(link, from)| {
                let length = lengths.map_or(1.0, |l| l[link as usize]);
                self.rank[from as usize] < self.rank[vertex as usize]
                    && self.distance[from as usize] + length <= farthest
                    && (from == self.order[0] || links.passes(from))
            });
            let capacity: f64 = last.clone().map(|&(link, _)| links.capacity()[link as usize]).sum();
            for &(link, from) in last {
                let part = due * (links.capacity()[link as usize] / capacity);
                bytes[link as usize] += part;
                self.due[from as usize] += part;
            }
        }
        self.due[self.order[0] as usize] = 0.0;
    }

    /// Returns the links of a shortest path, last first, to a vertex that the last search by length reached.
    pub fn path(&self, links: &Links, mut to: u32) -> Vec<u32> {
        let mut path = Vec::new();
        while to != self.order[0] {
            path.push(self.last[to as usize]);
            to = links.ends()[self.last[to as usize] as usize].0;
        }
        path
    }

    /// Returns `sum of bytes * distance` over the destinations.
    pub fn cost(&self, row: &[(u32, f64)]) -> f64 {
        row.iter().map(|&(to, bytes)| bytes * self.distance[to as usize]).sum()
    }

    /// Returns a destination that the last search did not reach.
    pub fn unreached(&self, row: &[(u32, f64)]) -> Option<u32> {
        row.iter().map(|&(to, _)| to).find(|&to| self.distance[to as usize].is_infinite())
    }
}

/// Returns the distance of each vertex from one vertex by the lengths of links; infinite if it is not reached.
pub fn distances(links: &Links, lengths: &[f64], from: u32) -> Vec<f64> {
    let mut search = Search::new(links.vertices());
    search.by_length(links, lengths, from);
    search.distance
}
