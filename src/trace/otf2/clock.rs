//! Times of a location: correction of its clock by measured offsets, and conversion to nanoseconds.

use crate::trace::fault::{Fault, fault};

/// Nanoseconds in a second.
const NS_PER_S: u128 = 1_000_000_000;

/// Clock of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationClock {
    /// Times and offsets to the global clock at them \[ticks\], in ascending order.
    offsets: Vec<(u64, i64)>,
}

impl LocationClock {
    /// Adds an offset measured at a time, later than those before.
    pub fn add(&mut self, time: u64, offset: i64, at: u64) -> Result<(), Fault> {
        if let Some(&(last, _)) = self.offsets.last().filter(|&&(last, _)| last >= time) {
            return fault(at, format!("an offset of the clock at time {time} comes after one at {last}"));
        }
        self.offsets.push((time, offset));
        Ok(())
    }

    /// Returns the global time: offsets are interpolated linearly, and extrapolated before the first two and after the
    /// last two. One offset alone changes nothing, as in OTF2.
    pub fn global(&self, time: u64) -> u64 {
        if self.offsets.len() < 2 {
            return time;
        }
        let after = self.offsets.partition_point(|&(known, _)| known < time);
        let first = after.clamp(1, self.offsets.len() - 1) - 1;
        let ((begin, offset), (end, next)) = (self.offsets[first], self.offsets[first + 1]);
        let slope = (i128::from(next) - i128::from(offset)) as f64 / (end - begin) as f64;
        let moved = (slope * (i128::from(time) - i128::from(begin)) as f64).round() as i128;
        let time = i128::from(time) + i128::from(offset) + moved;
        time.clamp(0, i128::from(u64::MAX)) as u64
    }
}

/// Clock of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalClock {
    /// Ticks in a second.
    pub resolution: u64,
    /// Time of the start \[ticks\].
    pub start: u64,
}

impl GlobalClock {
    /// Returns a time since the start \[ns\].
    pub fn ns(self, time: u64) -> u64 {
        let ticks = u128::from(time.saturating_sub(self.start));
        u64::try_from(ticks * NS_PER_S / u128::from(self.resolution.max(1))).unwrap_or(u64::MAX)
    }
}
