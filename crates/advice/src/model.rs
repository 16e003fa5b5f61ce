//! Results of the search: findings, as plain data.
//!
//! A [`Finding`] is one piece of advice about one place of the source, however often the place was executed.
//! It has a title ([`Finding::title`]), its places ([`Place`]), its blockers ([`Blocker`]) and its certainty
//! ([`Certainty`]). Its [`Change`] describes the improved program in terms that a simulator of the program
//! can follow.
//!
//! **Events.** An event is a recorded call; its number is its index in the rank's stream, from 0. *Interval*
//! `n` is the computation before event `n` and after event `n - 1`.

use std::fmt;

use hayase_trace::callers::CALLED_FROM;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Findings of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Advice {
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Number of recorded calls of all ranks.
    pub events: u64,
    /// Number of memory accesses of all ranks.
    pub accesses: u64,
    /// Number of ranks whose memory accesses were recorded.
    pub ranks_with_memory: u32,
    /// Computation of all ranks \[ns\], as recorded.
    pub computation_ns: u64,
    /// Things that could not be seen, and assumptions about the whole run.
    pub notes: Vec<String>,
    /// Findings, by rule and then by place.
    pub findings: Vec<Finding>,
}

/// Rules; `docs/concepts/advice.md` and `hayase advise --explain` describe each of them.
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

/// Certainty of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// This run shows every access in between, and none forbids the change.
    Proven,
    /// Something was not seen; [`Finding::caveats`] lists the checks.
    Check,
}

/// One piece of advice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Rule and number, such as `A001-3`.
    pub id: String,
    /// Rule that found it.
    pub rule: RuleId,
    /// Advice in one line.
    pub title: String,
    /// Observations, line by line.
    pub text: Vec<String>,
    /// Places of the finding; the first is the communication.
    pub places: Vec<Place>,
    /// Obstacles to a larger improvement, the most frequent first.
    pub blockers: Vec<Blocker>,
    /// Ranks on which it occurs.
    pub ranks: Ranks,
    /// Number of occurrences on all ranks.
    pub occurrences: u64,
    /// Number of executions of the communication on all ranks, at least `occurrences`.
    pub executions: u64,
    /// Bytes of the messages.
    pub bytes: u64,
    /// Time at stake on all ranks \[ns\], which is not the gain. For overlap, it is the computation that
    /// could hide the message; for waits, their length. For merged and replaced messages it is 0: only a
    /// simulation knows it.
    pub time_ns: u64,
    /// Assumptions to check that the run cannot show, such as layouts or contents. One is enough for
    /// [`Certainty::Check`].
    pub caveats: Vec<String>,
    /// Remarks that need no check.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Unit of all times in the texts of the finding.
    #[serde(default)]
    pub unit: Unit,
    /// Change that makes the improved program.
    pub change: Change,
}

impl Finding {
    /// Returns `Proven`, or `Check` if there are caveats.
    pub fn certainty(&self) -> Certainty {
        if self.caveats.is_empty() { Certainty::Proven } else { Certainty::Check }
    }
}

/// Place of the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// File as the compiler named it. If the line is not known, it is `pw.x: cegterg_+0x31` or an address
    /// (`0x401136`).
    pub file: String,
    /// Line, from 1; 0 if it is not known.
    pub line: u32,
    /// Function and caller of a place that is called from several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Box<Called>>,
}

/// Caller of a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Called {
    /// Function that contains the place; empty if it is not known.
    pub function: String,
    /// First caller that distinguishes this place from the same place called from elsewhere.
    pub from: Location,
}

impl Location {
    /// Parses the name of a site, `file:line`; a column or function behind it is dropped.
    ///
    /// A name with `called from` and another place behind it is the first place, called from the second.
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

/// Role of a place in a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Communication that can be improved.
    Communication,
    /// Wait for a non-blocking communication.
    Completion,
    /// Computation before the call that can run while the message is under way.
    OverlapBefore,
    /// Computation after the call that can run while the message is under way.
    OverlapAfter,
    /// Communication that can be merged with the first one, or belongs to the same pattern.
    Companion,
    /// Other end of the communication.
    Partner,
    /// Cause of waits of other ranks.
    Cause,
}

/// Place and its role in a finding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Location in the source.
    pub location: Location,
    /// Role of the place.
    pub role: Role,
    /// Name of the call, such as `Send`, if the place is one.
    pub call: Option<String>,
    /// Iterations that take part, if not all do; those of the occurrence with the largest part.
    pub iterations: Option<Iterations>,
    /// Number of occurrences on all ranks.
    pub occurrences: u64,
    /// Number of occurrences in which all iterations take part.
    pub whole: u64,
}

/// Iterations `first..=last` of `of`, counted from 1 in the order of execution between two calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Iterations {
    /// First iteration.
    pub first: u64,
    /// Last iteration.
    pub last: u64,
    /// Number of all iterations.
    pub of: u64,
}

impl fmt::Display for Iterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iterations {}..{} of {}", self.first, self.last, self.of)
    }
}

/// Reason why two things must keep their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// The first writes what the second reads.
    Flow,
    /// The first reads what the second writes.
    Anti,
    /// Both write the same memory.
    Output,
    /// Messages between the same two ranks must not overtake each other; collective operations have one order.
    Order,
    /// The program has read earlier data. It may decide if the call is made, and with which arguments.
    Control,
    /// A call whose accesses were not seen: a function without instrumentation, or one-sided communication.
    Opaque,
    /// Nothing was seen here, because memory accesses were not recorded.
    NotSeen,
    /// Nothing was found within the limits of the search.
    Limit,
    /// The program begins or ends.
    Program,
}

impl Dependence {
    /// Returns its name in a sentence.
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

/// Side of the communication.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The communication cannot start before the blocker.
    Before,
    /// The communication must be complete before the blocker.
    After,
}

/// Obstacle that a communication cannot pass.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Blocker {
    /// Location in the source; `None` if it is at no place of the program.
    pub location: Option<Location>,
    /// Call or unknown function, if it is one.
    pub call: Option<String>,
    /// Dependence that forbids passing it.
    pub dependence: Dependence,
    /// Side on which it stands.
    pub side: Side,
    /// Address of the first conflict in the first occurrence.
    pub address: Option<u64>,
    /// Iterations that must stay on their side, in the first occurrence.
    pub iterations: Option<Iterations>,
    /// Number of occurrences.
    pub occurrences: u64,
}

/// Set of ranks, as ranges `first..=last` in ascending order.
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
        // Merges ranges that have become adjacent.
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

    /// Iterates over the ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Number of ranks in the set.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Returns the ranks with their noun, and the ending of their verb: (`rank 3`, `s`), or (`ranks 0-2`,
    /// empty).
    pub fn in_words(&self) -> (String, &'static str) {
        if self.len() == 1 { (format!("rank {self}"), "s") } else { (format!("ranks {self}"), "") }
    }

    /// True if the set is empty.
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

/// Change that the advice proposes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// No change follows from the trace alone.
    #[default]
    None,
    /// The calls of the program change.
    Program {
        /// Changes of calls, in the order of ranks and events.
        edits: Vec<Edit>,
        /// Number of occurrences without an edit, because there were too many.
        left_out: u64,
    },
    /// The program stays; the machine, the library or the placement changes.
    Scenario(ScenarioChange),
}

/// Change of the scenario in which the program runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenarioChange {
    /// The eager limit rises: larger messages are sent without waiting for their receiver.
    RaiseEager {
        /// New limit \[B\].
        to: u64,
    },
    /// Ranks are placed on these nodes.
    Placement {
        /// Node of each rank.
        nodes: Vec<u32>,
    },
    /// A collective operation uses another algorithm.
    Algorithm {
        /// Name of the operation, such as `Allreduce`.
        collective: String,
        /// Name of the algorithm.
        algorithm: String,
    },
}

/// Change of a rank's calls, with its repetitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Rank that changes.
    pub rank: u32,
    /// Event that changes; the action counts other events from here.
    pub event: u64,
    /// Number of events with the same change, at least 1.
    pub times: u64,
    /// Distance from one of these events to the next.
    pub step: u64,
    /// Action on each of these events.
    pub action: Action,
}

impl Edit {
    /// Iterates over the events that change in this way.
    pub fn events(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.times).map(|i| self.event + i * self.step)
    }
}

/// Action on an event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The communication is posted at one point and waited for at another.
    ///
    /// A call that blocks becomes its non-blocking form and a wait. For a non-blocking call, the post and the
    /// wait move. The post never moves later, and the wait never moves earlier.
    Overlap {
        /// Part of the call: `Sendrecv` has two.
        part: CallPart,
        /// Point of the post.
        post: Point,
        /// Point of the wait.
        wait: Point,
        /// Communications that must be complete at the post.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<Needed>,
    },
    /// The event and those at the given distances become one call, at the place of the first: sends to one
    /// rank, receives from one rank, or collective operations.
    Merge {
        /// Distances of the other events, in ascending order.
        with: Vec<u64>,
        /// Payload of the merged call \[B\]; for a collective operation, its `bytes`.
        bytes: u64,
        /// Bytes that this rank copies to join or split buffers \[B\].
        copy: u64,
        /// Communications that must be complete when the merged call is posted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<Needed>,
    },
    /// The event and all listed calls become one collective operation. This edit is not repeated.
    Replace {
        /// Name of the collective operation, such as `Bcast`.
        collective: String,
        /// Participants: ranks of `MPI_COMM_WORLD`, in ascending order.
        members: Vec<u32>,
        /// Root, a rank of `MPI_COMM_WORLD`, if there is one.
        root: Option<u32>,
        /// Size of a block or vector \[B\], as its `bytes` in a trace.
        bytes: u64,
        /// Rank and event of every replaced call. The collective operation takes the place of each rank's
        /// first call in this list.
        calls: Vec<(u32, u64)>,
        /// Communications that must be complete when a rank calls it: rank, event and part.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<(u32, u64, CallPart)>,
    },
}

/// Earlier communication of the same rank that must be complete before an edited one is posted.
///
/// It is listed if its own edit lets it end later than the edited one can be posted. Each of the two may move
/// as far as the place of the other in the present program allows. If both move, the earlier must still be
/// complete before the later is posted; an edit of several places has to ensure that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Needed {
    /// Number of events before the edited one.
    pub distance: u64,
    /// Part of the call.
    pub part: CallPart,
}

/// Part of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallPart {
    /// Message that it sends.
    #[default]
    Send,
    /// Message that it receives.
    Receive,
    /// Collective operation.
    Collective,
}

/// Point in a rank's computation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Distance of its interval: 0 is the interval just before the edited event, 1 the next.
    pub interval: i64,
    /// Share of the interval's computation that lies before the point: 0 is its begin, 1 its end.
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
