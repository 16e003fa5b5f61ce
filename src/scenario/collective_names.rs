//! Names of collectives as patterns: `allreduce-reduce-bcast`, `bcast-open-mpi` ...

use crate::collective::{Algorithm, Like, Operation};

/// A name and a text for each algorithm of each operation, and for what the rules of each library choose; but for those
/// names that a file has already.
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

/// The size of its vector or of a block, as in the patterns with files of their own.
fn size(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Barrier => None,
        Operation::Allgather | Operation::Allgatherv => Some("1 MB"),
        operation if operation.is_of_vectors() => Some("1 MB"),
        _ => Some("20 KB"),
    }
}

/// `Along a tree` inside a sentence; names stay as they are.
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
        "# {what}\n# Source: docs/models.md, \"Collectives as messages\".\n\n[workload.collective]\noperation = \
         \"{operation}\"\n{key} = \"{word}\"\n{size}"
    );
    (format!("{operation}-{word}"), text)
}
