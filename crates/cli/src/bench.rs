//! `hayase bench`: cost of a simulated message on this machine.
//!
//! Each run is a process of its own, so that its peak memory is its own and no run warms up the next. The
//! loads take turns, so that other activity of the machine does not affect one of them alone.

use std::ffi::OsString;
use std::io;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueHint};

use super::files::{leave_out, names, note_input};
use super::listing::Listing;
use super::options::{self, Format, Offer, OutputArgs};
use super::progress::Meter;
use super::{End, Failure, Voice, complain, interrupt, print_with, process};
use hayase::diagnostic::{Diagnostic, closest, failure};
use hayase::report::{BENCHMARK_SCHEMA, Benchmark, BenchmarkRow, Measurement, OtherBuild, OtherCost};
use hayase_bench::{Length, Load, Tier, growth, loads, machine};
use hayase_output::{csv, json, table};

const BENCH_EXAMPLES: &str = "\
Examples:
  hayase bench --quick                    small loads, in half a minute
  hayase bench                            all but the largest, in minutes
  hayase bench fat-tree-3456 torus        the loads with one of these words in their names
  hayase bench fat-tree-16000/random/max-min --whole --repeats 1
      one load by its full name, to its end
  taskset -c 1 hayase bench --csv         on one core
  hayase bench 1024 -o old.json           save figures; later, with another build:
  hayase bench 1024 --against old.json    which loads cost more, beyond the noise of repeats
  hayase bench 1024 --against ./old/hayase
      the same, with the other program in turns: for differences of a few per cent

Each run is a process of its own, and loads take turns. Times are processor times of one message: median and range \
over the repeats. A run has one thread (more with -j: look at the wall time then). Of a long load only some messages \
are measured, after a warm-up (`--list` shows their number).

Files (-o), by name:
  x.csv    a line for each load
  x.json   the same, with the machine and the growth of the cost with the number of nodes
  x.md     the table, as Markdown";

/// `hayase bench`.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Measure the loads whose names contain one of these words (default: all except the large ones).
    #[arg(value_name = "LOAD")]
    pub loads: Vec<String>,
    /// Measure only loads of about a second or less, three times each.
    #[arg(long)]
    pub quick: bool,
    /// Measure loads of 16,000, 65,536 and more nodes too.
    #[arg(long, conflicts_with = "quick")]
    pub large: bool,
    /// List the loads without measuring them.
    #[arg(long)]
    pub list: bool,
    /// Show the figures of another build beside these: a file that it wrote (-o x.json), or its program, which then
    /// takes turns with this one.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "list")]
    pub against: Option<PathBuf>,
    /// Run each load this number of times (default 5; 10 with --against).
    #[arg(long, value_name = "N")]
    pub repeats: Option<NonZeroU32>,
    /// Measure this number of messages of long loads.
    #[arg(long, value_name = "N")]
    pub messages: Option<NonZeroU64>,
    /// Run long loads to their end.
    #[arg(long, conflicts_with = "messages")]
    pub whole: bool,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
    /// Print CSV, like --format csv.
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub csv: bool,
    /// Measure one load once in this process (used by the parent process).
    #[arg(long, hide = true)]
    pub alone: bool,
}

/// Default number of repeats, with `--quick`, and beside another build.
const REPEATS: [u32; 3] = [5, 3, 10];

/// Interval at which the parent checks if a run has ended.
const GLANCE: Duration = Duration::from_millis(10);

const OFFER: Offer<&str> = Offer::new("bench", names!["x.csv", "x.json", "x.md"]);

/// Measures the chosen loads.
pub fn bench(args: &BenchArgs, voice: Voice) -> Result<End, Failure> {
    let out = OutputArgs { format: if args.csv { Format::Csv } else { args.out.format }, ..args.out.clone() };
    if args.list {
        out.check(&Offer { threads: false, ..Listing::offer("bench --list") })?;
        return list(&chosen(args)?, &out).map(|()| End::Done);
    }
    out.check(&OFFER)?;
    let chosen = chosen(args)?;
    if args.alone {
        return alone(args, &chosen);
    }
    let against = args.against.as_deref().map(|path| Against::read(path, &chosen)).transpose()?;
    let mut files = out.open(&OFFER)?;
    let stop = interrupt::stop_flag();
    let monitor = Meter::new(voice.show, "runs");
    let usual = REPEATS[if against.is_some() { 2 } else { usize::from(args.quick) }];
    let repeats = args.repeats.map_or(usual, NonZeroU32::get);
    let mut programs = vec![process::words().map_err(|error| Diagnostic::new("process", super::reason(&error)))?];
    if let Some(Against::Program(path)) = &against {
        programs.push(vec![path.clone().into_os_string()]);
    }
    // Runs of this build, then those of the other program.
    let mut runs: Vec<Vec<Measurement>> = vec![Vec::new(); programs.len() * chosen.len()];
    let mut complete = true;
    let steps = u64::from(repeats) * runs.len() as u64;
    for step in 0..steps {
        let turn = (step % runs.len() as u64) as usize;
        // Programs take turns within a load, so that both meet the same state of the machine.
        let (number, program) = (turn / programs.len(), turn % programs.len());
        let load = &chosen[number];
        monitor.tell(step, steps, || load.name().to_owned());
        match in_a_process(&programs[program], load, args, stop) {
            Ok(Child::Done(measurement)) => runs[program * chosen.len() + number].push(measurement),
            Ok(Child::Stopped) => {
                complete = false;
                break;
            }
            // The child has reported the reason.
            Ok(Child::Invalid) => return Ok(End::Invalid),
            Err(reason) => {
                let with =
                    if program > 0 { format!(" with `{}`", programs[program][0].display()) } else { String::new() };
                complain(failure(&format!("cannot measure `{}`{with}: {reason}", load.name()), voice.colour));
                return Ok(End::Failed);
            }
        }
    }
    drop(monitor);
    let rows_of = |runs: &[Vec<Measurement>]| -> Vec<BenchmarkRow> {
        chosen.iter().zip(runs).filter_map(|(load, runs)| BenchmarkRow::new(load.name(), runs)).collect()
    };
    let (mut rows, others) = (rows_of(&runs[..chosen.len()]), rows_of(&runs[chosen.len()..]));
    let against = against.map(|against| against.put_beside(&mut rows, others, args));
    let benchmark = Benchmark {
        schema: BENCHMARK_SCHEMA.into(),
        machine: machine(),
        repeats,
        threads: threads(args).get(),
        complete,
        growth: growth(&rows),
        rows,
        against,
    };
    if !complete {
        leave_out(&mut files, |name| name == "x.csv", "runs are missing", voice);
    }
    out.deliver(
        files,
        || table::benchmark(&benchmark),
        &benchmark,
        &[
            ("x.csv", &|w| csv::benchmark(&benchmark, w)),
            ("x.md", &|w| w.write_all(table::benchmark(&benchmark).to_markdown().as_bytes())),
        ],
    )?;
    Ok(if complete { End::Done } else { End::Interrupted })
}

/// Other build.
enum Against {
    Saved(Box<Benchmark>),
    Program(PathBuf),
}

impl Against {
    /// Reads a saved benchmark, or takes a file that is no text for a program.
    fn read(path: &Path, chosen: &[Load]) -> Result<Self, Failure> {
        let name = path.display();
        let wrong = |message: String| {
            let help = "`hayase bench -o x.json` of the other build writes one; or name its program";
            Failure::from(Diagnostic::new("no-benchmark", message).help(help))
        };
        note_input(&name.to_string());
        let content = std::fs::read(path).map_err(|error| wrong(format!("`{name}`: {}", super::reason(&error))))?;
        let text = std::str::from_utf8(&content).ok().filter(|text| !text.starts_with("#!"));
        let Some(text) = text else {
            return Ok(Self::Program(path.canonicalize().unwrap_or_else(|_| path.to_owned())));
        };
        let saved: Benchmark =
            serde_json::from_str(text).map_err(|error| wrong(format!("`{name}` is no benchmark: {error}")))?;
        if saved.schema != BENCHMARK_SCHEMA {
            return Err(wrong(format!("`{name}` has schema `{}`, not `{BENCHMARK_SCHEMA}`", saved.schema)));
        }
        let is_time = |time: &f64| time.is_finite() && *time > 0.0;
        if let Some(row) =
            saved.rows.iter().find(|row| row.cpu_ns.all.is_empty() || !row.cpu_ns.all.iter().all(is_time))
        {
            return Err(wrong(format!("`{name}`: the times of `{}` are no positive numbers", row.load)));
        }
        if !saved.rows.iter().any(|row| chosen.iter().any(|load| load.name() == row.load)) {
            return Err(wrong(format!("`{name}` has none of the loads that are measured")));
        }
        Ok(Self::Saved(Box::new(saved)))
    }

    /// Puts the figures of the other build into the rows of the same loads and messages.
    fn put_beside(self, rows: &mut [BenchmarkRow], measured: Vec<BenchmarkRow>, args: &BenchArgs) -> OtherBuild {
        let (mut others, machine) = match self {
            Self::Saved(saved) => (saved.rows, Some(saved.machine)),
            Self::Program(_) => (measured, None),
        };
        for row in rows {
            // Routes are repeated for a time, so that their number differs from run to run.
            // (A window ends at one of the looks at the clock, which another build may take elsewhere.)
            let is_alike = |other: &BenchmarkRow| {
                other.messages.abs_diff(row.messages) <= row.messages / 100 || row.load.contains("/route/")
            };
            let found = others.iter().position(|other| other.load == row.load && is_alike(other));
            row.against = found.map(|at| OtherCost::new(&row.cpu_ns.all, others.swap_remove(at).cpu_ns));
        }
        OtherBuild { file: args.against.as_ref().map(|path| path.display().to_string()).unwrap_or_default(), machine }
    }
}

/// Returns the loads whose names contain one of the given words, or all loads without words; large ones only
/// on request.
fn chosen(args: &BenchArgs) -> Result<Vec<Load>, Failure> {
    let all = loads();
    for word in &args.loads {
        if !all.iter().any(|load| load.name().contains(word.as_str())) {
            let near = closest(word, all.iter().map(Load::name));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(Diagnostic::new("unknown-load", format!("there is no load with `{word}` in its name"))
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
    // If all words are full names, they match only these, even if other names contain them.
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

/// Returns the number of threads of a run.
fn threads(args: &BenchArgs) -> NonZeroU32 {
    args.out.threads.map_or(NonZeroU32::MIN, options::started)
}

/// Prints the names of the loads and the part of each that is measured.
fn list(loads: &[Load], out: &OutputArgs) -> Result<(), Failure> {
    let extent = |load: &Load| match load.measured() {
        None => "the whole run".to_owned(),
        Some((messages, skip)) => {
            format!("{} after the first {}", table::count(messages, "message", "messages"), table::grouped(skip))
        }
    };
    let size = |load: &Load| if load.tier() == Tier::Large { " (with --large)" } else { "" };
    let listed: Vec<(String, String)> =
        loads.iter().map(|load| (load.name().to_owned(), format!("{}{}", extent(load), size(load)))).collect();
    let rows = || listed.iter().map(|(name, extent)| vec![name.as_str().into(), extent.as_str().into()]);
    Listing::new(&["load", "measured"], rows).answer(out, || table::loads(&listed))
}

fn length(args: &BenchArgs) -> Length {
    match (args.whole, args.messages) {
        (true, _) => Length::Whole,
        (false, Some(messages)) => Length::Messages(messages.get()),
        (false, None) => Length::Usual,
    }
}

/// Measures one load once in this process and prints the result for the parent.
fn alone(args: &BenchArgs, chosen: &[Load]) -> Result<End, Failure> {
    let Some(load) = chosen.first() else { return Ok(End::Done) };
    options::start(threads(args))?;
    let measurement = load.measure(length(args), None)?;
    print_with(|w| json::write(&measurement, w)).map(|()| End::Done)
}

/// Outcome of a process that measures a load.
enum Child {
    Done(Measurement),
    Stopped,
    Invalid,
}

/// Measures a load once in a process of its own; an error is the reason in words.
fn in_a_process(program: &[OsString], load: &Load, args: &BenchArgs, stop: &AtomicBool) -> Result<Child, String> {
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).args(["bench", load.name(), "--alone", "--threads", &threads(args).to_string()]);
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
            // It may have ended already, because Ctrl-C reaches all processes of a terminal.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Child::Stopped);
        }
        match child.try_wait().map_err(|error| super::reason(&error))? {
            Some(status) => break status,
            None => std::thread::sleep(GLANCE),
        }
    };
    // Its output is short, so it never blocks on the pipe.
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
