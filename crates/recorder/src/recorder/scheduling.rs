//! Time that this rank was ready to run without a core: noted at the start, at the end, and on request.
//!
//! The system counts it for each thread: the second number of `/proc/thread-self/schedstat` is the time that
//! the thread was runnable and did not run \[ns\]. A rank that sleeps (for the token, or in an MPI that does)
//! is not runnable. So the count shows that more threads wanted to run than there are cores. If the system
//! does not count (no `CONFIG_SCHED_INFO`), nothing is noted.

use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;

use super::{Process, threads};
use crate::clock;

/// Largest number of moments kept beside start and end: regions may be entered millions of times.
const MAX_MOMENTS: usize = 4096;

/// Moments noted so far.
#[derive(Debug, Default)]
pub(super) struct Scheduling {
    /// File with the counts of the thread that began.
    counter: Option<File>,
    /// Thread that began.
    thread: usize,
    /// Text of the note: one line for each moment.
    text: String,
    lines: usize,
}

/// Scheduling of a thread up to a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Time runnable and not running \[ns\].
    waited: u64,
    /// Number of times that its core was taken away.
    involuntary: u64,
    /// Number of times that it gave its core away because it had to wait.
    voluntary: u64,
    /// Number of blocks of files read and written, and of pages of memory fetched.
    pub files: u64,
}

/// Opens the file with the counts of this thread.
pub(super) fn counter() -> Option<File> {
    File::open("/proc/thread-self/schedstat").ok()
}

impl Counts {
    pub(super) fn read(counter: &File) -> Option<Self> {
        let mut text = [0_u8; 96];
        // SAFETY: the room is as large as is said.
        let got = unsafe { libc::pread(counter.as_raw_fd(), text.as_mut_ptr().cast(), text.len(), 0) };
        let waited = waited(text.get(..usize::try_from(got).ok()?)?)?;
        let usage = usage();
        let files = (usage.ru_inblock + usage.ru_oublock + usage.ru_majflt) as u64;
        Some(Self { waited, involuntary: usage.ru_nivcsw as u64, voluntary: usage.ru_nvcsw as u64, files })
    }

    /// Returns the blocked part of `off`, the time off the core since other counts \[ns\]; none if the thread
    /// never gave its core away.
    pub(super) fn blocked_since(self, before: Self, off: u64) -> u64 {
        let put_off = self.waited.saturating_sub(before.waited);
        if self.voluntary > before.voluntary { off.saturating_sub(put_off) } else { 0 }
    }
}

impl Scheduling {
    /// Starts counting for this thread.
    pub(super) fn begin(&mut self, thread: usize) {
        self.counter = counter();
        self.thread = thread;
    }

    /// Returns the note for the stream; empty if nothing was counted.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the number of times that this thread has given its core away to wait for something.
pub(super) fn blocked() -> u64 {
    usage().ru_nvcsw as u64
}

fn usage() -> libc::rusage {
    // SAFETY: zeros are a valid structure, which the call fills in.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    }
}

/// Returns the second of the three numbers of `schedstat`: time run, time waited, turns. A thread that asks
/// has had a turn, unless the system does not count.
fn waited(text: &[u8]) -> Option<u64> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse::<u64>);
    let (_, waited, turns) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    (turns > 0).then_some(waited)
}

impl Process {
    /// Notes the time that this rank has lacked a core so far, and the place: `start`, `end`, or the name of
    /// a border.
    ///
    /// Takes about 2 us. A moment in another thread than the one that began is left out.
    pub(crate) fn note_scheduling(&mut self, place: &str) {
        let number = self.number();
        let scheduling = &mut self.scheduling;
        let border = !matches!(place, "start" | "end");
        if threads::this_thread() != scheduling.thread || (border && scheduling.lines >= MAX_MOMENTS) {
            return;
        }
        let Some(Counts { waited, involuntary, .. }) = scheduling.counter.as_ref().and_then(Counts::read) else {
            return;
        };
        let wall = clock::monotonic().saturating_sub(self.start);
        let cpu = clock::thread();
        scheduling.lines += 1;
        let place: String = place.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Writing to a string does not fail.
        let _ = writeln!(scheduling.text, "{wall} {cpu} {waited} {involuntary} {number} {place}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_counts_is_read_and_nothing_is_made_of_what_it_does_not() {
        assert_eq!(waited(b"123456 789 12\n"), Some(789));
        assert_eq!(waited(b"0 5 1\n"), Some(5), "the first turn is not over");
        assert_eq!(waited(b"0 0 0\n"), None, "nobody counts");
        assert_eq!(waited(b""), None);
        assert_eq!(waited(b"7 8\n"), None);
    }

    #[test]
    fn a_thread_that_waits_for_a_core_is_seen_to() {
        let counts = || Counts::read(&counter()?);
        let Some(before) = counts() else {
            hayase_needs::skipped("this system does not count");
            return;
        };
        // Eight threads for each core: each waits most of the time.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let waited = std::thread::scope(|scope| {
            for _ in 0..8 * cores {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            let begin = clock::monotonic();
            while clock::monotonic() - begin < 300_000_000 {}
            let after = counts().unwrap();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            after.waited - before.waited
        });
        assert!(waited > 100_000_000, "{waited} ns of 300 ms");
    }

    #[test]
    fn time_off_the_core_is_blocked_where_the_core_was_given_away_and_not_wanted() {
        let before = Counts { waited: 100, involuntary: 1, voluntary: 1, files: 0 };
        let put_off = Counts { waited: 900, involuntary: 2, ..before };
        assert_eq!(put_off.blocked_since(before, 1000), 0, "interrupts and other machines have the rest");
        let slept = Counts { waited: 150, voluntary: 2, ..before };
        assert_eq!(slept.blocked_since(before, 1000), 950);
        assert_eq!(Counts { waited: 5000, ..slept }.blocked_since(before, 1000), 0);
    }
}
