//! Links that do the same for different nodes: a level of a tree, a direction of a grid.

use super::super::layout::dimension_name;
use hayase::fabric::{Fabric, LinkRole, Shape};
use hayase::ids::{LinkId, NodeId};

/// Links of one kind, in the order of what they belong to.
pub(super) struct Group {
    pub name: String,
    pub links: Vec<LinkId>,
}

impl Group {
    fn new(name: impl Into<String>, links: impl IntoIterator<Item = LinkId>) -> Self {
        Self { name: name.into(), links: links.into_iter().collect() }
    }
}

/// All links, in the order in which a message may cross them.
pub(super) fn groups(fabric: &Fabric) -> Vec<Group> {
    let mut groups = Vec::new();
    match fabric.shape() {
        Shape::Tree(tree) => {
            let level = |level: usize, down: bool| {
                let first = if down { tree.down_link(level, 0, 0) } else { tree.up_link(level, 0, 0) };
                (first.0..first.0 + tree.cables(level)).map(LinkId)
            };
            groups.push(Group::new("injection", level(1, false)));
            for l in 2..=tree.levels() {
                groups.push(Group::new(format!("up, level {} to {l}", l - 1), level(l, false)));
            }
            for l in (2..=tree.levels()).rev() {
                groups.push(Group::new(format!("down, level {l} to {}", l - 1), level(l, true)));
            }
            groups.push(Group::new("ejection", level(1, true)));
        }
        Shape::Grid(grid) => {
            let nodes = || (0..grid.positions()).map(NodeId);
            groups.push(Group::new("injection", nodes().filter_map(|node| grid.injection(node))));
            for dim in 0..grid.dims.len() {
                for descending in [false, true] {
                    let name = dimension_name(grid.dims.len(), dim);
                    let sign = if descending { '−' } else { '+' };
                    let links = (0..grid.positions()).filter_map(|x| grid.step(x, dim, descending));
                    groups.push(Group::new(format!("{name}{sign}"), links));
                }
            }
            groups.push(Group::new("ejection", nodes().filter_map(|node| grid.ejection(node))));
        }
        Shape::CrossbarGrid(grid) => {
            let nodes = || (0..grid.positions()).map(NodeId);
            groups.push(Group::new("injection", nodes().filter_map(|node| grid.injection(node))));
            for dim in (0..grid.dims.len()).filter(|&dim| grid.dims[dim] > 1) {
                let name = dimension_name(grid.dims.len(), dim);
                let to = (0..grid.positions()).map(|x| grid.to_crossbar(dim, x));
                groups.push(Group::new(format!("to {name} crossbars"), to));
                let from = (0..grid.positions()).map(|x| grid.from_crossbar(dim, x));
                groups.push(Group::new(format!("from {name} crossbars"), from));
            }
            groups.push(Group::new("ejection", nodes().filter_map(|node| grid.ejection(node))));
        }
        Shape::Irregular => {
            let with = |wanted: LinkRole| {
                fabric.links().iter_ids().filter(move |(_, link)| link.role == wanted).map(|(id, _)| id)
            };
            let mut tiers: Vec<u8> = fabric
                .links()
                .iter()
                .filter_map(|link| if let LinkRole::Network { tier } = link.role { Some(tier) } else { None })
                .collect();
            tiers.sort_unstable();
            tiers.dedup();
            groups.push(Group::new("injection", with(LinkRole::Injection)));
            for &tier in &tiers {
                let name = if tiers.len() == 1 { "network".to_owned() } else { format!("network, tier {tier}") };
                groups.push(Group::new(name, with(LinkRole::Network { tier })));
            }
            groups.push(Group::new("ejection", with(LinkRole::Ejection)));
        }
    }
    // A fabric whose shape promises links that it does not hold is still drawn.
    for group in &mut groups {
        group.links.retain(|&link| fabric.links().get(link).is_some());
    }
    groups.retain(|group| !group.links.is_empty());
    groups
}
