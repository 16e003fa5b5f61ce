//! Work in parts that threads share: all cores with the feature `simulator`, one thread without.
//!
//! Results come in the order of the parts, regardless of the thread that computed them.

/// Returns the number of threads.
pub fn count() -> usize {
    #[cfg(feature = "simulator")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "simulator"))]
    return 1;
}

/// Applies `work` to each part and returns the results in the order of the parts.
pub fn map<T: Send, R: Send>(parts: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "simulator")]
    {
        use rayon::prelude::*;
        parts.into_par_iter().map(work).collect()
    }
    #[cfg(not(feature = "simulator"))]
    parts.into_iter().map(work).collect()
}

/// Number of values above which [`collect`] uses several threads, each for at least `PARALLEL_LENGTH / 4` values at a
/// time. Filling memory larger than the caches is mostly waiting for the system to hand out pages.
#[cfg(any(feature = "simulator", test))]
const PARALLEL_LENGTH: usize = 1 << 16;

/// Returns `value(0)` to `value(len - 1)`, in order.
pub fn collect<T: Send>(len: usize, value: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    #[cfg(feature = "simulator")]
    if len > PARALLEL_LENGTH {
        use rayon::prelude::*;
        return (0..len).into_par_iter().with_min_len(PARALLEL_LENGTH / 4).map(value).collect();
    }
    (0..len).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_parts() {
        assert!(count() > 0);
        assert_eq!(
            map((0..100).collect(), |part: u64| part * part),
            (0..100).map(|part| part * part).collect::<Vec<_>>()
        );
        assert!(map(Vec::new(), |part: u64| part).is_empty());
        for len in [0, 1, PARALLEL_LENGTH, 3 * PARALLEL_LENGTH + 1] {
            assert!(collect(len, |index| 3 * index).into_iter().eq((0..len).map(|index| 3 * index)), "{len} values");
        }
    }
}
