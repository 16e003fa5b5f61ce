//! MPI without its header: one binary that works with Open MPI and with MPICH and its relatives.
//!
//! MPI fixes the names and effects of functions, but not the type of a handle: an `int` in MPICH, a pointer
//! in Open MPI. Nor does it fix the layout of `MPI_Status` or the values of constants. A program is therefore
//! compiled for one MPI. This crate finds the library at run time ([`Library`]), knows its layouts and
//! constants ([`Abi`]) and calls its functions by name ([`Functions`]).
//!
//! A handle is passed as [`Handle`], as wide as a register. A callee that takes an `int` looks only at its
//! lower half, on every machine this runs on (64 bits, arguments in registers or in 8 bytes of stack). A
//! handle *from* a program must be cut to size first ([`Abi::handle`]), since the upper half of the register
//! may hold anything.
//!
//! [`arguments`] is the table of all functions with the memory that their arguments point to; [`Calls`]
//! evaluates it for a call that a program is about to make. [`objects`] lists all files that a process has
//! loaded.
//!
//! Supported: Open MPI 1.7 to 5, and the MPICH ABI initiative (MPICH 3.1 to 4, Intel MPI, MVAPICH2, Cray
//! MPICH).

#![cfg(target_os = "linux")]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("handles are passed in registers of 64 bits");

mod abi;
mod accesses;
pub mod arguments;
mod functions;
mod library;
pub mod objects;
mod status;

pub use abi::{Abi, Family, OPERATORS, Statuses};
pub use accesses::Calls;
pub use functions::{Functions, Handle};
pub use library::{Library, NotFound};
pub use status::{Status, StatusLayout};

/// `MPI_SUCCESS`, the same in all libraries.
pub const SUCCESS: std::ffi::c_int = 0;
