//! `hayase compare`: many runs side by side, best first.

use std::io::Write;
use std::path::Path;

use super::args::{CompareArgs, TableFormat};
use super::files::{self, unknown};
use super::progress::{self, RunsMonitor};
use super::{
    End, Failure, Voice, complain, deadlock, extension, in_threads, interrupt, pictures, print_with, scenario,
};
use hayase::diagnostic::{Diagnostic, failure};
use hayase::report::Comparison;
use hayase::scenario::Loader;
use hayase::sweep::{Control, Sweep, SweepError};
use hayase_output::{csv, json, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Chart,
    Csv,
    Json,
    Markdown,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "svg" => Ok(Self::Chart),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "md" => Ok(Self::Markdown),
            _ => Err(unknown(path, "x.svg, x.csv, x.json or x.md")),
        }
    }
}

/// Runs all combinations.
pub fn compare(args: &CompareArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let sweep = sweep(args, voice)?;
    let files = files::open(&args.output, Kind::of)?;
    let stop = interrupt::stop_flag();
    let monitor = RunsMonitor::new(voice.show);
    let tell = |progress| monitor.tell(progress);
    let control = Control { progress: Some(&tell), cancel: Some(stop) };
    let result = in_threads(args.threads, sweep.most_runs(), || sweep.run(control))?;
    drop(monitor);
    let comparison = match result {
        Ok(comparison) => comparison,
        Err(SweepError::Invalid(invalid)) => return Err(invalid.into()),
        Err(undone @ SweepError::Undone { .. }) => {
            complain(failure(&undone.to_string(), voice.colour));
            return Ok(End::Failed);
        }
        Err(SweepError::Deadlocked { point, seed, blocked, gridlock, stopped }) => {
            complain(failure(&format!("{point} with seed {seed} deadlocks"), voice.colour));
            complain(deadlock::explain(&blocked, gridlock.as_ref(), stopped).trim_end());
            return Ok(End::Deadlocked);
        }
    };
    for (kind, file) in files {
        // What says of itself that it is incomplete is written; rows of a table cannot, and a chart of nothing is none.
        let marked = matches!(kind, Kind::Json | Kind::Markdown | Kind::Chart);
        if !comparison.complete && (!marked || comparison.rows.is_empty()) {
            voice.say(format_args!("`{}` is not written: runs are missing", file.path().display()));
            continue;
        }
        file.write(|w| match kind {
            Kind::Chart => pictures::comparison(&comparison, w),
            Kind::Csv => csv::comparison(&comparison, w),
            Kind::Json => json::write(&comparison, w),
            Kind::Markdown => w.write_all(table::comparison(&comparison).to_markdown().as_bytes()),
        })?;
    }
    show(&comparison, args.format, voice)?;
    Ok(if comparison.complete { End::Done } else { End::Interrupted })
}

fn show(comparison: &Comparison, format: TableFormat, voice: Voice) -> Result<(), Failure> {
    if !comparison.complete && format == TableFormat::Csv {
        voice.say("runs are missing: rows, or seeds of rows, are not all there");
    }
    match format {
        TableFormat::Table => super::show(&table::comparison(comparison)),
        TableFormat::Json => print_with(|w| json::write(comparison, w)),
        TableFormat::Csv => print_with(|w| csv::comparison(comparison, w)),
    }
}

/// Names with what belongs to them: the parameters of a rule have commas of their own (`linear:ranks=8,size=1KB`).
fn rejoined(parts: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        match names.last_mut() {
            Some(name) if name.contains(':') && part.contains('=') && !part.contains(':') => {
                *name += ",";
                *name += part;
            }
            _ => names.push(part.clone()),
        }
    }
    names
}

/// What was typed, as a sweep.
fn sweep(args: &CompareArgs, voice: Voice) -> Result<Sweep, Failure> {
    let mut base = Loader::new().on_read(progress::reading(voice.show));
    if let Some(path) = &args.scenario {
        base = base.file(path);
    }
    if let Some(preset) = &args.preset {
        base = base.preset(preset);
    }
    if let Some(size) = &args.size {
        base = base.size(size);
    }
    if let Some(jitter) = &args.jitter {
        base = base.jitter(jitter);
    }
    for assignment in &args.set {
        base = base.set("--set", assignment);
    }
    let seeds = match (args.seed, args.seeds) {
        // As the scenario file says.
        (None, None) => Vec::new(),
        (first, count) => scenario::seeds(first.unwrap_or(1), count)?,
    };
    let from = args.scenario.as_ref().map(|path| path.display().to_string());
    let listed =
        [&args.topology, &args.pattern].into_iter().filter(|list| !list.is_empty()).map(|list| list.join(", "));
    Ok(Sweep {
        title: from.into_iter().chain(listed).collect::<Vec<_>>().join(": "),
        base,
        topologies: args.topology.clone(),
        patterns: rejoined(&args.pattern),
        placements: args.placement.clone(),
        sharings: args.sharing.clone(),
        transports: args.transport.clone(),
        routings: args.routing.clone(),
        injections: args.injection.clone(),
        machines: args.machine.clone(),
        varied: args.vary.clone(),
        seeds,
    })
}
