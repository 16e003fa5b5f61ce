//! Work in parts that threads share: all cores with the feature `simulator`, one thread without.
//!
//! Results come in the order of the parts, whoever worked on them.

/// How many parts can be worked on at once.
pub fn count() -> usize {
    #[cfg(feature = "simulator")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "simulator"))]
    return 1;
}

/// What `work` makes of each part.
pub fn map<T: Send, R: Send>(parts: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "simulator")]
    {
        use rayon::prelude::*;
        parts.into_par_iter().map(work).collect()
    }
    #[cfg(not(feature = "simulator"))]
    parts.into_iter().map(work).collect()
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
    }
}
