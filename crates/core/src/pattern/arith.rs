//! Integer arithmetic of patterns: even splits, logarithms, factorisations.

/// Returns `(a + b) mod n` for `a, b < n <= 2^31`.
#[inline]
pub(super) fn add_mod(a: u32, b: u32, n: u32) -> u32 {
    let sum = a + b;
    if sum >= n { sum - n } else { sum }
}

/// Returns `(a - b) mod n` for `a, b < n <= 2^31`.
#[inline]
pub(super) fn sub_mod(a: u32, b: u32, n: u32) -> u32 {
    add_mod(a, if b == 0 { 0 } else { n - b }, n)
}

/// Returns the smallest k with `2^k >= n`; 0 for n = 0.
#[inline]
pub(super) fn ceil_log2(n: u32) -> u32 {
    n.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
}

/// Factors `n` into `count` factors as equal as possible, largest first; n and count are not 0.
///
/// Most equal means the smallest sum, and among those the smallest sum of squares: 12 is 4 x 3, 72 is 6 x 4 x
/// 3. It serves the purpose of `MPI_Dims_create`.
///
/// Cost: `count * d^2` for the d divisors of n (d < 450 up to 2^24).
pub(super) fn balanced(n: u32, count: usize) -> Vec<u32> {
    let small: Vec<u32> = (1..=n.isqrt()).filter(|d| n.is_multiple_of(*d)).collect();
    let large = small.iter().rev().map(|d| n / d).filter(|&d| d > n.isqrt());
    let divisors: Vec<u32> = small.iter().copied().chain(large).collect();
    // tables[i][j]: cost of divisors[j] as a product of i + 1 factors, and the last of these.
    let cost = |d: u32| (u64::from(d), u64::from(d) * u64::from(d));
    let mut tables: Vec<Vec<((u64, u64), u32)>> = vec![divisors.iter().map(|&d| (cost(d), d)).collect()];
    for _ in 1..count {
        let last = &tables[tables.len() - 1];
        let next = divisors.iter().enumerate().map(|(j, &product)| {
            let choices = divisors[..=j].iter().zip(last).filter(|(d, _)| product.is_multiple_of(**d));
            choices
                .map(|(&rest, &((sum, squares), _))| {
                    let factor = product / rest;
                    ((sum + cost(factor).0, squares + cost(factor).1), factor)
                })
                .min()
                .unwrap_or((cost(product), product))
        });
        let next = next.collect();
        tables.push(next);
    }
    let mut rest = n;
    let mut factors: Vec<u32> = Vec::with_capacity(count);
    for table in tables.iter().rev() {
        let j = divisors.partition_point(|&d| d < rest);
        factors.push(table[j].1);
        rest /= table[j].1;
    }
    factors.sort_unstable_by(|a, b| b.cmp(a));
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_rounded_up() {
        let logs: Vec<u32> = (0..10).map(ceil_log2).collect();
        assert_eq!(logs, [0, 0, 1, 2, 2, 3, 3, 3, 3, 4]);
    }

    #[test]
    fn factors_are_as_close_as_can_be() {
        assert_eq!(balanced(12, 2), [4, 3]);
        assert_eq!(balanced(13, 2), [13, 1]);
        assert_eq!(balanced(16, 2), [4, 4]);
        assert_eq!(balanced(72, 3), [6, 4, 3]);
        assert_eq!(balanced(64, 3), [4, 4, 4]);
        assert_eq!(balanced(360, 3), [9, 8, 5]);
        assert_eq!(balanced(3456, 3), [18, 16, 12]);
        assert_eq!(balanced(1, 3), [1, 1, 1]);
        for n in 1..300 {
            for count in 1..5 {
                let factors = balanced(n, count);
                assert_eq!((factors.len(), factors.iter().product::<u32>()), (count, n));
                assert!(factors.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
