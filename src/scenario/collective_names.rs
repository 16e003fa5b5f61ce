//! Named patterns for collectives: `allreduce-reduce-bcast`, `bcast-open-mpi` ...

use crate::collective::{Algorithm, Like, Operation};

/// Returns a name and a scenario text for each algorithm of each operation, and for the choice of each
/// library. Names that a file already has are left out.
pub fn named(is_taken: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let of_operation = |&operation: &Operation| {
        let size = size(operation);
        let algorithms = Algorithm::of(operation).iter().map(move |algorithm| {
            let what = format!("One {operation}, {algorithm}: {}", lower(algorithm.description()));
            text(operation, algorithm.name(), &what, "algorithm", size)
        });
        let rules = Like::ALL.iter().map(move |like| {
            let what =
                format!("One {operation} by the algorithm that the rules of {like} choose for its size and ranks.");
            text(operation, like.name(), &what, "like", size)
        });
        algorithms.chain(rules)
    };
    Operation::ALL.iter().flat_map(of_operation).filter(|(name, _)| !is_taken(name)).collect()
}

/// Returns the size of the vector or of a block, as in the patterns with files of their own.
fn size(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Barrier => None,
        Operation::Allgather | Operation::Allgatherv => Some("1 MB"),
        operation if operation.is_of_vectors() => Some("1 MB"),
        _ => Some("20 KB"),
    }
}

/// Returns a description such as `Along a tree` for use inside a sentence; names keep their capitals.
fn lower(words: &str) -> String {
    let (first, rest) = words.split_at(words.len().min(1));
    match words.starts_with("Bruck") {
        true => words.to_owned(),
        false => first.to_lowercase() + rest,
    }
}

fn text(operation: Operation, word: &str, what: &str, key: &str, size: Option<&str>) -> (String, String) {
    let size = size.map_or_else(String::new, |size| format!("size = \"{size}\"\n"));
    let text = format!(
        "# {what}\n# Source: docs/concepts/collectives.md.\n\n[workload.collective]\noperation = \
         \"{operation}\"\n{key} = \"{word}\"\n{size}"
    );
    (format!("{operation}-{word}"), text)
}
