//! Handlers of signals that end the program: they write the recorded data first.
//!
//! The handler allocates only from this library's own allocator, compresses nothing and locks nothing. If the
//! signal arrives while the recorder's data changes, the change is finished before the handler's work is done
//! ([`late`]). A fault at such a time is the recorder's own, and ends the program at once. Then the signal
//! takes its usual course: the previous handler is restored, and the signal sent again.
//!
//! A program that sets handlers of its own keeps them; most end with `exit`, which ends the trace as well.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::peers::WARNING;
use super::process::PROCESS;
use super::{OFF, ON, Process, STATE, threads};
use crate::floating;

/// Signals that end a program.
const SIGNALS: [(c_int, &str); 12] = [
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGSYS, "SIGSYS"),
    (WARNING, "ended with another rank"),
];

/// Returns true if the signal is a fault, which comes from the running instruction.
fn is_fault(signal: c_int) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGABRT | libc::SIGSYS)
}

struct PreviousActions([std::cell::UnsafeCell<MaybeUninit<libc::sigaction>>; SIGNALS.len()]);

// SAFETY: written once before the handlers are set, then only read.
unsafe impl Sync for PreviousActions {}

/// Previous actions of these signals.
static PREVIOUS_ACTIONS: PreviousActions =
    PreviousActions([const { std::cell::UnsafeCell::new(MaybeUninit::uninit()) }; SIGNALS.len()]);
static INSTALLED: AtomicBool = AtomicBool::new(false);
/// Signal that arrived while the recorder was busy.
static PENDING: AtomicI32 = AtomicI32::new(0);
/// Number of looks at data that another thread is changing, before the program ends without it.
const PATIENCE: u32 = 10_000_000;
/// Stack of the handler, for a program that has used up its own \[B\].
const STACK: usize = 64 << 10;

/// Sets the handlers.
pub fn install() {
    // SAFETY: the structures are filled in according to the manual; the handler has the signature for actions
    // without SA_SIGINFO.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(std::ptr::null(), &raw mut stack) == 0 && stack.ss_flags & libc::SS_DISABLE != 0 {
            let room = libc::mmap(
                null_mut(),
                STACK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if room != libc::MAP_FAILED {
                let stack = libc::stack_t { ss_sp: room, ss_flags: 0, ss_size: STACK };
                libc::sigaltstack(&raw const stack, null_mut());
            }
        }
        for (i, &(signal, _)) in SIGNALS.iter().enumerate() {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigfillset(&raw mut action.sa_mask);
            let before = PREVIOUS_ACTIONS.0[i].get().cast::<libc::sigaction>();
            libc::sigaction(signal, std::ptr::null(), before);
            // A signal that the program ignores stays ignored.
            if (*before).sa_sigaction != libc::SIG_IGN {
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
    }
    INSTALLED.store(true, Ordering::Release);
}

/// Restores the previous handlers, unless the program has changed them.
pub fn restore() {
    if INSTALLED.swap(false, Ordering::AcqRel) {
        for &(signal, _) in &SIGNALS {
            put_back(signal);
        }
    }
}

fn put_back(signal: c_int) {
    let Some(i) = SIGNALS.iter().position(|&(known, _)| known == signal) else { return };
    // SAFETY: the entry was filled in before the handlers were set.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now);
        if now.sa_sigaction == handler as extern "C" fn(c_int) as usize {
            libc::sigaction(signal, PREVIOUS_ACTIONS.0[i].get().cast::<libc::sigaction>(), null_mut());
        }
    }
}

extern "C" fn handler(signal: c_int) {
    // SAFETY: errno is this thread's.
    let errno = unsafe { *libc::__errno_location() };
    if STATE.load(Ordering::Relaxed) == ON {
        if !threads::holds() {
            write_last_data(signal);
        } else if !is_fault(signal) {
            // The recorder finishes its change, and then does the rest.
            PENDING.store(signal, Ordering::Release);
            return;
        }
    }
    put_back(signal);
    // SAFETY: the signal is blocked until this handler returns, and then takes its usual course. A fault
    // repeats by itself; a signal that was sent does not, so all are sent again.
    unsafe {
        *libc::__errno_location() = errno;
        libc::pthread_kill(libc::pthread_self(), signal);
    }
}

/// Returns true if a signal waits for the recorder.
#[inline]
pub fn pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// Does the postponed work of the handler.
#[cold]
pub fn late() {
    let signal = PENDING.swap(0, Ordering::AcqRel);
    if signal != 0 {
        write_last_data(signal);
        put_back(signal);
        // SAFETY: sends a signal to this thread.
        unsafe { libc::pthread_kill(libc::pthread_self(), signal) };
    }
}

/// Writes the recorded data as soon as no other thread is changing it.
fn write_last_data(signal: c_int) {
    // No new call may begin.
    STATE.store(OFF, Ordering::Release);
    if !threads::lock_within(PATIENCE) {
        return;
    }
    // The signal may have arrived in any environment.
    floating::apart(|| say_last_words(signal));
    threads::unlock();
}

fn say_last_words(signal: c_int) {
    // SAFETY: the lock is held.
    if let Some(process) = unsafe { (*PROCESS.0.get()).as_mut() } {
        let name = SIGNALS.iter().find(|&&(known, _)| known == signal).map_or("a signal", |&(_, name)| name);
        process.write_last_data(if signal == WARNING { [name, ""] } else { ["killed by ", name] });
        if let Some(peers) = &process.peers {
            peers.leave();
            if signal != WARNING {
                peers.warn();
            }
        }
    }
}

impl Process {
    /// Ends the trace in a process that may be in any state: allocates only from the recorder's own memory,
    /// and compresses nothing.
    pub(super) fn write_last_data(&mut self, why: [&str; 2]) {
        if let Some(memory) = self.memory.take() {
            // SAFETY: the function is the runtime's, with this signature.
            unsafe { (memory.stop)() };
        }
        if self.writer.is_some() {
            self.note_scheduling("end");
        }
        let Some(writer) = &mut self.writer else { return };
        let mut note = [0_u8; 64];
        let mut length = 0;
        for byte in why.into_iter().flat_map(str::bytes) {
            if length < note.len() {
                note[length] = byte;
                length += 1;
            }
        }
        // Nobody is left to be told of a failure.
        for poll in self.polls.iter_mut().filter_map(Option::take) {
            let _ = self.queue.add(&poll, writer);
        }
        let _ = self.queue.close(writer);
        let notes = [("scheduling", self.scheduling.text().as_bytes()), ("ended", &note[..length])];
        let known = &notes[usize::from(self.scheduling.text().is_empty())..];
        let _ = writer.end_stored(known, 0);
        self.copy_maps();
    }

    /// Copies the memory map with system calls only.
    fn copy_maps(&self) {
        use std::os::unix::ffi::OsStrExt;
        // DIRECTORY/rank-00000.maps
        let mut path = [0_u8; 4096];
        let directory = self.directory.as_os_str().as_bytes();
        if directory.len() + 32 > path.len() {
            return;
        }
        path[..directory.len()].copy_from_slice(directory);
        let name = b"/rank-00000.maps";
        path[directory.len()..directory.len() + name.len()].copy_from_slice(name);
        let (mut rest, mut digit) = (self.rank, directory.len() + 10);
        while rest > 0 && digit > directory.len() + 5 {
            path[digit] = b'0' + (rest % 10) as u8;
            (rest, digit) = (rest / 10, digit - 1);
        }
        // SAFETY: paths end with a zero; the room is as large as is said; files are opened, read, written and closed.
        unsafe {
            let from = libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY);
            let to = libc::open(path.as_ptr().cast(), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, 0o644);
            let mut room = [0_u8; 4096];
            loop {
                let got = libc::read(from, room.as_mut_ptr().cast(), room.len());
                // A file that could not be opened can be neither read nor written.
                if got <= 0 || libc::write(to, room.as_ptr().cast(), got as usize) != got {
                    break;
                }
            }
            libc::close(from);
            libc::close(to);
        }
    }
}
