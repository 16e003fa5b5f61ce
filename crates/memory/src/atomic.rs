//! What compilers call: atomic operations, which the instrumentation replaces, so that they must be done here.
//!
//! All are sequentially consistent, whatever order the program asks for: that is stronger than any other. Operations of
//! 16 bytes take a lock, so they are atomic among instrumented code only.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::entry::atomic_access;
use crate::with_caller;

const ORDER: Ordering = Ordering::SeqCst;

/// The operations on one size.
macro_rules! sized {
    ($module:ident, $atomic:ty, $value:ty, $size:literal,
     $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident
     $strong:ident $weak:ident $val:ident) => {
        mod $module {
            use super::*;

            /// # Safety
            /// `place` is valid for atomic operations.
            unsafe fn at<'a>(place: *mut $value, caller: u64, read: bool, write: bool) -> &'a $atomic {
                if read {
                    atomic_access(caller, false, place as u64, $size);
                }
                if write {
                    atomic_access(caller, true, place as u64, $size);
                }
                // SAFETY: promised by the caller: the program does this operation on this place.
                unsafe { <$atomic>::from_ptr(place) }
            }

            unsafe extern "C" fn load(place: *mut $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, false) }.load(ORDER)
            }
            unsafe extern "C" fn store(place: *mut $value, value: $value, _order: i32, caller: u64) {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, false, true) }.store(value, ORDER);
            }
            unsafe extern "C" fn exchange(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.swap(value, ORDER)
            }
            unsafe extern "C" fn add(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_add(value, ORDER)
            }
            unsafe extern "C" fn sub(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_sub(value, ORDER)
            }
            unsafe extern "C" fn and(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_and(value, ORDER)
            }
            unsafe extern "C" fn or(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_or(value, ORDER)
            }
            unsafe extern "C" fn xor(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_xor(value, ORDER)
            }
            unsafe extern "C" fn nand(place: *mut $value, value: $value, _order: i32, caller: u64) -> $value {
                // SAFETY: as the program's own operation.
                unsafe { at(place, caller, true, true) }.fetch_nand(value, ORDER)
            }
            unsafe extern "C" fn compare(
                place: *mut $value,
                expected: *mut $value,
                value: $value,
                _order: i32,
                _failure: i32,
                caller: u64,
            ) -> i32 {
                // SAFETY: as the program's own operation; `expected` is a variable of its own.
                unsafe {
                    match at(place, caller, true, true).compare_exchange(*expected, value, ORDER, ORDER) {
                        Ok(_) => 1,
                        Err(found) => {
                            *expected = found;
                            0
                        }
                    }
                }
            }
            unsafe extern "C" fn compare_value(
                place: *mut $value,
                expected: $value,
                value: $value,
                _order: i32,
                _failure: i32,
                caller: u64,
            ) -> $value {
                // SAFETY: as the program's own operation.
                let place = unsafe { at(place, caller, true, true) };
                place.compare_exchange(expected, value, ORDER, ORDER).unwrap_or_else(|found| found)
            }

            with_caller! {
                $load(*mut $value, i32) -> $value => load, "rdx", "x2";
                $store(*mut $value, $value, i32) => store, "rcx", "x3";
                $exchange(*mut $value, $value, i32) -> $value => exchange, "rcx", "x3";
                $add(*mut $value, $value, i32) -> $value => add, "rcx", "x3";
                $sub(*mut $value, $value, i32) -> $value => sub, "rcx", "x3";
                $and(*mut $value, $value, i32) -> $value => and, "rcx", "x3";
                $or(*mut $value, $value, i32) -> $value => or, "rcx", "x3";
                $xor(*mut $value, $value, i32) -> $value => xor, "rcx", "x3";
                $nand(*mut $value, $value, i32) -> $value => nand, "rcx", "x3";
                $strong(*mut $value, *mut $value, $value, i32, i32) -> i32 => compare, "r9", "x5";
                $weak(*mut $value, *mut $value, $value, i32, i32) -> i32 => compare, "r9", "x5";
                $val(*mut $value, $value, $value, i32, i32) -> $value => compare_value, "r9", "x5";
            }
        }
    };
}

sized!(one, AtomicU8, u8, 1,
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
    __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
    __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_compare_exchange_val);
sized!(two, AtomicU16, u16, 2,
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
    __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
    __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_compare_exchange_val);
sized!(four, AtomicU32, u32, 4,
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
    __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
    __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_compare_exchange_val);
sized!(eight, AtomicU64, u64, 8,
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
    __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
    __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_compare_exchange_val);

/// Held during an operation of 16 bytes.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Replaces the 16 bytes at a place by what `change` makes of them, if anything; what was there.
///
/// The return address is in memory beyond the reach of such calls: they have the place of this file as their site.
///
/// # Safety
/// `place` is valid for reads and writes of 16 bytes.
unsafe fn sixteen(place: *mut u128, change: impl FnOnce(u128) -> Option<u128>) -> u128 {
    atomic_access(LOCK.as_ptr() as u64, false, place as u64, 16);
    while LOCK.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: promised by the caller; other such operations wait for the lock.
    let before = unsafe { place.read_unaligned() };
    let after = change(before);
    if let Some(after) = after {
        // SAFETY: as above.
        unsafe { place.write_unaligned(after) };
    }
    LOCK.store(false, Ordering::Release);
    if after.is_some() {
        atomic_access(LOCK.as_ptr() as u64, true, place as u64, 16);
    }
    before
}

/// The operations on 16 bytes that give what was there before.
macro_rules! sixteen_bytes {
    ($($name:ident($value:ident, $before:ident) => $after:expr;)*) => {$(
        /// Called by instrumented programs.
        ///
        /// # Safety
        /// As the operation that this one stands for.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(place: *mut u128, $value: u128, _order: i32) -> u128 {
            // SAFETY: as the program's own operation.
            unsafe { sixteen(place, |$before| Some($after)) }
        }
    )*};
}

sixteen_bytes! {
    __tsan_atomic128_exchange(value, _before) => value;
    __tsan_atomic128_fetch_add(value, before) => before.wrapping_add(value);
    __tsan_atomic128_fetch_sub(value, before) => before.wrapping_sub(value);
    __tsan_atomic128_fetch_and(value, before) => before & value;
    __tsan_atomic128_fetch_or(value, before) => before | value;
    __tsan_atomic128_fetch_xor(value, before) => before ^ value;
    __tsan_atomic128_fetch_nand(value, before) => !(before & value);
}

/// Called by instrumented programs.
///
/// # Safety
/// As the operation that this one stands for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_load(place: *mut u128, _order: i32) -> u128 {
    // SAFETY: as the program's own operation.
    unsafe { sixteen(place, |_| None) }
}

/// Called by instrumented programs.
///
/// # Safety
/// As the operation that this one stands for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_store(place: *mut u128, value: u128, _order: i32) {
    // SAFETY: as the program's own operation.
    unsafe { sixteen(place, |_| Some(value)) };
}

/// Called by instrumented programs.
///
/// # Safety
/// As the operation that this one stands for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_val(
    place: *mut u128,
    expected: u128,
    value: u128,
    _order: i32,
    _failure: i32,
) -> u128 {
    // SAFETY: as the program's own operation.
    unsafe { sixteen(place, |before| (before == expected).then_some(value)) }
}

/// Called by instrumented programs.
///
/// # Safety
/// As the operation that this one stands for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_strong(
    place: *mut u128,
    expected: *mut u128,
    value: u128,
    _order: i32,
    _failure: i32,
) -> i32 {
    // SAFETY: as the program's own operation; `expected` is a variable of its own.
    unsafe {
        let wanted = expected.read_unaligned();
        let found = sixteen(place, |before| (before == wanted).then_some(value));
        expected.write_unaligned(found);
        i32::from(found == wanted)
    }
}

/// Called by instrumented programs.
///
/// # Safety
/// As the operation that this one stands for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_weak(
    place: *mut u128,
    expected: *mut u128,
    value: u128,
    order: i32,
    failure: i32,
) -> i32 {
    // SAFETY: as the program's own operation.
    unsafe { __tsan_atomic128_compare_exchange_strong(place, expected, value, order, failure) }
}

/// Called by instrumented programs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_thread_fence(_order: i32) {
    std::sync::atomic::fence(ORDER);
}

/// Called by instrumented programs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {
    std::sync::atomic::compiler_fence(ORDER);
}
