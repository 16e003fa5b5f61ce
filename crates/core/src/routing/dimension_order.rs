//! Dimension order: one dimension of a grid after another.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::LoadCount;
use super::demand::Demand;
use super::lattice::Dimensions;
use super::random_order::in_order;
use super::router::{ChannelOrder, Router};
use super::rule::{BuildContext, BuildResult, Rule};
use super::steps::Steps;
use crate::base::divisor::Divisor;
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{CrossbarGrid, Fabric, Grid};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.dimension-order]`: along one dimension after another, each the shorter way round.
///
/// On a HyperX each dimension is one step; each message draws one of parallel cables by its number.
#[spec(partial, Default)]
pub struct DimensionOrderSpec {
    /// Order in which the dimensions are crossed (default `[0, 1, ...]`: x, then y).
    pub order: Option<Located<Vec<Located<u32>>>>,
    /// Direction round a ring if both are equally long (default positive); no effect on a HyperX.
    pub ties: Option<Ties>,
}

/// Direction round a ring if both are equally long.
#[spec(Copy, Eq, Default)]
pub enum Ties {
    /// Ascending.
    #[default]
    Positive,
    /// Ascending if the sum of the source's coordinate along the ring and of the other coordinates of both
    /// ends is even, else descending. Half of the messages go each way on every ring, as the bound n^3/8 of
    /// an all-to-all on an n x n torus supposes.
    Balanced,
    /// By a hash of seed, source and destination.
    Random,
    /// Ascending, but descending from the node half-way along the ring (coordinate n/2), as in SimGrid 3.32,
    /// for comparison with it.
    Simgrid,
}

/// Parameters of one dimension of a route.
#[derive(Debug)]
struct Axis {
    dim: usize,
    size: u32,
    stride: u32,
    wrap: bool,
    by_size: Divisor,
    by_stride: Divisor,
    /// First links of a hyper-crossbar to and from this dimension's crossbars.
    crossbars: [u32; 2],
}

impl DimensionOrderSpec {
    /// Returns the order of `count` dimensions.
    fn order(&self, count: usize) -> Result<Vec<usize>, Vec<Diagnostic>> {
        let Some(order) = &self.order else {
            return Ok((0..count).collect());
        };
        let mut mistakes = Vec::new();
        let mistake = |message: String| {
            Diagnostic::new("dimension-order", message)
                .help(format!("name each dimension from 0 to {} once", count - 1))
        };
        if order.len() != count {
            let message = format!("the order names {} dimensions, but the fabric has {count}", order.len());
            mistakes.push(mistake(message).at_value(order).label(format!("{count} dimensions")));
        }
        for (i, dim) in order.iter().enumerate() {
            if **dim as usize >= count {
                let message = format!("there is no dimension {}", **dim);
                mistakes.push(mistake(message).at_value(dim).label(format!("0 to {}", count - 1)));
            } else if order[..i].contains(dim) {
                mistakes.push(mistake(format!("dimension {} is named twice", **dim)).at_value(dim).label("again"));
            }
        }
        if mistakes.is_empty() { Ok(order.iter().map(|dim| **dim as usize).collect()) } else { Err(mistakes) }
    }
}

impl Rule for DimensionOrderSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let crossbars = |grid: &CrossbarGrid, dim| [grid.to_crossbar(dim, 0).0, grid.from_crossbar(dim, 0).0];
        let axis = |dim: usize, dims: &[u32], wrap, crossbars| {
            let stride = dims[..dim].iter().product();
            let (by_size, by_stride) = (Divisor::new(dims[dim]), Divisor::new(stride));
            Axis { dim, size: dims[dim], stride, wrap, by_size, by_stride, crossbars }
        };
        if let Some(grid) = fabric.shared_family_as::<Grid>() {
            let order = self.order(grid.dims.len())?;
            let axes = order.into_iter().map(|dim| axis(dim, &grid.dims, grid.wrap[dim], [0; 2])).collect();
            let ties = self.ties.unwrap_or_default();
            return Ok(Arc::new(OnGrid { axes, ties, hash: Mix::new(context.seed, "routing.ties"), grid }));
        }
        if let Some(grid) = fabric.family_as::<CrossbarGrid>() {
            let order = self.order(grid.dims.len())?;
            let axes = order.into_iter().map(|dim| axis(dim, &grid.dims, false, crossbars(grid, dim))).collect();
            return Ok(Arc::new(OnCrossbars { axes, hosts: grid.host_link.then(|| grid.positions()) }));
        }
        let dimensions = Dimensions::new(fabric, "dimension-order")?;
        let order = self.order(dimensions.lattice().sizes().len())?;
        let hash = Mix::new(0, "routing.dimension-order");
        Ok(Arc::new(OnLattice { draws: draws(&dimensions), dimensions, order, hash }))
    }

    fn depends_on_seed(&self) -> bool {
        self.ties == Some(Ties::Random)
    }
}

impl Axis {
    /// Returns the coordinate of a position along this dimension.
    #[inline]
    fn coordinate(&self, position: u32) -> u32 {
        self.by_size.divide(self.by_stride.divide(position).0).1
    }
}

/// Router on a torus or mesh.
#[derive(Debug)]
struct OnGrid {
    axes: Vec<Axis>,
    ties: Ties,
    hash: Mix,
    grid: Arc<Grid>,
}

impl OnGrid {
    /// Returns true if a message that has to go half-way round along `axis` descends.
    fn descends(&self, src: NodeId, dst: NodeId, axis: &Axis) -> bool {
        match self.ties {
            Ties::Positive => false,
            Ties::Balanced => {
                // The source's coordinate along the tied dimension, and those of both ends along the others. The sum
                // over both ends would count the tied dimension twice.
                let both = |other: &Axis| other.coordinate(src.0) + other.coordinate(dst.0);
                (self.axes.iter().map(both).sum::<u32>() - axis.coordinate(dst.0)) % 2 == 1
            }
            Ties::Simgrid => axis.coordinate(src.0) == axis.size / 2,
            Ties::Random => self.hash.two(u64::from(src.0) << 32 | u64::from(dst.0), axis.dim as u64) & 1 == 1,
        }
    }
}

impl Router for OnGrid {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src == dst {
            return;
        }
        let grid = &*self.grid;
        route.extend(grid.injection(src));
        let mut here = src.0;
        for axis in &self.axes {
            let (mut x, to) = (axis.coordinate(here), axis.coordinate(dst.0));
            if x == to {
                continue;
            }
            let ascending = if to > x { to - x } else { to + axis.size - x };
            let descends = match (axis.wrap, (2 * ascending).cmp(&axis.size)) {
                (false, _) => to < x,
                (true, std::cmp::Ordering::Equal) => self.descends(src, dst, axis),
                (true, order) => order.is_gt(),
            };
            while x != to {
                route
                    .push(LinkId(grid.steps[(here as usize * grid.dims.len() + axis.dim) * 2 + usize::from(descends)]));
                (x, here) = match (descends, x) {
                    (false, _) if x + 1 == axis.size => (0, here - x * axis.stride),
                    (false, _) => (x + 1, here + axis.stride),
                    (true, 0) => (axis.size - 1, here + (axis.size - 1) * axis.stride),
                    (true, _) => (x - 1, here - axis.stride),
                };
            }
        }
        route.extend(grid.ejection(dst));
    }

    fn channel_order(&self) -> ChannelOrder {
        ChannelOrder::Rings
    }
}

/// Router on a hyper-crossbar.
#[derive(Debug)]
struct OnCrossbars {
    axes: Vec<Axis>,
    /// Number of host links to the network, if there are any.
    hosts: Option<u32>,
}

impl Router for OnCrossbars {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src == dst {
            return;
        }
        route.extend(self.hosts.map(|_| LinkId(src.0)));
        let mut here = src.0;
        for axis in &self.axes {
            let (x, to) = (axis.coordinate(here), axis.coordinate(dst.0));
            if x != to {
                route.push(LinkId(axis.crossbars[0] + here));
                here = here - x * axis.stride + to * axis.stride;
                route.push(LinkId(axis.crossbars[1] + here));
            }
        }
        route.extend(self.hosts.map(|nodes| LinkId(nodes + dst.0)));
    }

    fn channel_order(&self) -> ChannelOrder {
        ChannelOrder::Rings
    }
}

/// Router on any other lattice.
#[derive(Debug)]
struct OnLattice {
    dimensions: Dimensions,
    order: Vec<usize>,
    /// True if several equal steps exist anywhere.
    draws: bool,
    hash: Mix,
}

/// Returns true if several equal steps lead from the first point along a dimension; all points are alike.
fn draws(dimensions: &Dimensions) -> bool {
    let several = |&dim: &usize| {
        let mut steps = Vec::new();
        dimensions.lattice().steps(0, dim, 1, &mut steps);
        steps.len() > 1
    };
    dimensions.longer.iter().any(several)
}

impl Router for OnLattice {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            in_order(&self.dimensions, &self.order, (src, dst), route, |_| 0);
        }
    }

    fn choice(&self) -> Option<&dyn Choice> {
        if self.draws { Some(self) } else { None }
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        self.dimensions.count(Some(&self.order), demand, loads)
    }
}

impl Choice for OnLattice {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Drawn
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        let mut draws = 0;
        in_order(&self.dimensions, &self.order, (start.src, start.dst), &mut path.links, |count| {
            draws += 1;
            self.hash.two_below(start.key(), draws, count.into()) as u32
        });
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        steps.closer(&self.dimensions, Some(&self.order));
        true
    }

    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        let lattice = self.dimensions.lattice();
        let (mut here, to) = (lattice.point_of(src), lattice.point_of(dst));
        let [(up, _), (_, down)] = [src, dst].map(|node| lattice.host_links(node)).map(|[up, down]| (up, down));
        for link in up.into_iter().chain(down) {
            path.links.push(link);
            path.parts.push(1.0);
            path.latency += self.dimensions.fabric.link(link).latency;
        }
        for &dim in &self.order {
            let y = lattice.coordinate(to, dim);
            path.latency += self.dimensions.split(here, dim, y, 1.0, &mut |link, part| {
                path.links.push(link);
                path.parts.push(part);
            });
            here = lattice.moved(here, dim, y);
        }
        path.merge();
        true
    }
}
