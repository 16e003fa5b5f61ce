//! Tori and meshes.

use super::{halved, has_long_rows, host_limit, instead, like, plane_cut, shorter};
use crate::fabric::{Bisection, Fabric, Fact, Family, Grid, Lattice, LinkGroup, Ring, Sketch, dimension_name};
use crate::ids::{LinkId, NodeId};

impl Family for Grid {
    fn kind(&self) -> &'static str {
        "a torus or mesh"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let facts = vec![
            ("dims", Fact::Numbers(self.dims.clone())),
            ("wrap", Fact::Flags(self.wrap.clone())),
            ("host_link", Fact::Flag(self.host_link)),
        ];
        ("grid", facts)
    }

    fn switch_name(&self, switch: u32) -> String {
        self.name_of(switch)
    }

    fn tier_name(&self, tier: u8) -> String {
        format!("along dimension {tier}")
    }

    fn tier_legend(&self, tier: u8) -> String {
        format!("along {}", dimension_name(self.dims.len(), tier.into()))
    }

    fn link_groups(&self, _: &Fabric) -> Vec<LinkGroup> {
        let mut groups = Vec::new();
        let nodes = || (0..self.positions()).map(NodeId);
        groups.push(LinkGroup::new("injection", nodes().filter_map(|node| self.injection(node))));
        for dim in 0..self.dims.len() {
            for descending in [false, true] {
                let name = dimension_name(self.dims.len(), dim);
                let sign = if descending { '−' } else { '+' };
                let links = (0..self.positions()).filter_map(|x| self.step(x, dim, descending));
                groups.push(LinkGroup::new(format!("{name}{sign}"), links));
            }
        }
        groups.push(LinkGroup::new("ejection", nodes().filter_map(|node| self.ejection(node))));
        groups
    }

    fn leaf(&self, _: &Fabric, node: NodeId) -> u32 {
        node.0
    }

    fn diameter(&self, _: &Fabric) -> Option<u32> {
        let along = |(&size, &wrap): (&u32, &bool)| if wrap { size / 2 } else { size - 1 };
        Some(self.dims.iter().zip(&self.wrap).map(along).sum::<u32>() + 2 * u32::from(self.host_link))
    }

    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        // Sums over a plane do not know what has failed.
        if fabric.is_altered() {
            return fabric.search_cut(weakest_half(self, fabric));
        }
        Some(plane_cut(fabric.nodes(), &self.dims, |dim, left, right| cut(self, fabric, dim, left, right)))
    }

    fn default_routing(&self) -> &'static str {
        "dimension-order"
    }

    fn lattice(&self) -> Option<&dyn Lattice> {
        Some(self)
    }

    /// The links of each dimension whose ends are joined.
    fn rings(&self) -> Vec<Ring> {
        let mut rings = Vec::new();
        for dim in (0..self.dims.len()).filter(|&dim| self.wrap[dim]) {
            let dimension = dim.min(usize::from(u8::MAX - 1)) as u8;
            for position in 0..self.positions() {
                let x = position / self.stride(dim) % self.dims[dim];
                for (descending, closes) in [(false, x + 1 == self.dims[dim]), (true, x == 0)] {
                    rings.extend(self.step(position, dim, descending).map(|link| Ring { link, dimension, closes }));
                }
            }
        }
        rings
    }

    /// Dimension by dimension, along each from one end to the other.
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        let mut order = fabric.order_by_tiers();
        let mut base = 1;
        for (dim, &size) in self.dims.iter().enumerate() {
            for position in 0..self.positions() {
                let x = position / self.stride(dim) % size;
                for (descending, along) in [(false, x), (true, size - 1 - x)] {
                    if let Some(link) = self.step(position, dim, descending) {
                        order[link.0 as usize] = base + along;
                    }
                }
            }
            base += size;
        }
        order
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Lattice(self)
    }

    /// Keeps its dimensions.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        if !is_large && !has_long_rows(&self.dims) {
            return None;
        }
        let small = Grid::new(shorter(&self.dims), self.wrap.clone(), self.host_link);
        let text = instead(&small.dims, &self.dims);
        Some((small.build(fabric.name().to_owned(), |role| like(fabric, role)), text))
    }
}

/// What `left` planes of a grid send at most to the other `right` planes: over the cables that join them, and no
/// more than the host links let out on one side and in on the other.
fn cut(grid: &Grid, fabric: &Fabric, dim: usize, left: u32, right: u32) -> f64 {
    let plane = f64::from(grid.positions() / grid.dims[dim]);
    let cables = plane * if grid.wrap[dim] { 2.0 } else { 1.0 };
    let across = cables * grid.step(0, dim, false).map_or(0.0, |link| fabric.capacity(link));
    let hosts = (grid.injection(NodeId(0)), grid.ejection(NodeId(0)));
    across.min(host_limit(fabric, hosts, plane * f64::from(left), plane * f64::from(right)))
}

/// By node: the half, of those of adjacent planes of one dimension, between which and the other half the cables that are
/// left carry least, in the direction that carries less; of several the first.
///
/// With up(x) and down(x) what the cables from plane x to plane x + 1 carry, and those back \[B/s\], the planes from a to b
/// send `up(b) + down(a - 1)` and are sent `down(b) + up(a - 1)`, plane 0 following the last one.
fn weakest_half(grid: &Grid, fabric: &Fabric) -> Vec<bool> {
    let left = |link: LinkId| if fabric.has_failed(link) { 0.0 } else { fabric.capacity(link) };
    let mut weakest = (f64::INFINITY, 0, 0);
    for dim in halved(&grid.dims) {
        let (size, stride) = (grid.dims[dim], grid.stride(dim));
        let (mut up, mut down) = (vec![0.0; size as usize], vec![0.0; size as usize]);
        for position in 0..grid.positions() {
            let x = position / stride % size;
            up[x as usize] += grid.step(position, dim, false).map_or(0.0, left);
            down[((x + size - 1) % size) as usize] += grid.step(position, dim, true).map_or(0.0, left);
        }
        // (The other half of one that begins in the upper planes of an even number begins in the lower ones.)
        let starts = match (grid.wrap[dim], size.is_multiple_of(2)) {
            (false, _) => 1,
            (true, true) => size / 2,
            (true, false) => size,
        };
        for start in 0..starts {
            let (last, before) = ((start + size / 2 - 1) % size, (start + size - 1) % size);
            let forth = up[last as usize] + down[before as usize];
            let back = down[last as usize] + up[before as usize];
            if forth.min(back) < weakest.0 {
                weakest = (forth.min(back), dim, start);
            }
        }
    }
    let (_, dim, start) = weakest;
    let (size, stride) = (grid.dims[dim], grid.stride(dim));
    let from_start = |node: u32| (node / stride % size + size - start) % size;
    (0..fabric.nodes()).map(|node| from_start(node) < size / 2).collect()
}
