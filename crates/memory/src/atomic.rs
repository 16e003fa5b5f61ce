//! Hooks for atomic operations. The instrumentation replaces the operations, so the hooks execute them.
//!
//! All are sequentially consistent, whatever order the program asks for: that is the strongest order.
//! Operations of 16 bytes take a lock, so they are atomic among instrumented code only.

use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::entry::atomic_access;
use crate::with_caller;

const ORDER: Ordering = Ordering::SeqCst;

/// An unsigned number. Its sums and differences are those of the processor, its bits those of the program.
trait Number:
    Copy + PartialEq + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($value:ty)*) => {$(
        impl Number for $value {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128);

/// A value with atomic operations.
trait Value: Number {
    /// Replaces the value at a place by the result of `change`, if there is one; returns the previous value.
    /// Notes the accesses of `caller`.
    ///
    /// # Safety
    /// `place` is valid for atomic operations.
    unsafe fn replace(place: *mut Self, caller: u64, access: [bool; 2], change: impl Fn(Self) -> Option<Self>) -> Self;
}

/// Implements [`Value`] for types with atomic instructions.
macro_rules! values {
    ($($value:ty, $atomic:ty;)*) => {$(
        impl Value for $value {
            unsafe fn replace(
                place: *mut Self,
                caller: u64,
                [read, write]: [bool; 2],
                change: impl Fn(Self) -> Option<Self>,
            ) -> Self {
                if read {
                    atomic_access(caller, false, place as u64, size_of::<Self>() as u64);
                }
                if write {
                    atomic_access(caller, true, place as u64, size_of::<Self>() as u64);
                }
                // SAFETY: promised by the caller: the program does this operation on this place.
                let place = unsafe { <$atomic>::from_ptr(place) };
                let (Ok(before) | Err(before)) = place.fetch_update(ORDER, ORDER, change);
                before
            }
        }
    )*};
}

values! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

/// Held during an operation of 16 bytes.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Calls with values of 16 bytes cannot pass the return address on: the lock's address is their site. A value
/// that is not replaced is not written.
impl Value for u128 {
    unsafe fn replace(place: *mut Self, _: u64, _: [bool; 2], change: impl Fn(Self) -> Option<Self>) -> Self {
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
}

unsafe extern "C" fn load<T: Value>(place: *mut T, _order: i32, caller: u64) -> T {
    // SAFETY: as the program's own operation.
    unsafe { T::replace(place, caller, [true, false], |_| None) }
}

unsafe extern "C" fn store<T: Value>(place: *mut T, value: T, _order: i32, caller: u64) {
    // SAFETY: as the program's own operation.
    unsafe { T::replace(place, caller, [false, true], |_| Some(value)) };
}

/// Replaces the value if it is `expected`, otherwise stores it in `expected`; returns 1 if it was replaced.
unsafe extern "C" fn compare<T: Value>(
    place: *mut T,
    expected: *mut T,
    value: T,
    order: i32,
    failure: i32,
    caller: u64,
) -> i32 {
    // SAFETY: as the program's own operation. Once the value is replaced, `expected` may belong to another
    // thread, so nothing is written to it.
    unsafe {
        let wanted = expected.read_unaligned();
        let found = compare_value(place, wanted, value, order, failure, caller);
        if found != wanted {
            expected.write_unaligned(found);
        }
        i32::from(found == wanted)
    }
}

unsafe extern "C" fn compare_value<T: Value>(
    place: *mut T,
    expected: T,
    value: T,
    _order: i32,
    _failure: i32,
    caller: u64,
) -> T {
    // SAFETY: as the program's own operation.
    unsafe { T::replace(place, caller, [true, true], |before| (before == expected).then_some(value)) }
}

/// Defines operations on two values that return the previous value.
macro_rules! exchanges {
    ($($body:ident |$before:ident, $value:ident| $after:expr;)*) => {$(
        unsafe extern "C" fn $body<T: Value>(place: *mut T, $value: T, _order: i32, caller: u64) -> T {
            // SAFETY: as the program's own operation.
            unsafe { T::replace(place, caller, [true, true], |$before| Some($after)) }
        }
    )*};
}

exchanges! {
    exchange |_before, value| value;
    add |before, value| before.plus(value);
    sub |before, value| before.minus(value);
    and |before, value| before & value;
    or |before, value| before | value;
    xor |before, value| before ^ value;
    nand |before, value| !(before & value);
}

/// Exports the operations on values of these numbers of bits.
macro_rules! exports {
    ($($value:ty, $bits:literal;)*) => {
        with_caller! {$(
            concat!("__tsan_atomic", $bits, "_load"), (*mut $value, i32) -> $value => load::<$value>, "rdx", "x2";
            concat!("__tsan_atomic", $bits, "_store"), (*mut $value, $value, i32) => store::<$value>, "rcx", "x3";
            concat!("__tsan_atomic", $bits, "_compare_exchange_strong"),
                (*mut $value, *mut $value, $value, i32, i32) -> i32 => compare::<$value>, "r9", "x5";
            concat!("__tsan_atomic", $bits, "_compare_exchange_weak"),
                (*mut $value, *mut $value, $value, i32, i32) -> i32 => compare::<$value>, "r9", "x5";
            concat!("__tsan_atomic", $bits, "_compare_exchange_val"),
                (*mut $value, $value, $value, i32, i32) -> $value => compare_value::<$value>, "r9", "x5";
        )*}
        $(exports!(@exchanges $value, $bits,
            "exchange" exchange "fetch_add" add "fetch_sub" sub "fetch_and" and "fetch_or" or "fetch_xor" xor
            "fetch_nand" nand
        );)*
    };
    (@exchanges $value:ty, $bits:literal, $($name:literal $body:ident)*) => {
        with_caller! {$(
            concat!("__tsan_atomic", $bits, "_", $name),
                (*mut $value, $value, i32) -> $value => $body::<$value>, "rcx", "x3";
        )*}
    };
}

exports! {
    u8, 8;
    u16, 16;
    u32, 32;
    u64, 64;
}

/// Exports the operations on 16 bytes.
macro_rules! sixteen_bytes {
    ($($name:literal $body:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        const _: () = {
            /// # Safety
            /// As the operation that this one stands for.
            #[unsafe(export_name = concat!("__tsan_atomic128_", $name))]
            unsafe extern "C" fn entry($($argument: $type),*) $(-> $result)? {
                // SAFETY: as the program's own operation.
                unsafe { $body::<u128>($($argument,)* 0) }
            }
        };
    )*};
}

sixteen_bytes! {
    "load" load(place: *mut u128, order: i32) -> u128;
    "store" store(place: *mut u128, value: u128, order: i32);
    "exchange" exchange(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_add" add(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_sub" sub(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_and" and(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_or" or(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_xor" xor(place: *mut u128, value: u128, order: i32) -> u128;
    "fetch_nand" nand(place: *mut u128, value: u128, order: i32) -> u128;
    "compare_exchange_val" compare_value(place: *mut u128, expected: u128, value: u128, order: i32, failure: i32) -> u128;
    "compare_exchange_strong" compare(place: *mut u128, expected: *mut u128, value: u128, order: i32, failure: i32) -> i32;
    "compare_exchange_weak" compare(place: *mut u128, expected: *mut u128, value: u128, order: i32, failure: i32) -> i32;
}

/// Fence of threads, called by instrumented programs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_thread_fence(_order: i32) {
    std::sync::atomic::fence(ORDER);
}

/// Fence for signal handlers, called by instrumented programs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {
    std::sync::atomic::compiler_fence(ORDER);
}
