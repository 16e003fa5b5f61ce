//! Links that can hold a flow back.

use crate::fabric::{Fabric, Link, LinkRole};
use crate::ids::{IdVec, LinkId};
use crate::routing::Router;

/// The links of a route that can hold a flow back; `links` is where they are written.
///
/// Each link is written where the next one that binds belongs, so that a processor need not guess which do.
#[inline(always)]
pub(super) fn keep_binding<'a>(binding: &IdVec<LinkId, bool>, route: &[LinkId], links: &'a mut Vec<u32>) -> &'a [u32] {
    // (It only grows: what is behind those that are kept means nothing.)
    if links.len() < route.len() {
        links.resize(route.len(), 0);
    }
    let mut len = 0;
    for &link in route {
        links[len] = link.0;
        len += usize::from(binding[link]);
    }
    &links[..len]
}

/// By link: whether it can hold a flow back (see [`Flows`](super::Flows)).
pub(super) fn binding_links(fabric: &Fabric, router: &dyn Router, one_at_a_time: bool) -> IdVec<LinkId, bool> {
    let capacity = |link: LinkId| fabric.shared_capacity(link);
    let ejection = |link: &Link| link.role == LinkRole::Ejection;
    let narrowest_injection =
        fabric.links().iter().filter(|link| link.role == LinkRole::Injection).map(|link| link.capacity).min();
    let widest_ejection = fabric.links().iter().filter(|link| ejection(link)).map(|link| link.capacity).max();
    // One flow at a time, through an ejection link that is not wider: in known families every route ends in one.
    let injection_is_idle = one_at_a_time
        && fabric.is_connected_by_family()
        && matches!((narrowest_injection, widest_ejection), (Some(injection), Some(ejection)) if ejection <= injection);
    let is_binding = |link: LinkId| {
        if injection_is_idle && fabric.link(link).role == LinkRole::Injection {
            return false;
        }
        // Along the chain of dominators a link that is not wider is enough; the last one of the chain stays.
        let mut dominator = router.dominator(link);
        while let Some(other) = dominator {
            if capacity(other) <= capacity(link) {
                return false;
            }
            dominator = router.dominator(other);
        }
        true
    };
    fabric.links().ids().map(is_binding).collect()
}
