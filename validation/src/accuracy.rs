//! Errors that every run states for itself, compared with cases outside of the map they come from.

use super::setup::run;
use super::{Case, CaseError, Context, Outcome};
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::PatternWork;
use hayase::sweep::accuracy::known_of;

/// Fabrics that are not in the map.
const FABRICS: [&str; 6] = [
    "torus:dims=[6,6],bandwidth=1 GB/s",
    "torus:dims=[4,9],bandwidth=1 GB/s",
    "mesh:dims=[6,7],bandwidth=1 GB/s",
    "fat-tree:p=2,bandwidth=1 GB/s",
    "fat-tree:down=[4,9],up=[1,4],bandwidth=1 GB/s",
    "crossbar:nodes=30,bandwidth=1 GB/s",
];

/// Patterns, and settings that make them long enough to be a load.
const PATTERNS: [(&str, &str); 5] = [
    ("all-to-all-simple-spread", "seed=1"),
    ("all-to-all-random-order", "seed=1"),
    ("uniform-random", "workload.uniform-random.messages=30"),
    ("random-permutation", "workload.permutation.rounds=8"),
    ("incast", "workload.incast.messages=4"),
];

const SIZES: [&str; 3] = ["15 KB", "40 KB", "200 KB"];

const PLACEMENTS: [&str; 2] = ["regular", "random"];

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("packet/errors-lie-where-the-map-says", ranges)
            .source("the range against input-queued switches that `run` prints, on fabrics and sizes outside the map")
            .expect("95 of 100 makespans of max-min and blocking are within their range", "90 of 100")
            .takes(5, 40),
    ]
}

fn ranges(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut parts = Vec::new();
    for fabric in FABRICS {
        for pattern in PATTERNS {
            for (place, size) in SIZES.into_iter().take(context.choose(2, 3)).enumerate() {
                // Sizes take turns with the placement.
                parts.push((fabric, pattern, size, PLACEMENTS[(place + parts.len()) % 2]));
            }
        }
    }
    let found = context.run_parts(parts, |(fabric, pattern, size, placement)| {
        let load = |key: &str, value: &str| -> Result<Scenario<PatternWork>, CaseError> {
            let loader = Loader::new().topology(fabric).pattern(pattern.0).placement(placement).size(size);
            let loader = loader.set("validation", pattern.1).jitter("1.5 us");
            let assignment = format!("{key}={value}");
            let name = format!("{fabric}, {}, {size}", pattern.0);
            loader.set("validation", &assignment).load_pattern().map_err(|invalid| format!("{name}: {invalid}"))
        };
        let packets = run(context, &load("transport", "packet:iq")?)?.report.head.makespan_s;
        let mut found = Vec::new();
        for sharing in ["max-min", "blocking"] {
            let flows = load("sharing", sharing)?;
            let error = run(context, &flows)?.report.head.makespan_s / packets - 1.0;
            let known = known_of(&flows, flows.work()).ok_or("nothing is said of the accuracy of flows")?;
            let range =
                known.against.into_iter().find(|range| range.model == sharing && range.switches == "input-queued");
            let Some(range) = range else { continue };
            let holds = (range.low - 0.005..=range.high + 0.005).contains(&error);
            let (low, high) = (100.0 * range.low, 100.0 * range.high);
            found.push((
                holds,
                format!(
                    "{fabric}, {}, {size}, {placement}, {sharing}: {:+.0} %, said {low:+.0} to {high:+.0} %",
                    pattern.0,
                    100.0 * error
                ),
            ));
        }
        Ok(found)
    })?;
    let found: Vec<(bool, String)> = found.into_iter().flatten().collect();
    let within = found.iter().filter(|(holds, _)| *holds).count();
    let outside: Vec<&str> = found.iter().filter(|(holds, _)| !holds).map(|(_, text)| text.as_str()).collect();
    let good = 10 * within >= 9 * found.len() && found.len() >= 40;
    Ok(Outcome::check(good, format!("{within} of {} are", found.len())).note(outside.join("\n")))
}
