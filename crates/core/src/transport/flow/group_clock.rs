//! Virtual time of a group, in which all its flows move at the same constant rate.

use crate::units::{Bandwidth, Time};

/// Place of a flow that is in no group.
pub(super) const ABSENT: u32 = u32::MAX;

/// Number of bytes above which the count starts again at 0, so that remaining bytes stay exact to 1e-4 bytes.
const LONG: f64 = (1u64 << 40) as f64;

/// Virtual time of a group, and the ends of its flows in it.
///
/// The virtual time is the number of bytes that a flow in the group would have moved so far, `V(t)`, the
/// integral of the group's level. A flow with b bytes left at time t ends at virtual time `V(t) + b`, however
/// the level changes later. So a change of level touches no flow.
#[derive(Clone, Debug)]
pub(super) struct GroupClock {
    /// V at the time `at` \[B\].
    bytes: f64,
    at: Time,
    /// Level of the group \[B/s\].
    level: f64,
    /// Binary heap of (virtual end, flow).
    ends: Vec<(f64, u32)>,
}

impl Default for GroupClock {
    fn default() -> Self {
        Self { bytes: 0.0, at: Time::ZERO, level: 0.0, ends: Vec::new() }
    }
}

impl GroupClock {
    /// True if the group has no flow.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the virtual time at a time \[B\].
    fn virtual_time(&self, now: Time) -> f64 {
        self.bytes + self.level * (now - self.at).seconds()
    }

    /// Sets the level from now on; returns true if it changes.
    pub(super) fn set_level(&mut self, now: Time, level: f64) -> bool {
        if level == self.level {
            return false;
        }
        self.bytes = self.virtual_time(now);
        self.at = now;
        self.level = level;
        if self.bytes > LONG || self.ends.is_empty() {
            // (Subtraction keeps the order of the ends.)
            self.ends.iter_mut().for_each(|(end, _)| *end -= self.bytes);
            self.bytes = 0.0;
        }
        true
    }

    /// Returns the arrival time of its next flow if nothing changes, at least `now`.
    pub(super) fn next_arrival(&self, now: Time) -> Time {
        let Some(&(end, _)) = self.ends.first() else { return Time::NEVER };
        let arrival = self.at + Bandwidth::from_bytes_per_second(self.level).time_for((end - self.bytes).max(0.0));
        arrival.max(now)
    }

    /// Returns the flow that arrives next.
    pub(super) fn first(&self) -> Option<u32> {
        self.ends.first().map(|&(_, flow)| flow)
    }

    /// Adds a flow with `left` bytes left.
    pub(super) fn join(&mut self, now: Time, flow: u32, left: f64, places: &mut [u32]) {
        if self.ends.is_empty() {
            (self.bytes, self.at) = (0.0, now);
        }
        let end = self.virtual_time(now) + left;
        self.ends.push((end, flow));
        self.rise(self.ends.len() - 1, (end, flow), places);
    }

    /// Removes a flow; returns its remaining bytes \[B\].
    pub(super) fn leave(&mut self, now: Time, flow: u32, places: &mut [u32]) -> f64 {
        let place = places[flow as usize] as usize;
        let (end, _) = self.ends[place];
        if let Some(last) = self.ends.pop()
            && place < self.ends.len()
        {
            if last.0 < end {
                self.rise(place, last, places);
            } else {
                self.sink(place, last, places);
            }
        }
        (end - self.virtual_time(now)).max(0.0)
    }

    fn put(&mut self, place: usize, entry: (f64, u32), places: &mut [u32]) {
        self.ends[place] = entry;
        places[entry.1 as usize] = place as u32;
    }

    /// Writes an entry where it belongs at or above `place`.
    fn rise(&mut self, mut place: usize, entry: (f64, u32), places: &mut [u32]) {
        while place > 0 && entry.0 < self.ends[(place - 1) / 2].0 {
            self.put(place, self.ends[(place - 1) / 2], places);
            place = (place - 1) / 2;
        }
        self.put(place, entry, places);
    }

    /// Writes an entry where it belongs at or below `place`.
    fn sink(&mut self, mut place: usize, entry: (f64, u32), places: &mut [u32]) {
        while let Some(&left) = self.ends.get(2 * place + 1) {
            let is_right = self.ends.get(2 * place + 2).is_some_and(|right| right.0 < left.0);
            let child = 2 * place + 1 + usize::from(is_right);
            if self.ends[child].0 >= entry.0 {
                break;
            }
            self.put(place, self.ends[child], places);
            place = child;
        }
        self.put(place, entry, places);
    }
}
