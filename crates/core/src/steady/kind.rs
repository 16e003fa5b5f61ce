//! Kinds of links, by name.

use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, LinkId, VertexId};

/// Returns the kind of a link: `node`, `local` and `global`, `level 1`, `dimension 0`, `tier 1`, `network`.
pub fn kind(fabric: &Fabric, link: LinkId) -> String {
    let link = fabric.link(link);
    let LinkRole::Network { tier } = link.role else { return "node".to_owned() };
    let group = |vertex: VertexId| {
        let switch = vertex.index().checked_sub(fabric.nodes() as usize)?;
        fabric.groups()?.get(switch)
    };
    if fabric.groups().is_some() {
        return match link.ends.map(|(from, to)| (group(from), group(to))) {
            Some((Some(from), Some(to))) if from != to => "global".to_owned(),
            _ => "local".to_owned(),
        };
    }
    // `along dimension 0`
    fabric.family().tier_name(tier).trim_start_matches("along ").to_owned()
}
