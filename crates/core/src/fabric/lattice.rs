//! Lattices: fabrics whose switches have coordinates, for rules that go along one dimension after another.

use super::grid::{CrossbarGrid, Grid};
use crate::ids::{LinkId, NodeId};

/// Step of a message along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Link that leaves the point.
    pub link: LinkId,
    /// Second link, if a crossbar is between the two points.
    pub then: Option<LinkId>,
    /// Point at the end of the step.
    pub point: u32,
}

/// Fabric whose switches are the points of a lattice, numbered `x0 + x1 S0 + x2 S0 S1 ...`.
///
/// Any steps that come closer, in any order of dimensions, form a minimal route.
pub trait Lattice: Send + Sync {
    /// Returns the number of points along each dimension.
    fn sizes(&self) -> &[u32];

    /// Returns the point of a node.
    fn point_of(&self, node: NodeId) -> u32 {
        node.0
    }

    /// Returns the links from a node to its point and back, if there are any.
    fn host_links(&self, node: NodeId) -> [Option<LinkId>; 2];

    /// Adds the steps by which a message at `point` comes closer to coordinate `to` of dimension `dim`, in a
    /// fixed order. There are several if cables are parallel, or if both ways round a ring are equally long;
    /// none if the message is there.
    fn steps(&self, point: u32, dim: usize, to: u32, steps: &mut Vec<Step>);

    /// Returns true if every point is one step from each other point of its line, over cables of their own.
    fn is_complete(&self) -> bool {
        false
    }

    /// Number of points.
    fn points(&self) -> u32 {
        self.sizes().iter().product()
    }

    /// Returns the coordinate of a point along a dimension.
    fn coordinate(&self, point: u32, dim: usize) -> u32 {
        point / stride(self.sizes(), dim) % self.sizes()[dim]
    }

    /// Returns the point with another coordinate along a dimension.
    fn moved(&self, point: u32, dim: usize, to: u32) -> u32 {
        point - self.coordinate(point, dim) * stride(self.sizes(), dim) + to * stride(self.sizes(), dim)
    }
}

/// Returns the difference of points whose coordinates along a dimension differ by 1.
fn stride(sizes: &[u32], dim: usize) -> u32 {
    sizes[..dim].iter().product()
}

impl Lattice for Grid {
    fn sizes(&self) -> &[u32] {
        &self.dims
    }

    fn host_links(&self, node: NodeId) -> [Option<LinkId>; 2] {
        [self.injection(node), self.ejection(node)]
    }

    fn steps(&self, point: u32, dim: usize, to: u32, steps: &mut Vec<Step>) {
        let (x, size) = (self.coordinate(point, dim), self.dims[dim]);
        if x == to {
            return;
        }
        let ascending = if to > x { to - x } else { to + size - x };
        let ways = match (self.wrap[dim], (2 * ascending).cmp(&size)) {
            (false, _) => [to > x, to < x],
            (true, order) => [order.is_le(), order.is_ge()],
        };
        for (descending, takes) in [false, true].into_iter().zip(ways) {
            if let (true, Some(link), Some(point)) =
                (takes, self.step(point, dim, descending), self.neighbour(point, dim, descending))
            {
                steps.push(Step { link, then: None, point });
            }
        }
    }
}

impl Lattice for CrossbarGrid {
    fn sizes(&self) -> &[u32] {
        &self.dims
    }

    fn host_links(&self, node: NodeId) -> [Option<LinkId>; 2] {
        [self.injection(node), self.ejection(node)]
    }

    fn steps(&self, point: u32, dim: usize, to: u32, steps: &mut Vec<Step>) {
        if self.coordinate(point, dim) != to {
            let there = self.moved(point, dim, to);
            let (link, then) = (self.to_crossbar(dim, point), Some(self.from_crossbar(dim, there)));
            steps.push(Step { link, then, point: there });
        }
    }
}
