//! Command line inside the wheel.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these words (without its name) and returns its exit code. `program` are the words
/// that start it again.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| hayase_cli::main_of_another(words, program))
}
