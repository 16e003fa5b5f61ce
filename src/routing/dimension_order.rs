//! Dimension order: one dimension of a grid after another.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::router::{ChannelOrder, Router, misfit};
use crate::diagnostic::{Diagnostic, Located};
use crate::divisor::Divisor;
use crate::fabric::{CrossbarGrid, Fabric, Grid};
use crate::ids::{LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.dimension-order]`: along one dimension after another, each the shorter way round.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DimensionOrderSpec {
    /// The dimensions in the order in which they are crossed (default `[0, 1, ...]`: x, then y).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Located<Vec<Located<u32>>>>,
    /// Which way round a ring, where both are equally long (default positive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ties: Option<Ties>,
}

/// Which way round a ring, where both are equally long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Ascending.
    #[default]
    Positive,
    /// Ascending from even coordinates and descending from odd ones, with the other coordinates of both ends added:
    /// half of the messages each way on every ring, as the bound n^3/8 of an all-to-all on an n x n torus supposes.
    Balanced,
    /// By a hash of seed, source and destination.
    Random,
    /// Ascending, but descending from the node half-way along the ring (coordinate n/2): as SimGrid 3.32 does, for
    /// comparison with it.
    Simgrid,
}

/// One dimension as a route needs it.
#[derive(Debug)]
struct Axis {
    dim: usize,
    size: u32,
    stride: u32,
    wrap: bool,
    by_size: Divisor,
    by_stride: Divisor,
    /// Links of a hyper-crossbar: first to this dimension's crossbars, first from them.
    crossbars: [u32; 2],
}

impl DimensionOrderSpec {
    pub(super) fn build(&self, fabric: &Arc<Fabric>, seed: u64) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
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
            return Ok(Arc::new(OnGrid { axes, ties, hash: Mix::new(seed, "routing.ties"), grid }));
        }
        if let Some(grid) = fabric.family_as::<CrossbarGrid>() {
            let order = self.order(grid.dims.len())?;
            let axes = order.into_iter().map(|dim| axis(dim, &grid.dims, false, crossbars(grid, dim))).collect();
            return Ok(Arc::new(OnCrossbars { axes, hosts: grid.host_link.then(|| grid.positions()) }));
        }
        Err(vec![misfit("dimension-order", "tori, meshes and hyper-crossbars", fabric)])
    }

    /// The order of so many dimensions.
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

impl Axis {
    /// The coordinate of a position along this dimension.
    #[inline]
    fn coordinate(&self, position: u32) -> u32 {
        self.by_size.divide(self.by_stride.divide(position).0).1
    }
}

/// On a torus or mesh.
#[derive(Debug)]
struct OnGrid {
    axes: Vec<Axis>,
    ties: Ties,
    hash: Mix,
    grid: Arc<Grid>,
}

impl OnGrid {
    /// Whether a message that is half-way round along `axis` takes the descending way.
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

/// On a hyper-crossbar.
#[derive(Debug)]
struct OnCrossbars {
    axes: Vec<Axis>,
    /// Number of host links to the network, where there are any.
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
