//! Memory that the ranks of a run on one machine share: a file in the folder of the run.

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::null_mut;

/// Maps `size` bytes of a file, which is created with zeros if it does not exist. They stay mapped.
pub fn map(path: &Path, size: usize) -> io::Result<*mut c_void> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    file.set_len(size as u64)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping overlaps with nothing.
    let at = unsafe { libc::mmap(null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at) }
}
