//! Floating-point environment of the program: flagged errors, traps, rounding.
//!
//! It belongs to the program alone. A recorded call computes with integers only, and a test checks the
//! machine code: no instruction of this library may raise a flag, so calls pay nothing to protect the
//! environment. A conversion `f64 as u64` would raise one, and compilers move it before the test that guards
//! it.
//!
//! Rare work that calls other libraries (the C library for files, MPI for the recorder's own questions about
//! communicators) runs in a separate environment ([`apart`]), which hides the flags it raises. The calls of
//! the program run in the program's environment.

/// Runs an action in the environment that a process starts with, then restores that of the program.
pub(crate) fn apart<R>(action: impl FnOnce() -> R) -> R {
    let _back = Environment::enter();
    action()
}

/// Environment of the program. It is restored on drop, also when a panic passes.
struct Environment(Saved);

impl Drop for Environment {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// State of the processor's two units: control and flags of SSE; control, flags and tags of the x87.
#[cfg(target_arch = "x86_64")]
#[repr(C)]
struct Saved {
    x87: [u32; 7],
    sse: u32,
}

#[cfg(target_arch = "x86_64")]
impl Environment {
    fn enter() -> Self {
        let mut saved = Saved { x87: [0; 7], sse: 0 };
        // No flag, no trap, rounding to nearest.
        let start = 0x1f80_u32;
        // SAFETY: there is room for what is stored. `fnstenv` disables traps, and no register is changed:
        // between calls of functions the x87 holds nothing.
        unsafe {
            core::arch::asm!(
                "stmxcsr [{sse}]",
                "fnstenv [{x87}]",
                "fnclex",
                "ldmxcsr [{start}]",
                sse = in(reg) &raw mut saved.sse,
                x87 = in(reg) &raw mut saved.x87,
                start = in(reg) &raw const start,
                options(nostack),
            );
        }
        Self(saved)
    }
}

#[cfg(target_arch = "x86_64")]
impl Saved {
    fn restore(&self) {
        // SAFETY: both were stored by the inverses of these instructions.
        unsafe {
            core::arch::asm!(
                "fldenv [{x87}]",
                "ldmxcsr [{sse}]",
                sse = in(reg) &raw const self.sse,
                x87 = in(reg) &raw const self.x87,
                options(nostack),
            );
        }
    }
}

/// Control and flags.
#[cfg(target_arch = "aarch64")]
struct Saved {
    control: u64,
    flags: u64,
}

#[cfg(target_arch = "aarch64")]
impl Environment {
    fn enter() -> Self {
        let (control, flags): (u64, u64);
        // SAFETY: both registers exist, and a process starts with zero in them: no flag, no trap, rounding to
        // nearest.
        unsafe {
            core::arch::asm!(
                "mrs {control}, fpcr",
                "mrs {flags}, fpsr",
                "msr fpcr, xzr",
                "msr fpsr, xzr",
                control = out(reg) control,
                flags = out(reg) flags,
                options(nostack),
            );
        }
        Self(Saved { control, flags })
    }
}

#[cfg(target_arch = "aarch64")]
impl Saved {
    fn restore(&self) {
        // SAFETY: both values were read there.
        unsafe {
            core::arch::asm!(
                "msr fpsr, {flags}",
                "msr fpcr, {control}",
                control = in(reg) self.control,
                flags = in(reg) self.flags,
                options(nostack),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    unsafe extern "C" {
        fn feclearexcept(flags: i32) -> i32;
        fn feraiseexcept(flags: i32) -> i32;
        fn fetestexcept(flags: i32) -> i32;
        fn feenableexcept(flags: i32) -> i32;
        fn fedisableexcept(flags: i32) -> i32;
        fn fegetexcept() -> i32;
    }

    #[cfg(target_arch = "x86_64")]
    const FLAGS: (i32, i32, i32) = (1, 4, 8);
    #[cfg(target_arch = "aarch64")]
    const FLAGS: (i32, i32, i32) = (1, 2, 4);

    #[test]
    fn what_happens_apart_neither_traps_nor_leaves_a_flag() {
        let (invalid, zero, overflow) = FLAGS;
        // SAFETY: functions of the C library on numbers; no flag that may trap is raised outside of `apart`.
        unsafe {
            feclearexcept(invalid | zero | overflow);
            feraiseexcept(overflow);
            feenableexcept(invalid | zero);
            let traps = fegetexcept();
            let there = apart(|| {
                assert_eq!((fetestexcept(overflow), fegetexcept()), (0, 0), "no flag and no trap");
                let infinite = black_box(1.0) / black_box(0.0_f64);
                assert!((black_box(infinite) - black_box(infinite)).is_nan());
                fetestexcept(invalid | zero | overflow)
            });
            assert_eq!(there, invalid | zero);
            assert_eq!((fetestexcept(invalid | zero | overflow), fegetexcept()), (overflow, traps));
            fedisableexcept(invalid | zero);
            feclearexcept(overflow);
        }
    }
}
