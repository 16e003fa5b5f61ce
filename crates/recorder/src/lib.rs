//! The recorder: a library that is loaded before an MPI program (`LD_PRELOAD`) and writes down what it calls.
//!
//! The story of a call, `MPI_Send(...)`:
//!
//! 1. `entry`: the exported symbol hands the call on with the address that it returns to, as a last argument.
//!    [`path`] makes a call site of it, together with the callers above.
//! 2. [`calls`]: a body a call. It asks the recorder to [`enter`](recorder::enter): the clocks are read, and a blank
//!    event is there. A call from within MPI, of another thread, or of a program that nobody records goes straight to
//!    `PMPI_Send`.
//! 3. The body says what is special about the call, has `PMPI_Send` do it, and says what came out.
//! 4. [`recorder::Recorder::leave`]: the event goes to the trace, through [`recorder::queue`] where it waits for
//!    receives whose source and size are not known yet.
//!
//! Which MPI it is, is found out at run time (`hayase-mpi`): one binary for all. With the [`token`], ranks run one at a
//! time, so that the processor time of each is measured undisturbed however many they are. [`recorder::signals`] sees
//! to it that nothing is lost when the program does not end well.
//!
//! Fortran comes in through the C functions that its layer calls ([`fortran`]).

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
static OWN: allocator::Own = allocator::Own::new();
