//! What a scenario says its work is: a pattern, a program, or a farm.

use serde::{Deserialize, Serialize, de};

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::farm::FarmSpec;
use crate::pattern::PatternSpec;
use crate::program::generate::Generator;
use crate::program::part::Part;
use crate::program::start_up::StartUp;
use crate::program::{Program, Wildcards};
use crate::trace::{Options, Trace};
use crate::units::Bytes;

/// The work of a scenario: `[workload.all-to-all]`, `[workload.trace]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
pub const ALONE: [&str; 4] = ["trace", "program", "program-data", "master-slave"];

/// A program: what ranks do, call by call.
#[spec]
pub enum ProgramSpec {
    /// A recorded program or a schedule, from a file.
    Trace(TraceSpec),
    /// A program by rule.
    Program(RuleSpec),
    /// A program put together from data sets: a prediction.
    ProgramData(ProgramDataSpec),
}

/// `[workload.trace]`: a recorded program or a schedule, from a file.
#[spec]
pub struct TraceSpec {
    /// The file or folder: recorded calls, a GOAL schedule, a time-independent or a text trace.
    pub path: Located<String>,
    /// How fast processors are, relative to those on which it was recorded (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cpu_speed: Located<f64>,
    /// Operations per second, where a trace has operations instead of times (default 1e9) \[1/s\].
    pub flop_rate: Option<Located<f64>>,
    /// Whether one that ends early is used as far as it goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What receives take that left open from whom (default: what came in the recorded run).
    #[serde(default, skip_serializing_if = "Wildcards::is_default")]
    pub wildcards: Wildcards,
    /// Longest message of sends and receives: longer ones go in pieces of this size (default: none does); "16383 B".
    pub fragment: Option<Located<Bytes>>,
    /// The region that is looked at (default: all of it).
    pub region: Option<Located<String>>,
    /// A region that begins when a rank enters a call at this place of the source; "solver.c:40".
    pub from: Option<Located<String>>,
    /// A region that ends when a rank returns from a call at this place of the source; "solver.c:60".
    pub to: Option<Located<String>>,
    /// What is left out of the start: a time, a number of calls of each rank, or as far as start-up goes where it is
    /// empty; "2 s".
    pub skip_start: Option<Located<String>>,
}

/// `[workload.program]`: a program by rule.
#[spec]
pub struct RuleSpec {
    /// Its name, and its parameters; "linear:ranks=64".
    pub rule: Located<String>,
    /// How fast processors are, relative to those of the rule (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cpu_speed: Located<f64>,
    /// Longest message of sends and receives: longer ones go in pieces of this size (default: none does); "16383 B".
    pub fragment: Option<Located<Bytes>>,
    /// How many calls of each rank are left out of the start; "500".
    pub skip_start: Option<Located<String>>,
}

/// `[workload.program-data]`: a program put together from data sets, a prediction.
#[spec]
pub struct ProgramDataSpec {
    /// Program data; "cg.prog".
    pub program: Located<String>,
    /// Computation data: one for all ranks, or for ranks each; "0-7=a.comp,8-15=b.comp".
    pub computation: Located<String>,
    /// Communication data, one for all pairs of ranks and others for some: messages take the times measured for their
    /// sizes; "gigabit.comm".
    pub communication: Option<Located<String>>,
    /// What times of blocks are multiplied by: a factor, or one for ranks each; "0-7=1.5,8-15=0.8".
    #[serde(default = "Factors::located_one")]
    pub scale: Located<Factors>,
    /// Which of its times an execution of a block takes.
    #[serde(default)]
    pub times: BlockTimes,
    /// How fast processors are, relative to those of the computation data (default 1).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cpu_speed: Located<f64>,
    /// What receives take that left open from whom (default: what came in the recorded run).
    #[serde(default, skip_serializing_if = "Wildcards::is_default")]
    pub wildcards: Wildcards,
    /// The region that is looked at (default: all of it).
    pub region: Option<Located<String>>,
    /// A region that begins when a rank enters a call at this place of the source; "solver.c:40".
    pub from: Option<Located<String>>,
    /// A region that ends when a rank returns from a call at this place of the source; "solver.c:60".
    pub to: Option<Located<String>>,
    /// What is left out of the start: a time, a number of calls of each rank, or as far as start-up goes where it is
    /// empty; "2 s".
    pub skip_start: Option<Located<String>>,
}

/// Which of its times an execution of a block takes.
#[spec(Copy, Eq, Default, Named)]
pub enum BlockTimes {
    /// The mean.
    Mean,
    /// A line over the executions, where times follow one, else the mean.
    #[default]
    Line,
    /// Times drawn from those that were recorded.
    Draw,
}

/// A factor, or one for ranks each: `1.5`, `"0-7=1.5,8-15=0.8"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Factors(pub String);

impl<'de> Deserialize<'de> for Factors {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl de::Visitor<'_> for Written {
            type Value = Factors;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, or a text like \"0-7=1.5,8-15=0.8\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Factors, E> {
                Ok(Factors(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Factors, E> {
                Ok(Factors(number.to_string()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Factors, E> {
                Ok(Factors(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

impl Factors {
    fn located_one() -> Located<Self> {
        Self("1".to_owned()).into()
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Factors {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Factors".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "string" }] })
    }
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
            true => Self::Program(RuleSpec { rule: text, cpu_speed: one(), fragment: None, skip_start: None }),
            false => Self::Trace(TraceSpec {
                path: text,
                cpu_speed: one(),
                flop_rate: None,
                truncated: false,
                wildcards: Wildcards::default(),
                fragment: None,
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
            Self::ProgramData(spec) => &spec.cpu_speed,
        }
    }

    /// The same with other processors.
    pub fn set_cpu_speed(&mut self, speed: f64) {
        let (Self::Trace(TraceSpec { cpu_speed, .. })
        | Self::Program(RuleSpec { cpu_speed, .. })
        | Self::ProgramData(ProgramDataSpec { cpu_speed, .. })) = self;
        *cpu_speed = speed.into();
    }

    /// What receives take that left open from whom.
    pub fn wildcards(&self) -> Wildcards {
        match self {
            Self::Trace(spec) => spec.wildcards,
            Self::ProgramData(spec) => spec.wildcards,
            Self::Program(_) => Wildcards::default(),
        }
    }

    /// Sets which part is looked at.
    pub fn set_part(&mut self, part: &Part) {
        let text = |value: Option<String>| value.map(Located::from);
        let named = [
            part.region.clone(),
            part.from.as_ref().map(ToString::to_string),
            part.to.as_ref().map(ToString::to_string),
        ];
        let skip_start = text(part.skip_start.map(|skip| skip.to_string()));
        match self {
            Self::Trace(spec) => {
                [spec.region, spec.from, spec.to] = named.map(text);
                spec.skip_start = skip_start;
            }
            Self::ProgramData(spec) => {
                [spec.region, spec.from, spec.to] = named.map(text);
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
        match self {
            Self::Trace(spec) => written_part(&spec.region, [&spec.from, &spec.to], &spec.skip_start),
            Self::ProgramData(spec) => spec.part(),
            Self::Program(spec) => written_part(&None, [&None, &None], &spec.skip_start),
        }
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
                in_pieces(&mut program, spec.fragment.as_ref(), Wildcards::default()).map_err(one)?;
                Ok(ReadProgram { program, name: (*spec.rule).clone(), start_up })
            }
            // It takes data sets, which are read where predictions are known.
            Self::ProgramData(spec) => {
                let message = "program data is no program without computation data";
                let diagnostic = Diagnostic::new("wrong-choice", message).at_value(&spec.program);
                Err(vec![diagnostic.help("`hayase run` and `hayase predict` put both together")])
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
                in_pieces(&mut program, spec.fragment.as_ref(), spec.wildcards).map_err(one)?;
                Ok(ReadProgram { program, name: trace.name().to_owned(), start_up })
            }
        }
    }
}

impl ProgramDataSpec {
    /// The part that is looked at.
    ///
    /// # Errors
    /// A place or time that is none, each where it was written.
    pub fn part(&self) -> Result<Part, Vec<Diagnostic>> {
        written_part(&self.region, [&self.from, &self.to], &self.skip_start)
    }

    /// A mistake about the part, where the part was written.
    pub fn at_part(&self, mistake: Diagnostic) -> Diagnostic {
        // A message about one of two places names it.
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        let place = if mistake.message.contains("--from") { from.or(to) } else { to.or(from) };
        match place.or(self.region.as_ref()) {
            Some(place) => mistake.at_value(place),
            None => mistake,
        }
    }
}

/// Cuts long messages of a program into pieces, where that was written.
fn in_pieces(program: &mut Program, most: Option<&Located<Bytes>>, wildcards: Wildcards) -> Result<(), Diagnostic> {
    let Some(most) = most else { return Ok(()) };
    program.send_in_pieces(**most, wildcards).map_err(|mistake| mistake.at_value(most))
}

/// The part of a program that was written: a region, the places between which it lies, what is left out of the start.
fn written_part(
    region: &Option<Located<String>>,
    [from, to]: [&Option<Located<String>>; 2],
    skip_start: &Option<Located<String>>,
) -> Result<Part, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let part = Part {
        region: region.as_ref().map(|region| (**region).clone()),
        from: parsed(from.as_ref(), &mut mistakes),
        to: parsed(to.as_ref(), &mut mistakes),
        skip_start: parsed(skip_start.as_ref(), &mut mistakes),
    };
    let named = region.is_some() || from.is_some() || to.is_some();
    if let Some(skip) = skip_start.as_ref().filter(|_| named) {
        let message = "a region and the end of start-up are asked for";
        mistakes.push(Diagnostic::new("two-choices", message).at_value(skip).label("leave out one of them"));
    }
    if mistakes.is_empty() { Ok(part) } else { Err(mistakes) }
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
