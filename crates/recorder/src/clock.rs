//! The two clocks: real time and processor time.

/// Returns the time since a fixed moment, which is the same for all processes of the machine \[ns\].
#[inline]
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the processor time of this thread \[ns\].
///
/// Costs a system call each time, about 350 ns: no clock that is read without one leaves out the time when
/// other processes had the processor.
#[inline]
pub(crate) fn thread() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and there is room for the answer.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the median difference of two consecutive readings of the thread's clock \[ns\].
pub(crate) fn empty_gap() -> u64 {
    let mut gaps = [0; 501];
    for gap in &mut gaps {
        let before = thread();
        *gap = thread() - before;
    }
    gaps.sort_unstable();
    gaps[gaps.len() / 2]
}
