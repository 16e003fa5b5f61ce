//! Recording MPI programs: the library that is loaded into them, what it needs to get there, and what it brings back.
//!
//! The recorder is a shared object (`crates/recorder`) that is part of this program: [`library`] puts it where the
//! loader of a process can take it. [`launch`] makes a command of the user's, with the environment that reaches every
//! rank; where nothing was recorded, [`executable`] looks at the program and says why. A recording is a folder
//! ([`folder`]): a stream a rank, the memory map of each process, and `run.toml`, which says what was run where.
//! [`instrument`] changes the arguments of a compiler so that programs tell which memory they access.
//! [`sites`] turns the addresses of calls into files and lines; [`caught`] counts what there is.
//!
//! Source: MPIETE, section 3 (a program is executed once with its calls intercepted; what was recorded is used again).

pub mod caught;
pub mod executable;
pub mod folder;
pub mod header;
pub mod instrument;
pub mod launch;
pub mod library;
pub mod sites;
