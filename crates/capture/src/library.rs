//! The libraries that recordings load into other programs: part of this program, written to a file when they
//! are needed.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hayase::atomic_file::AtomicFile;

/// A library that is loaded into a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Library {
    name: &'static str,
    /// Index among the carried libraries.
    index: usize,
}

/// Recorder of MPI calls.
pub const RECORDER: Library = Library { name: "libhayase_recorder", index: 0 };

/// Library of programs whose memory accesses are recorded.
pub const MEMORY: Library = Library { name: "libhayase_memory", index: 1 };

/// All libraries, each preceded by its length (64 bits, little-endian), compressed as one by zstd: a program
/// carries a quarter of their size. Empty if there are none.
const CARRIED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraries.zst"));

/// Linker scripts beside the memory library: files that compilers link for `-fsanitize=thread`.
const FOR_COMPILERS: &[(&str, &[u8])] = &[
    ("libtsan.so", b"/* Hayase's library in the place of the thread sanitizer's. */\nINPUT(-lhayase_memory)\n"),
    ("libtsan_preinit.o", b"/* Nothing is needed before main. */\n"),
];

/// Reason why there is no file with the library.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// This program was built without the libraries.
    #[error(
        "this program was built for a machine for which it has no recorder: recording needs Linux, and a build on the kind of processor that records"
    )]
    None,
    /// No folder could be used.
    #[error("the recorder cannot be written to {}: {error}", folder.display())]
    Io {
        /// Last folder tried.
        folder: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

impl Library {
    /// Returns the path of a file with the library: in the user's cache, else in a private folder among the
    /// temporary files.
    ///
    /// The name of the file has a hash of its content, so that versions do not collide. The file appears when
    /// it is complete, so that several processes may do this at once.
    ///
    /// # Errors
    /// No folder can be written.
    pub fn place(self) -> Result<PathBuf, PlaceError> {
        let content = self.content()?;
        let name = format!("{}.so", self.hashed(&content));
        place_with(folders(), |folder| place_in(folder, &name, &content))
    }

    /// Returns a folder with the library under its plain name, and with the files that compilers look for
    /// beside it. Programs are linked with it and find it there when they run.
    ///
    /// # Errors
    /// No folder can be written.
    pub fn place_for_linking(self) -> Result<PathBuf, PlaceError> {
        let content = self.content()?;
        let (hashed, plain) = (self.hashed(&content), format!("{}.so", self.name));
        let library = [(plain.as_str(), &content[..])];
        place_with(folders().into_iter().map(|folder| folder.join(&hashed)), |folder| {
            let mut files = library.iter().chain(FOR_COMPILERS);
            files.try_for_each(|(name, content)| place_in(folder, name, content).map(drop)).map(|()| folder.to_owned())
        })
    }

    /// Returns its file name, with a hash of its content.
    fn hashed(self, content: &[u8]) -> String {
        format!("{}-{}", self.name, &blake3::hash(content).to_hex()[..16])
    }

    /// Returns the shared object.
    fn content(self) -> Result<Vec<u8>, PlaceError> {
        if CARRIED.is_empty() {
            return Err(PlaceError::None);
        }
        let all = zstd::decode_all(CARRIED).expect("build.rs has compressed whole libraries");
        let mut rest = &all[..];
        for _ in 0..self.index {
            rest = split_first(rest).1;
        }
        Ok(split_first(rest).0.to_vec())
    }
}

/// Puts something into the first folder that takes it.
fn place_with(
    folders: impl IntoIterator<Item = PathBuf>,
    place: impl Fn(&Path) -> io::Result<PathBuf>,
) -> Result<PathBuf, PlaceError> {
    let mut failed = PlaceError::None;
    for folder in folders {
        match place(&folder) {
            Ok(path) => return Ok(path),
            Err(error) => failed = PlaceError::Io { folder, error },
        }
    }
    Err(failed)
}

/// Splits off the first of several libraries.
fn split_first(libraries: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = libraries.split_first_chunk().expect("build.rs has written the length of each");
    rest.split_at(u64::from_le_bytes(*length) as usize)
}

/// Returns the folders where a library may go, the best first.
pub(super) fn folders() -> Vec<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let user = rustix::process::getuid().as_raw();
    let temporary = std::env::temp_dir().join(format!("hayase-{user}"));
    let mut folders: Vec<PathBuf> = cache.map(|cache| cache.join("hayase")).into_iter().chain([temporary]).collect();
    folders.retain(|folder| can_be_preloaded(folder));
    folders
}

/// Returns true if LD_PRELOAD can name a file in this folder: its list is split at blanks and colons.
fn can_be_preloaded(folder: &Path) -> bool {
    let bytes = folder.as_os_str().as_encoded_bytes();
    !bytes.iter().any(|byte| matches!(byte, b' ' | b':' | b'\t' | b'\n' | b'$'))
}

pub(super) fn place_in(folder: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A user who can write here decides what runs in the user's programs.
    let metadata = fs::symlink_metadata(folder)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder belongs to somebody else"));
    }
    let path = folder.join(name);
    if fs::read(&path).is_ok_and(|there| there == content) {
        return Ok(path);
    }
    let mut file = AtomicFile::create(&path)?;
    file.write_all(content)?;
    file.commit()?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_written_once_and_mended_where_it_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("a/b");
        let path = place_in(&cache, "x.so", b"library").unwrap();
        let written = fs::metadata(&path).unwrap();
        assert_eq!(written.permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
        place_in(&cache, "x.so", b"library").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().ino(), written.ino(), "what is right stays");
        fs::write(&path, "something else").unwrap();
        place_in(&cache, "x.so", b"library").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"library");
    }

    #[test]
    fn what_is_carried_is_a_shared_object_compressed() {
        let mut length = 0;
        for library in [RECORDER, MEMORY] {
            match library.content() {
                Ok(content) => {
                    // e_type of a shared object is 3; each has its own name in it.
                    assert_eq!((&content[..4], &content[16..18]), (&b"\x7fELF"[..], &[3, 0][..]), "{}", library.name);
                    let own: &[u8] = if library == RECORDER { b"MPI_Init" } else { b"__tsan_read4" };
                    assert!(content.windows(own.len()).any(|bytes| bytes == own), "{}", library.name);
                    length += content.len();
                }
                Err(error) => assert!(CARRIED.is_empty(), "{error}"),
            }
        }
        assert!(CARRIED.len() * 2 <= length, "{} of {length}", CARRIED.len());
    }

    #[test]
    fn a_folder_that_the_loader_cannot_name_is_not_used() {
        assert!(can_be_preloaded(Path::new("/home/x/.cache/hayase")));
        for folder in ["/home/my name/.cache", "/a:b", "/home/$LIB"] {
            assert!(!can_be_preloaded(Path::new(folder)), "{folder}");
        }
    }
}
