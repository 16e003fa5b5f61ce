//! What can be typed after `hayase master-slave`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand, ValueHint};

use crate::options::OutputArgs;
use crate::scenario::{BesideArgs, SystemArgs, on_work};
use crate::seeds::SeedsArgs;
use crate::typed;

const EXAMPLES: &str = "\
Examples:
  hayase master-slave executed.csv --grid 1024x1024 --workers 8..128:8 --latency 20us --overhead 30us -o chart.svg
      from a few executed tasks to the time of all of them, over the number of workers
  hayase master-slave exponential:count=10000,mean=1ms --workers 64 --vary granularity=1..256:x2 -m myrinet
      how many tasks to send in one message
  hayase master-slave constant:count=200,time=1ms --workers 16 -t crossbar-64 --format json
      the exchange over a simulated fabric: results share the master's link
  hayase master-slave plan executed.csv --grid 1024x1024 --accuracy 2% -o next.csv
      which tasks to execute next

Yours: executed.csv (tasks that you executed; validation/mandelbrot/executed.csv of the repository is one)

TASKS is one of
  a table (CSV): i1,i2,...,time[,bytes_in,bytes_out]; coordinates, and times in seconds or with a unit
  a tasks file (TOML): `grid = \"1024x1024\"`, `bytes-in = \"16 B\"` and a table like [tasks.file] path = \"executed.csv\"
  a rule: constant:count=N,time=T  uniform:count=N,least=T,most=T  exponential:count=N,mean=T
          heavy-tail:count=N,mean=T,shape=2.5  mandelbrot:side=1024,iterations=1000,time=T

Files (-o), by name:
  x.json     the predictions
  x.csv      a line for each
  x.svg      time and efficiency over the number of workers, with bounds and saturation
  gantt.svg  what each worker did when (one prediction)";

/// `hayase master-slave`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MasterSlaveArgs {
    /// What to do instead of predicting.
    #[command(subcommand)]
    pub verb: Option<MasterSlaveVerb>,
    /// The tasks: a table, a tasks file or a rule (see below).
    #[arg(value_name = "TASKS", required = true, value_hint = ValueHint::FilePath)]
    pub tasks: Option<String>,
    /// What the tasks are.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The workers and the network.
    #[command(flatten)]
    pub farm: FarmArgs,
    /// How tasks are given out.
    #[command(flatten)]
    pub giving: GivingArgs,
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// What holds for patterns and programs too.
    #[command(flatten)]
    pub system: SystemArgs,
    /// With how many seeds.
    #[command(flatten)]
    pub seeds: SeedsArgs,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// What the tasks are.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tasks")]
pub struct SourceArgs {
    /// The grid all tasks stand in, of which those of the table were executed: 1024x1024 (coordinates from 1),
    /// 0..99x0..9.
    #[arg(long, value_name = "GRID")]
    pub grid: Option<String>,
    /// Tasks beyond the executed ones take as long as the nearest of them, instead of being a mistake.
    #[arg(long)]
    pub clamp: bool,
    /// The executed tasks are those that `plan` proposed, instead of a product grid.
    #[arg(long, conflicts_with = "clamp")]
    pub refined: bool,
    /// Bytes to the worker with each task, where the table does not say.
    #[arg(long, value_name = "SIZE")]
    pub bytes_in: Option<String>,
    /// Bytes back with each result, where the table does not say.
    #[arg(long, value_name = "SIZE")]
    pub bytes_out: Option<String>,
}

/// The workers and the network between them and the master.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Workers and network")]
pub struct FarmArgs {
    /// Numbers of workers: 64, 8..128:8, 1..1024:x2, 4,8,16.
    #[arg(short, long, value_name = "P|A..B:STEP")]
    pub workers: Option<String>,
    /// The same with the master among them: P processors are P - 1 workers.
    #[arg(long, value_name = "P|A..B:STEP", conflicts_with = "workers")]
    pub processors: Option<String>,
    /// How long a task takes on each worker, relative to the machine that measured it: a CSV file `factor` or
    /// `workers,factor` (a line for each worker or group), or groups like 64x1,64x2.5.
    #[arg(long, value_name = "FILE|GROUPS")]
    pub speeds: Option<String>,
    /// L: how long a message is under way.
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// o0: what a message costs at each end.
    #[arg(long, value_name = "TIME")]
    pub overhead: Option<String>,
    /// o1: what is added to that for each processor.
    #[arg(long, value_name = "TIME")]
    pub overhead_per_processor: Option<String>,
    /// G: time of the sender for each byte: "80 ns/B"; on a fabric its capacity takes the place of that.
    #[arg(long, value_name = "TIME/B")]
    pub gap: Option<String>,
    /// The master goes on while its messages leave, instead of waiting for each.
    #[arg(long)]
    pub overlap: bool,
}

/// How tasks are given out.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Giving out tasks")]
pub struct GivingArgs {
    /// The order of the tasks: listed (the default), longest-first, shortest-first, random; guided or factoring (as
    /// listed, in messages that become smaller).
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// Tasks of a message (default 1); with --chunking guided or factoring the least.
    #[arg(short = 'k', long, value_name = "K")]
    pub granularity: Option<NonZeroU32>,
    /// How many tasks a message has: fixed (K, the default), guided, factoring.
    #[arg(long, value_name = "RULE")]
    pub chunking: Option<String>,
    /// Messages sent to a worker ahead, before its result is back (default 0).
    #[arg(value_parser = typed::whole::<u32>, long, value_name = "DEPTH")]
    pub prefetch: Option<u32>,
    /// So many masters, each with its part of tasks and workers (default 1).
    #[arg(long, value_name = "M")]
    pub masters: Option<NonZeroU32>,
    /// A master of masters gives out batches of so many tasks to the M masters.
    #[arg(long, value_name = "BATCH")]
    pub hierarchy: Option<NonZeroU32>,
    /// Worker W (from 0) is lost at a time: --lose 3@1.5s (may be repeated).
    #[arg(long, value_name = "W@TIME")]
    pub lose: Vec<String>,
    /// How long after its loss a worker is missed (default: at once).
    #[arg(long, value_name = "TIME")]
    pub detection: Option<String>,
    /// Try several values of granularity, prefetch, masters, hierarchy, order or chunking: granularity=1..1024:x2,
    /// order=listed,random.
    #[arg(long, value_name = "WHAT=VALUES")]
    pub vary: Option<String>,
}

on_work!(SourceArgs: grid, clamp, refined, bytes_in, bytes_out);
on_work!(FarmArgs: workers, processors, speeds, latency, overhead, overhead_per_processor, gap, overlap);
on_work!(GivingArgs: order, granularity, chunking, prefetch, masters, hierarchy, lose, detection, vary);

/// What to do instead of predicting.
#[derive(Subcommand, Debug)]
pub enum MasterSlaveVerb {
    /// Propose which tasks to execute next, for a wanted accuracy of the prediction.
    Plan(PlanArgs),
}

const PLAN_EXAMPLES: &str = "\
Examples:
  hayase master-slave plan --grid 1024x1024 -o next.csv
      the tasks to begin with
  hayase master-slave plan executed.csv --grid 1024x1024 --accuracy 2% -o next.csv
      how sure the prediction is by now, and what to execute next
  hayase master-slave executed.csv --refined --grid 1024x1024 --workers 64
      the prediction from tasks that were executed so

Yours: executed.csv (the tasks of next.csv with their times)

Execute the tasks of next.csv, append their times to executed.csv (i1,i2,...,time), and plan again until there \
is nothing to execute. Tasks are drawn at random in cells, smaller ones where times differ. Intervals hold the true \
work and time in 95 % of all cases (docs/concepts/master-worker.md). Leave earlier times as they are and add no other tasks: what \
is drawn next depends on them.

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
    /// What the tasks are.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Half the width of the 95 % interval of the work of all tasks, relative to it.
    #[arg(long, value_name = "PERCENT", default_value = "2%", help_heading = "Tasks")]
    pub accuracy: String,
    /// The workers and the network.
    #[command(flatten)]
    pub farm: FarmArgs,
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// What holds for patterns and programs too.
    #[command(flatten)]
    pub system: SystemArgs,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
}
