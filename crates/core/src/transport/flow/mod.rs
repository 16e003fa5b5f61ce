//! Flow-level transport: a message is a flow whose rate is its share of the links it crosses.

mod binding;
mod blocking;
#[cfg(test)]
mod blocking_tests;
mod built;
mod carried;
mod crowds;
mod delays;
mod finish_queue;
mod flows;
mod group_clock;
mod groups;
mod interference;
#[cfg(test)]
mod interference_tests;
mod lock_step;
mod on_terms;
#[cfg(test)]
mod played;
mod spec;
#[cfg(test)]
mod tests;

pub use blocking::BlockingFlows;
pub use built::Built;
pub use crowds::CrowdedFlows;
pub use flows::Flows;
pub use groups::GroupFlows;
pub use on_terms::FlowsOnTerms;
pub use spec::{FlowSpec, Weights};

use std::sync::Arc;

use interference::Interference;

use super::{Metered, Parties, Transport};
use crate::fabric::{Fabric, Grid};
use crate::placement::Placement;
use crate::routing::Router;
use crate::sharing::{EqualShare, MaxMin, MaxMinSpec, Redistribute, SharingSpec, Solver};
use crate::workload::Load;

/// Average number of nodes along a dimension from which on groups are faster on a torus or mesh of two
/// dimensions, and the increase of that number for each further dimension. Measured with random placement in
/// two dimensions: 0.9 times as fast at 16, 1.3 at 20, 2 at 32, 4 at 64; in three: 0.6 times as fast at 16,
/// 0.8 at 20. With ranks in order messages meet few others, and groups are slower by 3 to 6 times.
const LONG_SIDE: u32 = 20;
const LONGER_BY: u32 = 10;

/// Number of messages to one rank at once from which on groups are faster (measured: 20 times at 1,000).
const MANY_TO_ONE: u32 = crowds::CROWD;

/// Creates flows under this sharing policy, with the solver that should be the fastest on this fabric.
///
/// It uses groups where thousands of flows share a bottleneck, because of the load or because routes are
/// long. If that is not known before the load starts, it uses groups whenever hundreds of flows share a link.
/// Losses between parties are always measured flow by flow. Time lost on links is measured flow by flow
/// unless groups are faster.
pub fn flow_transport(
    fabric: &Fabric,
    router: &dyn Router,
    placement: &Placement,
    spec: &FlowSpec,
    sharing: &SharingSpec,
    load: Load,
    metered: Metered<'_>,
) -> Built {
    let Load { one_at_a_time, most_to_one, unforeseen, weighted, .. } = load;
    if let SharingSpec::Blocking(blocking) = sharing {
        return Built::Other(Box::new(BlockingFlows::new(fabric, router, blocking)));
    }
    let is_equal_share = matches!(sharing, SharingSpec::EqualShare(_));
    let factor = *spec.bandwidth_factor;
    let meter = |parties: &Arc<Parties>| {
        let capacities: Vec<f64> = fabric.shared_capacities().into_iter().map(|capacity| factor * capacity).collect();
        Interference::new(&capacities, is_equal_share, Arc::clone(parties))
    };
    let boxed = |flows: Flows| -> Built {
        match metered {
            Metered::Nothing => Built::Other(Box::new(flows)),
            Metered::Links => Built::Other(Box::new(flows.with_delays(fabric, factor))),
            Metered::Classes(times) => Built::Other(Box::new(flows.with_delays_of::<true>(fabric, factor, times))),
            Metered::Parties(parties) => Built::Other(Box::new(flows.metered(meter(parties)))),
        }
    };
    if !spec.is_plain() || fabric.limits_messages() || weighted {
        macro_rules! on_terms {
            ($metered:expr) => {
                FlowsOnTerms::metered(fabric, router, spec, sharing, weighted, $metered)
                    .map(|flows| Box::new(flows) as Box<dyn Transport>)
            };
        }
        let flows = match metered {
            // Folded networks have plain flows.
            Metered::Nothing | Metered::Classes(_) => on_terms!(|flows| flows),
            Metered::Links => on_terms!(|flows| flows.with_delays(fabric, factor)),
            Metered::Parties(parties) => on_terms!(|flows| flows.metered(meter(parties))),
        };
        if let Some(flows) = flows {
            return Built::Other(flows);
        }
    }
    if router.splits()
        && let Some(flows) = Flows::split(fabric, router, sharing, one_at_a_time)
    {
        return boxed(flows);
    }
    let by_groups = match sharing {
        _ if matches!(metered, Metered::Parties(_)) => false,
        SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Groups }) => true,
        SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Auto }) => {
            (has_long_sides(fabric) && !placement.iter().is_sorted()) || most_to_one >= MANY_TO_ONE
        }
        _ => false,
    };
    if by_groups {
        return Built::Other(Box::new(GroupFlows::new(fabric, router, one_at_a_time)));
    }
    let may_crowd = unforeseen && !matches!(metered, Metered::Parties(_));
    if let (SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Auto }), true) = (sharing, may_crowd) {
        let flows = CrowdedFlows::new(fabric, router, one_at_a_time);
        return Built::Other(match metered {
            Metered::Links => Box::new(flows.with_delays(fabric, factor)),
            _ => Box::new(flows),
        });
    }
    let equal_share = || Flows::dense(EqualShare::new, fabric, router, one_at_a_time);
    let max_min = || Flows::dense(MaxMin::new, fabric, router, one_at_a_time);
    match (sharing, metered) {
        (SharingSpec::EqualShare(_), Metered::Nothing) => Built::EqualShare(equal_share()),
        (SharingSpec::EqualShare(_), Metered::Links) => {
            Built::EqualShareDelays(equal_share().with_delays(fabric, factor))
        }
        (SharingSpec::MaxMin(_), Metered::Nothing) => Built::MaxMin(max_min()),
        (SharingSpec::MaxMin(_), Metered::Links) => Built::MaxMinDelays(max_min().with_delays(fabric, factor)),
        (SharingSpec::Redistribute(spec), Metered::Nothing) => {
            let policy = |capacities| Redistribute::new(capacities, *spec.threshold);
            Built::Other(Box::new(Flows::dense(policy, fabric, router, one_at_a_time)))
        }
        _ => boxed(Flows::new(fabric, router, sharing, one_at_a_time)),
    }
}

/// True if a fabric is a torus or mesh whose links are shared by enough routes for groups to be faster.
fn has_long_sides(fabric: &Fabric) -> bool {
    let Some(grid) = fabric.family_as::<Grid>() else { return false };
    let sides = grid.dims.iter().filter(|&&side| side > 1);
    let (sum, count) = sides.fold((0, 0), |(sum, count), side| (sum + side, count + 1));
    let least = LONG_SIDE + LONGER_BY * u32::saturating_sub(count, 2);
    count > 0 && sum >= least * count
}
