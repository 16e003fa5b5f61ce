//! Arguments of `hayase replay`, shared with other commands that replay programs.

use clap::Args;

use crate::Voice;
use crate::options::OutputArgs;
use crate::regions::RegionArgs;
use crate::scenario::{BesideArgs, SystemArgs, on_work, set_key};
use crate::seeds::SeedsArgs;
use crate::trace::TraceArgs;
use crate::window::WindowArgs;
use hayase::program::Wildcards;
use hayase::program::generate::Generator;
use hayase::scenario::Loader;

/// Returns the text below the options, with all rules.
fn examples() -> String {
    format!("{EXAMPLES}\n\nPrograms by rule, with their defaults:\n{}\n{FILES}", Generator::usage())
}

const EXAMPLES: &str = "\
Examples:
  hayase replay gaussian-elimination:n=256 -m myrinet
      on a machine, without contention in the network
  hayase replay gaussian-elimination:n=256 -m myrinet -t torus-4x4
      the same nodes on a simulated fabric
  hayase replay stencil:iterations=2 -m myrinet -t torus-8x8 --transport packet:oq
  hayase replay gaussian-elimination:n=256 -m myrinet --set node.loggps.S=\"64 KiB\"
  hayase replay linear:ranks=64,size=20480B --node loggopsim --set node.loggopsim.L=\"2500 ns\"
  hayase replay run/ -m infiniband-hdr --cpu-speed 2
  hayase replay run/ -m myrinet --fragment 16383B -o breakdown.svg
  hayase replay program.goal -m myrinet -o timeline.svg

You supply: run/ (from `hayase record`), program.goal (a schedule)";

const FILES: &str = "\
Files (-o), by name:
  x.json           the report
  x.html           the answer as a page for a browser: sentences, tables and pictures
  ranks.csv        the time of each rank by kind, and its lateness
  activities.csv   the activities of each rank: rank,kind,begin_s,end_s,op,message,peer
  messages.csv     each message: message,src,dst,tag,comm,bytes,sent_by,received_by,called_s,arrive_s,end_s
  path.csv         the critical path, with the same columns
  matrix.csv       messages and bytes by sender and receiver
  matrix.svg       the same as a picture
  noise.svg        the propagation of delays of slow ranks (--straggler, --noise); also noise.csv
  breakdown.svg    the time of each rank by kind, as bars
  timeline.svg     activities of ranks, messages and the critical path
  loads.svg        the load of each link, drawn on the fabric (-t)
  links.svg        the load over time of each kind of link, and of the busiest links; also links.csv
  trace.json       for Perfetto (ui.perfetto.dev); also x.trace.json, x.perfetto.json";

/// `hayase replay`.
#[derive(Args, Debug)]
#[command(after_help = examples())]
pub struct ReplayArgs {
    /// The program: a trace or schedule (see `hayase trace info --help` for formats), or one by rule (see below).
    #[command(flatten)]
    pub input: TraceArgs,
    /// System on which the program runs.
    #[command(flatten)]
    pub on: PlayedOn,
    /// Fragmentation of messages.
    #[command(flatten)]
    pub fragment: FragmentArgs,
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

/// System on which a program runs: nodes, fabric and processor speed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Scenario")]
pub struct PlayedOn {
    /// A scenario file.
    #[command(flatten)]
    pub beside: BesideArgs,
    /// System on which the work runs.
    #[command(flatten)]
    pub system: SystemArgs,
    /// Execution of its ranks.
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// Execution of the ranks of a program.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct ProgramArgs {
    /// Speed of the processors relative to those of the recorded run (default: 1).
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub cpu_speed: Option<f64>,
    /// Message that a receive with a wildcard (any source, any tag) takes: recorded (the message of the
    /// recorded run, the default) or arrival (the first to arrive).
    #[arg(long, value_parser = ["recorded", "arrival"], value_name = "WHICH", hide_possible_values = true)]
    pub wildcards: Option<String>,
    /// Part of the program to evaluate.
    #[command(flatten)]
    pub regions: RegionArgs,
}

impl PlayedOn {
    /// Returns the loader of these options; options override files.
    pub fn loader(&self, voice: Voice) -> Loader {
        self.system.on(self.beside.loader(voice))
    }
}

impl ProgramArgs {
    /// Sets the keys of the work.
    pub fn on(&self, loader: Loader) -> Loader {
        let loader = set_key(set_key(loader, "cpu_speed", &self.cpu_speed), "wildcards", &self.wildcards);
        self.regions.on(loader)
    }

    /// Returns the rule for receives with wildcards.
    pub fn wildcards(&self) -> Wildcards {
        if self.wildcards.as_deref() == Some("arrival") { Wildcards::Arrival } else { Wildcards::Recorded }
    }
}

/// Fragmentation of the messages of a program.
#[derive(Args, Clone, Debug, Default)]
pub struct FragmentArgs {
    /// Send and receive messages longer than this in pieces of this size (except those of collective
    /// operations).
    #[arg(long, value_name = "SIZE", help_heading = "Scenario")]
    pub fragment: Option<String>,
}

on_work!(FragmentArgs: fragment);

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("a number above 0 is expected".to_owned()),
    }
}
