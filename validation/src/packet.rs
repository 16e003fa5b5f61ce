//! The flow model compared with packet-level simulators on the 16 x 16 torus.

use super::figures::figures;
use super::setup::{RunChoice, all_to_all};
use super::{Case, CaseError, Context, Outcome};

const TORUS: &str = "torus-16x16";

pub(super) fn cases() -> Vec<Case> {
    let packet = figures().packet;
    let expected = format!(
        "{}: slowest first, as ns-3 ({}) and BookSim 2 ({})",
        packet.algorithms.join(", "),
        milliseconds(&packet.ns3_ms),
        milliseconds(&packet.booksim_ms)
    );
    vec![
        Case::new("packet/order-of-algorithms", order)
            .source(packet.source)
            .expect(expected, "the order; distances are reported"),
    ]
}

fn order(context: &Context) -> Result<Outcome, CaseError> {
    let packet = figures().packet;
    let mut notes = Vec::new();
    let mut makespans = Vec::new();
    for sharing in ["max-min", "equal-share"] {
        let times = times(context, sharing, &packet.algorithms, None, 1)?;
        for (name, theirs) in [("ns-3", &packet.ns3_ms), ("BookSim 2", &packet.booksim_ms)] {
            notes.push(format!("{sharing}: {} on average against {name}", distance(&times, theirs)));
        }
        makespans.push(times);
    }
    // Exactly simultaneous starts flatter a flow model; with jitter the differences are fairer.
    let seeds = context.choose(1, 8);
    let jittered = times(context, "max-min", &packet.algorithms, Some("1.5 us"), seeds)?;
    let (ns3, booksim) = (distance(&jittered, &packet.ns3_ms), distance(&jittered, &packet.booksim_ms));
    notes.push(format!(
        "max-min, starts jittered by up to 1.5 us, {seeds} seed(s): {}; {ns3} and {booksim}",
        milliseconds(&jittered)
    ));
    let ordered = makespans.iter().all(|times| times.is_sorted_by(|a, b| a > b));
    Ok(Outcome::check(ordered, format!("max-min {}", milliseconds(&makespans[0]))).note(notes.join("\n")))
}

/// Returns mean makespans of the algorithms over seeds \[ms\].
fn times(
    context: &Context<'_>,
    sharing: &str,
    algorithms: &[String],
    jitter: Option<&str>,
    seeds: u64,
) -> Result<Vec<f64>, CaseError> {
    let jitter: Vec<String> =
        jitter.into_iter().map(|time| format!("workload.all-to-all.message-jitter=\"{time}\"")).collect();
    let runs: Vec<(&String, u64)> =
        algorithms.iter().flat_map(|algorithm| (1..=seeds).map(move |seed| (algorithm, seed))).collect();
    context.plan(runs.len() as u64 * all_to_all(256));
    let makespans = context.run_parts(runs, |(algorithm, seed)| {
        let pattern = format!("all-to-all-{algorithm}");
        let scenario = RunChoice { sharing, seed, ..RunChoice::new(TORUS, &pattern) }.load_with(&jitter)?;
        Ok(super::setup::run(context, &scenario)?.report.head.makespan_s)
    })?;
    Ok(makespans.chunks(seeds as usize).map(|times| times.iter().sum::<f64>() * 1e3 / seeds as f64).collect())
}

/// Returns the mean signed difference of our times from theirs \[%\].
fn distance(ours: &[f64], theirs: &[f64]) -> String {
    let sum: f64 = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs - 1.0).sum();
    format!("{:+.0} %", 100.0 * sum / ours.len() as f64)
}

fn milliseconds(times: &[f64]) -> String {
    let each: Vec<String> = times.iter().map(|time| format!("{time:.2}")).collect();
    format!("{} ms", each.join(" / "))
}
