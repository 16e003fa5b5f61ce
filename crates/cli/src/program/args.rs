//! Arguments of `hayase program`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::caveats::Strictness;
use crate::options::OutputArgs;
use crate::trace::TraceArgs;
use crate::typed;

const FOLD_EXAMPLES: &str = "\
Examples:
  hayase program fold run/ -o cg.prog -o node-a.comp       program and computation data of a recorded run
  hayase program fold run-on-b/ -o node-b.comp             the times of the same program on another machine
  hayase program fold lu.tsv.zst -o lu.prog.zst

You supply: run/ and run-on-b/ (from `hayase record`), lu.tsv.zst (any trace)

Files (-o), by name:
  x.prog    program data: the calls of every rank with folded loops; the same on every machine
  x.comp    computation data: the time of each block between two calls on this machine
x.prog.zst and x.comp.zst are compressed.";

const EXTEND_EXAMPLES: &str = "\
Examples:
  hayase program show lu.prog                              the loops of the program
  hayase program extend lu.prog --loop L3 --iterations 10x -o long.prog
  hayase program extend lu.prog --loop L3 --loop L4 --iterations 500 -o lu500.prog

You supply: lu.prog (from `hayase program fold`)";

/// `hayase program`.
#[derive(Subcommand, Debug)]
pub enum ProgramVerb {
    /// Make program data and computation data from a trace: folded loops, and the times of blocks.
    #[command(after_help = FOLD_EXAMPLES)]
    Fold(FoldArgs),
    /// Show program data: loops, operations, blocks and call sites, with computation data also their times.
    Show(ShowArgs),
    /// Write a copy of the program data with more or fewer iterations of a loop.
    #[command(after_help = EXTEND_EXAMPLES)]
    Extend(ExtendArgs),
}

/// `hayase program fold`.
#[derive(Args, Debug)]
pub struct FoldArgs {
    /// The trace.
    #[command(flatten)]
    pub input: TraceArgs,
    /// Keep one time for all ranks that do the same, instead of one for each rank.
    #[arg(long)]
    pub pooled: bool,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// `hayase program show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Program data.
    #[arg(value_name = "PROG", value_hint = ValueHint::FilePath)]
    pub program: PathBuf,
    /// Computation data: the mean time of each block, and how often it ran.
    #[arg(long, value_name = "COMP", value_hint = ValueHint::FilePath)]
    pub computation: Option<PathBuf>,
    /// Show only the program of this rank.
    #[arg(value_parser = typed::whole::<u32>, long, value_name = "RANK")]
    pub rank: Option<u32>,
    /// Treatment of data of an incomplete recording.
    #[command(flatten)]
    pub strictness: Strictness,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// `hayase program extend`.
#[derive(Args, Debug)]
pub struct ExtendArgs {
    /// Program data.
    #[arg(value_name = "PROG", value_hint = ValueHint::FilePath)]
    pub program: PathBuf,
    /// The loop to change (`hayase program show` lists them; may be repeated).
    #[arg(long = "loop", value_name = "NAME", required = true)]
    pub loops: Vec<String>,
    /// New number of iterations: a number, or a factor such as 10x.
    #[arg(long, value_name = "N|Nx", value_parser = iterations)]
    pub iterations: hayase::prediction::program::extend::Iterations,
    /// The file to write: x.prog, x.prog.zst.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Treatment of data of an incomplete recording.
    #[command(flatten)]
    pub strictness: Strictness,
}

fn iterations(text: &str) -> Result<hayase::prediction::program::extend::Iterations, String> {
    use hayase::prediction::program::extend::Iterations;
    let factor = text.strip_suffix('x').map(str::parse::<f64>);
    match (factor, text.parse::<u64>()) {
        (Some(Ok(factor)), _) if factor.is_finite() && factor > 0.0 => Ok(Iterations::Times(factor)),
        (None, Ok(count)) if count > 0 => Ok(Iterations::Exactly(count)),
        _ => Err("a factor like 10x or a number of iterations like 500 is expected".to_owned()),
    }
}
