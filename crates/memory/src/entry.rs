//! What compilers call: reads and writes.
//!
//! The names and arguments are those of two instrumentations. That for data races (`__tsan_`) is gcc's and gfortran's:
//! of variables on the stack clang's sees only part, because it asks for each address by itself whether that leaves the
//! function. So clang takes the one for addresses in kernels, which calls a function at each access, by a name that is
//! asked for (`__hayase_`), and the hooks of `-finstrument-functions`. The return address tells which instruction of
//! the program it is.

use crate::frames;
use crate::module;
use crate::recorder::key;
use crate::state;
use crate::with_caller;

use hayase_trace::memory::Kind;

/// An access of `SIZE` bytes, called from `caller`.
unsafe extern "C" fn plain<const SIZE: u64, const WRITE: bool>(address: u64, caller: u64) {
    state::access::<SIZE>(key(caller, WRITE), address);
}

/// A read and a write of the same `SIZE` bytes by one instruction.
unsafe extern "C" fn update<const SIZE: u64>(address: u64, caller: u64) {
    state::access::<SIZE>(key(caller, false), address);
    state::access::<SIZE>(key(caller, true), address);
}

/// An access of `size` bytes.
unsafe extern "C" fn range<const WRITE: bool>(address: u64, size: u64, caller: u64) {
    if size > 0 && state::with(|recorder| recorder.access(key(caller, WRITE), address, size)).is_none() {
        state::not_recorded();
    }
}

/// A new table of virtual functions for an object.
unsafe extern "C" fn vptr_update(address: u64, _value: u64, caller: u64) {
    state::access::<8>(key(caller, true), address);
}

unsafe extern "C" fn init(caller: u64) {
    module::register(caller as usize);
}

with_caller! {
    __tsan_read1(u64) => plain::<1, false>, "rsi", "x1";
    __tsan_read2(u64) => plain::<2, false>, "rsi", "x1";
    __tsan_read4(u64) => plain::<4, false>, "rsi", "x1";
    __tsan_read8(u64) => plain::<8, false>, "rsi", "x1";
    __tsan_read16(u64) => plain::<16, false>, "rsi", "x1";
    __tsan_write1(u64) => plain::<1, true>, "rsi", "x1";
    __tsan_write2(u64) => plain::<2, true>, "rsi", "x1";
    __tsan_write4(u64) => plain::<4, true>, "rsi", "x1";
    __tsan_write8(u64) => plain::<8, true>, "rsi", "x1";
    __tsan_write16(u64) => plain::<16, true>, "rsi", "x1";

    __tsan_unaligned_read2(u64) => plain::<2, false>, "rsi", "x1";
    __tsan_unaligned_read4(u64) => plain::<4, false>, "rsi", "x1";
    __tsan_unaligned_read8(u64) => plain::<8, false>, "rsi", "x1";
    __tsan_unaligned_read16(u64) => plain::<16, false>, "rsi", "x1";
    __tsan_unaligned_write2(u64) => plain::<2, true>, "rsi", "x1";
    __tsan_unaligned_write4(u64) => plain::<4, true>, "rsi", "x1";
    __tsan_unaligned_write8(u64) => plain::<8, true>, "rsi", "x1";
    __tsan_unaligned_write16(u64) => plain::<16, true>, "rsi", "x1";

    __tsan_volatile_read1(u64) => plain::<1, false>, "rsi", "x1";
    __tsan_volatile_read2(u64) => plain::<2, false>, "rsi", "x1";
    __tsan_volatile_read4(u64) => plain::<4, false>, "rsi", "x1";
    __tsan_volatile_read8(u64) => plain::<8, false>, "rsi", "x1";
    __tsan_volatile_read16(u64) => plain::<16, false>, "rsi", "x1";
    __tsan_volatile_write1(u64) => plain::<1, true>, "rsi", "x1";
    __tsan_volatile_write2(u64) => plain::<2, true>, "rsi", "x1";
    __tsan_volatile_write4(u64) => plain::<4, true>, "rsi", "x1";
    __tsan_volatile_write8(u64) => plain::<8, true>, "rsi", "x1";
    __tsan_volatile_write16(u64) => plain::<16, true>, "rsi", "x1";
    __tsan_unaligned_volatile_read2(u64) => plain::<2, false>, "rsi", "x1";
    __tsan_unaligned_volatile_read4(u64) => plain::<4, false>, "rsi", "x1";
    __tsan_unaligned_volatile_read8(u64) => plain::<8, false>, "rsi", "x1";
    __tsan_unaligned_volatile_read16(u64) => plain::<16, false>, "rsi", "x1";
    __tsan_unaligned_volatile_write2(u64) => plain::<2, true>, "rsi", "x1";
    __tsan_unaligned_volatile_write4(u64) => plain::<4, true>, "rsi", "x1";
    __tsan_unaligned_volatile_write8(u64) => plain::<8, true>, "rsi", "x1";
    __tsan_unaligned_volatile_write16(u64) => plain::<16, true>, "rsi", "x1";

    __tsan_read_write1(u64) => update::<1>, "rsi", "x1";
    __tsan_read_write2(u64) => update::<2>, "rsi", "x1";
    __tsan_read_write4(u64) => update::<4>, "rsi", "x1";
    __tsan_read_write8(u64) => update::<8>, "rsi", "x1";
    __tsan_read_write16(u64) => update::<16>, "rsi", "x1";
    __tsan_unaligned_read_write2(u64) => update::<2>, "rsi", "x1";
    __tsan_unaligned_read_write4(u64) => update::<4>, "rsi", "x1";
    __tsan_unaligned_read_write8(u64) => update::<8>, "rsi", "x1";
    __tsan_unaligned_read_write16(u64) => update::<16>, "rsi", "x1";

    __hayase_load1_noabort(u64) => plain::<1, false>, "rsi", "x1";
    __hayase_load2_noabort(u64) => plain::<2, false>, "rsi", "x1";
    __hayase_load4_noabort(u64) => plain::<4, false>, "rsi", "x1";
    __hayase_load8_noabort(u64) => plain::<8, false>, "rsi", "x1";
    __hayase_load16_noabort(u64) => plain::<16, false>, "rsi", "x1";
    __hayase_store1_noabort(u64) => plain::<1, true>, "rsi", "x1";
    __hayase_store2_noabort(u64) => plain::<2, true>, "rsi", "x1";
    __hayase_store4_noabort(u64) => plain::<4, true>, "rsi", "x1";
    __hayase_store8_noabort(u64) => plain::<8, true>, "rsi", "x1";
    __hayase_store16_noabort(u64) => plain::<16, true>, "rsi", "x1";
    __hayase_loadN_noabort(u64, u64) => range::<false>, "rdx", "x2";
    __hayase_storeN_noabort(u64, u64) => range::<true>, "rdx", "x2";

    __tsan_read_range(u64, u64) => range::<false>, "rdx", "x2";
    __tsan_write_range(u64, u64) => range::<true>, "rdx", "x2";
    __tsan_vptr_read(u64) => plain::<8, false>, "rsi", "x1";
    __tsan_vptr_update(u64, u64) => vptr_update, "rdx", "x2";
    __tsan_init() => init, "rdi", "x0";
}

/// The forms whose caller says where the access is.
macro_rules! with_place {
    ($($name:ident => $body:path;)*) => {$(
        /// Called by instrumented programs.
        ///
        /// # Safety
        /// None is needed: nothing is read or written through the address.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(address: u64, place: u64) {
            // SAFETY: the bodies ask for nothing.
            unsafe { $body(address, place) }
        }
    )*};
}

with_place! {
    __tsan_read1_pc => plain::<1, false>;
    __tsan_read2_pc => plain::<2, false>;
    __tsan_read4_pc => plain::<4, false>;
    __tsan_read8_pc => plain::<8, false>;
    __tsan_read16_pc => plain::<16, false>;
    __tsan_write1_pc => plain::<1, true>;
    __tsan_write2_pc => plain::<2, true>;
    __tsan_write4_pc => plain::<4, true>;
    __tsan_write8_pc => plain::<8, true>;
    __tsan_write16_pc => plain::<16, true>;
}

/// The ranges whose caller says where the access is.
///
/// # Safety
/// None is needed: nothing is read or written through the address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(address: u64, size: u64, place: u64) {
    // SAFETY: the body asks for nothing.
    unsafe { range::<false>(address, size, place) }
}

/// The ranges whose caller says where the access is.
///
/// # Safety
/// None is needed: nothing is read or written through the address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(address: u64, size: u64, place: u64) {
    // SAFETY: the body asks for nothing.
    unsafe { range::<true>(address, size, place) }
}

/// A function is entered, which was called from the address given.
///
/// # Safety
/// Called by instrumented functions before anything else that they are written to do.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_entry(_: u64) {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "mov rsi, [rsp]", "lea rdx, [rsp + 8]", "mov rcx, rbp", "jmp {body}", body = sym frames::enter
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x1, x30", "mov x2, sp", "mov x3, x29", "b {body}", body = sym frames::enter);
}

/// A function is entered; the second argument is the address in its caller.
///
/// # Safety
/// Called by instrumented functions before anything else that they are written to do.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cyg_profile_func_enter(_: u64, _: u64) {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "mov rdi, rsi", "mov rsi, [rsp]", "lea rdx, [rsp + 8]", "mov rcx, rbp", "jmp {body}", body = sym enter
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "mov x0, x1", "mov x1, x30", "mov x2, sp", "mov x3, x29", "b {body}", body = sym enter
    );
}

/// Where no part of the program says that it is instrumented, its first function does.
extern "C" fn enter(caller: usize, place: usize, low: usize, pointer: usize) {
    module::register(place);
    frames::enter(caller, place, low, pointer);
}

/// A function is left.
///
/// # Safety
/// Called by instrumented functions after all else that they are written to do.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cyg_profile_func_exit(_: u64, _: u64) {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rdi, [rsp]", "lea rsi, [rsp + 8]", "jmp {body}", body = sym frames::leave);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x0, x30", "mov x1, sp", "b {body}", body = sym frames::leave);
}

/// A function is left.
///
/// # Safety
/// Called by instrumented functions after all else that they are written to do.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rdi, [rsp]", "lea rsi, [rsp + 8]", "jmp {body}", body = sym frames::leave);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x0, x30", "mov x1, sp", "b {body}", body = sym frames::leave);
}

/// Functions that tell nothing about memory: what races are to be ignored.
macro_rules! nothing {
    ($($name:ident)*) => {$(
        /// Called by instrumented programs; does nothing.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            core::arch::naked_asm!("ret");
        }
    )*};
}

nothing! {
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    __tsan_acquire __tsan_release
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_lock __tsan_mutex_post_lock
    __tsan_mutex_pre_unlock __tsan_mutex_post_unlock
    AnnotateHappensBefore AnnotateHappensAfter AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd
    AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd
    __asan_handle_no_return __asan_poison_memory_region __asan_unpoison_memory_region
}

/// A library function of the program accessed `size` bytes.
pub(crate) fn library_access(caller: u64, write: bool, address: u64, size: u64, name: &str) {
    if size > 0
        && state::with(|recorder| recorder.access_of(key(caller, write), address, size, Kind::Library, name)).is_none()
    {
        state::not_recorded();
    }
}

/// Atomic operations access `size` bytes.
#[inline]
pub(crate) fn atomic_access(caller: u64, write: bool, address: u64, size: u64) {
    if state::with(|recorder| recorder.access_of(key(caller, write), address, size, Kind::Atomic, "")).is_none() {
        state::not_recorded();
    }
}
