//! Calls that the program makes of code which is not instrumented: marked by function and position, since what they
//! access is not seen.
//!
//! A program calls functions of libraries through a table of addresses (the global offset table). When the recording
//! starts, the entries of instrumented parts are changed to point to small stubs, which note the call and go on to the
//! function as if nothing had been there: all registers that may hold arguments are kept, and the function returns to
//! the program itself.
//!
//! Not marked are functions that are known to access nothing of the program's (`HARMLESS`), those whose accesses are
//! recorded by other means, and calls through pointers.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use hayase_trace::memory::Kind;

use crate::recorder::key;
#[cfg(target_arch = "x86_64")]
use crate::{code, frames};
use crate::{module, state};

/// Functions whose calls are not marked, by the beginnings of their names.
///
/// They access memory of their own, memory that the program has not yet or no longer, or nothing; MPI's are recorded as
/// what they are; the rest are those of this library and of the start and the end of a process.
const HARMLESS: &[&str] = &[
    "MPI_",
    "PMPI_",
    "mpi_",
    "pmpi_",
    "ompi_",
    "MPIR_",
    "__tsan_",
    "__asan_",
    "__hayase_",
    "__cyg_profile_func_",
    "hayase_",
    "Annotate",
    "memcpy",
    "memmove",
    "memset",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "malloc",
    "calloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "_Znw",
    "_Zna",
    "_Zdl",
    "_Zda",
    "clock",
    "time",
    "gettimeofday",
    "getpid",
    "getenv",
    "secure_getenv",
    "usleep",
    "sleep",
    "nanosleep",
    "sched_yield",
    "rand",
    "srand",
    "drand48",
    "srand48",
    "random",
    "srandom",
    "dlsym",
    "exit",
    "_exit",
    "abort",
    "__assert_fail",
    "__stack_chk_fail",
    "__cxa_",
    "atexit",
    "__libc_start_main",
    "__gmon_start__",
    "_ITM_",
    "__errno_location",
    "_gfortran_set_",
    "_gfortran_stop",
    "_gfortran_runtime_error",
    "_gfortran_error_stop",
    "_gfortran_os_error",
    "_gfortran_st_write",
    "_gfortran_st_read",
    "_gfortran_system_clock",
    "_gfortran_cpu_time",
    "_gfortran_pow_",
    "_ZGV",
    "_gfortran_random_r",
    "_gfortran_random_seed",
    "omp_",
    "GOMP_",
];

/// Functions of the mathematical library that take and give numbers; also with `f` and `l` at the end.
const MATHEMATICAL: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "pow",
    "powi",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
    "abs",
    "labs",
    "cabs",
    "cexp",
    "clog",
    "cpow",
    "csqrt",
    "csin",
    "ccos",
    "carg",
    "conj",
    "cimag",
    "creal",
];

/// Whether a function accesses nothing of the program's that is not recorded otherwise.
pub(crate) fn is_harmless(name: &str) -> bool {
    let number = |name: &str| MATHEMATICAL.contains(&name);
    let stem = name.strip_prefix("__").and_then(|name| name.strip_suffix("_finite")).unwrap_or(name);
    HARMLESS.iter().any(|start| name.starts_with(start))
        || number(stem)
        || stem.strip_suffix(['f', 'l']).is_some_and(number)
}

/// Most functions that are marked.
const MOST: usize = 1 << 14;

/// A function behind a stub.
struct Function {
    /// Its name; it is never freed.
    name: AtomicPtr<libc::c_char>,
}

static FUNCTIONS: [Function; MOST] = [const { Function { name: AtomicPtr::new(ptr::null_mut()) } }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Notes a call of function `index`, which returns to `caller`.
unsafe extern "C" fn note(index: usize, caller: u64) {
    if !state::is_recorded() {
        return;
    }
    let Some(function) = FUNCTIONS.get(index) else { return };
    let name = function.name.load(Ordering::Acquire);
    if name.is_null() {
        return;
    }
    // SAFETY: a name in the table of strings of a part of the process, which stays.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?");
    // What it writes nobody knows; as a write it bars whatever a write would bar. The call may be one that tells of an
    // access, whose site has the return address for itself.
    let _ = state::with(|recorder| recorder.access_of(key(caller - 1, true), 0, 0, Kind::Opaque, name));
}

/// What all stubs jump to, with the index of the function and its address on the stack, the index on top, above the
/// return address. Keeps all registers that may hold arguments.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn common() {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r10",
        "sub rsp, 128",
        "and rsp, -16",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, [rbp + 8]",
        "mov rsi, [rbp + 24]",
        "call {note}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "lea rsp, [rbp - 64]",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rax",
        "pop rbp",
        // The index goes; the address of the function is what `ret` takes.
        "add rsp, 8",
        "ret",
        note = sym note,
    );
}

/// Calls are marked.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// Marks the calls of the instrumented parts of the process from now on. Once it has, it does nothing.
pub(crate) fn watch() {
    if !WATCHING.swap(true, Ordering::AcqRel) {
        for (base, dynamic) in module::all() {
            mark_calls(base, dynamic);
        }
    }
}

/// A part of the process is found to be instrumented: its calls are marked if others' are.
pub(crate) fn added(base: usize, dynamic: usize) {
    if WATCHING.load(Ordering::Acquire) {
        mark_calls(base, dynamic);
    }
}

#[cfg(target_arch = "x86_64")]
fn mark_calls(base: usize, dynamic: usize) {
    // SAFETY: the dynamic section of a part of the process that is loaded.
    let imports = unsafe { code::imports(base, dynamic) };
    let Some(mut stubs) = Stubs::new(base) else { return };
    // What the code says is read before anything is changed.
    let marks = code::marks(base, &imports);
    for import in imports.iter().filter(|import| !import.is_own && !import.is_data && !is_harmless(import.text)) {
        // SAFETY: the name ends with a zero.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, import.name) } as usize;
        if address == 0 || module::contains(address) {
            continue;
        }
        let Some(stub) = stubs.add(import.name, address) else { break };
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
        let name = CString::new(name).unwrap_or_default().into_raw();
        let Some(stub) = stubs.add(name, mark.target) else { break };
        // SAFETY: the instruction is a call of five bytes in a function of the part.
        unsafe { redirect(mark.call, stub) };
    }
    stubs.protect();
}

/// On other processors calls are not marked; the file says nothing of opaque calls then.
#[cfg(not(target_arch = "x86_64"))]
fn mark_calls(_base: usize, _dynamic: usize) {}

/// Memory for stubs, writable until [`protect`](Self::protect).
#[cfg(target_arch = "x86_64")]
struct Stubs {
    memory: *mut u8,
    count: usize,
}

/// Bytes of a stub: push the address, push the index, jump.
#[cfg(target_arch = "x86_64")]
const STUB: usize = 40;

/// How far a call instruction reaches, less than it does.
#[cfg(target_arch = "x86_64")]
const REACH: usize = 1 << 30;

#[cfg(target_arch = "x86_64")]
impl Stubs {
    /// Near the part that is loaded at `base`, if there is room.
    fn new(base: usize) -> Option<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let places = (1..REACH >> 24).flat_map(|i| [base.wrapping_add(i << 24), base.saturating_sub(i << 24)]);
        for place in places.filter(|&place| place > 1 << 24) {
            let place = (place & !0xffff) as *mut c_void;
            let flags = flags | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: asks for new memory where there is none yet.
            let memory = unsafe { libc::mmap(place, MOST * STUB, protection, flags, -1, 0) };
            if memory == place {
                return Some(Self { memory: memory.cast(), count: 0 });
            }
            if memory != libc::MAP_FAILED {
                // SAFETY: what a system gave that does not know the flag.
                unsafe { libc::munmap(memory, MOST * STUB) };
            }
        }
        // SAFETY: asks for new memory anywhere: calls through the table of addresses reach it.
        let memory = unsafe { libc::mmap(ptr::null_mut(), MOST * STUB, protection, flags, -1, 0) };
        (memory != libc::MAP_FAILED).then_some(Self { memory: memory.cast(), count: 0 })
    }

    /// A stub for the function of this name and address.
    fn add(&mut self, name: *mut libc::c_char, address: usize) -> Option<usize> {
        let index = COUNT.load(Ordering::Relaxed);
        let function = FUNCTIONS.get(index)?;
        function.name.store(name, Ordering::Release);
        COUNT.store(index + 1, Ordering::Release);
        let mut code = [0x90_u8; STUB];
        // mov r11, address; push r11
        code[..2].copy_from_slice(&[0x49, 0xbb]);
        code[2..10].copy_from_slice(&(address as u64).to_le_bytes());
        code[10..12].copy_from_slice(&[0x41, 0x53]);
        // push index
        code[12] = 0x68;
        code[13..17].copy_from_slice(&(index as u32).to_le_bytes());
        // mov r11, common; jmp r11
        code[17..19].copy_from_slice(&[0x49, 0xbb]);
        code[19..27].copy_from_slice(&(common as *const () as u64).to_le_bytes());
        code[27..30].copy_from_slice(&[0x41, 0xff, 0xe3]);
        // SAFETY: the memory has room for MOST stubs, and there are no more functions than that in all.
        unsafe {
            let stub = self.memory.add(self.count * STUB);
            self.count += 1;
            ptr::copy_nonoverlapping(code.as_ptr(), stub, STUB);
            Some(stub as usize)
        }
    }

    /// Makes the stubs executable and no longer writable.
    fn protect(self) {
        // SAFETY: the memory that `new` was given.
        unsafe { libc::mprotect(self.memory.cast(), MOST * STUB, libc::PROT_READ | libc::PROT_EXEC) };
    }
}

/// Makes a call instruction go elsewhere.
///
/// # Safety
/// `call` is the address of a call instruction of five bytes.
#[cfg(target_arch = "x86_64")]
unsafe fn redirect(call: usize, to: usize) {
    let Ok(way) = i32::try_from(to.wrapping_sub(call + 5) as isize) else { return };
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = (call + 1) & !(page - 1);
    let length = if (call + 4) & !(page - 1) == start { page } else { 2 * page };
    let (start, code) = (start as *mut c_void, libc::PROT_READ | libc::PROT_EXEC);
    // SAFETY: promised by the caller: the four bytes behind the first are the distance, and the pages are code.
    unsafe {
        if libc::mprotect(start, length, code | libc::PROT_WRITE) == 0 {
            ((call + 1) as *mut i32).write_unaligned(way);
            libc::mprotect(start, length, code);
        }
    }
}

/// Writes an entry of a table of addresses, which may be on a page that is only read.
///
/// # Safety
/// `place` is such an entry.
#[cfg(target_arch = "x86_64")]
unsafe fn replace(place: *mut usize, stub: usize) {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = (place as usize & !(page - 1)) as *mut c_void;
    // SAFETY: promised by the caller; the page stays readable, and only what was not writable before is not afterwards.
    unsafe {
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        if libc::mprotect(start, page, writable) == 0 {
            AtomicUsize::from_ptr(place).store(stub, Ordering::Release);
        }
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
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
