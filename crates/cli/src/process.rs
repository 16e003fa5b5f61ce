//! Command that was given, and the one that starts this program again: for cluster scripts, MPI launchers and itself.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{env, io};

/// Command set by a host program that carries this one.
static CARRIED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Words that were given to the program, without its name.
static GIVEN: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Notes the words that are given to the program, the first of which is its name.
pub fn is_given(words: &[OsString]) {
    *GIVEN.lock().unwrap_or_else(PoisonError::into_inner) = words.iter().skip(1).cloned().collect();
}

/// Returns the command that was given, for a shell.
pub fn given() -> String {
    let words = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    words.iter().fold("hayase".to_owned(), |command, given| command + " " + &word(&given.to_string_lossy()))
}

/// Quotes a word for a shell.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Sets the command that starts the program, because the file of this process is a host program.
pub fn is_started_by(words: Vec<OsString>) {
    // A second call in the same process sets the same command.
    let _ = CARRIED.set(words);
}

/// Returns the command that starts this program, to which arguments are added; never empty.
///
/// # Errors
/// Fails if the file of this process cannot be found on disk.
pub fn words() -> io::Result<Vec<OsString>> {
    match CARRIED.get() {
        Some(words) if !words.is_empty() => Ok(words.clone()),
        _ => env::current_exe().map(|path| vec![path.into_os_string()]),
    }
}

/// Returns the command that starts this program as texts for a script, or the name on the path if the file
/// cannot be found.
pub fn texts() -> Vec<String> {
    let text = |word: OsString| Path::new(&word).display().to_string();
    words().map_or_else(|_| vec!["hayase".to_owned()], |words| words.into_iter().map(text).collect())
}
