//! Seeds of one run.

use std::num::NonZeroU32;

use clap::Args;

use super::Failure;
use hayase::sweep::seeds_from;

/// Number of seeds.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Scenario")]
pub struct SeedsArgs {
    /// Run this number of seeds, starting with --seed, and report the spread of the makespan.
    #[arg(long, value_name = "N")]
    pub seeds: Option<NonZeroU32>,
}

/// Returns this number of consecutive seeds.
pub fn seeds(first: u64, count: Option<NonZeroU32>) -> Result<Vec<u64>, Failure> {
    Ok(seeds_from(first, count.map_or(1, NonZeroU32::get).into())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_each_other_as_far_as_there_are_any() {
        assert_eq!(seeds(3, NonZeroU32::new(3)).unwrap(), [3, 4, 5]);
        assert_eq!(seeds(7, None).unwrap(), [7]);
        assert!(seeds(i64::MAX as u64, NonZeroU32::new(2)).is_err());
        assert!(seeds(u64::MAX, NonZeroU32::new(2)).is_err());
    }
}
