//! `hayase bench`: what a simulated message costs on this machine.
//!
//! Each run is a process of its own, so that its peak memory is its own and no run warms up the next; the loads take
//! turns, so that a minute in which the machine is busy with something else does not fall on one of them alone.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::args::{BenchArgs, TableFormat};
use super::files::{self, unknown};
use super::progress::StepsMonitor;
use super::{End, Failure, MOST_THREADS, Voice, complain, extension, in_threads, interrupt, print, print_with, show};
use hayase::diagnostic::{Diagnostic, closest, failure};
use hayase::report::{BENCHMARK_SCHEMA, Benchmark, BenchmarkRow, Measurement};
use hayase_bench::{Length, Load, Tier, growth, loads, machine};
use hayase_output::{csv, json, table};

/// Repeats where nothing else is asked for, and with `--quick`.
const REPEATS: (u32, u32) = (5, 3);

/// How often the parent looks whether a run is done.
const GLANCE: Duration = Duration::from_millis(10);

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Csv,
    Json,
    Markdown,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "md" => Ok(Self::Markdown),
            _ => Err(unknown(path, "x.csv, x.json or x.md")),
        }
    }
}

/// Measures the chosen loads.
pub fn bench(args: &BenchArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let chosen = chosen(args)?;
    if args.alone {
        return alone(args, &chosen);
    }
    if args.list {
        return print(&table::loads(&listed(&chosen))).map(|()| End::Done);
    }
    let files = files::open(&args.output, Kind::of)?;
    let stop = interrupt::stop_flag();
    let monitor = StepsMonitor::new(voice.show);
    let repeats = args.repeats.map_or(if args.quick { REPEATS.1 } else { REPEATS.0 }, |repeats| repeats.get());
    let mut runs: Vec<Vec<Measurement>> = vec![Vec::new(); chosen.len()];
    let mut complete = true;
    let steps = u64::from(repeats) * chosen.len() as u64;
    for step in 0..steps {
        let number = (step % chosen.len() as u64) as usize;
        let load = &chosen[number];
        monitor.tell(step, steps, load.name());
        match in_a_process(load, args, stop) {
            Ok(Child::Done(measurement)) => runs[number].push(measurement),
            Ok(Child::Stopped) => {
                complete = false;
                break;
            }
            // It has said why.
            Ok(Child::Invalid) => return Ok(End::Invalid),
            Err(reason) => {
                complain(failure(&format!("cannot measure `{}`: {reason}", load.name()), voice.colour));
                return Ok(End::Failed);
            }
        }
    }
    drop(monitor);
    let rows: Vec<BenchmarkRow> =
        chosen.iter().zip(&runs).filter_map(|(load, runs)| BenchmarkRow::new(load.name(), runs)).collect();
    let benchmark = Benchmark {
        schema: BENCHMARK_SCHEMA,
        machine: machine(),
        repeats,
        threads: args.threads.get(),
        complete,
        growth: growth(&rows),
        rows,
    };
    for (kind, file) in files {
        if !complete && matches!(kind, Kind::Csv) {
            voice.say(format_args!("`{}` is not written: runs are missing", file.path().display()));
            continue;
        }
        file.write(|w| match kind {
            Kind::Csv => csv::benchmark(&benchmark, w),
            Kind::Json => json::write(&benchmark, w),
            Kind::Markdown => io::Write::write_all(w, table::benchmark(&benchmark).to_markdown().as_bytes()),
        })?;
    }
    match if args.csv { TableFormat::Csv } else { args.format } {
        TableFormat::Table => show(&table::benchmark(&benchmark))?,
        TableFormat::Json => print_with(|w| json::write(&benchmark, w))?,
        TableFormat::Csv => print_with(|w| csv::benchmark(&benchmark, w))?,
    }
    Ok(if complete { End::Done } else { End::Interrupted })
}

/// The loads that contain one of the words given; all where there are none, large ones only where they are asked for.
fn chosen(args: &BenchArgs) -> Result<Vec<Load>, Failure> {
    let all = loads();
    for word in &args.loads {
        if !all.iter().any(|load| load.name().contains(word.as_str())) {
            let near = closest(word, all.iter().map(Load::name));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(Diagnostic::new("unknown-load", format!("no load has `{word}` in its name"))
                .help(format!("{near}`hayase bench --list` shows all"))
                .into());
        }
    }
    let limit = match (args.quick, args.large || args.list) {
        (true, _) => Tier::Quick,
        (false, false) => Tier::Usual,
        (false, true) => Tier::Large,
    };
    let in_full = |name: &str| args.loads.iter().any(|word| word == name);
    // Where all words are names in full they are meant as such, though they may begin the names of others.
    let all_in_full =
        !args.loads.is_empty() && args.loads.iter().all(|word| all.iter().any(|load| load.name() == word));
    let has_word = |name: &str| args.loads.is_empty() || args.loads.iter().any(|word| name.contains(word.as_str()));
    let wanted = |load: &Load| in_full(load.name()) || !all_in_full && load.tier() <= limit && has_word(load.name());
    let chosen: Vec<Load> = all.iter().filter(|load| wanted(load)).cloned().collect();
    if chosen.is_empty() {
        let what = if args.quick { "quick" } else { "of a usual size" };
        let help = if args.quick { "leave out `--quick`" } else { "add `--large`" };
        return Err(Diagnostic::new("no-load", format!("no load with these words is {what}")).help(help).into());
    }
    Ok(chosen)
}

/// Names, and what is measured of each.
fn listed(loads: &[Load]) -> Vec<(String, String)> {
    let extent = |load: &Load| match load.measured() {
        None => "the whole run".to_owned(),
        Some((messages, skip)) => {
            format!("{} messages after the first {}", table::grouped(messages), table::grouped(skip))
        }
    };
    let size = |load: &Load| if load.tier() == Tier::Large { " (with --large)" } else { "" };
    loads.iter().map(|load| (load.name().to_owned(), format!("{}{}", extent(load), size(load)))).collect()
}

fn length(args: &BenchArgs) -> Length {
    match (args.whole, args.messages) {
        (true, _) => Length::Whole,
        (false, Some(messages)) => Length::Messages(messages.get()),
        (false, None) => Length::Usual,
    }
}

/// The inside of the process of one run: measures one load once and prints what it found.
fn alone(args: &BenchArgs, chosen: &[Load]) -> Result<End, Failure> {
    let Some(load) = chosen.first() else { return Ok(End::Done) };
    let measurement = in_threads(Some(args.threads), MOST_THREADS, || load.measure(length(args), None))??;
    print_with(|w| json::write(&measurement, w)).map(|()| End::Done)
}

/// How a process ended that was to measure a load.
enum Child {
    Done(Measurement),
    Stopped,
    Invalid,
}

/// Measures a load once, in a process of its own; words for why that failed.
fn in_a_process(load: &Load, args: &BenchArgs, stop: &AtomicBool) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| super::reason(&error))?;
    let mut command = Command::new(program);
    command.args(["bench", load.name(), "--alone", "--threads", &args.threads.to_string()]);
    match length(args) {
        Length::Usual => {}
        Length::Messages(messages) => {
            command.args(["--messages", &messages.to_string()]);
        }
        Length::Whole => {
            command.arg("--whole");
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| super::reason(&error))?;
    let status: ExitStatus = loop {
        if stop.load(Ordering::Relaxed) {
            // It may have ended by itself, Ctrl-C reaches all processes of a terminal.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Child::Stopped);
        }
        match child.try_wait().map_err(|error| super::reason(&error))? {
            Some(status) => break status,
            None => std::thread::sleep(GLANCE),
        }
    };
    // What it prints is short, so it never waits for somebody to read it.
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        io::Read::read_to_string(&mut stdout, &mut text).map_err(|error| super::reason(&error))?;
    }
    match status.code() {
        Some(0) => serde_json::from_str(&text).map(Child::Done).map_err(|error| error.to_string()),
        Some(2) => Ok(Child::Invalid),
        _ if stop.load(Ordering::Relaxed) => Ok(Child::Stopped),
        _ => Err(format!("the process that ran it ended with {status}")),
    }
}
