//! Repetition of a training step: in the steady phase every window of passes takes the same time on all GPUs.
//!
//! A window is a forward and a backward pass; with several chunks those of p micro-batches; under GPipe one pass in
//! each half of the step. Some windows may form a cycle, which is then the window. If all operations of all GPUs end
//! one period later than in the window before, over a span of twice the longest operation, then the state at its end is
//! that at its begin: each transfer under way began within the span, and so did all that shared links with it. The
//! simulation is deterministic, so more micro-batches insert whole windows: times, waits, messages and bytes are added
//! instead of played.
//!
//! Times count as equal within 2^-40 of the time since the start, sixteen times the resolution of an instant.

use super::record::{Repetition, StepRecord, Sums};
use super::schedule::{Schedule, ScheduleKind};
use crate::ids::{Id, RankId};

/// Part of the time within which two times of a repetition are equal.
pub const EQUAL: f64 = 1.0 / (1_u64 << 40) as f64;

/// Smallest number of micro-batches that is played in search of a repetition.
const FEWEST: u64 = 48;
/// Number of micro-batches up to which all are played.
const PLAYED: u64 = 64;
/// Numbers of windows that may repeat together: two passes can take turns at being delayed.
const CYCLES: [usize; 6] = [1, 2, 3, 4, 6, 12];

/// Windows of one stage: its first pass, their number, and the passes of each.
#[derive(Clone, Copy)]
struct Windows {
    first: usize,
    count: usize,
    passes: usize,
}

impl Schedule {
    /// Returns a number of micro-batches, at least `least`, from which on the step probably repeats; none if it has
    /// hardly more. The rest is a number of windows that the usual cycles divide.
    pub fn repeats_from(&self, least: u64) -> Option<u64> {
        let least = Some(least).filter(|&least| least < self.micro_batches)?;
        let (windows, cycles) = if self.chunks > 1 { (8, 2 * self.stages) } else { (4, 12) };
        let few = self.stages * least.max(FEWEST).max(windows * self.stages).div_ceil(self.stages);
        let few = few + self.micro_batches.checked_sub(few)? % cycles;
        (self.micro_batches > few.max(PLAYED)).then_some(few)
    }

    /// Returns the number of micro-batches of a window.
    fn of_window(&self) -> u64 {
        if self.chunks > 1 { self.stages } else { 1 }
    }

    /// Returns the windows of the steady phases of a stage, without their ends.
    fn windows(&self, stage: u64) -> Vec<Windows> {
        let passes = self.passes() as usize;
        if self.kind == ScheduleKind::Gpipe {
            let count = passes.saturating_sub(3);
            return vec![Windows { first: 1, count, passes: 1 }, Windows { first: passes + 1, count, passes: 1 }];
        }
        let pairs = (self.of_window() * self.chunks) as usize;
        let first = self.warm_up(stage) as usize;
        vec![Windows { first, count: ((passes - first) / pairs).saturating_sub(1), passes: 2 * pairs }]
    }
}

impl StepRecord<'_> {
    /// Returns what `more` micro-batches add to the step, if it repeats.
    pub fn repetition(&self, more: u64) -> Option<Repetition> {
        let schedule = self.schedule?;
        let windows = more / schedule.of_window();
        if windows * schedule.of_window() != more {
            return None;
        }
        CYCLES.into_iter().filter(|&cycle| windows.is_multiple_of(cycle as u64)).find_map(|cycle| {
            let mut all = Repetition { sums: vec![Sums::default(); self.ranks.len()], ..Repetition::default() };
            for phase in 0..schedule.windows(0).len() {
                self.phase(&schedule, phase, (cycle, windows / cycle as u64), &mut all)?;
            }
            Some(all)
        })
    }

    /// Adds the windows of one steady phase, of which `cycle` together repeat `times` times.
    fn phase(
        &self,
        schedule: &Schedule,
        phase: usize,
        (cycle, times): (usize, u64),
        all: &mut Repetition,
    ) -> Option<()> {
        let of_stage: Vec<Windows> = (0..schedule.stages).map(|stage| schedule.windows(stage)[phase]).collect();
        let of = |rank: usize| of_stage[self.stage(rank)];
        // The end of the last computation before a window.
        let begin = |rank: usize, window: usize| {
            let Windows { first, passes, .. } = of(rank);
            self.ranks[rank].passed.get((first + window * passes).checked_sub(1)?).map(|passed| passed.0)
        };
        let (mut from, mut to) = (0.0_f64, f64::MAX);
        for rank in 0..self.ranks.len() {
            from = from.max(begin(rank, 1)?);
            // Messages may have come for the next two passes.
            to = to.min(begin(rank, of(rank).count.checked_sub(2_usize.div_ceil(of(rank).passes))?)?);
        }
        let last = (1..=of(0).count).rev().find(|&window| begin(0, window).is_some_and(|at| at <= to))?;
        let period = begin(0, last)? - begin(0, last.checked_sub(cycle)?)?;
        let longest = (0..self.ranks.len()).map(|rank| self.longest(rank, from, to)).fold(0.0, f64::max);
        let checked = to - (2.0 * longest).max(2.0 * period);
        if checked <= from || period <= 0.0 {
            return None;
        }
        for rank in 0..self.ranks.len() {
            let Windows { first, count, passes } = of(rank);
            let starts = &self.passes[self.stage(rank)];
            let at = |window: usize| starts.get(first + window * passes).copied();
            let record = &self.ranks[rank];
            let size = at(count)? - at(count.checked_sub(1)?)?;
            let length = cycle as u32 * size;
            // Gathers of weights stand in the first windows alone.
            let is_irregular = |window: &usize| at(window + 1).zip(at(*window)).is_none_or(|(b, a)| b - a != size);
            let region = at((0..count).rev().find(is_irregular).map_or(0, |window| window + 1))?..at(count)?;
            let is_inside = |end: f64| end > checked && end <= to;
            let repeats = |op: u32| {
                let (end, before) = (record.done[op as usize], record.done[(op - length) as usize]);
                (end - before - period).abs() <= EQUAL * end
            };
            let within = (0..record.done.len() as u32).filter(|&op| is_inside(record.done[op as usize]));
            let is_steady =
                within.into_iter().all(|op| region.contains(&op) && op >= region.start + length && repeats(op));
            if !is_steady {
                return None;
            }
            let window = (1..=count).rev().find(|&window| begin(rank, window).is_some_and(|at| at <= to))?;
            let before = window.checked_sub(cycle)?;
            for (window, times) in [(window, times as f64), (before, -(times as f64))] {
                let (_, sums) = record.passed.get((first + window * passes).checked_sub(1)?)?;
                all.sums[rank].add(sums, times);
            }
            all.operations.push((RankId::from_index(rank), at(before)?..at(window)?, times));
        }
        all.time += period * times as f64;
        Some(())
    }

    /// Returns the longest time from an operation's last requirement to its end, of those that end in this span.
    fn longest(&self, rank: usize, from: f64, to: f64) -> f64 {
        let record = &self.ranks[rank];
        let ends = record.done.iter().zip(&record.gate).filter(|(end, _)| **end > from && **end <= to);
        ends.map(|(end, gate)| end - record.done[*gate as usize]).fold(0.0, f64::max)
    }
}
