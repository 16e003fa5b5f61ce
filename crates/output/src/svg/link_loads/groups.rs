//! Links that do the same for different nodes: a level of a tree, a direction of a grid.

use hayase::fabric::{Fabric, LinkGroup};

/// All links, in the order in which a message may cross them.
pub(super) fn groups(fabric: &Fabric) -> Vec<LinkGroup> {
    let mut groups = fabric.family().link_groups(fabric);
    // A fabric whose family promises links that it does not hold is still drawn.
    for group in &mut groups {
        group.links.retain(|&link| fabric.links().get(link).is_some());
    }
    groups.retain(|group| !group.links.is_empty());
    groups
}
