//! Prefetching of memory.

/// Prefetches the cache line on which a value begins. This is a hint that affects only run time; it does
/// nothing on processors other than x86-64.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    fetch_line(std::ptr::from_ref(value).cast());
}

/// Prefetches the cache lines of an entry, as [`fetch`] does; nothing useful if there is no entry with this number.
#[inline(always)]
pub fn fetch_entry<T>(entries: &[T], number: u32) {
    let entry: *const i8 = entries.as_ptr().wrapping_add(number as usize).cast();
    for line in (0..size_of::<T>()).step_by(64) {
        fetch_line(entry.wrapping_add(line));
    }
}

#[inline(always)]
fn fetch_line(address: *const i8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which reads nothing and never faults, whatever the address.
        // (Measured: on 65,536 nodes two thirds of the time per message is waiting for memory; see
        // docs/internals/engine.md.)
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
