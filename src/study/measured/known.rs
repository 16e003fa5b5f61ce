//! Ratios of built-in measured collectives near a run.

use super::algorithms::{Played, played};
use super::machine;
use crate::pattern::{PatternSpec, SizeOf};
use crate::program::{Collective, CollectiveCall, Counts};
use crate::report::KnownAccuracy;
use crate::scenario::Scenario;
use crate::simulation::{ProgramWork, Simulated};
use crate::system::WorkloadSpec;
use crate::units::Bytes;

/// Ratios of predicted to measured time, a line for each scored row.
const RATIOS: &str = include_str!("ratios.csv");
/// Largest factor between the nodes of a run and of a near row.
const NEAR_NODES: f64 = 2.0;
/// Largest factor between the vectors of a run and of a near row.
const NEAR_SIZE: f64 = 4.0;

/// Returns the accuracy of measured rows near a run: the same operation and algorithm, on the machine whose end
/// costs the run has, with up to twice the nodes and four times the size. Returns `None` if there are none.
pub fn known_of<W: Simulated>(scenario: &Scenario<W>, work: &ProgramWork) -> Option<KnownAccuracy> {
    let Some(WorkloadSpec::Pattern(spec)) = &work.spec else { return None };
    let (system, family) = machine::with_node(scenario.system().node())?;
    let (network, topology) = (scenario.network()?, serde_json::to_value(scenario.system().topology()?).ok()?);
    if topology.get(&family).is_none() || !network.transport.is_plain_flow() {
        return None;
    }
    let ranks = work.program.ranks();
    let vector = |size: u64| size.saturating_mul(u64::from(ranks));
    let (operation, bytes, plan) = match (work.program.collectives.first(), spec) {
        (Some(&Collective { call, counts: Counts::Same(size), plan: Some(plan), .. }), _) => {
            let (operation, bytes) = match call {
                CollectiveCall::Bcast => ("bcast", size),
                CollectiveCall::Reduce => ("reduce", size),
                CollectiveCall::Allreduce => ("allreduce", size),
                CollectiveCall::Gather => ("gather", vector(size)),
                CollectiveCall::Scatter => ("scatter", vector(size)),
                CollectiveCall::Allgather => ("allgather", vector(size)),
                CollectiveCall::Alltoall => ("alltoall", vector(size)),
                CollectiveCall::ReduceScatter => ("reduce-scatter", vector(size)),
                _ => return None,
            };
            (operation, bytes, Some(plan))
        }
        (None, PatternSpec::AllToAll(spec)) => {
            let is_vector = spec.size_of.is_some_and(|size_of| *size_of == SizeOf::Vector);
            ("alltoall", if is_vector { spec.size.0 } else { vector(spec.size.0) }, None)
        }
        _ => return None,
    };
    let is_same = |algorithm: &str| match (played(operation, algorithm), plan) {
        (Ok(Played::Collective(own, _)), Some(plan)) => own == plan.algorithm,
        (Ok(Played::AllToAll(own, _)), None) => {
            matches!(spec, PatternSpec::AllToAll(spec) if spec.algorithm.name() == own)
        }
        _ => false,
    };
    let is_near = |a: f64, b: f64, most: f64| (a / b).max(b / a) <= most;
    let mut near: Vec<f64> = RATIOS
        .lines()
        .filter_map(|line| {
            let mut cells = line.split(',');
            let mut next = || cells.next().unwrap_or_default();
            let is_own = next() == system && next() == operation;
            let (algorithm, nodes, size, ratio) = (next(), next().parse().ok()?, next().parse().ok()?, next());
            let is_near = is_near(f64::from(ranks), nodes, NEAR_NODES) && is_near(bytes as f64, size, NEAR_SIZE);
            (is_own && is_near && is_same(algorithm)).then(|| ratio.parse().ok())?
        })
        .collect();
    near.sort_by(f64::total_cmp);
    let (low, high) = (*near.first()?, *near.last()?);
    let (range, rows) = match near.len() {
        1 => (format!("{low:.2}"), "one row".to_owned()),
        rows => (format!("{low:.2} to {high:.2}"), format!("{rows} rows")),
    };
    let measured = format!(
        "{range} of the measured time on `{system}` ({rows} of {operation} with up to {NEAR_NODES} times the \
         nodes and {NEAR_SIZE} times {}, max-min)",
        Bytes(bytes)
    );
    Some(KnownAccuracy {
        model: network.sharing.name().to_owned(),
        measured: Some(measured),
        ..KnownAccuracy::default()
    })
}
