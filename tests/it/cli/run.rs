//! Runs: results on standard output, files whole or not at all.
