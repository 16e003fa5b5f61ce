//! Bounds of the best possible time of a run, by the bytes that its ranks exchange.

use crate::engine::{Progress, Watch};
use crate::ids::RankId;
use crate::network::Network;
use crate::optimum::{BestTime, FlowNetwork, Volumes};
use crate::pattern::Pattern;
use crate::placement::Placement;
use crate::report::Bounds;
use crate::system::System;
use crate::units::Time;

/// Largest number of messages of a pattern, and of links of its fabric, for which the free bound is computed without
/// being asked for: well below the cost of the run.
const MOST_UNASKED: u64 = 4_096;

/// Bytes between the nodes of a network, counted during or after a run.
pub(super) struct Exchanged<'a> {
    flows: FlowNetwork<'a>,
    volumes: Volumes,
    placement: &'a Placement,
}

impl<'a> Exchanged<'a> {
    /// Creates a count without bytes; `None` if the links of the fabric are known by routes alone.
    pub fn new(network: &'a Network) -> Option<Self> {
        let flows = FlowNetwork::new(network.most()).ok()?;
        Some(Self { volumes: flows.volumes(), flows, placement: &network.placement })
    }

    /// Adds the bytes of a message.
    pub fn add(&mut self, src: RankId, dst: RankId, bytes: u64) {
        self.volumes.add(self.placement[src], self.placement[dst], bytes as f64);
    }

    /// Adds all messages of a pattern.
    fn add_pattern(&mut self, pattern: &dyn Pattern) {
        for src in (0..pattern.ranks()).map(RankId) {
            for message in (0..pattern.sends(src)).map(|index| pattern.message(src, index)) {
                self.add(src, message.dst, message.bytes);
            }
        }
    }

    /// Adds the best possible time to the bounds: with the gap that the system asks for, else the free bound if it
    /// exceeds injection and bisection.
    pub fn bound(&self, system: &System, watch: Option<&dyn Watch>, progress: Progress, bounds: &mut Bounds) {
        let set = |best: &BestTime, reached: Option<f64>, bounds: &mut Bounds| {
            bounds.optimum_at_least_s = Some(best.at_least_s);
            bounds.optimum_reached_s = reached;
            bounds.optimum_certificate = Some(best.proof);
        };
        let Some(gap) = system.optimum() else {
            let free = self.flows.free_bound(&self.volumes);
            let known = bounds.injection_s.unwrap_or(0.0).max(bounds.bisection_s.unwrap_or(0.0));
            if free.at_least_s > known * (1.0 + 1e-9) {
                set(&free, None, bounds);
            }
            return;
        };
        let mut go_on = |_, _| watch.is_none_or(|watch| watch.tick(progress));
        if let Ok(best) = self.flows.best_time(&self.volumes, gap.part(), system.seed(), &mut go_on) {
            set(&best, Some(best.reached_s), bounds);
        }
    }
}

/// Adds the best possible time of a pattern to its bounds.
pub(super) fn bound_of_pattern(
    pattern: &dyn Pattern,
    network: &Network,
    system: &System,
    watch: Option<&dyn Watch>,
    bounds: &mut Bounds,
) {
    let messages = pattern.messages();
    let is_large = messages.max(network.fabric.links().len() as u64) > MOST_UNASKED;
    if system.optimum().is_none() && is_large {
        return;
    }
    if let Some(mut exchanged) = Exchanged::new(network) {
        exchanged.add_pattern(pattern);
        let progress = Progress { now: Time::ZERO, delivered: messages, total: messages };
        exchanged.bound(system, watch, progress, bounds);
    }
}
