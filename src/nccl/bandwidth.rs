//! Bus bandwidth: the bandwidth of an operation by NCCL's convention, which links of a ring would have.

use super::tuning::Operation;

/// Returns the bus bandwidth over the size by the time.
///
/// All-reduce 2 (n - 1) / n; all-gather and reduce-scatter (n - 1) / n of the total; broadcast and reduce 1.
///
/// Source: nccl-tests, `doc/PERFORMANCE.md`.
pub fn bus_factor(operation: Operation, ranks: u32) -> f64 {
    let n = f64::from(ranks);
    match operation {
        Operation::AllReduce => 2.0 * (n - 1.0) / n,
        Operation::AllGather | Operation::ReduceScatter => (n - 1.0) / n,
        Operation::Broadcast | Operation::Reduce => 1.0,
    }
}
