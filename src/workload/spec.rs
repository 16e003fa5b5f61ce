//! What a scenario says its work is: a pattern, a program, or a farm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::PatternSpec;
use super::program::generate::Generator;
use super::program::part::Part;
use super::program::start_up::StartUp;
use super::program::{Program, Wildcards};
use super::task_queue::FarmSpec;
use super::trace::{Options, Trace};
use crate::diagnostic::{Diagnostic, Located, Sources};

/// The work of a scenario: `[workload.all-to-all]`, `[workload.trace]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WorkloadSpec {
    /// Messages as a function of rank and number.
    Pattern(PatternSpec),
    /// What ranks do, call by call.
    Program(ProgramSpec),
    /// Tasks that are given out.
    Farm(FarmSpec),
}

/// The tables of work that needs no topology: nodes, or what is said of messages, can be all of its network.
pub const ALONE: [&str; 3] = ["trace", "program", "master-slave"];

/// A program: what ranks do, call by call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSpec {
    /// A recorded program or a schedule, from a file.
    Trace(TraceSpec),
    /// A program by rule.
    Program(RuleSpec),
}

/// `[workload.trace]`: a recorded program or a schedule, from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceSpec {
    /// The file or folder: recorded calls, a GOAL schedule, a time-independent or a text trace.
    pub path: Located<String>,
    /// How fast processors are, relative to those on which it was recorded (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cpu_speed: Located<f64>,
    /// Operations per second, where a trace has operations instead of times (default 1e9) \[1/s\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flop_rate: Option<Located<f64>>,
    /// Whether one that ends early is used as far as it goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What receives take that left open from whom (default: what came in the recorded run).
    #[serde(default, skip_serializing_if = "Wildcards::is_default")]
    pub wildcards: Wildcards,
    /// The region that is looked at (default: all of it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Located<String>>,
    /// A region that begins when a rank enters a call at this place of the source; "solver.c:40".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Located<String>>,
    /// A region that ends when a rank returns from a call at this place of the source; "solver.c:60".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Located<String>>,
    /// What is left out of the start: a time, a number of calls of each rank, or as far as start-up goes where it is empty; "2 s".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_start: Option<Located<String>>,
}

/// `[workload.program]`: a program by rule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleSpec {
    /// Its name, and its parameters; "linear:ranks=64".
    pub rule: Located<String>,
    /// How fast processors are, relative to those of the rule (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cpu_speed: Located<f64>,
    /// How many calls of each rank are left out of the start; "500".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_start: Option<Located<String>>,
}

fn one() -> Located<f64> {
    1.0.into()
}

fn is_one(speed: &Located<f64>) -> bool {
    **speed == 1.0
}

/// A program that has been read.
#[derive(Clone, Debug)]
pub struct ReadProgram {
    /// What ranks do.
    pub program: Program,
    /// What it is called.
    pub name: String,
    /// What was found to be start-up, if that is left out.
    pub start_up: Option<StartUp>,
}

impl ProgramSpec {
    /// The program that a text names: one by rule, or that of a file.
    pub fn named(text: Located<String>) -> Self {
        match Generator::is_meant(&text) && !std::path::Path::new(&*text).exists() {
            true => Self::Program(RuleSpec { rule: text, cpu_speed: one(), skip_start: None }),
            false => Self::Trace(TraceSpec {
                path: text,
                cpu_speed: one(),
                flop_rate: None,
                truncated: false,
                wildcards: Wildcards::default(),
                region: None,
                from: None,
                to: None,
                skip_start: None,
            }),
        }
    }

    /// How fast processors are, relative to those on which it was recorded.
    pub fn cpu_speed(&self) -> &Located<f64> {
        match self {
            Self::Trace(spec) => &spec.cpu_speed,
            Self::Program(spec) => &spec.cpu_speed,
        }
    }

    /// The same with other processors.
    pub fn set_cpu_speed(&mut self, speed: f64) {
        match self {
            Self::Trace(spec) => spec.cpu_speed = speed.into(),
            Self::Program(spec) => spec.cpu_speed = speed.into(),
        }
    }

    /// What receives take that left open from whom.
    pub fn wildcards(&self) -> Wildcards {
        match self {
            Self::Trace(spec) => spec.wildcards,
            Self::Program(_) => Wildcards::default(),
        }
    }

    /// Sets which part is looked at.
    pub fn set_part(&mut self, part: &Part) {
        let text = |value: Option<String>| value.map(Located::from);
        let skip_start = text(part.skip_start.map(|skip| skip.to_string()));
        match self {
            Self::Trace(spec) => {
                spec.region = text(part.region.clone());
                spec.from = text(part.from.as_ref().map(ToString::to_string));
                spec.to = text(part.to.as_ref().map(ToString::to_string));
                spec.skip_start = skip_start;
            }
            Self::Program(spec) => spec.skip_start = skip_start,
        }
    }

    /// The part that is looked at.
    ///
    /// # Errors
    /// A place or time that is none, each where it was written.
    pub fn part(&self) -> Result<Part, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let mut part = Part::default();
        match self {
            Self::Trace(spec) => {
                part.region = spec.region.as_ref().map(|region| (**region).clone());
                part.from = parsed(spec.from.as_ref(), &mut mistakes);
                part.to = parsed(spec.to.as_ref(), &mut mistakes);
                part.skip_start = parsed(spec.skip_start.as_ref(), &mut mistakes);
                let named = spec.region.is_some() || spec.from.is_some() || spec.to.is_some();
                if let Some(skip) = spec.skip_start.as_ref().filter(|_| named) {
                    let message = "a region and the end of start-up are asked for";
                    mistakes
                        .push(Diagnostic::new("two-choices", message).at_value(skip).label("leave out one of them"));
                }
            }
            Self::Program(spec) => part.skip_start = parsed(spec.skip_start.as_ref(), &mut mistakes),
        }
        if mistakes.is_empty() { Ok(part) } else { Err(mistakes) }
    }

    /// What is wrong with its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = self.part().err().unwrap_or_default();
        let speed = self.cpu_speed();
        if !(speed.is_finite() && **speed > 0.0) {
            let diagnostic = Diagnostic::new("wrong-value", format!("a processor cannot be {} times as fast", **speed));
            mistakes.push(diagnostic.at_value(speed).label("a number above 0 is expected"));
        }
        if let Self::Trace(TraceSpec { flop_rate: Some(rate), .. }) = self
            && !(rate.is_finite() && **rate >= 1.0)
        {
            let diagnostic =
                Diagnostic::new("wrong-value", format!("no processor does {} operations a second", **rate));
            mistakes.push(diagnostic.at_value(rate).label("a number like 1e9 is expected"));
        }
        mistakes
    }

    /// Reads it.
    ///
    /// # Errors
    /// Every mistake of the file or rule, and a part that the program does not have.
    pub fn read(&self, sources: &Sources) -> Result<ReadProgram, Vec<Diagnostic>> {
        let part = self.part()?;
        let one = |diagnostic| vec![diagnostic];
        match self {
            Self::Program(spec) => {
                let rule = Generator::parse(&spec.rule).map_err(|mistake| vec![mistake.at_value(&spec.rule)])?;
                let mut program = rule.program()?;
                let start_up = part.mark(&mut program).map_err(one)?;
                Ok(ReadProgram { program, name: (*spec.rule).clone(), start_up })
            }
            Self::Trace(spec) => {
                let flop_rate = spec.flop_rate.as_ref().map_or(Options::default().flop_rate, |rate| **rate);
                let options = Options { flop_rate, truncated: spec.truncated };
                let trace = Trace::open(sources, &spec.path).map_err(one)?;
                let mut program = trace.program_with(options, |calls| calls.with_part(&part))?;
                let start_up = match trace.has_calls() {
                    true => part.mark_by_calls(&mut program),
                    false => part.mark(&mut program).map_err(one)?,
                };
                Ok(ReadProgram { program, name: trace.name().to_owned(), start_up })
            }
        }
    }
}

/// A value that was written as a text.
fn parsed<T: std::str::FromStr<Err = String>>(
    text: Option<&Located<String>>,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<T> {
    let text = text?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(expected) => {
            let diagnostic = Diagnostic::new("wrong-value", format!("`{}` cannot be read", **text));
            mistakes.push(diagnostic.at_value(text).label(expected));
            None
        }
    }
}
