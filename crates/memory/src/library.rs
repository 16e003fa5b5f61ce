//! `memcpy`, `memmove`, `memset` and similar functions: accesses of the program that compilers leave to the C
//! library.
//!
//! These functions replace those of the C library for the whole process, but only calls from instrumented
//! code are accesses of the program; the MPI library's copies are its own. A table lists further functions
//! with the results that they write.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{mem, ptr};

use crate::entry::library_access;
use crate::{module, state, with_caller};

/// Functions that write results through their arguments: for each result the index of the argument and the
/// size \[B\].
const RESULTS: &[(&str, &[(usize, u64)])] = &[
    ("time", &[(0, 8)]),
    ("gettimeofday", &[(0, 16)]),
    ("clock_gettime", &[(1, 16)]),
    ("nanosleep", &[(1, 16)]),
    ("rand_r", &[(0, 4)]),
    ("_gfortran_cpu_time_4", &[(0, 4)]),
    ("_gfortran_cpu_time_8", &[(0, 8)]),
    ("_gfortran_random_r4", &[(0, 4)]),
    ("_gfortran_random_r8", &[(0, 8)]),
    ("_gfortran_system_clock_4", &[(0, 4), (1, 4), (2, 4)]),
    ("_gfortran_system_clock_8", &[(0, 8), (1, 8), (2, 8)]),
];

/// Returns the results that the function with this name writes, if it accesses no other memory of the
/// program.
pub(crate) fn results(name: &str) -> Option<&'static [(usize, u64)]> {
    RESULTS.iter().find(|(known, _)| *known == name).map(|&(_, results)| results)
}

type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;
type Fill = unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void;

/// A function of the C library that is replaced here.
struct RealFunction {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl RealFunction {
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns its address; null before this library is initialised.
    #[inline(always)]
    fn get(&self) -> *mut c_void {
        self.found.load(Ordering::Relaxed)
    }

    fn find(&self) {
        // SAFETY: asks for a symbol by a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
    }
}

static MEMCPY: RealFunction = RealFunction::new(c"memcpy");
static MEMMOVE: RealFunction = RealFunction::new(c"memmove");
static MEMSET: RealFunction = RealFunction::new(c"memset");

/// Finds the functions when this library is loaded: `dlsym` may allocate memory, which a copy must not.
extern "C" fn load() {
    for next in [&MEMCPY, &MEMMOVE, &MEMSET] {
        next.find();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

/// Returns true if the caller's accesses are to be recorded.
#[inline(always)]
fn is_noted(caller: u64) -> bool {
    state::is_recorded() && module::contains(caller as usize)
}

#[cold]
#[inline(never)]
fn note(caller: u64, name: &str, from: Option<*const c_void>, to: Option<*mut c_void>, size: usize) {
    if let Some(from) = from {
        library_access(caller, false, from as u64, size as u64, name);
    }
    if let Some(to) = to {
        library_access(caller, true, to as u64, size as u64, name);
    }
}

/// Copies byte by byte in a volatile loop; a plain loop would become a call of `memcpy` again.
///
/// # Safety
/// As `memmove`'s.
unsafe fn copy_bytes(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    let down = (to as usize).wrapping_sub(from as usize) < size;
    // SAFETY: promised by the caller; overlapping ranges are copied in the order that preserves the bytes.
    unsafe {
        for i in 0..size {
            let i = if down { size - 1 - i } else { i };
            // Volatile, so that it stays a loop.
            to.cast::<u8>().add(i).write_volatile(from.cast::<u8>().add(i).read());
        }
    }
    to
}

/// # Safety
/// As `memset`'s.
unsafe fn fill_bytes(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void {
    for i in 0..size {
        // SAFETY: promised by the caller. Volatile, so that it stays a loop.
        unsafe { to.cast::<u8>().add(i).write_volatile(byte as u8) };
    }
    to
}

/// # Safety
/// As that of the function behind it.
#[inline(always)]
unsafe fn copy_next(next: &RealFunction, to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    let next = next.get();
    // SAFETY: the functions of these names have this type; the rest is promised by the caller.
    unsafe {
        if next.is_null() {
            return copy_bytes(to, from, size);
        }
        mem::transmute::<*mut c_void, Copy>(next)(to, from, size)
    }
}

/// Defines functions that copy: they record the access and call the function of the C library.
macro_rules! copies {
    ($($body:ident $name:literal $next:ident;)*) => {$(
        unsafe extern "C" fn $body(to: *mut c_void, from: *const c_void, size: usize, caller: u64) -> *mut c_void {
            if is_noted(caller) {
                note(caller, $name, Some(from), Some(to), size);
            }
            // SAFETY: as the program's own call.
            unsafe { copy_next(&$next, to, from, size) }
        }
    )*};
}

copies! {
    copy "memcpy" MEMCPY;
    shift "memmove" MEMMOVE;
}

unsafe extern "C" fn fill(to: *mut c_void, byte: c_int, size: usize, caller: u64) -> *mut c_void {
    if is_noted(caller) {
        note(caller, "memset", None, Some(to), size);
    }
    let next = MEMSET.get();
    // SAFETY: the function of this name has this type; the rest is the program's own call.
    unsafe {
        if next.is_null() {
            return fill_bytes(to, byte, size);
        }
        mem::transmute::<*mut c_void, Fill>(next)(to, byte, size)
    }
}

/// Defines the forms that know the room at the destination.
macro_rules! checked {
    ($($body:ident $plain:ident $from:ty;)*) => {$(
        unsafe extern "C" fn $body(to: *mut c_void, from: $from, size: usize, room: usize, caller: u64) -> *mut c_void {
            check(size, room);
            // SAFETY: as the program's own call.
            unsafe { $plain(to, from, size, caller) }
        }
    )*};
}

checked! {
    copy_checked copy *const c_void;
    shift_checked shift *const c_void;
    fill_checked fill c_int;
}

/// Ends the program if it would write beyond the end, as the C library does.
fn check(size: usize, room: usize) {
    if size > room {
        // SAFETY: ends the process.
        unsafe { libc::abort() }
    }
}

with_caller! {
    "memcpy", (*mut c_void, *const c_void, usize) -> *mut c_void => copy, "rcx", "x3";
    "memmove", (*mut c_void, *const c_void, usize) -> *mut c_void => shift, "rcx", "x3";
    "memset", (*mut c_void, c_int, usize) -> *mut c_void => fill, "rcx", "x3";
    "__memcpy_chk", (*mut c_void, *const c_void, usize, usize) -> *mut c_void => copy_checked, "r8", "x4";
    "__memmove_chk", (*mut c_void, *const c_void, usize, usize) -> *mut c_void => shift_checked, "r8", "x4";
    "__memset_chk", (*mut c_void, c_int, usize, usize) -> *mut c_void => fill_checked, "r8", "x4";
    "__tsan_memcpy", (*mut c_void, *const c_void, usize) -> *mut c_void => copy, "rcx", "x3";
    "__tsan_memmove", (*mut c_void, *const c_void, usize) -> *mut c_void => shift, "rcx", "x3";
    "__tsan_memset", (*mut c_void, c_int, usize) -> *mut c_void => fill, "rcx", "x3";
}
