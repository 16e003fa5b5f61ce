//! The part of a program that is evaluated: a region by its name, by two places of the source, or all after
//! start-up.

use std::fmt;
use std::str::FromStr;

use super::Program;
use super::between::{Between, SourceLine};
use super::start_up::{REGION_NAME, StartUp};
use crate::diagnostic::Diagnostic;
use crate::units::Time;

/// Part of a program that is evaluated; by default all of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Part {
    /// Name of a region.
    pub region: Option<String>,
    /// Call sites at which the part begins.
    pub from: Option<SourceLine>,
    /// Call sites at which the part ends.
    pub to: Option<SourceLine>,
    /// Start of the program that is left out.
    pub skip_start: Option<Skip>,
}

/// Start of a program that is left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Skip {
    /// Start-up as detected from the calls.
    Found,
    /// This number of calls of each rank.
    Calls(u64),
    /// This time after each rank's start.
    Time(Time),
}

impl FromStr for Skip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse::<u64>(), text.parse::<Time>()) {
            ("", ..) => Ok(Self::Found),
            (_, Ok(calls), _) => Ok(Self::Calls(calls)),
            (_, _, Ok(time)) if time >= Time::ZERO && time < Time::NEVER => Ok(Self::Time(time)),
            _ => Err("a time (2s) or a number of calls (500) is expected".to_owned()),
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found => Ok(()),
            Self::Calls(calls) => calls.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl Part {
    /// Returns the two places if the part is given by places.
    pub fn between(&self) -> Option<Between> {
        let (from, to) = (self.from.clone(), self.to.clone());
        (from.is_some() || to.is_some()).then_some(Between { from, to })
    }

    /// Returns the name of the part's region; `None` for the whole program.
    pub fn name(&self) -> Option<String> {
        match (&self.region, self.between(), self.skip_start) {
            (Some(region), ..) => Some(region.clone()),
            (None, Some(between), _) => Some(between.name()),
            (None, None, Some(_)) => Some(REGION_NAME.to_owned()),
            _ => None,
        }
    }

    /// Marks the part in a program read from a trace, if it is given by calls. Returns the start-up found if
    /// that is left out.
    pub fn mark_by_calls(&self, program: &mut Program) -> Option<StartUp> {
        match self.skip_start {
            Some(Skip::Found) => Some(program.mark_after_start_up(None)),
            Some(Skip::Calls(calls)) => Some(program.mark_after_start_up(Some(calls))),
            _ => None,
        }
    }

    /// Marks the part in a program that is not read from a trace.
    ///
    /// # Errors
    /// The part is given by places or times that the program does not have.
    pub fn mark(&self, program: &mut Program) -> Result<Option<StartUp>, Diagnostic> {
        if let Some(between) = self.between() {
            between.mark(program, &self.name().unwrap_or_default())?;
        }
        if let Some(Skip::Time(time)) = self.skip_start {
            let message = format!("--skip-start={time} needs recorded times, and this program has none");
            return Err(Diagnostic::new("no-times", message)
                .help("write a number of calls, --skip-start=500, or --skip-start alone; traces have times"));
        }
        Ok(self.mark_by_calls(program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_a_time_or_a_number_of_calls() {
        for (text, skip) in [("", Skip::Found), ("500", Skip::Calls(500)), ("2 s", Skip::Time(Time::from_seconds(2.0)))]
        {
            assert_eq!(text.parse(), Ok(skip));
            assert_eq!(skip.to_string(), text);
        }
        for wrong in ["x", "-1", "2 apples"] {
            assert!(wrong.parse::<Skip>().is_err(), "{wrong}");
        }
    }
}
