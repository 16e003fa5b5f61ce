//! Rules of MPICH, with the defaults of its tuning variables (`MPIR_CVAR_..._MSG_SIZE`).
//!
//! | collective | rule, P ranks, n bytes |
//! |---|---|
//! | barrier | dissemination |
//! | bcast | binomial for n < 12,288 or P < 8 |
//! | | else scatter-allgather for n < 524,288 and P a power of two |
//! | | else scatter-ring |
//! | reduce | binomial for n <= 2048 or fewer elements than the largest power of two in P; else rabenseifner |
//! | allreduce | recursive-doubling for n <= 2048 or as few elements; else rabenseifner |
//! | gather, scatter | binomial; with different blocks linear-nonblocking |
//! | allgather, allgatherv | recursive-doubling for a total size below 524,288 and P a power of two |
//! | | else bruck for a total size below 81,920 |
//! | | else ring |
//! | alltoall | bruck for blocks of at most 256 and P >= 8; scattered for at most 32,768; else pairwise |
//! | alltoallv | scattered |
//! | reduce-scatter, the operator commutes | recursive-halving for a total size below 524,288; else pairwise |
//! | reduce-scatter, it does not | interleaved for P a power of two and equal blocks; else recursive-doubling |
//! | scan, exscan | recursive-doubling |
//!
//! An operator that does not commute is assumed to be defined by the user; MPICH does not choose rabenseifner
//! for these. Special algorithms of MPICH among the ranks of one node (`smp` algorithms) are left out.
//!
//! Source: <https://github.com/pmodels/mpich>, `src/mpi/coll` (the descriptions of the variables) and
//! `src/mpi/coll/coll_selection.json`; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.

use super::super::algorithm::{Algorithm as A, Plan};
use super::super::call::{Call, Operation};

/// Returns the plan that MPICH would choose.
pub fn plan(call: &Call) -> Plan {
    let (ranks, total, mean) = (call.ranks.max(1), call.total(), call.mean());
    let is_power = ranks.is_power_of_two();
    let few = mean / call.element < 1 << ranks.ilog2();
    let algorithm = match call.collective {
        Operation::Barrier => A::Dissemination,
        Operation::Bcast if mean < 12_288 || ranks < 8 => A::Binomial,
        Operation::Bcast if mean < 524_288 && is_power => A::ScatterAllgather,
        Operation::Bcast => A::ScatterRing,
        Operation::Reduce if mean <= 2048 || few || !call.commutative => A::Binomial,
        Operation::Allreduce if mean <= 2048 || few || !call.commutative => A::RecursiveDoubling,
        Operation::Reduce | Operation::Allreduce => A::Rabenseifner,
        Operation::Gather | Operation::Scatter => A::Binomial,
        Operation::Gatherv | Operation::Scatterv => A::LinearNonblocking,
        Operation::Allgather | Operation::Allgatherv if is_power && total < 524_288 => A::RecursiveDoubling,
        Operation::Allgather | Operation::Allgatherv if !is_power && total < 81_920 => A::Bruck,
        Operation::Allgather | Operation::Allgatherv => A::Ring,
        Operation::Alltoall if mean <= 256 && ranks >= 8 => A::Bruck,
        Operation::Alltoall if mean <= 32_768 => A::Scattered,
        Operation::Alltoall => A::Pairwise,
        Operation::Alltoallv => A::Scattered,
        Operation::ReduceScatter if !call.commutative => A::RecursiveDoubling,
        Operation::ReduceScatterBlock if !call.commutative => A::Interleaved,
        Operation::ReduceScatter | Operation::ReduceScatterBlock if total < 524_288 => A::RecursiveHalving,
        Operation::ReduceScatter | Operation::ReduceScatterBlock => A::Pairwise,
        Operation::Scan | Operation::Exscan => A::RecursiveDoubling,
    };
    Plan::plain(algorithm).feasible(call)
}
