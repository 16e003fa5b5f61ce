//! Arguments of `hayase predict`.

use clap::{Args, ValueHint};

use crate::caveats::Strictness;
use crate::options::OutputArgs;
use crate::replay::args::PlayedOn;
use crate::scenario::on_work;
use crate::seeds::SeedsArgs;
use crate::window::WindowArgs;

const EXAMPLES: &str = "\
Examples:
  hayase predict --program cg.prog --computation node-a.comp --communication gigabit.comm
  hayase predict --program cg.prog --computation node-b.comp --communication gigabit.comm
      the same program and network on another machine
  hayase predict --program cg.prog --computation 0-7=node-a.comp,8-15=node-b.comp --communication gigabit.comm
      ranks on different machines
  hayase predict --program cg.prog --computation node-a.comp --scale 0.6 --communication gigabit.comm
      a machine without measurements: every block takes 0.6 times as long
  hayase predict --program cg.prog --computation node-a.comp \\
      --communication gigabit.comm,node:8=shared-memory.comm
      eight ranks on each node, with other message times within a node
  hayase predict --program cg.prog --computation node-a.comp -m infiniband-hdr -t fat-tree-54
      on a simulated network with contention, instead of communication data

You supply: cg.prog, node-a.comp and node-b.comp (`hayase program fold` of runs on both machines), gigabit.comm and \
shared-memory.comm (`hayase measure communication`)

Files (-o), by name: see `hayase replay`.";

/// `hayase predict`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PredictArgs {
    /// The data sets.
    #[command(flatten)]
    pub data: DataArgs,
    /// Treatment of data of an incomplete recording.
    #[command(flatten)]
    pub strictness: Strictness,
    /// System of the prediction, instead of communication data.
    #[command(flatten)]
    pub on: PlayedOn,
    /// Number of seeds.
    #[command(flatten)]
    pub seeds: SeedsArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
    /// Window of a timeline.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// The data sets of a prediction.
#[derive(Args, Clone, Debug, Default)]
pub struct DataArgs {
    /// Program data (`hayase program fold`).
    #[arg(long, value_name = "PROG", required = true, value_hint = ValueHint::FilePath)]
    pub program: Option<String>,
    /// Computation data: one file for all ranks, or one for each set of ranks: 0-7=a.comp,8-15=b.comp.
    #[arg(long, value_name = "COMP|RANKS=COMP,...", required = true)]
    pub computation: Option<String>,
    /// Communication data (`hayase measure communication`): messages take the times measured for their sizes,
    /// without contention. Give one file for all pairs of ranks, and others for some pairs:
    /// within.comm,0-7:8-15=between.comm or between.comm,node:8=within.comm. Pairs are 0-7:8-15 (both ways),
    /// 0-7>8-15 (one way), 0-7 (among these) or node:8 (among each 8); a set may be 0-3+8. The last entry
    /// that names a pair counts.
    #[arg(long, value_name = "COMM|COMM,PAIRS=COMM,...")]
    pub communication: Option<String>,
    /// Scale the times of blocks by a factor, for machines that were not measured: 1.5, or 0-7=1.5,8-15=0.8
    /// (default: 1).
    #[arg(long, value_name = "FACTOR|RANKS=FACTOR,...")]
    pub scale: Option<String>,
    /// Time of each execution of a block: mean, line (a fitted line if the times follow one, else the mean;
    /// the default) or draw (if they vary, from eight representative times in an order drawn by --seed).
    #[arg(long, value_name = "WHICH")]
    pub times: Option<String>,
}

on_work!(DataArgs: program, computation, communication, scale, times);
