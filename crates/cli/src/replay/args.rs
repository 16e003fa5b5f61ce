//! What can be typed after `hayase replay` and `hayase machine`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use crate::args::RunFormat;
use crate::regions::RegionArgs;
use crate::trace::TraceArgs;
use crate::usage;
use crate::window::WindowArgs;
use hayase::workload::program::Wildcards;
use hayase::workload::program::generate::Generator;

/// What stands below the options; the rules are those that there are.
fn examples() -> String {
    format!("{EXAMPLES}\n\nPrograms by rule, with what holds where nothing is said:\n{}\n{FILES}", Generator::usage())
}

const EXAMPLES: &str = "\
Examples:
  hayase replay gaussian-elimination:n=256 -m myrinet             on a machine, without contention in its network
  hayase replay gaussian-elimination:n=256 -m myrinet -t torus-4x4   the same nodes on a simulated fabric
  hayase replay stencil:iterations=2 -m myrinet -t torus-8x8 --transport packet:oq
  hayase replay gaussian-elimination:n=256 -m myrinet --set node.loggps.S=\"64 KiB\"
  hayase replay linear:ranks=64,size=20480B --node loggopsim --set node.loggopsim.L=\"2500 ns\"
  hayase replay run/ -m infiniband-hdr --cpu-speed 2
  hayase replay program.goal -m myrinet -o timeline.svg

Yours: run/ (what `hayase record` wrote), program.goal (a schedule)";

const FILES: &str = "\
Files (-o), by name:
  x.json           the report
  ranks.csv        where the time of each rank went
  activities.csv   what each rank did when: rank,kind,begin_s,end_s,op,message,peer
  messages.csv     each message: message,src,dst,tag,comm,bytes,sent_by,received_by,called_s,arrive_s,end_s
  path.csv         the critical path, step by step, with the same columns
  matrix.csv       messages and bytes by sender and receiver
  matrix.svg       the same as a picture
  timeline.svg     what ranks did, messages between them and the critical path
  trace.json       for Perfetto (ui.perfetto.dev); also any x.perfetto.json";

/// `hayase replay`.
#[derive(Args, Debug)]
#[command(after_help = examples())]
pub struct ReplayArgs {
    /// The program: a trace or schedule (see `hayase trace info --help` for formats), or one by rule (see below).
    #[command(flatten)]
    pub input: TraceArgs,
    /// What it is played on.
    #[command(flatten)]
    pub on: PlayedOn,
    /// What is written.
    #[command(flatten)]
    pub written: Written,
    /// What is printed: table or json.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = RunFormat::Table, hide_possible_values = true,
          help_heading = "Output")]
    pub format: RunFormat,
}

/// Files, and what of a run a timeline among them shows.
#[derive(Args, Debug)]
pub struct Written {
    /// Also write this file; its name says what (see below; may be repeated).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// What a timeline shows.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// What a program is played on: nodes, fabric, and the speed of processors.
#[derive(Args, Debug)]
#[command(next_help_heading = "Scenario")]
pub struct PlayedOn {
    /// A scenario file with tables like [node.*], [topology.*], [collectives].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// What messages cost at their ends, and without a fabric in between: a name (`hayase machine list`) or a TOML file
    /// with a [node.*] table.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The node model: ideal, loggp, loggps, loggopsim; its parameters are those of the machine, or set with --set.
    #[arg(long, value_name = "MODEL")]
    pub node: Option<String>,
    /// The fabric that carries the messages: a name (`hayase topology list`), a TOML file, a SimGrid platform. Without,
    /// the node model's own latency and gaps.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// Which node each rank is on: regular, random, block, round-robin, or a CSV file `rank,node`.
    #[arg(long, value_name = "RULE|FILE")]
    pub placement: Option<String>,
    /// How messages share a link: max-min, equal-share, redistribute.
    #[arg(long, value_name = "POLICY")]
    pub sharing: Option<String>,
    /// How messages move over the fabric: flow, flow:equal-share, packet:oq, packet:iq, packet:fq, contention-free.
    #[arg(long, value_name = "MODEL")]
    pub transport: Option<String>,
    /// Which way messages go (default: what is usual for the fabric).
    #[arg(long, value_name = "RULE")]
    pub routing: Option<String>,
    /// How fast processors are, relative to those on which the trace was recorded.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub cpu_speed: f64,
    /// What a receive takes that left open from whom or with what tag: recorded (what came in the recorded run) or
    /// arrival (what comes first).
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = TakenBy::Recorded, hide_possible_values = true)]
    pub wildcards: TakenBy,
    /// The seed of everything random.
    #[arg(value_parser = usage::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Any key of a scenario file: --set node.loggps.S="64 KiB" (may be repeated; the last one holds).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Which part of it is looked at.
    #[command(flatten)]
    pub regions: RegionArgs,
}

/// What a receive takes that left open from whom.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TakenBy {
    /// What came in the recorded run.
    Recorded,
    /// What comes first.
    Arrival,
}

impl From<TakenBy> for Wildcards {
    fn from(taken: TakenBy) -> Self {
        match taken {
            TakenBy::Recorded => Self::Recorded,
            TakenBy::Arrival => Self::Arrival,
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("a number above 0 is expected".to_owned()),
    }
}

/// `hayase machine`.
#[derive(Subcommand, Debug)]
pub enum MachineVerb {
    /// List the named machines.
    List,
    /// Show one: its parameters, and where they are from.
    #[command(after_help = "\
Examples:
  hayase machine show myrinet")]
    Show(MachineShowArgs),
}

/// `hayase machine show`.
#[derive(Args, Debug)]
pub struct MachineShowArgs {
    /// A name (`hayase machine list`).
    #[arg(value_name = "NAME")]
    pub name: String,
}
