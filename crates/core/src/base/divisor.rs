//! Division by a number known beforehand, as a multiplication.

/// A divisor for numbers of 32 bits that is used again and again.
///
/// `n / d = (n + 1) * floor((2^64 - 1) / d) >> 64`. With a remainder r < d of `(2^64 - 1) / d`, the product
/// is `(n + 1) / d * (1 - (r + 1) / 2^64)`. It is less than the next integer, which `(n + 1) / d` does not
/// exceed. It is not less than `n / d` rounded down, because it is smaller than `(n + 1) / d` by at most
/// `2^32 / 2^64 < 1 / d`.
///
/// A division by a variable takes several times as long, and a route needs a dozen of them.
///
/// Source: A. D. Robison, "N-bit unsigned division via N-bit multiply-add", ARITH 2005.
///
/// ```
/// # use hayase_core as hayase;
/// use hayase::base::divisor::Divisor;
///
/// assert_eq!(Divisor::new(7).divide(23), (3, 2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divisor {
    value: u32,
    inverse: u64,
}

impl Divisor {
    /// Creates a divisor. `value` must not be 0.
    pub fn new(value: u32) -> Self {
        Self { value, inverse: u64::MAX / u64::from(value) }
    }

    /// Returns the number by which this divides.
    #[inline]
    pub fn value(self) -> u32 {
        self.value
    }

    /// Returns quotient and remainder.
    #[inline]
    pub fn divide(self, n: u32) -> (u32, u32) {
        let quotient = ((u128::from(u64::from(n) + 1) * u128::from(self.inverse)) >> 64) as u32;
        (quotient, n - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_divides_like_the_processor_at_the_corners() {
        let values = [1, 2, 3, 5, 7, 12, 641, 3456, 65_535, 65_536, 1 << 24, (1 << 31) - 1, 1 << 31, u32::MAX];
        for d in values {
            for n in values.into_iter().flat_map(|n| [n - 1, n, n.saturating_add(1), n.saturating_mul(d)]) {
                assert_eq!(Divisor::new(d).divide(n), (n / d, n % d), "{n} / {d}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_divides_like_the_processor(n: u32, d in prop_oneof![1..=u32::MAX, 1..100u32]) {
            for n in [n, 0, d - 1, d, d.saturating_mul(n / d), d.saturating_mul(n / d).saturating_sub(1), u32::MAX] {
                prop_assert_eq!(Divisor::new(d).divide(n), (n / d, n % d));
            }
        }
    }
}
