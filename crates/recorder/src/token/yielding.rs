//! Ranks that wait busily outside of the token let each other run.
//!
//! Calls that cannot be split are made by all ranks at once. Some MPIs, such as MPICH, wait in them by
//! polling. Each rank then spends its time slice of milliseconds on waiting before the next one runs, and a
//! call of many ranks on few cores takes tenths of a second. So a timer interrupts the rank every
//! [`QUANTUM`], and the rank gives the core away. The timer is set again when the rank has the core back: a
//! timer that expires meanwhile would take the core away at once.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// Time that a rank polls before it lets others run \[ns\].
const QUANTUM: i64 = 50_000;

/// Running timer, plus one; 0 if there is none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// Timer of this thread, which interrupts only this thread.
    static TIMER: Cell<Option<c_int>> = const { Cell::new(None) };
}

/// Returns the signal of the timer: a real-time signal, which few programs use.
fn signal() -> c_int {
    libc::SIGRTMAX() - 3
}

/// Runs an action that waits for other ranks.
pub(super) fn while_waiting<R>(action: impl FnOnce() -> R) -> R {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // SAFETY: an action of zeros is a valid one, and the function has the signature of a handler.
        unsafe {
            let mut how: libc::sigaction = std::mem::zeroed();
            how.sa_sigaction = give_away as extern "C" fn(c_int) as usize;
            how.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigaction(signal(), &raw const how, null_mut());
        }
    });
    let timer = TIMER.get().or_else(make);
    TIMER.set(timer);
    let Some(timer) = timer else { return action() };
    RUNNING.store(timer + 1, Relaxed);
    set(timer, QUANTUM);
    let result = action();
    RUNNING.store(0, Relaxed);
    set(timer, 0);
    result
}

/// Creates a timer for this thread; `None` if the system has none left: then ranks wait without giving way.
fn make() -> Option<c_int> {
    // SAFETY: the event is zero except for the fields set here; there is room for the number. This is the
    // system call itself, since some C libraries lack its function at this place of the link.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as c_int;
        let mut timer = MaybeUninit::<c_int>::uninit();
        let clock = libc::CLOCK_MONOTONIC;
        let made = libc::syscall(libc::SYS_timer_create, clock, &raw mut event, timer.as_mut_ptr());
        (made == 0).then(|| timer.assume_init())
    }
}

/// Sets the time until the timer expires \[ns\]; 0: never.
fn set(timer: c_int, nanoseconds: i64) {
    let time = |tv_nsec| libc::timespec { tv_sec: 0, tv_nsec };
    let when = libc::itimerspec { it_interval: time(0), it_value: time(nanoseconds) };
    // SAFETY: the timer is one of this process.
    unsafe { libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const when, null::<c_void>()) };
}

/// Handler of the timer: lets other ranks run.
extern "C" fn give_away(_: c_int) {
    let Some(timer) = RUNNING.load(Relaxed).checked_sub(1).filter(|&timer| timer >= 0) else { return };
    // SAFETY: the number of the last error is this thread's own.
    unsafe {
        let error = libc::__errno_location();
        let before = *error;
        libc::sched_yield();
        set(timer, QUANTUM);
        *error = before;
    }
}
