//! Modern fabrics: throughput by load counting, compared with closed forms and with a brute-force count over
//! all pairs; and the same throughput from simulated traffic (`docs/concepts/bounds.md`).

use std::sync::Arc;

use super::{Case, CaseError, Context, Outcome};
use hayase::fabric::Fabric;
use hayase::ids::NodeId;
use hayase::routing::RoutingSpec;
use hayase::scenario::{Loader, RoutedFabric};
use hayase::steady::{Throughput, Traffic, throughput};

/// Relative tolerance of exact values: sums of doubles.
const EXACT: f64 = 1e-9;

/// Source of values without a closed form.
const COUNTED: &str = "all pairs counted by brute force from the definition of the fabric, outside of Hayase";

/// Arrangements that have one cable for each pair of groups.
pub(super) const ARRANGEMENTS: [&str; 4] = ["absolute", "relative", "palmtree", "circulant"];

pub(super) fn cases() -> Vec<Case> {
    let closed = "count of the messages over the busiest link, by hand";
    let exact = "1e-9 relative";
    vec![
        Case::new("fabrics/dragonfly-uniform-minimal", uniform_minimal).source(closed).expect(
            "loads at full bandwidth: local (1 + 2ha) p^2 / (N-1), global (ap)^2 / (N-1): 0.95775, 0.90141 (h = 2), \
                 0.98578, 0.97062 (h = 4)",
            exact,
        ),
        Case::new("fabrics/dragonfly-adversarial-minimal", adversarial_minimal).source(closed).expect(
            "ADV+1, ADV+h, ADV+ah: L/(ap) with L cables for each pair of groups: 0.125 (h = 2), 0.03125 (h = 4)",
            exact,
        ),
        Case::new("fabrics/dragonfly-adversarial-valiant", adversarial_valiant)
            .source(closed)
            .expect("ADV+1 over groups: (g-2)/(2ap): 0.4375, 0.484375", exact),
        Case::new("fabrics/dragonfly-adversarial-h-valiant", adversarial_h_valiant)
            .source(closed)
            .expect("ADV+h over groups: (g-2)/((h+1)ap), a local link holds it back: 0.291667, 0.193750", exact),
        Case::new("fabrics/dragonfly-circulant-valiant", circulant_valiant)
            .source(COUNTED)
            .expect("ADV+h over groups with circulant cables: 0.4375 (h = 2), 0.3229 (h = 4)", "5e-5"),
        Case::new("fabrics/dragonfly-valiant-switches", valiant_switches)
            .source(COUNTED)
            .expect("any ADV over switches, h = 2: 0.4375", exact),
        Case::new("fabrics/dragonfly-uniform-valiant", uniform_valiant)
            .source(COUNTED)
            .expect("uniform over groups, h = 2: 0.55469", "5e-6"),
        Case::new("fabrics/dragonfly-best-mix", best_mix)
            .source("closed forms of minimal and Valiant mixed; absolute cables by brute force")
            .expect(
                "ADV+1: g/(2ap) with a minimal share of 2/g: 0.5625, 0.515625; absolute 0.5 (h = 2). ADV+h, palmtree: \
                 (g+h-1)/((h+1)ap): 0.4167, 0.2250 (0.2248 by a search over shares)",
                exact,
            ),
        Case::new("fabrics/frontier-uniform-minimal", |_: &Context<'_>| {
            global_bound("frontier", 4.0 * 37_887.0 / (512.0 * 512.0))
        })
        .source("a node's share of the cables between groups: L (N-1) / (ap)^2, L = 4, N = 37,888")
        .expect("all-to-all, minimal: 0.5781", exact),
        Case::new("fabrics/dragonfly-plus-uniform-minimal", |_: &Context<'_>| {
            global_bound("dragonfly-plus-8448", 8.0 * 8_447.0 / (256.0 * 256.0))
        })
        .source("the same with 8 cables for each pair of groups, N = 8,448")
        .expect("bound by cables between groups: 1.031", exact),
        Case::new("fabrics/slim-fly-uniform", slim_fly_uniform)
            .source(format!("{COUNTED}; 199/208 for q = 5"))
            .expect("in equal parts over shortest paths: 0.9567 (q = 5), 0.9249 (9), 0.9073 (17), 0.8751 (19)", "5e-5")
            .takes(1, 3),
        Case::new("fabrics/slim-fly-distance", slim_fly_distance)
            .source("diameter 2: (k' + 2 (2q^2 - 1 - k')) / (2q^2 - 1)")
            .expect("mean distance of switches: 1.8571 (q = 5), 1.9598 (q = 19)", exact),
        Case::new("fabrics/hyperx-uniform", hyperx_uniform).source(closed).expect(
            "load of dimension i at full bandwidth: T^2 times the sizes of the others / (N-1): 1.0020 (8 x 8, T = 8), \
                 0.5842 and 0.8763 (12 x 8, T = 7)",
            exact,
        ),
        Case::new("fabrics/effective-bisection", effective_bisection)
            .source(format!("{COUNTED}; the measure of T. Hoefler et al., Cluster 2008"))
            .expect(
                "full-bisection trees of 1,024 and 3,456 nodes, D-mod-k: 0.703, 0.686; both directions 0.526, 0.511; \
                 hashed: 0.557, 0.541; both directions 0.403, 0.389",
                "0.01",
            )
            .takes(2, 20),
    ]
}

/// One of several values.
pub(super) struct Point {
    pub what: String,
    pub expected: f64,
    pub got: f64,
}

/// Passes if all values are within `tolerance`, relative or not; the note lists them, or those that are not.
pub(super) fn judge(points: &[Point], tolerance: f64, is_relative: bool) -> Outcome {
    let off = |point: &Point| {
        let off = (point.got - point.expected).abs();
        if is_relative { off / point.expected.abs() } else { off }
    };
    let bad: Vec<&Point> = points.iter().filter(|point| off(point).total_cmp(&tolerance).is_gt()).collect();
    let worst = points.iter().map(off).fold(0.0, f64::max);
    let told = if bad.is_empty() { points.iter().collect() } else { bad.clone() };
    let line = |point: &&Point| format!("{}: {:.6}, expected {:.6}", point.what, point.got, point.expected);
    let note: Vec<String> = told.iter().map(line).collect();
    let got = format!("{} of {} values, largest difference {worst:.1e}", points.len() - bad.len(), points.len());
    Outcome::check(bad.is_empty() && !points.is_empty(), got).note(note.join("\n"))
}

/// Builds a fabric with a rule, by its name or from the text of its topology.
pub(super) fn load_fabric(topology: &str, rule: &str) -> Result<RoutedFabric, CaseError> {
    let loader = match topology.starts_with('[') {
        true => Loader::new().text("fabric", topology),
        false => Loader::new().topology(topology),
    };
    loader.routing(rule).load_topology().map_err(|invalid| format!("{topology}: {invalid}"))
}

fn built(topology: &str) -> Result<Arc<Fabric>, CaseError> {
    Ok(load_fabric(topology, "minimal")?.fabric)
}

/// Counts loads of steady traffic on a fabric under a rule, over a number of seeds.
fn counted(fabric: &Arc<Fabric>, rule: &str, traffic: &Traffic, seeds: u64) -> Result<Throughput, CaseError> {
    let rule = RoutingSpec::parse_name(rule).map_err(|mistake| mistake.message)?;
    let router =
        rule.build(fabric, 1).map_err(|mistakes| mistakes.iter().map(|m| m.message.as_str()).collect::<String>())?;
    throughput(fabric, &*router, traffic, 1..=seeds).map_err(|mistake| mistake.message)
}

fn theta(fabric: &Arc<Fabric>, rule: &str, traffic: &Traffic) -> Result<f64, CaseError> {
    Ok(counted(fabric, rule, traffic, 1)?.throughput)
}

fn load(counted: &Throughput, kind: &str) -> f64 {
    counted.largest_load.get(kind).copied().unwrap_or(f64::NAN)
}

/// Returns the topology of the canonical dragonfly: a = 2p = 2h, g = ah + 1.
pub(super) fn dragonfly(h: u32, arrangement: &str) -> String {
    format!("[topology.dragonfly]\np = {h}\narrangement = \"{arrangement}\"\nbandwidth = \"1 GB/s\"\n")
}

/// Returns the nodes of a group and the groups of the canonical dragonfly.
fn canonical(h: u32) -> (f64, f64) {
    (f64::from(2 * h * h), f64::from(2 * h * h + 1))
}

/// Evaluates each canonical dragonfly and arrangement (circulant cables need an even h).
fn each_dragonfly(
    context: &Context<'_>,
    mut points: impl FnMut(u32, &str, &Arc<Fabric>, &mut Vec<Point>) -> Result<(), CaseError>,
) -> Result<Vec<Point>, CaseError> {
    let mut all = Vec::new();
    for &h in context.choose(&[2, 3, 4][..], &[2, 3, 4, 5, 6][..]) {
        for arrangement in ARRANGEMENTS.into_iter().filter(|&name| name != "circulant" || h % 2 == 0) {
            points(h, arrangement, &built(&dragonfly(h, arrangement))?, &mut all)?;
        }
    }
    Ok(all)
}

fn uniform_minimal(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let points = each_dragonfly(context, |h, arrangement, fabric, points| {
        let (group, g) = canonical(h);
        let (p, others) = (f64::from(h), group * g - 1.0);
        let counted = counted(fabric, "minimal", &Traffic::Uniform, 1)?;
        let local = p * p * (1.0 + 2.0 * p * 2.0 * p) / others;
        for (kind, expected) in [("local", local), ("global", group * group / others)] {
            points.push(Point { what: format!("h = {h}, {arrangement}, {kind}"), expected, got: load(&counted, kind) });
        }
        Ok(())
    })?;
    Ok(judge(&points, EXACT, true))
}

fn adversarial_minimal(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = each_dragonfly(context, |h, arrangement, fabric, points| {
        let (group, _) = canonical(h);
        for k in [1, h, 2 * h * h] {
            let got = theta(fabric, "minimal", &Traffic::Adversarial(k))?;
            points.push(Point { what: format!("h = {h}, {arrangement}, ADV+{k}"), expected: 1.0 / group, got });
        }
        Ok(())
    })?;
    // Half as many groups, with several cables for each pair: packet spraying uses all of them alike.
    for (p, a, h, g) in [(2, 4, 2, 5), (3, 6, 4, 9), (4, 8, 4, 17)] {
        let text = format!("[topology.dragonfly]\np = {p}\na = {a}\nh = {h}\ng = {g}\nbandwidth = \"1 GB/s\"\n");
        let got = counted(&built(&text)?, "minimal", &Traffic::Adversarial(1), 1)?;
        let cables = f64::from(a * h / (g - 1));
        // An upper bound: the cable that a pair of switches takes is drawn, or is the nearest.
        let what = format!("p = {p}, a = {a}, h = {h}, g = {g}: at most {}", cables / f64::from(a * p));
        let most = cables / f64::from(a * p) * (1.0 + EXACT);
        points.push(Point { what, expected: 1.0, got: if got.throughput <= most { 1.0 } else { got.throughput } });
    }
    Ok(judge(&points, EXACT, true))
}

fn adversarial_valiant(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let points = each_dragonfly(context, |h, arrangement, fabric, points| {
        let (group, g) = canonical(h);
        let got = theta(fabric, "valiant-groups", &Traffic::Adversarial(1))?;
        points.push(Point { what: format!("h = {h}, {arrangement}"), expected: (g - 2.0) / (2.0 * group), got });
        Ok(())
    })?;
    Ok(judge(&points, EXACT, true))
}

fn adversarial_h_valiant(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let points = each_dragonfly(context, |h, arrangement, fabric, points| {
        let (group, g) = canonical(h);
        if arrangement != "circulant" {
            let got = theta(fabric, "valiant-groups", &Traffic::Adversarial(h))?;
            let expected = (g - 2.0) / (f64::from(h + 1) * group);
            points.push(Point { what: format!("h = {h}, {arrangement}"), expected, got });
        }
        Ok(())
    })?;
    Ok(judge(&points, EXACT, true))
}

fn circulant_valiant(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for (h, expected) in [(2, 0.4375), (4, 0.3229)] {
        let got = theta(&built(&dragonfly(h, "circulant"))?, "valiant-groups", &Traffic::Adversarial(h))?;
        points.push(Point { what: format!("h = {h}"), expected, got });
    }
    Ok(judge(&points, 5e-5, false))
}

fn valiant_switches(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for arrangement in ARRANGEMENTS {
        let fabric = built(&dragonfly(2, arrangement))?;
        for k in 1..9 {
            let got = theta(&fabric, "valiant-switches", &Traffic::Adversarial(k))?;
            points.push(Point { what: format!("{arrangement}, ADV+{k}"), expected: 0.4375, got });
        }
    }
    Ok(judge(&points, EXACT, true))
}

fn uniform_valiant(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for arrangement in ["absolute", "relative", "palmtree"] {
        let got = theta(&built(&dragonfly(2, arrangement))?, "valiant-groups", &Traffic::Uniform)?;
        points.push(Point { what: arrangement.to_owned(), expected: 0.55469, got });
    }
    Ok(judge(&points, 5e-6, false))
}

fn best_mix(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for &h in context.choose(&[2, 3, 4][..], &[2, 3, 4, 5, 6][..]) {
        let (group, g) = canonical(h);
        let fabric = built(&dragonfly(h, "palmtree"))?;
        let one = counted(&fabric, "fluid", &Traffic::Adversarial(1), 1)?;
        let share = one.minimal_share.unwrap_or(f64::NAN);
        points.push(Point { what: format!("h = {h}, ADV+1"), expected: g / (2.0 * group), got: one.throughput });
        points.push(Point { what: format!("h = {h}, ADV+1, minimal share"), expected: 2.0 / g, got: share });
        let expected = (g + f64::from(h) - 1.0) / (f64::from(h + 1) * group);
        let got = theta(&fabric, "fluid", &Traffic::Adversarial(h))?;
        points.push(Point { what: format!("h = {h}, ADV+h"), expected, got });
    }
    let got = theta(&built(&dragonfly(2, "absolute"))?, "fluid", &Traffic::Adversarial(1))?;
    points.push(Point { what: "h = 2, ADV+1, absolute".to_owned(), expected: 0.5, got });
    Ok(judge(&points, EXACT, true))
}

/// Checks the rate that the links between groups of a named machine allow all nodes, if all links are used
/// alike.
fn global_bound(topology: &str, expected: f64) -> Result<Outcome, CaseError> {
    let counted = counted(&built(topology)?, "minimal", &Traffic::Uniform, 1)?;
    let got = 1.0 / counted.mean_load.get("global").copied().unwrap_or(f64::NAN);
    Ok(judge(&[Point { what: topology.to_owned(), expected, got }], EXACT, true))
}

fn slim_fly(q: u32) -> String {
    format!("[topology.slim-fly]\nq = {q}\nbandwidth = \"1 GB/s\"\n")
}

fn slim_fly_uniform(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for (q, expected) in [(5, 0.9567), (9, 0.9249), (17, 0.9073), (19, 0.8751)] {
        let got = theta(&built(&slim_fly(q))?, "spray", &Traffic::Uniform)?;
        points.push(Point { what: format!("q = {q}"), expected, got });
        if q == 5 {
            // Tolerance 1e-9, in units of the tolerance of the case.
            let off = (got - 199.0 / 208.0).abs() / 1e-9 * 5e-5;
            points.push(Point { what: "q = 5 beside 199/208".to_owned(), expected: 0.0, got: off });
        }
    }
    Ok(judge(&points, 5e-5, false))
}

fn slim_fly_distance(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for (q, degree) in [(5u32, 7.0), (8, 12.0), (11, 17.0), (19, 29.0)] {
        let routed = load_fabric(&slim_fly(q), "minimal")?;
        let switches = 2 * q * q;
        // One node of each switch.
        let of_switch = routed.fabric.nodes() / switches;
        let (mut route, mut hops) = (Vec::new(), 0u64);
        for from in 0..switches {
            for to in (0..switches).filter(|&to| to != from) {
                route.clear();
                routed.router.route(NodeId(from * of_switch), NodeId(to * of_switch), &mut route);
                hops += route.len() as u64 - 2;
            }
        }
        let others = f64::from(switches - 1);
        let expected = (degree + 2.0 * (others - degree)) / others;
        points.push(Point { what: format!("q = {q}"), expected, got: hops as f64 / (f64::from(switches) * others) });
    }
    Ok(judge(&points, EXACT, true))
}

fn hyperx_uniform(_: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    for (shape, nodes) in [(&[8u32, 8][..], 8u32), (&[12, 8], 7), (&[3, 4, 5], 2), (&[17], 3), (&[5, 7, 2, 3], 4)] {
        let text = format!("[topology.hyperx]\nshape = {shape:?}\nnodes = {nodes}\nbandwidth = \"1 GB/s\"\n");
        let all = f64::from(nodes * shape.iter().product::<u32>());
        for rule in ["family", "spray"] {
            let counted = counted(&built(&text)?, rule, &Traffic::Uniform, 1)?;
            for (dimension, &size) in shape.iter().enumerate() {
                let expected = f64::from(nodes) * all / f64::from(size) / (all - 1.0);
                let got = load(&counted, &format!("dimension {dimension}"));
                points.push(Point { what: format!("{shape:?}, {rule}, dimension {dimension}"), expected, got });
            }
        }
    }
    Ok(judge(&points, EXACT, true))
}

fn effective_bisection(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut points = Vec::new();
    let of_1024 =
        [("d-mod-k", false, 0.703), ("d-mod-k", true, 0.526), ("hashed", false, 0.557), ("hashed", true, 0.403)];
    let of_3456 =
        [("d-mod-k", false, 0.686), ("d-mod-k", true, 0.511), ("hashed", false, 0.541), ("hashed", true, 0.389)];
    for (topology, values) in [("fat-tree-1024", of_1024), ("fat-tree-3456", of_3456)] {
        let fabric = built(topology)?;
        for (rule, both, expected) in values {
            let got = counted(&fabric, rule, &Traffic::Bisection { both }, context.choose(10, 100))?;
            let directions = if both { "both directions" } else { "one direction" };
            points.push(Point { what: format!("{topology}, {rule}, {directions}"), expected, got: got.throughput });
        }
    }
    Ok(judge(&points, 0.01, false))
}
