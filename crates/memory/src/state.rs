//! The recorded thread.
//!
//! One thread is recorded: the one that called `hayase_memory_start`. It is recognised by its thread pointer,
//! a register, so that no access has to go through thread-local storage. Only this thread touches the
//! recorder; other threads are counted.

use std::fs::File;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::recorder::Recorder;

/// Thread pointer of the recorded thread while its accesses are to be recorded. It is 0 if nothing is
/// recorded, or while the recorder is at work, whose own accesses do not count.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// Thread pointer of the recorded thread, at work or not; 0 if nothing is recorded.
static HOME: AtomicUsize = AtomicUsize::new(0);
/// The recorder; not null while `HOME` is not 0.
static RECORDER: AtomicPtr<Recorder<File>> = AtomicPtr::new(ptr::null_mut());
/// Number of accesses of other threads.
static ELSEWHERE: AtomicU64 = AtomicU64::new(0);
/// Number of accesses while the recorder was at work.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Returns a number that no other running thread has, and that is not 0.
#[inline(always)]
pub(crate) fn thread() -> usize {
    let pointer: usize;
    // SAFETY: reads a register, or the word at the thread pointer, which holds that pointer (thread-local storage ABI).
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    pointer
}

/// Returns true if accesses of this thread are recorded.
#[inline(always)]
pub(crate) fn is_recorded() -> bool {
    OWNER.load(Ordering::Relaxed) == thread()
}

/// Returns the position that the next access of this thread will have; 0 if the thread is not recorded.
#[inline(always)]
pub(crate) fn position() -> u64 {
    if !is_recorded() {
        return 0;
    }
    // SAFETY: this thread is recorded and the recorder not at work: there is no other reference.
    unsafe { &*RECORDER.load(Ordering::Relaxed) }.position()
}

/// Returns true if this thread is the recorded one, at work or not.
pub(crate) fn is_home() -> bool {
    HOME.load(Ordering::Relaxed) == thread()
}

/// Records an access of `SIZE` bytes by the site with this key.
#[inline(always)]
pub(crate) fn access<const SIZE: u64>(key: u64, address: u64) {
    if !is_recorded() {
        return not_recorded();
    }
    // SAFETY: this thread is recorded, so there is a recorder. Only this thread uses it, and it is not at
    // work: there is no other reference. The reference ends before the slow path takes its own.
    let recorder = unsafe { &mut *RECORDER.load(Ordering::Relaxed) };
    if !recorder.extend(key, address) {
        slow::<SIZE>(key, address);
    }
}

#[cold]
#[inline(never)]
fn slow<const SIZE: u64>(key: u64, address: u64) {
    // SAFETY: as above.
    if unsafe { &mut *RECORDER.load(Ordering::Relaxed) }.extend_gather(key, address) {
        return;
    }
    with(|recorder| recorder.access(key, address, SIZE));
}

/// Passes the recorder to `work` if accesses of this thread are recorded.
#[inline]
pub(crate) fn with<T>(work: impl FnOnce(&mut Recorder<File>) -> T) -> Option<T> {
    let thread = thread();
    if OWNER.load(Ordering::Relaxed) != thread {
        return None;
    }
    OWNER.store(0, Ordering::Relaxed);
    // SAFETY: as above; and since `OWNER` is 0 from here on, nothing that `work` calls comes here again.
    let result = work(unsafe { &mut *RECORDER.load(Ordering::Relaxed) });
    OWNER.store(thread, Ordering::Relaxed);
    Some(result)
}

/// Counts an access that is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn not_recorded() {
    match HOME.load(Ordering::Relaxed) {
        0 => {}
        home if home == thread() => drop(LOST.fetch_add(1, Ordering::Relaxed)),
        _ => drop(ELSEWHERE.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Starts recording this thread; returns `false` if a thread is already recorded, or there is no recorder.
pub(crate) fn start(recorder: impl FnOnce() -> Option<Recorder<File>>) -> bool {
    let thread = thread();
    if HOME.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return false;
    }
    match recorder() {
        Some(recorder) => {
            // Never freed: the recording may end in a signal handler, which cannot free memory.
            RECORDER.store(Box::into_raw(Box::new(recorder)), Ordering::Relaxed);
            OWNER.store(thread, Ordering::Release);
            true
        }
        None => {
            HOME.store(0, Ordering::Release);
            false
        }
    }
}

/// Ends the recording of this thread; returns `false` if it is not recorded.
///
/// If a signal handler interrupted the recorder at work, the file ends at the last write.
pub(crate) fn stop() -> bool {
    if !is_home() {
        return false;
    }
    let (elsewhere, lost) = (ELSEWHERE.swap(0, Ordering::Relaxed), LOST.swap(0, Ordering::Relaxed));
    // A failure cannot be reported: the reader will see that the file has no end.
    let _ = with(|recorder| recorder.finish(elsewhere, lost));
    OWNER.store(0, Ordering::Release);
    HOME.store(0, Ordering::Release);
    true
}
