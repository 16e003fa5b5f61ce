//! Family: routes computed by the fabric's family.

use std::sync::Arc;

use super::router::{Router, misfit};
use super::rule::{BuildContext, BuildResult, Rule};
use crate::fabric::{Fabric, Family};
use crate::ids::{IdVec, LinkId, NodeId};

/// `[routing.family]`: the minimal routes of the fabric's own family, computed by its arithmetic.
///
/// * dragonfly, dragonfly+: inside the group to a cable to the other group, over it, and inside that group; if several
///   cables need the fewest steps, one is chosen by a hash of source and destination;
/// * HyperX: one dimension after another, each in one step; one of parallel cables is chosen by a hash;
/// * rails: over the switch of the server; between servers over the leaf of the destination's rail, and the spine given
///   by the destination's number; the plane is chosen by a hash.
///
/// Every message of a pair takes the same path. Memory: 32 bytes a cable between groups, none for other
/// families.
#[spec(partial, Default)]
pub struct FamilySpec {}

impl Rule for FamilySpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        let family = fabric.shared_family();
        if !family.has_routes() {
            return Err(vec![misfit("family", "dragonflies, dragonfly+, HyperX and rails", fabric)]);
        }
        Ok(Arc::new(ByFamily { family }))
    }
}

#[derive(Debug)]
struct ByFamily {
    family: Arc<dyn Family>,
}

impl Router for ByFamily {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            self.family.route(src, dst, route);
        }
    }

    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        self.family.count(ends, counts);
    }
}
