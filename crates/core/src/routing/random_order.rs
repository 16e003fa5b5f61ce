//! Random order: the dimensions of a lattice in an order drawn for each message.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::LoadCount;
use super::demand::Demand;
use super::lattice::{Dimensions, MOST_DIMENSIONS};
use super::router::Router;
use super::rule::{BuildContext, BuildResult, Rule};
use super::steps::Steps;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;
use crate::units::Time;

/// `[routing.random-order]`: along one dimension after another, in an order drawn for each message.
///
/// All orders are equally likely; so are both ways round a ring if they are equally long, and parallel
/// cables. Routes are minimal.
#[spec(partial, Default)]
pub struct RandomOrderSpec {
    /// Split every message over all orders in equal parts (default false): the average of the drawn orders.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_orders: bool,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

impl Rule for RandomOrderSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let dimensions = Dimensions::new(fabric, "random-order")?;
        if self.all_orders && dimensions.longer.len() > MOST_DIMENSIONS {
            let message =
                format!("a message cannot be split over all orders of {} dimensions", dimensions.longer.len());
            return Err(vec![
                Diagnostic::new("too-large", message).help("leave out `all-orders`: then an order is drawn"),
            ]);
        }
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.random-order");
        Ok(Arc::new(RandomOrder { dimensions, hash, all: self.all_orders }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none() && !self.all_orders
    }
}

#[derive(Debug)]
struct RandomOrder {
    dimensions: Dimensions,
    hash: Mix,
    all: bool,
}

impl Router for RandomOrder {
    /// Crosses the dimensions in order.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            in_order(&self.dimensions, &self.dimensions.longer, (src, dst), route, |_| 0);
        }
    }

    fn choice(&self) -> Option<&dyn Choice> {
        Some(self)
    }

    fn loads(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        self.dimensions.count(None, demand, loads)
    }
}

/// Crosses the dimensions in this order; `pick` draws one of several equal steps.
pub(super) fn in_order(
    dimensions: &Dimensions,
    order: &[usize],
    (src, dst): (NodeId, NodeId),
    links: &mut Vec<LinkId>,
    mut pick: impl FnMut(u32) -> u32,
) {
    let lattice = dimensions.lattice();
    dimensions.way(src, dst, links, |from, to, links| {
        let mut here = from;
        for &dim in order {
            let pick = |steps: &[_]| pick(steps.len() as u32) as usize;
            here = dimensions.cross(here, dim, lattice.coordinate(to, dim), links, pick);
        }
    });
}

impl Choice for RandomOrder {
    fn kind(&self) -> ChoiceKind {
        if self.all { ChoiceKind::Split } else { ChoiceKind::Drawn }
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        if self.all {
            self.expected(start.src, start.dst, path);
            return;
        }
        let lattice = self.dimensions.lattice();
        let mut draws = 0;
        let mut draw = |count: u32| {
            draws += 1;
            self.hash.two_below(start.key(), draws, count.into()) as u32
        };
        // All orders of the dimensions that are crossed are equally likely.
        let mut order = self.dimensions.between(lattice.point_of(start.src), lattice.point_of(start.dst));
        for last in (1..order.len()).rev() {
            order.swap(last, draw(last as u32 + 1) as usize);
        }
        in_order(&self.dimensions, &order, (start.src, start.dst), &mut path.links, draw);
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        steps.closer(&self.dimensions, None);
        true
    }

    /// Goes through sets of dimensions: a message that has crossed a set is at one point, whatever the order.
    fn expected(&self, src: NodeId, dst: NodeId, path: &mut Path) -> bool {
        let lattice = self.dimensions.lattice();
        let (from, to) = (lattice.point_of(src), lattice.point_of(dst));
        let dims = self.dimensions.between(from, to);
        if dims.len() > MOST_DIMENSIONS {
            return false;
        }
        let fabric = &self.dimensions.fabric;
        let latency = |link: Option<LinkId>| link.map_or(Time::ZERO, |link| fabric.link(link).latency);
        let ends = [lattice.host_links(src)[0], lattice.host_links(dst)[1]];
        for link in ends.into_iter().flatten() {
            path.links.push(link);
            path.parts.push(1.0);
        }
        // By set: the part of the orders that cross it first, and the longest latency up to there.
        let mut crossed = vec![(0.0, Time::ZERO); 1 << dims.len()];
        crossed[0] = (1.0, latency(ends[0]));
        for set in 0..crossed.len() {
            let (part, start) = crossed[set];
            let moved = |point: u32, (bit, &dim): (usize, &usize)| match set >> bit & 1 {
                1 => lattice.moved(point, dim, lattice.coordinate(to, dim)),
                _ => point,
            };
            let here = dims.iter().enumerate().fold(from, moved);
            let part = part / f64::from(dims.len() as u32 - set.count_ones());
            for (bit, &dim) in dims.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 0) {
                let latency = self.dimensions.split(here, dim, lattice.coordinate(to, dim), part, &mut |link, part| {
                    path.links.push(link);
                    path.parts.push(part);
                });
                let next = &mut crossed[set | 1 << bit];
                *next = (next.0 + part, next.1.max(start + latency));
            }
        }
        path.latency = crossed.last().map_or(Time::ZERO, |last| last.1) + latency(ends[1]);
        path.merge();
        true
    }
}
