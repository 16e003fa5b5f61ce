//! Outputs: reports, comparisons and fabrics as bytes, one file a format; files are written whole or not at all.

pub mod csv;
pub mod dot;
pub mod fabric_json;
pub mod json;
pub mod svg;
pub mod table;
pub mod trace;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary files being written, so that a process that must end at once can remove them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what [`AtomicFile`]s have written and not committed: the last act of a process that is being killed.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A file that appears under its name when it is complete, and not at all where writing it fails.
///
/// What is written goes to a temporary file in the same folder, which [`commit`](Self::commit) renames; dropped
/// without that, it is removed. What is already there and is no regular file (a pipe, `/dev/null`) is written to
/// directly, since renaming would replace it.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<File>,
    /// Where it goes and its temporary name; `None` where it is written directly or has been committed.
    rename: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Starts a file that will have this name.
    ///
    /// # Errors
    /// Where nothing can be created in the folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        // The file behind a symbolic link is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = File::options().write(true).open(&target)?;
            return Ok(Self { writer: BufWriter::new(file), rename: None });
        }
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
        let (file, temporary) = create_beside(&target, &name)?;
        if let Some(metadata) = existing {
            // A replaced file stays as readable as it was; where that is not ours to decide, it does not matter.
            let _ = file.set_permissions(metadata.permissions());
        }
        unfinished().push(temporary.clone());
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, file), rename: Some((target, temporary)) })
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Where the rest cannot be written or the file not be renamed.
    pub fn commit(mut self) -> io::Result<()> {
        self.writer.flush()?;
        if let Some((target, temporary)) = &self.rename {
            fs::rename(temporary, target)?;
            forget(temporary);
            self.rename = None;
        }
        Ok(())
    }
}

/// Creates a file with a name that none has yet, next to `target`.
fn create_beside(target: &Path, name: &str) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let temporary = target.with_file_name(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
        match File::create_new(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            Err(error) => return Err(error),
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

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((_, temporary)) = self.rename.take() {
            let _ = fs::remove_file(&temporary);
            forget(&temporary);
        }
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// Where it cannot be created, written or renamed; then what stood under the name before still stands there.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    write(&mut file)?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

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
