//! Threads of the program: their recorders, and the lock of their shared data.
//!
//! If threads may call MPI at the same time (`MPI_THREAD_MULTIPLE`), each has a [`Recorder`] with its own
//! clock, and a number. The thread that initialised MPI is 0, further threads are numbered at their first
//! call, and a thread that has ended leaves its number to the next. Otherwise all threads share the first
//! recorder, since the program ensures that they call one after another.
//!
//! The shared data ([`Process`]) is used under a lock that no thread holds while MPI works. Events in the
//! stream are in the order in which threads take it when they leave their calls.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, compiler_fence};

use super::{ON, PROCESS, Process, Recorder, STATE, Timestamp, finish, signals, start};
use crate::path::Stack;

/// Set if several threads may call at the same time.
static MULTIPLE: AtomicBool = AtomicBool::new(false);
/// Thread that uses the shared data; 0 if none does.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// Key under which each thread keeps its number, for the function called at its end.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Reason for which the trace ends if several threads call while ranks run one at a time.
const REFUSED: &str = "several threads and --token";
/// Exit code in that case.
const BAD_USAGE: i32 = 2;
/// Number of looks at a held lock before the core is given away.
const SPINS: u32 = 128;

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Unknown) };
    /// Number of this thread plus one; 0 if it has none yet.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In a thread that has not called yet.
    Unknown,
    /// In the program.
    Program,
    /// In a call.
    Call,
}

/// Returns a word that tells this thread from others.
#[inline]
pub(super) fn this_thread() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place) as usize)
}

/// Returns true if this thread uses the shared data.
#[inline]
pub(super) fn holds() -> bool {
    OWNER.load(Ordering::Relaxed) == this_thread()
}

/// Takes the lock. Without several threads, this only notes that the recorder's data changes.
#[inline]
pub(super) fn lock() {
    let me = this_thread();
    if !MULTIPLE.load(Ordering::Relaxed) {
        OWNER.store(me, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    } else if OWNER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
        while !lock_within(u32::MAX) {}
    }
}

/// Takes the lock unless it stays held for this number of looks; returns true if it is taken.
#[cold]
pub(super) fn lock_within(looks: u32) -> bool {
    for look in 1..=looks {
        if OWNER.compare_exchange_weak(0, this_thread(), Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return true;
        }
        if look.is_multiple_of(SPINS) {
            // SAFETY: gives up the processor, nothing else.
            unsafe { libc::sched_yield() };
        }
    }
    false
}

/// Releases the lock.
#[inline]
pub(super) fn unlock() {
    OWNER.store(0, Ordering::Release);
    compiler_fence(Ordering::SeqCst);
}

/// Makes this thread, which has initialised MPI, the first.
pub(super) fn begin(multiple: bool) {
    MULTIPLE.store(multiple, Ordering::Relaxed);
    PLACE.set(Place::Program);
    NUMBER.set(1);
    let mut key = 0;
    // SAFETY: there is room for the key, and the function stays.
    if multiple && unsafe { libc::pthread_key_create(&raw mut key, Some(release_number)) } == 0 {
        KEY.store(key, Ordering::Relaxed);
    }
}

/// Returns true if this thread may end the recording: it is recorded, or any thread may be.
pub(super) fn may_finish() -> bool {
    MULTIPLE.load(Ordering::Relaxed) || PLACE.get() != Place::Unknown
}

/// Ends the call of this thread.
#[inline]
pub(super) fn back() {
    PLACE.set(Place::Program);
    if signals::pending() {
        signals::late();
    }
}

/// Returns the recorder of this thread, locked, and the time of the request; `None` if the call is not the
/// program's, or nothing is recorded.
///
/// # Safety
/// As of [`enter`](super::enter).
#[inline]
pub(super) unsafe fn take() -> Option<(&'static mut Recorder, Timestamp)> {
    if (STATE.load(Ordering::Relaxed) != ON && !start::start_late()) || PLACE.get() == Place::Call {
        return None;
    }
    PLACE.set(Place::Call);
    let now = Timestamp::now();
    lock();
    // SAFETY: the lock is held, and this thread is not inside a call.
    let process = unsafe { (*PROCESS.0.get()).as_mut() }?;
    let number = match NUMBER.get() {
        _ if !MULTIPLE.load(Ordering::Relaxed) => 0,
        0 => process.new_thread(now),
        number => number - 1,
    };
    // SAFETY: a recorder stays where it is, and only its thread uses it, in one call at a time.
    Some((unsafe { &mut **process.threads.get(number)? }, now))
}

impl Process {
    /// Gives this thread a number and a recorder.
    #[cold]
    fn new_thread(&mut self, now: Timestamp) -> usize {
        if self.token.is_some() {
            // The thread would run beside the one that has the token.
            finish(self, REFUSED);
            // SAFETY: ends the process.
            unsafe { libc::_exit(BAD_USAGE) };
        }
        let number = self.free.pop_first().unwrap_or(self.threads.len());
        if number == self.threads.len() {
            let recorder = Recorder::new(self, number);
            self.threads.push(Box::into_raw(Box::new(recorder)));
            self.polls.push(None);
        }
        // SAFETY: as in `take`.
        let recorder = unsafe { &mut *self.threads[number] };
        recorder.thread = this_thread();
        recorder.stack = Stack::of_this_thread();
        recorder.blocked = None;
        recorder.outside.begin();
        recorder.outside.leave();
        // The thread's clock counts from its creation, which may be before that of the trace.
        recorder.cpu = now.cpu.saturating_sub(now.time.saturating_sub(self.start));
        NUMBER.set(number + 1);
        // SAFETY: the key was made; any word may be kept under it.
        unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), (number + 1) as *const c_void) };
        number
    }
}

/// Frees the number of a thread that ends.
extern "C" fn release_number(number: *mut c_void) {
    PLACE.set(Place::Unknown);
    NUMBER.set(0);
    if STATE.load(Ordering::Relaxed) != ON {
        return;
    }
    lock();
    // SAFETY: the lock is held.
    if let Some(process) = unsafe { (*PROCESS.0.get()).as_mut() } {
        process.end_poll(number as usize - 1);
        process.free.insert(number as usize - 1);
    }
    unlock();
    if signals::pending() {
        signals::late();
    }
}
