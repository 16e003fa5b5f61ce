//! Steady traffic, simulated and by load counting (`docs/concepts/bounds.md`).

use super::context::RunObserver;
use super::fabrics::{Point, dragonfly, judge, load_fabric};
use super::{Case, CaseError, Context, Outcome};
use hayase::scenario::RoutedFabric;
use hayase::steady::steady;
use hayase::steady::{Steady, SteadyOptions};
use hayase::steady::{Traffic, throughput};

/// A fabric, a rule, traffic, and the number of messages that each node keeps under way.
type Run = (String, &'static str, Traffic, u32);

pub(super) fn cases() -> Vec<Case> {
    let source = "load counting: 1 / the largest load";
    vec![
        Case::new("fabrics/simulated-minimal", |context| beside_loads(context, minimal(context)))
            .source(source)
            .expect("the throughput of simulated steady traffic under minimal routes", "2 %")
            .takes(1, 60),
        Case::new("fabrics/simulated-valiant", |context| beside_loads(context, valiant(context)))
            .source(source)
            .expect("the throughput of simulated steady traffic over a random group or switch", "2 %")
            .takes(2, 120),
        Case::new("fabrics/ugal-beside-the-best-mix", ugal)
            .source("the best mix of minimal and Valiant in one proportion for all, by load counting")
            .expect("UGAL-L, UGAL-G and the progressive rule: at least 0.9 of it", "none: a bound from below")
            .takes(1, 120),
    ]
}

fn slim_fly(q: u32) -> String {
    format!("[topology.slim-fly]\nq = {q}\nbandwidth = \"1 GB/s\"\n")
}

fn minimal(context: &Context<'_>) -> Vec<Run> {
    let hyperx = "[topology.hyperx]\nshape = [4, 4]\nnodes = 4\nbandwidth = \"1 GB/s\"\n".to_owned();
    let mut runs = vec![
        (dragonfly(2, "palmtree"), "minimal", Traffic::Adversarial(1), 8),
        (dragonfly(2, "circulant"), "minimal", Traffic::Adversarial(2), 8),
        (hyperx, "family", Traffic::Adversarial(1), 8),
    ];
    if context.choose(false, true) {
        runs.push((dragonfly(4, "absolute"), "minimal", Traffic::Adversarial(1), 8));
        runs.push((slim_fly(5), "ecmp", Traffic::Uniform, 128));
        runs.push((dragonfly(2, "palmtree"), "minimal", Traffic::Uniform, 128));
    }
    runs
}

fn valiant(context: &Context<'_>) -> Vec<Run> {
    let mut runs = vec![
        (dragonfly(2, "palmtree"), "valiant-groups", Traffic::Adversarial(1), 96),
        (dragonfly(2, "palmtree"), "valiant-groups", Traffic::Adversarial(2), 96),
    ];
    if context.choose(false, true) {
        runs.push((dragonfly(2, "absolute"), "valiant-groups", Traffic::Uniform, 128));
        runs.push((dragonfly(2, "relative"), "valiant-switches", Traffic::Adversarial(1), 128));
    }
    runs
}

/// Simulates steady traffic, unless the observer ends it.
fn simulated(
    context: &Context<'_>,
    routed: &RoutedFabric,
    traffic: &Traffic,
    under_way: u32,
) -> Result<Steady, CaseError> {
    let rounds = context.choose(10, 20);
    let options = SteadyOptions { under_way, warm_up: rounds / 2, rounds, ..SteadyOptions::default() };
    let watch = RunObserver::new(context);
    steady(&routed.network(), traffic, &options, Some(&watch)).map_err(|mistake| mistake.message)
}

/// Returns the approximate number of messages of such a run.
fn messages(context: &Context<'_>, nodes: u32, under_way: u32) -> u64 {
    u64::from(nodes) * u64::from(under_way) * context.choose(15, 30)
}

fn beside_loads(context: &Context<'_>, runs: Vec<Run>) -> Result<Outcome, CaseError> {
    let points = context.run_parts(runs, |(topology, rule, traffic, under_way)| {
        let routed = load_fabric(&topology, rule)?;
        context.plan(messages(context, routed.fabric.nodes(), under_way));
        let counted = throughput(&routed.fabric, &*routed.router, &traffic, [1]).map_err(|mistake| mistake.message)?;
        let got = simulated(context, &routed, &traffic, under_way)?;
        let what =
            format!("{}, {rule}, {traffic:?}, {under_way} under way, +- {:.4}", routed.fabric.name(), got.half_width);
        Ok(Point { what, expected: counted.throughput, got: got.throughput })
    })?;
    Ok(judge(&points, 0.02, true))
}

fn ugal(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut runs = Vec::new();
    for &h in context.choose(&[2][..], &[2, 3][..]) {
        for k in [1, h] {
            for rule in ["ugal-l", "ugal-g", "progressive"] {
                runs.push((h, rule, Traffic::Adversarial(k), 16));
            }
        }
    }
    let rows = context.run_parts(runs, |(h, rule, traffic, under_way)| {
        let routed = load_fabric(&dragonfly(h, "palmtree"), rule)?;
        context.plan(messages(context, routed.fabric.nodes(), under_way));
        let fluid = load_fabric(&dragonfly(h, "palmtree"), "fluid")?;
        let best = throughput(&fluid.fabric, &*fluid.router, &traffic, [1]).map_err(|mistake| mistake.message)?;
        let got = simulated(context, &routed, &traffic, under_way)?;
        let ratio = got.throughput / best.throughput;
        let line = format!("h = {h}, {rule}, {traffic:?}: {:.4}, {ratio:.3} of the best mix", got.throughput);
        Ok((ratio, line))
    })?;
    let least = rows.iter().map(|(ratio, _)| *ratio).fold(f64::INFINITY, f64::min);
    let lines: Vec<String> = rows.into_iter().map(|(_, line)| line).collect();
    Ok(Outcome::check(least >= 0.9, format!("at least {least:.3} of it")).note(lines.join("\n")))
}
