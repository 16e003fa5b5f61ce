//! A pattern of which only a beginning is played: as many messages of each rank as it takes to know the rest.

use std::ops::ControlFlow;

use super::forecast::{End, Forecast, Known, PARTS, Sample, Whole};
use crate::ids::{IdVec, RankId, WakeId};
use crate::pattern::PatternPlayer;
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Steps before the first look, and by how much more there are at each further one.
const FIRST: usize = 200;
const FURTHER: f64 = 1.15;

/// Where so much of all would be played, the rest is, too.
const MOST: f64 = 0.5;

/// Asked once, before a beginning of so many messages a rank is cut off: whether the other messages are like those, and
/// if not, why.
pub type Alike<'a> = &'a mut dyn FnMut(u32) -> Result<(), String>;

/// Told at each look how well the makespan would be known by then.
pub type Tell<'a> = &'a dyn Fn(Forecast);

/// A player that stops its ranks after so many messages as soon as the makespan is known well enough.
///
/// It counts what is delivered of each rank, a few words a rank and a sample for each step; nothing of it changes what
/// ranks do until they are stopped, all after the same number of messages, which none of them has passed. Then it keeps
/// when each of them ends.
pub struct Pilot<'a> {
    player: PatternPlayer,
    whole: Whole,
    /// Half of the interval that is wanted, over the makespan.
    wanted: f64,
    alike: Alike<'a>,
    tell: Tell<'a>,
    delivered: IdVec<RankId, u32>,
    /// Sum of these.
    sum: u64,
    /// The sum at which the next sample is taken.
    next: u64,
    samples: Vec<Sample>,
    /// Samples at the next look.
    look: usize,
    now: Time,
    /// Messages of each rank that are played, once that is decided.
    cut: Option<u32>,
    /// When the last message of each rank arrived, from then on \[ps\].
    ends: IdVec<RankId, f64>,
    /// Why all are.
    full: Option<String>,
}

impl<'a> Pilot<'a> {
    /// This player, whose ranks have so many messages each.
    pub fn new(player: PatternPlayer, whole: Whole, wanted: f64, alike: Alike<'a>, tell: Tell<'a>) -> Self {
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
            look: FIRST,
            now: Time::ZERO,
            cut: None,
            ends: IdVec::filled(0, 0.0),
            full: None,
        }
    }

    /// The makespan and how many messages of each rank were played for it, or why all were.
    pub fn finish(self) -> Result<(Forecast, u32), String> {
        let Some(messages) = self.cut else {
            return Err(self.full.clone().unwrap_or_else(|| self.too_short()));
        };
        let end = End::of(messages, self.ends.as_slice().to_vec());
        let forecast = Known::of(&self.samples, self.whole).and_then(|known| known.forecast(end));
        forecast.map(|forecast| (forecast, messages)).ok_or_else(|| self.too_short())
    }

    fn too_short(&self) -> String {
        let messages = self.whole.messages;
        format!("{messages} messages a rank are too few to be known better by a part of them")
    }

    /// Counts what has arrived; a sample is taken whenever as many messages have as there are ranks.
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

    /// How far ranks are.
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

    /// Whether enough is known; then ranks are stopped.
    fn look(&mut self) -> ControlFlow<()> {
        let most = self.player.most_sent();
        if f64::from(most) > MOST * f64::from(self.whole.messages) {
            return ControlFlow::Break(());
        }
        self.look = (self.samples.len() as f64 * FURTHER) as usize + 1;
        let known = Known::of(&self.samples, self.whole);
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
        // Once ranks run out of messages, they are no measure of a step any more.
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
