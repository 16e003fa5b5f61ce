//! Statistics of a port and its waiting packets.

use super::switching::Ticks;

/// Statistics of a port, updated when a packet comes, or the link starts to send or stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    /// Sum over packets of departure time minus arrival time. With waiting packets taken as leaving now, this
    /// is the number of waiting packets, integrated over time \[ticks\].
    queue_time: i128,
    /// Time that the link was sending, including all of the packet that it is sending \[ticks\].
    busy: u64,
    /// Time since which the link has stood still although packets wait ([`u64::MAX`]: it does not), and the
    /// duration of earlier such times.
    stuck: u64,
    blocked: u64,
    /// Number of packets that have come here over another link and wait.
    queued: u32,
    peak: u32,
}

impl Meter {
    /// Creates the statistics of a port that has done nothing.
    pub fn new() -> Self {
        Self { queue_time: 0, busy: 0, stuck: u64::MAX, blocked: 0, queued: 0, peak: 0 }
    }

    /// Counts a packet that has come over another link, and waits. It counts for the peak only if it does not
    /// go on at once ([`stays`](Self::stays)).
    #[inline]
    pub fn comes(&mut self, now: u64) {
        self.queue_time -= i128::from(now);
        self.queued += 1;
    }

    /// Updates the peak by the packets that wait now.
    #[inline]
    pub fn stays(&mut self) {
        self.peak = self.peak.max(self.queued);
    }

    /// Counts a packet that leaves the queue.
    #[inline]
    pub fn leaves(&mut self, now: u64) {
        self.queue_time += i128::from(now);
        self.queued -= 1;
    }

    /// Records that the link stands still, if `still`, although it could send if packets wait.
    #[inline]
    pub fn record_idle(&mut self, now: u64, still: bool) {
        let since = if still & (self.queued > 0) { now } else { u64::MAX };
        self.stuck = self.stuck.min(since);
    }

    /// Records that the link starts to send.
    #[inline]
    pub fn goes_on(&mut self, now: u64) {
        self.blocked += now.saturating_sub(self.stuck);
        self.stuck = u64::MAX;
    }

    /// Adds `time` ticks of sending.
    #[inline]
    pub fn sends(&mut self, time: u64) {
        self.busy = self.busy.saturating_add(time);
    }

    /// True if no packet that came over another link waits.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.queued == 0
    }

    /// Returns the statistics as of now.
    pub fn ticks(&self, now: u64) -> Ticks {
        Ticks {
            busy: self.busy,
            peak_queue: self.peak,
            queue_time: (self.queue_time + i128::from(now) * i128::from(self.queued)) as f64,
            blocked: self.blocked + now.saturating_sub(self.stuck),
        }
    }
}
