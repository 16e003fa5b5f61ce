//! Partial play of a pattern: only a beginning is played, long enough to forecast the rest.

use std::ops::ControlFlow;

use super::forecast::{End, Fit, Forecast, PARTS, PatternSize, Sample};
use crate::ids::{IdVec, RankId, WakeId};
use crate::pattern::PatternPlayer;
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Steps before the first look, and the factor between the numbers of steps at two successive looks.
const FIRST_LOOK_STEPS: usize = 200;
const LOOK_GROWTH: f64 = 1.15;

/// Largest part of the pattern that is played for an estimate. Above it the pattern is played in full.
const LARGEST_PART: f64 = 0.5;

/// Function called once with the length of the beginning in messages per rank, before the rest is cut off. It
/// fails with a reason if the remaining messages differ from those of the beginning.
pub type CheckSimilar<'a> = &'a mut dyn FnMut(u32) -> Result<(), String>;

/// Function called at each look with the forecast that would be possible by then.
pub type OnForecast<'a> = &'a dyn Fn(Forecast);

/// A player that stops all ranks after the same number of messages, as soon as the makespan is known well
/// enough.
///
/// It counts the delivered messages of each rank, which takes a few words per rank and one sample per step.
/// Until the stop it changes nothing that ranks do, and no rank has passed the stop when it is chosen. From
/// then on the player records when each rank ends.
pub struct Pilot<'a> {
    player: PatternPlayer,
    whole: PatternSize,
    /// Half interval that is asked for, relative to the makespan.
    wanted: f64,
    alike: CheckSimilar<'a>,
    tell: OnForecast<'a>,
    delivered: IdVec<RankId, u32>,
    /// Sum of `delivered`.
    sum: u64,
    /// Value of `sum` at which the next sample is taken.
    next: u64,
    samples: Vec<Sample>,
    /// Number of samples at the next look.
    look: usize,
    now: Time,
    /// Messages of each rank that are played, once decided.
    cut: Option<u32>,
    /// Arrival time of the last message of each rank since the decision \[ps\].
    ends: IdVec<RankId, f64>,
    /// Reason why the whole pattern is played.
    full: Option<String>,
}

impl<'a> Pilot<'a> {
    /// Wraps `player`, whose ranks send the number of messages in `whole`.
    pub fn new(
        player: PatternPlayer,
        whole: PatternSize,
        wanted: f64,
        alike: CheckSimilar<'a>,
        tell: OnForecast<'a>,
    ) -> Self {
        Self {
            delivered: IdVec::filled(whole.ranks as usize, 0),
            player,
            whole,
            wanted,
            alike,
            tell,
            sum: 0,
            next: u64::from(whole.ranks),
            samples: Vec::new(),
            look: FIRST_LOOK_STEPS,
            now: Time::ZERO,
            cut: None,
            ends: IdVec::filled(0, 0.0),
            full: None,
        }
    }

    /// Returns the forecast and the number of messages per rank that it is based on, or the reason why all
    /// were played.
    pub fn finish(self) -> Result<(Forecast, u32), String> {
        let Some(messages) = self.cut else {
            return Err(self.full.clone().unwrap_or_else(|| self.too_short()));
        };
        let end = End::of(messages, self.ends.as_slice().to_vec());
        let forecast = Fit::of(&self.samples, self.whole).and_then(|known| known.forecast(end));
        forecast.map(|forecast| (forecast, messages)).ok_or_else(|| self.too_short())
    }

    fn too_short(&self) -> String {
        let messages = self.whole.messages;
        format!("{messages} messages a rank are too few to be known better by a part of them")
    }

    /// Counts arrivals. A sample is taken each time another message per rank has arrived.
    fn count(&mut self, now: Time, messages: &[SendRequest]) {
        for message in messages {
            self.delivered[message.id.src] += 1;
        }
        self.sum += messages.len() as u64;
        if self.sum >= self.next {
            let ranks = u64::from(self.whole.ranks);
            self.next = (self.sum / ranks + 1) * ranks;
            self.samples.push(self.sample(now));
        }
    }

    /// Samples the progress of the ranks.
    fn sample(&self, now: Time) -> Sample {
        let (ranks, delivered) = (self.delivered.len(), self.delivered.as_slice());
        let progress = self.sum as f64 / ranks as f64;
        let mut parts = [0.0; PARTS];
        let mut variance = 0.0;
        for (i, part) in parts.iter_mut().enumerate() {
            let of_part = &delivered[i * ranks / PARTS..(i + 1) * ranks / PARTS];
            let off = of_part.iter().map(|&done| f64::from(done) - progress);
            let (sum, squares) = off.fold((0.0, 0.0), |(sum, squares), off| (sum + off, squares + off * off));
            variance += squares / ranks as f64;
            *part = progress + sum / of_part.len().max(1) as f64;
        }
        Sample { time: now.ps(), progress, variance, parts }
    }

    /// Stops the ranks if the makespan is known well enough. Breaks if no further look is needed.
    fn look(&mut self) -> ControlFlow<()> {
        let most = self.player.most_sent();
        if f64::from(most) > LARGEST_PART * f64::from(self.whole.messages) {
            return ControlFlow::Break(());
        }
        self.look = (self.samples.len() as f64 * LOOK_GROWTH) as usize + 1;
        let known = Fit::of(&self.samples, self.whole);
        let Some(outlook) = known.and_then(|known| known.outlook(most)) else { return ControlFlow::Continue(()) };
        (self.tell)(outlook);
        if outlook.half <= self.wanted * outlook.makespan {
            if let Err(why) = (self.alike)(most) {
                self.full = Some(why);
                return ControlFlow::Break(());
            }
            self.player.end_after(most);
            self.cut = Some(most);
            self.ends = IdVec::filled(self.delivered.len(), self.now.ps());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Workload for Pilot<'_> {
    fn ranks(&self) -> u32 {
        self.player.ranks()
    }

    fn messages(&self) -> u64 {
        self.player.messages()
    }

    fn load(&self) -> Load {
        self.player.load()
    }

    fn mean_bytes(&self) -> u64 {
        self.player.mean_bytes()
    }

    fn begin(&mut self, requests: &mut Requests) {
        self.player.begin(requests);
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.now = now;
        // Steps are not measured any more once ranks run out of messages.
        if self.cut.is_some() {
            for message in messages {
                self.ends[message.id.src] = now.ps();
            }
        } else if self.look < usize::MAX {
            self.count(now, messages);
            if self.samples.len() >= self.look && self.look().is_break() {
                self.look = usize::MAX;
            }
        }
        self.player.delivered(now, messages, requests);
    }

    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        self.player.departed(now, messages, requests);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        self.player.woke(now, wake, requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        self.player.blocked()
    }
}
