//! The ends of work on slow processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::slow::{Slow, Stops};
use super::spec::Distribution;
use crate::ids::RankId;
use crate::units::Time;

/// Number of periods above which whole periods are skipped at once.
const SKIPPED_PERIODS: f64 = 4.0;

/// Kind of work of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// A calculation of the program.
    Calculation,
    /// An overhead of a message.
    Overhead,
}

/// Additional time of each rank's work, compared with a processor of speed 1 without stops \[ps\].
#[derive(Debug)]
pub struct Added(Vec<AtomicU64>);

impl Added {
    /// Creates times of 0 for this number of ranks.
    pub fn new(ranks: u32) -> Self {
        Self((0..ranks).map(|_| AtomicU64::new(0)).collect())
    }

    /// Returns the times, by rank.
    pub fn times(&self) -> Vec<Time> {
        let time = |added: &AtomicU64| Time::from_ps(f64::from_bits(added.load(Ordering::Relaxed)));
        self.0.iter().map(time).collect()
    }

    /// Adds to the time of a rank. Each rank adds only to its own time and is played by one thread.
    fn add(&self, rank: u32, ps: f64) {
        if let Some(added) = self.0.get(rank as usize) {
            let sum = f64::from_bits(added.load(Ordering::Relaxed)) + ps;
            added.store(sum.to_bits(), Ordering::Relaxed);
        }
    }
}

/// The processors of ranks, some of them slow, during a run.
///
/// ```text
/// end(rank, begin, work) = the earliest t with: integral from begin to t of speed(rank, x) * runs(rank, x) dx = work
/// ```
/// where `runs` is 0 while the rank is stopped and 1 otherwise. Stop k of a rank, from k = -1 on, begins at
/// `phase + k * period`, or at the end of the previous stop if that is later. Work that takes no time ends
/// when it begins. Without a period each calculation has one stop, at its end.
///
/// Cost: one draw for each stop during the work; none for stops of fixed length at a constant speed.
#[derive(Clone, Debug)]
pub struct Processors {
    slow: Arc<Slow>,
    /// Number, among all ranks, of the first rank here.
    first: u32,
    /// Time at which the clock of these ranks started \[ps\].
    begun: f64,
    /// First stop of each rank that is not over.
    cursors: Vec<Cursor>,
    added: Option<Arc<Added>>,
}

/// A stop of a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Cursor {
    /// Number of the stop; without a period, number of calculations so far.
    number: i64,
    begin: f64,
    end: f64,
}

impl Processors {
    /// Creates the processors of `ranks` ranks from `first` on, at the start of a run. `begun` is the time at
    /// which the clock of these ranks starts.
    pub fn new(slow: Arc<Slow>, first: u32, ranks: u32, begun: Time, added: Option<Arc<Added>>) -> Self {
        let none = Cursor { number: 0, begin: 0.0, end: 0.0 };
        let mut processors = Self { cursors: vec![none; ranks as usize], slow, first, begun: begun.ps(), added };
        if let Some((stops, period)) = processors.slow.noise.as_ref().and_then(|stops| Some((stops, stops.period?))) {
            for (rank, cursor) in (first..).zip(&mut processors.cursors) {
                let begin = stops.phase(rank) - period;
                *cursor = Cursor { number: -1, begin, end: begin + stops.length(rank, number(-1)) };
            }
        }
        processors
    }

    /// Returns the end of work that a rank begins at `begin` and that takes `time` on a processor of speed 1
    /// without stops. `now` is the current time; later calls must not begin before it.
    pub fn end(&mut self, rank: RankId, now: Time, begin: Time, time: Time, work: Work) -> Time {
        if time <= Time::ZERO {
            return begin + time;
        }
        let all = self.first + rank.0;
        let (from, asked) = (self.begun + begin.ps(), time.ps());
        let cursor = &mut self.cursors[rank.0 as usize];
        let end = match &self.slow.noise {
            Some(stops) if stops.has(all) => match stops.period {
                Some(period) => {
                    advance_to(cursor, stops, all, period, self.begun + now.ps());
                    end_of_work(*cursor, &self.slow, stops, all, period, (from, asked))
                }
                None => {
                    let end = self.slow.unstopped(all, from, asked);
                    match work {
                        Work::Overhead => end,
                        Work::Calculation => {
                            // Each repetition of a job begins at another time and draws other numbers.
                            let drawn = number(cursor.number) ^ self.begun.to_bits();
                            cursor.number += 1;
                            end + stops.length(all, drawn)
                        }
                    }
                }
            },
            _ => self.slow.unstopped(all, from, asked),
        };
        if let Some(added) = &self.added {
            // (Summed in this order, work without delay adds exactly 0, without rounding.)
            added.add(all, end - (from + asked));
        }
        Time::from_ps(end - self.begun)
    }
}

/// Returns the number by which a stop is drawn; stop -1, before the run, has one too.
fn number(stop: i64) -> u64 {
    stop as u64
}

impl Cursor {
    /// Returns the next stop.
    fn next(self, stops: &Stops, rank: u32, period: f64) -> Self {
        self.ahead(1, stops, rank, period)
    }

    /// Returns the n-th stop after this one. For n > 1 all stops must be equally long.
    fn ahead(self, n: i64, stops: &Stops, rank: u32, period: f64) -> Self {
        let next = self.number + n;
        let planned = stops.phase(rank) + next as f64 * period;
        let begin = if n == 1 { planned.max(self.end) } else { planned };
        Self { number: next, begin, end: begin + stops.length(rank, number(next)) }
    }
}

/// Advances to the first stop that is not over at this time.
fn advance_to(cursor: &mut Cursor, stops: &Stops, rank: u32, period: f64, time: f64) {
    let periods = (time - cursor.end) / period;
    if stops.distribution == Distribution::Fixed && periods > SKIPPED_PERIODS {
        *cursor = cursor.ahead(periods as i64 - 1, stops, rank, period);
    }
    while cursor.end <= time {
        *cursor = cursor.next(stops, rank, period);
    }
}

/// Returns the end of work that begins at a time, including the stops during the work \[ps\].
fn end_of_work(mut stop: Cursor, slow: &Slow, stops: &Stops, rank: u32, period: f64, (begin, work): (f64, f64)) -> f64 {
    let (mut now, mut left) = (begin, work);
    advance_to(&mut stop, stops, rank, period, now);
    // With stops of one length at one speed, the same work is done in each period.
    let each = match stops.distribution {
        Distribution::Fixed => slow.constant_speed(rank).map(|speed| (period - stops.length) * speed),
        _ => None,
    };
    loop {
        if stop.begin > now {
            let end = slow.unstopped(rank, now, left);
            if end <= stop.begin {
                return end;
            }
            left -= slow.done(rank, now, stop.begin);
            if left <= 0.0 {
                return end; // the stop begins before by rounding alone
            }
        }
        now = stop.end;
        if let Some(each) = each
            && left > SKIPPED_PERIODS * each
        {
            let periods = (left / each).floor() - 1.0;
            left -= periods * each;
            let skipped = stop.ahead(periods as i64, stops, rank, period);
            now = skipped.end;
            stop = skipped;
        }
        stop = stop.next(stops, rank, period);
    }
}
