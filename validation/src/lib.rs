//! Validation: cases that compare the simulator with closed forms, other simulators and published figures.
//!
//! [`cases`] lists them. Each runs on its own and reports the expected result, its own result, and a verdict.
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
mod measured;
mod nccl;
mod optimum;
mod packet;
mod packet_models;
mod paper;
mod setup;
mod simulators;
mod steady;
mod training;

use std::fmt;

use context::{CaseError, Tally};
pub use context::{Context, Effort, Observer};

/// Conclusion of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The result is within the tolerance.
    Pass,
    /// The result differs from a figure of another source, by the amount in the outcome. Not a failure: the
    /// source leaves its method open, or measured a machine.
    Differs,
    /// A figure of another source that its description does not suffice to reach; the reason is in
    /// [`Outcome::reason`].
    NotReachable,
    /// The result is wrong.
    Fail,
    /// The case was ended before it came to a conclusion.
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

/// Outcome of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Our figures, in the words of [`Case::expected`].
    pub got: String,
    /// Conclusion.
    pub verdict: Verdict,
    /// Details: the worst place, a table of the attempts. May have several lines, or none.
    pub note: String,
    /// Reason why the figure cannot be reached, if it is known.
    pub reason: Option<String>,
    /// Processor time of the case, on all threads together, if the system tells it \[s\].
    pub cpu_s: Option<f64>,
}

impl Outcome {
    /// Passes if `good`, otherwise fails.
    fn check(good: bool, got: impl Into<String>) -> Self {
        Self::new(if good { Verdict::Pass } else { Verdict::Fail }, got)
    }

    /// Passes if `good`, otherwise reports a difference.
    fn compare(good: bool, got: impl Into<String>) -> Self {
        Self::new(if good { Verdict::Pass } else { Verdict::Differs }, got)
    }

    fn new(verdict: Verdict, got: impl Into<String>) -> Self {
        Self { got: got.into(), verdict, note: String::new(), reason: None, cpu_s: None }
    }

    /// Marks a difference that is known to remain as not reachable, with the reason. Other verdicts stay.
    fn known(mut self, reason: impl Into<String>) -> Self {
        if self.verdict == Verdict::Differs {
            self.verdict = Verdict::NotReachable;
            self.reason = Some(reason.into());
        }
        self
    }

    /// Marks a failure against the claim of another simulator as not reachable, with the reason.
    fn claimed(mut self, reason: impl Into<String>) -> Self {
        if self.verdict == Verdict::Fail {
            self.verdict = Verdict::Differs;
        }
        self.known(reason)
    }

    /// Adds details.
    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

type Check = Box<dyn Fn(&Context<'_>) -> Result<Outcome, CaseError> + Send + Sync>;

/// A comparison of the simulator with a known result.
pub struct Case {
    /// Name, with its group before the slash: `closed-form/lock-step-2d-spread`.
    pub name: String,
    /// Source of the expectation.
    pub source: String,
    /// Expected result.
    pub expected: String,
    /// Largest accepted difference from it.
    pub tolerance: String,
    /// Approximate processor time, quick and full \[s\].
    seconds: (u32, u32),
    check: Check,
}

impl Case {
    /// Creates a case; `check` returns its outcome.
    fn new(
        name: impl Into<String>,
        check: impl Fn(&Context<'_>) -> Result<Outcome, CaseError> + Send + Sync + 'static,
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

    /// Sets the source of the expectation.
    fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the expected result, and the largest accepted difference from it.
    fn expect(mut self, expected: impl Into<String>, tolerance: impl Into<String>) -> Self {
        self.expected = expected.into();
        self.tolerance = tolerance.into();
        self
    }

    /// Sets the approximate processor time, quick and full \[s\], of a long case, so that it starts early.
    fn takes(mut self, quick: u32, full: u32) -> Self {
        self.seconds = (quick, full);
        self
    }

    /// Approximate processor time \[s\]; 0 if it is short.
    pub fn seconds(&self, effort: Effort) -> u32 {
        match effort {
            Effort::Quick => self.seconds.0,
            Effort::Full => self.seconds.1,
        }
    }

    /// Runs the case.
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

/// Returns all cases, in the order in which they are reported.
pub fn cases() -> Vec<Case> {
    let mut cases = closed_forms::cases();
    cases.extend(fabrics::cases());
    cases.extend(steady::cases());
    cases.extend(optimum::cases());
    cases.extend(estimate::cases());
    cases.extend(simulators::cases());
    cases.extend(packet::cases());
    cases.extend(packet_models::cases());
    cases.extend(accuracy::cases());
    cases.extend(measured::cases());
    cases.extend(training::cases());
    cases.extend(nccl::cases());
    cases.extend(paper::cases());
    cases.extend(loggps::cases());
    cases.extend(farm::cases());
    cases.extend(farm_intervals::cases());
    cases
}

#[cfg(test)]
mod tests;
