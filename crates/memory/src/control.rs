//! Functions for the recorder of MPI calls, which finds them by name and does without them if they are
//! missing.

use std::ffi::{CStr, OsStr, c_char};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::recorder::Recorder;
use crate::{frames, opaque, state};

/// Records the accesses of the calling thread from now on into the file at `path`. They belong to the
/// interval before the call that is named first. Does nothing if a recording is under way or the file cannot
/// be created; the latter is reported on standard error.
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

/// Notes that the call with this index begins. It will return to `site` (0: not known), which
/// [`hayase_memory_back`] reports. The accesses since the previous call are the interval with this number.
///
/// If the site is in code without instrumentation, the accesses of that code before the call are unknown, and
/// marked so. Must not be called from a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_call(number: u64, site: u64) {
    // Only the recorded thread has intervals.
    let _ = state::with(|recorder| {
        frames::call(recorder, number, site as usize);
        recorder.call(number);
    });
}

/// Notes that the call made from `site` returns, or that the recording starts in one: code without
/// instrumentation continues from there.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_back(site: u64) {
    let _ = state::with(|recorder| frames::back(recorder, site as usize));
}

/// Ends the recording and the file. The recorded thread may call this in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn hayase_memory_stop() {
    state::stop();
}
