//! Grids of crossbars.

use super::{has_long_rows, instead, leading_half, like, shorter};
use crate::base::Arrange;
use crate::fabric::{Bisection, CrossbarGrid, Fabric, Fact, Family, Lattice, LinkGroup, Sketch, dimension_name};
use crate::ids::NodeId;

impl Family for CrossbarGrid {
    fn kind(&self) -> &'static str {
        "a hyper-crossbar"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let facts = vec![("dims", Fact::Numbers(self.dims.clone())), ("host_link", Fact::Flag(self.host_link))];
        ("crossbar-grid", facts)
    }

    fn switch_name(&self, switch: u32) -> String {
        self.name_of(switch)
    }

    fn tier_name(&self, tier: u8) -> String {
        format!("along dimension {tier}")
    }

    fn tier_legend(&self, tier: u8) -> String {
        format!("from and to crossbars along {}", dimension_name(self.dims.len(), tier.into()))
    }

    fn link_groups(&self, _: &Fabric) -> Vec<LinkGroup> {
        let mut groups = Vec::new();
        let nodes = || (0..self.positions()).map(NodeId);
        groups.push(LinkGroup::new("injection", nodes().filter_map(|node| self.injection(node))));
        for dim in (0..self.dims.len()).filter(|&dim| self.dims[dim] > 1) {
            let name = dimension_name(self.dims.len(), dim);
            let to = (0..self.positions()).map(|x| self.to_crossbar(dim, x));
            groups.push(LinkGroup::new(format!("to {name} crossbars"), to));
            let from = (0..self.positions()).map(|x| self.from_crossbar(dim, x));
            groups.push(LinkGroup::new(format!("from {name} crossbars"), from));
        }
        groups.push(LinkGroup::new("ejection", nodes().filter_map(|node| self.ejection(node))));
        groups
    }

    fn leaf(&self, _: &Fabric, node: NodeId) -> u32 {
        node.0
    }

    fn diameter(&self, _: &Fabric) -> Option<u32> {
        let crossbars = self.dims.iter().filter(|&&size| size > 1).count() as u32;
        Some(2 * crossbars + 2 * u32::from(self.host_link))
    }

    /// Searches from planes across the crossbars with the least bandwidth.
    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        let mut order: Vec<usize> = (0..self.dims.len()).filter(|&dim| self.dims[dim] > 1).collect();
        let carried = |dim: usize| fabric.capacity(self.to_crossbar(dim, 0));
        order.arrange_by(|&a, &b| (self.dims[a] % 2).cmp(&(self.dims[b] % 2)).then(carried(a).total_cmp(&carried(b))));
        fabric.search_bisection(leading_half(&self.dims, &order))
    }

    fn default_routing(&self) -> &'static str {
        "dimension-order"
    }

    fn lattice(&self) -> Option<&dyn Lattice> {
        Some(self)
    }

    /// Orders links dimension by dimension, in each to the crossbar and from it.
    fn channel_order(&self, fabric: &Fabric) -> Vec<u32> {
        let mut order = fabric.order_by_tiers();
        for (dim, _) in self.dims.iter().enumerate().filter(|(_, size)| **size > 1) {
            for position in 0..self.positions() {
                order[self.to_crossbar(dim, position).0 as usize] = 2 * dim as u32 + 1;
                order[self.from_crossbar(dim, position).0 as usize] = 2 * dim as u32 + 2;
            }
        }
        order
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Crossbars(self)
    }

    /// Returns a smaller grid of as many dimensions.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        if !is_large && !has_long_rows(&self.dims) {
            return None;
        }
        let small = CrossbarGrid { dims: shorter(&self.dims), host_link: self.host_link };
        let text = instead(&small.dims, &self.dims);
        Some((small.build(fabric.name().to_owned(), |role| like(fabric, role)), text))
    }
}
