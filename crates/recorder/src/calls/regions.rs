//! `MPI_Pcontrol`: marks regions of the program.
//!
//! | call | effect |
//! |---|---|
//! | `MPI_Pcontrol(1, "name")` | begins the region of this name (as for IPM and others) |
//! | `MPI_Pcontrol(-1, "name")` | ends it |
//! | `MPI_Pcontrol(1)` | begins the region `pcontrol`, unless it has begun |
//! | `MPI_Pcontrol(0)` | ends the region `pcontrol`, if it has begun |
//! | `MPI_Pcontrol(2)` | writes the events recorded until now to the file |
//! | `MPI_Pcontrol(n)` for n >= 3 | begins the region `pcontrol-n`: for Fortran, which passes a level alone |
//! | `MPI_Pcontrol(-n)` for n >= 3 | ends it |
//!
//! Everything is recorded at any level, since a replay needs both ends of every message.
//!
//! The function has variable arguments, and nothing tells if there is a second one. So the argument is looked
//! at only for levels 1 and -1 from C, and is taken for a name only if it points at a short text. The system
//! copies the bytes, since they may not exist.

use std::ffi::{c_char, c_int, c_void};

use hayase_mpi::SUCCESS;

use crate::entry::{Caller, export};
use crate::mpi::Symbol;
use crate::{fortran, recorder};

export!("Pcontrol", 2, pcontrol);

/// Longest name, including the zero at its end \[B\].
const MAX_NAME_BYTES: usize = 256;

/// Smallest page of memory of any system \[B\].
const PAGE: usize = 4096;

/// `MPI_Pcontrol`. All supported machines pass variable arguments like fixed ones.
///
/// # Safety
/// As MPI has it.
unsafe extern "C" fn pcontrol(level: c_int, name: *const c_char, site: usize) -> c_int {
    static FUNCTION: Symbol = Symbol::new("PMPI_Pcontrol");
    // SAFETY: this is the body, and it has not returned.
    let (caller, from_c) = unsafe {
        let caller = fortran::caller(site);
        (caller, caller == Caller::at(site))
    };
    let text = || if from_c && matches!(level, 1 | -1) { text_at(name as usize) } else { None };
    let pass = || {
        let Some(function) = FUNCTION.find() else { return SUCCESS };
        // SAFETY: the function of this name has these arguments.
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, ...) -> c_int>(function)(level, name) }
    };
    // SAFETY: the recorder is not entered again before this returns.
    let result = unsafe { recorder::control(level, text, pass, caller) };
    forget_name();
    result
}

/// Clears the register of the second argument. Otherwise it would still point at this name when the next call
/// has none.
#[inline(always)]
fn forget_name() {
    // SAFETY: the register belongs to the callee.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("xor esi, esi", out("rsi") _, options(nomem, nostack));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("mov x1, xzr", out("x1") _, options(nomem, nostack));
    }
}

/// Returns the short printable text at an address; `None` if there is no such text or no memory.
fn text_at(address: usize) -> Option<String> {
    if address < PAGE {
        return None;
    }
    let mut bytes = [0; MAX_NAME_BYTES];
    let count = copied(address, &mut bytes)?;
    let length = bytes[..count].iter().position(|&byte| byte == 0).filter(|&length| length > 0)?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    (!text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Copies bytes from an address, some or all of which may not exist; returns their number.
fn copied(address: usize, bytes: &mut [u8; MAX_NAME_BYTES]) -> Option<usize> {
    // The system copies a piece as a whole or not at all.
    let first = (PAGE - address % PAGE).min(MAX_NAME_BYTES);
    let piece = |from: usize, length| libc::iovec { iov_base: from as *mut c_void, iov_len: length };
    let local = piece(bytes.as_mut_ptr() as usize, MAX_NAME_BYTES);
    let remote = [piece(address, first), piece(address.checked_add(first)?, MAX_NAME_BYTES - first)];
    // SAFETY: the room is as large as stated; only the system reads from the address.
    let count = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, remote.as_ptr(), 2, 0) };
    if count >= 0 {
        return usize::try_from(count).ok();
    }
    match std::io::Error::last_os_error().raw_os_error() {
        // Not allowed here, as in some containers.
        Some(libc::ENOSYS | libc::EPERM) => piped(address, first, bytes),
        _ => None,
    }
}

/// Copies bytes through a pipe, which refuses memory that cannot be read; returns their number.
fn piped(address: usize, length: usize, bytes: &mut [u8; MAX_NAME_BYTES]) -> Option<usize> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two ends; they are closed below, and the system alone reads at the address.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
            return None;
        }
        let written = libc::write(ends[1], address as *const c_void, length);
        let read = if written > 0 { libc::read(ends[0], bytes.as_mut_ptr().cast(), MAX_NAME_BYTES) } else { 0 };
        libc::close(ends[0]);
        libc::close(ends[1]);
        usize::try_from(read).ok().filter(|&read| read > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn a_text_is_read_and_anything_else_is_not() {
        let at = |text: &[u8]| text_at(text.as_ptr() as usize);
        assert_eq!(at(b"solve\0 and more"), Some("solve".to_owned()));
        assert_eq!(at("Löser\0".as_bytes()), Some("Löser".to_owned()));
        for wrong in [&b"\0"[..], b"line\nline\0", b"\xff\xfe\0", b"\x01\0"] {
            assert_eq!(at(wrong), None, "{wrong:?}");
        }
        assert_eq!(at(&[b'a'; 2 * MAX_NAME_BYTES]), None, "it does not end");
        for nothing in [0, 1, 64, usize::MAX, usize::MAX - 3, 1 << 60, PAGE] {
            assert_eq!(text_at(nothing), None, "{nothing:#x}");
        }
    }

    #[test]
    fn a_text_that_ends_with_its_page_is_read_whatever_comes_behind() {
        for read in [copied as fn(usize, &mut [u8; MAX_NAME_BYTES]) -> Option<usize>, |at, bytes| piped(at, 6, bytes)] {
            // SAFETY: two pages, of which the second is taken away; the first is written to within its length.
            let address = unsafe {
                let protection = libc::PROT_READ | libc::PROT_WRITE;
                let pages =
                    libc::mmap(null_mut(), 2 * PAGE, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
                assert_ne!(pages, libc::MAP_FAILED);
                assert_eq!(libc::munmap(pages.add(PAGE), PAGE), 0);
                let at = pages.cast::<u8>().add(PAGE - 6);
                at.copy_from(c"solve".as_ptr().cast(), 6);
                at as usize
            };
            let mut bytes = [1; MAX_NAME_BYTES];
            assert_eq!(read(address, &mut bytes), Some(6));
            assert_eq!(&bytes[..6], b"solve\0");
            assert_eq!(read(address + 6, &mut bytes), None, "there is nothing");
        }
    }
}
