//! Definitions of an archive: those of all locations, and those of one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::clock::{GlobalClock, LocationClock};
use super::file::{Record, Records};
use super::layout::{UNDEFINED, definitions as known, local};
use crate::trace::MOST_RANKS;
use crate::trace::fault::{Fault, fault};

/// Paradigms of regions and groups.
pub(super) const USER: u64 = 1;
pub(super) const MPI: u64 = 4;
/// Kinds of groups: locations of the ranks, and ranks of a communicator.
pub(super) const LOCATIONS: u64 = 4;
pub(super) const RANKS: u64 = 5;
const SELF: u64 = 6;
/// Kind of a location that runs a program.
pub(super) const THREAD: u64 = 1;
/// Kind of an attribute that is a number of 64 bits, and the name of the one with the processor time before a call.
pub(super) const NUMBER: u64 = 4;
pub(super) const CPU: &str = "hayase::cpu_ns";

/// A region of the program: texts by number.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub name: u64,
    pub description: u64,
    pub file: u64,
    pub line: u64,
    pub paradigm: u64,
}

/// A thread or stream with events.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub kind: u64,
    pub group: u64,
    pub events: u64,
}

#[derive(Clone, Debug)]
struct Group {
    kind: u64,
    paradigm: u64,
    members: Vec<u64>,
    /// Offset of the record.
    at: u64,
}

/// Ranks of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Members {
    /// All ranks, as `MPI_COMM_WORLD`.
    World,
    /// The rank itself.
    Itself,
    /// Ranks of the world, by their rank in it, and those of the other group.
    Ranks(Arc<[u32]>, Option<Arc<[u32]>>),
}

/// Definitions for all locations.
#[derive(Debug)]
pub(super) struct Definitions {
    pub clock: GlobalClock,
    pub texts: FxHashMap<u64, String>,
    pub regions: FxHashMap<u64, Region>,
    pub locations: BTreeMap<u64, Location>,
    pub comms: BTreeMap<u64, Members>,
    /// Regions and places of calling contexts.
    pub contexts: FxHashMap<u64, (u64, u64)>,
    /// File and line of places.
    pub places: FxHashMap<u64, (u64, u64)>,
    /// Location of each rank.
    pub ranks: Vec<u64>,
    /// Attribute with the processor time before a call.
    pub cpu: Option<u64>,
}

/// Definitions on the way: parts that refer to others.
#[derive(Default)]
struct Raw {
    groups: FxHashMap<u64, Group>,
    /// Groups with the locations of ranks, in their order.
    located: Vec<u64>,
    /// Number, name, group, parent and place of communicators, and the other group of those between two.
    comms: Vec<(u64, u64, u64, Option<u64>, u64)>,
    attributes: Vec<(u64, u64)>,
}

impl Definitions {
    /// Reads all definitions.
    pub fn read(records: &mut Records) -> Result<Self, Fault> {
        let clock = GlobalClock { resolution: 0, start: 0 };
        let mut these = Self {
            clock,
            texts: FxHashMap::default(),
            regions: FxHashMap::default(),
            locations: BTreeMap::new(),
            comms: BTreeMap::new(),
            contexts: FxHashMap::default(),
            places: FxHashMap::default(),
            ranks: Vec::new(),
            cpu: None,
        };
        let mut raw = Raw::default();
        let mut end = 0;
        while let Some(record) = records.next()? {
            end = record.at;
            these.add(record, &mut raw)?;
        }
        if these.clock.resolution == 0 {
            return fault(end, "no record gives the resolution of the clock, which is expected");
        }
        these.ranks = these.ranks_of(&raw, end)?;
        these.comms = these.comms_of(&raw)?;
        let named = |name: u64| these.texts.get(&name).is_some_and(|text| text == CPU);
        these.cpu = raw.attributes.iter().find(|(_, name)| named(*name)).map(|&(number, _)| number);
        Ok(these)
    }

    fn add(&mut self, record: Record<'_>, raw: &mut Raw) -> Result<(), Fault> {
        let [this, a, b, c, d, e, _, _, _, paradigm, ..] = record.values.numbers;
        match record.kind {
            kind if kind == known::CLOCK.kind => {
                if this == 0 || this == UNDEFINED {
                    return fault(record.at, "the clock has a resolution of 0");
                }
                self.clock = GlobalClock { resolution: this, start: a };
            }
            kind if kind == known::STRING.kind => {
                self.texts.insert(this, String::from_utf8_lossy(record.values.text).into_owned());
            }
            kind if kind == known::ATTRIBUTE.kind && b == NUMBER => raw.attributes.push((this, a)),
            kind if kind == known::LOCATION.kind => {
                self.locations.insert(this, Location { kind: b, events: c, group: d });
            }
            kind if kind == known::REGION.kind => {
                let paradigm = if record.values.count > 9 { paradigm } else { UNDEFINED };
                self.regions.insert(this, Region { name: a, description: b, file: d, line: e, paradigm });
            }
            kind if kind == known::GROUP.kind => {
                // Old archives have other numbers of the kinds.
                let (kind, paradigm) = match record.values.count {
                    5.. => (c, d),
                    _ => ([0, 1, 2, 3, RANKS, SELF, LOCATIONS].get(b as usize).copied().unwrap_or(0), MPI),
                };
                if kind == LOCATIONS {
                    raw.located.push(this);
                }
                raw.groups.insert(this, Group { kind, paradigm, members: record.values.list, at: record.at });
            }
            kind if kind == known::COMM.kind => raw.comms.push((this, a, b, None, record.at)),
            kind if kind == known::INTER_COMM.kind => raw.comms.push((this, a, b, Some(c), record.at)),
            kind if kind == known::SOURCE_LOCATION.kind => drop(self.places.insert(this, (a, b))),
            kind if kind == known::CALLING_CONTEXT.kind => drop(self.contexts.insert(this, (a, b))),
            _ => {}
        }
        Ok(())
    }

    /// Returns the locations of the ranks: those of the group of MPI, or the first thread of each process.
    fn ranks_of(&self, raw: &Raw, end: u64) -> Result<Vec<u64>, Fault> {
        let groups = raw.located.iter().filter_map(|number| raw.groups.get(number));
        let Some(group) = groups.clone().find(|group| group.paradigm == MPI) else {
            let mut first = BTreeMap::new();
            for (&number, location) in self.locations.iter().filter(|(_, location)| location.kind == THREAD) {
                first.entry(location.group).or_insert(number);
            }
            if first.is_empty() || first.len() > MOST_RANKS as usize {
                return fault(
                    end,
                    format!("{} locations are threads of processes; 1 or more are expected", first.len()),
                );
            }
            return Ok(first.into_values().collect());
        };
        if let Some(unknown) = group.members.iter().find(|member| !self.locations.contains_key(member)) {
            return fault(group.at, format!("a rank of MPI is location {unknown}, which is not defined"));
        }
        if group.members.is_empty() || group.members.len() > MOST_RANKS as usize {
            let what =
                format!("the group of MPI has {} locations; 1 to {MOST_RANKS} are possible", group.members.len());
            return fault(group.at, what);
        }
        Ok(group.members.clone())
    }

    fn comms_of(&self, raw: &Raw) -> Result<BTreeMap<u64, Members>, Fault> {
        let ranks = self.ranks.len();
        let mut known: FxHashMap<u64, Arc<[u32]>> = FxHashMap::default();
        let mut comms = BTreeMap::new();
        let mut world: Option<(u64, bool)> = None;
        for &(number, name, group, other, at) in &raw.comms {
            let mut members = |number: u64| -> Result<Arc<[u32]>, Fault> {
                if let Some(members) = known.get(&number) {
                    return Ok(Arc::clone(members));
                }
                let Some(group) = raw.groups.get(&number) else {
                    return fault(at, format!("a communicator has group {number}, which is not defined"));
                };
                if let Some(wrong) = group.members.iter().find(|&&rank| rank >= ranks as u64) {
                    return fault(group.at, format!("a group has rank {wrong}, and there are {ranks}"));
                }
                let members: Arc<[u32]> = group.members.iter().map(|&rank| rank as u32).collect();
                let mut seen = FxHashSet::default();
                if let Some(rank) = members.iter().find(|&&rank| !seen.insert(rank)) {
                    return fault(group.at, format!("a group has rank {rank} twice, and once is expected"));
                }
                known.insert(number, Arc::clone(&members));
                Ok(members)
            };
            let group_kind = raw.groups.get(&group).map(|group| group.kind);
            if raw.groups.get(&group).is_some_and(|group| group.paradigm != MPI) {
                continue;
            }
            let members = match (group_kind, other) {
                (Some(SELF), _) => Members::Itself,
                (_, None) => Members::Ranks(members(group)?, None),
                (_, Some(other)) => Members::Ranks(members(group)?, Some(members(other)?)),
            };
            // The world is the one of this name, or the first with all ranks in their order.
            if let Members::Ranks(all, None) = &members
                && all.len() == ranks
                && all.iter().zip(0..).all(|(&rank, at)| rank == at)
            {
                let is_named = self.texts.get(&name).is_some_and(|name| name.ends_with("COMM_WORLD"));
                if world.is_none_or(|(_, named)| is_named && !named) {
                    world = Some((number, is_named));
                }
            }
            comms.insert(number, members);
        }
        if let Some((number, _)) = world {
            comms.insert(number, Members::World);
        }
        Ok(comms)
    }

    /// Returns a text; empty if it is not defined.
    pub fn text(&self, number: u64) -> &str {
        self.texts.get(&number).map_or("", String::as_str)
    }
}

/// Global numbers of the items that a location numbers itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    dense: Vec<u64>,
    sparse: FxHashMap<u64, u64>,
}

impl Numbers {
    /// Returns the global number.
    #[inline]
    pub fn global(&self, number: u64) -> u64 {
        match self.dense.get(usize::try_from(number).unwrap_or(usize::MAX)) {
            Some(&global) => global,
            None if self.sparse.is_empty() => number,
            None => self.sparse.get(&number).copied().unwrap_or(number),
        }
    }
}

/// Definitions of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalDefinitions {
    pub clock: LocationClock,
    pub regions: Numbers,
    pub comms: Numbers,
    pub contexts: Numbers,
}

impl LocalDefinitions {
    /// Reads all definitions of a location.
    pub fn read(records: &mut Records) -> Result<Self, Fault> {
        let mut these = Self::default();
        while let Some(mut record) = records.next()? {
            let [kind, count, mode, ..] = record.values.numbers;
            if record.kind == local::CLOCK_OFFSET.kind {
                let [time, offset, ..] = record.values.numbers;
                these.clock.add(time, offset as i64, record.at)?;
                continue;
            }
            let numbers = match kind {
                3 => &mut these.regions,
                6 => &mut these.comms,
                10 => &mut these.contexts,
                _ => continue,
            };
            let rest = &mut record.rest;
            // Every number has at least a byte.
            if count > (rest.bytes.len() - rest.next) as u64 {
                return fault(record.at, format!("{count} numbers do not fit into the record"));
            }
            for _entry in 0..count {
                let number = rest.number()?;
                match mode {
                    0 => numbers.dense.push(number),
                    _ => drop(numbers.sparse.insert(number, rest.number()?)),
                }
            }
        }
        Ok(these)
    }
}
