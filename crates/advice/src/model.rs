//! What the search returns: findings, as plain data.
//!
//! A [`Finding`] is one piece of advice about one place of the source, however often the place was executed: it says
//! what can be improved ([`Finding::title`]), where ([`Place`]), what stands in the way ([`Blocker`]), how sure that is
//! ([`Certainty`]) and what the improved program would do instead ([`Change`]), in terms that a simulator of the
//! program can follow.
//!
//! **Events.** An event is a recorded call; its number is its index in the rank's stream, from 0. *Interval* `n` is the
//! computation before event `n` and after event `n - 1`.

use std::fmt;

use hayase_trace::callers::CALLED_FROM;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// What was found in a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Advice {
    /// How many ranks the program has.
    pub ranks: u32,
    /// Recorded calls of all ranks.
    pub events: u64,
    /// Memory accesses of all ranks.
    pub accesses: u64,
    /// Ranks whose memory accesses were recorded.
    pub ranks_with_memory: u32,
    /// Computation of all ranks \[ns\], as recorded.
    pub computation_ns: u64,
    /// What could not be seen, and what was assumed of the whole run.
    pub notes: Vec<String>,
    /// By rule, then by place.
    pub findings: Vec<Finding>,
}

/// The rules; `docs/concepts/advice.md` and `hayase explain` say what each looks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "their texts are in `rules`")]
pub enum RuleId {
    A001,
    A002,
    A003,
    A004,
    A101,
    A102,
    A103,
    A104,
    A105,
    A106,
    A201,
    A202,
    A203,
    A204,
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Every access in between was seen in this run and none forbids it.
    Proven,
    /// Something was not seen: [`Finding::caveats`] says what to check.
    Check,
}

/// One piece of advice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Rule and number: `A001-3`.
    pub id: String,
    /// Which rule found it.
    pub rule: RuleId,
    /// What to do, in one line.
    pub title: String,
    /// What was seen, line by line.
    pub text: Vec<String>,
    /// The places it is about; the first is the communication.
    pub places: Vec<Place>,
    /// What stands in the way of more, the most frequent first.
    pub blockers: Vec<Blocker>,
    /// On which ranks.
    pub ranks: Ranks,
    /// How often, over all ranks.
    pub occurrences: u64,
    /// How often the communication was executed in all, where that is more.
    pub executions: u64,
    /// Bytes of the messages.
    pub bytes: u64,
    /// Time at stake \[ns\], over all ranks: of overlap, computation that could hide the message; of waits, their
    /// length; of merged and replaced messages 0: only a simulation knows. Not the gain.
    pub time_ns: u64,
    /// What has to be checked, since the run cannot show it: layouts, contents. One is enough for [`Certainty::Check`].
    pub caveats: Vec<String>,
    /// What is good to know and leaves nothing to be checked.
    #[serde(default)]
    pub notes: Vec<String>,
    /// In which all times that are written about it are.
    #[serde(default)]
    pub unit: Unit,
    /// The improved program.
    pub change: Change,
}

impl Finding {
    /// How sure it is: proven, unless something has to be checked.
    pub fn certainty(&self) -> Certainty {
        if self.caveats.is_empty() { Certainty::Proven } else { Certainty::Check }
    }
}

/// A place of the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// File as the compiler named it; `pw.x: cegterg_+0x31` or an address (`0x401136`) where the line is not known.
    pub file: String,
    /// Line, from 1; 0: not known.
    pub line: u32,
    /// Of a place that is called from several: from which, and in which function it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Box<Called>>,
}

/// From where a place is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Called {
    /// The function that the place is in; empty where that is not known.
    pub function: String,
    /// The first caller that tells this place from the same place called from elsewhere.
    pub from: Location,
}

impl Location {
    /// From `file:line`, as sites are named; a column or function behind it is left out. With `called from` and another
    /// place behind it, it is that place called from there.
    pub fn parse(name: &str) -> Self {
        if let Some((name, from)) = name.split_once(CALLED_FROM) {
            let function = match hayase_trace::names::has_line(name) {
                true => hayase_trace::names::function(name).unwrap_or_default(),
                false => "",
            };
            let called = Called { function: function.to_owned(), from: Self::parse(from) };
            return Self { called: Some(Box::new(called)), ..Self::parse(name) };
        }
        let name = name.rsplit_once(" (").map_or(name, |(place, _)| place);
        let mut parts = name.rsplitn(3, ':');
        let (last, middle, first) = (parts.next().unwrap_or(""), parts.next(), parts.next());
        match (last.parse(), middle, first) {
            (Ok(_), Some(middle), Some(file)) if let Ok(line) = middle.parse() => {
                Self { file: file.into(), line, called: None }
            }
            (Ok(line), Some(_), _) => Self { file: name[..name.len() - last.len() - 1].into(), line, called: None },
            _ => Self { file: name.into(), line: 0, called: None },
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file)?,
            line => write!(f, "{}:{line}", self.file)?,
        }
        match self.called.as_deref() {
            None => Ok(()),
            Some(Called { function, from }) if function.is_empty() => write!(f, "{CALLED_FROM}{from}"),
            Some(Called { function, from }) => write!(f, " ({function}){CALLED_FROM}{from}"),
        }
    }
}

/// What a place has to do with the finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The communication that can be improved.
    Communication,
    /// Where a non-blocking communication is waited for.
    Completion,
    /// Computation that can run while the message is under way, before the place where the call is now.
    OverlapBefore,
    /// Computation that can run while the message is under way, after the place where the call is now.
    OverlapAfter,
    /// Communication that can be merged with the first one, or belongs to the same pattern.
    Companion,
    /// The other end of the communication.
    Partner,
    /// What makes others wait.
    Cause,
}

/// A place and its part in a finding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Where.
    pub location: Location,
    /// As what.
    pub role: Role,
    /// The call, where it is one: `Send`.
    pub call: Option<String>,
    /// Which iterations, where not all of them; of the occurrence that had the largest part.
    pub iterations: Option<Iterations>,
    /// How often, over all ranks.
    pub occurrences: u64,
    /// Of these, how often all iterations.
    pub whole: u64,
}

/// Iterations `first..=last` of `of`, counted from 1 in the order in which they were executed between two calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Iterations {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many there are.
    pub of: u64,
}

impl fmt::Display for Iterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iterations {}..{} of {}", self.first, self.last, self.of)
    }
}

/// Why something must stay before something else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// The first writes what the second reads.
    Flow,
    /// The first reads what the second writes.
    Anti,
    /// Both write the same.
    Output,
    /// Messages between the same two ranks must not overtake each other; collective operations have one order.
    Order,
    /// What came before was read: whether the call is made, and with which arguments, may depend on it.
    Control,
    /// A call whose accesses were not seen: a function that is not instrumented, one-sided communication.
    Opaque,
    /// Nothing was seen here: no memory accesses were recorded.
    NotSeen,
    /// Nothing stands in the way as far as was looked.
    Limit,
    /// The program begins or ends.
    Program,
}

impl Dependence {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow dependence",
            Self::Anti => "anti-dependence",
            Self::Output => "output dependence",
            Self::Order => "order of messages",
            Self::Control => "control dependence",
            Self::Opaque => "unknown accesses",
            Self::NotSeen => "accesses not recorded",
            Self::Limit => "as far as was looked",
            Self::Program => "start or end of the program",
        }
    }
}

/// On which side of the communication.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The communication cannot start before it.
    Before,
    /// The communication must be complete before it.
    After,
}

/// What stands in the way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Blocker {
    /// Where; `None`: at no place of the program.
    pub location: Option<Location>,
    /// The call or the unknown function, where it is one.
    pub call: Option<String>,
    /// Why.
    pub dependence: Dependence,
    /// On which side.
    pub side: Side,
    /// Address of the first conflict, of the first occurrence.
    pub address: Option<u64>,
    /// The iterations that must stay on their side, of the first occurrence.
    pub iterations: Option<Iterations>,
    /// How often.
    pub occurrences: u64,
}

/// A set of ranks, as ranges `first..=last` in ascending order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Ranks(pub Vec<(u32, u32)>);

impl Ranks {
    /// Adds a rank.
    pub fn insert(&mut self, rank: u32) {
        let at = self.0.partition_point(|&(_, last)| last < rank);
        if let Some(&(first, _)) = self.0.get(at)
            && first <= rank
        {
            return;
        }
        self.0.insert(at, (rank, rank));
        // Neighbours grow together.
        if self.0.get(at + 1).is_some_and(|&(first, _)| first == rank.saturating_add(1)) {
            let (_, last) = self.0.remove(at + 1);
            self.0[at].1 = last;
        }
        if at > 0 && self.0[at - 1].1 + 1 == rank {
            let (_, last) = self.0.remove(at);
            self.0[at - 1].1 = last;
        }
    }

    /// Adds all ranks of another set.
    pub fn extend(&mut self, other: &Self) {
        for rank in other.iter() {
            self.insert(rank);
        }
    }

    /// The ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// How many they are.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Returns the ranks with their noun, and the end of a verb of which they are the subject: `rank 3`, `s`; `ranks
    /// 0-2`, none.
    pub fn in_words(&self) -> (String, &'static str) {
        if self.len() == 1 { (format!("rank {self}"), "s") } else { (format!("ranks {self}"), "") }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<u32> for Ranks {
    fn from_iter<I: IntoIterator<Item = u32>>(ranks: I) -> Self {
        let mut set = Self::default();
        for rank in ranks {
            set.insert(rank);
        }
        set
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &(first, last)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// What the improved program does instead.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Nothing that follows from the trace alone.
    #[default]
    None,
    /// Its calls change.
    Program {
        /// What changes, in the order of ranks and events.
        edits: Vec<Edit>,
        /// How many occurrences have no edit, because there were too many.
        left_out: u64,
    },
    /// The program stays; what it runs on, or with, changes.
    Scenario(ScenarioChange),
}

/// A change of what the program runs on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenarioChange {
    /// The largest message that is sent without waiting for its receiver becomes this large \[B\].
    RaiseEager {
        /// The new limit.
        to: u64,
    },
    /// Ranks go to these nodes.
    Placement {
        /// By rank, its node.
        nodes: Vec<u32>,
    },
    /// A collective operation uses another algorithm.
    Algorithm {
        /// `Allreduce`.
        collective: String,
        /// Name of the algorithm.
        algorithm: String,
    },
}

/// A change of a rank's calls, and how often it repeats.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Which rank.
    pub rank: u32,
    /// Which event; all other events are counted from here.
    pub event: u64,
    /// How often the same change is made; at least 1.
    pub times: u64,
    /// From one of these events to the next.
    pub step: u64,
    /// What is done.
    pub action: Action,
}

impl Edit {
    /// The events that change in this way.
    pub fn events(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.times).map(|i| self.event + i * self.step)
    }
}

/// What is done to an event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The communication is posted at one point and waited for at another, instead of being done where it is.
    ///
    /// A call that blocks becomes its non-blocking form and a wait; of one that does not, the post and the wait move.
    /// Never later posted or earlier waited for than now.
    Overlap {
        /// Which part of the call: `Sendrecv` has two.
        part: CallPart,
        /// Where it is posted.
        post: Point,
        /// Where it is waited for.
        wait: Point,
        /// What must be complete when it is posted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<Needed>,
    },
    /// The event and those at these distances become one, at the place of the first: sends to one rank, receives from
    /// one rank, or collective operations.
    Merge {
        /// Distances of the other events, ascending.
        with: Vec<u64>,
        /// Payload of the one \[B\]; of a collective operation: as its `bytes`.
        bytes: u64,
        /// Bytes this rank copies, to make one buffer of several or several of one.
        copy: u64,
        /// What must be complete when the one is posted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<Needed>,
    },
    /// The event and all those listed become one collective operation. Not repeated.
    Replace {
        /// Name of the collective operation: `Bcast`.
        collective: String,
        /// Who takes part, ranks of `MPI_COMM_WORLD`, ascending.
        members: Vec<u32>,
        /// The root, a rank of `MPI_COMM_WORLD`, where there is one.
        root: Option<u32>,
        /// Block or vector \[B\], as its `bytes` in a trace.
        bytes: u64,
        /// Rank and event of every call that is replaced; the collective is at the place of each rank's first in this
        /// list.
        calls: Vec<(u32, u64)>,
        /// What must be complete when a rank calls it: rank, event and part.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<(u32, u64, CallPart)>,
    },
}

/// An earlier communication of the same rank on which one depends, if its own change lets it end later than the one can
/// be posted.
///
/// Each of the two may move as far as the other lets it where the program has it now. If both move, the earlier must
/// still be complete before the later is posted; who makes several changes in one program has to see to that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Needed {
    /// So many events before the edited one.
    pub distance: u64,
    /// Which part of the call.
    pub part: CallPart,
}

/// Which part of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallPart {
    /// What it sends.
    #[default]
    Send,
    /// What it receives.
    Receive,
    /// A collective operation.
    Collective,
}

/// A point in a rank's computation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// In the interval before the event at this distance: 0 is just before the edited event, 1 the one after it.
    pub interval: i64,
    /// How much of that interval's computation lies before the point: 0 its begin, 1 its end.
    pub fraction: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_kept_as_ranges() {
        let ranks: Ranks = [5, 1, 2, 9, 0, 6, 2].into_iter().collect();
        assert_eq!(ranks.0, [(0, 2), (5, 6), (9, 9)]);
        assert_eq!((ranks.to_string().as_str(), ranks.len()), ("0-2, 5-6, 9", 6));
        assert_eq!(ranks.iter().collect::<Vec<_>>(), [0, 1, 2, 5, 6, 9]);
    }

    #[test]
    fn names_of_sites_are_places() {
        for (name, file, line) in [
            ("gauss.c:12", "gauss.c", 12),
            ("src/gauss.c:12:7", "src/gauss.c", 12),
            ("gauss.c:12 (eliminate)", "gauss.c", 12),
            ("my programs/gauss.c:12 (eliminate)", "my programs/gauss.c", 12),
            ("0x401136", "0x401136", 0),
            ("", "", 0),
        ] {
            assert_eq!(Location::parse(name), Location { file: file.into(), line, called: None }, "{name}");
        }
        let name = "src/comm.cpp:512 (forward_comm) called from src/verlet.cpp:203 (run)";
        let Location { file, line, called } = Location::parse(name);
        let called = called.unwrap();
        assert_eq!((file.as_str(), line, called.function.as_str()), ("src/comm.cpp", 512, "forward_comm"));
        assert_eq!(called.from, Location::parse("src/verlet.cpp:203"));
        assert_eq!(Location::parse(name).to_string(), name.trim_end_matches(" (run)"));
        let name = "lmp: forward_comm+0x31 called from lmp: run+0x12";
        assert_eq!(Location::parse(name).to_string(), name);
    }

    #[test]
    fn a_finding_comes_back_from_json() {
        let point = Point { interval: 1, fraction: 0.5 };
        let action = Action::Overlap { part: CallPart::Send, post: point, wait: point, needs: Vec::new() };
        let change =
            Change::Program { edits: vec![Edit { rank: 0, event: 3, times: 2, step: 4, action }], left_out: 0 };
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change);
    }
}
