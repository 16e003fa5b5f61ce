//! Arguments of `hayase trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::caveats::Strictness;
use crate::options::OutputArgs;
use crate::scenario::on_work;
use crate::typed::whole;
use hayase::diagnostic::{Diagnostic, Located, Sources, file_names};
use hayase::trace::chakra::Rules;
use hayase::trace::{Options, Trace};
use hayase::units::Bandwidth;

/// Formats of traces, for the help of the commands that read them.
const FORMATS: &str = "\
Formats, recognized by content, then by name:
  .hyt, or a folder of them   Hayase's own recorded calls
  .goal, .bin                 GOAL schedules, text and binary
  .txt                        SimGrid's time-independent traces, one file or a list of files
  .tsv                        text traces of the NAS Parallel Benchmarks
  .et                         Chakra execution traces: a folder with NAME.RANK.et, DIR/NAME, or the file of a rank
  .txt                        workloads of SimAI
  .meta                       DUMPI traces of SST, or a folder of them: NAME.meta and NAME-RANK.bin
  .prv                        traces of Paraver
  .otf2                       OTF2 archives: the anchor, or a folder with one
All of them may be compressed with zstd (.zst) or gzip (.gz).";

const INFO_FILES: &str = "\
Files (-o), by name:
  x.json   all that is shown";

const SITES_FILES: &str = "\
Files (-o), by name:
  x.csv    a line for each site and call
  x.json   the same, with memory accesses";

/// `hayase trace`.
#[derive(Subcommand, Debug)]
pub enum TraceVerb {
    /// Show the contents of a trace: ranks, calls, bytes, times, and receives without a message.
    #[command(after_help = format!("{FORMATS}\n\n{INFO_FILES}"))]
    Info(TraceInfoArgs),
    /// Show the places of the program that make calls: file, line and function, with counts, bytes and times.
    #[command(after_help = format!("{FORMATS}\n\n{SITES_FILES}"))]
    Sites(TraceSitesArgs),
    /// Convert a trace to another format.
    #[command(after_help = FORMATS)]
    Convert(TraceConvertArgs),
}

/// Trace, and options for reading it.
#[derive(Args, Clone, Debug)]
pub struct TraceArgs {
    /// A trace or a schedule: a file, or a folder with a file for each rank. Commands that simulate it also
    /// take a program by rule (linear:ranks=64).
    #[arg(value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub trace: PathBuf,
    /// Options for reading it.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Treatment of incomplete recordings.
    #[command(flatten)]
    pub strictness: Strictness,
}

/// Options for reading a trace.
#[derive(Args, Clone, Debug, Default)]
pub struct ReadArgs {
    /// Operations per second, for time-independent traces, which have operations instead of times (default:
    /// 1e9), and for the nodes of execution traces that have both (.et).
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub flop_rate: Option<f64>,
    /// Use the readable part of a trace that ends early (.hyt).
    #[arg(long)]
    pub truncated: bool,
    /// Bandwidth of the memory, for the tensors of execution traces (.et): "2 TB/s".
    #[arg(long, value_name = "RATE", value_parser = bandwidth)]
    pub memory_bandwidth: Option<String>,
    /// File with the process groups of an execution trace: {"1": [0, 1]}.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub groups: Option<String>,
    /// All-gathers of an execution trace have the size of the gathered data, not of a rank's part.
    #[arg(long)]
    pub gathered: bool,
}

on_work!(ReadArgs: flop_rate, truncated, memory_bandwidth, groups, gathered);

impl TraceArgs {
    /// Options for reading it.
    pub fn options(&self) -> Options {
        let flop_rate = self.read.flop_rate.unwrap_or(Options::default().flop_rate);
        let bandwidth = self.read.memory_bandwidth.as_ref().and_then(|rate| rate.parse::<Bandwidth>().ok());
        let nodes = Rules {
            peak: self.read.flop_rate,
            memory_bandwidth: bandwidth.map(Bandwidth::bytes_per_second),
            gathered: self.read.gathered,
            ranks: None,
        };
        Options { flop_rate, truncated: self.read.truncated, nodes }
    }

    /// Opens the trace.
    pub fn open<'a>(&self, sources: &'a Sources) -> Result<Trace<'a>, Diagnostic> {
        let path: Located<String> = file_names::text_of(&self.trace).into();
        let trace = Trace::open(sources, &path)?.with_groups(self.read.groups.clone().map(Located::from));
        trace.refused(&self.options()).map_or(Ok(()), |(key, mistake)| {
            let message = mistake.message.replace(&format!("`{key}`"), &format!("--{key}"));
            Err(Diagnostic::new("unused-option", message).help(format!("leave out --{key}")))
        })?;
        Ok(trace)
    }
}

/// `hayase trace info`.
#[derive(Args, Debug)]
pub struct TraceInfoArgs {
    /// The trace.
    #[command(flatten)]
    pub input: TraceArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// `hayase trace sites`.
#[derive(Args, Debug)]
pub struct TraceSitesArgs {
    /// The trace.
    #[command(flatten)]
    pub input: TraceArgs,
    /// Distinguish sites by this number of their callers, and show these.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>)]
    pub depth: u32,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// `hayase trace convert`.
#[derive(Args, Debug)]
pub struct TraceConvertArgs {
    /// The trace, or a program by rule (linear:ranks=64, llm:gpt-3-175b,tp=8).
    #[command(flatten)]
    pub input: TraceArgs,
    /// Machine with the GPU of a training step (llm:...): a name or a file.
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The file to write: x.hyt, folder/ (a file a rank), x.goal, x.bin; x.goal.zst, x.bin.zst; x.et (Chakra, a file
    /// x.RANK.et a rank); x.otf2 (OTF2, with x.def and the folder x); x.paje
    /// (to view).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub output: PathBuf,
}

/// Parses a rate above 0.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate >= 1.0 => Ok(rate),
        _ => Err("a number of operations per second, like 1e9".into()),
    }
}

/// Checks a bandwidth, which stays a text as a key of the work.
fn bandwidth(text: &str) -> Result<String, String> {
    match text.parse::<Bandwidth>() {
        Ok(rate) if rate.bytes_per_second() > 0.0 => Ok(text.to_owned()),
        _ => Err("a bandwidth above 0, like \"2 TB/s\"".into()),
    }
}
