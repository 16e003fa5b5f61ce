//! Best possible times and schedules near them, beside a linear program, published figures and closed forms
//! (`docs/concepts/optimum.md`).

use super::fabrics::{Point, judge};
use super::setup::{MESSAGE_S, RunChoice, relative};
use super::{Case, CaseError, Context, Outcome};
use hayase::optimum::flow::{Demand, Links, Options, solve};
use hayase::optimum::trees::{Graph, Ratio, bound, broadcast_bound, with_trees};
use hayase::scenario::Loader;
use hayase::study::schedule::{Method, PlanOperation, Request, schedule};
use serde::Deserialize;

/// Optima of a linear program, with the network and demand of each.
const LINEAR_PROGRAM: &str = include_str!("../optimum/linear-program.jsonl");
/// Bounds of operations on trees as exact fractions, with their graphs.
const FOREST: &str = include_str!("../optimum/forest.jsonl");
/// Largest gap of the searches.
const GAP: f64 = 0.01;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("optimum/linear-program", linear_program)
            .source("a linear program over all routings (HiGHS)")
            .expect("24 optima between our two bounds, ports and links apart", "bounds 1 % apart")
            .takes(1, 1),
        Case::new("optimum/forest", forest)
            .source("enumeration of all cuts, and maximum flows, outside of Hayase")
            .expect("all-gather and broadcast of 32 fabrics, as fractions, with trees of a root", "none")
            .takes(1, 1),
        Case::new("optimum/two-boxes-of-mi250", mi250)
            .source("ForestColl (arXiv 2402.06787)")
            .expect("all-gather: 354.13 GB/s with 83 trees of each rank; 320 with 1, 347.8 with 5", "0.05 GB/s")
            .takes(2, 2),
        Case::new("optimum/coloured-routes", coloured_routes)
            .source("edge colouring: each round is a permutation on links of its own")
            .expect("all-to-all on trees, any subset of the nodes, with late starts of 1 us: 1 injection time", "0.5 %")
            .takes(3, 20),
        Case::new("optimum/rounds-under-barriers", rounds)
            .source("sum over rounds of the largest load of a link")
            .expect("the makespan of each order of an all-to-all with barriers", "1e-9 relative")
            .takes(1, 10),
    ]
}

/// Network and demand with its optimum.
#[derive(Deserialize)]
struct Program {
    name: String,
    optimum_s: f64,
    links_s: f64,
    host_port_s: f64,
    switches: usize,
    host_switch: Vec<u32>,
    links: Vec<(u32, u32, f64)>,
    /// Bytes between hosts; one from each to each other one if absent.
    demand: Option<Vec<Vec<f64>>>,
}

/// Reads lines of JSON.
fn lines<'a, T: Deserialize<'a>>(text: &'a str) -> Result<Vec<T>, CaseError> {
    text.lines().map(|line| serde_json::from_str(line).map_err(|mistake| mistake.to_string())).collect()
}

fn linear_program(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let (mut bad, mut widest, mut exact) = (Vec::new(), 0.0_f64, 0);
    let programs: Vec<Program> = lines(LINEAR_PROGRAM)?;
    for program in &programs {
        let bytes = |from: usize, to: usize| match &program.demand {
            Some(bytes) => bytes[from][to],
            None => f64::from(u8::from(from != to)),
        };
        let at = |host: usize| program.host_switch[host];
        let hosts = program.host_switch.len();
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        let demand = Demand::new(program.switches, pairs.map(|(from, to)| (at(from), at(to), bytes(from, to))));
        let links = Links::new(vec![true; program.switches], &program.links);
        for (floor, expected) in [(0.0, program.links_s), (program.host_port_s, program.optimum_s)] {
            let options = Options { gap: GAP, floor, seed: 1 };
            let found = solve(&links, &demand, &options, &mut |_, _| true).map_err(|error| format!("{error:?}"))?;
            let (low, high) = (found.at_least.max(floor), found.reached.max(floor));
            widest = widest.max(high / low - 1.0);
            exact += u32::from(found.is_exact);
            if low > expected * (1.0 + 1e-6) || high < expected * (1.0 - 1e-6) || high > low * (1.0 + GAP + 1e-9) {
                bad.push(format!("{}: {low} to {high} s, expected {expected}", program.name));
            }
        }
    }
    let searches = 2 * programs.len();
    let got =
        format!("{} of {searches} between bounds, {exact} of them exact; widest {widest:.4}", searches - bad.len());
    Ok(Outcome::check(bad.is_empty(), got).note(bad.join("\n")))
}

/// Fabric with the bounds of operations on trees.
#[derive(Deserialize)]
struct Fabric {
    name: String,
    allgather_s: String,
    broadcast_rank0_s: String,
    trees_per_root: u64,
    compute: u32,
    switches: u32,
    links: Vec<(u32, u32, u64)>,
}

impl Fabric {
    fn graph(&self) -> Graph {
        Graph { compute: self.compute, vertices: self.compute + self.switches, links: self.links.clone() }
    }
}

/// Returns a bound in the form of the references: `15/4`.
fn fraction(ratio: Ratio) -> String {
    match ratio.denominator {
        1 => ratio.numerator.to_string(),
        denominator => format!("{}/{denominator}", ratio.numerator),
    }
}

fn forest(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let fabrics: Vec<Fabric> = lines(FOREST)?;
    let mut bad = Vec::new();
    for fabric in &fabrics {
        let said = |error| format!("{}: {error:?}", fabric.name);
        let graph = fabric.graph();
        let gather = bound(&graph, &mut |_| true).map_err(said)?;
        let broadcast = broadcast_bound(&graph, 0, &mut |_| true).map_err(said)?;
        let got = (fraction(gather.time), fraction(broadcast), gather.trees_per_root);
        let expected = (fabric.allgather_s.clone(), fabric.broadcast_rank0_s.clone(), fabric.trees_per_root);
        if got != expected {
            bad.push(format!("{}: {got:?}, expected {expected:?}", fabric.name));
        }
    }
    let got = format!("{} of {} fabrics equal", fabrics.len() - bad.len(), fabrics.len());
    Ok(Outcome::check(bad.is_empty() && !fabrics.is_empty(), got).note(bad.join("\n")))
}

fn mi250(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let fabrics: Vec<Fabric> = lines(FOREST)?;
    let inner = fabrics.iter().find(|fabric| fabric.name == "mi250-1x16").ok_or("no box of MI250")?;
    let mut links = Vec::new();
    for first in [0, 16] {
        links.extend(inner.links.iter().map(|&(from, to, bandwidth)| (from + first, to + first, bandwidth)));
        links.extend((first..first + 16).flat_map(|die| [(die, 32, 16), (32, die, 16)]));
    }
    let graph = Graph { compute: 32, vertices: 33, links };
    let said = |error| format!("{error:?}");
    let best = bound(&graph, &mut |_| true).map_err(said)?;
    let bandwidth = |time: Ratio| 32.0 / time.value();
    let what = |trees| format!("{trees} trees of each rank [GB/s]");
    let mut points = vec![
        Point { what: what(83), expected: 354.13, got: bandwidth(best.time) },
        Point { what: "number of trees of the optimum".into(), expected: 83.0, got: best.trees_per_root as f64 },
    ];
    for (trees, expected) in [(1, 320.0), (5, 347.8)] {
        let forest = with_trees(&graph, trees, &mut |_| true).map_err(said)?;
        let time = forest.verified_time(&graph).ok_or("trees that do not span, or overload a link")?;
        points.push(Point { what: what(trees), expected, got: bandwidth(time) });
    }
    Ok(judge(&points, 0.05, false))
}

fn coloured_routes(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let runs = match context.choose(false, true) {
        false => vec![("fat-tree-54", 54), ("fat-tree-54", 41), ("fat-tree-128", 101)],
        true => vec![("fat-tree-54", 41), ("fat-tree-432", 432), ("fat-tree-432", 400)],
    };
    let points = context.run_parts(runs, |(topology, ranks)| {
        let base = Loader::new().topology(topology).placement("random").seed(1);
        let request = Request {
            method: Method::Colour,
            size: 20_000,
            ranks: Some(ranks),
            jitter: Some(hayase::units::Time::from_seconds(1e-6)),
            ..Request::of(PlanOperation::AllToAll)
        };
        let made = schedule(&base, &request, Default::default()).map_err(|mistake| mistake.to_string())?;
        let time = made.report.simulated_jitter_s.ok_or("the plan was not simulated")?;
        let what = format!("{ranks} ranks on {topology}");
        Ok(Point { what, expected: 1.0, got: time / (f64::from(ranks - 1) * MESSAGE_S) })
    })?;
    Ok(judge(&points, 0.005, true))
}

fn rounds(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let fabrics = context.choose(&["fat-tree-54", "torus-4x4"][..], &["fat-tree-432", "torus-8x8x8"][..]);
    let mut runs = Vec::new();
    for &topology in fabrics {
        for placement in ["regular", "random"] {
            runs.push((topology, placement));
        }
    }
    let rows = context.run_parts(runs, |(topology, placement)| {
        let choice =
            RunChoice { placement, injection: "barrier", ..RunChoice::new(topology, "all-to-all-simple-spread") };
        let run = |order: &str| choice.load_with(&[format!("workload.all-to-all.order={order}")]);
        let tried = super::setup::run(context, &run("auto")?)?.report.order.ok_or("no order was chosen")?.rounds;
        let mut lines = Vec::new();
        for (order, expected) in tried {
            let got = super::setup::run(context, &run(&order)?)?.report.head.makespan_s;
            lines.push((
                relative(got, expected),
                format!("{topology}, {placement}, {order}: {got}, expected {expected}"),
            ));
        }
        Ok(lines)
    })?;
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let bad: Vec<_> =
        rows.iter().filter(|(off, _)| off.total_cmp(&1e-9).is_gt()).map(|(_, line)| line.as_str()).collect();
    let got = format!("{} of {} makespans equal", rows.len() - bad.len(), rows.len());
    Ok(Outcome::check(bad.is_empty() && rows.len() > 8, got).note(bad.join("\n")))
}
