//! Settings with which an MPI library uses a certain algorithm for a collective operation.
//!
//! Source: `ompi_info --all` of Open MPI 4.1.4 (component `tuned`) and the values that MPICH 4.0.2 accepts;
//! it aborts on others.

use hayase::program::collectives::{Algorithm as A, Operation as O};

/// Returns the settings, a line for each library that has one.
pub(super) fn settings(operation: O, algorithm: A) -> Vec<String> {
    let name = operation.name().replace('-', "_");
    let open_mpi = open_mpi(operation, algorithm).map(|number| {
        format!("Open MPI 4.1: --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_{name}_algorithm {number}")
    });
    let mpich = mpich(operation, algorithm)
        .map(|value| format!("MPICH 4.0: MPIR_CVAR_{}_INTRA_ALGORITHM={value}", name.to_uppercase()));
    let known: Vec<String> = open_mpi.into_iter().chain(mpich).collect();
    match known.is_empty() {
        true => vec!["neither Open MPI 4.1 nor MPICH 4.0 can be told to use it".to_owned()],
        false => known,
    }
}

/// True if a library has a setting for the algorithm.
pub(super) fn is_setting(operation: O, algorithm: A) -> bool {
    open_mpi(operation, algorithm).is_some() || mpich(operation, algorithm).is_some()
}

/// Returns the number of the algorithm in Open MPI's component `tuned`. Its pairwise algorithm sends to the
/// rank p further on in step p.
fn open_mpi(operation: O, algorithm: A) -> Option<u8> {
    Some(match (operation, algorithm) {
        (O::Allreduce | O::Bcast | O::Reduce | O::Gather | O::Scatter, A::Linear) => 1,
        (O::Allgather | O::Alltoall | O::Alltoallv | O::Barrier | O::Scan | O::Exscan, A::Linear) => 1,
        (O::Allreduce, A::ReduceBcast) => 2,
        (O::Allreduce, A::RecursiveDoubling) => 3,
        (O::Allreduce, A::Ring) => 4,
        (O::Allreduce, A::Rabenseifner) => 6,
        (O::Bcast | O::Reduce, A::Chain) => 2,
        (O::Bcast | O::Reduce, A::Pipeline) => 3,
        (O::Bcast, A::Binary) => 5,
        (O::Bcast, A::Binomial) => 6,
        (O::Bcast, A::Knomial) => 7,
        (O::Bcast, A::ScatterAllgather) => 8,
        (O::Bcast, A::ScatterRing) => 9,
        (O::Reduce, A::Binary) => 4,
        (O::Reduce, A::Binomial) => 5,
        (O::Reduce, A::InOrderBinary) => 6,
        (O::Reduce, A::Rabenseifner) => 7,
        (O::Gather | O::Scatter, A::Binomial) => 2,
        (O::Gather, A::LinearSync) => 3,
        (O::Scatter, A::LinearNonblocking) => 3,
        (O::Allgather | O::Allgatherv, A::Bruck) => 2,
        (O::Allgather, A::RecursiveDoubling) => 3,
        (O::Allgather, A::Ring) => 4,
        (O::Allgather, A::NeighborExchange) => 5,
        (O::Allgatherv, A::Ring) => 3,
        (O::Allgatherv, A::NeighborExchange) => 4,
        (O::Alltoall | O::Alltoallv, A::SimpleSpread) => 2,
        (O::Alltoall, A::Bruck) => 3,
        (O::Barrier, A::Ring) => 2,
        (O::Barrier, A::RecursiveDoubling) => 3,
        (O::Barrier, A::Bruck) => 4,
        (O::ReduceScatter, A::ReduceThenScatter) => 1,
        (O::ReduceScatter, A::RecursiveHalving) => 2,
        (O::ReduceScatter, A::Ring) => 3,
        (O::ReduceScatterBlock, A::RecursiveDoubling) => 2,
        (O::ReduceScatterBlock, A::RecursiveHalving) => 3,
        (O::Scan | O::Exscan, A::RecursiveDoubling) => 2,
        _ => return None,
    })
}

/// Returns the name of the algorithm in MPICH's variable.
fn mpich(operation: O, algorithm: A) -> Option<&'static str> {
    Some(match (operation, algorithm) {
        (O::Allreduce | O::Allgather | O::Allgatherv | O::Scan | O::Exscan, A::RecursiveDoubling) => {
            "recursive_doubling"
        }
        (O::ReduceScatter | O::ReduceScatterBlock, A::RecursiveDoubling) => "recursive_doubling",
        (O::Allreduce, A::Rabenseifner) => "reduce_scatter_allgather",
        (O::Bcast | O::Reduce | O::Gather | O::Scatter, A::Binomial) => "binomial",
        (O::Bcast, A::ScatterAllgather) => "scatter_recursive_doubling_allgather",
        (O::Bcast, A::ScatterRing) => "scatter_ring_allgather",
        (O::Reduce, A::Rabenseifner) => "reduce_scatter_gather",
        (O::Gatherv | O::Scatterv, A::Linear) => "linear",
        (O::Allgather | O::Allgatherv | O::Alltoall, A::Bruck) => "brucks",
        (O::Allgather | O::Allgatherv, A::Ring) => "ring",
        (O::Alltoall, A::Pairwise) => "pairwise",
        (O::Alltoall | O::Alltoallv, A::Scattered) => "scattered",
        (O::ReduceScatter | O::ReduceScatterBlock, A::RecursiveHalving) => "recursive_halving",
        (O::ReduceScatter | O::ReduceScatterBlock, A::Pairwise) => "pairwise",
        (O::ReduceScatterBlock, A::Interleaved) => "noncommutative",
        (O::Barrier, A::Dissemination) => "dissemination",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_library_cannot_do_is_not_asked_of_it() {
        assert_eq!(
            settings(O::Allreduce, A::Ring),
            ["Open MPI 4.1: --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4"]
        );
        assert_eq!(settings(O::ReduceScatterBlock, A::RecursiveHalving).len(), 2);
        assert!(
            settings(O::ReduceScatterBlock, A::Pairwise)[0].starts_with("MPICH 4.0: MPIR_CVAR_REDUCE_SCATTER_BLOCK_")
        );
        assert_eq!(settings(O::Scatterv, A::LinearNonblocking).len(), 1);
    }

    #[test]
    fn no_library_has_one_number_for_two_algorithms() {
        for &operation in O::ALL {
            let mut numbers: Vec<u8> =
                A::of(operation).iter().filter_map(|&algorithm| open_mpi(operation, algorithm)).collect();
            let count = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), count, "{}", operation.name());
        }
    }
}
