//! Hooks of the compilers for reads and writes.
//!
//! The names and arguments are those of two instrumentations. gcc and gfortran use that for data races
//! (`__tsan_`). In clang it covers only part of the variables on the stack, because clang checks for each
//! address alone if it leaves the function. So clang uses the one for addresses in kernels, which calls a
//! function at each access, with a chosen prefix (`__hayase_`), and the hooks of `-finstrument-functions`.
//! The return address identifies the instruction of the program.

use crate::frames;
use crate::module;
use crate::recorder::key;
use crate::state;
use crate::with_caller;

use hayase_trace::memory::AccessKind;

/// Records a read of `SIZE` bytes, called from `caller`.
unsafe extern "C" fn read<const SIZE: u64>(address: u64, caller: u64) {
    state::access::<SIZE>(key(caller, false), address);
}

/// Records a write of `SIZE` bytes.
unsafe extern "C" fn write<const SIZE: u64>(address: u64, caller: u64) {
    state::access::<SIZE>(key(caller, true), address);
}

/// Records a read and a write of the same `SIZE` bytes by one instruction.
unsafe extern "C" fn update<const SIZE: u64>(address: u64, caller: u64) {
    state::access::<SIZE>(key(caller, false), address);
    state::access::<SIZE>(key(caller, true), address);
}

/// Records an access of `size` bytes.
unsafe extern "C" fn range<const WRITE: bool>(address: u64, size: u64, caller: u64) {
    if size > 0 && state::with(|recorder| recorder.access(key(caller, WRITE), address, size)).is_none() {
        state::not_recorded();
    }
}

/// Records that an object gets a new table of virtual functions.
unsafe extern "C" fn vptr_update(address: u64, _value: u64, caller: u64) {
    state::access::<8>(key(caller, true), address);
}

unsafe extern "C" fn init(caller: u64) {
    module::register(caller as usize);
}

/// Defines functions of one access: the parts of their names before and behind the number of bytes, their
/// body, these numbers.
macro_rules! accesses {
    ($($before:literal $behind:literal $body:ident: $($size:literal)*;)*) => {
        with_caller! {$($(
            concat!($before, $size, $behind), (u64) => $body::<$size>, "rsi", "x1";
        )*)*}
    };
}

accesses! {
    "__tsan_read" "" read: 1 2 4 8 16;
    "__tsan_write" "" write: 1 2 4 8 16;
    "__tsan_unaligned_read" "" read: 2 4 8 16;
    "__tsan_unaligned_write" "" write: 2 4 8 16;
    "__tsan_volatile_read" "" read: 1 2 4 8 16;
    "__tsan_volatile_write" "" write: 1 2 4 8 16;
    "__tsan_unaligned_volatile_read" "" read: 2 4 8 16;
    "__tsan_unaligned_volatile_write" "" write: 2 4 8 16;
    "__tsan_read_write" "" update: 1 2 4 8 16;
    "__tsan_unaligned_read_write" "" update: 2 4 8 16;
    "__hayase_load" "_noabort" read: 1 2 4 8 16;
    "__hayase_store" "_noabort" write: 1 2 4 8 16;
}

with_caller! {
    "__hayase_loadN_noabort", (u64, u64) => range::<false>, "rdx", "x2";
    "__hayase_storeN_noabort", (u64, u64) => range::<true>, "rdx", "x2";
    "__tsan_read_range", (u64, u64) => range::<false>, "rdx", "x2";
    "__tsan_write_range", (u64, u64) => range::<true>, "rdx", "x2";
    "__tsan_vptr_read", (u64) => read::<8>, "rsi", "x1";
    "__tsan_vptr_update", (u64, u64) => vptr_update, "rdx", "x2";
    "__tsan_init", () => init, "rdi", "x0";
}

/// Defines forms whose caller passes the place of the access.
macro_rules! with_place {
    ($($name:literal $body:ident: $($size:literal)*;)*) => {$($(
        with_place!(concat!($name, $size, "_pc"), $body::<$size>, address);
    )*)*};
    ($name:expr, $body:path, $($argument:ident)*) => {
        const _: () = {
            /// # Safety
            /// None is needed: nothing is read or written through the address.
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn entry($($argument: u64,)* place: u64) {
                // SAFETY: the body asks for nothing.
                unsafe { $body($($argument,)* place) }
            }
        };
    };
}

with_place! {
    "__tsan_read" read: 1 2 4 8 16;
    "__tsan_write" write: 1 2 4 8 16;
}
with_place!("__tsan_read_range_pc", range::<false>, address size);
with_place!("__tsan_write_range_pc", range::<true>, address size);

/// Hook at the entry of a function, with the address in its caller.
///
/// # Safety
/// Called by instrumented functions before any of their own code.
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

/// Hook at the entry of a function; the second argument is the address in its caller.
///
/// # Safety
/// Called by instrumented functions before any of their own code.
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

/// Registers the part of the function, if no constructor has, and records the entry.
extern "C" fn enter(caller: usize, place: usize, low: usize, pointer: usize) {
    module::register(place);
    frames::enter(caller, place, low, pointer);
}

/// Defines hooks at the exit of a function, called by instrumented functions after all of their own code.
macro_rules! left {
    ($($name:literal)*) => {$(
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn entry() {
                #[cfg(target_arch = "x86_64")]
                core::arch::naked_asm!("mov rdi, [rsp]", "lea rsi, [rsp + 8]", "jmp {body}", body = sym frames::leave);
                #[cfg(target_arch = "aarch64")]
                core::arch::naked_asm!("mov x0, x30", "mov x1, sp", "b {body}", body = sym frames::leave);
            }
        };
    )*};
}

left!("__cyg_profile_func_exit" "__tsan_func_exit");

/// Defines hooks that concern no memory: they switch the detection of races off and on.
macro_rules! nothing {
    ($($name:ident)*) => {$(
        /// Hook of instrumented programs; does nothing.
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

/// Records an access of `size` bytes by a library function that the program calls.
pub(crate) fn library_access(caller: u64, write: bool, address: u64, size: u64, name: &str) {
    if size > 0
        && state::with(|recorder| recorder.access_of(key(caller, write), address, size, AccessKind::Library, name))
            .is_none()
    {
        state::not_recorded();
    }
}

/// Records an access of `size` bytes by an atomic operation.
#[inline]
pub(crate) fn atomic_access(caller: u64, write: bool, address: u64, size: u64) {
    if state::with(|recorder| recorder.access_of(key(caller, write), address, size, AccessKind::Atomic, "")).is_none() {
        state::not_recorded();
    }
}
