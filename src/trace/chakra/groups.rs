//! Process groups, and the collectives that their ranks call.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::kinds::{Place, collective};
use crate::diagnostic::Diagnostic;
use crate::program::ProgramBuilder;

/// Largest number of mistakes that are listed.
const MOST: usize = 20;

/// Groups of a trace.
#[derive(Debug)]
pub(super) struct Groups {
    ranks: u32,
    all: Vec<Group>,
    /// Groups of a name; they have no rank in common.
    names: FxHashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Group {
    name: String,
    ranks: Vec<u32>,
    /// Number of the communicator, once it is used.
    communicator: Option<u32>,
    calls: Vec<Joined>,
    /// Number of calls of each rank.
    called: Vec<u32>,
}

/// A collective of a group as the first of its ranks calls it.
#[derive(Debug)]
struct Joined {
    call: Called,
    place: Place,
}

/// Contents of a call that all ranks share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Called {
    /// Type of the collective, as in the trace.
    pub kind: u64,
    pub bytes: u64,
    /// Root, as a rank of the group.
    pub root: u32,
}

impl std::fmt::Display for Called {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} B", collective(self.kind).map_or("collective", |(name, ..)| name), self.bytes)?;
        if self.root > 0 { write!(f, " with root {}", self.root) } else { Ok(()) }
    }
}

/// A group as METADATA nodes describe it.
#[derive(Deserialize)]
struct Described {
    pg_name: serde_json::Value,
    #[serde(default)]
    ranks: Vec<u32>,
}

impl Groups {
    pub fn new(ranks: u32) -> Self {
        Self { ranks, all: Vec::new(), names: FxHashMap::default() }
    }

    /// Adds the groups of a side file, `{"1": [0, 1]}`.
    pub fn of_file(&mut self, name: &str, text: &[u8]) -> Result<(), Diagnostic> {
        let wrong = |what: String| {
            let help = "write {\"1\": [0, 1]}: the ranks of each group";
            Diagnostic::new("wrong-groups", format!("{name}: {what}")).help(help)
        };
        let groups: BTreeMap<String, Vec<u32>> = serde_json::from_slice(text)
            .map_err(|error| wrong(format!("line {}, column {}: no list of ranks", error.line(), error.column())))?;
        groups.into_iter().try_for_each(|(group, ranks)| self.define(&group, ranks).map_err(wrong))
    }

    /// Adds the groups that the inputs of a METADATA node define.
    pub fn of_node(&mut self, inputs: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(inputs);
        let list = text.find("[{").and_then(|begin| text.get(begin..text.rfind("}]")? + 2));
        let Some(list) = list else { return Ok(()) };
        let expected = "a list of groups like [{\"pg_name\": \"1\", \"ranks\": [0, 1]}] is expected";
        let groups: Vec<Described> = serde_json::from_str(list).map_err(|_| expected.to_owned())?;
        groups.into_iter().try_for_each(|group| match group.pg_name {
            serde_json::Value::String(name) => self.define(&name, group.ranks),
            serde_json::Value::Number(number) => self.define(&number.to_string(), group.ranks),
            _ => Err(expected.to_owned()),
        })
    }

    /// Adds a group; no ranks stand for all. Returns the mistake of one that does not match the others.
    fn define(&mut self, name: &str, ranks: Vec<u32>) -> Result<(), String> {
        let ranks = if ranks.is_empty() { (0..self.ranks).collect() } else { ranks };
        if let Some(stray) = ranks.iter().find(|&&rank| rank >= self.ranks) {
            let last = self.ranks - 1;
            let more = if last == 0 { "; --ranks N lets its file stand for N ranks" } else { "" };
            return Err(format!("group `{name}` names rank {stray}, and the trace has ranks 0 to {last}{more}"));
        }
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("group `{name}` names rank {} twice", twice[0]));
        }
        let known = self.names.entry(name.to_owned()).or_default();
        for &at in &*known {
            let other = &self.all[at].ranks;
            if *other == ranks {
                return Ok(());
            }
            if let Some(common) = other.iter().find(|rank| sorted.binary_search(rank).is_ok()) {
                let (a, b) = (shown(other), shown(&ranks));
                return Err(format!(
                    "group `{name}` has ranks {a} elsewhere and {b} here, and rank {common} is in both"
                ));
            }
        }
        known.push(self.all.len());
        let (called, name) = (vec![0; ranks.len()], name.to_owned());
        self.all.push(Group { name, ranks, communicator: None, calls: Vec::new(), called });
        Ok(())
    }

    /// Returns the number of the group with this name that a rank is in, and the rank's number in it.
    pub fn find(&mut self, name: &str, rank: u32) -> Result<(usize, u32), String> {
        let is_all = name.is_empty() || name == "0";
        if is_all && !self.names.contains_key(name) {
            self.define(name, Vec::new())?;
        }
        let Some(known) = self.names.get(name) else {
            return Err(format!(
                "group `{name}` is not defined; expected is a METADATA node process_group:init, or a file of groups"
            ));
        };
        let member = |&at: &usize| Some((at, self.all[at].ranks.iter().position(|&other| other == rank)? as u32));
        let found = known.iter().find_map(member);
        found.ok_or_else(|| format!("rank {rank} is not in group `{name}`, ranks {}", shown(&self.all[known[0]].ranks)))
    }

    /// Defines the group of this name for another rank, as far from that of rank 0 as a regular layout places it.
    pub fn translate(&mut self, name: &str, rank: u32) -> Result<(), String> {
        if self.find(name, rank).is_ok() {
            return Ok(());
        }
        let (first, _) = self.find(name, 0)?;
        let ranks = &self.all[first].ranks;
        let (count, stride) = (ranks.len() as u32, ranks.get(1).map_or(1, |next| next.saturating_sub(ranks[0]).max(1)));
        let period = u64::from(count) * u64::from(stride);
        let group = |rank: u32| {
            let begin = rank / (count * stride) * count * stride + rank % stride;
            (0..count).map(|member| begin + member * stride).collect::<Vec<_>>()
        };
        if !u64::from(self.ranks).is_multiple_of(period) || *ranks != group(0) {
            let (ranks, all) = (shown(ranks), self.ranks);
            return Err(format!("group `{name}`, ranks {ranks}, does not repeat itself among {all} ranks"));
        }
        self.define(name, group(rank))
    }

    /// Returns the ranks of a group.
    pub fn ranks(&self, group: usize) -> &[u32] {
        &self.all[group].ranks
    }

    /// Largest number of ranks of a group.
    pub fn largest(&self) -> u64 {
        self.all.iter().map(|group| group.ranks.len() as u64).max().unwrap_or(0)
    }

    /// Returns the number of the communicator of a group.
    pub fn communicator(&mut self, group: usize, builder: &mut ProgramBuilder) -> u32 {
        let Group { ranks, communicator, .. } = &mut self.all[group];
        let is_world = ranks.len() == self.ranks as usize && ranks.is_sorted();
        *communicator.get_or_insert_with(|| if is_world { 0 } else { builder.communicator(ranks.clone()) })
    }

    /// Adds the next call of a rank, and returns its number among the calls of the group.
    ///
    /// # Errors
    /// Another rank calls something else in its place.
    pub fn join(&mut self, group: usize, member: u32, call: Called, place: &Place) -> Result<u32, String> {
        let Group { name, calls, called, .. } = &mut self.all[group];
        let number = called[member as usize];
        called[member as usize] += 1;
        let Some(joined) = calls.get(number as usize) else {
            calls.push(Joined { call, place: place.clone() });
            return Ok(number);
        };
        if joined.call == call {
            return Ok(number);
        }
        Err(format!(
            "collective {} of {} is {call}, and in {} it is {}; all ranks call the same with the same size",
            number + 1,
            titled(name),
            joined.place,
            joined.call
        ))
    }

    /// Returns the collectives that some rank of their group lacks.
    pub fn lacking(&self, file: impl Fn(u32) -> String) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        for group in &self.all {
            for (&called, &rank) in group.called.iter().zip(&group.ranks) {
                let Some(Joined { call, place }) = group.calls.get(called as usize) else { continue };
                let message = format!(
                    "{}: rank {rank} never joins the {call} of {place}, which is collective {} of {}; rank \
                     {rank} has {called} of {}",
                    file(rank),
                    called + 1,
                    titled(&group.name),
                    group.calls.len()
                );
                let help = "every rank of a group calls all of its collectives, in one order";
                mistakes.push(Diagnostic::new("missing-collective", message).help(help));
                if mistakes.len() >= MOST {
                    return mistakes;
                }
            }
        }
        mistakes
    }
}

/// Returns the name of a group for messages.
fn titled(name: &str) -> String {
    if name.is_empty() { "all ranks".to_owned() } else { format!("group `{name}`") }
}

/// Returns a list of ranks for messages.
fn shown(ranks: &[u32]) -> String {
    let some = ranks.iter().take(8).map(u32::to_string).collect::<Vec<_>>().join(", ");
    if ranks.len() > 8 { format!("[{some} ... {} in all]", ranks.len()) } else { format!("[{some}]") }
}
