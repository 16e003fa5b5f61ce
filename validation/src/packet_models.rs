//! The packet models compared with ns-3, BookSim 2, an independent packet engine, and flows.

use serde::Deserialize;

use super::context::stopwatch;
use super::setup::{RunChoice, all_to_all, flows_on_links, on, run};
use super::{Case, CaseError, Context, Outcome};
use hayase::network::NetworkParts;
use hayase::scenario::Scenario;
use hayase::simulation::PatternWork;
use hayase::transport::TransportSpec;
use hayase::transport::packet::{Model, PacketSpec};
use hayase::units::Time;

/// Content of `validation/packet.json`.
#[derive(Deserialize)]
struct Figures {
    load: String,
    ns3_source: String,
    ns3_us: Vec<Ns3>,
    booksim_source: String,
    booksim_ms: std::collections::BTreeMap<String, f64>,
    peer_source: String,
    peer_us: Vec<Peer>,
    mfs_source: String,
    mfs_speed_up: Vec<SpeedUp>,
}

/// A makespan of ns-3.
#[derive(Deserialize)]
struct Ns3 {
    n: u32,
    algorithm: String,
    us: f64,
    #[serde(default = "yes")]
    host_link: bool,
    #[serde(default = "queue")]
    injection: String,
}

/// Makespans of another packet engine.
#[derive(Deserialize)]
struct Peer {
    model: String,
    options: Vec<String>,
    algorithm: String,
    us: Vec<f64>,
}

/// Run times of the MFS paper [s].
#[derive(Deserialize)]
struct SpeedUp {
    n: u32,
    flow_s: f64,
    packet_s: f64,
}

fn yes() -> bool {
    true
}

fn queue() -> String {
    "queue".into()
}

/// # Panics
/// Never: the file is built in, and a test reads it.
fn figures() -> Figures {
    serde_json::from_str(include_str!("../packet.json")).expect("packet.json is checked by a test")
}

const JITTER: &str = "1.5 us";

pub(super) fn cases() -> Vec<Case> {
    let figures = figures();
    let booksim: Vec<String> = figures.booksim_ms.iter().map(|(name, ms)| format!("{name} {ms} ms")).collect();
    let paper: Vec<f64> = figures.mfs_speed_up.iter().map(|row| row.packet_s / row.flow_s).collect();
    let (least, most) =
        (paper.iter().copied().fold(f64::INFINITY, f64::min), paper.iter().copied().fold(0.0, f64::max));
    vec![
        Case::new("packet/output-queues-are-ns-3", output_queues)
            .source(format!("{}: {}", figures.ns3_source, figures.load))
            .expect(
                "18 makespans: n = 4 with and without host links and injected on departure, n = 10 to 16, and all \
                 three algorithms at n = 16",
                "none: equal to the nanosecond",
            ),
        Case::new("packet/input-queues-reduce-to-output-queues", reduction)
            .source("unlimited virtual output queues served in order of arrival are output queues")
            .expect("equal fingerprints on torus, mesh, fat-tree, crossbar", "none: equal to the last bit"),
        Case::new("packet/one-message-alone", alone)
            .source("store and forward over h links, host links counted")
            .expect("20 + 1.5 (h - 1) us for h = 3 to 10", "none: equal to the nanosecond"),
        Case::new("packet/all-models-beside-another-engine", peers)
            .source(figures.peer_source)
            .expect("nine combinations of model, options and algorithm", "means within 6 %"),
        Case::new("packet/input-queues-beside-booksim", booksim_case)
            .source(figures.booksim_source)
            .expect(booksim.join(", "), "10 %"),
        Case::new("packet/fair-queues-are-max-min", fair)
            .source("per-message round robin with two packets a hop, 1 MB messages, 8 x 8 torus, 2D spread")
            .expect("the makespan of max-min flows", "2 %"),
        Case::new("packet/rules-that-choose", rules_that_choose)
            .source(
                "dragonfly of 72 nodes, 64 KB, four rounds: one route each is one problem for flows and packets; and \
                 packets that draw a group each have on average what a flow over all groups at once has",
            )
            .expect("fair queues as max-min flows: ADV+1 under minimal, a permutation under Valiant", "1 %, 10 %")
            .takes(1, 3),
        Case::new("packet/flows-beside-packets", flows_beside_packets).source(figures.mfs_source.clone()).expect(
            "equal-share flows about 40 % below BigSimulator; pairwise fastest, simple spread slowest",
            "reported",
        ),
        Case::new("packet/speed-of-flows-and-packets", speed)
            .source(figures.mfs_source)
            .expect(format!("flows {least:.0} to {most:.0} times faster than packets on seven cores"), "reported"),
    ]
}

/// Builds a run on an n x n torus.
fn torus(
    n: u32,
    algorithm: &str,
    transport: &str,
    more: &[&str],
    seed: u64,
) -> Result<Scenario<PatternWork>, CaseError> {
    let (topology, pattern) = (format!("torus-{n}x{n}"), format!("all-to-all-{algorithm}"));
    let mut assignments = vec![format!("transport={transport}")];
    assignments.extend(more.iter().map(|text| (*text).to_owned()));
    RunChoice { seed, ..RunChoice::new(&topology, &pattern) }.load_with(&assignments)
}

fn makespan_us(context: &Context<'_>, scenario: &Scenario<PatternWork>) -> Result<f64, CaseError> {
    Ok(run(context, scenario)?.report.head.makespan_s * 1e6)
}

fn jitter() -> String {
    format!("workload.all-to-all.message-jitter=\"{JITTER}\"")
}

/// Returns the mean makespan over seeds, with jittered starts \[us\].
fn jittered(
    context: &Context<'_>,
    n: u32,
    algorithm: &str,
    transport: &str,
    more: &[&str],
    seeds: u64,
) -> Result<f64, CaseError> {
    let jitter = jitter();
    let more: Vec<&str> = more.iter().copied().chain([jitter.as_str()]).collect();
    let times = context
        .run_parts((1..=seeds).collect(), |seed| makespan_us(context, &torus(n, algorithm, transport, &more, seed)?))?;
    Ok(times.iter().sum::<f64>() / seeds as f64)
}

fn output_queues(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let rows = figures().ns3_us;
    context.plan(rows.iter().map(|row| all_to_all(row.n * row.n)).sum());
    let wrong = context.run_parts(rows.iter().collect(), |row| {
        let injection = format!("workload.all-to-all.injection=\"{}\"", row.injection);
        let host = format!("topology.torus.host-link={}", row.host_link);
        let us = makespan_us(context, &torus(row.n, &row.algorithm, "packet:oq", &[&injection, &host], 1)?)?;
        // A thousandth of the step of ns-3's clock: the rest of the conversion to seconds.
        let apart = (us - row.us).abs() > 1e-6;
        Ok(apart.then(|| format!("n = {}, {}: {us} us, ns-3 {} us", row.n, row.algorithm, row.us)))
    })?;
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    let good = rows.len() - wrong.len();
    Ok(Outcome::check(wrong.is_empty(), format!("{good} of {} equal", rows.len())).note(wrong.join("\n")))
}

fn reduction(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut wrong = Vec::new();
    let places = [
        ("torus-8x8", "all-to-all-pairwise", "regular"),
        ("torus-4x4", "all-to-all-linear", "random"),
        ("mesh-16x16", "random-permutation", "random"),
        ("fat-tree-54", "all-to-all-simple-spread", "random"),
        ("crossbar-64", "all-to-all-random-order", "regular"),
    ];
    for (topology, pattern, placement) in places {
        let run = |assignments: &[&str]| -> Result<String, CaseError> {
            let assignments: Vec<String> = assignments.iter().map(|text| (*text).to_owned()).collect();
            let scenario = RunChoice { placement, ..RunChoice::new(topology, pattern) }.load_with(&assignments)?;
            Ok(run(context, &scenario)?.report.head.fingerprint)
        };
        let output = run(&["transport=packet:oq"])?;
        let input = run(&[
            "transport=packet:iq",
            "transport.packet.buffer=\"unlimited\"",
            "transport.packet.queues=\"virtual-output\"",
            "transport.packet.arbitration=\"arrival-order\"",
        ])?;
        if output != input {
            wrong.push(format!("{topology}, {pattern}: {input} instead of {output}"));
        }
    }
    let good = places.len() - wrong.len();
    Ok(Outcome::check(wrong.is_empty(), format!("{good} of {} equal", places.len())).note(wrong.join("\n")))
}

/// Simulates one message over a chain of links.
fn alone(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let mut wrong = Vec::new();
    for model in [Model::Oq, Model::Fq] {
        for hops in 3..=10u32 {
            let links = vec![(1e9, Time::ZERO); hops as usize];
            let scenario = flows_on_links(&links, &[(0..hops).collect()], 20_000)?;
            let transport = TransportSpec::Packet(PacketSpec { model, ..PacketSpec::default() });
            let parts = scenario.network().ok_or("a pattern without a network")?.parts();
            let network = NetworkParts { transport, ..parts }.build().map_err(|invalid| invalid.to_string())?;
            let scenario = on(network, scenario.work().clone())?;
            let (us, expected) = (makespan_us(context, &scenario)?, 20.0 + 1.5 * f64::from(hops - 1));
            if (us - expected).abs() > 1e-6 {
                wrong.push(format!("{model}, {hops} links: {us} us instead of {expected}"));
            }
        }
    }
    let good = 16 - wrong.len();
    Ok(Outcome::check(wrong.is_empty(), format!("{good} of 16 equal")).note(wrong.join("\n")))
}

fn peers(context: &Context) -> Result<Outcome, CaseError> {
    let seeds = context.choose(8, 32);
    let (mut notes, mut worst) = (Vec::new(), 0.0f64);
    context.plan(figures().peer_us.len() as u64 * seeds * all_to_all(16));
    for peer in figures().peer_us {
        let options: Vec<String> = peer.options.iter().map(|option| format!("transport.packet.{option}")).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let us = jittered(context, 4, &peer.algorithm, &format!("packet:{}", peer.model), &options, seeds)?;
        let theirs = peer.us.iter().sum::<f64>() / peer.us.len() as f64;
        worst = worst.max((us / theirs - 1.0).abs());
        let options = peer.options.join(", ");
        notes.push(format!("{} {options} {}: {us:.1} us, the other engine {theirs:.1} us", peer.model, peer.algorithm));
    }
    Ok(Outcome::check(worst <= 0.06, format!("at most {:.1} % apart", worst * 100.0)).note(notes.join("\n")))
}

fn booksim_case(context: &Context) -> Result<Outcome, CaseError> {
    let seeds = context.choose(1, 4);
    let (mut got, mut worst) = (Vec::new(), 0.0f64);
    let algorithms: Vec<(String, f64)> = figures().booksim_ms.into_iter().collect();
    context.plan(algorithms.len() as u64 * seeds * all_to_all(256));
    let times = context.run_parts(algorithms, |(algorithm, theirs)| {
        let dateline = ["transport.packet.deadlock-avoidance=\"dateline\""];
        let ms = jittered(context, 16, &algorithm, "packet:iq", &dateline, seeds)? / 1e3;
        Ok((algorithm, theirs, ms))
    })?;
    for (algorithm, theirs, ms) in times {
        worst = worst.max((ms / theirs - 1.0).abs());
        got.push(format!("{algorithm} {ms:.1} ms ({:+.0} %)", 100.0 * (ms / theirs - 1.0)));
    }
    Ok(Outcome::check(worst <= 0.10, got.join(", ")))
}

fn fair(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let size = "workload.all-to-all.size=\"1 MB\"";
    let us = |transport: &str| -> Result<f64, CaseError> {
        makespan_us(context, &torus(8, "2d-spread", transport, &[size], 1)?)
    };
    let (packets, flows) = (us("packet:fq")?, us("flow:max-min")?);
    let distance = packets / flows - 1.0;
    let text = format!("{packets:.0} us, max-min {flows:.0} us ({:+.2} %)", distance * 100.0);
    Ok(Outcome::check(distance.abs() <= 0.02, text))
}

/// Compares two rows of the table of `docs/concepts/accuracy.md`.
fn rules_that_choose(context: &Context<'_>) -> Result<Outcome, CaseError> {
    let seeds = context.choose(3, 10);
    let runs = [
        ("minimal", "shift", &["workload.permutation.offset=8"][..], 0.01),
        ("valiant-groups", "random-permutation", &["routing.valiant-groups.all-intermediates=true"], 0.1),
    ];
    context.plan(2 * 2 * seeds * 4 * 72);
    let mut texts = Vec::new();
    let mut is_good = true;
    for (rule, pattern, more, tolerance) in runs {
        let mean = |transport: &str, more: &[&str]| -> Result<f64, CaseError> {
            let times = context.run_parts((1..=seeds).collect(), |seed| {
                let mut assignments: Vec<String> = more.iter().map(|text| (*text).to_owned()).collect();
                assignments.extend(
                    ["rounds=4", "size=\"64 KB\"", "message-jitter=\"1 us\""]
                        .map(|text| format!("workload.permutation.{text}")),
                );
                assignments.push(format!("transport={transport}"));
                let choice = RunChoice { seed, routing: Some(rule), ..RunChoice::new("dragonfly-72", pattern) };
                makespan_us(context, &choice.load_with(&assignments)?)
            })?;
            Ok(times.iter().sum::<f64>() / seeds as f64)
        };
        // A packet draws one group, for any number of parts of a message.
        let of_packets = if rule == "minimal" { more } else { &[] };
        let (flows, packets) = (mean("flow:max-min", more)?, mean("packet:fq", of_packets)?);
        let distance = flows / packets - 1.0;
        is_good &= distance.abs() <= tolerance;
        let percent = distance * 100.0;
        texts.push(format!("{pattern} under {rule}: {packets:.1} us, flows {flows:.1} us ({percent:+.2} %)"));
    }
    Ok(Outcome::check(is_good, texts.join("; ")))
}

const PACKETS: [&str; 3] = ["packet:oq", "packet:fq", "packet:iq"];
const FLOWS: [&str; 2] = ["flow:max-min", "flow:equal-share"];
const ALGORITHMS: [&str; 3] = ["simple-spread", "2d-spread", "pairwise"];

fn flows_beside_packets(context: &Context) -> Result<Outcome, CaseError> {
    let n = context.choose(8, 16);
    let seeds = context.choose(2, 4);
    let mut notes = vec![format!(
        "{n} x {n}, starts jittered by up to {JITTER}, means over {seeds} seeds, us: {}",
        ALGORITHMS.join(" / ")
    )];
    let runs: Vec<(&str, &str)> = PACKETS
        .into_iter()
        .chain(FLOWS)
        .flat_map(|transport| ALGORITHMS.iter().map(move |&algorithm| (transport, algorithm)))
        .collect();
    context.plan(runs.len() as u64 * seeds * all_to_all(n * n));
    let times = context.run_parts(runs, |(transport, name)| jittered(context, n, name, transport, &[], seeds))?;
    let mut table = Vec::new();
    for (transport, times) in PACKETS.into_iter().chain(FLOWS).zip(times.chunks(ALGORITHMS.len())) {
        let times = times.to_vec();
        let each: Vec<String> = times.iter().map(|us| format!("{us:.0}")).collect();
        notes.push(format!("{transport}: {}", each.join(" / ")));
        table.push(times);
    }
    let (packets, flows) = table.split_at(PACKETS.len());
    let mut got = Vec::new();
    for (flow, name) in flows.iter().zip(FLOWS) {
        for (packet, other) in packets.iter().zip(PACKETS) {
            let sum: f64 = flow.iter().zip(packet).map(|(flow, packet)| flow / packet - 1.0).sum();
            let mean = 100.0 * sum / ALGORITHMS.len() as f64;
            got.push(format!("{name} {mean:+.0} % of {other}"));
        }
    }
    let ordered = table.iter().all(|times| times.is_sorted_by(|a, b| a > b));
    Ok(Outcome::compare(ordered, got.join(", ")).note(notes.join("\n")))
}

fn speed(context: &Context) -> Result<Outcome, CaseError> {
    let rows = figures().mfs_speed_up;
    let rows = context.choose(&rows[rows.len() - 1..], &rows[..]);
    let (mut notes, mut ratios) = (Vec::new(), Vec::new());
    let jitter = jitter();
    context.plan(rows.iter().map(|row| 2 * all_to_all(row.n * row.n)).sum());
    for row in rows {
        let seconds = |transport: &str| -> Result<f64, CaseError> {
            let scenario = torus(row.n, "mpich", transport, &[&jitter], 1)?;
            let (ran, seconds) = stopwatch(context, || run(context, &scenario));
            ran.map(|_| seconds)
        };
        let (flow, queues) = (seconds("flow:equal-share")?, seconds("packet:iq")?);
        ratios.push(queues / flow);
        notes.push(format!(
            "n = {}: flows {flow:.3} s, packets with input queues {queues:.3} s, {:.1} times; the paper {} s, {} s, {:.0} times",
            row.n,
            queues / flow,
            row.flow_s,
            row.packet_s,
            row.packet_s / row.flow_s
        ));
    }
    notes.push(
        "a packet engine of the same craft is that much closer: the ratio of the paper is that of its two programs"
            .into(),
    );
    let each: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.1}")).collect();
    Ok(Outcome::compare(true, format!("{} times, 20 KB messages", each.join(", "))).note(notes.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_read_and_are_whole() {
        let figures = figures();
        assert_eq!(figures.ns3_us.len(), 18);
        assert!(ALGORITHMS.iter().all(|name| figures.booksim_ms.contains_key(*name)));
        assert!(figures.peer_us.iter().all(|peer| !peer.us.is_empty()));
    }
}
