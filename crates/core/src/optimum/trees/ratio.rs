//! Exact fractions.

use std::cmp::Ordering;

/// Fraction of whole numbers in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// Number above the line.
    pub numerator: u64,
    /// Number below the line, at least 1.
    pub denominator: u64,
}

impl Ratio {
    /// Returns `numerator / denominator`, or `None` if the denominator is 0 or the lowest terms exceed 64 bits.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let common = gcd(numerator, denominator);
        let lowest = |x: u128| x.checked_div(common).and_then(|x| u64::try_from(x).ok());
        Some(Self { numerator: lowest(numerator)?, denominator: lowest(denominator).filter(|&below| below > 0)? })
    }

    /// Returns the nearest double.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the greatest common divisor; that of 0 and `a` is `a`.
pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
