//! The MPI library beneath the recorder.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use hayase_mpi::{Abi, Functions, Library, objects};

/// A supported MPI library.
#[derive(Debug)]
pub struct Mpi {
    /// Its layouts and constants.
    pub abi: Abi,
    /// Name and version, such as `Open MPI 4.1.4`.
    pub version: String,
}

/// Returns the functions beneath those exported here.
#[inline]
pub fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions::find("PMPI_", beneath))
}

/// Returns the library if it is supported; otherwise prints the reason once.
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

/// A symbol beneath this library. It is looked up at its first use.
#[derive(Debug)]
pub struct Symbol {
    /// Name of the symbol.
    pub name: &'static str,
    /// Address of the symbol, once it is known.
    pub address: AtomicPtr<c_void>,
}

impl Symbol {
    /// Creates the symbol of this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Returns its address; `None` if there is none.
    pub fn find(&self) -> Option<*mut c_void> {
        let mut address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            address = beneath(self.name);
            self.address.store(address, Ordering::Relaxed);
        }
        (!address.is_null()).then_some(address)
    }
}

/// Returns the address of a symbol beneath this library, which may have it too; null if there is none.
pub fn beneath(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else { return null_mut() };
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !address.is_null() {
        return address;
    }
    // An MPI library that was loaded later, into a scope of its own, as Python does.
    loaded()
        .into_iter()
        .filter(|path| path.to_bytes().windows(3).any(|part| part == b"mpi"))
        .find_map(|path| {
            // SAFETY: the path ends with a zero; nothing is loaded that is not there already.
            unsafe {
                let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                let address = if handle.is_null() { null_mut() } else { libc::dlsym(handle, name.as_ptr()) };
                (!address.is_null()).then_some(address)
            }
        })
        .unwrap_or(null_mut())
}

/// Returns the paths of all libraries of the process.
fn loaded() -> Vec<CString> {
    let mut paths = Vec::new();
    objects::find(|info, _| {
        // SAFETY: the loader's description has a name that ends with a zero.
        paths.push(unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned());
        None::<()>
    });
    paths.retain(|path| !path.is_empty());
    paths
}

/// Returns the address of a symbol of the process; null if there is none.
pub fn symbol(name: &str) -> *mut c_void {
    match CString::new(name) {
        // SAFETY: the name ends with a zero.
        Ok(name) => unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) },
        Err(_) => null_mut(),
    }
}
