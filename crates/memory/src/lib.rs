//! Run-time library of programs whose memory accesses are recorded.
//!
//! Compilers can call a function at every access to memory: `-fsanitize=thread`, made for finding data races.
//! `hayase cc` and `hayase fc` compile with that option and link this library in place of the race detector.
//! The calls are folded into nests of runs ([`hayase_trace::memory`]) and written to a file.
//!
//! * [`recorder`]: from accesses to runs; knows neither compilers nor processes.
//! * `control`: starts, stops and divides the recording; the recorder of MPI calls finds these functions by name.
//! * `state`: the recorded thread: the one that started the recording.
//! * `entry`, `atomic`: the hooks that compilers call.
//! * `frames`: running functions, the place of their variables, and their callers.
//! * `library`: `memcpy` and similar functions, which compilers do not instrument.
//! * `code`: finds functions of a part that are not instrumented, and unreported accesses of others, by reading
//!   instructions.
//! * `opaque`: calls of functions that are not instrumented: marked, since their accesses cannot be seen.
//! * `stubs`: code that stands before such functions.
//! * `arguments`: memory that functions of MPI read and write besides messages.
//! * `heap`: blocks of memory that begin and end.
//! * `sections`: copies that Fortran makes of arrays for calls.
//! * `hazards`: threads, signal handlers, shared memory and more, by which memory changes unseen.
//!
//! A program linked with this library also runs without Hayase: before `hayase_memory_start` an access costs
//! a call and a comparison.
//!
//! Linux on x86-64 and aarch64.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

pub mod recorder;

#[cfg(target_arch = "x86_64")]
mod arguments;
mod atomic;
#[cfg(target_arch = "x86_64")]
mod code;
mod control;
mod entry;
mod frames;
#[cfg(target_arch = "x86_64")]
mod hazards;
#[cfg(target_arch = "x86_64")]
mod heap;
mod library;
mod module;
mod opaque;
#[cfg(target_arch = "x86_64")]
mod sections;
mod state;
#[cfg(target_arch = "x86_64")]
mod stubs;

/// Jumps to `BODY` with the return address in the named argument registers (x86-64, aarch64).
macro_rules! jump_with_caller {
    ($body:path, $x86:literal, $arm:literal) => {{
        #[cfg(target_arch = "x86_64")]
        core::arch::naked_asm!(concat!("mov ", $x86, ", [rsp]"), "jmp {body}", body = sym $body);
        #[cfg(target_arch = "aarch64")]
        core::arch::naked_asm!(concat!("mov ", $arm, ", x30"), "b {body}", body = sym $body);
    }};
}
pub(crate) use jump_with_caller;

/// Defines functions that pass their caller's return address on as one more argument.
///
/// `NAME(arguments) => BODY in REGISTERS`: the function jumps to `BODY` with the return address in the named
/// argument registers (x86-64, aarch64), those after its own arguments.
macro_rules! with_caller {
    ($($name:expr, ($($argument:ty),*) $(-> $result:ty)? => $body:path, $x86:literal, $arm:literal;)*) => {$(
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn entry($(_: $argument),*) $(-> $result)? {
                $crate::jump_with_caller!($body, $x86, $arm)
            }
        };
    )*};
}
pub(crate) use with_caller;
