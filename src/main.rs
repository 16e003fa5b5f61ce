//! The `hayase` program: everything is in [`hayase::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    hayase::cli::main()
}
