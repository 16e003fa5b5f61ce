//! What can be typed after `hayase advise` and its hidden form `hayase explain`.

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
  hayase advise run --times plain -m myrinet         with the times of the program as it usually is
  hayase advise run -m myrinet                       what to change, best first, and the time that it saves
  hayase advise run -m myrinet -o advice.html        the same on a page, with source, time line and statistics
  hayase advise run -m myrinet -t torus-4x4 -o placement.csv
      with a simulated fabric: also better placements, and algorithms of collective operations
  hayase advise run -m myrinet --deny warning        exit code 1 if a change would save 1 % of the run or more
  hayase advise run                                  without gains: what could overlap or merge
  hayase advise --explain overlap                    what a rule looks for (without a name: all rules)

Yours: gauss.c (any MPI program) and gauss-as-usual (the same, compiled as usual)

Files (-o), by name:
  x.html         one page that needs nothing but itself
  x.sarif        for editors and code hosts, which show it on the lines (also x.sarif.json)
  x.json         findings with their changes and gains
  placement.csv  rank,node: the placement that is proposed, if one is";

/// `hayase advise`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_args(without_explain), mut_group("TraceArgs", |group| group.arg("trace")))]
pub struct AdviseArgs {
    /// The run: the folder of `hayase record --memory`, or any trace that `hayase replay` reads; without memory
    /// accesses there is no proof, and advice says what to check.
    #[command(flatten)]
    pub input: Option<TraceArgs>,
    /// What the gains are simulated on.
    #[command(flatten)]
    pub on: PlayedOn,
    /// A recording of the same run without `--memory`: its computation takes the place of the slowed one of the
    /// instrumented program.
    #[arg(long, value_name = "TRACE", value_hint = ValueHint::AnyPath, help_heading = "Advice")]
    pub times: Option<PathBuf>,
    /// Where files of the source are looked for (may be repeated; default: where it was recorded, and here).
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, help_heading = "Advice")]
    pub source: Vec<PathBuf>,
    /// Everything that was found: also what would save less than 0.1 % of the run or cost time, and waits that take
    /// less than 1 % of all ranks' time.
    #[arg(long, help_heading = "Advice")]
    pub all: bool,
    /// How fast a rank copies memory, where messages are merged into one buffer.
    #[arg(long, value_name = "RATE", default_value = "5 GB/s", help_heading = "Advice", value_parser = rate)]
    pub copy_rate: Bandwidth,
    /// End with exit code 1 if there is advice of this level or above: note, warning (saves 1 % of the run or more),
    /// error (10 %, and nothing is left to be checked).
    #[arg(long, value_enum, value_name = "LEVEL", hide_possible_values = true, help_heading = "Advice")]
    pub deny: Option<DenyLevel>,
    /// Explain a rule of advice, by number or name (A001, overlap); without one list all rules. Nothing is advised.
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "", help_heading = "Advice")]
    pub explain: Option<String>,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Returns the option as one that is not taken beside `--explain`, unless it is of output.
fn without_explain(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "explain" | "output" | "format" | "threads" => option,
        "trace" => option.conflicts_with("explain").required(false).required_unless_present("explain"),
        _ => option.conflicts_with("explain"),
    }
}

/// From which level on advice is a failure.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum DenyLevel {
    /// All advice.
    Note,
    /// What saves 1 % of the run or more.
    Warning,
    /// What saves 10 % or more, and is proven.
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
    /// A rule, by number or name: A001, overlap; without one all are listed.
    #[arg(value_name = "RULE")]
    pub rule: Option<String>,
    /// Where results go.
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
