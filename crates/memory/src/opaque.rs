//! Calls from the program into code that is not instrumented: marked by function and position, since their
//! accesses are not seen.
//!
//! A program calls functions of libraries through a table of addresses (the global offset table). When the
//! recording starts, the entries of instrumented parts are changed to point to small stubs. A stub notes the
//! call and continues at the function, transparently: all registers that may hold arguments are kept, and the
//! function returns to the program itself.
//!
//! Not marked are functions that are known to access no memory of the program (`HARMLESS`), those whose
//! accesses are recorded by other means (`arguments`, `heap`, `library`), and calls through pointers.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_arch = "x86_64")]
use hayase_trace::memory::AccessKind;

#[cfg(target_arch = "x86_64")]
use crate::recorder::{Place, key};
#[cfg(target_arch = "x86_64")]
use crate::stubs::{Call, Stubs, redirect, replace};
#[cfg(target_arch = "x86_64")]
use crate::{arguments, code, entry::library_access, frames, hazards, heap};
use crate::{library, module, state};

/// Functions whose calls are not marked, by the beginnings of their names.
///
/// They access nothing, memory of their own, or memory that the program has not yet or no longer. The
/// functions of MPI are recorded by other means. The rest belong to this library and to the start and the end
/// of a process.
const HARMLESS: &str = "
    MPI_ PMPI_ mpi_ pmpi_ ompi_ MPIR_ __tsan_ __asan_ __hayase_ __cyg_profile_func_ hayase_ Annotate memcpy
    memmove memset __memcpy_chk __memmove_chk __memset_chk malloc calloc free aligned_alloc posix_memalign
    memalign _Znw _Zna _Zdl _Zda getpid getenv secure_getenv usleep sleep sched_yield dlsym exit _exit abort
    __assert_fail __stack_chk_fail __cxa_ atexit __libc_start_main __gmon_start__ _ITM_ __errno_location
    _gfortran_set_ _gfortran_stop _gfortran_runtime_error _gfortran_error_stop _gfortran_os_error _gfortran_pow_
    _ZGV omp_ GOMP_
";

/// Functions of numbers: those of the mathematical library, also with `f` and `l` at the end; clocks and
/// random numbers.
const NUMBERS: &str = "
    clock rand srand drand48 lrand48 srand48 random srandom acos acosh asin asinh atan atan2 atanh cbrt ceil
    copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod hypot ilogb j0 j1 jn
    ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround nearbyint nextafter pow powi remainder
    rint round roundeven scalbn sin sinh sqrt tan tanh tgamma trunc y0 y1 yn abs labs cabs cexp clog cpow csqrt
    csin ccos carg conj cimag creal
";

/// Returns true if all accesses of a function to memory of the program are recorded by other means.
pub(crate) fn is_harmless(name: &str) -> bool {
    let number = |name: &str| NUMBERS.split_whitespace().any(|known| known == name);
    let stem = name.strip_prefix("__").and_then(|name| name.strip_suffix("_finite")).unwrap_or(name);
    // Blocks of OpenMP end without a call of `free`.
    let openmp = name.starts_with("omp_") || name.starts_with("GOMP_");
    if openmp && (name.contains("alloc") || name.contains("free")) {
        return false;
    }
    HARMLESS.split_whitespace().any(|start| name.starts_with(start))
        || library::results(name).is_some()
        || number(stem)
        || stem.strip_suffix(['f', 'l']).is_some_and(number)
}

/// A function of another part that the program calls, and its known effects.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
pub(crate) struct Callee {
    name: &'static str,
    heap: Option<heap::Function>,
    hazard: Option<hazards::Function>,
    mpi: Option<arguments::Function>,
    results: &'static [(usize, u64)],
    /// Set if its further accesses are unknown.
    opaque: bool,
}

#[cfg(target_arch = "x86_64")]
impl Callee {
    /// Describes the function with this name and address; `None` if its calls do not matter.
    fn of(name: &'static str, address: usize) -> Option<Self> {
        let (heap, mpi) = (heap::Function::of(name), arguments::Function::of(name));
        let followed = heap.filter(|heap| heap.is_followed(name, address));
        let opaque = if heap.is_some() { followed.is_none() } else { mpi.is_none() && !is_harmless(name) };
        let hazard = hazards::Function::of(name);
        let results = library::results(name).unwrap_or_default();
        let is_of_interest = followed.is_some() || mpi.is_some() || hazard.is_some() || !results.is_empty() || opaque;
        is_of_interest.then_some(Self { name, heap: followed, hazard, mpi, results, opaque })
    }

    /// Returns true if calls come back to the stub.
    pub(crate) fn returns_here(&self) -> bool {
        self.heap.is_some_and(heap::Function::has_result)
            || self.mpi.as_ref().is_some_and(arguments::Function::has_result)
    }

    /// Handles a call that is about to be made.
    pub(crate) fn called(&self, call: &Call) {
        if let Some(hazard) = self.hazard {
            hazard.called(call);
        }
        if !state::is_recorded() {
            return;
        }
        if let Some(heap) = self.heap {
            heap.called(call, Place { address: call.back, name: self.name });
        }
        if let Some(mpi) = &self.mpi {
            mpi.called(call);
        }
        for &(argument, size) in self.results {
            match call.argument(argument) {
                0 => {}
                address => library_access(call.back, true, address, size, self.name),
            }
        }
        if self.opaque {
            mark(call.back, self.name);
        }
    }

    /// Handles a call that has been made.
    pub(crate) fn returned(&self, call: &Call, result: u64) {
        if let Some(heap) = self.heap {
            heap.returned(call, Place { address: call.back, name: self.name }, result);
        }
        if let Some(hazard) = self.hazard {
            hazard.returned(call, result);
        }
        if let Some(mpi) = &self.mpi {
            mpi.returned(call);
        }
    }
}

/// Marks a call that returns to `back` and has unknown accesses.
#[cfg(target_arch = "x86_64")]
pub(crate) fn mark(back: u64, name: &str) {
    // Its writes are unknown; recorded as a write, it forbids whatever a write would forbid.
    let _ = state::with(|recorder| recorder.access_of(key(back, true), 0, 0, AccessKind::Opaque, name));
}

/// Set once calls are marked.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// Marks the calls of the instrumented parts of the process from now on. Further calls do nothing.
pub(crate) fn watch() {
    if !WATCHING.swap(true, Ordering::AcqRel) {
        for (base, dynamic) in module::all() {
            mark_calls(base, dynamic, true);
        }
    }
}

/// Handles a new instrumented part of the process. Its calls are marked if those of other parts are; calls
/// that cause hazards are marked in any case.
pub(crate) fn part_added(base: usize, dynamic: usize) {
    mark_calls(base, dynamic, WATCHING.load(Ordering::Acquire));
}

#[cfg(target_arch = "x86_64")]
fn mark_calls(base: usize, dynamic: usize, all: bool) {
    // SAFETY: the dynamic section of a part of the process that is loaded.
    let imports = unsafe { code::imports(base, dynamic) };
    let is_wanted = |import: &&code::Import| {
        !import.is_own && !import.is_data && (all || hazards::Function::of(import.text).is_some())
    };
    let wanted: Vec<_> = imports.iter().filter(is_wanted).collect();
    if wanted.is_empty() && !all {
        return;
    }
    let Some(mut stubs) = Stubs::new(base) else { return };
    // The code is read before anything is changed.
    let marks = if all { code::marks(base, &imports) } else { Vec::new() };
    for import in wanted {
        // SAFETY: the name ends with a zero.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, import.name) } as usize;
        if address == 0 || module::contains(address) {
            continue;
        }
        let Some(callee) = Callee::of(import.text, address) else { continue };
        let Some(stub) = stubs.add(callee, address) else { break };
        // SAFETY: an entry of the table of addresses, aligned, which is written as a whole.
        unsafe { replace(import.slot as *mut usize, stub) };
    }
    for mark in marks {
        let name = if mark.foreign {
            format!("{} (a function that is not instrumented)", frames::object(mark.target))
        } else {
            "a structure that is passed or returned".to_owned()
        };
        // Never freed: calls are noted as long as the process runs.
        let callee = Callee { name: name.leak(), heap: None, hazard: None, mpi: None, results: &[], opaque: true };
        let Some(stub) = stubs.add(callee, mark.target) else { break };
        // SAFETY: the instruction is a call of five bytes in a function of the part.
        unsafe { redirect(mark.call, stub) };
    }
    stubs.protect();
}

/// Does nothing: on other processors calls are not seen, and the file says so.
#[cfg(not(target_arch = "x86_64"))]
fn mark_calls(_base: usize, _dynamic: usize, all: bool) {
    if all {
        let place = crate::recorder::Place { address: 0, name: "calls not seen" };
        let _ = state::with(|recorder| recorder.hazard(place, true));
    }
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn functions_of_numbers_are_harmless_and_those_of_arrays_are_not() {
        for name in ["sqrt", "sqrtf", "powl", "__exp_finite", "MPI_Send", "mpi_send_", "malloc", "_gfortran_pow_i4_i4"]
        {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "dgemm_",
            "cblas_dgemm",
            "strcpy",
            "qsort",
            "fread",
            "_gfortran_matmul_r8",
            "_gfortran_reshape_r8",
            "sincos",
            "frexp",
            "random_r",
            "clock_settime",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
