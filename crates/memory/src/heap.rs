//! Functions that make and end blocks of memory, called by the program: a message can lie in a block only
//! while it exists.
//!
//! Fortran's `allocate` and `deallocate`, and the containers of C++, call them at the place of use, in
//! instrumented code. Libraries call them too. Those calls are not seen, but the call of the library is
//! marked.

use std::ffi::c_void;

use hayase_mpi::objects;

use crate::recorder::Place;
use crate::state;
use crate::stubs::Call;
use crate::{hazards, sections};

/// Effect of a function on blocks of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// `malloc`: the result is a new block.
    Allocate,
    /// `posix_memalign`: a new block is written to the first argument.
    AllocateInto,
    /// `realloc`: ends a block and makes another.
    Reallocate,
    /// `free`.
    Free,
    /// `mmap`.
    Map,
    /// `munmap`.
    Unmap,
    /// `_gfortran_internal_pack`: the result is a new block with a copy of an array, or the array.
    Pack,
    /// `_gfortran_internal_unpack`: copies such a block back.
    Unpack,
}

impl Function {
    /// Returns the kind of the function with this name, if it affects blocks.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "malloc" | "calloc" | "aligned_alloc" | "memalign" | "valloc" | "pvalloc" => Self::Allocate,
            "posix_memalign" => Self::AllocateInto,
            "realloc" | "reallocarray" => Self::Reallocate,
            "free" | "free_sized" | "free_aligned_sized" => Self::Free,
            "mmap" | "mmap64" => Self::Map,
            "munmap" => Self::Unmap,
            "_gfortran_internal_pack" => Self::Pack,
            "_gfortran_internal_unpack" => Self::Unpack,
            _ if name.starts_with("_Znw") || name.starts_with("_Zna") => Self::Allocate,
            _ if name.starts_with("_Zdl") || name.starts_with("_Zda") => Self::Free,
            _ => return None,
        })
    }

    /// Returns true if the sizes of the blocks are known from the allocator whose function is at this
    /// address. The allocator of C++ calls that of C.
    pub(crate) fn is_followed(self, name: &str, address: usize) -> bool {
        if matches!(self, Self::Map | Self::Unmap) {
            return true;
        }
        let Some((base, file)) = objects::at(address) else { return false };
        if name.starts_with("_gfortran_") {
            // Earlier versions have other descriptors of arrays.
            return file.contains("libgfortran.so.5");
        }
        if name.starts_with("_Z") {
            return file.contains("libstdc++") || file.contains("libc++");
        }
        // SAFETY: looks a symbol up.
        let sizes = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc_usable_size".as_ptr()) };
        objects::at(sizes as usize).is_some_and(|(other, _)| base == other)
    }

    /// Returns true if the result of the function tells its effect.
    pub(crate) fn has_result(self) -> bool {
        !matches!(self, Self::Free | Self::Unmap | Self::Unpack)
    }

    /// Handles a call that is about to be made.
    pub(crate) fn called(self, call: &Call, place: Place) {
        match self {
            Self::Free | Self::Reallocate => note(place, false, call.argument(0), None),
            Self::Unmap => {
                let (low, size) = (call.argument(0), call.argument(1));
                note(place, false, low, Some(size));
                hazards::unmapped(place.address, low, size);
            }
            // SAFETY: the program's own call.
            Self::Unpack => unsafe { sections::unpacked(place, call.argument(0), call.argument(1)) },
            Self::Allocate | Self::AllocateInto | Self::Map | Self::Pack => {}
        }
    }

    /// Handles a call that has been made.
    pub(crate) fn returned(self, call: &Call, place: Place, result: u64) {
        match self {
            Self::Allocate | Self::Reallocate => note(place, true, result, None),
            Self::AllocateInto if result as i32 == 0 => {
                // SAFETY: the function has written the address there.
                let low = unsafe { *(call.argument(0) as *const u64) };
                note(place, true, low, None);
            }
            // SAFETY: the first word of a descriptor is the address of the array.
            Self::Pack if state::is_recorded() && result != unsafe { *(call.argument(0) as *const u64) } => {
                note(place, true, result, None);
                // SAFETY: the program's own call.
                unsafe { sections::packed(place, call.argument(0), result) };
            }
            Self::Map if result != libc::MAP_FAILED as u64 => note(place, true, result, Some(call.argument(1))),
            _ => {}
        }
    }
}

/// Records that a block begins or ends; without a size it is one of the heap.
fn note(place: Place, begins: bool, low: u64, size: Option<u64>) {
    if low == 0 || !state::is_recorded() {
        return;
    }
    let _ = state::with(|recorder| {
        // SAFETY: a block of the allocator that this function belongs to, as in the program's own call.
        let size = size.unwrap_or_else(|| unsafe { libc::malloc_usable_size(low as *mut c_void) } as u64);
        recorder.block(place, begins, low, size);
    });
}
