//! Groups of links with the same function: a level of a tree, a direction of a grid.

use hayase::fabric::{Fabric, LinkGroup};

/// Returns all links in groups, in the order in which a message may cross them.
pub(super) fn groups(fabric: &Fabric) -> Vec<LinkGroup> {
    let mut groups = fabric.family().link_groups(fabric);
    // Links that the family names but the fabric does not have are left out.
    for group in &mut groups {
        group.links.retain(|&link| fabric.links().get(link).is_some());
    }
    groups.retain(|group| !group.links.is_empty());
    groups
}
