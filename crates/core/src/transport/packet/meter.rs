//! What a port has done, and what has waited for it.

use super::switching::Ticks;

/// The figures of a port, brought up to date when a packet comes, a link starts to send, or stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    /// When packets left less when they came, summed over all: packets that waited, summed over time, once those that
    /// still wait are taken as leaving now \[ticks\].
    queue_time: i128,
    /// How long it has sent, with the packet that it is sending \[ticks\].
    busy: u64,
    /// Since when it has stood still although packets waited ([`u64::MAX`]: it does not), and for how long it did
    /// before.
    stuck: u64,
    blocked: u64,
    /// Packets that have come here over another link and wait.
    queued: u32,
    peak: u32,
}

impl Meter {
    /// Of a port that has done nothing.
    pub fn new() -> Self {
        Self { queue_time: 0, busy: 0, stuck: u64::MAX, blocked: 0, queued: 0, peak: 0 }
    }

    /// A packet has come over another link, and waits. What has not gone on at once counts as a queue
    /// ([`stays`](Self::stays)).
    #[inline]
    pub fn comes(&mut self, now: u64) {
        self.queue_time -= i128::from(now);
        self.queued += 1;
    }

    /// Of those that have come, so many still wait.
    #[inline]
    pub fn stays(&mut self) {
        self.peak = self.peak.max(self.queued);
    }

    /// Such a packet leaves the queue.
    #[inline]
    pub fn leaves(&mut self, now: u64) {
        self.queue_time += i128::from(now);
        self.queued -= 1;
    }

    /// The link sends nothing from now on, although it could if packets wait.
    #[inline]
    pub fn stands_still(&mut self, now: u64) {
        if self.queued > 0 && self.stuck == u64::MAX {
            self.stuck = now;
        }
    }

    /// The link starts to send.
    #[inline]
    pub fn goes_on(&mut self, now: u64) {
        if self.stuck != u64::MAX {
            self.blocked += now - self.stuck;
            self.stuck = u64::MAX;
        }
    }

    /// It sends for so long.
    #[inline]
    pub fn sends(&mut self, time: u64) {
        self.busy = self.busy.saturating_add(time);
    }

    /// Whether no packet that came over another link waits.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.queued == 0
    }

    /// What it comes to by now.
    pub fn ticks(&self, now: u64) -> Ticks {
        Ticks {
            busy: self.busy,
            peak_queue: self.peak,
            queue_time: (self.queue_time + i128::from(now) * i128::from(self.queued)) as f64,
            blocked: self.blocked + now.saturating_sub(self.stuck),
        }
    }
}
