//! Columns of all tables of runs, comparisons and predictions, one list for each type of row. CSV, printed
//! tables and arrays of Python are made from these lists, so a new column is one line here.

/// Meanings of columns, one a line: `name: meaning`, or `table/name: meaning` where tables differ.
pub const MEANINGS: &str = include_str!("meanings.txt");

mod jobs;
mod runs;
mod studies;

pub use jobs::{JobMessage, compared_jobs, interference, job_links, job_messages, jobs, nodes};
pub use runs::{activities, links, matrix, messages, noise, path, ranks, ranks_with_late, rates, transfers};
pub use studies::{
    accuracy, benchmark, comparison, measured, nccl, operation, other_values, points, predictions, whatif,
};
