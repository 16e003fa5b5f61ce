//! Ctrl-C: the first ends the run, the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{End, asked, complain};
use hayase::atomic_file;

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs handlers by which Ctrl-C, SIGTERM and SIGHUP set the returned flag instead of killing the
/// process.
pub fn stop_flag() -> &'static AtomicBool {
    // A host program has its own way to cancel.
    if let Some(stop) = asked::stop_flag() {
        return stop;
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without a handler, Ctrl-C kills the process as usual.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                atomic_file::discard_unfinished();
                std::process::exit(End::Interrupted.code().into());
            }
            complain("stopping; the results so far will be reported (Ctrl-C again quits at once)");
        });
    });
    &STOP
}

/// Ignores SIGXFSZ, so that a file that reaches its size limit (`ulimit -f`) is an ordinary error.
#[cfg(unix)]
pub fn outlive_large_files() {
    unsafe extern "C" {
        fn signal(number: i32, handler: usize) -> usize;
    }
    const IGNORE: usize = 1;
    // SAFETY: no handler is installed, the signal is ignored from now on.
    unsafe { signal(rustix::process::Signal::XFSZ.as_raw(), IGNORE) };
}

/// Resets the flag, for a process in which the program runs more than once.
pub fn forget() {
    STOP.store(false, Ordering::Relaxed);
}
