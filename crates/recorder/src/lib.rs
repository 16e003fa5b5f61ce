//! The recorder: a library that is loaded before an MPI program (`LD_PRELOAD`) and records its MPI calls.
//!
//! The path of a call, `MPI_Send(...)`:
//!
//! 1. `entry`: the exported symbol passes on the call, with its return address as a last argument. [`path`] turns it
//!    into a call site, together with the callers above.
//! 2. [`calls`]: each call has a body. It asks the recorder to [`enter`](recorder::enter), which reads the clocks and
//!    prepares an empty event. A call from within MPI, from another thread, or of a program that is not recorded goes
//!    straight to `PMPI_Send`.
//! 3. The body describes the call, has `PMPI_Send` execute it, and records the results.
//! 4. [`recorder::Recorder::leave`]: the event goes to the trace, through [`recorder::queue`]. There it waits for
//!    receives whose source and size are not known yet.
//!
//! The MPI library is identified at run time (`hayase-mpi`): one binary for all. With the [`token`], ranks
//! run one at a time, so that the processor time of each is measured undisturbed, for any number of ranks.
//! [`recorder::signals`] saves the trace when the program does not end well.
//!
//! Calls of Fortran arrive through the C functions that its layer calls ([`fortran`]).

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod allocator;
pub mod calls;
mod clock;
pub mod entry;
mod floating;
pub mod fortran;
pub mod mpi;
pub mod path;
pub mod recorder;
mod shared;
pub mod token;

/// See [`allocator`].
#[global_allocator]
static ALLOCATOR: allocator::RecorderAllocator = allocator::RecorderAllocator::new();
