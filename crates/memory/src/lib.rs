//! The run-time library behind programs whose memory accesses are recorded.
//!
//! Compilers can be asked to call a function at every access to memory: `-fsanitize=thread`, made for finding data
//! races. `hayase cc` and `hayase fc` compile with that option and link this library in the place of the one that looks
//! for races. What the calls say is turned into nests of runs ([`hayase_trace::memory`]) and written to a file.
//!
//! * [`recorder`]: from accesses to runs; knows neither compilers nor processes.
//! * `control`: starts, stops and divides the recording; the recorder of MPI calls finds these functions by name.
//! * `state`: who is recorded: one thread, the one that started.
//! * `entry`, `atomic`: the functions that compilers call.
//! * `frames`: which functions run, where their variables are, and who called them.
//! * `library`: `memcpy` and its like, which compilers do not instrument.
//! * `code`: which functions of a part are not instrumented, and what others access without telling; by reading
//!   instructions.
//! * `opaque`: calls of functions that nobody instrumented: marked, since what they access cannot be seen.
//! * `stubs`: code that stands before such functions.
//! * `arguments`: what functions of MPI read and write besides messages.
//! * `heap`: blocks of memory that begin and end.
//! * `sections`: copies that Fortran makes of arrays for calls.
//! * `hazards`: threads, handlers of signals, shared memory and more, by which memory changes unseen.
//!
//! A program that was linked with this library runs without Hayase too: before `hayase_memory_start` an access costs a
//! call and a comparison.
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

/// Defines functions that hand their caller's return address on as one more argument.
///
/// `NAME(arguments) => BODY in REGISTERS`: the function jumps to `BODY` with the return address in the named argument
/// registers (x86-64, aarch64), those after its own arguments.
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
