//! The choice of Open MPI: the fixed rules of its `tuned` component, by number of ranks and size.
//!
//! Sizes are those of the whole vector for bcast, reduce, allreduce and reduce-scatter, of a rank's block for the
//! others. Gatherv and scatterv are linear, scan and exscan linear. Where Open MPI has an algorithm that is not
//! here, the closest one stands for it: `split_binary_tree` is `binary`, `butterfly` is `recursive-halving`,
//! `linear_sync` of an alltoall (which waits for nothing by default) and `two_proc` are `linear`, the segmented ring
//! (without segments by default) is `ring`. Its binomial trees join ranks whose numbers differ in the highest set bit
//! instead of the lowest, its in-order tree is rooted at the last rank instead of the middle one: as many messages and
//! levels. As there, a ring of fewer elements than ranks becomes recursive doubling, and Rabenseifner's algorithm with
//! fewer elements than members becomes a linear one. What `han` or `sm` do among the ranks of one node is left out.
//!
//! Source: <https://github.com/open-mpi/ompi>, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c` (4.1 and 5.0).

use super::super::algorithm::{Algorithm, Plan};
use super::super::call::{Call, Operation};
use super::open_mpi_tables::{self as tables, Table};

/// What Open MPI would do.
pub fn plan(call: &Call) -> Plan {
    let size = match call.collective {
        Operation::ReduceScatter => call.total(),
        _ => call.mean(),
    };
    let table = match call.collective {
        Operation::Barrier => tables::BARRIER,
        Operation::Bcast => tables::BCAST,
        Operation::Reduce if call.commutative => tables::REDUCE,
        Operation::Reduce => tables::REDUCE_IN_ORDER,
        Operation::Allreduce if call.commutative => tables::ALLREDUCE,
        Operation::Allreduce => tables::ALLREDUCE_IN_ORDER,
        Operation::Gather => tables::GATHER,
        Operation::Scatter => tables::SCATTER,
        Operation::Allgather => tables::ALLGATHER,
        Operation::Allgatherv => tables::ALLGATHERV,
        Operation::Alltoall => tables::ALLTOALL,
        Operation::Alltoallv => tables::ALLTOALLV,
        Operation::ReduceScatter if call.commutative => tables::REDUCE_SCATTER,
        Operation::ReduceScatterBlock if call.commutative => tables::REDUCE_SCATTER_BLOCK,
        Operation::ReduceScatter | Operation::ReduceScatterBlock => {
            return Plan::plain(Algorithm::ReduceThenScatter);
        }
        Operation::Gatherv | Operation::Scatterv | Operation::Scan | Operation::Exscan => {
            return Plan::plain(Algorithm::Linear);
        }
    };
    // Reductions along chains have two of them there.
    let fan = if call.collective == Operation::Reduce { 2 } else { 4 };
    // What its algorithms turn to themselves where there are too few elements for them.
    let elements = size / call.element;
    let (ranks, members) = (u64::from(call.ranks), 1 << call.ranks.max(1).ilog2());
    let algorithm = match (call.collective, look_up(table, call.ranks, size)) {
        (Operation::Allreduce, Algorithm::Ring) if elements < ranks => Algorithm::RecursiveDoubling,
        (Operation::Allreduce | Operation::Reduce, Algorithm::Rabenseifner) if elements < members => Algorithm::Linear,
        (_, algorithm) => algorithm,
    };
    Plan { algorithm, segment: None, fan }.feasible(call)
}

fn look_up(table: Table, ranks: u32, size: u64) -> Algorithm {
    let row = table.iter().find(|(below, _)| ranks < *below).or(table.last());
    let cell = row.and_then(|(_, cells)| cells.iter().find(|(below, _)| size < *below).or(cells.last()));
    cell.map_or(Algorithm::Linear, |(_, algorithm)| *algorithm)
}
