//! The program's floating-point environment: which errors have been flagged, which trap, how results are rounded.
//!
//! It is the program's alone. A call that is recorded computes with integers only, and a test looks at the machine code
//! for it: not a single instruction of this library may raise a flag, so calls pay nothing. (A conversion `f64 as u64`
//! is one that may, and compilers move it before the test of whether there is anything to convert.) What is rare and
//! asks others (the C library for files, MPI for communicators of its own accord) runs in an environment of its own
//! instead ([`apart`]), and nobody sees what it raised. MPI does what it is asked to in the program's.

/// Does something in the environment that a process starts with; then that of the program is back.
pub(crate) fn apart<R>(action: impl FnOnce() -> R) -> R {
    let _back = Environment::enter();
    action()
}

/// The environment of the program, put back at the end, also when a panic passes.
struct Environment(Saved);

impl Drop for Environment {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// Of the processor's two units: control and flags of SSE; control, flags and tags of the x87.
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
        // No flag, no trap, to nearest.
        let start = 0x1f80_u32;
        // SAFETY: there is room for what is stored. `fnstenv` lets nothing trap any more, and no register is changed:
        // what the x87 may hold between calls of functions is nothing.
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
        // SAFETY: both were stored by the instructions that these are the inverse of.
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
        // SAFETY: both registers are there, and zero is what a process starts with: no flag, no trap, to nearest.
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
        // SAFETY: both are what was read there.
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
