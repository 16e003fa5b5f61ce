//! Dependencies among the operations of a rank.

/// Dependencies among the operations of a rank, stored by the operation that is required.
///
/// The graph is one list of words: the position at which the followers of each operation begin, one more such
/// entry, and then all followers. Words have 16 bits if everything fits, which halves the memory of a
/// schedule of many ranks.
#[derive(Clone, Debug)]
pub struct Graph(Words);

#[derive(Clone, Debug)]
enum Words {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

/// One edge of a [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follower {
    /// The operation that waits.
    pub op: u32,
    /// True if it waits for the start only (`irequires`).
    pub for_start: bool,
}

/// Bit of an edge that is set if the follower waits for the start only.
pub(super) const FOR_START: u32 = 1 << 31;
/// [`FOR_START`] in a narrow word.
const NARROW_START: u16 = 1 << 15;

/// The followers of one operation.
#[derive(Clone, Debug)]
pub enum Followers<'a> {
    /// In words of 16 bits.
    Narrow(std::slice::Iter<'a, u16>),
    /// In words of 32 bits.
    Wide(std::slice::Iter<'a, u32>),
}

impl Iterator for Followers<'_> {
    type Item = Follower;

    #[inline]
    fn next(&mut self) -> Option<Follower> {
        match self {
            Self::Narrow(words) => words
                .next()
                .map(|&word| Follower { op: u32::from(word & !NARROW_START), for_start: word & NARROW_START != 0 }),
            Self::Wide(words) => {
                words.next().map(|&word| Follower { op: word & !FOR_START, for_start: word & FOR_START != 0 })
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Narrow(words) => words.size_hint(),
            Self::Wide(words) => words.size_hint(),
        }
    }
}

impl ExactSizeIterator for Followers<'_> {}

impl Graph {
    /// Creates a graph of `ops` operations. Edges are (required, follower with [`FOR_START`]); the edges of
    /// one operation keep their order.
    pub(super) fn new(ops: usize, edges: &[(u32, u32)]) -> Self {
        let all = ops + 1 + edges.len();
        Self(match ops <= usize::from(NARROW_START) && all <= usize::from(u16::MAX) {
            true => Words::Narrow(sorted(
                ops,
                edges,
                |at| at as u16,
                usize::from,
                |edge| (edge & !FOR_START) as u16 | if edge & FOR_START != 0 { NARROW_START } else { 0 },
            )),
            false => Words::Wide(sorted(ops, edges, |at| at as u32, |at| at as usize, |edge| edge)),
        })
    }

    /// Returns the order of a sequence of `ops` operations, as a graph.
    pub fn chain(ops: usize) -> Self {
        let edges: Vec<(u32, u32)> = (1..ops.max(1) as u32).map(|op| (op - 1, op)).collect();
        Self::new(ops, &edges)
    }

    /// Returns the operations that wait for operation `op`, in the order in which the input names them.
    #[inline]
    pub fn followers(&self, op: u32) -> Followers<'_> {
        let op = op as usize;
        match &self.0 {
            Words::Narrow(words) => Followers::Narrow(words[usize::from(words[op])..usize::from(words[op + 1])].iter()),
            Words::Wide(words) => Followers::Wide(words[words[op] as usize..words[op + 1] as usize].iter()),
        }
    }

    /// Number of operations.
    pub fn ops(&self) -> usize {
        // The first list begins after one entry for each operation and one more.
        let first = match &self.0 {
            Words::Narrow(words) => usize::from(words[0]),
            Words::Wide(words) => words[0] as usize,
        };
        first - 1
    }

    /// Returns the number of operations that each operation waits for.
    pub fn required(&self) -> Vec<u32> {
        let mut required = vec![0; self.ops()];
        self.all().for_each(|follower| required[follower.op as usize] += 1);
        required
    }

    /// Returns all edges, by the operation that is required.
    pub fn all(&self) -> Followers<'_> {
        let first = self.ops() + 1;
        match &self.0 {
            Words::Narrow(words) => Followers::Narrow(words[first..].iter()),
            Words::Wide(words) => Followers::Wide(words[first..].iter()),
        }
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.all().len()
    }

    /// Memory of the graph \[B\].
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Words::Narrow(words) => 2 * words.len(),
            Words::Wide(words) => 4 * words.len(),
        }
    }

    /// Returns true if every operation comes after all that it requires: then there are no cycles.
    pub(super) fn is_in_order(&self) -> bool {
        (0..self.ops() as u32).all(|op| self.followers(op).all(|follower| follower.op > op))
    }
}

/// Sorts edges by their required operation and puts the begin of each operation's list in front: a stable
/// counting sort.
fn sorted<W: Copy + Default>(
    ops: usize,
    edges: &[(u32, u32)],
    place: impl Fn(usize) -> W,
    at: impl Fn(W) -> usize,
    word: impl Fn(u32) -> W,
) -> Box<[W]> {
    let mut words = vec![W::default(); ops + 1 + edges.len()];
    let next = |words: &mut [W], op: usize| {
        let found = at(words[op]);
        words[op] = place(found + 1);
        found
    };
    for &(required, _) in edges {
        next(&mut words, required as usize);
    }
    // Turns the counts into the begin of each list.
    let mut begin = ops + 1;
    for entry in &mut words[..=ops] {
        let count = at(*entry);
        *entry = place(begin);
        begin += count;
    }
    for &(required, follower) in edges {
        let found = next(&mut words, required as usize);
        words[found] = word(follower);
    }
    // Each entry is now the begin of the next list.
    words.copy_within(0..ops, 1);
    words[0] = place(ops + 1);
    words.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn edges_come_back_in_their_order_in_narrow_words_as_in_wide_ones(
            ops in 1_usize..40,
            drawn in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..200),
        ) {
            let edges: Vec<(u32, u32)> = drawn
                .iter()
                .map(|&(from, to, start)| {
                    (from % ops as u32, (to % ops as u32) | if start { FOR_START } else { 0 })
                })
                .collect();
            let narrow = Graph::new(ops, &edges);
            let wide = Graph(Words::Wide(sorted(ops, &edges, |at| at as u32, |at| at as usize, |edge| edge)));
            prop_assert!(matches!(narrow.0, Words::Narrow(_)));
            for graph in [&narrow, &wide] {
                prop_assert_eq!((graph.ops(), graph.edges()), (ops, edges.len()));
                for op in 0..ops as u32 {
                    let found: Vec<u32> = graph
                        .followers(op)
                        .map(|follower| follower.op | if follower.for_start { FOR_START } else { 0 })
                        .collect();
                    let expected: Vec<u32> = edges.iter().filter(|edge| edge.0 == op).map(|edge| edge.1).collect();
                    prop_assert_eq!(found, expected);
                }
                let count = |op: u32| edges.iter().filter(|edge| edge.1 & !FOR_START == op).count() as u32;
                prop_assert_eq!(graph.required(), (0..ops as u32).map(count).collect::<Vec<_>>());
                prop_assert_eq!(graph.is_in_order(), edges.iter().all(|edge| edge.1 & !FOR_START > edge.0));
            }
        }
    }

    #[test]
    fn what_does_not_fit_into_narrow_words_has_wide_ones() {
        let narrow =
            |ops: usize, edges: usize| matches!(Graph::new(ops, &vec![(0, ops as u32 - 1); edges]).0, Words::Narrow(_));
        assert!(narrow(1 << 15, (1 << 15) - 2));
        assert!(!narrow(1 << 15, (1 << 15) - 1));
        assert!(!narrow((1 << 15) + 1, 0));
        let chain = Graph::chain(70_000);
        assert_eq!((chain.ops(), chain.edges()), (70_000, 69_999));
        assert_eq!(chain.followers(69_998).collect::<Vec<_>>(), [Follower { op: 69_999, for_start: false }]);
        assert_eq!((Graph::chain(0).ops(), Graph::chain(1).edges()), (0, 0));
    }
}
