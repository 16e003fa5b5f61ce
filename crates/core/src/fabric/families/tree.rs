//! Trees.

use super::{FEW_NODES, like};
use crate::fabric::{Bisection, Fabric, Fact, Family, LinkGroup, LinkRole, Sketch, Tree};
use crate::ids::{LinkId, NodeId};
use crate::units::Bandwidth;

impl Family for Tree {
    fn kind(&self) -> &'static str {
        "a tree"
    }

    fn facts(&self) -> (&'static str, Vec<(&'static str, Fact)>) {
        let list = |sizes: &[u32]| Fact::Numbers(sizes.to_vec());
        ("tree", vec![("down", list(&self.down)), ("up", list(&self.up)), ("parallel", list(&self.parallel))])
    }

    fn switch_name(&self, switch: u32) -> String {
        self.name_of(switch)
    }

    fn tier_name(&self, tier: u8) -> String {
        format!("between levels {tier} and {}", u32::from(tier) + 1)
    }

    fn link_groups(&self, _: &Fabric) -> Vec<LinkGroup> {
        let mut groups = Vec::new();
        let level = |level: usize, down: bool| {
            let first = if down { self.down_link(level, 0, 0) } else { self.up_link(level, 0, 0) };
            (first.0..first.0 + self.cables(level)).map(LinkId)
        };
        groups.push(LinkGroup::new("injection", level(1, false)));
        for l in 2..=self.levels() {
            groups.push(LinkGroup::new(format!("up, level {} to {l}", l - 1), level(l, false)));
        }
        for l in (2..=self.levels()).rev() {
            groups.push(LinkGroup::new(format!("down, level {l} to {}", l - 1), level(l, true)));
        }
        groups.push(LinkGroup::new("ejection", level(1, true)));
        groups
    }

    fn leaf(&self, _: &Fabric, node: NodeId) -> u32 {
        Tree::leaf(self, node).0
    }

    fn node_groups(&self, _: &Fabric) -> Option<Vec<u32>> {
        let below_top = self.block(self.levels() - 1);
        (self.levels() > 1).then(|| (0..self.nodes()).map(|node| node / below_top).collect())
    }

    fn diameter(&self, _: &Fabric) -> Option<u32> {
        // No route goes up to a level above which nothing branches.
        let highest = self.down.iter().rposition(|&children| children > 1)?;
        Some(2 * (highest as u32 + 1))
    }

    fn bisection(&self, fabric: &Fabric) -> Option<Bisection> {
        if fabric.is_altered() {
            // Copies of a switch do not act as one if they differ.
            return fabric.search_bisection(fabric.lower_half());
        }
        let (bandwidth, back) = (cut(self, fabric, true), cut(self, fabric, false));
        Some(Bisection { bandwidth, back, first_half: fabric.lower_half(), is_least: true })
    }

    fn default_routing(&self) -> &'static str {
        "d-mod-k"
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch::Levels(self)
    }

    /// Returns a smaller tree of as many levels with about the same ratio of links up and down.
    fn small_member(&self, fabric: &Fabric, is_large: bool) -> Option<(Fabric, String)> {
        is_large.then(|| small(fabric, self))
    }
}

/// Returns the largest flow between the lower half of a tree's nodes and the upper; `forth` is from lower to
/// upper.
///
/// All copies of a switch can share its group's traffic evenly, so they act as one switch with their joint
/// bandwidth. This leaves a tree without redundancy, which is cut by deciding for each switch on which side
/// it is. Subtrees that lie completely in one half cost the same, so a level has three kinds of subtree:
/// O(levels).
fn cut(tree: &Tree, fabric: &Fabric, forth: bool) -> Bandwidth {
    let half = fabric.nodes() / 2;
    // By kind (lower, upper, mixed) and by the side of the subtree's root (senders or receivers).
    let (sender, receiver) = ([0.0, f64::INFINITY], [f64::INFINITY, 0.0]);
    let mut costs = if forth { [sender, receiver, sender] } else { [receiver, sender, sender] };
    for level in 1..=tree.levels() {
        let cables = f64::from(tree.copies(level - 1)) * f64::from(tree.ports(level));
        let up = cables * fabric.capacity(tree.up_link(level, 0, 0));
        let down = cables * fabric.capacity(tree.down_link(level, 0, 0));
        let children = tree.down[level - 1];
        let within = half % tree.block(level);
        let whole = within / tree.block(level - 1);
        let split = u32::from(!within.is_multiple_of(tree.block(level - 1)));
        let cut = |counts: [u32; 3]| {
            [[0.0, down], [up, 0.0]].map(|crossed| {
                let cheapest = |kind: usize| (costs[kind][0] + crossed[0]).min(costs[kind][1] + crossed[1]);
                let used = (0..3).filter(|&kind| counts[kind] > 0);
                used.map(|kind| f64::from(counts[kind]) * cheapest(kind)).sum::<f64>()
            })
        };
        let mixed = cut([whole, children.saturating_sub(whole + split), split]);
        costs = [cut([children, 0, 0]), cut([0, children, 0]), mixed];
    }
    Bandwidth::from_bytes_per_second(costs[2][0].min(costs[2][1]))
}

fn small(fabric: &Fabric, tree: &Tree) -> (Fabric, String) {
    let mut small = tree.clone();
    let mut divisor = 1;
    while small.nodes() > FEW_NODES || small.size().is_none_or(|(_, switches, _)| switches > 90) {
        divisor += 1;
        let scaled = |list: &[u32]| list.iter().map(|&x| ((x + divisor / 2) / divisor).max(x.min(2))).collect();
        small.down = scaled(&tree.down);
        small.up = scaled(&tree.up);
        small.parallel = tree.parallel.iter().map(|&x| x.min(2)).collect();
        if small.down.iter().all(|&x| x <= 2) && small.up.iter().all(|&x| x <= 2) {
            break;
        }
    }
    while small.levels() > 1 && (small.nodes() > FEW_NODES || small.size().is_none_or(|(_, switches, _)| switches > 90))
    {
        small.down.pop();
        small.up.pop();
        small.parallel.pop();
    }
    let nodes = small.nodes();
    let of = |role: LinkRole| like(fabric, role);
    let drawn = small.clone().build(fabric.name().to_owned(), of);
    let lists = |tree: &Tree| {
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        format!("down {}; up {}; parallel {}", list(&tree.down), list(&tree.up), list(&tree.parallel))
    };
    let levels = if small.levels() < tree.levels() {
        format!(", and only its lowest {} levels of {}", small.levels(), tree.levels())
    } else {
        String::new()
    };
    let text = format!(
        "a small member of the family with {nodes} nodes ({}) instead of {} ({}){levels}",
        lists(&small),
        fabric.nodes(),
        lists(tree)
    );
    (drawn, text)
}
