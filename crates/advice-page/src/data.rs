//! Contents of the page, as plain data.

use hayase_advice::unit::Unit;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// All data of the page.
#[derive(Clone, Debug)]
pub struct PageData {
    /// Name of the program.
    pub program: String,
    /// Further facts about the run, in a few words each: `("machine", "myrinet")`.
    pub facts: Vec<(String, String)>,
    /// Origin of the run: `simulated on myrinet`, `as recorded`.
    pub run_is: String,
    /// Findings, best first; the page numbers them in this order.
    pub findings: Vec<Finding>,
    /// Rules of the findings.
    pub rules: Vec<Rule>,
    /// Gain of all findings together, if it was simulated.
    pub together: Option<Together>,
    /// Things that could not be seen, and assumptions.
    pub notes: Vec<String>,
    /// Source files of places and marks, with their text if it could be read.
    pub sources: Vec<Source>,
    /// Run that the page shows.
    pub run: Run,
}

impl PageData {
    /// Creates a page without advice.
    pub fn new(run: Run) -> Self {
        Self {
            program: String::new(),
            facts: Vec::new(),
            run_is: String::new(),
            findings: Vec::new(),
            rules: Vec::new(),
            together: None,
            notes: Vec::new(),
            sources: Vec::new(),
            run,
        }
    }
}

/// One piece of advice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Identifier, unique in a page: `A001-3`.
    pub id: String,
    /// Rule that found it: `A001`.
    pub rule: String,
    /// Advice in one line.
    pub title: String,
    /// Gain, if it was simulated.
    pub gain: Option<Gain>,
    /// Unit of all its times.
    pub unit: Unit,
    /// Observations, a paragraph each.
    pub text: Vec<String>,
    /// Assumptions to check, such as layouts or contents, a sentence each. One is enough for
    /// [`Certainty::Check`].
    pub caveats: Vec<String>,
    /// Remarks that need no check, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Figures, in a few words each: `("critical path before", "1.2 s")`.
    pub facts: Vec<(String, String)>,
    /// Lines of the source that belong to it, the communication first.
    pub marks: Vec<Mark>,
    /// Ranks on which it occurs; empty for all.
    pub ranks: Vec<u32>,
    /// Number of occurrences on all ranks.
    pub occurrences: u64,
    /// Single occurrences, up to a limit.
    pub details: Vec<Detail>,
}

impl Finding {
    /// Returns `Proven`, or `Check` if there are caveats.
    pub fn certainty(&self) -> Certainty {
        if self.caveats.is_empty() { Certainty::Proven } else { Certainty::Check }
    }
}

/// Certainty of a piece of advice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// This run shows everything in between, and nothing forbids the change.
    Proven,
    /// Something was not seen and needs a check by a person.
    Check,
}

/// Makespan of the program and of the changed program on the same machine and network \[s\].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gain {
    /// Makespan of the original program \[s\].
    pub before_s: f64,
    /// Makespan of the changed program \[s\].
    pub after_s: f64,
}

impl Gain {
    /// Time saved \[s\]; negative if the change costs time.
    pub fn saved_s(self) -> f64 {
        self.before_s - self.after_s
    }

    /// Time saved, as a share of the original makespan.
    pub fn share(self) -> f64 {
        if self.before_s > 0.0 { self.saved_s() / self.before_s } else { 0.0 }
    }
}

/// All pieces of advice in one changed program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Together {
    /// Gain of the changed program.
    pub gain: Gain,
    /// Findings that are not included because other findings rule them out, by [`Finding::id`].
    pub left_out: Vec<String>,
    /// Explanations of the size of the gain and of the findings left out, a sentence each.
    #[serde(default)]
    pub why: Vec<String>,
}

/// Role of a line in a piece of advice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Communication that can be improved.
    Communication,
    /// Wait for the communication.
    Completion,
    /// Computation that can run while the message is under way.
    Overlap,
    /// Obstacle to a larger improvement.
    Forbids,
    /// Communication that can be merged with it, or that belongs to the same pattern.
    Companion,
    /// Other end of the message.
    Partner,
    /// Cause of waits of other ranks.
    Cause,
}

impl Role {
    /// Returns its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Communication => "communication",
            Self::Completion => "waited for here",
            Self::Overlap => "can overlap",
            Self::Forbids => "forbids more",
            Self::Companion => "belongs to it",
            Self::Partner => "the other end",
            Self::Cause => "makes others wait",
        }
    }
}

/// Lines of the source, and their role in a piece of advice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// File, as in [`Source::path`]; empty if it is not known.
    pub file: String,
    /// First line, from 1; 0 if it is not known.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
    /// Role of the lines.
    pub role: Role,
    /// Remark on the lines: `flow dependence on the message, iterations 501..1000 of 1000`.
    pub text: String,
}

/// Single occurrence of a piece of advice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Detail {
    /// Rank of the occurrence.
    pub rank: u32,
    /// Event of the rank.
    pub event: u64,
    /// Observation there: `can overlap line 85, iterations 1..10 of 40; then line 85 writes the buffer`.
    pub text: String,
}

/// File of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// Path, as in places and marks.
    pub path: String,
    /// Text of the file; `None` if it could not be read.
    pub text: Option<String>,
}

/// Description of a rule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rule {
    /// Number: `A001`.
    pub id: String,
    /// Name in a few words: `overlap`.
    pub name: String,
    /// Summary in one sentence.
    pub summary: String,
    /// Explanation as plain text: reasons, changes of the source, and limits.
    pub help: String,
    /// Address of further documentation; empty if there is none.
    pub help_uri: String,
}
