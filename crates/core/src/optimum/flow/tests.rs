//! Tests of the optimum of a demand over all routings.
use super::*;

mod fabrics;
mod properties;
mod references;

/// Network and the demand on it.
pub(super) struct Case {
    pub links: Links,
    pub demand: Demand,
    /// Bound of the ports of the nodes \[s\].
    pub floor: f64,
}

pub(super) fn run(case: &Case, gap: f64, floor: f64) -> Optimum {
    solve(&case.links, &case.demand, &Options { gap, floor, seed: 1 }, &mut |_, _| true).unwrap()
}

/// Checks all that holds for each optimum.
pub(super) fn check(case: &Case, optimum: &Optimum) {
    let Case { links, demand, .. } = case;
    assert!(optimum.at_least <= optimum.reached * (1.0 + 1e-9), "{} {}", optimum.at_least, optimum.reached);
    let proven = optimum.certificate.value(links, demand);
    assert!((proven - optimum.at_least).abs() <= 1e-9 * proven);
    let busiest = optimum.total.iter().zip(links.capacity()).map(|(f, c)| f / c).fold(0.0, f64::max);
    assert_eq!(busiest, optimum.reached);
}
