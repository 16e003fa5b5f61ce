//! Time, data and bandwidth: quantities of different types, so that they cannot be mixed up.
//!
//! In text a quantity always carries its unit (`"20 KB"`, `"12.5 GB/s"`, `"1.5 us"`). `KB` is 1000 bytes and
//! `KiB` 1024; `B` is a byte and `b` or `bit` a bit. Inside the engine quantities are plain numbers: bytes,
//! bytes per second, picoseconds.

mod parse;
pub mod range;
mod show;

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use ordered_float::OrderedFloat;

pub use parse::QuantityError;
pub use show::{count, grouped};

/// Picoseconds in a second.
const PS_PER_S: f64 = 1e12;

/// A point in simulated time, or a span of it \[ps\].
///
/// Stored as picoseconds in a double. Whole picoseconds are exact up to 2.5 hours of simulated time, so whole
/// durations (20 KB at 1 GB/s is 20 us) add up without rounding. Fractions keep 53 bits, so that a shared
/// rate of a third does not shift a completion time. `docs/internals/architecture.md` explains why it is not an
/// integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Time(OrderedFloat<f64>);

impl Time {
    /// The start of the simulation, or a span of length 0.
    pub const ZERO: Self = Self(OrderedFloat(0.0));
    /// A time later than all events.
    pub const NEVER: Self = Self(OrderedFloat(f64::INFINITY));

    /// Creates a time from picoseconds.
    #[inline]
    pub const fn from_ps(ps: f64) -> Self {
        Self(OrderedFloat(ps))
    }

    /// Creates a time from seconds.
    #[inline]
    pub fn from_seconds(seconds: f64) -> Self {
        Self::from_ps(seconds * PS_PER_S)
    }

    /// Returns the time in picoseconds.
    #[inline]
    pub const fn ps(self) -> f64 {
        self.0.0
    }

    /// Returns the time in seconds.
    #[inline]
    pub fn seconds(self) -> f64 {
        self.ps() / PS_PER_S
    }

    /// Returns true if this is before [`Time::NEVER`].
    #[inline]
    pub fn is_finite(self) -> bool {
        self.ps().is_finite()
    }
}

impl Ord for Time {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    #[inline]
    fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

/// Compares times as numbers. A time is never NaN, while the order of `OrderedFloat` has to allow for NaN.
impl PartialOrd for Time {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.ps() < other.ps()
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.ps() <= other.ps()
    }

    #[inline]
    fn gt(&self, other: &Self) -> bool {
        self.ps() > other.ps()
    }

    #[inline]
    fn ge(&self, other: &Self) -> bool {
        self.ps() >= other.ps()
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// An amount of data \[B\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Default size of a packet: the payload of an Ethernet frame.
    pub const PACKET: Self = Self(1500);
}

impl Add for Bytes {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    #[inline]
    fn mul(self, number: u64) -> Self {
        Self(self.0 * number)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

/// A time per byte \[ps/B\]: the gap `G` and the overhead `O` of the LogP family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PerByte(OrderedFloat<f64>);

impl PerByte {
    /// No time per byte.
    pub const ZERO: Self = Self(OrderedFloat(0.0));

    /// Creates a time per byte from picoseconds per byte.
    #[inline]
    pub const fn from_ps(ps: f64) -> Self {
        Self(OrderedFloat(ps))
    }

    /// Returns the time per byte in picoseconds per byte.
    #[inline]
    pub const fn ps(self) -> f64 {
        self.0.0
    }
}

/// Multiplies a time per byte by a number of bytes, which gives a time.
impl Mul<f64> for PerByte {
    type Output = Time;
    #[inline]
    fn mul(self, bytes: f64) -> Time {
        Time::from_ps(self.ps() * bytes)
    }
}

/// Data per time \[B/s\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bandwidth(OrderedFloat<f64>);

impl Bandwidth {
    /// Creates a bandwidth from bytes per second.
    #[inline]
    pub const fn from_bytes_per_second(value: f64) -> Self {
        Self(OrderedFloat(value))
    }

    /// Returns the bandwidth in bytes per second.
    #[inline]
    pub const fn bytes_per_second(self) -> f64 {
        self.0.0
    }

    /// Returns the time in which `bytes` are transferred at this bandwidth: `bytes / bandwidth`.
    #[inline]
    pub fn time_for(self, bytes: f64) -> Time {
        Time::from_ps(bytes * PS_PER_S / self.bytes_per_second())
    }
}

impl Mul<f64> for Bandwidth {
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Sum for Bandwidth {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        Self(iter.map(|bandwidth| bandwidth.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_durations_add_up_without_rounding() {
        let message = Bandwidth::from_bytes_per_second(1e9).time_for(20_000.0);
        let total: Time = std::iter::repeat_n(message, 3455).sum();
        assert_eq!(total.seconds(), 0.0691);
    }
}
