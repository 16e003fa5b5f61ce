//! Borders of regions on their way from recorded calls to a program.

use std::collections::BTreeSet;

use super::rank::{Borders, RankCalls, ns};
use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::program::between::Between;
use crate::program::{Executions, RecordedRegion};
use crate::trace::calls::{Call, Clock, Event, Header, ItemError, Mark};
use crate::units::Time;

/// Regions of all ranks.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// Names of the regions, by number.
    names: Vec<String>,
    /// Region between two places, with its number.
    between: Option<(Between, u32)>,
    /// Number of times that the region between two places has ended at a call.
    ended: u64,
    /// Region after a time since the start of each rank \[ns\], with its number.
    after: Option<(u64, u32)>,
    /// Names of all call sites, if there is a region between two places.
    sites: BTreeSet<String>,
    /// Executions by the time since each rank's own start.
    executions: Executions,
    /// Executions by the clock of the machine, as long as all ranks are on one.
    together: Executions,
    machine: Machine,
    /// Recorded times by region.
    within: Vec<RecordedRegion>,
}

/// Machine of the ranks, and the start of the first of them on its clock \[ns\].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Machine {
    #[default]
    Unknown,
    One {
        host: String,
        start: u64,
    },
    /// Several machines, or no common clock.
    Several,
}

/// Largest time by which a rank may have started before the first one that is read \[ns\].
const EARLIEST_START: u64 = 1_000_000_000_000;

impl Regions {
    /// Marks the region between two places, with this name.
    pub fn between(&mut self, between: Option<Between>, name: &str) {
        self.between = between.map(|between| (between, self.number(name)));
    }

    /// Marks the rest of each rank after this time \[ns\] as a region.
    pub fn after(&mut self, time: u64, name: &str) {
        self.after = Some((time, self.number(name)));
    }

    /// Iterates over all names, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Checks that the places of the region between two places occur.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match &self.between {
            Some((between, _)) => between.check(self.sites.iter().map(String::as_str), self.ended),
            None => Ok(()),
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.within.push(RecordedRegion::default());
            self.names.len() - 1
        }) as u32
    }

    /// Takes a region of a rank's table.
    pub fn name(&mut self, borders: &mut Borders, index: u32, name: &str) {
        // Names are words in texts and tables, so line ends are removed.
        let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let number = self.number(if plain.trim().is_empty() { "unnamed" } else { plain.trim() });
        borders.regions.insert(index, number);
    }

    /// Takes a call site of a rank's table.
    pub fn site(&mut self, borders: &mut Borders, index: u32, name: &str) {
        if let Some((between, _)) = &self.between {
            borders.ends.insert(index + 1, between.ends(name));
            self.sites.insert(name.to_owned());
        }
    }

    /// Notes the beginning of a rank.
    pub fn begin(&mut self, rank: &mut RankCalls, header: &Header) {
        let host = header.find("host").filter(|_| header.start > 0);
        self.machine = match (std::mem::take(&mut self.machine), host) {
            (Machine::Unknown, Some(host)) => Machine::One { host: host.to_owned(), start: header.start },
            (Machine::One { host, start }, Some(other)) if host == other => Machine::One { host, start },
            _ => Machine::Several,
        };
        rank.borders.start = header.start;
        if let Some((Between { from: None, .. }, number)) = self.between {
            self.border(rank, (number, true, 0), rank.start, 0);
            rank.borders.open = true;
        }
    }

    /// Adds a border to the program, with its call site and place, and its time in the recorded run \[ns\].
    fn border(&mut self, rank: &mut RankCalls, (number, begins, site): (u32, bool, u32), time: u64, place: u32) {
        rank.ops.mark(number, begins, site, place);
        self.executions.border(RankId(rank.me), number, begins, rank.since_start(time));
        if let Some(time) = self.by_machine(rank, time) {
            self.together.border(RankId(rank.me), number, begins, time);
        }
    }

    /// Converts a time of a rank's stream to the clock of its machine.
    fn by_machine(&self, rank: &RankCalls, time: u64) -> Option<Time> {
        let Machine::One { start, .. } = self.machine else { return None };
        Some(ns((rank.borders.start + time).saturating_sub(start.saturating_sub(EARLIEST_START))))
    }

    /// Takes a border that a rank has set after the call at this place.
    pub fn mark(&mut self, rank: &mut RankCalls, mark: &Mark, place: u64) -> Result<(), ItemError> {
        if rank.finalize.is_some() {
            return Ok(());
        }
        let Some(&number) = rank.borders.regions.get(&mark.region) else {
            return Err(ItemError::new("unknown-region", format!("region {} has no name", mark.region)));
        };
        let gap = rank.gap(mark.cpu, mark.begin);
        rank.borders.counted += gap;
        rank.borders.set += mark.end.saturating_sub(mark.begin);
        rank.computed += gap;
        self.computed(rank, gap);
        let place = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
        // Computation belongs to the call that follows, which is not known yet.
        let before = rank.ops.ops().len();
        rank.ops.at_site(0);
        rank.compute(place);
        rank.borders.computed.extend(before as u32..rank.ops.ops().len() as u32);
        // A region begins when the border has been set, and ends when its setting begins.
        let time = if mark.begins { mark.end } else { mark.begin };
        self.border(rank, (number, mark.begins, mark.site), time, place);
        Ok(())
    }

    /// Adds `gap` of computation of a rank to its open regions \[ns\].
    pub fn computed(&mut self, rank: &RankCalls, gap: u64) {
        for &region in self.executions.open(RankId(rank.me)) {
            self.within[region as usize].computation += ns(gap);
        }
    }

    /// Notes that a rank has entered a call. The computation before it has been counted.
    pub fn entered(&mut self, rank: &mut RankCalls, event: &Event, place: u32) {
        if self.names.is_empty() {
            return;
        }
        if let Some((_, number)) = self.between
            && rank.borders.ends.get(&event.site).is_some_and(|ends| ends.from)
            && !rank.borders.open
        {
            rank.compute(place);
            // The program begins when Init returns.
            let time = if event.call == Call::Init { event.end } else { event.begin };
            self.border(rank, (number, true, event.site), time, place);
            rank.borders.open = true;
        }
        if let Some((after, number)) = self.after
            && event.begin.saturating_sub(rank.start) >= after
            && event.call != Call::Init
            && !rank.borders.after
        {
            rank.compute(place);
            self.border(rank, (number, true, event.site), event.begin, place);
            rank.borders.after = true;
        }
        if matches!(event.call, Call::Init | Call::Finalize) {
            return;
        }
        for &region in self.executions.open(RankId(rank.me)) {
            let within = &mut self.within[region as usize];
            within.calls += 1;
            within.bytes = within.bytes.saturating_add(event.all_bytes());
            within.in_calls += ns(event.end.saturating_sub(event.begin));
        }
    }

    /// Notes that a rank has returned from a call.
    pub fn left(&mut self, rank: &mut RankCalls, event: &Event, place: u32) {
        let Some((_, number)) = self.between else { return };
        if rank.borders.ends.get(&event.site).is_some_and(|ends| ends.to) && rank.borders.open {
            rank.compute(place);
            self.border(rank, (number, false, event.site), event.end, place.saturating_add(1));
            rank.borders.open = false;
            self.ended += 1;
        }
    }

    /// Notes that a rank is complete.
    pub fn end(&mut self, rank: &mut RankCalls) {
        let end = rank.finalize.unwrap_or(rank.last_end);
        if rank.borders.open
            && let Some((Between { to: None, .. }, number)) = self.between
        {
            self.border(rank, (number, false, 0), end, u32::MAX);
        }
        if rank.borders.after
            && let Some((_, number)) = self.after
        {
            self.border(rank, (number, false, 0), end, u32::MAX);
        }
        self.executions.end(RankId(rank.me), rank.since_start(end));
        if let Some(end) = self.by_machine(rank, end) {
            self.together.end(RankId(rank.me), end);
        }
    }

    /// Returns the recorded times of each region.
    pub fn recorded(&self, clock: Clock) -> Vec<RecordedRegion> {
        let executions = if matches!(self.machine, Machine::One { .. }) { &self.together } else { &self.executions };
        let of = |(region, within): (u32, &RecordedRegion)| RecordedRegion {
            executions: executions.spans(region).len() as u64,
            ranks: executions.ranks(region),
            time: (clock == Clock::Wall).then(|| executions.time(region)),
            ..*within
        };
        (0..).zip(&self.within).map(of).collect()
    }
}
