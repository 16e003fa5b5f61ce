//! Background traffic: endless traffic of a given load in a fabric.

use crate::ids::{Id, IdVec, MessageId, RankId, WakeId};
use crate::rng::Mix;
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Largest number of messages of a rank in flight. Further messages wait for these, so that a load beyond the
/// capacity of the fabric does not pile up in it.
const MOST: u32 = 64;

/// Background traffic: messages of one size to random other ranks.
///
/// Rank r sends at times whose distances are uniform between 0 and 2 T(r), so that T(r) is their mean; its
/// first message comes at a uniform time below T(r). With `T = bytes / (load capacity)` a rank whose host
/// link has that capacity offers that fraction of it. Destinations are uniform among the other ranks.
#[derive(Debug)]
pub struct Background {
    /// Mean time between two messages of each rank; `None` if a rank sends nothing.
    mean: IdVec<RankId, Option<Time>>,
    bytes: u64,
    times: Mix,
    destinations: Mix,
    ranks: IdVec<RankId, Sending>,
}

/// State of a rank.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// Number of messages sent.
    sent: u32,
    /// Number of times drawn.
    drawn: u32,
    under_way: u32,
    /// Number of messages that are due and wait.
    due: u32,
}

impl Background {
    /// Creates traffic of messages of `bytes` bytes, with a mean time between messages for each of at least
    /// two ranks.
    pub fn new(mean: IdVec<RankId, Option<Time>>, bytes: u64, seed: u64, name: &str) -> Self {
        Self {
            ranks: IdVec::filled(mean.len(), Sending::default()),
            mean,
            bytes,
            times: Mix::new(seed, &format!("times of background {name}")),
            destinations: Mix::new(seed, &format!("destinations of background {name}")),
        }
    }

    /// Draws the next time of a rank, and requests a wake for it.
    fn draw(&mut self, now: Time, rank: RankId, most: f64, requests: &mut Requests) {
        let Some(mean) = self.mean[rank] else { return };
        let unit = self.times.two_unit(u64::from(rank.0), u64::from(self.ranks[rank].drawn));
        self.ranks[rank].drawn = self.ranks[rank].drawn.wrapping_add(1);
        requests.wakes.push((now + Time::from_ps(most * mean.ps() * unit), WakeId(rank.0)));
    }

    /// Sends the messages that are due, as far as the limit allows.
    fn send(&mut self, rank: RankId, requests: &mut Requests) {
        let others = self.ranks.len() as u64 - 1;
        let sending = &mut self.ranks[rank];
        while sending.due > 0 && sending.under_way < MOST {
            let other = self.destinations.two_below(u64::from(rank.0), u64::from(sending.sent), others) as u32;
            let dst = RankId(other + u32::from(other >= rank.0));
            requests.sends.push(SendRequest {
                id: MessageId { src: rank, index: sending.sent },
                dst,
                bytes: self.bytes,
            });
            sending.sent = sending.sent.wrapping_add(1);
            sending.under_way += 1;
            sending.due -= 1;
        }
    }
}

impl Workload for Background {
    fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Returns 1: there is at least one message, but their number is unknown.
    fn messages(&self) -> u64 {
        1
    }

    fn load(&self) -> Load {
        Load::default()
    }

    fn begin(&mut self, requests: &mut Requests) {
        for rank in (0..self.ranks.len()).map(RankId::from_index) {
            self.draw(Time::ZERO, rank, 1.0, requests);
        }
    }

    fn delivered(&mut self, _: Time, messages: &[SendRequest], requests: &mut Requests) {
        for message in messages {
            self.ranks[message.id.src].under_way -= 1;
            self.send(message.id.src, requests);
        }
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let rank = RankId(wake.0);
        self.ranks[rank].due = self.ranks[rank].due.saturating_add(1);
        self.send(rank, requests);
        self.draw(now, rank, 2.0, requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}
