//! Tori and meshes, and grids of crossbars.

use crate::ids::{LinkId, NodeId, VertexId};

/// Value for no link in [`Grid::steps`].
const NONE: u32 = u32::MAX;

/// Torus or mesh: node and switch numbers are `x0 + x1*d0 + x2*d0*d1 ...`.
///
/// With host links, switch i (vertex `N + i`) belongs to node i, link i leads from node i to it and link `N +
/// i` back; without, the node is the switch. The network links follow, by position, dimension and direction.
/// A dimension of two nodes has one cable along each line, even if its ends are joined; a dimension of one
/// node has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Nodes along each dimension.
    pub dims: Vec<u32>,
    /// True for each dimension whose ends are joined by a cable; never for fewer than three nodes.
    pub wrap: Vec<bool>,
    /// True if nodes are joined to their switch by links of their own (otherwise the node is the switch).
    pub host_link: bool,
    /// Link that leaves position x along dimension d, at `(x * dims + d) * 2 + direction` (0: ascending, 1:
    /// descending); `u32::MAX` if there is none.
    pub steps: Vec<u32>,
}

/// Hyper-crossbar: each line of nodes along each dimension shares a crossbar.
///
/// With host links, router i (vertex `N + i`) belongs to node i, link i leads from node i to it and link `N +
/// i` back; without, the node is the router. The crossbars follow, dimension by dimension, then by line; a
/// dimension of size 1 has none. Links from and to the crossbars follow dimension by dimension: `N` from the
/// routers, by position, then `N` to them.
///
/// Source: CP-PACS; T. Boku et al., "CP-PACS: a massively parallel processor for large scale scientific
/// calculations", ICS 1997.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrossbarGrid {
    /// Nodes along each dimension.
    pub dims: Vec<u32>,
    /// True if nodes are joined to their router by links of their own.
    pub host_link: bool,
}

/// Returns the coordinates of a position.
fn coordinates(dims: &[u32], mut position: u32) -> Vec<u32> {
    dims.iter()
        .map(|&dim| {
            let x = position % dim;
            position /= dim;
            x
        })
        .collect()
}

/// Returns the position with these coordinates.
fn position(dims: &[u32], coordinates: &[u32]) -> u32 {
    dims.iter().zip(coordinates).rev().fold(0, |position, (&dim, &x)| position * dim + x)
}

/// Returns text such as `(3,4)`.
fn point(coordinates: &[u32]) -> String {
    let text: Vec<String> = coordinates.iter().map(u32::to_string).collect();
    format!("({})", text.join(","))
}

/// Returns the product of the sizes, or `None` if it does not fit.
fn product(dims: &[u32]) -> Option<u64> {
    dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim.into()))
}

impl Grid {
    /// Creates the grid of this size, which [`Grid::size`] must have found to fit in 32 bits.
    pub fn new(dims: Vec<u32>, wrap: Vec<bool>, host_link: bool) -> Self {
        let wrap = dims.iter().zip(wrap).map(|(&dim, wrap)| wrap && dim > 2).collect();
        let mut grid = Self { dims, wrap, host_link, steps: Vec::new() };
        let mut next = if host_link { 2 * grid.positions() } else { 0 };
        let mut steps = Vec::with_capacity(grid.positions() as usize * grid.dims.len() * 2);
        let mut here = vec![0; grid.dims.len()];
        for _ in 0..grid.positions() {
            for (dim, &x) in here.iter().enumerate() {
                for at_the_end in [x + 1 == grid.dims[dim], x == 0] {
                    let exists = grid.wrap[dim] || !at_the_end;
                    steps.push(if exists { next } else { NONE });
                    next += u32::from(exists);
                }
            }
            for (x, &dim) in here.iter_mut().zip(&grid.dims) {
                *x += 1;
                if *x < dim {
                    break;
                }
                *x = 0;
            }
        }
        grid.steps = steps;
        grid
    }

    /// Returns the number of nodes, switches and links of a grid of these sizes, or `None` if one does not
    /// fit in 64 bits.
    pub fn size(dims: &[u32], wrap: &[bool], host_link: bool) -> Option<(u64, u64, u64)> {
        let nodes = product(dims)?;
        let mut links = if host_link { nodes.checked_mul(2)? } else { 0 };
        for (&dim, &wrap) in dims.iter().zip(wrap) {
            let cables_per_line = if wrap && dim > 2 { u64::from(dim) } else { u64::from(dim).saturating_sub(1) };
            let lines = nodes / u64::from(dim.max(1));
            links = links.checked_add(lines.checked_mul(cables_per_line)?.checked_mul(2)?)?;
        }
        Some((nodes, if host_link { nodes } else { 0 }, links))
    }

    /// Number of nodes.
    pub fn positions(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Returns the difference of positions whose coordinates along `dim` differ by 1.
    pub fn stride(&self, dim: usize) -> u32 {
        self.dims[..dim].iter().product()
    }

    /// Returns the coordinates of a position.
    pub fn coordinates(&self, position: u32) -> Vec<u32> {
        coordinates(&self.dims, position)
    }

    /// Returns the position with these coordinates.
    pub fn position(&self, coordinates: &[u32]) -> u32 {
        position(&self.dims, coordinates)
    }

    /// Returns the vertex that forwards at this position: a switch, or the node itself without host links.
    pub fn vertex(&self, position: u32) -> VertexId {
        VertexId(if self.host_link { self.positions() + position } else { position })
    }

    /// Returns the link from a node to its switch, if there is one.
    pub fn injection(&self, node: NodeId) -> Option<LinkId> {
        self.host_link.then_some(LinkId(node.0))
    }

    /// Returns the link to a node from its switch, if there is one.
    pub fn ejection(&self, node: NodeId) -> Option<LinkId> {
        self.host_link.then(|| LinkId(self.positions() + node.0))
    }

    /// Returns the link that leaves `position` along `dim`, ascending or descending.
    pub fn step(&self, position: u32, dim: usize, descending: bool) -> Option<LinkId> {
        let link = self.steps[(position as usize * self.dims.len() + dim) * 2 + usize::from(descending)];
        (link != NONE).then_some(LinkId(link))
    }

    /// Returns the position at the end of [`Grid::step`].
    pub fn neighbour(&self, position: u32, dim: usize, descending: bool) -> Option<u32> {
        self.step(position, dim, descending)?;
        let (stride, size) = (self.stride(dim), self.dims[dim]);
        let x = position / stride % size;
        let there = match (descending, x) {
            (false, _) if x + 1 == size => 0,
            (false, _) => x + 1,
            (true, 0) => size - 1,
            (true, _) => x - 1,
        };
        Some(position - x * stride + there * stride)
    }

    /// Returns the name of a switch: its coordinates.
    pub(super) fn name_of(&self, switch: u32) -> String {
        point(&self.coordinates(switch))
    }
}

impl CrossbarGrid {
    /// Returns the number of nodes, switches and links, or `None` if one does not fit in 64 bits.
    pub fn size(&self) -> Option<(u64, u64, u64)> {
        let nodes = product(&self.dims)?;
        let mut switches = if self.host_link { nodes } else { 0 };
        let mut links = if self.host_link { nodes.checked_mul(2)? } else { 0 };
        for &dim in self.dims.iter().filter(|&&dim| dim != 1) {
            switches = switches.checked_add(nodes / u64::from(dim.max(1)))?;
            links = links.checked_add(nodes.checked_mul(2)?)?;
        }
        Some((nodes, switches, links))
    }

    /// Number of nodes.
    pub fn positions(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Returns the difference of positions whose coordinates along `dim` differ by 1.
    pub fn stride(&self, dim: usize) -> u32 {
        self.dims[..dim].iter().product()
    }

    /// Returns the coordinates of a position.
    pub fn coordinates(&self, position: u32) -> Vec<u32> {
        coordinates(&self.dims, position)
    }

    /// Returns the position with these coordinates.
    pub fn position(&self, coordinates: &[u32]) -> u32 {
        position(&self.dims, coordinates)
    }

    /// Returns the vertex that forwards at this position: a router, or the node itself without host links.
    pub fn router(&self, position: u32) -> VertexId {
        VertexId(if self.host_link { self.positions() + position } else { position })
    }

    /// Number of crossbars of a dimension: one for each line, none if the dimension has length 1.
    pub fn lines(&self, dim: usize) -> u32 {
        if self.dims[dim] == 1 { 0 } else { self.positions() / self.dims[dim] }
    }

    /// Returns the line along `dim` through a position: the position's number without that coordinate.
    pub fn line(&self, dim: usize, position: u32) -> u32 {
        let stride = self.stride(dim);
        position / (stride * self.dims[dim]) * stride + position % stride
    }

    /// Returns the vertex of a crossbar.
    pub fn crossbar(&self, dim: usize, line: u32) -> VertexId {
        let routers = if self.host_link { 2 } else { 1 } * self.positions();
        VertexId(routers + (0..dim).map(|below| self.lines(below)).sum::<u32>() + line)
    }

    /// Returns the link from a node to its router, if there is one.
    pub fn injection(&self, node: NodeId) -> Option<LinkId> {
        self.host_link.then_some(LinkId(node.0))
    }

    /// Returns the link to a node from its router, if there is one.
    pub fn ejection(&self, node: NodeId) -> Option<LinkId> {
        self.host_link.then(|| LinkId(self.positions() + node.0))
    }

    /// Returns the link from the router at `position` to the crossbar of its line along `dim`, which is
    /// longer than 1.
    pub fn to_crossbar(&self, dim: usize, position: u32) -> LinkId {
        let before = usize::from(self.host_link) + self.dims[..dim].iter().filter(|&&size| size > 1).count();
        LinkId(2 * before as u32 * self.positions() + position)
    }

    /// Returns the link back from that crossbar.
    pub fn from_crossbar(&self, dim: usize, position: u32) -> LinkId {
        LinkId(self.to_crossbar(dim, position).0 + self.positions())
    }

    /// Returns the name of a switch: the coordinates of a router, or `X0(.,4)` for the crossbar along
    /// dimension 0 at x1 = 4.
    pub(super) fn name_of(&self, switch: u32) -> String {
        let mut rest = switch;
        if self.host_link {
            if rest < self.positions() {
                return point(&self.coordinates(rest));
            }
            rest -= self.positions();
        }
        for dim in 0..self.dims.len() {
            if rest < self.lines(dim) {
                let stride = self.stride(dim);
                let first = rest / stride * stride * self.dims[dim] + rest % stride;
                let mut text: Vec<String> = self.coordinates(first).iter().map(u32::to_string).collect();
                text[dim] = ".".to_owned();
                return format!("X{dim}({})", text.join(","));
            }
            rest -= self.lines(dim);
        }
        format!("switch {switch}")
    }
}
