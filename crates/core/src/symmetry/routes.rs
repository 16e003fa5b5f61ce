//! Routes of the ranks that are played, over the links that stand for their classes.

use std::sync::Arc;

use super::fold::Folded;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::routing::{Choice, ChoiceKind, Path, Router, StartingMessage, UnderWay};
use crate::units::Time;

/// Routing rule of a folded run: a message takes the part |C| / |L| of its rate on each link that stands for a class L
/// of its route, where C is the class of its sender.
#[derive(Debug)]
pub struct FoldedRoutes {
    routes: Arc<dyn Router>,
    folded: Arc<Folded>,
    latencies: IdVec<LinkId, Time>,
}

impl FoldedRoutes {
    /// Creates the rule over routes of this fabric. They have one route for each pair.
    pub fn new(fabric: &Fabric, routes: Arc<dyn Router>, folded: Arc<Folded>) -> Self {
        let latencies = fabric.links().iter().map(|link| link.latency).collect();
        Self { routes, folded, latencies }
    }
}

impl Router for FoldedRoutes {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        self.routes.route(src, dst, route);
    }

    fn reaches(&self, src: NodeId, dst: NodeId) -> bool {
        self.routes.reaches(src, dst)
    }

    fn choice(&self) -> Option<&dyn Choice> {
        Some(self)
    }
}

impl Choice for FoldedRoutes {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Split
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        self.routes.route(start.src, start.dst, &mut path.links);
        let ranks = f64::from(self.folded.times(start.message.src));
        path.latency = path.links.iter().map(|&link| self.latencies[link]).sum();
        // Parts count hops until all are known, so that they are exact.
        let mut merged = 0;
        for hop in 0..path.links.len() {
            let link = self.folded.link(path.links[hop]).0;
            match path.links[..merged].iter().position(|&before| before == link) {
                Some(before) => path.parts[before] += 1.0,
                None => {
                    path.links[merged] = link;
                    path.parts.push(1.0);
                    merged += 1;
                }
            }
        }
        path.links.truncate(merged);
        for (part, &link) in path.parts.iter_mut().zip(&path.links) {
            *part = *part * ranks / f64::from(self.folded.link(link).1);
        }
    }

    fn expected(&self, _: NodeId, _: NodeId, _: &mut Path) -> bool {
        false
    }
}
