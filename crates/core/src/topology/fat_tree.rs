//! Fat-tree: levels of switches above the nodes.

use super::common::{Cables, Mistakes, OneOrList, Topology, length};
use super::direct::wrong;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, Tree};
use crate::units::{Bandwidth, Time};

/// `[topology.fat-tree]`: a tree of switches, several parents allowed.
///
/// Give either `p`, for the full-bisection tree of three levels, or the lists `down`, `up` and `parallel`,
/// for any extended generalised fat-tree. The lists have one number a level, from the nodes up. Level 1 are
/// the host links.
#[spec]
pub struct FatTreeSpec {
    /// Half the ports of a switch: three levels of switches with 2p ports, 2p^3 nodes, full bisection
    /// (`down = [p, p, 2p]`, `up = [1, p, p]`).
    pub p: Option<Located<u32>>,
    /// Children of a switch, by level from the nodes up.
    pub down: Option<Located<Vec<Located<u32>>>>,
    /// Parents of a node or switch of the level below, by level (default: as many cables up as down, that is
    /// full bisection; 1 for the nodes).
    pub up: Option<Located<Vec<Located<u32>>>>,
    /// Cables between a node or switch and each of its parents, by level (default 1).
    pub parallel: Option<Located<Vec<Located<u32>>>>,
    /// Cables of a level-1 switch down to nodes, divided by those up (default 1: full bisection); in place of
    /// `up`.
    pub oversubscription: Option<Located<u32>>,
    /// Bandwidth of a cable in each direction: one value, or a list with one for each level from the nodes up (above
    /// the host links, if `host-bandwidth` is given).
    pub bandwidth: Located<OneOrList<Bandwidth>>,
    /// Latency of a cable (default 0 s): one value, or a list with one for each level from the nodes up (above the
    /// host links, if `host-latency` is given).
    pub latency: Option<Located<OneOrList<Time>>>,
    /// Bandwidth of the host links, if different.
    pub host_bandwidth: Option<Located<Bandwidth>>,
    /// Latency of the host links, if different.
    pub host_latency: Option<Time>,
    /// Bandwidth of a switch's output port, if lower than that of its cable.
    pub switch_port_bandwidth: Option<Located<Bandwidth>>,
}

impl Topology for FatTreeSpec {
    fn build(&self, _: &mut Sources) -> Result<Fabric, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::default();
        let tree = self.tree(&mut mistakes);
        let levels = tree.as_ref().map_or(1, Tree::levels);
        let port = mistakes.port(self.switch_port_bandwidth.as_ref());
        let host = self.host_bandwidth.as_ref().map(|value| mistakes.bandwidth(value));
        let (above, every) = ("levels above the host links", "levels");
        let bandwidths = match host {
            Some(host) => {
                let rest = mistakes.bandwidths(&self.bandwidth, levels - 1, above);
                std::iter::once(host).chain(rest).collect()
            }
            None => mistakes.bandwidths(&self.bandwidth, levels, every),
        };
        let latencies = match self.host_latency {
            Some(host) => {
                let rest = mistakes.latencies(self.latency.as_ref(), levels - 1, above);
                std::iter::once(host).chain(rest).collect()
            }
            None => mistakes.latencies(self.latency.as_ref(), levels, every),
        };
        let Some(tree) = tree else {
            return Err(mistakes.all());
        };
        mistakes.none()?;
        let name = match &self.p {
            Some(p) if self.oversubscription.is_none() => format!("fat-tree p={}", **p),
            _ => list_name(&tree),
        };
        // The values of level 1, the host links, are at the index of tier 0.
        let network: Vec<_> = bandwidths.into_iter().zip(latencies).collect();
        let cables = Cables { host: network[0], network, port };
        Ok(tree.build(name, |role| cables.link(role)))
    }
}

impl FatTreeSpec {
    /// Returns the specified tree; notes mistakes and returns `None` if it is not clear.
    fn tree(&self, mistakes: &mut Mistakes) -> Option<Tree> {
        match (&self.p, &self.down) {
            (Some(p), None) if self.up.is_none() && self.parallel.is_none() => {
                let size = mistakes.size(p);
                // If 2p overflows, 2p^3 is too large anyway and is refused below.
                let down = vec![size, size, size.saturating_mul(2)];
                let up = vec![1, self.tapered(size, mistakes), size];
                let tree = Tree { down, up, parallel: vec![1; 3] };
                mistakes.check_fabric_size(tree.size(), p);
                Some(tree)
            }
            (Some(p), _) => {
                mistakes.push(
                    Diagnostic::new("fat-tree-twice", "this fat-tree is given both by `p` and by lists")
                        .at_value(p)
                        .label("either this or `down`, `up` and `parallel`")
                        .help("remove `p`, or remove the lists"),
                );
                None
            }
            (None, None) => {
                mistakes.push(
                    Diagnostic::new("fat-tree-size", "this fat-tree has no size")
                        .at_value(&self.bandwidth)
                        .label("`p` or `down` is missing beside this")
                        .help("write `p = 12` for the full-bisection tree of 2p^3 nodes, or `down = [12, 12, 24]`"),
                );
                None
            }
            (None, Some(down)) => self.by_lists(down, mistakes),
        }
    }

    /// Returns the number of parents of a level-1 switch; `full` parents would give full bisection.
    fn tapered(&self, full: u32, mistakes: &mut Mistakes) -> u32 {
        let Some(given) = &self.oversubscription else { return full };
        let factor = mistakes.size(given).max(1);
        if !full.is_multiple_of(factor) {
            let message = format!("{full} cables up from a leaf cannot be divided by {factor}");
            mistakes.push(wrong(given, message, format!("a divisor of {full}")));
        }
        full / factor
    }

    fn by_lists(&self, down: &Located<Vec<Located<u32>>>, mistakes: &mut Mistakes) -> Option<Tree> {
        let children = mistakes.sizes(down, "levels");
        let levels = children.len();
        let mut list = |values: &Option<Located<Vec<Located<u32>>>>| {
            values.as_ref().map(|values| {
                let sizes = mistakes.sizes(values, "levels");
                if sizes.len() != levels {
                    mistakes.push(length(sizes.len(), levels, "levels in `down`").at_value(values));
                }
                sizes
            })
        };
        let parallel = list(&self.parallel).unwrap_or_else(|| vec![1; levels]);
        let up = list(&self.up);
        if let (Some(_), Some(given)) = (&up, &self.oversubscription) {
            let message = "the cables up are given both by `up` and by `oversubscription`";
            mistakes.push(wrong(given, message, "either this or `up`").help("remove one of them"));
        }
        let whole = |sizes: &[u32]| sizes.len() == levels && sizes.iter().all(|&size| size > 0);
        if levels == 0 || !whole(&children) || !whole(&parallel) || up.as_ref().is_some_and(|up| !whole(up)) {
            return None;
        }
        let up = match up {
            Some(up) => up,
            None => match full_bisection(&children, &parallel) {
                Some(mut up) => {
                    if let Some(above_leaves) = up.get_mut(1) {
                        *above_leaves = self.tapered(*above_leaves, mistakes);
                    } else if let Some(given) = &self.oversubscription {
                        let message = "one level of switches has no cables up";
                        mistakes.push(wrong(given, message, "leave this out"));
                    }
                    up
                }
                None => {
                    mistakes.push(
                        Diagnostic::new("fat-tree-up", "no number of parents gives full bisection with these cables")
                            .at_value(down)
                            .label("`up` is missing beside this")
                            .help("write `up`, the number of parents of a part of the level below, by level"),
                    );
                    return None;
                }
            },
        };
        let tree = Tree { down: children, up, parallel };
        mistakes.check_fabric_size(tree.size(), down);
        Some(tree)
    }
}

/// Returns the parents by level such that every switch below the top has as many cables up as down, and a
/// node has one parent.
fn full_bisection(down: &[u32], parallel: &[u32]) -> Option<Vec<u32>> {
    let above = (1..down.len()).map(|level| {
        let cables = u64::from(down[level - 1]) * u64::from(parallel[level - 1]);
        let each = u64::from(parallel[level]);
        (cables.is_multiple_of(each)).then(|| u32::try_from(cables / each).ok()).flatten()
    });
    std::iter::once(Some(1)).chain(above).collect()
}

/// Returns a name such as `fat-tree 12,12,24 up 1,12,12`, with ` x1,2,2` if there are parallel cables.
fn list_name(tree: &Tree) -> String {
    let list = |sizes: &[u32]| sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let parallel = if tree.parallel.iter().all(|&cables| cables == 1) {
        String::new()
    } else {
        format!(" x {}", list(&tree.parallel))
    };
    format!("fat-tree down {} up {}{parallel}", list(&tree.down), list(&tree.up))
}
