//! Arguments of `hayase sweep`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use hayase::plan::Shard;

const SWEEP_EXAMPLES: &str = "\
Examples:
  hayase sweep plan.toml -o out/                    run all points on all cores; again: the missing ones
  hayase sweep plan.toml -o out/ --count            count points: done, missing, failed; time left
  hayase sweep plan.toml -o out/ --merge all.csv    write the rows in the order of the plan
  hayase sweep plan.toml -o out/ --shard 3/64 -j 1  run the fourth of 64 parts, for batch systems
  hayase sweep plan.toml -o out/ -o lines.svg --best --sensitivity    show finished points; with --run all
  hayase sweep plan.toml -o out/ --crossings size,pattern -o lines.svg
  hayase sweep plan.toml -o out/ --submit slurm --go
  sbatch --array=0-63 --wrap 'hayase sweep plan.toml -o out/ --shard $SLURM_ARRAY_TASK_ID/64'
  parallel hayase sweep plan.toml -o out/ --shard {}/64 -j 1 ::: $(seq 0 63)

You supply: plan.toml, a scenario with the keys to vary:

  topology = \"torus-4x4\"
  workload = \"all-to-all-pairwise\"
  [grid]
  \"topology.torus.bandwidth\" = [\"1 GB/s\", \"2 GB/s\"]
  size = \"1 KiB..1 MiB:x2\"
  seed = \"1..=20\"

Files (-o, --merge), by name:
  x.csv        a line for each point, in the order of the plan
  x.json       the same
  x.html       the best points and the effect of each key as a page for a browser
  x.parquet    the same with types and one unit for each column, for pandas, polars, DuckDB, R
  lines.svg    mean makespans over the key with most numbers, a line for each value of another key
  heat.svg     the same as a heat map of two keys
  pareto.svg   mean makespans against a cost (--cost)

Each point is a line of DIR/I-of-N.jsonl: its id, varied values, status, makespan_s and bounds, also if it failed or \
deadlocked. Ctrl-C and kill -9 lose only the points under way.";

/// `hayase sweep`.
#[derive(Args, Debug)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SweepArgs {
    /// The plan: a scenario file with a table [grid] of the keys to vary.
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Keep results in this folder; also the name of a picture or table (see below; may be repeated).
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub output: Vec<PathBuf>,
    /// Run one part of the points: 3/64 is the fourth of 64.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["count", "merge"])]
    pub shard: Option<Shard>,
    /// Run nothing: count the points that are done, failed and missing, and estimate the time of the rest.
    #[arg(long)]
    pub count: bool,
    /// Write the finished points as a table in the order of the plan, or as a picture (see below; may be
    /// repeated). Nothing is run, except with --run.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub merge: Vec<PathBuf>,
    /// Run missing points before --merge, --best and --sensitivity, which otherwise use finished points only.
    #[arg(long, conflicts_with = "count")]
    pub run: bool,
    /// Run nothing: show this number of configurations with the smallest mean makespans.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", require_equals = true)]
    pub best: Option<NonZeroU32>,
    /// Run nothing: show the influence of each key, as the part of the variance of log(makespan) that it
    /// explains alone.
    #[arg(long)]
    pub sensitivity: bool,
    /// Find the values of the first key at which the best value of the second changes, to 1 %. Values between
    /// those of the plan are run too.
    #[arg(long, value_name = "KEY,KEY", value_parser = two_keys, conflicts_with = "shard")]
    pub crossings: Option<(String, String)>,
    /// Cost of a point for pareto.svg and x.html: a key with numbers, or a figure that the plan keeps.
    #[arg(long, value_name = "KEY")]
    pub cost: Option<String>,
    /// Write a script by which this engine runs all shards, each of 30 to 60 minutes with -j threads.
    #[arg(long, value_enum, value_name = "ENGINE", hide_possible_values = true,
          conflicts_with_all = ["shard", "count", "merge", "crossings"],
          long_help = "Write a script by which an engine runs all shards, each of 30 to 60 minutes with -j threads: \
                       slurm (sbatch) or hq (HyperQueue)")]
    pub submit: Option<Engine>,
    /// Submit the script too.
    #[arg(long, requires = "submit")]
    pub go: bool,
    /// Run failed points again.
    #[arg(long, conflicts_with_all = ["count", "merge"])]
    pub retry_failed: bool,
    /// Number of threads (default: one for each core).
    #[arg(short = 'j', long, value_name = "N", help_heading = "Output")]
    pub threads: Option<NonZeroU32>,
}

/// Batch system that starts processes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Slurm: an array of `sbatch`.
    Slurm,
    /// HyperQueue: an array of `hq submit`.
    Hq,
}

/// Parses the keys of `--crossings`: `size,pattern`.
fn two_keys(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((over, of)) if over.trim() == of.trim() => {
            Err(format!("`{}` is named twice; two keys are expected: size,pattern", over.trim()))
        }
        Some((over, of)) if !over.trim().is_empty() && !of.trim().is_empty() => {
            Ok((over.trim().to_owned(), of.trim().to_owned()))
        }
        _ => Err("write two keys, one with numbers and one whose values compete: size,pattern".to_owned()),
    }
}
