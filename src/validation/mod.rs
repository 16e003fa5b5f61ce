//! The proof: cases that hold the simulator against closed forms, other simulators and published figures.
//!
//! [`cases`] lists them; each runs on its own and says what was expected, what came out, and whether that is good.
//! Their data (`validation/` in the repository) is built in.
//!
//! ```no_run
//! use hayase::validation::{Context, Verdict, cases};
//!
//! let failed = cases().iter().filter(|case| case.run(&Context::default()).verdict == Verdict::Fail).count();
//! assert_eq!(failed, 0);
//! ```

mod closed_forms;
mod farm;
mod figures;
mod loggps;
mod packet;
mod packet_models;
mod paper;
mod setup;
mod simulators;

use std::fmt;

/// How much work a case may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// All cases together take seconds: the largest fabrics and most seeds are left out.
    #[default]
    Quick,
    /// Minutes: every size and every combination.
    Full,
}

/// What a case needs to know to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Context {
    /// How much work it may do.
    pub effort: Effort,
}

impl Context {
    /// `full` where everything is asked for, `quick` else.
    fn choose<T>(&self, quick: T, full: T) -> T {
        match self.effort {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}

/// What a case concludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// As expected, within the tolerance.
    Pass,
    /// A figure of another source is not reached; by how much is in the outcome. Not a failure: the source leaves
    /// open what it did, or measured a machine.
    Differs,
    /// Wrong.
    Fail,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Differs => "differs",
            Self::Fail => "FAIL",
        })
    }
}

/// What came out of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Our figures, in the words of [`Case::expected`].
    pub got: String,
    /// Whether that is good.
    pub verdict: Verdict,
    /// More about it: the worst place, a table of what was tried. May have several lines, or none.
    pub note: String,
}

impl Outcome {
    /// Passes where `good`, else fails.
    fn check(good: bool, got: impl Into<String>) -> Self {
        Self { got: got.into(), verdict: if good { Verdict::Pass } else { Verdict::Fail }, note: String::new() }
    }

    /// Passes where `good`, else reports a difference.
    fn compare(good: bool, got: impl Into<String>) -> Self {
        Self { got: got.into(), verdict: if good { Verdict::Pass } else { Verdict::Differs }, note: String::new() }
    }

    /// The same with more about it.
    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// What cannot be set up or does not end is in words.
type Trouble = String;

type Check = Box<dyn Fn(&Context) -> Result<Outcome, Trouble> + Send + Sync>;

/// One thing to hold the simulator against.
pub struct Case {
    /// Its name, with its group before the slash: `closed-form/lock-step-2d-spread`.
    pub name: String,
    /// Where the expectation comes from.
    pub source: String,
    /// What is expected.
    pub expected: String,
    /// How far from it is still good.
    pub tolerance: String,
    check: Check,
}

impl Case {
    /// Starts a case; `check` says what came out.
    fn new(
        name: impl Into<String>,
        check: impl Fn(&Context) -> Result<Outcome, Trouble> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            source: String::new(),
            expected: String::new(),
            tolerance: String::new(),
            check: Box::new(check),
        }
    }

    /// The same with the source of the expectation.
    fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// The same with what is expected, and how far from it is still good.
    fn expect(mut self, expected: impl Into<String>, tolerance: impl Into<String>) -> Self {
        self.expected = expected.into();
        self.tolerance = tolerance.into();
        self
    }

    /// Runs it.
    pub fn run(&self, context: &Context) -> Outcome {
        (self.check)(context).unwrap_or_else(|trouble| Outcome::check(false, "did not run").note(trouble))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("expected", &self.expected).finish_non_exhaustive()
    }
}

/// All cases, in the order in which they are reported.
pub fn cases() -> Vec<Case> {
    let mut cases = closed_forms::cases();
    cases.extend(simulators::cases());
    cases.extend(packet::cases());
    cases.extend(packet_models::cases());
    cases.extend(paper::cases());
    cases.extend(loggps::cases());
    cases.extend(farm::cases());
    cases
}

#[cfg(test)]
mod tests;
