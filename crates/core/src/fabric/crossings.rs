//! Links of many routes.

use crate::ids::{LinkId, NodeId};

/// Calls `crossed` for each link of the routes from and to these nodes, which `route` appends. Returns the number of
/// calls.
pub(crate) fn crossings(
    ends: &[(NodeId, NodeId)],
    route: impl Fn(NodeId, NodeId, &mut Vec<LinkId>),
    mut crossed: impl FnMut(LinkId),
) -> u64 {
    let (mut crossings, mut links) = (0, Vec::new());
    for &(src, dst) in ends.iter().filter(|(src, dst)| src != dst) {
        links.clear();
        route(src, dst, &mut links);
        links.iter().for_each(|&link| crossed(link));
        crossings += links.len() as u64;
    }
    crossings
}
