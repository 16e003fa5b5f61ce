//! What the recorder of MPI calls tells this library. It finds the functions by name, and does without where they are
//! not.

use std::ffi::{CStr, OsStr, c_char};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::recorder::Recorder;
use crate::{frames, opaque, state};

/// Records the accesses of the calling thread from now on, into the file at `path`; they belong to the interval before
/// the call that is named first. Does nothing where a recording is under way or the file cannot be made; the latter is
/// said on standard error.
///
/// # Safety
/// `path` is null or a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hayase_memory_start(path: *const c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    frames::follow();
    let started = state::start(|| {
        let program = std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let (low, high) = frames::bounds_of_stack();
        let stack = format!("{low:#x}-{high:#x}");
        let file = File::create(path).and_then(|file| Recorder::new(file, &[("program", &program), ("stack", &stack)]));
        match file {
            Ok(recorder) => Some(recorder),
            Err(error) => {
                eprintln!("hayase: memory accesses are not recorded: cannot write {}: {error}", path.display());
                None
            }
        }
    });
    if started {
        opaque::watch();
        #[cfg(target_arch = "x86_64")]
        crate::hazards::start();
    }
}

/// The call with this index begins, and will return to `site` (0: not known), when [`hayase_memory_back`] follows: what
/// was accessed since the call before is the interval with this number.
///
/// Where the site is in code without instrumentation, what was accessed there before the call is not known, and is
/// marked so. Not for the handler of a signal.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_call(number: u64, site: u64) {
    // Other threads than the recorded one have no intervals.
    let _ = state::with(|recorder| {
        frames::call(recorder, number, site as usize);
        recorder.call(number);
    });
}

/// The call that was made from `site` returns, or the recording starts in one: code without instrumentation goes on
/// from there.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_back(site: u64) {
    let _ = state::with(|recorder| frames::back(recorder, site as usize));
}

/// Ends the recording and the file. May be called in the handler of a signal, by the recorded thread.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_stop() {
    state::stop();
}
