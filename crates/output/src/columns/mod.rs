//! Columns of all tables of runs, comparisons and predictions, by what their rows are. CSV, tables for people and
//! arrays of Python are made of these lists: a new column is a line here.

mod jobs;
mod runs;
mod studies;

pub use jobs::{JobMessage, compared_jobs, interference, job_links, job_messages, jobs, nodes};
pub use runs::{activities, links, matrix, messages, noise, path, ranks, ranks_with_late, rates, transfers};
pub use studies::{accuracy, benchmark, comparison, points, predictions, whatif};
