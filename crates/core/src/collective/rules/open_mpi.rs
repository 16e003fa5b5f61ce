//! Rules of Open MPI: the fixed rules of its `tuned` component, by number of ranks and size.
//!
//! Sizes are those of the whole vector for bcast, reduce, allreduce and reduce-scatter, and of a rank's block
//! for all other operations. Gatherv, scatterv, scan and exscan are linear.
//!
//! If Open MPI has an algorithm that is missing here, the closest one replaces it. `split_binary_tree` becomes
//! `binary`, `butterfly` becomes `recursive-halving`. `linear_sync` of an alltoall (which waits for nothing by default)
//! and `two_proc` become `linear`, and the segmented ring (without segments by default) becomes `ring`.
//!
//! Open MPI's binomial trees join ranks whose numbers differ in the highest set bit instead of the lowest. Its in-order
//! tree is rooted at the last rank instead of the middle one. The numbers of messages and levels are the same. As in
//! Open MPI, a ring with fewer elements than ranks becomes recursive doubling, and Rabenseifner's algorithm with fewer
//! elements than members becomes linear. The algorithms of `han` and `sm` among the ranks of one node are left out.
//!
//! Source: <https://github.com/open-mpi/ompi>, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c` (4.1 and
//! 5.0).

use super::super::algorithm::{Algorithm, Plan};
use super::super::call::{Call, Operation};
use super::open_mpi_tables::{self as tables, Table};

/// Returns the plan that Open MPI would choose.
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
    // Open MPI uses two chains for reductions.
    let fan = if call.collective == Operation::Reduce { 2 } else { 4 };
    // Its algorithms themselves fall back to another one if there are too few elements.
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
