//! The proof: cases that hold the simulator against closed forms, other simulators and published figures.
//!
//! [`cases`] lists them; each runs on its own and says what was expected, what came out, and whether that is good.
//! Their data (`validation/` in the repository) is built in.
//!
//! ```no_run
//! use hayase_validation::{Context, Verdict, cases};
//!
//! let failed = cases().iter().filter(|case| case.run(&Context::default()).verdict == Verdict::Fail).count();
//! assert_eq!(failed, 0);
//! ```

mod accuracy;
mod closed_forms;
mod context;
mod estimate;
mod fabrics;
mod farm;
mod farm_intervals;
mod figures;
mod loggps;
mod packet;
mod packet_models;
mod paper;
mod setup;
mod simulators;
mod steady;

use std::fmt;

pub use context::{Context, Effort, Watch};
use context::{Tally, Trouble};

/// What a case concludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// As expected, within the tolerance.
    Pass,
    /// A figure of another source is not reached; by how much is in the outcome. Not a failure: the source leaves
    /// open what it did, or measured a machine.
    Differs,
    /// A figure of another source that cannot be reached from what the source says; why is in [`Outcome::reason`].
    NotReachable,
    /// Wrong.
    Fail,
    /// It was ended before it came to a conclusion.
    Interrupted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Differs => "differs",
            Self::NotReachable => "not reachable",
            Self::Fail => "FAIL",
            Self::Interrupted => "interrupted",
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
    /// Why the figure cannot be reached, where that is known.
    pub reason: Option<String>,
    /// Processor time that the case took, on all threads together, where the system tells \[s\].
    pub cpu_s: Option<f64>,
}

impl Outcome {
    /// Passes where `good`, else fails.
    fn check(good: bool, got: impl Into<String>) -> Self {
        Self::new(if good { Verdict::Pass } else { Verdict::Fail }, got)
    }

    /// Passes where `good`, else reports a difference.
    fn compare(good: bool, got: impl Into<String>) -> Self {
        Self::new(if good { Verdict::Pass } else { Verdict::Differs }, got)
    }

    fn new(verdict: Verdict, got: impl Into<String>) -> Self {
        Self { got: got.into(), verdict, note: String::new(), reason: None, cpu_s: None }
    }

    /// A difference that is known to remain, and why: it is not reachable. What is as expected passes all the same, and
    /// what fails does.
    fn known(mut self, reason: impl Into<String>) -> Self {
        if self.verdict == Verdict::Differs {
            self.verdict = Verdict::NotReachable;
            self.reason = Some(reason.into());
        }
        self
    }

    /// The same with more about it.
    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

type Check = Box<dyn Fn(&Context<'_>) -> Result<Outcome, Trouble> + Send + Sync>;

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
    /// Processor time it takes, quick and full, roughly \[s\].
    seconds: (u32, u32),
    check: Check,
}

impl Case {
    /// Starts a case; `check` says what came out.
    fn new(
        name: impl Into<String>,
        check: impl Fn(&Context<'_>) -> Result<Outcome, Trouble> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            source: String::new(),
            expected: String::new(),
            tolerance: String::new(),
            seconds: (0, 0),
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

    /// The same with the processor time it takes, quick and full \[s\]: where it is long, roughly, so that it starts
    /// early.
    fn takes(mut self, quick: u32, full: u32) -> Self {
        self.seconds = (quick, full);
        self
    }

    /// Processor time it takes, roughly \[s\]; 0 where it is little.
    pub fn seconds(&self, effort: Effort) -> u32 {
        match effort {
            Effort::Quick => self.seconds.0,
            Effort::Full => self.seconds.1,
        }
    }

    /// Runs it.
    pub fn run(&self, context: &Context<'_>) -> Outcome {
        let tally = Tally::default();
        let context = context.counted(&tally);
        let mut outcome = match tally.clocked(|| (self.check)(&context)) {
            Ok(outcome) => outcome,
            Err(_) if tally.ended() => Outcome::new(Verdict::Interrupted, "ended before it was done"),
            Err(trouble) => Outcome::check(false, "did not run").note(trouble),
        };
        outcome.cpu_s = tally.cpu_s();
        outcome
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
    cases.extend(fabrics::cases());
    cases.extend(steady::cases());
    cases.extend(estimate::cases());
    cases.extend(simulators::cases());
    cases.extend(packet::cases());
    cases.extend(packet_models::cases());
    cases.extend(accuracy::cases());
    cases.extend(paper::cases());
    cases.extend(loggps::cases());
    cases.extend(farm::cases());
    cases.extend(farm_intervals::cases());
    cases
}

#[cfg(test)]
mod tests;
