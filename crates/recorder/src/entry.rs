//! Exported symbols, which learn the address they were called from.
//!
//! A function of Rust can get neither its return address nor the frame of its caller. So each exported symbol
//! is a few instructions that make an ordinary frame. Its first two words are the caller's frame pointer and
//! the return address. The symbol then passes the call to a body with one more argument at the end: the
//! address of that `Frame`. Arguments on the stack are copied below it.
//!
//! `export!("Send", 6, send)` exports `MPI_Send` with six arguments, each an integer or a pointer; `send` is
//! an `unsafe extern "C" fn` with these six and `site: usize`. `PMPI_Send` is exported in the same way,
//! because the layers for Fortran call it ([`fortran`](crate::fortran)).

/// First words of a frame, on x86_64 and on aarch64.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Frame pointer of the caller, or any other value that it keeps in that register.
    pointer: usize,
    /// Return address of the call.
    back: usize,
}

/// Origin of a call, from which the callers of the caller can be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Caller {
    /// Return address of the call; 0 if unknown.
    pub back: usize,
    /// Stack pointer after the call has returned.
    pub stack: usize,
    /// Frame pointer there, or any other value of that register.
    pub frame: usize,
}

impl Caller {
    /// Returns the origin of a call, given the last argument of its body.
    ///
    /// # Safety
    /// `site` is that argument, and the body has not returned.
    #[inline]
    pub unsafe fn at(site: usize) -> Self {
        // SAFETY: the frame lies there until the body returns.
        let Frame { pointer, back } = unsafe { *(site as *const Frame) };
        Self { back, stack: site + size_of::<Frame>(), frame: pointer }
    }
}

/// Exports a function of MPI under its names with `MPI_` and `PMPI_`. Arguments: its name without prefix, its
/// number of arguments, its body.
macro_rules! export {
    ($name:expr, $count:expr, $body:path) => {
        $crate::entry::export!(@symbol concat!("MPI_", $name), $count, $body);
        $crate::entry::export!(@symbol concat!("PMPI_", $name), $count, $body);
    };
    (@symbol $symbol:expr, $count:expr, $body:path) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn entry() {
                $crate::entry::hand_on!($count, $body)
            }
        };
    };
}

/// Generates the instructions of an entry with a number of arguments. On entry the stack is 8 below a
/// multiple of 16, and a call needs a multiple: the frame pointer makes it one.
#[cfg(target_arch = "x86_64")]
macro_rules! hand_on {
    ($count:expr, $body:path) => {
        ::core::arch::naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            ".if {count} == 0",
            "mov rdi, rsp",
            ".elseif {count} == 1",
            "mov rsi, rsp",
            ".elseif {count} == 2",
            "mov rdx, rsp",
            ".elseif {count} == 3",
            "mov rcx, rsp",
            ".elseif {count} == 4",
            "mov r8, rsp",
            ".elseif {count} == 5",
            "mov r9, rsp",
            ".else",
            ".if {copied} % 2 == 0",
            "sub rsp, 8",
            ".endif",
            "push rbp",
            ".set hayase_i, {copied}",
            ".rept {copied}",
            "push qword ptr [rbp + 8 + 8 * hayase_i]",
            ".set hayase_i, hayase_i - 1",
            ".endr",
            ".endif",
            "call {body}",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            count = const $count,
            copied = const usize::saturating_sub($count, 6),
            body = sym $body,
        )
    };
}

/// See above.
#[cfg(target_arch = "aarch64")]
macro_rules! hand_on {
    ($count:expr, $body:path) => {
        ::core::arch::naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset x29, -16",
            ".cfi_offset x30, -8",
            "mov x29, sp",
            ".cfi_def_cfa_register x29",
            ".if {count} < 8",
            "mov x{count}, sp",
            ".else",
            "sub sp, sp, #(8 * {copied} / 16 * 16 + 16)",
            ".set hayase_i, 0",
            ".rept {copied}",
            "ldr x9, [x29, #(16 + 8 * hayase_i)]",
            "str x9, [sp, #(8 * hayase_i)]",
            ".set hayase_i, hayase_i + 1",
            ".endr",
            "str x29, [sp, #(8 * {copied})]",
            ".endif",
            "bl {body}",
            "mov sp, x29",
            "ldp x29, x30, [sp], #16",
            ".cfi_def_cfa sp, 0",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "ret",
            ".cfi_endproc",
            count = const $count,
            copied = const usize::saturating_sub($count, 8),
            body = sym $body,
        )
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the recorder knows how calls come in on x86_64 and aarch64 only");

pub(crate) use {export, hand_on};

#[cfg(test)]
mod tests {
    use std::ffi::c_int;
    use std::mem::transmute;

    use super::Caller;

    /// Adds up its arguments, each in a digit of its own, and keeps the last one.
    macro_rules! body {
        ($name:ident $($argument:ident $digit:literal)*) => {
            unsafe extern "C" fn $name($($argument: usize,)* site: usize) -> c_int {
                let digits = 0_u64 $(+ $argument as u64 * 10_u64.pow($digit))*;
                // SAFETY: it is the last argument of a body.
                SEEN.with(|seen| seen.set((digits, unsafe { Caller::at(site) })));
                7
            }
        };
    }
    thread_local! {
        static SEEN: std::cell::Cell<(u64, Caller)> =
            const { std::cell::Cell::new((0, Caller { back: 0, stack: 0, frame: 0 })) };
    }
    body!(zero);
    body!(five a 0 b 1 c 2 d 3 e 4);
    body!(six a 0 b 1 c 2 d 3 e 4 f 5);
    body!(seven a 0 b 1 c 2 d 3 e 4 f 5 g 6);
    body!(eight a 0 b 1 c 2 d 3 e 4 f 5 g 6 h 7);
    body!(nine a 0 b 1 c 2 d 3 e 4 f 5 g 6 h 7 i 8);
    body!(twelve a 0 b 1 c 2 d 3 e 4 f 5 g 6 h 7 i 8 j 9 k 10 l 11);
    body!(thirteen a 0 b 1 c 2 d 3 e 4 f 5 g 6 h 7 i 8 j 9 k 10 l 11 m 12);
    macro_rules! entry {
        ($($symbol:ident $count:literal $body:ident;)*) => {$(
            #[unsafe(naked)]
            unsafe extern "C" fn $symbol() {
                super::hand_on!($count, $body)
            }
        )*};
    }
    entry! {
        hayase_test_zero 0 zero;
        hayase_test_five 5 five;
        hayase_test_six 6 six;
        hayase_test_seven 7 seven;
        hayase_test_eight 8 eight;
        hayase_test_nine 9 nine;
        hayase_test_twelve 12 twelve;
        hayase_test_thirteen 13 thirteen;
    }

    macro_rules! call {
        ($symbol:ident($($value:literal),*) gives $digits:literal) => {{
            #[allow(unused_macros, reason = "a call without arguments has no use for it")]
            macro_rules! word { ($v:literal) => { usize }; }
            // SAFETY: the symbol takes this many words.
            let function = unsafe { transmute::<unsafe extern "C" fn(), unsafe extern "C" fn($(word!($value)),*) -> c_int>($symbol) };
            // SAFETY: the body looks at words only.
            let result = unsafe { function($($value),*) };
            let (digits, Caller { back, stack, .. }) = SEEN.with(std::cell::Cell::get);
            assert_eq!((result, digits), (7, $digits), stringify!($symbol));
            // The call returns into this test: far from zero, near the running function.
            let here = every_argument_and_the_return_address_arrive as fn() as usize;
            assert!(back.abs_diff(here) < 1 << 20, "{} from {back:#x}, not near {here:#x}", stringify!($symbol));
            // Its stack pointer is at most the size of a frame below this variable.
            let variable = &raw const digits as usize;
            assert!(stack.is_multiple_of(16) && stack.abs_diff(variable) < 1 << 16, "{stack:#x}, near {variable:#x}");
        }};
    }

    #[test]
    fn every_argument_and_the_return_address_arrive() {
        call!(hayase_test_zero() gives 0);
        call!(hayase_test_five(1, 2, 3, 4, 5) gives 54321);
        call!(hayase_test_six(1, 2, 3, 4, 5, 6) gives 654321);
        call!(hayase_test_seven(1, 2, 3, 4, 5, 6, 7) gives 7654321);
        call!(hayase_test_eight(1, 2, 3, 4, 5, 6, 7, 8) gives 87654321);
        call!(hayase_test_nine(1, 2, 3, 4, 5, 6, 7, 8, 9) gives 987654321);
        call!(hayase_test_twelve(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3) gives 321987654321);
        call!(hayase_test_thirteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4) gives 4321987654321);
    }
}
