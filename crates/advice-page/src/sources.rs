//! Text of the source files of a run and its advice.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::data::{PageData, Source};

/// Largest file that is put into the page \[B\].
const MAX_FILE_BYTES: u64 = 4 << 20;

impl PageData {
    /// Reads the files of places and marks, in the order of their names.
    ///
    /// Each file is looked for by its whole name in the folders, in their order, and then by its name alone.
    /// Last, the last part of the name is looked for in the folders, because the program may have been
    /// compiled elsewhere. An absolute name is the same in all folders.
    ///
    /// A file that does not exist, is no text or is longer than 4 MiB is listed without text. Bytes that are
    /// not UTF-8 are replaced.
    pub fn read_sources(&mut self, folders: &[PathBuf]) {
        let marks = self.findings.iter().flat_map(|finding| finding.marks.iter().map(|mark| mark.file.as_str()));
        let named: BTreeSet<&str> = marks.chain(self.run.places.iter().map(|(file, _)| file.as_str())).collect();
        let read = |path: &str| Source { path: path.to_owned(), text: find(path, folders) };
        self.sources = named.into_iter().filter(|path| !path.is_empty()).map(read).collect();
    }
}

fn find(path: &str, folders: &[PathBuf]) -> Option<String> {
    let named = Path::new(path);
    let mut candidates: Vec<PathBuf> = folders.iter().map(|folder| folder.join(named)).collect();
    candidates.push(named.to_path_buf());
    candidates
        .extend(named.file_name().into_iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))));
    candidates.iter().find_map(|candidate| text(candidate))
}

fn text(path: &Path) -> Option<String> {
    // Devices and pipes are left out: a read may never end.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_text = bytes.len() as u64 <= MAX_FILE_BYTES && !bytes.contains(&0);
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use std::fs;

    #[test]
    fn files_are_found_by_name_and_by_the_end_of_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/a.c"), "int a;\n").unwrap();
        fs::write(folder.path().join("b.c"), b"caf\xe9").unwrap();
        fs::write(folder.path().join("binary"), b"\x7fELF\0").unwrap();
        let mut run = Run::new(1);
        for path in ["src/a.c", "/compiled/elsewhere/b.c", "binary", "gone.c", ".", ""] {
            run.place(path, 1);
        }
        let mut data = PageData::new(run);
        data.read_sources(&[folder.path().into()]);
        let found: Vec<_> = data.sources.iter().map(|source| (source.path.as_str(), source.text.as_deref())).collect();
        let expected = [
            (".", None),
            ("/compiled/elsewhere/b.c", Some("caf\u{fffd}")),
            ("binary", None),
            ("gone.c", None),
            ("src/a.c", Some("int a;\n")),
        ];
        assert_eq!(found, expected);
    }
    #[test]
    fn the_first_folder_that_has_the_name_is_taken_and_a_whole_name_before_the_end_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, text) in
            [("one/src/a.c", "one"), ("two/src/a.c", "two"), ("one/b.c", "end"), ("two/src/b.c", "whole")]
        {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        }
        let folders = [at("one"), at("two")];
        let whole = at("two/src/a.c");
        let found = ["src/a.c", "src/b.c", whole.to_str().unwrap()].map(|name| find(name, &folders).unwrap());
        assert_eq!(found, ["one", "whole", "two"]);
    }
}
