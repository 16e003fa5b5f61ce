//! The program begins and ends.

use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

use hayase_mpi::{Handle, SUCCESS};
use hayase_trace::Call;

use super::enter;
use crate::entry::export;
use crate::recorder::{finish, initialised};
use crate::{clock, fortran, mpi};

export! {
    MPI_Init 2 init;
    MPI_Init_thread 4 init_thread;
    MPI_Finalize 0 finalize;
    MPI_Abort 2 abort;
}

/// `MPI_Init`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn init(count: *mut c_int, words: *mut *mut *mut c_char, site: usize) -> c_int {
    // SAFETY: `site` is this body's last argument.
    let (begin, caller) = (clock::monotonic(), unsafe { fortran::caller(site) });
    // SAFETY: arguments are the program's.
    let result = unsafe { (mpi::functions().init)(count, words) };
    if result == SUCCESS {
        initialised(begin, caller);
    }
    result
}

/// `MPI_Init_thread`.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn init_thread(
    count: *mut c_int,
    words: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
    site: usize,
) -> c_int {
    // SAFETY: `site` is this body's last argument.
    let (begin, caller) = (clock::monotonic(), unsafe { fortran::caller(site) });
    // SAFETY: arguments are the program's.
    let result = unsafe { (mpi::functions().init_thread)(count, words, required, provided) };
    if result == SUCCESS {
        initialised(begin, caller);
    }
    result
}

/// `MPI_Finalize`: the trace ends before MPI does.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn finalize(site: usize) -> c_int {
    let recorder = enter!(Call::Finalize, site, else finalize());
    if let Some(token) = recorder.token.as_ref() {
        token.done();
    }
    recorder.leave(SUCCESS);
    finish(recorder, "");
    // SAFETY: it has no arguments.
    let result = unsafe { (mpi::functions().finalize)() };
    recorder.clean_up();
    result
}

/// `MPI_Abort`: does not return, so all is written before.
///
/// # Safety
/// As MPI has it.
pub unsafe extern "C" fn abort(comm: Handle, code: c_int, site: usize) -> c_int {
    let recorder = enter!(Call::Abort, site, else abort(comm, code));
    recorder.event.tag = code;
    recorder.leave(SUCCESS);
    finish(recorder, &format!("MPI_Abort({code})"));
    // SAFETY: arguments are the program's.
    unsafe { (mpi::functions().abort)(comm, code) }
}

/// `_exit`: ends the process without anybody being asked.
///
/// # Safety
/// As C has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    crate::recorder::exits();
    // SAFETY: ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
    std::sync::atomic::fence(Ordering::SeqCst);
    loop {
        std::hint::spin_loop();
    }
}

/// `_Exit`, the same by its other name.
///
/// # Safety
/// As C has it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "it is the name of C")]
pub unsafe extern "C" fn _Exit(code: c_int) -> ! {
    // SAFETY: the same function.
    unsafe { _exit(code) }
}
