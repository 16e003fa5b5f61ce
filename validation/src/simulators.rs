//! Comparisons with SimGrid: max-min rates, and every completion time of small all-to-alls.

use serde::Deserialize;

use super::setup::{RunChoice, arrivals, flows_on_links, given_routes, name_of, on, relative};
use super::{Case, CaseError, Context, Outcome};
use hayase::units::Time;

const SOURCE: &str = "SimGrid 3.32, CM02 without correction factors, precision 1e-12";

const MAX_MIN: &str = include_str!("../max-min.json");

/// Recorded all-to-alls: name and text.
const ALL_TO_ALL: &[(&str, &str)] = &[
    ("fat-tree-p2-pairwise-random", include_str!("../all-to-all/fat-tree-p2-pairwise-random.json")),
    ("fat-tree-p2-simple-spread-regular", include_str!("../all-to-all/fat-tree-p2-simple-spread-regular.json")),
    ("fat-tree-p3-simple-spread-random", include_str!("../all-to-all/fat-tree-p3-simple-spread-random.json")),
    ("torus-n3-2d-spread-regular", include_str!("../all-to-all/torus-n3-2d-spread-regular.json")),
    ("torus-n3-simple-spread-random", include_str!("../all-to-all/torus-n3-simple-spread-random.json")),
    ("torus-n4-pairwise-regular", include_str!("../all-to-all/torus-n4-pairwise-regular.json")),
    ("torus-n4-simple-spread-random", include_str!("../all-to-all/torus-n4-simple-spread-random.json")),
    ("torus-n5-2d-spread-random", include_str!("../all-to-all/torus-n5-2d-spread-random.json")),
];

#[derive(Deserialize)]
struct Problems {
    problems: Vec<Problem>,
}

/// A sharing problem with its solution.
#[derive(Deserialize)]
struct Problem {
    /// Capacity of each link \[B/s\].
    capacity: Vec<f64>,
    /// Links of each flow.
    flows: Vec<Vec<u32>>,
    /// SimGrid's rates \[B/s\].
    rate: Vec<f64>,
    /// Exact rates, rounded to double \[B/s\].
    rate_exact: Vec<f64>,
}

/// An all-to-all with all its completion times.
#[derive(Deserialize)]
struct Recorded {
    topology: String,
    p: Option<u32>,
    n: Option<u32>,
    algorithm: String,
    #[serde(rename = "bandwidth_Bps")]
    bandwidth_bps: f64,
    makespan_s: f64,
    node_of_rank: Vec<u32>,
    end_s: Vec<Vec<f64>>,
    /// Number of links of `routes`.
    links: Option<usize>,
    /// SimGrid's routes by source and destination node, if ours differ.
    routes: Option<Vec<Vec<Vec<u32>>>>,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("simgrid/max-min-rates", |_| max_min_rates())
            .source(format!("{SOURCE}; progressive filling in rational numbers"))
            .expect(
                "the rates of ten problems, up to 34 links and 67 flows",
                "1e-7 relative to SimGrid, 1e-9 to the exact rates",
            ),
    ];
    cases.extend(ALL_TO_ALL.iter().map(|&(name, text)| {
        Case::new(format!("simgrid/{name}"), move |context| completion_times(context, text))
            .source(SOURCE)
            .expect("when each message arrives", "1e-7 relative")
    }));
    cases
}

fn max_min_rates() -> Result<Outcome, CaseError> {
    let problems = read::<Problems>(MAX_MIN)?.problems;
    let (mut against_simgrid, mut against_exact, mut flows) = (0.0f64, 0.0f64, 0);
    for problem in &problems {
        let links: Vec<(f64, Time)> = problem.capacity.iter().map(|&capacity| (capacity, Time::ZERO)).collect();
        let scenario = flows_on_links(&links, &problem.flows, 20_000)?;
        let rates = scenario.work().rates(scenario.system());
        if rates.len() != problem.flows.len() {
            return Err(format!("{} rates for {} flows", rates.len(), problem.flows.len()));
        }
        for rate in rates {
            let flow = (rate.src / 2) as usize;
            against_simgrid = against_simgrid.max(relative(rate.rate_bps, problem.rate[flow]));
            against_exact = against_exact.max(relative(rate.rate_bps, problem.rate_exact[flow]));
            flows += 1;
        }
    }
    let got = format!("largest difference of {flows} rates: {against_simgrid:.1e}, {against_exact:.1e}");
    Ok(Outcome::check(against_simgrid <= 1e-7 && against_exact <= 1e-9, got))
}

fn completion_times(context: &Context<'_>, text: &str) -> Result<Outcome, CaseError> {
    let recorded: Recorded = read(text)?;
    let pattern = format!("all-to-all-{}", recorded.algorithm);
    let bandwidth = format!("bandwidth=\"{} B/s\"", recorded.bandwidth_bps);
    let (topology, assignments) = match (recorded.topology.as_str(), recorded.p, recorded.n) {
        ("fat-tree", Some(p), _) => {
            ("fat-tree-54", vec![format!("topology.fat-tree.p={p}"), format!("topology.fat-tree.{bandwidth}")])
        }
        (_, _, Some(n)) => (
            "torus-4x4",
            vec![
                format!("topology.torus.dims=[{n}, {n}]"),
                format!("topology.torus.{bandwidth}"),
                "topology.torus.host-link=false".to_string(),
            ],
        ),
        _ => return Err("neither p nor n is given".into()),
    };
    let mut scenario = RunChoice::new(topology, &pattern).load_with(&assignments)?;
    if let (Some(routes), Some(links)) = (&recorded.routes, recorded.links) {
        let pairs = routes
            .iter()
            .zip(0u32..)
            .flat_map(|(row, src)| row.iter().zip(0u32..).map(move |(links, dst)| (src, dst, links.clone())));
        let ranks = scenario.work().pattern.ranks();
        let network = given_routes(ranks, vec![(recorded.bandwidth_bps, Time::ZERO); links], pairs)?;
        scenario = on(network, scenario.work().clone())?;
    }
    let scenario = scenario.with_nodes(&recorded.node_of_rank).ok_or("the ranks do not fit their nodes")?;
    let (run, ends) = arrivals(context, &scenario)?;
    let mut worst = (0.0f64, String::new());
    let mut messages = 0;
    for (src, (ours, theirs)) in ends.iter().zip(&recorded.end_s).enumerate() {
        if ours.len() != theirs.len() {
            return Err(format!("rank {src} sends {} messages, {} are recorded", ours.len(), theirs.len()));
        }
        for (index, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
            messages += 1;
            let difference = relative(ours, theirs);
            // A message that never arrived is NaN: it must not pass unnoticed.
            if difference.is_nan() || difference > worst.0 {
                worst = (if difference.is_nan() { f64::INFINITY } else { difference }, name_of(src, index));
            }
        }
    }
    let makespan = relative(run.report.head.makespan_s, recorded.makespan_s);
    let (worst, place) = worst;
    let got = format!("largest difference of {messages} times: {worst:.1e}; makespan {makespan:.1e}");
    let note = if worst > 1e-7 { format!("at {place}") } else { String::new() };
    Ok(Outcome::check(worst <= 1e-7 && makespan <= 1e-7 && ends.len() == recorded.end_s.len(), got).note(note))
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, CaseError> {
    serde_json::from_str(text).map_err(|error| format!("data of the case: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recorded_data_reads_and_is_whole() {
        for problem in read::<Problems>(MAX_MIN).unwrap().problems {
            assert_eq!(problem.rate.len(), problem.flows.len());
            assert_eq!(problem.rate_exact.len(), problem.flows.len());
            assert!(problem.flows.iter().flatten().all(|&link| (link as usize) < problem.capacity.len()));
        }
        for (name, text) in ALL_TO_ALL {
            let recorded: Recorded = read(text).unwrap();
            let ranks = recorded.node_of_rank.len();
            assert_eq!(recorded.end_s.len(), ranks, "{name}");
            assert!(recorded.end_s.iter().all(|row| row.len() == ranks - 1), "{name}");
            let last = recorded.end_s.iter().flatten().copied().fold(0.0, f64::max);
            assert!(relative(last, recorded.makespan_s) < 1e-7, "{name}");
            assert_eq!(recorded.routes.is_some(), recorded.n.is_some_and(|n| n.is_multiple_of(2)), "{name}");
        }
    }

    #[test]
    fn every_recorded_file_has_a_case() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/all-to-all");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(files, ALL_TO_ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
