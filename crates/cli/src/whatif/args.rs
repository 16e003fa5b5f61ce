//! Arguments of `hayase whatif`.

use clap::Args;

use crate::options::OutputArgs;
use crate::replay::args::PlayedOn;
use crate::trace::TraceArgs;

const EXAMPLES: &str = "\
Examples:
  hayase whatif gaussian-elimination:n=128 -m myrinet
      every parameter halved and doubled
  hayase whatif gaussian-elimination:n=128 -m myrinet --vary S=4KiB..256KiB --vary L=100ns..10us -o whatif.svg
  hayase whatif gaussian-elimination:n=128 -m myrinet -t torus-4x4 \\
      --vary topology.torus.bandwidth=100MB/s..1.6GB/s:x2
  hayase whatif pairwise:ranks=16 -m myrinet -t torus-4x4 --vary transport=flow,packet:oq,packet:iq
  hayase whatif run/ -m myrinet --vary cpu-speed=1,2,4,8
  hayase whatif farm.toml --vary workload.master-slave.overhead=1us..10us

You supply: farm.toml (a scenario), run/ (from `hayase record`)

TRACE may also be a scenario file, the report of a run, or a named pattern.

Values: a list a,b,c; a range A..B (sizes by a factor of 2, others in seven steps), A..B:STEP, A..B:xFACTOR. \
Each parameter is changed alone.

Files (-o), by name:
  x.svg    a chart
  x.csv    parameter,value,number,time_s,change,failed
  x.json   the report
  x.html   the answer as a page for a browser";

/// `hayase whatif`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct WhatIfArgs {
    /// The work: a trace, a schedule or a program by rule, as for `hayase replay`; a scenario file or a
    /// report; or a named pattern.
    #[command(flatten)]
    pub input: TraceArgs,
    /// Vary a parameter of the node model (L, o, S ...: case matters), a key of a scenario
    /// (topology.torus.bandwidth) or cpu-speed over these values (may be repeated; default: halve and double
    /// every parameter).
    #[arg(long, value_name = "PARAM=VALUES")]
    pub vary: Vec<String>,
    /// System on which the program runs.
    #[command(flatten)]
    pub on: PlayedOn,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}
