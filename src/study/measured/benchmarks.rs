//! Output of benchmarks as rows: OSU micro-benchmarks, Intel MPI Benchmarks (IMB), nccl-tests.

use std::sync::Arc;

use super::rows::{ReadRow, wrong_shape};
use crate::diagnostic::{Diagnostic, Place};
use crate::report::MeasuredRow;

/// Facts about the output of a benchmark that it does not print.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkFacts {
    /// Name of the machine.
    pub system: Option<String>,
    /// Name of the algorithm (default: the library's choice).
    pub algorithm: Option<String>,
    /// Shape of the nodes, on machines whose fabric depends on it: `4x4x4`.
    pub shape: Option<String>,
    /// Number of nodes (default: that of ranks, where the output has it).
    pub nodes: Option<u32>,
    /// Operation, where the output does not name it.
    pub operation: Option<String>,
}

/// Program that printed a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Benchmark {
    Osu,
    Imb,
    Nccl,
}

impl Benchmark {
    fn of(text: &str) -> Option<Self> {
        let comments = || text.lines().map(str::trim).filter(|line| line.starts_with('#'));
        let has = |words: &[&str]| comments().any(|line| words.iter().all(|word| line.contains(word)));
        match () {
            () if has(&["OSU "]) => Some(Self::Osu),
            () if has(&["Benchmarking "]) || has(&["#bytes", "#repetitions"]) => Some(Self::Imb),
            () if has(&["algbw", "busbw"]) => Some(Self::Nccl),
            () => None,
        }
    }

    /// Positions of size and time in a line, and its least number of columns.
    fn columns(self, has_range: bool) -> (usize, usize, usize) {
        match self {
            Self::Osu => (0, 1, 2),
            // t_max, the time of the slowest rank; a ping-pong has one time.
            Self::Imb => (0, if has_range { 3 } else { 2 }, 4),
            // Out of place.
            Self::Nccl => (0, 5, 8),
        }
    }

    /// Returns true if sizes are those of the block of a pair of ranks.
    fn is_of_blocks(self, operation: &str) -> bool {
        self != Self::Nccl && matches!(operation, "alltoall" | "allgather" | "gather" | "scatter")
    }

    fn name(self) -> &'static str {
        match self {
            Self::Osu => "OSU micro-benchmarks",
            Self::Imb => "Intel MPI Benchmarks",
            Self::Nccl => "nccl-tests",
        }
    }
}

/// Words of headers, in lower case without punctuation, and their operations. A longer word comes first.
const OPERATIONS: [(&str, &str); 11] = [
    ("reducescatter", "reduce-scatter"),
    ("sendrecv", "sendrecv"),
    ("alltoall", "alltoall"),
    ("allgather", "allgather"),
    ("allreduce", "allreduce"),
    ("broadcast", "bcast"),
    ("bcast", "bcast"),
    ("scatter", "scatter"),
    ("gather", "gather"),
    ("reduce", "reduce"),
    ("pingpong", "ping-pong"),
];

/// Returns the operation that a comment names.
fn operation(comment: &str) -> Option<&'static str> {
    let plain: String = comment.chars().filter(char::is_ascii_alphabetic).collect();
    let plain = plain.to_ascii_lowercase();
    OPERATIONS.iter().find(|(word, _)| plain.contains(word)).map(|(_, operation)| *operation)
}

/// Reads the output of a benchmark; `None` if the text is none.
///
/// Sizes are converted to those of whole vectors. Those of OSU and IMB are of one block for all-to-all, all-gather,
/// gather and scatter, and of the vector for the other operations; those of nccl-tests are always of the vector. Times
/// in microseconds: the mean (OSU), the slowest rank (IMB, `t_max`), out of place (nccl-tests).
///
/// # Errors
/// Lines that are no rows, each with its place, and facts that are missing.
pub(super) fn read(
    file: &Arc<str>,
    text: &str,
    facts: &BenchmarkFacts,
) -> Option<Result<Vec<ReadRow>, Vec<Diagnostic>>> {
    let benchmark = Benchmark::of(text)?;
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    let (mut of_header, mut ranks, mut listed, mut has_range) = (None, None, 0, false);
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start().strip_prefix('#');
        if let Some(comment) = comment {
            let names = match benchmark {
                Benchmark::Osu => comment.contains("OSU "),
                Benchmark::Imb => comment.contains("Benchmarking "),
                Benchmark::Nccl => comment.contains("_perf"),
            };
            of_header = operation(comment).filter(|_| names).or(of_header);
            let processes = comment.split_once("#processes =").map(|(_, count)| count.trim());
            ranks = processes.and_then(|count| count.split_whitespace().next()?.parse().ok()).or(ranks);
            listed += u32::from(benchmark == Benchmark::Nccl && comment.trim_start().starts_with("Rank "));
            has_range = if comment.contains("bytes") { comment.contains("t_max") } else { has_range };
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let (size, time, least) = benchmark.columns(has_range);
        if !words.first().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_digit() || first == '-')) {
            continue;
        }
        let mut wrong = |at: usize, message: String, help: &str| {
            let word = words.get(at).copied().unwrap_or(line);
            let column = word.as_ptr() as usize - line.as_ptr() as usize + 1;
            let (text, length) = (line.to_owned(), word.chars().count());
            let place = Place { file: file.to_string(), line: number, column, text, length };
            mistakes.push(Diagnostic::new("wrong-value", message).at_place(place).help(help));
        };
        if words.len() < least {
            wrong(0, format!("a line of {} with {} columns", benchmark.name(), words.len()), "a size and its times");
            continue;
        }
        let bytes: Option<u64> = words[size].parse().ok();
        let micros: Option<f64> = words[time].parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0);
        if bytes.is_none() {
            wrong(size, format!("\"{}\" is no size in bytes", words[size]), "sizes are whole numbers");
        }
        if micros.is_none() {
            wrong(time, format!("\"{}\" is no measured time", words[time]), "times are above 0, in microseconds");
        }
        let operation = facts.operation.as_deref().or(of_header);
        let ranks = ranks.or((listed > 0).then_some(listed)).or(facts.nodes);
        let (Some(operation), Some(ranks)) = (operation, ranks) else {
            let (what, option) = if operation.is_none() { ("operation", "--operation") } else { ("ranks", "--nodes") };
            wrong(0, format!("a line of {} whose {what} are not known", benchmark.name()), &format!("give {option}"));
            break;
        };
        let nodes = facts.nodes.unwrap_or(ranks);
        if let Some(message) = facts.shape.as_deref().and_then(|shape| wrong_shape(shape, nodes.into())) {
            wrong(0, message, "give --shape the lengths of a grid, like 4x4x4");
            break;
        }
        let (Some(bytes), Some(micros)) = (bytes, micros) else { continue };
        let blocks = if benchmark.is_of_blocks(operation) { u64::from(ranks) } else { 1 };
        let row = MeasuredRow {
            system: facts.system.clone().unwrap_or_default(),
            operation: operation.to_owned(),
            algorithm: facts.algorithm.clone().unwrap_or_else(|| "library default".to_owned()),
            nodes,
            shape: facts.shape.clone().unwrap_or_default(),
            ranks,
            size_bytes: bytes.saturating_mul(blocks),
            time_s: micros * 1e-6,
            source: benchmark.name().to_owned(),
            ..MeasuredRow::default()
        };
        rows.push(ReadRow { row, element: 1, file: Arc::clone(file), line: number as u64 });
    }
    if facts.system.is_none() {
        let message = format!("`{file}` is output of {}, which does not name the machine", benchmark.name());
        mistakes.push(Diagnostic::new("missing-option", message).help("add --system NAME, and --algorithm NAME"));
    }
    if rows.is_empty() && mistakes.is_empty() {
        mistakes.push(Diagnostic::new("no-rows", format!("`{file}` is output of {} without times", benchmark.name())));
    }
    Some(if mistakes.is_empty() { Ok(rows) } else { Err(mistakes) })
}
