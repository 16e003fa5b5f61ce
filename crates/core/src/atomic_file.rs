//! Files that are written completely or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ending of the name of a temporary file.
const TEMPORARY: &str = ".tmp";
/// Number of names tried for a temporary file.
const MOST_ATTEMPTS: u32 = 100;

/// Temporary files being written, so that a process that must end at once can remove them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all [`AtomicFile`]s that are not committed. Called last by a process that
/// is killed.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// File that appears under its name when it is complete, and not if writing it fails.
///
/// Data goes to a temporary file in the same folder, which [`commit`](Self::commit) renames. If the value is
/// dropped without a commit, the temporary file is removed. It is locked while its process lives. So the file
/// left by a killed process is recognised, and removed when a file of the same name is written next. If the
/// target exists and is not a regular file (a pipe, `/dev/null`), it is written to directly, since renaming
/// would replace it.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<File>,
    complete: CompleteFile,
}

/// File that is written completely and closed, and has its temporary name until it is committed. Dropping it removes
/// it.
#[derive(Debug)]
pub struct CompleteFile {
    /// Target and temporary name; `None` if the target is written directly or the file has been committed.
    rename: Option<(PathBuf, PathBuf)>,
}

impl CompleteFile {
    /// Gives the file its name.
    ///
    /// # Errors
    /// Fails if the file cannot be renamed.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some((target, temporary)) = &self.rename {
            fs::rename(temporary, target)?;
            forget(temporary);
            self.rename = None;
        }
        Ok(())
    }
}

impl AtomicFile {
    /// Starts a file with this name.
    ///
    /// # Errors
    /// Fails if no file can be created in the folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        // The file behind a symbolic link is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = File::options().write(true).open(&target)?;
            return Ok(Self { writer: BufWriter::new(file), complete: CompleteFile { rename: None } });
        }
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        remove_abandoned(&target, name);
        let (file, temporary) = create_beside(&target, name)?;
        if let Some(metadata) = existing {
            // A replaced file keeps its permissions if possible; a failure is ignored.
            let _ = file.set_permissions(metadata.permissions());
        }
        unfinished().push(temporary.clone());
        let complete = CompleteFile { rename: Some((target, temporary)) };
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, file), complete })
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Fails if the remaining data cannot be written or the file cannot be renamed.
    pub fn commit(self) -> io::Result<()> {
        self.complete()?.commit()
    }

    /// Closes the complete file, which gets its name later.
    ///
    /// # Errors
    /// Fails if the remaining data cannot be written.
    pub fn complete(mut self) -> io::Result<CompleteFile> {
        self.writer.flush()?;
        Ok(self.complete)
    }
}

/// Returns the name of a temporary file for a file of this name.
fn temporary_name(name: &OsStr, process: u32, attempt: u32) -> OsString {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{process}-{attempt}{TEMPORARY}"));
    temporary
}

/// Creates and locks a file with an unused name next to `target`.
fn create_beside(target: &Path, name: &OsStr) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let temporary = target.with_file_name(temporary_name(name, std::process::id(), attempt));
        match File::create_new(&temporary) {
            // Another process may have taken it for abandoned before it was locked. No process does so if files cannot
            // be locked.
            Ok(file) if file.lock().is_ok() && !temporary.exists() && attempt < MOST_ATTEMPTS => attempt += 1,
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MOST_ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes the temporary files for a file of this name that no process holds any more.
fn remove_abandoned(target: &Path, name: &OsStr) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut start = OsString::from(".");
    start.push(name);
    start.push(".");
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let found = found.as_encoded_bytes();
        let is_temporary = found.starts_with(start.as_encoded_bytes())
            && found.ends_with(TEMPORARY.as_bytes())
            && found[start.len()..found.len() - TEMPORARY.len()].iter().all(|b| b.is_ascii_digit() || *b == b'-');
        if is_temporary && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn forget(temporary: &Path) {
    unfinished().retain(|path| path != temporary);
}

impl Write for AtomicFile {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for CompleteFile {
    fn drop(&mut self) {
        if let Some((_, temporary)) = self.rename.take() {
            let _ = fs::remove_file(&temporary);
            forget(&temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_atomic(path: &Path, write: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> io::Result<()> {
        let mut file = AtomicFile::create(path)?;
        write(&mut file)?;
        file.commit()
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let left = folder.path().join(".x.json.4194305-0.tmp");
        fs::write(&left, "half").unwrap();
        let others = [".x.json.bak.tmp", ".y.json.1-0.tmp", "x.json.1-0.tmp"].map(|name| folder.path().join(name));
        others.iter().for_each(|other| fs::write(other, "").unwrap());
        // Two temporary files of this process at once: neither is taken for abandoned.
        let mut first = AtomicFile::create(&path).unwrap();
        let second = AtomicFile::create(&path).unwrap();
        assert!(!left.exists());
        first.write_all(b"whole").unwrap();
        drop(second);
        first.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert!(others.iter().all(|other| other.exists()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_file_that_fails_half_way_leaves_the_old_one_and_no_rubbish() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        fs::write(&path, "old").unwrap();
        let result = write_atomic(&path, |w| {
            w.write_all(b"new")?;
            Err(io::ErrorKind::Other.into())
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write_atomic(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_not_replaced_by_a_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_atomic(folder.path(), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_file_behind_a_link_is_replaced_and_the_link_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file.csv"), folder.path().join("link.csv"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomic(&link, |w| w.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }
}
