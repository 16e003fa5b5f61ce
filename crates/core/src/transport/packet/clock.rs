//! Integer time: a tick so fine that the times of packets are whole numbers of ticks.

use crate::fabric::Fabric;
use crate::units::{Bandwidth, Time};

/// Largest number of ticks in a picosecond, for exact times where capacities do not divide.
const FINEST: u64 = 4096;
/// Ticks in a picosecond if no tick makes all times whole: a femtosecond.
const ROUNDED: u64 = 1000;
/// Longest time of a packet on a link \[ticks\] without a coarser tick: a million of them can follow each
/// other before 64 bits are full.
const LONGEST: f64 = (1u64 << 44) as f64;

/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;

/// Tick of a fabric.
///
/// A byte takes `1e12 / c` \[ps\] on a link of capacity c \[B/s\]. If all capacities are whole, the tick is
/// `1 ps / lcm over links of c / gcd(c, 1e12)`: then the time of every packet is a whole number of ticks, and
/// sums of them are exact. If that would be finer than 1/4096 ps, or a capacity is not whole, the tick is 1
/// fs, and the time of each packet on each link is rounded to the nearest tick. Latencies are rounded to the
/// nearest tick, starts up to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    ticks_per_ps: u64,
}

impl Clock {
    /// Chooses the tick for this fabric and packets of `packet_bytes` bytes.
    pub(super) fn new(fabric: &Fabric, packet_bytes: u64) -> Self {
        let exact = fabric.shared_capacities().into_iter().try_fold(1, |ticks, capacity| {
            if capacity.fract() != 0.0 || !(1.0..9.0e15).contains(&capacity) {
                return None;
            }
            let capacity = capacity as u64;
            let parts = capacity / gcd(capacity, PS_PER_S);
            let ticks = ticks / gcd(ticks, parts) * parts.min(FINEST + 1);
            (ticks <= FINEST).then_some(ticks)
        });
        let slowest = fabric.links().ids().map(|link| fabric.shared_capacity(link)).min();
        let longest = slowest.map_or(0.0, |capacity| capacity.time_for(packet_bytes as f64).ps());
        let wanted = exact.unwrap_or(ROUNDED);
        Self { ticks_per_ps: if longest * wanted as f64 > LONGEST { 1 } else { wanted } }
    }

    /// Returns the ticks that a byte takes at this bandwidth.
    pub(super) fn per_byte(self, capacity: Bandwidth) -> f64 {
        // One rounding only: exact where the quotient is a whole number.
        (PS_PER_S as f64 * self.ticks_per_ps as f64) / capacity.bytes_per_second()
    }

    /// Converts a span of time to the nearest tick.
    pub(super) fn span(self, time: Time) -> u64 {
        rounded(time.ps() * self.ticks_per_ps as f64)
    }

    /// Returns the first tick that is not before this time.
    pub(super) fn at_or_after(self, time: Time) -> u64 {
        (time.ps() * self.ticks_per_ps as f64).ceil() as u64
    }

    /// Returns the last tick that is not after this time.
    pub(super) fn at_or_before(self, time: Time) -> u64 {
        (time.ps() * self.ticks_per_ps as f64).floor() as u64
    }

    /// Returns the time of a tick.
    pub(super) fn time(self, tick: u64) -> Time {
        Time::from_ps(tick as f64 / self.ticks_per_ps as f64)
    }
}

/// Returns the nearest whole number.
pub(super) fn rounded(value: f64) -> u64 {
    (value + 0.5) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{FabricBuilder, Irregular};

    fn clock(capacities: &[f64]) -> Clock {
        let mut builder = FabricBuilder::new("links", 2, 0);
        for &capacity in capacities {
            builder.loose_link(Bandwidth::from_bytes_per_second(capacity), Time::ZERO);
        }
        Clock::new(&builder.finish(Irregular), 1500)
    }

    #[test]
    fn packets_take_whole_ticks_on_links_that_do_not_divide() {
        let clock = clock(&[1e9, 3e9, 7e9]);
        assert_eq!(clock.ticks_per_ps, 21);
        for (capacity, ticks) in [(1e9, 21_000.0), (3e9, 7_000.0), (7e9, 3_000.0)] {
            assert_eq!(clock.per_byte(Bandwidth::from_bytes_per_second(capacity)), ticks);
        }
        assert_eq!(clock.time(21_000 * 1500), Time::from_ps(1.5e6));
    }

    #[test]
    fn without_a_common_tick_times_are_rounded_to_femtoseconds() {
        assert_eq!(clock(&[1e9, 999_999_937.0]).ticks_per_ps, 1000);
        assert_eq!(clock(&[1e9 / 3.0]).ticks_per_ps, 1000);
        assert_eq!(clock(&[1.0]).ticks_per_ps, 1, "a link of one byte a second has ticks enough");
    }

    #[test]
    fn starts_are_rounded_up_and_horizons_down() {
        let clock = clock(&[1e9]);
        assert_eq!((clock.at_or_after(Time::from_ps(0.5)), clock.at_or_before(Time::from_ps(1.5))), (1, 1));
        assert_eq!(clock.at_or_before(Time::NEVER), u64::MAX);
    }
}
