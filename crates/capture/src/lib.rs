//! Recording of MPI programs: the library that is loaded into them, its preparation, and its results.
//!
//! The recorder is a shared object (`crates/recorder`) that is part of this program: [`library`] puts it
//! where the loader of a process can find it. [`launch`] prepares the user's command, with the environment
//! that reaches every rank. If nothing was recorded, [`executable`] looks at the program for the reason. A
//! recording is a folder ([`folder`]): a stream for each rank, the memory map of each process, and
//! `run.toml`, which describes the run. [`instrument`] changes the arguments of a compiler so that programs
//! report their memory accesses. [`sites`] turns the addresses of calls into files and lines; [`caught`]
//! counts the recorded data.
//!
//! Source: MPIETE, section 3 (a program is executed once with its calls intercepted; what was recorded is
//! used again).

#![cfg(target_os = "linux")]

pub mod caught;
pub mod executable;
pub mod folder;
pub mod header;
pub mod instrument;
pub mod launch;
pub mod library;
pub mod sites;
