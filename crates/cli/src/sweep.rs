//! `hayase sweep`: all points of a plan, kept in a folder.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::files::{Opened, unknown};
use super::progress::{self, PointsMonitor};
use super::{End, Failure, Voice, extension, interrupt, options, print, reason};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::plan::{self, Columns, Counts, Faults, Merged, Plan, Ran, RunControl, Shard, StoreError};
use hayase::scenario::Loader;
use hayase::units::count;
use hayase_output::table::grouped;

const SWEEP_EXAMPLES: &str = "\
Examples:
  hayase sweep plan.toml -o out/                    all points, on all cores; again: what is missing
  hayase sweep plan.toml -o out/ --count            points, done, missing, failed, time left
  hayase sweep plan.toml -o out/ --merge all.csv    the rows, in the order of the plan
  hayase sweep plan.toml -o out/ --shard 3/64 -j 1  the fourth of 64 parts, for engines that start many processes:
  sbatch --array=0-63 --wrap 'hayase sweep plan.toml -o out/ --shard $SLURM_ARRAY_TASK_ID/64'
  parallel hayase sweep plan.toml -o out/ --shard {}/64 -j 1 ::: $(seq 0 63)

Yours: plan.toml, a scenario with what is varied:

  topology = \"torus-4x4\"
  workload = \"all-to-all-pairwise\"
  [grid]
  \"topology.torus.bandwidth\" = [\"1 GB/s\", \"2 GB/s\"]
  size = \"1 KB..1 MB:x2\"
  seed = \"1..=20\"

Each point is a line of DIR/I-of-N.jsonl: its id, what was varied, status, makespan_s and bounds; what failed or \
deadlocked is a line as well. Ctrl-C and kill -9 lose the points under way, and no others.";

/// `hayase sweep`.
#[derive(Args, Debug)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SweepArgs {
    /// The plan: a scenario file with a table [grid] of what is varied.
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// The folder in which results are kept.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// Run one part of the points: 3/64 is the fourth of 64.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["count", "merge"])]
    pub shard: Option<Shard>,
    /// Run nothing: count the points, those that are done, failed and missing, and say how long the rest takes.
    #[arg(long)]
    pub count: bool,
    /// Run nothing: write the rows that are done, in the order of the plan, as x.csv or x.json (may be repeated).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub merge: Vec<PathBuf>,
    /// Run points again that failed.
    #[arg(long, conflicts_with_all = ["count", "merge"])]
    pub retry_failed: bool,
    /// Threads to use (default: one for each core).
    #[arg(short = 'j', long, value_name = "N", help_heading = "Output")]
    pub threads: Option<NonZeroU32>,
}

/// Runs, counts or merges.
pub fn sweep(args: &SweepArgs, voice: Voice) -> Result<End, Failure> {
    let columns = args.merge.iter().map(|path| columns(path)).collect::<Vec<_>>();
    let mistakes: Vec<Diagnostic> = columns.iter().filter_map(|columns| columns.clone().err()).collect();
    if !mistakes.is_empty() {
        return Err(Invalid { diagnostics: mistakes, ..Invalid::default() }.into());
    }
    if let Some(threads) = args.threads {
        options::start(threads)?;
    }
    let loader = Loader::new().on_read(progress::reading(voice.show));
    let plan = Plan::read(&args.plan, loader)?;
    let folder = || {
        let diagnostic = Diagnostic::new("missing-option", "nothing says where the results are to be kept");
        args.output.as_deref().ok_or_else(|| diagnostic.help("write -o DIR"))
    };
    if args.count {
        let merged = plan::count(&plan, args.output.as_deref()).map_err(store)?;
        say_faults(&merged.faults, voice);
        print(&counted(&plan, &merged.counts))?;
    }
    if !args.merge.is_empty() {
        let folder = folder()?;
        for (path, columns) in args.merge.iter().zip(columns.into_iter().flatten()) {
            let (path, mut file) = Opened::new(path)?.into_parts();
            let merged = plan::merge(&plan, folder, columns, &mut file).map_err(store)?;
            file.commit().map_err(|error| Failure::Write(path.clone(), error))?;
            say_faults(&merged.faults, voice);
            say_missing(&merged, &path, voice);
        }
    }
    if args.count || !args.merge.is_empty() {
        return Ok(End::Done);
    }
    let stop = interrupt::stop_flag();
    let monitor = PointsMonitor::new(voice.show);
    let tell = |progress| monitor.tell(progress);
    let control = RunControl {
        progress: Some(&tell),
        cancel: Some(stop),
        retry_failed: args.retry_failed,
        ..RunControl::default()
    };
    let ran = plan::run(&plan, folder()?, args.shard.unwrap_or(Shard::ALL), control).map_err(store)?;
    drop(monitor);
    say_faults(&ran.faults, voice);
    print(&in_words(&ran, args))?;
    Ok(if ran.interrupted { End::Interrupted } else { End::Done })
}

fn columns(path: &Path) -> Result<Columns, Diagnostic> {
    match extension(path).as_str() {
        "csv" => Ok(Columns::Csv),
        "json" => Ok(Columns::Json),
        "parquet" => {
            let help = "write x.csv or x.json; `duckdb -c \"copy 'x.csv' to 'x.parquet'\"` makes one of it";
            Err(Diagnostic::new("unknown-output", "Parquet files are not written").help(help))
        }
        _ => Err(unknown(path, "x.csv or x.json")),
    }
}

/// `1,000 points: 998 run, 2 of them failed`.
fn in_words(ran: &Ran, args: &SweepArgs) -> String {
    let shard = args.shard.map(|shard| format!("shard {}/{}: ", shard.index, shard.of)).unwrap_or_default();
    let failed = if ran.failed > 0 { format!(", {} of them failed", grouped(ran.failed)) } else { String::new() };
    let there = match ran.there {
        0 => String::new(),
        there => format!(", {}", count(there, "was there", "were there")),
    };
    let stopped = if ran.interrupted { "; stopped before the end: the same command goes on" } else { "" };
    let points = count(ran.run, "point run", "points run");
    format!("{shard}{points}{failed}{there}{stopped}\n")
}

fn counted(plan: &Plan, counts: &Counts) -> String {
    let Counts { points, repeated, done, failed, missing, unfinished, wall_s } = counts;
    let mut text = format!("{:<10} {}\n", "points", grouped(*points));
    let mut line = |name: &str, value: String| text += &format!("{name:<10} {value}\n");
    if *repeated > 0 {
        line("the same", format!("{} as another, run once", grouped(*repeated)));
    }
    line("done", grouped(*done));
    line("failed", grouped(*failed));
    line("missing", grouped(*missing));
    if *unfinished > 0 {
        line("unfinished", format!("{}: their seeds are not enough yet", grouped(*unfinished)));
    }
    if let (Some(wall_s), true) = (wall_s, *missing > 0) {
        let threads = rayon::current_num_threads();
        let left = counts.left_s(threads).unwrap_or(0.0);
        let each = format!("{:.3} ms a point, {threads} threads", wall_s * 1e3);
        line("time left", format!("{} ({each})", progress::duration(left)));
    }
    let keys = plan.keys().join(", ");
    line("varied", keys);
    text
}

fn say_faults(faults: &Faults, voice: Voice) {
    if faults.torn_lines > 0 {
        let lines = count(faults.torn_lines, "line is no row", "lines are no rows");
        voice.say(format_args!("note: {lines} and count for nothing: {}", faults.torn.join(", ")));
    }
    if faults.doubles > 0 {
        let points = count(faults.doubles, "point has more than one row", "points have more than one row");
        voice.say(format_args!("note: {points}, all the same"));
    }
}

fn say_missing(merged: &Merged, path: &Path, voice: Voice) {
    let Counts { points, done, missing, .. } = &merged.counts;
    if *missing > 0 {
        let (done, points, missing) = (grouped(*done), grouped(*points), grouped(*missing));
        voice.say(format_args!("note: `{}` has {done} of {points} points; {missing} are missing", path.display()));
    }
}

fn store(error: StoreError) -> Failure {
    match error {
        StoreError::Invalid(invalid) => invalid.into(),
        StoreError::Failed(path, error) => {
            let message = format!("cannot read or write `{}`: {}", path.display(), reason(&error));
            let help = "what is there stays; the same command goes on from it";
            Failure::Failed(Box::new(Diagnostic::new("store", message).help(help)))
        }
    }
}
