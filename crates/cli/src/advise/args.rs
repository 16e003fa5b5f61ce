//! Arguments of `hayase advise` and its hidden form `hayase explain`.

use std::path::PathBuf;

use clap::{Arg, Args, ValueEnum, ValueHint};
use hayase_advice_page::Level;

use crate::options::OutputArgs;
use crate::replay::args::PlayedOn;
use crate::trace::TraceArgs;
use hayase::units::Bandwidth;

const EXAMPLES: &str = "\
Examples:
  hayase cc -O2 gauss.c -o gauss -lm
  hayase record --memory -o run -- mpirun -np 4 ./gauss
  hayase record -o plain -- mpirun -np 4 ./gauss-as-usual
  hayase advise run --times plain -m myrinet         with the times of the uninstrumented program
  hayase advise run -m myrinet                       changes, best first, with the time that each saves
  hayase advise run -m myrinet -o advice.html        the same as a page with source, time line and statistics
  hayase advise run -m myrinet -t torus-4x4 -o placement.csv
      on a simulated fabric: also placements and algorithms of collective operations
  hayase advise run -m myrinet --deny warning        exit code 1 if a change saves 1 % of the run or more
  hayase advise run                                  without gains: messages that could overlap or merge
  hayase advise --explain overlap                    explain a rule (without a name: list all)

You supply: gauss.c (any MPI program) and gauss-as-usual (the same, compiled without hayase cc)

Files (-o), by name:
  x.html         one self-contained page
  x.sarif        for editors and code hosts, which show it in the source (also x.sarif.json)
  x.json         findings with their changes and gains
  placement.csv  the proposed placement, if any: rank,node";

/// `hayase advise`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_args(without_explain), mut_group("TraceArgs", |group| group.arg("trace")))]
pub struct AdviseArgs {
    /// The recorded run: the folder of `hayase record --memory`, or any trace that `hayase replay` reads.
    /// Without memory accesses nothing is proven, and advice says what to check.
    #[command(flatten)]
    pub input: Option<TraceArgs>,
    /// System on which gains are simulated.
    #[command(flatten)]
    pub on: PlayedOn,
    /// Take computation times from this recording of the same run without `--memory`, because instrumentation
    /// slows the program down.
    #[arg(long, value_name = "TRACE", value_hint = ValueHint::AnyPath, help_heading = "Advice")]
    pub times: Option<PathBuf>,
    /// Search this folder for source files (may be repeated; default: the folder of the recording, and this
    /// one).
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, help_heading = "Advice")]
    pub source: Vec<PathBuf>,
    /// Show all findings, also those that save less than 0.1 % of the run or cost time, and waits below 1 %
    /// of all ranks' time.
    #[arg(long, help_heading = "Advice")]
    pub all: bool,
    /// Copy memory at this rate when messages are merged into one buffer.
    #[arg(long, value_name = "RATE", default_value = "5 GB/s", help_heading = "Advice", value_parser = rate)]
    pub copy_rate: Bandwidth,
    /// Exit with code 1 if there is advice of this level or above: note, warning (saves 1 % of the run or
    /// more), error (saves 10 % or more and is proven).
    #[arg(long, value_enum, value_name = "LEVEL", hide_possible_values = true, help_heading = "Advice")]
    pub deny: Option<DenyLevel>,
    /// Explain a rule by number or name (A001, overlap), or list all rules; no run is examined.
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "", help_heading = "Advice")]
    pub explain: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Returns the option, in conflict with `--explain` unless it is an option of output.
fn without_explain(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "explain" | "output" | "format" | "threads" => option,
        "trace" => option.conflicts_with("explain").required(false).required_unless_present("explain"),
        _ => option.conflicts_with("explain"),
    }
}

/// Lowest level of advice that is a failure.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum DenyLevel {
    /// Any advice.
    Note,
    /// Advice that saves 1 % of the run or more.
    Warning,
    /// Proven advice that saves 10 % of the run or more.
    Error,
}

impl From<DenyLevel> for Level {
    fn from(level: DenyLevel) -> Self {
        match level {
            DenyLevel::Note => Self::Note,
            DenyLevel::Warning => Self::Warning,
            DenyLevel::Error => Self::Error,
        }
    }
}

/// `hayase explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hayase advise --explain
  hayase advise --explain overlap

Files (-o), by name:
  x.csv    a line for each rule
  x.json   an object for each")]
pub struct ExplainArgs {
    /// A rule by number or name: A001, overlap. Without one, all rules are listed.
    #[arg(value_name = "RULE")]
    pub rule: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

fn rate(text: &str) -> Result<Bandwidth, String> {
    match text.parse::<Bandwidth>() {
        Ok(rate) if rate.bytes_per_second() > 0.0 => Ok(rate),
        Ok(_) => Err("a rate above 0 is expected".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
