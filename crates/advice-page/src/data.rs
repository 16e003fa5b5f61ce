//! What the page shows, as plain data.

use hayase_advice::unit::Unit;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// Everything the page shows.
#[derive(Clone, Debug)]
pub struct PageData {
    /// Name of the program.
    pub program: String,
    /// What else to say of the run, in a few words each: `("machine", "myrinet")`.
    pub facts: Vec<(String, String)>,
    /// What the run in the page is: `simulated on myrinet`, `as recorded`.
    pub run_is: String,
    /// The advice, best first: the page numbers it in this order.
    pub findings: Vec<Finding>,
    /// The rules that found it.
    pub rules: Vec<Rule>,
    /// What all of it together would gain, where that was simulated.
    pub together: Option<Together>,
    /// What could not be seen, and what was assumed.
    pub notes: Vec<String>,
    /// The source files that places and marks name, as far as they could be read.
    pub sources: Vec<Source>,
    /// What happened.
    pub run: Run,
}

impl PageData {
    /// A page without advice.
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
    /// What it is called, once in a page: `A001-3`.
    pub id: String,
    /// The rule that found it: `A001`.
    pub rule: String,
    /// What to do, in one line.
    pub title: String,
    /// What it would gain, where that was simulated.
    pub gain: Option<Gain>,
    /// In which all its times are written.
    pub unit: Unit,
    /// What was seen, a paragraph each.
    pub text: Vec<String>,
    /// What has to be checked, a sentence each: layouts, contents. One is enough for [`Certainty::Check`].
    pub caveats: Vec<String>,
    /// What is good to know and leaves nothing to be checked, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Figures, in a few words each: `("critical path before", "1.2 s")`.
    pub facts: Vec<(String, String)>,
    /// Lines that have a part in it, the communication first.
    pub marks: Vec<Mark>,
    /// On which ranks; empty: on all.
    pub ranks: Vec<u32>,
    /// How often, over all ranks.
    pub occurrences: u64,
    /// Occurrences one by one, as many as are worth a look.
    pub details: Vec<Detail>,
}

impl Finding {
    /// How sure it is: proven, unless something has to be checked.
    pub fn certainty(&self) -> Certainty {
        if self.caveats.is_empty() { Certainty::Proven } else { Certainty::Check }
    }
}

/// How sure a piece of advice is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Everything in between was seen in this run, and nothing forbids it.
    Proven,
    /// Something was not seen: to be checked by a person.
    Check,
}

/// What the changed program takes \[s\], on the same machine and network.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gain {
    /// The program as it is.
    pub before_s: f64,
    /// The program as advised.
    pub after_s: f64,
}

impl Gain {
    /// Time saved \[s\]; negative where the advice costs time.
    pub fn saved_s(self) -> f64 {
        self.before_s - self.after_s
    }

    /// Time saved, as a share of the program's.
    pub fn share(self) -> f64 {
        if self.before_s > 0.0 { self.saved_s() / self.before_s } else { 0.0 }
    }
}

/// All pieces of advice in one changed program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Together {
    /// What it would gain.
    pub gain: Gain,
    /// Pieces that are not in it, by [`Finding::id`], because others rule them out.
    pub left_out: Vec<String>,
    /// Why it is as much as it is, and why pieces are not in it: a sentence each.
    #[serde(default)]
    pub why: Vec<String>,
}

/// What a line has to do with a piece of advice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The communication that can be improved.
    Communication,
    /// Where it is waited for.
    Completion,
    /// Computation that can run while the message is under way.
    Overlap,
    /// What forbids more.
    Forbids,
    /// Communication that belongs to it: that can be merged with it, that is part of the same pattern.
    Companion,
    /// The other end of the message.
    Partner,
    /// What makes others wait.
    Cause,
}

impl Role {
    /// Its name in a sentence.
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

/// Lines of the source, and their part in a piece of advice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// File, as [`Source::path`] names it; empty: not known.
    pub file: String,
    /// First line, from 1; 0: not known.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
    /// As what.
    pub role: Role,
    /// What to say of it: `flow dependence on the message, iterations 501..1000 of 1000`.
    pub text: String,
}

/// One occurrence of a piece of advice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Detail {
    /// On which rank.
    pub rank: u32,
    /// Which event of the rank.
    pub event: u64,
    /// What was found there: `can overlap line 85, iterations 1..10 of 40; then line 85 writes the buffer`.
    pub text: String,
}

/// A file of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// As places and marks name it.
    pub path: String,
    /// What is in it; `None`: it could not be read.
    pub text: Option<String>,
}

/// What a rule looks for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rule {
    /// `A001`.
    pub id: String,
    /// In a few words: `overlap`.
    pub name: String,
    /// In one sentence.
    pub summary: String,
    /// Why, how to change the source, when it is wrong: plain text.
    pub help: String,
    /// Where to read more; empty: nowhere.
    pub help_uri: String,
}
