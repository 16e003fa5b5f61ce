//! Orders in which the ranks of an all-to-all visit each other, by the nodes on which they are.

use super::ordered::Partner;
use crate::base::choice::choice;
use crate::diagnostic::Diagnostic;
use crate::fabric::Lattice;
use crate::ids::NodeId;
use crate::pattern::FabricInfo;

choice! {
    /// Order in which a rank visits the other ranks, round by round.
    ///
    /// P is the position of the rank's node among the nodes of its job, K the node's number among all n nodes, and x
    /// its coordinates. Where several ranks are on a node, or several nodes at a point, their numbers there are one
    /// more digit.
    pub enum Order {
        /// By number: (rank + t) mod N in round t.
        Rank = "rank",
        /// By position of the node: (P + t) mod N.
        Node = "node",
        /// By number of the node: (K + t) mod n, with an empty turn where no rank is.
        Slot = "slot",
        /// By position in steps of g: (P + g t) mod N, with g the next number above 0.618 N that is coprime to N.
        Stride = "stride",
        /// By coordinates: x + k or x - k, by the parity of the sum of the coordinates.
        Sign = "sign",
        /// By coordinates: x + k in each dimension, with shifts k in the order of points.
        Digit = "digit",
        /// By coordinates: k - x in each dimension.
        Reflect = "reflect",
        /// Each rank in a random order of its own, by the seed.
        Random = "random",
        /// The order with the least time under barriers, by the largest load of a link in each round.
        Auto = "auto",
    }
}

/// Largest number of places, with and without ranks.
const MOST_PLACES: u64 = 1 << 26;

/// Number without a rank.
const NOBODY: u32 = u32::MAX;

/// Places that ranks visit in turn: every rank has one, and some may be empty.
struct Places {
    /// Place of each rank.
    of_rank: Vec<u32>,
    /// Rank at each place.
    rank_at: Vec<u32>,
}

impl Places {
    /// Creates places by cell: `cells` cells with room for as many ranks as the fullest has. The place is
    /// `cell * room + number` (`inner`), or `cell + cells * number`.
    fn new(cell: &[u32], cells: u32, inner: bool) -> Option<(Self, u32)> {
        let mut count = vec![0_u32; cells as usize];
        let number: Vec<u32> = cell
            .iter()
            .map(|&cell| {
                count[cell as usize] += 1;
                count[cell as usize] - 1
            })
            .collect();
        let room = count.iter().copied().max().unwrap_or(1).max(1);
        if u64::from(cells) * u64::from(room) > MOST_PLACES {
            return None;
        }
        let place = |(&cell, number): (&u32, u32)| if inner { cell * room + number } else { cell + cells * number };
        let of_rank: Vec<u32> = cell.iter().zip(number).map(place).collect();
        let mut rank_at = vec![NOBODY; (cells * room) as usize];
        (0..).zip(&of_rank).for_each(|(rank, &place)| rank_at[place as usize] = rank);
        Some((Self { of_rank, rank_at }, room))
    }

    /// Returns these places without the empty ones.
    fn packed(mut self) -> Self {
        self.rank_at.retain(|&rank| rank != NOBODY);
        (0..).zip(&self.rank_at).for_each(|(position, &rank)| self.of_rank[rank as usize] = position);
        self
    }

    fn len(&self) -> u32 {
        self.rank_at.len() as u32
    }

    /// Returns the rank at a place, unless it is the visitor itself.
    fn visited(&self, rank: u32, place: u32) -> Option<u32> {
        Some(self.rank_at[place as usize]).filter(|&other| other != NOBODY && other != rank)
    }
}

/// Rounds of an order: their number, and the receiver of each rank in each round from 1.
pub(super) type Rounds = (u32, Partner);

/// Returns the node of a rank.
fn node(rank: u32, fabric: &dyn FabricInfo) -> NodeId {
    fabric.places().map_or(NodeId(rank), |nodes| nodes[rank as usize])
}

/// Returns the mistake of an order on a fabric with too many places.
fn large() -> Diagnostic {
    Diagnostic::new("order", "the fabric has too many places for this order").help("take order \"rank\" or \"node\"")
}

/// Returns the places of ranks by the numbers of their nodes.
fn by_node(ranks: u32, fabric: &dyn FabricInfo) -> Result<Places, Diagnostic> {
    let nodes: Vec<u32> = (0..ranks).map(|rank| node(rank, fabric).0).collect();
    let cells = fabric.nodes().max(nodes.iter().max().map_or(0, |most| most + 1));
    Places::new(&nodes, cells, true).map(|(places, _)| places).ok_or_else(large)
}

/// Returns the positions of ranks by node: the position of each rank, and the rank at each position.
///
/// # Errors
/// The fabric has too many places.
pub(super) fn positions(ranks: u32, fabric: &dyn FabricInfo) -> Result<(Vec<u32>, Vec<u32>), Diagnostic> {
    let Places { of_rank, rank_at } = by_node(ranks, fabric)?.packed();
    Ok((of_rank, rank_at))
}

/// Returns the rounds of an order by places; not for [`Order::Random`] and [`Order::Auto`].
///
/// # Errors
/// The fabric has no coordinates, or too many places.
pub(super) fn rounds(order: Order, ranks: u32, fabric: &dyn FabricInfo) -> Result<Rounds, Diagnostic> {
    let shifted = |places: Places, step: u32| -> Rounds {
        let len = places.len();
        let partner = move |rank: u32, round: u32| {
            let shift = u64::from(places.of_rank[rank as usize]) + u64::from(round) * u64::from(step);
            places.visited(rank, (shift % u64::from(len)) as u32)
        };
        (len - 1, Box::new(partner))
    };
    match order {
        Order::Slot => Ok(shifted(by_node(ranks, fabric)?, 1)),
        Order::Stride => Ok(shifted(by_node(ranks, fabric)?.packed(), stride(ranks))),
        Order::Digit | Order::Reflect | Order::Sign => {
            let lattice = fabric.fabric().and_then(|fabric| fabric.family().lattice()).ok_or_else(|| {
                let message = format!("order \"{order}\" follows coordinates, and this fabric has none");
                Diagnostic::new("order", message)
                    .label("for tori, meshes and HyperX")
                    .help("take order \"node\", \"slot\" or \"stride\"")
            })?;
            by_coordinates(order, lattice, (0..ranks).map(|rank| node(rank, fabric))).ok_or_else(large)
        }
        Order::Node | Order::Rank | Order::Random | Order::Auto => Ok(shifted(by_node(ranks, fabric)?.packed(), 1)),
    }
}

/// Returns the numbering of ranks for which [`Order::Rank`] visits the nodes in another order: the rank that gets each
/// number, by the nodes of the ranks. `None` if no numbering does so.
pub fn numbering(order: Order, nodes: &[NodeId]) -> Option<Vec<u32>> {
    let ranks = nodes.len() as u32;
    let mut by_node: Vec<u32> = (0..ranks).collect();
    match order {
        Order::Rank => return Some(by_node),
        Order::Node | Order::Stride => by_node.sort_by_key(|&rank| nodes[rank as usize]),
        _ => return None,
    }
    let step = if order == Order::Stride { stride(ranks) } else { 1 };
    let at = |number: u32| by_node[(u64::from(number) * u64::from(step) % u64::from(ranks)) as usize];
    Some((0..ranks).map(at).collect())
}

/// Returns the step of [`Order::Stride`]: the next number above 0.618 N that is coprime to N.
fn stride(ranks: u32) -> u32 {
    let gcd = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let above = (0.618 * f64::from(ranks)) as u32 + 1;
    (above..).find(|&step| gcd(step, ranks) == 1).unwrap_or(1)
}

/// Returns the rounds of an order that follows coordinates, for ranks on these nodes.
fn by_coordinates(order: Order, lattice: &dyn Lattice, nodes: impl Iterator<Item = NodeId>) -> Option<Rounds> {
    let points: Vec<u32> = nodes.map(|node| lattice.point_of(node)).collect();
    let (places, room) = Places::new(&points, lattice.points(), false)?;
    let sizes: Vec<u32> = lattice.sizes().iter().copied().chain([room]).collect();
    let len = places.len();
    // Reflection also visits in round 0, and visits itself in another.
    let first = u32::from(order != Order::Reflect);
    let partner = move |rank: u32, round: u32| {
        let (mut x, mut k) = (places.of_rank[rank as usize], round - 1 + first);
        let parity = sizes.iter().fold((x, 0), |(x, sum), size| (x / size, sum + x % size)).1 % 2;
        let (mut stride, mut place) = (1, 0);
        for &size in &sizes {
            let (own, shift) = (x % size, k % size);
            let to = match order {
                Order::Reflect => shift + size - own,
                Order::Sign if parity == 1 => own + size - shift,
                _ => own + shift,
            };
            place += to % size * stride;
            (x, k, stride) = (x / size, k / size, stride * size);
        }
        places.visited(rank, place)
    };
    Some((len - first, Box::new(partner)))
}
