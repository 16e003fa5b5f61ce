//! Files to be written (`-o`): their names say what they hold, and they are opened before anything runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Failure, extension};
use crate::diagnostic::{Diagnostic, Invalid};
use crate::output::AtomicFile;

/// A file that has been opened, and appears when it is committed.
#[derive(Debug)]
pub struct Opened {
    path: PathBuf,
    file: AtomicFile,
}

impl Opened {
    /// Opens a file: that it cannot be written is better known before a long run than after it.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        let file = AtomicFile::create(path).map_err(|error| Failure::Write(path.to_owned(), error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes it all and gives the file its name.
    pub fn write(mut self, write: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<(), Failure> {
        match write(&mut self.file).and_then(|()| self.file.commit()) {
            Ok(()) => Ok(()),
            Err(error) => Err(Failure::Write(self.path, error)),
        }
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path, and the file to write to piece by piece.
    pub fn into_parts(self) -> (PathBuf, AtomicFile) {
        (self.path, self.file)
    }
}

/// Opens each of the files with what `kind` makes of its name; unknown names are all reported at once, before any file
/// is opened.
pub fn open<K>(paths: &[PathBuf], kind: impl Fn(&Path) -> Result<K, Diagnostic>) -> Result<Vec<(K, Opened)>, Failure> {
    check_names(paths, &kind)?;
    paths.iter().map(|path| Ok((kind(path)?, Opened::new(path)?))).collect()
}

/// Checks the names of files without opening them.
pub fn check_names<K>(paths: &[PathBuf], kind: impl Fn(&Path) -> Result<K, Diagnostic>) -> Result<(), Failure> {
    let diagnostics: Vec<Diagnostic> = paths.iter().filter_map(|path| kind(path).err()).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Invalid { diagnostics, ..Invalid::default() }.into()) }
}

/// The message for a name that says nothing; `known` lists the names that do.
pub fn unknown(path: &Path, known: &str) -> Diagnostic {
    let message = match extension(path).as_str() {
        "" => format!("the name `{}` does not say what to write: it has no extension", path.display()),
        extension => format!("no output of this kind is called `.{extension}` (`{}`)", path.display()),
    };
    Diagnostic::new("unknown-output", message).help(format!("write {known}"))
}

/// Whether a word is in the file's name, whatever its case; folders do not count.
pub fn named(path: &Path, word: &str) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().to_lowercase().contains(word))
}

/// Writes a text.
pub fn text(text: &str) -> impl FnOnce(&mut AtomicFile) -> io::Result<()> + '_ {
    move |file| file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_found_before_any_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.json"), folder.path().join("b.xyz"), folder.path().join("c")];
        let kind = |path: &Path| if extension(path) == "json" { Ok(()) } else { Err(unknown(path, "x.json")) };
        match open(&paths, kind) {
            Err(Failure::Invalid(invalid)) => assert_eq!(invalid.diagnostics.len(), 2),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_name_itself_says_what_a_file_holds() {
        assert!(named(Path::new("My-Messages.csv"), "messages"));
        assert!(!named(Path::new("messages/links.csv"), "messages"));
    }
}
