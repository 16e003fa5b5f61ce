//! The MPI library that is underneath.

use std::ffi::{CString, c_void};
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
    FUNCTIONS.get_or_init(|| Functions::find("PMPI_", symbol))
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

/// Address of a symbol of the process; null if there is none.
pub fn symbol(name: &str) -> *mut c_void {
    match CString::new(name) {
        // SAFETY: the name ends with a zero.
        Ok(name) => unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) },
        Err(_) => std::ptr::null_mut(),
    }
}
