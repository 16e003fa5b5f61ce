//! Calls at the begin and end of the program.

use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

use hayase_mpi::SUCCESS;
use hayase_trace::Call;

use super::call;
use crate::entry::export;
use crate::recorder::{after_init, finish};
use crate::{clock, fortran, mpi};

export!("Init", 2, init);
export!("Init_thread", 4, init_thread);

/// `MPI_Init`.
///
/// # Safety
/// As MPI has it.
unsafe extern "C" fn init(count: *mut c_int, words: *mut *mut *mut c_char, site: usize) -> c_int {
    // SAFETY: `site` is this body's last argument.
    let (begin, caller) = (clock::monotonic(), unsafe { fortran::caller(site) });
    // SAFETY: arguments are the program's.
    let result = unsafe { (mpi::functions().init)(count, words) };
    if result == SUCCESS {
        after_init(begin, caller);
    }
    result
}

/// `MPI_Init_thread`.
///
/// # Safety
/// As MPI has it.
unsafe extern "C" fn init_thread(
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
        after_init(begin, caller);
    }
    result
}

call! {
    // The trace ends before MPI does.
    Finalize Finalize finalize() |recorder| {
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
}

call! {
    // Does not return, so everything is written before.
    Abort Abort abort(comm, errorcode) |recorder| {
        recorder.event.tag = errorcode;
        recorder.leave(SUCCESS);
        finish(recorder, &format!("MPI_Abort({errorcode})"));
        // SAFETY: arguments are the program's.
        unsafe { (mpi::functions().abort)(comm, errorcode) }
    }
}

/// `_exit`: ends the process without calling exit handlers.
///
/// # Safety
/// As C has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    crate::recorder::at_process_end();
    // SAFETY: ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
    std::sync::atomic::fence(Ordering::SeqCst);
    loop {
        std::hint::spin_loop();
    }
}

/// `_Exit`: another name of `_exit`.
///
/// # Safety
/// As C has it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "it is the name of C")]
pub unsafe extern "C" fn _Exit(code: c_int) -> ! {
    // SAFETY: the same function.
    unsafe { _exit(code) }
}
