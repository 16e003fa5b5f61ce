//! What is done for each call: one file a family.
//!
//! A body is an `unsafe extern "C" fn` with the arguments that C has, and then where the call came from
//! ([`entry`](crate::entry)). Bodies are public, so that a wrapper of another language, once it has converted its
//! handles, does the same.

mod collective_blocks;
pub mod collectives;
pub mod communicators;
pub mod completion;
pub mod environment;
pub mod neighbours;
pub mod opaque;
pub mod persistent;
pub mod point_to_point;
pub mod probes;
pub mod regions;

/// The recorder, or else the call goes straight to MPI and returns.
macro_rules! enter {
    ($call:expr, $site:expr, else $function:ident($($argument:expr),*)) => {
        // SAFETY: the reference lives as long as this call, which does not enter the recorder again; arguments are the
        // program's.
        match unsafe { $crate::recorder::enter($call, $site) } {
            Some(recorder) => recorder,
            // SAFETY: arguments are the program's.
            None => return unsafe { ($crate::mpi::functions().$function)($($argument),*) },
        }
    };
}

/// Lets MPI do the call, with the program's own arguments.
macro_rules! pass_on {
    ($recorder:ident.$function:ident($($argument:expr),*)) => {
        $recorder.call(|mpi| {
            #[allow(unused_unsafe, reason = "some callers are in an unsafe block already")]
            // SAFETY: the arguments are the program's, or room that is as large as MPI needs.
            let result = unsafe { (mpi.$function)($($argument),*) };
            result
        })
    };
}

pub(crate) use {enter, pass_on};
