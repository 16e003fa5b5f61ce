//! Finds the MPI library of a process, or loads one.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;

use crate::{Abi, Family};

/// A loaded MPI library.
#[derive(Debug)]
pub struct Library {
    /// Scope that `dlsym` searches: a library, or the whole process.
    handle: *mut c_void,
    version: String,
    abi: Abi,
}

// SAFETY: a handle of `dlopen` may be used from any thread, and is never closed.
unsafe impl Send for Library {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Library {}

/// Reason why no MPI library could be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotFound {
    /// The process has no MPI library.
    None,
    /// The library could not be loaded.
    Load(String),
    /// The library is of an unknown kind; holds its version text.
    Unknown(String),
    /// The library lacks a symbol that it should have.
    Symbol(String),
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "there is no MPI library in this process"),
            Self::Load(what) => write!(f, "the MPI library cannot be loaded: {what}"),
            Self::Unknown(version) => {
                write!(f, "an MPI library of an unknown kind, neither Open MPI nor MPICH: {version}")
            }
            Self::Symbol(name) => write!(f, "the MPI library has no symbol `{name}`"),
        }
    }
}

impl std::error::Error for NotFound {}

impl Library {
    /// Returns the library that this process has already loaded.
    ///
    /// # Errors
    /// There is none, or it is not known.
    pub fn of_process() -> Result<Self, NotFound> {
        Self::with_handle(libc::RTLD_DEFAULT)
    }

    /// Loads a library by name (`libmpi.so.40`, `libmpich.so.12`) or path.
    ///
    /// # Errors
    /// The library cannot be loaded, or is not known.
    pub fn open(name: &str) -> Result<Self, NotFound> {
        let Ok(path) = CString::new(name) else { return Err(NotFound::Load(format!("{name:?} is no name"))) };
        // Global: Open MPI's plugins look for the symbols of the library that loads them. SAFETY: the name
        // ends with a zero; the user has chosen the library and so its initialisation.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            // SAFETY: after a failure `dlerror` gives a text that ends with a zero, or null.
            let text = unsafe {
                let text = libc::dlerror();
                if text.is_null() { name.into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
            };
            return Err(NotFound::Load(text));
        }
        Self::with_handle(handle)
    }

    fn with_handle(handle: *mut c_void) -> Result<Self, NotFound> {
        let symbol = |name: &CStr| {
            // SAFETY: the name ends with a zero, the handle is one that `dlsym` takes.
            unsafe { libc::dlsym(handle, name.as_ptr()) }
        };
        let get_version = symbol(c"PMPI_Get_library_version");
        if get_version.is_null() {
            return Err(NotFound::None);
        }
        // SAFETY: it is `int MPI_Get_library_version(char *version, int *length)` in every MPI since 3.0.
        let get_version = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int>(get_version)
        };
        // The longest known text is 8 KiB, of MPICH.
        let mut text = vec![0_u8; 1 << 14];
        let mut length = 0;
        // SAFETY: the room suffices for any known library; the call is allowed before MPI_Init.
        unsafe { get_version(text.as_mut_ptr().cast(), &raw mut length) };
        text.truncate(usize::try_from(length).unwrap_or(0));
        let version = String::from_utf8_lossy(&text).trim_end_matches('\0').trim().to_owned();

        let family = if !symbol(c"ompi_mpi_comm_world").is_null() {
            Family::OpenMpi
        } else if ["MPICH", "MVAPICH", "Intel(R) MPI", "CRAY MPI"].iter().any(|name| version.contains(name)) {
            Family::Mpich
        } else {
            return Err(NotFound::Unknown(version.lines().next().unwrap_or_default().into()));
        };
        let mut library = Self { handle, version, abi: Abi::mpich() };
        library.abi = Abi::of(&library, family).map_err(NotFound::Symbol)?;
        Ok(library)
    }

    /// Layouts and constants of the library.
    pub fn abi(&self) -> &Abi {
        &self.abi
    }

    /// First line of the version text: `Open MPI v4.1.4, package: ...`, `MPICH Version: 4.0.2`.
    pub fn version(&self) -> &str {
        let line = self.version.lines().next().unwrap_or_default();
        line.split(", package:").next().unwrap_or(line).trim()
    }

    /// Returns its name and number in short: `Open MPI 4.1.4`, `MPICH 4.0.2`.
    pub fn short_version(&self) -> String {
        let number = self
            .version()
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'))
            .map(|word| word.trim_start_matches('v'))
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or("");
        format!("{} {number}", self.abi.family.name()).trim_end().to_owned()
    }

    /// Returns the address of a symbol; null if there is none.
    pub fn address(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the name ends with a zero, the handle is one that `dlsym` takes.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}
