//! The MPI library that is underneath.

use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;

use hayase_mpi::{Abi, Functions, Library};

/// An MPI library that is understood.
#[derive(Debug)]
pub struct Mpi {
    /// Its layouts and constants.
    pub abi: Abi,
    /// `Open MPI 4.1.4`.
    pub version: String,
}

/// The functions beneath those that are exported here.
#[inline]
pub fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions::find("PMPI_", beneath))
}

/// The library, if it is one that is understood; why not is said once.
pub fn library() -> Option<&'static Mpi> {
    static MPI: OnceLock<Option<Mpi>> = OnceLock::new();
    MPI.get_or_init(|| match Library::of_process() {
        Ok(library) => Some(Mpi { abi: library.abi().clone(), version: library.short_version() }),
        Err(error) => {
            eprintln!("hayase: nothing is recorded: {error}");
            None
        }
    })
    .as_ref()
}

/// Address of a symbol beneath this library, which may have it too; null if there is none.
pub fn beneath(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else { return std::ptr::null_mut() };
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !address.is_null() {
        return address;
    }
    // An MPI library that was loaded later into a scope of its own, as Python does.
    loaded()
        .into_iter()
        .filter(|path| path.to_bytes().windows(3).any(|part| part == b"mpi"))
        .find_map(|path| {
            // SAFETY: the path ends with a zero; nothing is loaded that is not there already.
            unsafe {
                let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                let address = if handle.is_null() { std::ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) };
                (!address.is_null()).then_some(address)
            }
        })
        .unwrap_or(std::ptr::null_mut())
}

/// The paths of all libraries of the process.
fn loaded() -> Vec<CString> {
    unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: libc::size_t, data: *mut c_void) -> libc::c_int {
        // SAFETY: `dl_iterate_phdr` gives a description that is valid during the call, and our own pointer.
        unsafe { (*data.cast::<Vec<CString>>()).push(CStr::from_ptr((*info).dlpi_name).to_owned()) };
        0
    }
    let mut found: Vec<CString> = Vec::new();
    // SAFETY: the function takes what it is given.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut found).cast()) };
    found.retain(|path| !path.is_empty());
    found
}

/// Address of a symbol of the process; null if there is none.
pub fn symbol(name: &str) -> *mut c_void {
    match CString::new(name) {
        // SAFETY: the name ends with a zero.
        Ok(name) => unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) },
        Err(_) => std::ptr::null_mut(),
    }
}
