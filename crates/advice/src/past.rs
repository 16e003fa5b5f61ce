//! Last intervals of a rank, with the computation and accesses of each line.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::accesses::Accesses;
use crate::address::End;
use crate::model::Dependence;
use crate::stream::TraceState;
use crate::watch::{AT_EVENT, Blocker, Span, Stamp};

/// Memory for kept accesses over all intervals, in nests of 150 bytes.
const MAX_KEPT_NESTS: usize = 1 << 16;

/// Part of the iterations of a line: `first..=last` of `of`, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterationShare {
    /// Number of the line.
    pub line: u32,
    /// First iteration.
    pub first: u64,
    /// Last iteration.
    pub last: u64,
    /// Number of all iterations.
    pub of: u64,
}

impl IterationShare {
    /// Number of iterations in the part.
    pub fn count(&self) -> u64 {
        self.last + 1 - self.first
    }
}

/// Interval and the event after it.
#[derive(Debug, Default)]
struct Entry {
    number: u64,
    /// Computation \[ns\] and accesses of the rank before it.
    start: (u64, u64),
    gap: u64,
    count: u64,
    /// Range of accessed bytes: lowest, and one past the highest.
    span: (u64, u64),
    accesses: Option<Accesses>,
    /// Lines with the number of executions of each.
    profile: Vec<(u32, u64)>,
    /// Bytes that the event uses, with the call and its line.
    used: SmallVec<[(Span, &'static str, u32); 2]>,
}

/// Last intervals of a rank.
#[derive(Debug)]
pub struct Past {
    entries: VecDeque<Entry>,
    length: usize,
    kept: usize,
    /// Index of the first entry that still has its accesses.
    whole: usize,
    /// Counts by memory site, all and before a position; zero when not in use.
    counts: Vec<(u64, u64)>,
}

/// Point in an interval: its number, and the share of it before the point.
pub type Point = (u64, f32);

impl Past {
    /// Creates an empty store of the last `length` intervals.
    pub fn new(length: usize) -> Self {
        Self { entries: VecDeque::new(), length: length.max(1) + 1, kept: 0, whole: 0, counts: Vec::new() }
    }

    /// Number of the newest interval.
    pub fn number(&self) -> u64 {
        self.entries.back().map_or(0, |entry| entry.number)
    }

    /// Accesses of the newest interval.
    pub fn accesses(&self) -> &Accesses {
        static NONE: Accesses = Accesses::none();
        self.entries.back().and_then(|entry| entry.accesses.as_ref()).unwrap_or(&NONE)
    }

    /// Takes the bytes that the call after the newest interval reads and writes besides its message.
    pub fn take_effects(&mut self) -> Vec<Span> {
        let newest = self.entries.back_mut().and_then(|entry| entry.accesses.as_mut());
        newest.map_or_else(Vec::new, |accesses| std::mem::take(&mut accesses.effects))
    }

    /// Begins the next interval.
    pub fn begin(&mut self, number: u64, gap: u64, accesses: Accesses, known: &TraceState) {
        let start = self.end();
        // The new interval reuses the memory of the oldest.
        let mut entry = Entry::default();
        if self.entries.len() == self.length {
            entry = self.entries.pop_front().unwrap_or_default();
            if let Some(accesses) = &entry.accesses {
                self.kept -= accesses.weight;
            }
            self.whole = self.whole.saturating_sub(1);
        }
        entry.used.clear();
        entry.profile.clear();
        self.kept += accesses.weight;
        while self.kept > MAX_KEPT_NESTS && self.whole < self.entries.len() {
            if let Some(old) = self.entries[self.whole].accesses.take() {
                self.kept -= old.weight;
            }
            self.whole += 1;
        }
        let span = accesses.touching().fold((u64::MAX, 0), |(low, high), piece| {
            let (from, to) = piece.span();
            (from.min(low), to.max(high))
        });
        let count = accesses.count;
        entry.profile.extend(self.shares(&accesses, None, known).into_iter().map(|share| (share.line, share.of)));
        let entry = Entry { number, start, gap, count, span, accesses: Some(accesses), ..entry };
        self.entries.push_back(entry);
    }

    /// Records that the event after the newest interval uses these bytes.
    pub fn used(&mut self, spans: &[Span], call: &'static str, line: u32) {
        if let Some(entry) = self.entries.back_mut() {
            entry.used.extend(spans.iter().map(|&span| (span, call, line)));
        }
    }

    /// Returns the last access or call that must stay before a communication of the newest event on these
    /// bytes.
    pub fn last(&self, span: &Span, back: u64, known: &TraceState) -> Blocker {
        let newest = self.number();
        for entry in self.entries.iter().rev() {
            if entry.number + back < newest {
                return Blocker::nowhere((entry.number + 1, 0), Dependence::Limit);
            }
            if entry.number < newest {
                let block = entry.used.iter().rev().find_map(|(other, call, line)| {
                    let dependence = span.dependence(other.write, true).filter(|_| other.touches(span))?;
                    let address = other.low.max(span.low);
                    Some(Blocker {
                        stamp: (entry.number, AT_EVENT),
                        dependence,
                        line: *line,
                        call: Some(*call),
                        address,
                    })
                });
                if let Some(block) = block {
                    return block;
                }
            }
            if entry.span.1 <= span.low || span.high <= entry.span.0 {
                continue;
            }
            let Some(accesses) = &entry.accesses else {
                return Blocker::nowhere((entry.number + 1, 0), Dependence::Limit);
            };
            let mut last: Option<Blocker> = None;
            for piece in accesses.touching() {
                let Some(site) = known.sites.get(piece.site() as usize) else { continue };
                let Some(dependence) = span.dependence(site.write, true) else { continue };
                if last.is_some_and(|last| last.stamp.1 >= piece.last()) {
                    continue;
                }
                if let Some(hit) = piece.hit(span.low, span.high, End::Last)
                    && last.is_none_or(|last| last.stamp.1 < hit.position)
                {
                    let stamp = (entry.number, hit.position);
                    last = Some(Blocker { stamp, dependence, line: site.line, call: site.block, address: hit.address });
                }
            }
            if let Some(last) = last {
                return last;
            }
        }
        match self.entries.front() {
            Some(entry) if entry.number > 0 => Blocker::nowhere((entry.number, 0), Dependence::Limit),
            _ => Blocker::nowhere((0, 0), Dependence::Program),
        }
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        let first = self.entries.front()?.number;
        self.entries.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// Returns the point just after a block; `None` if it is more than `back` intervals away.
    pub fn after(&self, block: &Blocker, back: u64) -> Option<Point> {
        let point = match (block.stamp, block.dependence) {
            ((number, AT_EVENT), _) => (number + 1, 0.0),
            ((number, position), Dependence::Program | Dependence::Limit) => self.at((number, position)),
            ((number, position), _) => self.at((number, position.saturating_add(1))),
        };
        (point.0 + back >= self.number()).then_some(point)
    }

    /// Returns the point just before a position.
    pub fn at(&self, (number, position): Stamp) -> Point {
        let count = self.entry(number).map_or(0, |entry| entry.count);
        match position {
            0 => (number, 0.0),
            _ if position >= count => (number, 1.0),
            _ => (number, (position as f64 / count as f64) as f32),
        }
    }

    /// Returns the computation \[ns\] and the accesses of the rank before a point.
    pub fn until(&self, (number, fraction): Point) -> (u64, u64) {
        let Some(entry) = self.entry(number) else { return self.end() };
        let part = |all: u64| if fraction == 1.0 { all } else { (all as f64 * f64::from(fraction)).round() as u64 };
        (entry.start.0 + part(entry.gap), entry.start.1 + part(entry.count))
    }

    fn end(&self) -> (u64, u64) {
        self.entries.back().map_or((0, 0), |entry| (entry.start.0 + entry.gap, entry.start.1 + entry.count))
    }

    /// Returns the lines between a block and the newest event: those of the nearest `named` intervals and
    /// those of the block's own interval.
    pub fn shares_before(&mut self, block: &Blocker, named: usize, known: &TraceState) -> Vec<IterationShare> {
        let (number, position) = block.stamp;
        let mut shares = Vec::new();
        let whole = if position == AT_EVENT { number + 1 } else { number };
        let own = position != AT_EVENT && !matches!(block.dependence, Dependence::Program | Dependence::Limit);
        self.add(whole + u64::from(own)..self.number() + 1, named, true, &mut shares);
        if own {
            self.add_part(number, position + 1, End::Last, known, &mut shares);
        }
        shares
    }

    /// Returns the lines between an event and a block: those of the nearest `named` intervals and those of
    /// the block's own interval.
    pub fn shares_after(
        &mut self,
        event: u64,
        block: &Blocker,
        named: usize,
        known: &TraceState,
    ) -> Vec<IterationShare> {
        let (number, position) = block.stamp;
        let mut shares = Vec::new();
        let own = position != AT_EVENT && position > 0;
        let end = if position == AT_EVENT { number + 1 } else { number };
        self.add(event + 1..end, named, false, &mut shares);
        if own {
            self.add_part(number, position, End::First, known, &mut shares);
        }
        shares
    }

    /// Adds the lines of the first `named` whole intervals that have any.
    fn add(&self, range: std::ops::Range<u64>, named: usize, backwards: bool, shares: &mut Vec<IterationShare>) {
        let Some(first) = self.entries.front().map(|entry| entry.number) else { return };
        let from = (range.start.max(first) - first) as usize;
        let to = ((range.end.max(first) - first) as usize).min(self.entries.len());
        if from >= to {
            return;
        }
        let whole = |entry: &Entry, shares: &mut Vec<IterationShare>| {
            for &(line, of) in &entry.profile {
                add_share(shares, IterationShare { line, first: 1, last: of, of });
            }
        };
        // Intervals without accesses cost time, so the search for lines is bounded.
        let near = 8 * named;
        let with_lines = |entry: &&Entry| !entry.profile.is_empty();
        if backwards {
            self.entries.range(from..to).rev().take(near).filter(with_lines).take(named).for_each(|e| whole(e, shares));
        } else {
            self.entries.range(from..to).take(near).filter(with_lines).take(named).for_each(|e| whole(e, shares));
        }
    }

    /// Adds the lines of a part of an interval: up to a position, or from it on.
    fn add_part(&mut self, number: u64, position: u64, end: End, known: &TraceState, shares: &mut Vec<IterationShare>) {
        let Some(first) = self.entries.front().map(|entry| entry.number) else { return };
        let index = number.wrapping_sub(first) as usize;
        let Some(accesses) = self.entries.get_mut(index).and_then(|entry| entry.accesses.take()) else { return };
        for share in self.shares(&accesses, Some((position, end)), known) {
            add_share(shares, share);
        }
        self.entries[index].accesses = Some(accesses);
    }

    /// Returns the number of executions of each line, and the part of them wholly before a position or from
    /// it on.
    ///
    /// A line has several instructions; the most frequent of them count its iterations.
    fn shares(&mut self, accesses: &Accesses, part: Option<(u64, End)>, known: &TraceState) -> Vec<IterationShare> {
        if accesses.pieces.is_empty() {
            return Vec::new();
        }
        if self.counts.len() < known.sites.len() {
            self.counts.resize(known.sites.len(), (0, 0));
        }
        let mut sites: Vec<u32> = Vec::new();
        for piece in &accesses.pieces {
            let Some(count) = self.counts.get_mut(piece.site() as usize) else { continue };
            if count.0 == 0 {
                sites.push(piece.site());
            }
            count.0 += piece.count();
            count.1 += part.map_or(0, |(position, _)| piece.before(position));
        }
        let mut lines: Vec<(u32, u64, u64)> = sites
            .iter()
            .filter_map(|&site| {
                let (all, before) = std::mem::take(self.counts.get_mut(site as usize)?);
                Some((known.sites.get(site as usize)?.line, all, before))
            })
            .collect();
        lines.sort_unstable();
        let mut shares: Vec<IterationShare> = Vec::new();
        for same in lines.chunk_by(|a, b| a.0 == b.0) {
            let (line, of) = (same[0].0, same.iter().map(|&(_, all, _)| all).max().unwrap_or(0));
            let before = same.iter().filter(|&&(_, all, _)| all == of).map(|&(_, _, before)| before);
            let share = match part {
                None => IterationShare { line, first: 1, last: of, of },
                Some((_, End::First)) => IterationShare { line, first: 1, last: before.min().unwrap_or(0), of },
                Some((_, End::Last)) => IterationShare { line, first: before.max().unwrap_or(0) + 1, last: of, of },
            };
            if share.last >= share.first {
                shares.push(share);
            }
        }
        shares
    }
}

/// Adds a share; of two shares of one line, keeps the larger.
fn add_share(shares: &mut Vec<IterationShare>, share: IterationShare) {
    match shares.iter_mut().find(|other| other.line == share.line) {
        Some(other) if share.count() > other.count() => *other = share,
        Some(_) => {}
        None => shares.push(share),
    }
}
