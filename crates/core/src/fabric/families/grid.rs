//! Tori and meshes.

use super::{has_long_rows, host_limit, instead, leading_half, like, shorter};
use crate::base::Arrange;
use crate::fabric::{Bisection, Fabric, Fact, Family, Grid, Lattice, LinkGroup, Ring, Sketch, dimension_name};
use crate::ids::{LinkId, NodeId};
use crate::units::Bandwidth;

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
        let order = by_width(self, fabric);
        // Sums over a plane do not know failures.
        if fabric.is_altered() {
            let halves = weakest_half(self, fabric).unwrap_or_else(|| leading_half(&self.dims, &order));
            return fabric.search_bisection(halves);
        }
        let is_like = |dim: &usize| {
            (self.wrap[*dim], cable(self, fabric, *dim)) == (self.wrap[order[0]], cable(self, fabric, order[0]))
        };
        Some(Bisection {
            bandwidth: cut(self, fabric, &order, true),
            back: cut(self, fabric, &order, false),
            first_half: leading_half(&self.dims, &order),
            is_least: self.dims[order[0]].is_multiple_of(2) || order.iter().all(is_like),
        })
    }

    fn default_routing(&self) -> &'static str {
        "dimension-order"
    }

    fn lattice(&self) -> Option<&dyn Lattice> {
        Some(self)
    }

    /// Returns the links of each dimension whose ends are joined.
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

    /// Orders links dimension by dimension, along each from one end to the other.
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

    /// Returns a smaller grid of as many dimensions.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        if !is_large && !has_long_rows(&self.dims) {
            return None;
        }
        let small = Grid::new(shorter(&self.dims), self.wrap.clone(), self.host_link);
        let text = instead(&small.dims, &self.dims);
        Some((small.build(fabric.name().to_owned(), |role| like(fabric, role)), text))
    }
}

/// Returns the capacity of a cable along a dimension of more than one plane \[B/s\].
fn cable(grid: &Grid, fabric: &Fabric, dim: usize) -> f64 {
    grid.step(0, dim, false).map_or(0.0, |link| fabric.capacity(link))
}

/// Returns the capacity of the cables between two halves of a line \[B/s\].
fn across(grid: &Grid, fabric: &Fabric, dim: usize) -> f64 {
    cable(grid, fabric, dim) * if grid.wrap[dim] { 2.0 } else { 1.0 }
}

/// Returns the dimensions of more than one plane, by the bandwidth between their halves; ties go to those of
/// even length.
///
/// Uniform traffic loads a cable along a line of length k by at most N k / 8 pairs, or N k / 4 if the ends
/// are not joined. So no halves have less bandwidth between them than those of the first dimension, if its
/// length is even: the bandwidth around any T nodes is at least in proportion to T (N - T), and host links
/// carry the difference to the half.
///
/// Source for odd lengths, all cables alike: J. A. Aroca, A. F. Anta, "Bisection (band)width of product
/// networks with application to data centers", IEEE TPDS 25 (2014).
fn by_width(grid: &Grid, fabric: &Fabric) -> Vec<usize> {
    let mut order: Vec<usize> = (0..grid.dims.len()).filter(|&dim| grid.dims[dim] > 1).collect();
    let width = |dim: usize| (across(grid, fabric, dim) / f64::from(grid.dims[dim]), grid.dims[dim] % 2);
    order.arrange_by(|&a, &b| width(a).0.total_cmp(&width(b).0).then(width(a).1.cmp(&width(b).1)));
    order
}

/// Returns the largest flow from the first half of a grid to the second, or back \[B/s\]. It is limited by
/// the cables between them and by the host links of both sides. The middle plane of an odd number is divided
/// in the same way, or its nodes are cut off from their switches.
fn cut(grid: &Grid, fabric: &Fabric, order: &[usize], forth: bool) -> Bandwidth {
    let hosts = (grid.injection(NodeId(0)), grid.ejection(NodeId(0)));
    let parted = |nodes: u32| {
        let (first, second) = (f64::from(nodes / 2), f64::from(nodes.div_ceil(2)));
        let (senders, receivers) = if forth { (first, second) } else { (second, first) };
        host_limit(fabric, hosts, senders, receivers)
    };
    let (mut block, mut cables) = (grid.positions(), 0.0);
    let mut least = parted(block);
    for &dim in order {
        block /= grid.dims[dim];
        cables += across(grid, fabric, dim) * f64::from(block);
        if grid.dims[dim].is_multiple_of(2) {
            break;
        }
        least = least.min(cables + parted(block));
    }
    Bandwidth::from_bytes_per_second(least.min(cables))
}

/// Returns the half of adjacent planes of one dimension with the least bandwidth of intact cables to the
/// other half, as true for each of its nodes.
///
/// The direction that carries less counts; ties go to the first. Returns `None` if no length is even.
///
/// Let up(x) be the bandwidth from plane x to plane x + 1, and down(x) that back \[B/s\]. The planes from a
/// to b send `up(b) + down(a - 1)` and receive `down(b) + up(a - 1)`; plane 0 follows the last one.
fn weakest_half(grid: &Grid, fabric: &Fabric) -> Option<Vec<bool>> {
    let left = |link: LinkId| if fabric.has_failed(link) { 0.0 } else { fabric.capacity(link) };
    let mut weakest: Option<(f64, usize, u32)> = None;
    for dim in (0..grid.dims.len()).filter(|&dim| grid.dims[dim].is_multiple_of(2)) {
        let (size, stride) = (grid.dims[dim], grid.stride(dim));
        let (mut up, mut down) = (vec![0.0; size as usize], vec![0.0; size as usize]);
        for position in 0..grid.positions() {
            let x = position / stride % size;
            up[x as usize] += grid.step(position, dim, false).map_or(0.0, left);
            down[((x + size - 1) % size) as usize] += grid.step(position, dim, true).map_or(0.0, left);
        }
        // (If a half begins in the upper planes, its complement begins in the lower ones.)
        let starts = if grid.wrap[dim] { size / 2 } else { 1 };
        for start in 0..starts {
            let (last, before) = ((start + size / 2 - 1) % size, (start + size - 1) % size);
            let forth = up[last as usize] + down[before as usize];
            let back = down[last as usize] + up[before as usize];
            if weakest.is_none_or(|(least, ..)| forth.min(back) < least) {
                weakest = Some((forth.min(back), dim, start));
            }
        }
    }
    let (_, dim, start) = weakest?;
    let (size, stride) = (grid.dims[dim], grid.stride(dim));
    let from_start = |node: u32| (node / stride % size + size - start) % size;
    Some((0..fabric.nodes()).map(|node| from_start(node) < size / 2).collect())
}
