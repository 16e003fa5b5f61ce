//! The table of algorithms: names in libraries, and the pattern or the reason for each.

use crate::collective::{Algorithm, Call, Operation, Plan};

/// Algorithm of a library, as this program plays it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Played {
    /// A collective: its algorithm, and further keys of `[workload.collective]`.
    Collective(Algorithm, &'static str),
    /// An all-to-all: algorithm and injection.
    AllToAll(&'static str, &'static str),
    /// None, for this reason.
    Not(&'static str),
}

use Algorithm as A;
use Played::{AllToAll, Collective, Not};

const DEFAULT: Played = Not("the library chooses the algorithm");
const INNER: Played = Not("the library chooses the algorithms inside");
const PRIVATE: Played = Not("the algorithm has no public definition");
const MISSING: Played = Not("this program has no such algorithm");
const OPEN: Played = Not("a parameter of the algorithm is not published");
/// Algorithm in one piece, whatever its usual segments are.
const WHOLE: &str = "segment-size = \"1 TB\"\n";

/// Operations, names of an algorithm in libraries, and the algorithm here.
///
/// Sources: Open MPI 4.1 (`ompi/mca/coll/base`: names, definitions; unsegmented trees, chains of 4 and radix 4 are
/// the defaults of `coll/tuned`), on which Fujitsu MPI 4.0 is based; MPICH 4 (`src/mpi/coll`) for Cray MPICH; PICO
/// for algorithms of its own. `linear-sync` of an all-to-all limits nothing by default. An allgather by `linear` has a
/// broadcast of the library's choice.
const TABLE: &[(&str, &[&str], Played)] = &[
    ("alltoall", &["linear", "basic-linear", "linear-sync"], AllToAll("linear", "all")),
    ("alltoall", &["pairwise"], AllToAll("simple-spread", "sendrecv")),
    ("alltoall", &["modified-bruck"], Collective(A::Bruck, "")),
    ("alltoall", &["crp", "doublespread", "blacc3d", "blacc6d"], PRIVATE),
    ("allgather", &["linear", "basic-linear"], INNER),
    ("allgather alltoall", &["bruck", "brucks"], Collective(A::Bruck, "")),
    ("allgather allreduce reduce-scatter", &["ring"], Collective(A::Ring, "")),
    ("allgather allreduce reduce-scatter", &["recursive-doubling"], Collective(A::RecursiveDoubling, "")),
    ("allgather", &["neighbor"], Collective(A::NeighborExchange, "")),
    ("allgather", &["k-bruck"], OPEN),
    ("allgather", &["sparbit"], Collective(A::Sparbit, "")),
    ("allgather", &["3dtorus", "3dtorus-sm", "gtbc"], PRIVATE),
    ("allreduce", &["basic-linear"], Collective(A::Linear, "")),
    ("allreduce reduce", &["rabenseifner"], Collective(A::Rabenseifner, "")),
    ("allreduce", &["segmented-ring", "ring-segmented"], MISSING),
    ("allreduce", &["nonoverlapping", "allgather-reduce"], INNER),
    ("allreduce", &["rdbc", "trix3", "trix6", "collnet", "nvlstree", "tree", "hier-bw-mpi"], PRIVATE),
    ("bcast reduce", &["linear", "basic-linear"], Collective(A::Linear, WHOLE)),
    ("bcast reduce", &["binomial"], Collective(A::Binomial, WHOLE)),
    ("bcast reduce", &["knomial"], Collective(A::Knomial, WHOLE)),
    ("bcast reduce", &["binary", "binary-tree"], Collective(A::Binary, WHOLE)),
    ("bcast reduce", &["chain"], Collective(A::Chain, WHOLE)),
    ("bcast reduce", &["pipeline"], Collective(A::Pipeline, WHOLE)),
    ("bcast", &["scatter-allgather"], Collective(A::ScatterAllgather, "")),
    ("bcast", &["scatter-allgather-ring"], Collective(A::ScatterRing, "")),
    ("bcast", &["split-binary", "split-binary-tree"], MISSING),
    ("bcast reduce", &["bintree3d", "bintree6d", "trinaryx3", "trinaryx6"], PRIVATE),
    ("reduce", &["in-order", "in-order-binary"], Collective(A::InOrderBinary, WHOLE)),
    ("reduce-scatter", &["recursive-halving"], Collective(A::RecursiveHalving, "")),
    ("reduce-scatter", &["pairwise"], Collective(A::Pairwise, "")),
    ("reduce-scatter", &["non-overlapping"], INNER),
    ("reduce-scatter", &["recursive-distance-doubling"], MISSING),
    ("gather scatter", &["linear", "basic-linear"], Collective(A::Linear, "")),
    ("gather scatter", &["binomial"], Collective(A::Binomial, "")),
    ("gather", &["linear-sync", "linear-synch"], Collective(A::LinearSync, "")),
    ("gather", &["simple"], PRIVATE),
    ("scatter", &["linear-nb"], Collective(A::LinearNonblocking, "")),
    ("scatter", &["use-bcast"], INNER),
    ("ping-pong", &["blocking send and receive"], Not("a ping-pong calibrates the ends of messages")),
];

/// Returns the algorithm here for the name of one in a library.
///
/// # Errors
/// The operation or the algorithm is in no table.
pub(super) fn played(operation: &str, algorithm: &str) -> Result<Played, String> {
    let mut of_operation = TABLE.iter().filter(|(of, ..)| of.split(' ').any(|known| known == operation)).peekable();
    if of_operation.peek().is_none() {
        return Err(format!("unknown operation `{operation}`"));
    }
    match of_operation.find(|(_, names, _)| names.contains(&algorithm)) {
        Some((.., played)) => Ok(*played),
        None if algorithm == "library default" => Ok(DEFAULT),
        None if algorithm == "non-blocking" => Ok(INNER),
        None => Err(format!("unknown algorithm `{algorithm}` of {operation}")),
    }
}

/// Returns true if the operation combines operands.
pub(super) fn combines(operation: &str) -> bool {
    matches!(operation, "allreduce" | "reduce" | "reduce-scatter")
}

/// Returns the text of a workload of a vector over `ranks` ranks, and its number of messages, roughly. `vector`: its
/// size and that of an element \[B\].
///
/// # Errors
/// The reason why there is none.
pub(super) fn workload(
    operation: &str,
    algorithm: &str,
    ranks: u32,
    vector: (u64, u64),
) -> Result<(String, u64), String> {
    let (bytes, element) = vector;
    let played = played(operation, algorithm)?;
    if ranks < 2 && !matches!(played, Not(_)) {
        return Err("one rank sends nothing".to_owned());
    }
    let size =
        || if matches!(operation, "allreduce" | "reduce" | "bcast") { Ok(bytes) } else { block(bytes, element, ranks) };
    let pairs = u64::from(ranks) * u64::from(ranks.saturating_sub(1));
    Ok(match played {
        AllToAll(algorithm, injection) => {
            let (text, size) = ("[workload.all-to-all]\nalgorithm = ", size()?);
            (
                format!("{text}\"{algorithm}\"\ninjection = \"{injection}\"\nsize = \"{size} B\"\nranks = {ranks}\n"),
                pairs,
            )
        }
        Collective(algorithm, keys) => {
            // As libraries do: an allgather by recursive doubling needs a power of two of ranks, else it is Bruck's;
            // one by neighbours needs an even number, else it is a ring.
            let algorithm = match operation {
                "allgather" => Plan::of(&Call::equal(Operation::Allgather, ranks, 1), algorithm).algorithm,
                _ => algorithm,
            };
            let messages = match algorithm {
                A::Ring | A::ScatterRing | A::Pairwise => pairs * if operation == "allreduce" { 2 } else { 1 },
                A::NeighborExchange => pairs / 2,
                A::Bruck | A::RecursiveDoubling | A::RecursiveHalving | A::Rabenseifner | A::ScatterAllgather => {
                    2 * u64::from(ranks) * u64::from(ranks.ilog2() + 1)
                }
                _ => 2 * u64::from(ranks),
            };
            let text = format!("[workload.collective]\noperation = \"{operation}\"\nalgorithm = \"{algorithm}\"\n");
            (format!("{text}{keys}size = \"{} B\"\nranks = {ranks}\n", size()?), messages)
        }
        Not(reason) => return Err(reason.to_owned()),
    })
}

/// Returns the size of the block of a rank \[B\], in whole elements.
fn block(bytes: u64, element: u64, ranks: u32) -> Result<u64, String> {
    let ranks = u64::from(ranks);
    let block = bytes / ranks / element * element;
    // Blocks of almost the same size are predicted.
    if 100 * (bytes - block * ranks) > bytes {
        return Err(format!("blocks are no whole elements of {element} bytes"));
    }
    Ok(block)
}

/// Returns all names in the table.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |names: &'static [&str], operation| names.iter().map(move |name| (operation, *name));
    TABLE.iter().flat_map(move |(of_all, names, _)| of_all.split(' ').flat_map(move |operation| of(names, operation)))
}
