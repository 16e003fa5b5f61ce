//! A fake MPI library with one rank, which may send to itself.
//!
//! It claims to be MPICH, so its handles are numbers. Messages are kept in a list. A request is its position
//! plus a base, except that all sends share one handle: as in MPICH, they are complete at once.
//!
//! With `FAKE_MPI_SIGNAL` set to a number, that signal is raised at the first `write` after a barrier.

#![crate_type = "cdylib"]
#![allow(non_snake_case, reason = "they are the names of MPI")]

use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

const INT: c_int = 0x4c00_0405;
const REQUEST_NULL: c_int = 0x2c00_0000;
const SEND_REQUEST: c_int = 0x6c00_0001;
const FIRST_REQUEST: c_int = 0x6c00_0100;
const ANY_TAG: c_int = -1;

/// Tags and sizes \[B\] of messages under way. `RECEIVES` holds the tag of each receive, by request.
static MESSAGES: Mutex<Vec<(c_int, usize)>> = Mutex::new(Vec::new());
static RECEIVES: Mutex<Vec<c_int>> = Mutex::new(Vec::new());

/// Signal to raise at the next `write`, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Get_library_version(version: *mut c_char, length: *mut c_int) -> c_int {
    let text = b"MPICH Version:\t4.9.9 (of a test)\0";
    // SAFETY: MPI asks for more room than that.
    unsafe {
        version.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        *length = text.len() as c_int - 1;
    }
    0
}

macro_rules! answers {
    ($($name:ident($($argument:ident: $type:ty),*; $result:ident = $value:expr);)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type,)* $result: *mut c_int) -> c_int {
                $(let _ = $argument;)*
                // SAFETY: there is room for the answer.
                unsafe { *$result = $value };
                0
            }
        )*
    };
}

answers! {
    PMPI_Comm_rank(comm: c_int; rank = 0);
    PMPI_Comm_size(comm: c_int; size = 1);
    PMPI_Comm_group(comm: c_int; group = 1);
    PMPI_Type_size(datatype: c_int; size = 4);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Init(_: *mut c_int, _: *mut *mut *mut c_char) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Finalize() -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Isend(
    _: *const c_void,
    count: c_int,
    _: c_int,
    _: c_int,
    tag: c_int,
    _: c_int,
    request: *mut c_int,
) -> c_int {
    MESSAGES.lock().unwrap().push((tag, 4 * count as usize));
    // SAFETY: there is room for the handle.
    unsafe { *request = SEND_REQUEST };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Irecv(
    _: *mut c_void,
    _: c_int,
    _: c_int,
    _: c_int,
    tag: c_int,
    _: c_int,
    request: *mut c_int,
) -> c_int {
    let mut receives = RECEIVES.lock().unwrap();
    receives.push(tag);
    // SAFETY: there is room for the handle.
    unsafe { *request = FIRST_REQUEST + receives.len() as c_int - 1 };
    0
}

/// Completes a request if its message is there. MPICH's status is count, count and cancelled, source, tag,
/// error.
unsafe fn complete(request: *mut c_int, status: *mut [c_int; 5]) -> bool {
    // SAFETY: the caller gives a request, and a status or the constant 1.
    unsafe {
        if *request >= FIRST_REQUEST {
            let tag = RECEIVES.lock().unwrap()[(*request - FIRST_REQUEST) as usize];
            let mut messages = MESSAGES.lock().unwrap();
            let Some(at) = messages.iter().position(|&(of, _)| tag == ANY_TAG || of == tag) else { return false };
            let (tag, bytes) = messages.remove(at);
            assert_ne!(status as usize, 1, "the recorder wants to know, even if the program does not");
            *status = [bytes as c_int, 0, 0, tag, 0];
        }
        *request = REQUEST_NULL;
    }
    true
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Waitall(count: c_int, requests: *mut c_int, statuses: *mut [c_int; 5]) -> c_int {
    for i in 0..count as usize {
        // SAFETY: the caller gives arrays of this length.
        assert!(unsafe { complete(requests.add(i), statuses.add(i)) }, "a message that is not there");
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Test(request: *mut c_int, flag: *mut c_int, status: *mut [c_int; 5]) -> c_int {
    // SAFETY: the caller gives a request, a status, and room for the flag.
    unsafe { *flag = complete(request, status).into() };
    0
}

/// Makes an inner call: calls that MPI makes itself are not the program's.
#[unsafe(no_mangle)]
unsafe extern "C" fn PMPI_Barrier(comm: c_int) -> c_int {
    let mut request = 0;
    // SAFETY: a library calls itself by its public names.
    unsafe { MPI_Isend(std::ptr::null(), 1, INT, 0, 99, comm, &raw mut request) };
    MESSAGES.lock().unwrap().pop();
    let signal = std::env::var("FAKE_MPI_SIGNAL").map_or(0, |text| text.parse().unwrap());
    SIGNAL.store(signal, Ordering::Relaxed);
    0
}

/// Replaces `write` of the C library for the whole process.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, data: *const c_void, size: usize) -> isize {
    let signal = SIGNAL.swap(0, Ordering::Relaxed);
    // SAFETY: as of the caller; and a signal is sent to this thread.
    unsafe {
        if signal != 0 {
            raise(signal);
        }
        __write(file, data, size)
    }
}

unsafe extern "C" {
    fn raise(signal: c_int) -> c_int;
    fn __write(file: c_int, data: *const c_void, size: usize) -> isize;
    fn MPI_Isend(b: *const c_void, n: c_int, t: c_int, to: c_int, tag: c_int, c: c_int, r: *mut c_int) -> c_int;
}

/// Defines the names that programs use.
macro_rules! public {
    ($($name:ident $beneath:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: the caller's.
                unsafe { $beneath($($argument),*) }
            }
        )*
    };
}

type Words = *mut *mut *mut c_char;

public! {
    MPI_Init PMPI_Init(count: *mut c_int, words: Words);
    MPI_Finalize PMPI_Finalize();
    MPI_Barrier PMPI_Barrier(comm: c_int);
    MPI_Irecv PMPI_Irecv(b: *mut c_void, n: c_int, t: c_int, from: c_int, tag: c_int, c: c_int, r: *mut c_int);
    MPI_Waitall PMPI_Waitall(count: c_int, requests: *mut c_int, statuses: *mut [c_int; 5]);
    MPI_Test PMPI_Test(request: *mut c_int, flag: *mut c_int, status: *mut [c_int; 5]);
}

mod isend {
    use super::*;

    /// Defined in a module of its own, so that the library itself calls it like a program does: by the
    /// symbol.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn MPI_Isend(
        b: *const c_void,
        n: c_int,
        t: c_int,
        to: c_int,
        tag: c_int,
        c: c_int,
        r: *mut c_int,
    ) -> c_int {
        // SAFETY: the caller's.
        unsafe { PMPI_Isend(b, n, t, to, tag, c, r) }
    }
}
