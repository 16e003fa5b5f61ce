//! Largest flows in a network of whole capacities.

/// One direction of a link. The opposite direction is at the index with the lowest bit inverted.
#[derive(Clone, Copy, Debug)]
struct Arc {
    to: u32,
    /// Capacity that is left.
    left: i64,
}

/// Network on which flows between different ends are computed in turn; between them capacities may change.
#[derive(Debug)]
pub(super) struct Network {
    /// Arcs of link i: 2 i along it, and 2 i + 1 against it.
    arcs: Vec<Arc>,
    /// Arcs that leave each vertex.
    leaving: Vec<Vec<u32>>,
    /// Amounts that the present flow sends, by arc, in the order in which they were sent.
    sent: Vec<(usize, i64)>,
    /// Number of arcs to the sink, or `UNSEEN`.
    distance: Vec<u32>,
    /// Position in `leaving` of the arc that is tried next.
    next: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX / 2;

impl Network {
    /// Creates a network of links `(from, to, capacity)` between `vertices` vertices.
    pub fn new(vertices: usize, links: &[(u32, u32, i64)]) -> Self {
        let (arcs, leaving) = (Vec::with_capacity(2 * links.len()), vec![Vec::new(); vertices]);
        let (distance, next) = (vec![UNSEEN; vertices], vec![0; vertices]);
        let mut network = Self { arcs, leaving, sent: Vec::new(), distance, next };
        links.iter().for_each(|&(from, to, capacity)| network.link(from, to, capacity));
        network
    }

    /// Adds a link behind the others.
    pub fn link(&mut self, from: u32, to: u32, capacity: i64) {
        let arc = self.arcs.len() as u32;
        self.arcs.extend([Arc { to, left: capacity }, Arc { to: from, left: 0 }]);
        self.leaving[from as usize].push(arc);
        self.leaving[to as usize].push(arc + 1);
    }

    /// Returns the capacity of a link and sets a new one. The present flow is removed first.
    pub fn set(&mut self, link: usize, capacity: i64) -> i64 {
        self.reset();
        std::mem::replace(&mut self.arcs[2 * link].left, capacity)
    }

    /// Adds to the capacity of a link. The present flow is removed first.
    pub fn add(&mut self, link: usize, amount: i64) {
        let before = self.set(link, 0);
        self.set(link, before + amount);
    }

    /// Returns the largest flow from `source` to `sink`, or `limit` if the largest flow is not smaller.
    ///
    /// Paths are measured from the sink, since each vertex of these networks is near to the source. Cost: that of
    /// Dinic's algorithm, O(V^2 E) at worst, and in practice a few passes over the links.
    /// Source: E. A. Dinic, Soviet Math. Doklady 11 (1970) 1277.
    pub fn flow(&mut self, source: u32, sink: u32, limit: i64) -> i64 {
        self.reset();
        let mut flow = 0;
        while flow < limit && self.measure(source, sink) {
            flow += self.send(source, sink, limit - flow);
        }
        flow
    }

    /// True if `vertex` is on the sink's side of the smallest cut. Valid after a flow below its limit.
    pub fn on_sink_side(&self, vertex: u32) -> bool {
        self.distance[vertex as usize] != UNSEEN
    }

    /// Returns the amount that the present flow sends over a link.
    pub fn sent_on(&self, link: usize) -> i64 {
        self.arcs[2 * link + 1].left
    }

    fn reset(&mut self) {
        while let Some((arc, amount)) = self.sent.pop() {
            self.push(arc, -amount);
        }
    }

    fn push(&mut self, arc: usize, amount: i64) {
        self.arcs[arc].left -= amount;
        self.arcs[arc ^ 1].left += amount;
    }

    /// Measures distances to the sink, up to that of the source. Returns true if the source is reached.
    fn measure(&mut self, source: u32, sink: u32) -> bool {
        self.distance.fill(UNSEEN);
        self.distance[sink as usize] = 0;
        let (mut queue, mut taken) = (vec![sink as usize], 0);
        while let Some(&vertex) = queue.get(taken) {
            taken += 1;
            for &arc in &self.leaving[vertex] {
                let to = self.arcs[arc as usize].to as usize;
                if self.distance[to] == UNSEEN && self.arcs[arc as usize ^ 1].left > 0 {
                    (self.distance[to], self.next[to]) = (self.distance[vertex] + 1, 0);
                    if to == source as usize {
                        return true;
                    }
                    queue.push(to);
                }
            }
        }
        false
    }

    /// Sends flow along shortest paths until each has a full link or `limit` is reached. Returns the amount.
    fn send(&mut self, source: u32, sink: u32, limit: i64) -> i64 {
        let (mut path, mut total, mut here) = (Vec::new(), 0, source as usize);
        loop {
            if here == sink as usize {
                let least = path.iter().map(|&arc: &usize| self.arcs[arc].left).fold(limit - total, i64::min);
                path.iter().for_each(|&arc| self.push(arc, least));
                self.sent.extend(path.iter().map(|&arc| (arc, least)));
                total += least;
                let full = path.iter().position(|&arc| self.arcs[arc].left == 0);
                let Some(full) = full.filter(|_| total < limit) else { return total };
                here = self.arcs[path[full] ^ 1].to as usize;
                path.truncate(full);
            } else if let Some(&arc) = self.leaving[here].get(self.next[here] as usize) {
                let Arc { to, left } = self.arcs[arc as usize];
                if left > 0 && self.distance[to as usize] + 1 == self.distance[here] {
                    path.push(arc as usize);
                    here = to as usize;
                } else {
                    self.next[here] += 1;
                }
            } else {
                let Some(arc) = path.pop() else { return total };
                here = self.arcs[arc ^ 1].to as usize;
                self.next[here] += 1;
            }
        }
    }
}
