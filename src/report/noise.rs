//! What slow processors cost, as plain data.

/// What slow processors cost: the run beside the same one in which nobody is slow.
#[report(Default)]
pub struct NoiseReport {
    /// The makespan with the same seed where nobody is slow \[s\].
    pub without_s: f64,
    /// `makespan - without` \[s\].
    pub cost_s: f64,
    /// `makespan / without`; 1 where both are 0.
    pub slowdown: f64,
    /// The cost over seeds, where there are several.
    pub seeds: Option<CostOverSeeds>,
    /// How much longer the ranks' own work took, where that was added up.
    pub slowed: Option<SlowedRanks>,
    /// How many ranks ended later, by more than some times.
    pub delayed: Vec<Delayed>,
    /// How far the delay travelled: ranks by how many messages they are from the nearest straggler. Empty where all
    /// ranks are slow, or where messages were too many to be kept.
    pub by_distance: Vec<Reached>,
    /// Each rank.
    pub ranks: Vec<RankDelay>,
}

/// How much longer the own work of ranks took, on slow processors and under noise.
#[report(Copy, Default)]
pub struct SlowedRanks {
    /// Ranks whose work took longer.
    pub ranks: u32,
    /// On average over all ranks \[s\].
    pub mean_s: f64,
    /// The most of one rank \[s\].
    pub most_s: f64,
    /// That rank.
    pub most_rank: u32,
    /// What of that does not show in the makespan, since it fell into time in which the rank or others would have
    /// waited anyway: `most - cost`, or 0 \[s\].
    pub absorbed_s: f64,
}

/// The cost over seeds: of each seed the makespan less that with the same seed where nobody is slow.
#[report]
pub struct CostOverSeeds {
    /// Seeds.
    pub seeds: u64,
    /// The mean makespan where nobody is slow \[s\].
    pub without_mean_s: f64,
    /// The mean cost \[s\].
    pub mean_s: f64,
    /// Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with the t of Student \[s\].
    pub low_s: f64,
    /// Its upper end \[s\].
    pub high_s: f64,
    /// Sample standard deviation of the cost \[s\].
    pub sd_s: f64,
}

/// How many ranks ended later, by more than a time.
#[report(Copy)]
pub struct Delayed {
    /// By more than this \[s\].
    pub more_than_s: f64,
    /// Ranks.
    pub ranks: u32,
}

/// Ranks that are as many messages from the nearest straggler.
#[report(Copy)]
pub struct Reached {
    /// The least messages, one after another, by which something gets from a straggler to them; 0 are stragglers.
    pub messages: u32,
    /// Links on the route from the nearest straggler, on average; without a fabric nothing.
    pub hops: Option<f64>,
    /// How many there are.
    pub ranks: u32,
    /// How many of them it reached.
    pub reached: u32,
    /// When it reached the first of them \[s\].
    pub first_s: Option<f64>,
    /// By how much later they ended, on average \[s\].
    pub delay_s: f64,
}

/// By how much a rank ended later.
#[report(Copy, Default)]
pub struct RankDelay {
    /// Its number.
    pub rank: u32,
    /// When it ended: its program, or its last message where it is no program \[s\].
    pub end_s: f64,
    /// The same where nobody is slow \[s\].
    pub without_s: f64,
    /// `end - without` \[s\].
    pub delay_s: f64,
    /// How much longer its own work took \[s\].
    pub slowed_s: Option<f64>,
    /// When it first sent or got a message later than it would have \[s\].
    pub reached_s: Option<f64>,
    /// The least messages from a straggler to it.
    pub messages: Option<u32>,
    /// Links on the route from the nearest straggler.
    pub hops: Option<u32>,
}
