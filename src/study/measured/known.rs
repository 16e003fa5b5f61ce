//! Ratios of built-in measured collectives near a run.

use super::algorithms::{Played, played};
use super::machine;
use crate::collective::Operation;
use crate::pattern::{AllToAll, PatternSpec};
use crate::scenario::Scenario;
use crate::simulation::{PatternWork, Simulated};
use crate::units::Bytes;

/// Ratios of predicted to measured time, a line for each scored row.
const RATIOS: &str = include_str!("ratios.csv");
/// Largest factor between the nodes of a run and of a near row.
const NEAR_NODES: f64 = 2.0;
/// Largest factor between the vectors of a run and of a near row.
const NEAR_SIZE: f64 = 4.0;

/// Returns a sentence on the measured rows near a run: the same operation and algorithm, on the machine whose end
/// costs the run has, with up to twice the nodes and four times the size. Returns `None` if there are none.
pub fn known_of<W: Simulated>(scenario: &Scenario<W>, work: &PatternWork) -> Option<String> {
    let (system, family) = machine::with_node(scenario.system().node())?;
    if scenario.network()?.fabric.family().facts().0 != family {
        return None;
    }
    let (operation, bytes) = match (work.pattern.call(), work.pattern_spec()) {
        (Some((call, _)), _) => {
            let operation = match call.collective {
                Operation::ReduceScatterBlock => Operation::ReduceScatter,
                other => other,
            };
            (operation, call.total())
        }
        (None, Some(PatternSpec::AllToAll(_))) => {
            let ranks = u64::from(work.pattern.ranks());
            (Operation::Alltoall, work.pattern.mean_bytes().saturating_mul(ranks))
        }
        _ => return None,
    };
    let ranks = f64::from(work.pattern.ranks());
    let is_same = |algorithm: &str| match (played(operation.name(), algorithm), work.pattern.call()) {
        (Ok(Played::Collective(own, _)), Some((_, plan))) => own == plan.algorithm,
        (Ok(Played::AllToAll(own, _)), None) => {
            matches!(work.pattern_spec(), Some(PatternSpec::AllToAll(spec)) if AllToAll::name(*spec.algorithm) == own)
        }
        _ => false,
    };
    let is_near = |a: f64, b: f64, most: f64| (a / b).max(b / a) <= most;
    let mut near: Vec<f64> = RATIOS
        .lines()
        .filter_map(|line| {
            let mut cells = line.split(',');
            let mut next = || cells.next().unwrap_or_default();
            let is_own = next() == system && next() == operation.name();
            let (algorithm, nodes, size, ratio) = (next(), next().parse().ok()?, next().parse().ok()?, next());
            let is_near = is_near(ranks, nodes, NEAR_NODES) && is_near(bytes as f64, size, NEAR_SIZE);
            (is_own && is_near && is_same(algorithm)).then(|| ratio.parse().ok())?
        })
        .collect();
    near.sort_by(f64::total_cmp);
    let (low, high) = (*near.first()?, *near.last()?);
    let rows = match near.len() {
        1 => "one row".to_owned(),
        rows => format!("{rows} rows"),
    };
    Some(format!(
        "{low:.2} to {high:.2} of the measured time on `{system}` ({rows} of {} with up to {NEAR_NODES} times the nodes \
         and {NEAR_SIZE} times {}, max-min)",
        operation.name(),
        Bytes(bytes)
    ))
}
