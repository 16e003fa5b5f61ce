//! Minimal adaptive and DOAL: routes along the dimensions of a lattice that depend on the messages under way.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::LoadCount;
use super::demand::Demand;
use super::lattice::Dimensions;
use super::random_order::in_order;
use super::router::{MISFIT, Router};
use super::rule::{BuildContext, BuildResult, Rule};
use super::steps::Steps;
use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, Step};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::rng::Mix;

/// `[routing.min-adaptive]`: minimal adaptive routing on a lattice, step by step over the least busy link.
///
/// At each switch all steps are considered that bring the message closer: along any dimension, over any of
/// parallel cables, and either way round a ring if both are equally long. The message takes the step whose
/// link has the fewest messages under way; ties are drawn. All steps of a message are chosen when it starts.
/// Routes are minimal.
///
/// Source: SST's `mina` on HyperX; J. H. Ahn et al., "HyperX: topology, routing, and packaging of efficient
/// large-scale networks", SC 2009.
#[spec(partial, Default)]
pub struct MinAdaptiveSpec {
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

/// `[routing.doal]`: adaptive dimension order on a HyperX, with at most one detour a dimension.
///
/// In each dimension, in order, the message goes straight to its coordinate if this holds:
/// ```text
/// Q_direct <= 2 Q_other + T
/// ```
/// Q_direct is the number of messages under way on the least busy link there, and Q_other the least number on
/// the links to all other coordinates of the line. Otherwise the message goes to that other coordinate first,
/// and straight from there. The switch knows only its own links. All steps of a message are chosen when it
/// starts.
///
/// Source: SST's `DOAL` on HyperX (dimension-ordered adaptive load-balanced).
#[spec(partial, Default)]
pub struct DoalSpec {
    /// T: advantage that a detour must have, in messages (default 0).
    pub threshold: Option<Located<f64>>,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

impl Rule for MinAdaptiveSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        let dimensions = Dimensions::new(fabric, "min-adaptive")?;
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.min-adaptive");
        Ok(Arc::new(Adaptive { dimensions, hash, detour_threshold: None }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }
}

impl Rule for DoalSpec {
    fn build(&self, fabric: &Arc<Fabric>, context: &mut BuildContext<'_>) -> BuildResult {
        if let Some(value) = self.threshold.as_ref().filter(|value| !(value.is_finite() && ***value >= 0.0)) {
            let message = format!("a threshold of {} compares nothing", **value);
            return Err(vec![Diagnostic::new("doal", message).at_value(value).label("a number, at least 0")]);
        }
        let dimensions = Dimensions::new(fabric, "doal")?;
        if !dimensions.lattice().is_complete() {
            let message = format!("doal goes to any coordinate in one step, but {} is not a HyperX", fabric.name());
            return Err(vec![Diagnostic::new(MISFIT, message)]);
        }
        let hash = Mix::new(self.seed.unwrap_or(context.seed), "routing.doal");
        let threshold = self.threshold.as_deref().copied().unwrap_or_default();
        Ok(Arc::new(Adaptive { dimensions, hash, detour_threshold: Some(threshold) }))
    }

    fn depends_on_seed(&self) -> bool {
        self.seed.is_none()
    }
}

#[derive(Debug)]
struct Adaptive {
    dimensions: Dimensions,
    hash: Mix,
    /// Threshold of detours in dimension order; `None` for steps along any dimension without detours.
    detour_threshold: Option<f64>,
}

/// Draws of a message and the messages under way.
struct Decision<'a> {
    under_way: &'a UnderWay,
    hash: Mix,
    message: u64,
    draws: u64,
}

impl Decision<'_> {
    /// Returns the number of messages under way on a step.
    fn queue(&self, step: &Step) -> u32 {
        let behind = step.then.map_or(0, |link| self.under_way[link]);
        self.under_way[step.link].max(behind)
    }

    /// Returns one of the least busy steps.
    fn least(&mut self, steps: &[Step]) -> Option<Step> {
        let least = steps.iter().map(|step| self.queue(step)).min()?;
        let count = steps.iter().filter(|step| self.queue(step) == least).count() as u64;
        let which = if count == 1 {
            0
        } else {
            self.draws += 1;
            self.hash.two_below(self.message, self.draws, count)
        };
        steps.iter().filter(|step| self.queue(step) == least).nth(which as usize).copied()
    }
}

fn take(step: Step, links: &mut Vec<LinkId>) -> u32 {
    links.push(step.link);
    links.extend(step.then);
    step.point
}

impl Adaptive {
    /// Appends steps along any dimension.
    fn minimal(&self, (mut here, to): (u32, u32), asked: &mut Decision<'_>, links: &mut Vec<LinkId>) {
        let lattice = self.dimensions.lattice();
        let mut steps = Vec::new();
        loop {
            steps.clear();
            for &dim in &self.dimensions.longer {
                lattice.steps(here, dim, lattice.coordinate(to, dim), &mut steps);
            }
            let Some(step) = asked.least(&steps) else { return };
            here = take(step, links);
        }
    }

    /// Appends steps along one dimension after another, each with one detour at most.
    fn ordered(&self, (mut here, to): (u32, u32), threshold: f64, asked: &mut Decision<'_>, links: &mut Vec<LinkId>) {
        let lattice = self.dimensions.lattice();
        let mut steps = Vec::new();
        for dim in self.dimensions.between(here, to) {
            let (x, y) = (lattice.coordinate(here, dim), lattice.coordinate(to, dim));
            let straight = |here: u32, asked: &mut Decision<'_>, steps: &mut Vec<Step>| {
                steps.clear();
                lattice.steps(here, dim, y, steps);
                asked.least(steps)
            };
            let Some(direct) = straight(here, asked, &mut steps) else { continue };
            steps.clear();
            let others = (0..lattice.sizes()[dim]).filter(|other| ![x, y].contains(other));
            others.for_each(|other| lattice.steps(here, dim, other, &mut steps));
            let queue = f64::from(asked.queue(&direct));
            let busier = |other: &Step| queue > 2.0 * f64::from(asked.queue(other)) + threshold;
            // The number is drawn only if there is a choice.
            let aside = if steps.iter().any(busier) { asked.least(&steps) } else { None };
            here = take(aside.unwrap_or(direct), links);
            if aside.is_some()
                && let Some(step) = straight(here, asked, &mut steps)
            {
                here = take(step, links);
            }
        }
    }
}

impl Router for Adaptive {
    /// Crosses the dimensions in order.
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        if src != dst {
            in_order(&self.dimensions, &self.dimensions.longer, (src, dst), route, |_| 0);
        }
    }

    fn choice(&self) -> Option<&dyn Choice> {
        Some(self)
    }

    fn loads(&self, _: &Demand, _: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        let message = "the paths of this rule depend on the traffic under way, so loads cannot be counted";
        Err(Diagnostic::new("adaptive-routing", message)
            .help("`--routing random-order` counts all orders alike; `hayase run` simulates it"))
    }
}

impl Choice for Adaptive {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Adaptive
    }

    fn choose(&self, start: StartingMessage, under_way: &UnderWay, path: &mut Path) {
        let mut asked = Decision { under_way, hash: self.hash, message: start.key(), draws: 0 };
        self.dimensions.way(start.src, start.dst, &mut path.links, |from, to, links| match self.detour_threshold {
            None => self.minimal((from, to), &mut asked, links),
            Some(threshold) => self.ordered((from, to), threshold, &mut asked, links),
        });
    }

    fn steps(&self, steps: &mut Steps<'_>) -> bool {
        if self.detour_threshold.is_none() {
            steps.closer(&self.dimensions, None);
        }
        self.detour_threshold.is_none()
    }

    fn expected(&self, _: NodeId, _: NodeId, _: &mut Path) -> bool {
        false
    }
}
