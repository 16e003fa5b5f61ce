//! NCCL's choices by size, and simulated times of the chosen algorithms on a fabric.
//!
//! The messages of an algorithm are a pattern file, played like any other. Of rings with more than a million messages
//! one GPU of each class plays a beginning ([`Rings`]). Launch and latency of the cost model are added to their time.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::runs::{Control, Runs};
use super::sweep::{Axis, Sweep, SweepError};
use crate::diagnostic::{Diagnostic, Invalid};
use crate::nccl::algorithms::{Message, messages, rings};
use crate::nccl::log::Log;
use crate::nccl::{Algorithm, Choice, Entry, Operation, Protocol, Tuning, bus_factor};
use crate::report::{NCCL_SCHEMA, NcclChoice, NcclDifference, NcclLog, NcclReport, NcclRow};
use crate::scenario::Loader;
use crate::simulation::Rings;
use crate::units::{Bytes, Time};

/// Request: an operation in several sizes.
#[derive(Debug)]
pub struct Request<'a> {
    /// System, as named by the user.
    pub name: String,
    /// Cost model of the operation.
    pub tuning: Tuning<'a>,
    /// Sizes \[B\].
    pub sizes: Vec<u64>,
    /// Algorithm in place of NCCL's choice.
    pub algorithm: Option<Algorithm>,
    /// Protocol in place of NCCL's choice.
    pub protocol: Option<Protocol>,
    /// Time from the call to the first byte.
    pub launch: Time,
    /// System on whose fabric the messages are played.
    pub fabric: Option<Loader>,
    /// Log with which the model is compared, and its file.
    pub log: Option<(String, Log)>,
}

/// Chunks that a rank may send over a connection while another connection waits for its data.
const SLACK: u32 = 3;

/// Returns the choices, with simulated times if there is a fabric.
///
/// # Errors
/// No algorithm of the operation has these names, or the fabric does not carry the messages.
pub fn nccl(request: &Request<'_>, control: Control<'_>) -> Result<NcclReport, SweepError> {
    let (operation, ranks, nodes) = request.tuning.call();
    let suits = |choice: &Choice| {
        request.algorithm.is_none_or(|algorithm| algorithm == choice.algorithm)
            && request.protocol.is_none_or(|protocol| protocol == choice.protocol)
    };
    let mut rows = Vec::new();
    let mut played = Vec::new();
    for &size_bytes in &request.sizes {
        let ranking: Vec<Choice> = request.tuning.ranking(size_bytes).into_iter().filter(suits).collect();
        let Some(best) = ranking.first() else {
            let message = format!("{} has no such algorithm and protocol on this system", operation.name());
            return Err(Invalid::from(Diagnostic::new("wrong-choice", message).help(names(&request.tuning))).into());
        };
        let second = ranking.get(1);
        rows.push(NcclRow {
            op: operation.name().to_owned(),
            ranks,
            nodes,
            size_bytes,
            algorithm: best.algorithm.name().to_owned(),
            protocol: best.protocol.name().to_owned(),
            model_s: best.time_us * 1e-6,
            runner_up: second.map(|second| NcclChoice {
                algorithm: second.algorithm.name().to_owned(),
                protocol: second.protocol.name().to_owned(),
                model_s: second.time_us * 1e-6,
            }),
            margin: second.map(|second| second.time_us / best.time_us - 1.0),
            simulated_s: None,
            bound_s: None,
            bus_bandwidth_bps: None,
        });
        played.push(*best);
    }
    let log = request.log.as_ref().map(|(file, log)| compare(file, log, &request.tuning));
    let mut report = NcclReport { schema: NCCL_SCHEMA, system: request.name.clone(), fabric: None, rows, log };
    if let Some(loader) = &request.fabric {
        simulate(request, loader, &played, &mut report, control)?;
    }
    Ok(report)
}

/// Largest relative difference of times that NCCL computed in single precision.
const EQUAL: f64 = 1e-5;

/// Compares all values that a log states with those of the model. Choices without an operation are of that of `asked`.
fn compare(file: &str, log: &Log, asked: &Tuning<'_>) -> NcclLog {
    let mut all = NcclLog { file: file.to_owned(), choices: 0, entries: 0, differences: Vec::new() };
    let mut seen = BTreeSet::new();
    let show = |algorithm: Algorithm, protocol: Protocol, time_us: Option<f64>| {
        let time = time_us.map_or_else(String::new, |time_us| format!(" in {time_us:.3} us"));
        format!("{} {}{time}", algorithm.name(), protocol.name())
    };
    for operation in Operation::ALL {
        let Ok(tuning) = Tuning::new(asked.system(), operation, log.ranks, log.nodes) else { continue };
        let name = operation.name();
        for of in log.choices.iter().filter(|of| of.operation.unwrap_or(asked.call().0) == operation) {
            let time = of.time_us.map(f64::to_bits);
            let Some(ours) = tuning.ranking(of.bytes).first().copied() else { continue };
            if !seen.insert((operation, of.bytes, of.algorithm, of.protocol, time)) {
                continue;
            }
            all.choices += 1;
            let is_near = of.time_us.is_none_or(|time_us| (time_us / ours.time_us - 1.0).abs() < EQUAL);
            if (of.algorithm, of.protocol) != (ours.algorithm, ours.protocol) || !is_near {
                let value = format!("{name} of {}", Bytes(of.bytes));
                let logged = show(of.algorithm, of.protocol, of.time_us);
                let model = show(ours.algorithm, ours.protocol, of.time_us.map(|_| ours.time_us));
                all.differences.push(NcclDifference { line: of.line, value, logged, model });
            }
        }
        for of in log.entries.iter().filter(|of| of.operation == operation) {
            all.entries += 1;
            let show = |entry: &Entry| format!("{:.1}/{:.1}", entry.latency_us, entry.bandwidth_gbps);
            // Algorithms that cannot be taken have the bandwidth 0.
            let ours = tuning.entry(of.algorithm, of.protocol).map(show);
            let logged = Some(&of.printed).filter(|printed| !printed.ends_with("/0.0"));
            if ours.as_ref() != logged {
                let value = format!("{name} {} {} [us, GB/s]", of.algorithm.name(), of.protocol.name());
                let (logged, model) = (of.printed.clone(), ours.unwrap_or_else(|| "0.0/0.0".to_owned()));
                all.differences.push(NcclDifference { line: of.line, value, logged, model });
            }
        }
    }
    all.differences.sort_by_key(|difference| difference.line);
    all
}

/// Lists algorithms and protocols of an operation.
fn names(tuning: &Tuning<'_>) -> String {
    let pairs = tuning.entries().iter().map(|entry| format!("{} {}", entry.algorithm.name(), entry.protocol.name()));
    format!("there are: {}", pairs.collect::<Vec<_>>().join(", "))
}

/// Plays the messages of each row.
fn simulate(
    request: &Request<'_>,
    loader: &Loader,
    choices: &[Choice],
    report: &mut NcclReport,
    control: Control<'_>,
) -> Result<(), SweepError> {
    let (_, ranks, _) = request.tuning.call();
    let mut base = loader.clone();
    let mut names = vec![None; choices.len()];
    for ((choice, row), name) in choices.iter().zip(&mut report.rows).zip(&mut names) {
        let Ok(list) = messages(&request.tuning, choice.algorithm, row.size_bytes) else {
            // Without messages a row has the time of the model alone.
            if let Some((orders, block, steps)) = rings(&request.tuning, choice.algorithm, row.size_bytes) {
                let block = (block * choice.protocol.wire_bytes()).round() as u64;
                let (fabric, played) = play(&Rings { orders, block, steps }, loader, control)?;
                report.fabric.get_or_insert(fabric);
                set_times(request, choice, row, played);
            }
            continue;
        };
        let (table, file) = (format!("nccl-{}.toml", row.size_bytes), format!("nccl-{}.csv", row.size_bytes));
        base = base.attach(file.as_str(), csv_of(&list, choice.protocol));
        let text = format!("[workload.file]\npath = \"{file}\"\nranks = {ranks}\ninjection = \"all\"\n");
        base = base.attach(table.as_str(), text.into_bytes());
        *name = Some(table);
    }
    let patterns: Vec<String> = names.iter().flatten().cloned().collect();
    if patterns.is_empty() {
        return Ok(());
    }
    let sweep = Sweep { base, axes: vec![(Axis::Pattern, patterns)], ..Sweep::default() };
    let comparison = sweep.run(control)?;
    for ((choice, row), name) in choices.iter().zip(&mut report.rows).zip(&names) {
        let Some(run) = comparison.rows.iter().find(|run| Some(&run.pattern) == name.as_ref()) else { continue };
        report.fabric.get_or_insert_with(|| run.topology.clone());
        let bound_s = [run.bounds.injection_s, run.bounds.busiest_link_s].into_iter().flatten().reduce(f64::max);
        set_times(request, choice, row, Some((run.makespan.mean_s, bound_s)));
    }
    Ok(())
}

/// Makespan of a run and its lower bound \[s\].
type PlayedTime = (f64, Option<f64>);

/// Adds the times of a run to a row; nothing if the run was ended.
fn set_times(request: &Request<'_>, choice: &Choice, row: &mut NcclRow, played: Option<PlayedTime>) {
    let Some((makespan_s, bound_s)) = played else { return };
    let (operation, ranks, _) = request.tuning.call();
    let entry = request.tuning.entry(choice.algorithm, choice.protocol);
    let start_s = entry.map_or(0.0, |entry| entry.latency_us) * 1e-6 + request.launch.seconds();
    let time_s = makespan_s + start_s;
    row.simulated_s = Some(time_s);
    row.bound_s = bound_s;
    row.bus_bandwidth_bps = Some(row.size_bytes as f64 * bus_factor(operation, ranks) / time_s);
}

/// Plays rings with too many messages for a list. Returns the name of the fabric, and the times if they are found.
fn play(rings: &Rings, loader: &Loader, control: Control<'_>) -> Result<(String, Option<PlayedTime>), SweepError> {
    let scenario = loader.clone().load_program(rings.idle())?;
    let runs = Runs::new(control, vec![rings.messages()]);
    let played = runs.each(&[scenario.system()], |system, run| {
        rings.play(system, Some(run)).map(|times| (times.makespan.seconds(), Some(times.busiest_s)))
    });
    let fabric = scenario.system().network().map_or_else(String::new, |network| network.fabric.name().to_owned());
    Ok((fabric, played.into_iter().next().flatten()))
}

/// Returns messages as a pattern file, with the bytes on the wire.
///
/// A rank sends in the order of the longest chain of messages that each waits for, so that no channel holds up another.
fn csv_of(messages: &[Message], protocol: Protocol) -> Vec<u8> {
    let mut text = String::from("src,dst,bytes,order,after\n");
    let mut levels: Vec<u32> = Vec::with_capacity(messages.len());
    for message in messages {
        let level = |&awaited: &u32| {
            let of = &messages[awaited as usize];
            let is_before = (of.src, of.dst) == (message.src, message.dst);
            levels[awaited as usize] + if is_before { 1 } else { SLACK }
        };
        let level = message.after.iter().map(level).max().unwrap_or(0);
        levels.push(level);
        let bytes = (message.bytes * protocol.wire_bytes()).round() as u64;
        let after: Vec<String> = message.after.iter().map(ToString::to_string).collect();
        let (src, dst) = (message.src, message.dst);
        // Writing to memory does not fail.
        let _ = writeln!(text, "{src},{dst},{bytes},{level},{}", after.join(" "));
    }
    text.into_bytes()
}
