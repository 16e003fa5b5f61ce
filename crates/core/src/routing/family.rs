//! Family: the routes that the fabric's family works out itself.

use std::sync::Arc;

use super::router::{Router, misfit};
use super::rule::{Built, Given, Rule};
use crate::fabric::{Fabric, Family};
use crate::ids::{LinkId, NodeId};

/// `[routing.family]`: the minimal routes of the fabric's own family, worked out by its arithmetic.
///
/// * dragonfly, dragonfly+: inside the group to a cable to the other group, over it, and inside that group; where
///   several cables need the fewest steps, one by a hash of source and destination;
/// * HyperX: one dimension after another, each in one step; over one of parallel cables by a hash;
/// * rails: over the switch of the server; else over the leaf of the destination's rail, and the spine by the
///   destination's number; the plane by a hash.
///
/// Every message of a pair takes the same way. Memory: 12 bytes a cable between groups, none for others.
#[spec(partial, Default)]
pub struct FamilySpec {}

impl Rule for FamilySpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut Given<'_>) -> Built {
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
}
