//! Construction of fabrics by their family's arithmetic, which gives every link its number.
//!
//! `link` returns the capacity and latency for each use of a link: links of one use are alike.

use super::{CrossbarGrid, Fabric, FabricBuilder, Grid, LinkRole, Tree};
use crate::ids::VertexId;
use crate::units::{Bandwidth, Time};

/// Builder together with the capacities and latencies of its links.
struct LinkBuilder<F> {
    builder: FabricBuilder,
    link: F,
}

impl<F: Fn(LinkRole) -> (Bandwidth, Time)> LinkBuilder<F> {
    fn new(name: String, nodes: u32, switches: u32, link: F) -> Self {
        Self { builder: FabricBuilder::new(name, nodes, switches), link }
    }

    fn add(&mut self, from: VertexId, to: VertexId, role: LinkRole) {
        let (capacity, latency) = (self.link)(role);
        self.builder.link(from, to, capacity, latency, role);
    }

    fn add_all(&mut self, count: u32, role: LinkRole, ends: impl Fn(u32) -> (VertexId, VertexId) + Send + Sync) {
        let (capacity, latency) = (self.link)(role);
        self.builder.links(count, (capacity, latency, role), ends);
    }

    /// Adds the links of nodes to the switches that follow them, first all up and then all down.
    fn add_hosts(&mut self, nodes: u32) {
        for node in 0..nodes {
            self.add(VertexId(node), VertexId(nodes + node), LinkRole::Injection);
        }
        for node in 0..nodes {
            self.add(VertexId(nodes + node), VertexId(node), LinkRole::Ejection);
        }
    }
}

impl Tree {
    /// Builds the fabric of this shape, whose [`Tree::size`] must fit in 32 bits.
    pub fn build(self, name: String, link: impl Fn(LinkRole) -> (Bandwidth, Time)) -> Fabric {
        let switches = (1..=self.levels()).map(|level| self.switches(level)).sum();
        let mut links = LinkBuilder::new(name, self.nodes(), switches, link);
        links.builder.reserve((1..=self.levels()).map(|level| 2 * self.cables(level) as usize).sum());
        for level in 1..=self.levels() {
            let ends = self.ends_of_cables(level);
            let (up, down) = match level {
                1 => (LinkRole::Injection, LinkRole::Ejection),
                _ => (LinkRole::Network { tier: level as u8 - 1 }, LinkRole::Network { tier: level as u8 - 1 }),
            };
            links.add_all(self.cables(level), up, &ends);
            links.add_all(self.cables(level), down, |cable| {
                let (child, parent) = ends(cable);
                (parent, child)
            });
        }
        links.builder.finish(self)
    }

    /// Returns the lower and the upper end of each cable of a level. Values common to all cables of the level
    /// are computed once: a tree of a million nodes has three million cables.
    fn ends_of_cables(&self, level: usize) -> impl Fn(u32) -> (VertexId, VertexId) + use<> {
        let (children, parents) = (self.vertex(level - 1, 0).0, self.vertex(level, 0).0);
        let (ports, below, above) = (self.ports(level), self.copies(level - 1), self.copies(level));
        let (down, up) = (self.down[level - 1], self.up[level - 1]);
        move |cable| {
            let (child, port) = (cable / ports, cable % ports);
            let (group, copy) = (child / below, child % below);
            (VertexId(children + child), VertexId(parents + group / down * above + copy + below * (port % up)))
        }
    }
}

impl Grid {
    /// Builds the fabric of this shape.
    pub fn build(self, name: String, link: impl Fn(LinkRole) -> (Bandwidth, Time)) -> Fabric {
        let nodes = self.positions();
        let mut links = LinkBuilder::new(name, nodes, if self.host_link { nodes } else { 0 }, link);
        if self.host_link {
            links.add_hosts(nodes);
        }
        for position in 0..nodes {
            for dim in 0..self.dims.len() {
                for descending in [false, true] {
                    if let Some(neighbour) = self.neighbour(position, dim, descending) {
                        let role = LinkRole::Network { tier: dim as u8 };
                        links.add(self.vertex(position), self.vertex(neighbour), role);
                    }
                }
            }
        }
        links.builder.finish(self)
    }
}

impl CrossbarGrid {
    /// Builds the fabric of this shape, whose [`CrossbarGrid::size`] must fit in 32 bits.
    pub fn build(self, name: String, link: impl Fn(LinkRole) -> (Bandwidth, Time)) -> Fabric {
        let nodes = self.positions();
        let crossbars: u32 = (0..self.dims.len()).map(|dim| self.lines(dim)).sum();
        let mut links = LinkBuilder::new(name, nodes, crossbars + if self.host_link { nodes } else { 0 }, link);
        if self.host_link {
            links.add_hosts(nodes);
        }
        for dim in (0..self.dims.len()).filter(|&dim| self.dims[dim] > 1) {
            let role = LinkRole::Network { tier: dim as u8 };
            let ends = |position| (self.router(position), self.crossbar(dim, self.line(dim, position)));
            for (router, crossbar) in (0..nodes).map(ends) {
                links.add(router, crossbar, role);
            }
            for (router, crossbar) in (0..nodes).map(ends) {
                links.add(crossbar, router, role);
            }
        }
        links.builder.finish(self)
    }
}
