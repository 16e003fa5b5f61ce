//! Hashed: ECMP by flow.

use std::sync::Arc;

use super::climb::{Climb, TreeRoutes};
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use crate::fabric::Fabric;
use crate::ids::{LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.hashed]`: up a tree by a hash of source and destination, as switches spread flows over equal
/// paths.
///
/// On each level the port is drawn uniformly by a hash of seed, level, source and destination. Every message
/// of a pair takes the same path.
#[spec(partial, Default)]
pub struct HashedSpec {
    /// Seed of the hash (default: the scenario's).
    pub seed: Option<u64>,
}

impl Rule for HashedSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let routes = TreeRoutes::new(Climb::new(fabric, "hashed")?, fabric.nodes());
        Ok(Arc::new(Hashed { routes, hash: Mix::new(self.seed.unwrap_or(context.seed), "routing.hashed") }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }
}

#[derive(Debug)]
struct Hashed {
    routes: TreeRoutes,
    hash: Mix,
}

impl Router for Hashed {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let pair = u64::from(src.0) << 32 | u64::from(dst.0);
        let mut level = 0;
        self.routes.route_by(src, dst, route, |below| {
            level += 1;
            self.hash.two_below(pair, level, below.ports.into()) as u32
        });
    }
}
