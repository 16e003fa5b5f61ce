//! The `hayase` program: everything is in [`hayase_cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    hayase_cli::main()
}
