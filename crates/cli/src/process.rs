//! How this program is started again: by scripts for clusters, by launchers of MPI, and by itself.

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;
use std::{env, io};

/// What whoever carries the program has said of it.
static CARRIED: OnceLock<Vec<OsString>> = OnceLock::new();

/// From now on these words start the program: the file of this process is another one, which carries it.
pub fn is_started_by(words: Vec<OsString>) {
    // Said again in the same process, it is the same.
    let _ = CARRIED.set(words);
}

/// The words that start this program, to which those of a verb are added; never none.
///
/// # Errors
/// The file of this process cannot be found on disk.
pub fn words() -> io::Result<Vec<OsString>> {
    match CARRIED.get() {
        Some(words) if !words.is_empty() => Ok(words.clone()),
        _ => env::current_exe().map(|path| vec![path.into_os_string()]),
    }
}

/// The words that start this program, as texts for a script: what is on the path where the file cannot be found.
pub fn texts() -> Vec<String> {
    let text = |word: OsString| Path::new(&word).display().to_string();
    words().map_or_else(|_| vec!["hayase".to_owned()], |words| words.into_iter().map(text).collect())
}
