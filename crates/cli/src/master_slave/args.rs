//! Arguments of `hayase master-slave`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand, ValueHint};

use crate::options::OutputArgs;
use crate::scenario::{BesideArgs, SystemArgs, on_work};
use crate::seeds::SeedsArgs;
use crate::typed;

const EXAMPLES: &str = "\
Examples:
  hayase master-slave executed.csv --grid 1024x1024 --workers 8..128:8 --latency 20us --overhead 30us -o chart.svg
      the time of all tasks over the number of workers, from a few executed tasks
  hayase master-slave exponential:count=10000,mean=1ms --workers 64 --vary granularity=1..256:x2 -m myrinet
      the best number of tasks in one message
  hayase master-slave constant:count=200,time=1ms --workers 16 -t crossbar-64 --format json
      over a simulated fabric, where results share the master's link
  hayase master-slave plan executed.csv --grid 1024x1024 --accuracy 2% -o next.csv
      the tasks to execute next

You supply: executed.csv (tasks that you executed; validation/mandelbrot/executed.csv of the repository is one)

TASKS is one of
  a table (CSV): i1,i2,...,time[,bytes_in,bytes_out]; coordinates, and times in seconds or with a unit
  a tasks file (TOML): `grid = \"1024x1024\"`, `bytes-in = \"16 B\"` and a table like [tasks.file] path = \"executed.csv\"
  a rule: constant:count=N,time=T  uniform:count=N,least=T,most=T  exponential:count=N,mean=T
          heavy-tail:count=N,mean=T,shape=2.5  mandelbrot:side=1024,iterations=1000,time=T

Files (-o), by name:
  x.json     the predictions
  x.html     the answer as a page for a browser
  x.csv      a line for each prediction
  x.svg      time and efficiency over the number of workers, with bounds and saturation
  gantt.svg  the activity of each worker over time (one prediction)";

/// `hayase master-slave`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MasterSlaveArgs {
    /// Subcommand, instead of a prediction.
    #[command(subcommand)]
    pub verb: Option<MasterSlaveVerb>,
    /// The tasks: a table, a tasks file or a rule (see below).
    #[arg(value_name = "TASKS", required = true, value_hint = ValueHint::FilePath)]
    pub tasks: Option<String>,
    /// Description of the tasks.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The workers and the network.
    #[command(flatten)]
    pub farm: FarmArgs,
    /// Distribution of tasks to workers.
    #[command(flatten)]
    pub giving: GivingArgs,
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// System on which the work runs.
    #[command(flatten)]
    pub system: SystemArgs,
    /// Number of seeds.
    #[command(flatten)]
    pub seeds: SeedsArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Description of the tasks.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tasks")]
pub struct SourceArgs {
    /// The grid of all tasks, of which the table has the executed ones: 1024x1024 (coordinates from 1),
    /// 0..99x0..9.
    #[arg(long, value_name = "GRID")]
    pub grid: Option<String>,
    /// Give tasks outside the executed region the time of the nearest executed task, instead of refusing
    /// them.
    #[arg(long)]
    pub clamp: bool,
    /// Take the executed tasks as those that `plan` proposed, instead of a product grid.
    #[arg(long, conflicts_with = "clamp")]
    pub refined: bool,
    /// Size of each task message to the worker, unless the table has it.
    #[arg(long, value_name = "SIZE")]
    pub bytes_in: Option<String>,
    /// Size of each result message, unless the table has it.
    #[arg(long, value_name = "SIZE")]
    pub bytes_out: Option<String>,
}

/// The workers and the network between them and the master.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Workers and network")]
pub struct FarmArgs {
    /// Number of workers, or several: 64, 8..128:8, 1..1024:x2, 4,8,16.
    #[arg(short, long, value_name = "P|A..B:STEP")]
    pub workers: Option<String>,
    /// Number of processors including the master: P processors are P - 1 workers.
    #[arg(long, value_name = "P|A..B:STEP", conflicts_with = "workers")]
    pub processors: Option<String>,
    /// Task time on each worker relative to the machine that measured it: a CSV file `factor` or
    /// `workers,factor` (a line for each worker or group), or groups like 64x1,64x2.5.
    #[arg(long, value_name = "FILE|GROUPS")]
    pub speeds: Option<String>,
    /// Latency L of a message.
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// Overhead o0 of a message at each end.
    #[arg(long, value_name = "TIME")]
    pub overhead: Option<String>,
    /// Overhead o1, added to o0 for each processor.
    #[arg(long, value_name = "TIME")]
    pub overhead_per_processor: Option<String>,
    /// Time per byte G of the sender: "80 ns/B"; a fabric replaces it by its bandwidth.
    #[arg(long, value_name = "TIME/B")]
    pub gap: Option<String>,
    /// Let the master continue while its messages leave, instead of waiting for each.
    #[arg(long)]
    pub overlap: bool,
}

/// Distribution of tasks to workers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Distribution of tasks")]
pub struct GivingArgs {
    /// Order of the tasks: listed (the default), longest-first, shortest-first, random; or guided or
    /// factoring (as listed, in messages that become smaller). Order in which ranks of an all-to-all visit
    /// each other: rank (the default), node, slot, stride, sign, digit, reflect, random, or auto (the best in
    /// rounds).
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// Number of tasks in a message (default 1), or the smallest number with --chunking guided or factoring.
    #[arg(short = 'k', long, value_name = "K")]
    pub granularity: Option<NonZeroU32>,
    /// Rule for the number of tasks in a message: fixed (--granularity, the default), guided, factoring.
    #[arg(long, value_name = "RULE")]
    pub chunking: Option<String>,
    /// Number of messages sent to a worker ahead of its results (default 0).
    #[arg(value_parser = typed::whole::<u32>, long, value_name = "DEPTH")]
    pub prefetch: Option<u32>,
    /// Number of masters, each with its share of tasks and workers (default 1).
    #[arg(long, value_name = "M")]
    pub masters: Option<NonZeroU32>,
    /// Let a top-level master give batches of this number of tasks to the masters.
    #[arg(long, value_name = "BATCH")]
    pub hierarchy: Option<NonZeroU32>,
    /// Lose worker W (from 0) at a time: --lose 3@1.5s (may be repeated).
    #[arg(long, value_name = "W@TIME")]
    pub lose: Vec<String>,
    /// Time until the loss of a worker is detected (default: at once).
    #[arg(long, value_name = "TIME")]
    pub detection: Option<String>,
    /// Try several values of granularity, prefetch, masters, hierarchy, order or chunking:
    /// granularity=1..1024:x2, order=listed,random.
    #[arg(long, value_name = "WHAT=VALUES")]
    pub vary: Option<String>,
}

on_work!(SourceArgs: grid, clamp, refined, bytes_in, bytes_out);
on_work!(FarmArgs: workers, processors, speeds, latency, overhead, overhead_per_processor, gap, overlap);
on_work!(GivingArgs: order, granularity, chunking, prefetch, masters, hierarchy, lose, detection, vary);

/// Subcommand, instead of a prediction.
#[derive(Subcommand, Debug)]
pub enum MasterSlaveVerb {
    /// Propose the tasks to execute next for a wanted accuracy of the prediction.
    Plan(PlanArgs),
}

const PLAN_EXAMPLES: &str = "\
Examples:
  hayase master-slave plan --grid 1024x1024 -o next.csv
      the tasks to begin with
  hayase master-slave plan executed.csv --grid 1024x1024 --accuracy 2% -o next.csv
      the accuracy of the prediction so far, and the tasks to execute next
  hayase master-slave executed.csv --refined --grid 1024x1024 --workers 64
      the prediction from these executed tasks

You supply: executed.csv (the tasks of next.csv with their times)

Execute the tasks of next.csv, append their times to executed.csv (i1,i2,...,time), and plan again until nothing is \
left to execute. Tasks are drawn at random in cells, which are smaller where times differ. Intervals contain the true \
work and time in 95 % of all cases (docs/concepts/master-worker.md). Do not change earlier times or add other tasks, \
because the next draw depends on them.

Files (-o), by name:
  x.csv    the tasks to execute next
  x.json   everything";

/// `hayase master-slave plan`.
#[derive(Args, Debug)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    /// The tasks executed so far (CSV or TOML); none for the first plan.
    #[arg(value_name = "TASKS", value_hint = ValueHint::FilePath)]
    pub tasks: Option<String>,
    /// Description of the tasks.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Wanted accuracy: half the width of the 95 % interval of the total work, relative to it.
    #[arg(long, value_name = "PERCENT", default_value = "2%", help_heading = "Tasks")]
    pub accuracy: String,
    /// The workers and the network.
    #[command(flatten)]
    pub farm: FarmArgs,
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// System on which the work runs.
    #[command(flatten)]
    pub system: SystemArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}
