//! Files that a process has loaded: the program and its libraries.

use std::ffi::{CStr, c_int, c_void};

/// Applies `look` to the files of the process, each with the loader's description and its segments, until it
/// returns a value.
pub fn find<T, F>(look: F) -> Option<T>
where
    F: FnMut(&libc::dl_phdr_info, &[libc::Elf64_Phdr]) -> Option<T>,
{
    struct Search<T, F> {
        look: F,
        found: Option<T>,
    }
    unsafe extern "C" fn one<T, F>(info: *mut libc::dl_phdr_info, _: libc::size_t, data: *mut c_void) -> c_int
    where
        F: FnMut(&libc::dl_phdr_info, &[libc::Elf64_Phdr]) -> Option<T>,
    {
        // SAFETY: the loader gives a description that is valid during the call, and our own pointer.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search<T, F>>()) };
        let segments = match info.dlpi_phdr.is_null() {
            true => &[],
            // SAFETY: the description has this many segments.
            false => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) },
        };
        search.found = (search.look)(info, segments);
        c_int::from(search.found.is_some())
    }
    let mut search = Search { look, found: None };
    // SAFETY: the function takes the pointer that is passed here.
    unsafe { libc::dl_iterate_phdr(Some(one::<T, F>), (&raw mut search).cast()) };
    search.found
}

/// Returns the load address and the name of the file that contains an address; `None` if there is none.
pub fn at(address: usize) -> Option<(usize, String)> {
    // SAFETY: asks the loader about an address; the name stays as long as the file is loaded.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        Some((found.dli_fbase as usize, CStr::from_ptr(found.dli_fname).to_string_lossy().into_owned()))
    }
}
