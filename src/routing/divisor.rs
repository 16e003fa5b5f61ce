//! Division by a number known beforehand, as a multiplication.

/// A divisor for numbers of 32 bits.
///
/// `n / d = n * ceil(2^63 / d) >> 63`: the product is too large by less than `n * d / d`, which does not reach the next
/// multiple of 2^63 as long as `n * d < 2^63`. A division by a variable takes several times as long, and a route needs a
/// dozen of them.
///
/// Source: T. Granlund, P. L. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    value: u32,
    inverse: u64,
}

impl Divisor {
    /// Divides by `value`, which is from 1 to 2^31.
    pub fn new(value: u32) -> Self {
        debug_assert!((1..=1 << 31).contains(&value));
        Self { value, inverse: (1u64 << 63).div_ceil(value.into()) }
    }

    /// Quotient and remainder.
    #[inline]
    pub fn divide(self, n: u32) -> (u32, u32) {
        let quotient = ((u128::from(n) * u128::from(self.inverse)) >> 63) as u32;
        (quotient, n - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_divides_like_the_processor(n: u32, d in prop_oneof![1..=(1u32 << 31), 1..100u32]) {
            for n in [n, 0, d - 1, d, d.saturating_mul(n / d), d.saturating_mul(n / d).saturating_sub(1), u32::MAX] {
                prop_assert_eq!(Divisor::new(d).divide(n), (n / d, n % d));
            }
        }
    }
}
