//! Cost of slow processors, as plain data.

/// Cost of slow processors: the run compared with the same run without slow processors.
#[report(Default)]
pub struct NoiseReport {
    /// Makespan with the same seed without slow processors \[s\].
    pub without_s: f64,
    /// `makespan - without` \[s\].
    pub cost_s: f64,
    /// `makespan / without`; 1 where both are 0.
    pub slowdown: f64,
    /// Cost over several seeds, if there are several.
    pub seeds: Option<CostOverSeeds>,
    /// Extra time of the ranks' own work, if it was added up.
    pub slowed: Option<SlowedRanks>,
    /// Number of ranks that ended later, by several thresholds.
    pub delayed: Vec<Delayed>,
    /// Spread of the delay: ranks by their distance in messages from the nearest straggler. Empty if all
    /// ranks are slow, or if there were too many messages to keep.
    pub by_distance: Vec<Reached>,
    /// Delay of each rank.
    pub ranks: Vec<RankDelay>,
}

/// Extra time of the ranks' own work on slow processors and under noise.
#[report(Copy, Default)]
pub struct SlowedRanks {
    /// Number of ranks whose work took longer.
    pub ranks: u32,
    /// Mean over all ranks \[s\].
    pub mean_s: f64,
    /// Largest extra time of one rank \[s\].
    pub most_s: f64,
    /// Rank with the largest extra time.
    pub most_rank: u32,
    /// Part of the largest extra time that does not show in the makespan, because it fell into time in which
    /// ranks would have waited anyway: `most - cost`, or 0 \[s\].
    pub absorbed_s: f64,
}

/// Cost over the seeds: the makespan of each seed less the one with the same seed without slow processors.
#[report]
pub struct CostOverSeeds {
    /// Number of seeds.
    pub seeds: u64,
    /// Mean makespan without slow processors \[s\].
    pub without_mean_s: f64,
    /// Mean cost \[s\].
    pub mean_s: f64,
    /// Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with Student's t \[s\].
    pub low_s: f64,
    /// Upper end of the interval \[s\].
    pub high_s: f64,
    /// Sample standard deviation of the cost \[s\].
    pub sd_s: f64,
}

/// Number of ranks that ended later by more than a threshold.
#[report(Copy)]
pub struct Delayed {
    /// Threshold of the delay \[s\].
    pub more_than_s: f64,
    /// Number of ranks.
    pub ranks: u32,
}

/// Ranks at the same distance in messages from the nearest straggler.
#[report(Copy)]
pub struct Reached {
    /// Distance: the smallest number of consecutive messages from a straggler to these ranks; 0 for
    /// stragglers themselves.
    pub messages: u32,
    /// Mean number of links on the route from the nearest straggler; absent without a fabric.
    pub hops: Option<f64>,
    /// Number of these ranks.
    pub ranks: u32,
    /// Number of these ranks that the delay reached.
    pub reached: u32,
    /// Time at which the delay reached the first of them \[s\].
    pub first_s: Option<f64>,
    /// Mean delay of their ends \[s\].
    pub delay_s: f64,
}

/// Delay of one rank.
#[report(Copy, Default)]
pub struct RankDelay {
    /// Number of the rank.
    pub rank: u32,
    /// End of its program, or of its last message if it runs no program \[s\].
    pub end_s: f64,
    /// The same end without slow processors \[s\].
    pub without_s: f64,
    /// `end - without` \[s\].
    pub delay_s: f64,
    /// Extra time of its own work \[s\].
    pub slowed_s: Option<f64>,
    /// Time at which it first sent or received a message late because of slow processors \[s\].
    pub reached_s: Option<f64>,
    /// Smallest number of messages from a straggler to it.
    pub messages: Option<u32>,
    /// Number of links on the route from the nearest straggler.
    pub hops: Option<u32>,
}
