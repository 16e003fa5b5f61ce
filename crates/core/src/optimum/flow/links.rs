//! Links, demands and flows of one source.

/// Directed links between vertices, with their capacities.
#[derive(Clone, Debug)]
pub struct Links {
    /// First vertex, last vertex of each link.
    ends: Vec<(u32, u32)>,
    /// Capacity of each link \[B/s\].
    capacity: Vec<f64>,
    /// True for each vertex that traffic of other vertices may cross.
    passes: Vec<bool>,
    out: Adjacency,
    into: Adjacency,
}

/// Links of each vertex in one direction, with the vertex at the other end.
#[derive(Clone, Debug)]
struct Adjacency {
    start: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Adjacency {
    /// Groups the links by the first of each pair of vertices.
    fn new(vertices: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0; vertices + 1];
        pairs.clone().for_each(|(at, _)| start[at as usize + 1] += 1);
        (0..vertices).for_each(|v| start[v + 1] += start[v]);
        let mut next = start.clone();
        let mut entries = vec![(0, 0); start[vertices] as usize];
        for (link, (at, other)) in pairs.enumerate() {
            entries[next[at as usize] as usize] = (link as u32, other);
            next[at as usize] += 1;
        }
        Self { start, entries }
    }

    fn of(&self, vertex: u32) -> &[(u32, u32)] {
        let vertex = vertex as usize;
        &self.entries[self.start[vertex] as usize..self.start[vertex + 1] as usize]
    }
}

impl Links {
    /// Creates the network of these links `(from, to, capacity [B/s])`, numbered as they are listed.
    ///
    /// `passes` says for each vertex if traffic of other vertices may cross it. Parallel links are allowed.
    /// Capacities must be finite and above 0, and vertices below `passes.len()`.
    pub fn new(passes: Vec<bool>, links: &[(u32, u32, f64)]) -> Self {
        let ends: Vec<_> = links.iter().map(|&(from, to, _)| (from, to)).collect();
        let out = Adjacency::new(passes.len(), ends.iter().copied());
        let into = Adjacency::new(passes.len(), ends.iter().map(|&(from, to)| (to, from)));
        Self { capacity: links.iter().map(|link| link.2).collect(), ends, passes, out, into }
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.passes.len()
    }

    /// Returns the first and the last vertex of each link.
    pub fn ends(&self) -> &[(u32, u32)] {
        &self.ends
    }

    /// Returns the capacity of each link \[B/s\].
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    /// Returns true if traffic of other vertices may cross the vertex.
    pub fn passes(&self, vertex: u32) -> bool {
        self.passes[vertex as usize]
    }

    /// Returns each link out of the vertex, with the vertex that it leads to.
    pub(super) fn out(&self, vertex: u32) -> &[(u32, u32)] {
        self.out.of(vertex)
    }

    /// Returns each link into the vertex, with the vertex that it comes from.
    pub(super) fn into(&self, vertex: u32) -> &[(u32, u32)] {
        self.into.of(vertex)
    }

    /// Returns the time of the busiest link, `max f_e / c_e` \[s\].
    pub(super) fn busiest(&self, bytes: &[f64]) -> f64 {
        bytes.iter().zip(&self.capacity).map(|(f, c)| f / c).fold(0.0, f64::max)
    }
}

/// Bytes from each vertex to other vertices.
#[derive(Clone, Debug)]
pub struct Demand {
    rows: Vec<Vec<(u32, f64)>>,
    sources: Vec<u32>,
    pairs: usize,
}

impl Demand {
    /// Sums the bytes `(from, to, bytes)` by pair of vertices. Pairs of a vertex with itself count nothing.
    pub fn new(vertices: usize, bytes: impl IntoIterator<Item = (u32, u32, f64)>) -> Self {
        let mut rows = vec![Vec::new(); vertices];
        bytes.into_iter().filter(|b| b.0 != b.1 && b.2 > 0.0).for_each(|b| rows[b.0 as usize].push((b.1, b.2)));
        for row in &mut rows {
            row.sort_by_key(|&(to, _)| to);
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
        }
        let sources = (0..vertices as u32).filter(|&s| !rows[s as usize].is_empty()).collect();
        Self { pairs: rows.iter().map(Vec::len).sum(), rows, sources }
    }

    /// Returns the destinations of a source and the bytes to each \[B\], by rising vertex.
    pub fn of(&self, source: u32) -> &[(u32, f64)] {
        &self.rows[source as usize]
    }

    /// Returns the vertices that send anything, by rising vertex.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// Returns the number of pairs with bytes between them.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

/// Bytes of one source on each link that carries any of them.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    links: Vec<u32>,
    bytes: Vec<f64>,
}

impl Flow {
    /// Creates the flow of the bytes of all links; keeps those above 0.
    pub(super) fn new(bytes: impl Iterator<Item = f64>) -> Self {
        let mut flow = Self::default();
        for (link, bytes) in bytes.enumerate().filter(|b| b.1 > 0.0) {
            flow.links.push(link as u32);
            flow.bytes.push(bytes);
        }
        flow.links.shrink_to_fit();
        flow.bytes.shrink_to_fit();
        flow
    }

    /// Returns the links, by rising index, with the bytes of each \[B\].
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.links.iter().copied().zip(self.bytes.iter().copied())
    }

    /// Returns the number of links that carry bytes.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }
}
