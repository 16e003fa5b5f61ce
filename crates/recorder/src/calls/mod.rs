//! Bodies of the recorded calls: one file for each family.
//!
//! A body is an `unsafe extern "C" fn` with the arguments of the C function and the origin of the call as the
//! last one ([`entry`](crate::entry)). Nearly all bodies have one form, which `calls!` generates.

mod collective_blocks;
mod collectives;
mod communicators;
mod completion;
mod environment;
mod neighbours;
mod opaque;
mod persistent;
mod point_to_point;
mod probes;
mod regions;

/// Returns the recorder, or passes the call straight to MPI and returns from the body.
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
        // SAFETY: the arguments are the program's, or room that is as large as MPI needs.
        $recorder.call(|mpi| unsafe { (mpi.$function)($($argument),*) })
    };
}

/// Defines the body of a call and its exported symbols. Arguments: the kind of its event, its name in MPI,
/// its function, its arguments ([`hayase_mpi::argument`]), its statements.
macro_rules! call {
    ($call:ident $symbol:ident $name:ident($($argument:ident $(: $own:ty)?),*) |$recorder:ident| $done:block) => {
        const _: () = {
            /// # Safety
            /// As MPI has it.
            #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
            #[allow(unused_unsafe, reason = "not all look at memory of the program")]
            unsafe extern "C" fn body($($argument: hayase_mpi::argument!($argument $(: $own)?),)* site: usize) -> c_int {
                let $recorder = $crate::calls::enter!(Call::$call, site, else $name($($argument),*));
                $done
            }
            $crate::entry::export!(stringify!($symbol), <[&str]>::len(&[$(stringify!($argument)),*]), body);
        };
    };
}

/// Defines calls of the common form. After the head of a [`call!`] follow:
///
/// * a block that describes the call before MPI executes it; its variables are visible to the blocks below, and may
///   stand in for arguments;
/// * `turn`: the way to make the call with the token, for calls that block;
/// * `done`: statements that record the results; a call that failed is not recorded;
/// * `=>`: the way to return, for calls that are not always recorded.
///
/// In the last three, arguments are the program's, and MPI has written its results.
macro_rules! calls {
    ($($call:ident $symbol:ident $name:ident($($argument:ident $(: $own:ty)?),*) |$recorder:ident| { $($say:tt)* }
        $(turn $turn:block)? $(done $done:block)? $(=> $leave:expr)?;)*) => {$(
        $crate::calls::call! {
            $call $symbol $name($($argument $(: $own)?),*) |$recorder| {
                $($say)*
                let result = $crate::calls::calls!(@pass $recorder $name($($argument),*) $($turn)?);
                if result != hayase_mpi::SUCCESS {
                    return $recorder.abandon(result);
                }
                $(
                    // SAFETY: arguments are the program's; MPI has written what it returns.
                    unsafe { $done };
                )?
                $crate::calls::calls!(@leave $recorder $($leave)?)
            }
        }
    )*};
    (@pass $recorder:ident $name:ident($($argument:ident),*)) => {
        $crate::calls::pass_on!($recorder.$name($($argument),*))
    };
    (@pass $recorder:ident $name:ident($($argument:ident),*) $turn:block) => {
        if $recorder.token.is_some() {
            // SAFETY: arguments are the program's, statuses the program's or our own.
            unsafe { $turn }
        } else {
            $crate::calls::pass_on!($recorder.$name($($argument),*))
        }
    };
    (@leave $recorder:ident) => {
        $recorder.leave(hayase_mpi::SUCCESS)
    };
    (@leave $recorder:ident $leave:expr) => {
        // SAFETY: MPI has written what it returns.
        unsafe { $leave }
    };
}

pub(crate) use {call, calls, enter, pass_on};
