//! Arguments of MPI calls: the memory that they read and write, other than messages.
//!
//! The table in [`hayase_mpi::arguments`] gives the use of each argument. Arguments of recorded calls are
//! accesses of a kind of their own, since they happen when the call is posted or completes; those of other
//! calls happen at the call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use hayase_mpi::arguments::{self, Access, Extent, Item, Language, Use};
use hayase_mpi::{Calls, Functions, Library};
use hayase_trace::memory::AccessKind;

use crate::hazards::{self, Hazard};
use crate::opaque::mark;
use crate::recorder::{Place, key};
use crate::state;
use crate::stubs::Call;

/// An MPI function, as the program calls it.
#[derive(Debug)]
pub(crate) struct Function {
    /// Name in C.
    name: &'static str,
    /// Row of the table; `None` if the function is not known.
    row: Option<(&'static arguments::Function, Language)>,
}

/// Addresses of memory; other values are constants such as `MPI_STATUS_IGNORE` or `MPI_UNWEIGHTED`.
const MEMORY: std::ops::Range<usize> = 4096..usize::MAX - 4096;

/// Blocks of `MPI_Alloc_mem`: address and size.
static BLOCKS: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

/// Return address of the last call.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Returns true if a stub has seen the recorded call that returns to `back`. Calls through pointers have no
/// stub.
pub(crate) fn was_seen(back: u64) -> bool {
    LAST.swap(0, Ordering::Relaxed) == back
}

/// Returns the view of calls of the process's MPI library; `None` if it has no known one.
fn calls() -> Option<&'static Calls<'static>> {
    static CALLS: OnceLock<Option<Calls<'static>>> = OnceLock::new();
    let find = || {
        // Never freed: they are needed as long as the process runs.
        let library: &'static Library = Box::leak(Box::new(Library::of_process().ok()?));
        let functions: &'static Functions = Box::leak(Box::new(Functions::load(library, "PMPI_")));
        Some(Calls::new(library.abi(), functions, |name| library.address(name)))
    };
    CALLS.get_or_init(find).as_ref()
}

impl Function {
    /// Returns the function with this symbol if it belongs to MPI.
    pub(crate) fn of(symbol: &'static str) -> Option<Self> {
        if !["MPI_", "PMPI_", "mpi_", "pmpi_"].iter().any(|start| symbol.starts_with(start)) {
            return None;
        }
        let row = arguments::function(symbol);
        // Never freed: there is one for each symbol that the program calls.
        let name = row.map_or(symbol, |(row, _)| format!("MPI_{}", row.name).leak());
        Some(Self { name, row })
    }

    /// Returns true if the effect of the function is known only after it has returned.
    pub(crate) fn has_result(&self) -> bool {
        self.name == "MPI_Alloc_mem"
    }

    /// Handles a call that is about to be made.
    pub(crate) fn called(&self, call: &Call) {
        LAST.store(call.back, Ordering::Relaxed);
        match self.name {
            "MPI_Comm_set_errhandler" | "MPI_Errhandler_set" | "MPI_Win_set_errhandler" | "MPI_File_set_errhandler" => {
                hazards::change(Hazard::ErrorsReturn, call.back, true);
            }
            "MPI_Win_create" | "MPI_Win_allocate" | "MPI_Win_allocate_shared" | "MPI_Win_create_dynamic" => {
                hazards::change(Hazard::Window, call.back, true);
            }
            "MPI_Win_free" => hazards::change(Hazard::Window, call.back, false),
            _ => {}
        }
        let (Some((row, language)), Some(calls)) = (self.row, calls()) else { return mark(call.back, self.name) };
        let word = |index| call.argument(index) as usize;
        let left_out = if row.recorded { left_out(row, language, &word) } else { Vec::new() };
        let mut accesses = Vec::new();
        let mut tell = |access, address, bytes| {
            if MEMORY.contains(&address) && !left_out.contains(&(address, access)) {
                accesses.push((access, address as u64, bytes as u64));
            }
        };
        // SAFETY: the program is about to make this call.
        let known = unsafe { calls.accesses(row, language, &word, &mut tell) };
        let kind = if row.recorded { AccessKind::Call } else { AccessKind::Library };
        for write in [false, true] {
            for &(access, low, size) in &accesses {
                match (access, write) {
                    (Access::Frees, true) => self.freed(call, low),
                    (Access::Reads | Access::Updates, false) | (Access::Writes | Access::Updates, true) => {
                        let site = key(call.back, write);
                        let _ = state::with(|recorder| recorder.access_of(site, low, size, kind, self.name));
                    }
                    _ => {}
                }
            }
        }
        if !known && !row.recorded {
            mark(call.back, self.name);
        }
    }

    /// Handles a call that has been made.
    pub(crate) fn returned(&self, call: &Call) {
        let Some((_, language)) = self.row else { return };
        // SAFETY: MPI has written the address of the block there; in Fortran the size is given by address.
        let (low, size) = unsafe {
            let (size, block) = (call.argument(0), *(call.argument(2) as *const u64));
            (block, if language == Language::C { size } else { *(size as *const u64) })
        };
        if let Ok(mut blocks) = BLOCKS.try_lock() {
            blocks.push((low, size));
        }
        self.block(call, true, low, size);
    }

    fn freed(&self, call: &Call, low: u64) {
        let Ok(mut blocks) = BLOCKS.try_lock() else { return };
        match blocks.iter().position(|&(base, _)| base == low) {
            Some(index) => {
                let (_, size) = blocks.swap_remove(index);
                self.block(call, false, low, size);
            }
            None => mark(call.back, self.name),
        }
    }

    fn block(&self, call: &Call, begins: bool, low: u64, size: u64) {
        let place = Place { address: call.back, name: self.name };
        let _ = state::with(|recorder| recorder.block(place, begins, low, size));
    }
}

/// Returns addresses of a recorded call and their accesses that no other memory depends on: the error code,
/// and the request that a call begins.
fn left_out(row: &arguments::Function, language: Language, word: &dyn Fn(usize) -> usize) -> Vec<(usize, Access)> {
    let completes = ["Wait", "Test", "Request_free"].iter().any(|start| row.name.starts_with(start));
    let mut all = Vec::new();
    for (index, argument) in row.arguments.iter().enumerate() {
        match argument.used {
            Use::Memory(access, Extent { item: Item::Handle, .. })
                if !completes && matches!(argument.name, "request" | "array_of_requests") =>
            {
                all.push((word(index), access));
            }
            _ => {}
        }
    }
    if language != Language::C {
        all.push((word(row.arguments.len()), Access::Writes));
    }
    all
}
