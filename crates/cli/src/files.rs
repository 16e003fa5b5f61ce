//! Files that a run reads and writes. The names of outputs (`-o`) select their contents, all are opened
//! before the run, and none ever overwrites an input.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, PoisonError};

use super::{Failure, Voice};
use hayase::atomic_file::{AtomicFile, CompleteFile};
use hayase::diagnostic::{Diagnostic, Invalid, file_names};

/// Files that this process has read, each once, by canonical name.
static READ: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Registers a file as an input, which no output may overwrite.
pub fn note_input(name: &str) {
    let Ok(path) = fs::canonicalize(file_names::path(name)) else { return };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if !read.contains(&path) {
        read.push(path);
    }
}

/// Returns the mistake if writing to the path would overwrite an input.
fn overwrites(path: &Path) -> Option<Diagnostic> {
    let target = fs::canonicalize(path).ok().filter(|target| target.is_file())?;
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.iter().any(|input| same_file(input, &target)).then(|| {
        Diagnostic::new("output-is-input", format!("`{}` is read by this run and would be overwritten", path.display()))
            .help("give the output another name")
    })
}

/// Returns true if two names refer to one file, also through hard links.
#[cfg(unix)]
pub fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    a == b || identity(a).is_some_and(|first| Some(first) == identity(b))
}

#[cfg(not(unix))]
pub fn same_file(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).is_ok_and(|first| fs::canonicalize(b).is_ok_and(|second| first == second))
}

/// Opened output file, which appears under its name when it is committed.
#[derive(Debug)]
pub struct Opened {
    path: PathBuf,
    file: AtomicFile,
}

impl Opened {
    /// Opens a file before the run, so that a file that cannot be written or is an input is reported early.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        if let Some(mistake) = overwrites(path) {
            return Err(mistake.into());
        }
        let file = AtomicFile::create(path).map_err(|error| Failure::Write(path.to_owned(), error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes the whole file and gives it its name.
    pub fn write(self, write: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<(), Failure> {
        let (path, file) = self.complete(write)?;
        named_now(path, file)
    }

    /// Writes the whole file and closes it; it has no name yet.
    fn complete(
        mut self,
        write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
    ) -> Result<(PathBuf, CompleteFile), Failure> {
        match write(&mut self.file).and_then(|()| self.file.complete()) {
            Ok(file) => Ok((self.path, file)),
            Err(error) => Err(Failure::Write(self.path, error)),
        }
    }

    /// Returns the path under which the file will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path, and the file for writing piece by piece.
    pub fn into_parts(self) -> (PathBuf, AtomicFile) {
        (self.path, self.file)
    }
}

/// Gives a complete file its name.
fn named_now(path: PathBuf, file: CompleteFile) -> Result<(), Failure> {
    // The file may have been read since it was opened.
    if let Some(mistake) = overwrites(&path) {
        return Err(mistake.into());
    }
    file.commit().map_err(|error| Failure::Write(path, error))
}

/// Writes files one after another, each made of these parts. They get their names in this order when all are complete,
/// so that a full disk leaves nothing behind.
pub fn write_together<B: AsRef<[u8]>>(
    files: impl IntoIterator<Item = Result<(PathBuf, Vec<B>), Failure>>,
) -> Result<(), Failure> {
    let complete = files.into_iter().map(|file| {
        let (path, parts) = file?;
        Opened::new(&path)?.complete(|file| parts.iter().try_for_each(|part| file.write_all(part.as_ref())))
    });
    let complete = complete.collect::<Result<Vec<_>, Failure>>()?;
    complete.into_iter().try_for_each(|(path, file)| named_now(path, file))
}

/// Opened output files, each with the kind of its content.
pub type Files<K = &'static str> = Vec<(K, Opened)>;

/// Opens all files, each with the kind that `kind` finds from its name. All unknown names are reported
/// together, before any file is opened.
pub fn open<K>(paths: &[PathBuf], kind: impl Fn(&Path) -> Result<K, Diagnostic>) -> Result<Files<K>, Failure> {
    check_names(paths, &kind)?;
    let places: Vec<PathBuf> = paths.iter().map(|path| parts(path).1.to_owned()).collect();
    if let Some(mistake) = twice(&places) {
        return Err(mistake.into());
    }
    paths.iter().zip(places).map(|(path, place)| Ok((kind(path)?, Opened::new(&place)?))).collect()
}

/// Removes the files of the kinds that are not written, and reports the reason.
pub fn leave_out<K: Copy>(files: &mut Files<K>, is_left_out: impl Fn(K) -> bool, why: &str, voice: Voice) {
    for (_, file) in files.extract_if(.., |(kind, _)| is_left_out(*kind)) {
        voice.say(format_args!("`{}` is not written: {why}", file.path().display()));
    }
}

/// Returns the mistake of giving two outputs the same path, however it is spelled.
pub fn twice<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Option<Diagnostic> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in paths {
        let whole = whole(path);
        if seen.contains(&whole) {
            let message = format!("two outputs would be written to `{}`", path.display());
            return Some(Diagnostic::new("output-twice", message).help("give each a name of its own"));
        }
        seen.push(whole);
    }
    None
}

/// Returns the canonical path of a file that may not exist yet.
fn whole(path: &Path) -> PathBuf {
    let in_folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    let known = fs::canonicalize(path).ok().or_else(|| in_folder(path));
    known.or_else(|| absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// Checks the names of files without opening them.
pub fn check_names<K>(paths: &[PathBuf], kind: impl Fn(&Path) -> Result<K, Diagnostic>) -> Result<(), Failure> {
    let diagnostics: Vec<Diagnostic> = paths.iter().filter_map(|path| kind(path).err()).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Invalid { diagnostics, ..Invalid::default() }.into()) }
}

/// Returns the mistake of an unknown output name; `known` lists the known names.
pub fn unknown(path: &Path, known: &str) -> Diagnostic {
    let message = match extension(path).as_str() {
        "" => format!("the output `{}` has no extension, which selects the content", path.display()),
        extension => format!("no output of this kind is called `.{extension}` (`{}`)", path.display()),
    };
    Diagnostic::new("unknown-output", message).help(format!("write {known}"))
}

/// Returns the extension of a file name in lower case.
pub fn extension(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

/// Splits `KIND=FILE` into kind and file; other paths have no kind.
pub fn parts(path: &Path) -> (Option<&str>, &Path) {
    let named = path.to_str().and_then(|text| text.split_once('='));
    match named.filter(|(kind, _)| !kind.is_empty() && kind.chars().all(|c| c.is_ascii_lowercase())) {
        Some((kind, file)) => (Some(kind), Path::new(file)),
        None => (None, path),
    }
}

/// Names of outputs with their kinds: `WORD.EXTENSION` for files with the word in their name (or before it,
/// `WORD=FILE`), `WORD=FILE` for files of any name after this word, `x.EXTENSION` for all other names. If a name
/// contains several words, the first one in this list counts.
pub type Names<K> = &'static [(&'static str, K)];

/// Returns [`Names`] of outputs whose kinds are their own names; further names of a kind follow it after `|`.
macro_rules! names {
    ($($name:literal $(| $other:literal)*),* $(,)?) => {
        &[$(($name, $name), $(($other, $name),)*)*]
    };
}
pub(crate) use names;

/// Declares the outputs of a command as an enumeration of kinds, each with its names ([`Names`]).
macro_rules! outputs {
    ($(#[$about:meta])* $visibility:vis enum $Kind:ident { $($kind:ident: $($name:literal)|+),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $visibility enum $Kind {
            $($kind),*
        }

        impl $Kind {
            /// Returns the content of a file with this name.
            #[allow(dead_code, reason = "most verbs ask by their offer")]
            $visibility fn of(path: &std::path::Path) -> Result<Self, hayase::diagnostic::Diagnostic> {
                $crate::files::kind_of(path, Self::NAMES)
            }

            /// Names of all kinds.
            $visibility const NAMES: $crate::files::Names<Self> = &[$($(($name, Self::$kind)),+),*];
        }
    };
}
pub(crate) use outputs;

/// Returns the kind of the first of these names ([`outputs`]) that matches a path.
pub fn kind_of<K: Copy + PartialEq>(path: &Path, names: &[(&'static str, K)]) -> Result<K, Diagnostic> {
    let (asked, file) = parts(path);
    let extension = extension(file);
    let of_extension: Vec<(&str, K)> = names
        .iter()
        .copied()
        .filter(|(name, _)| match name.split_once('=') {
            Some((kind, _)) => asked == Some(kind),
            None => name.split_once('.').is_some_and(|(_, end)| end == extension),
        })
        .collect();
    if of_extension.is_empty() {
        return Err(unknown(path, &listed(names)));
    }
    let is_asked = |name: &str| {
        let word = name.split(['.', '=']).next().unwrap_or_default();
        word != "x" && named(path, word)
    };
    let is_plain = |word: &str| word == extension || ["report", "table", "picture"].contains(&word);
    let is_usual = |name: &str| name.starts_with("x.") && asked.is_none_or(is_plain);
    let mut found = of_extension.iter().find(|(name, _)| is_asked(name));
    found = found.or_else(|| of_extension.iter().find(|(name, _)| is_usual(name)));
    if let Some((_, kind)) = found {
        return Ok(*kind);
    }
    let message = match asked {
        Some(word) => format!("no output of this kind is called `{word}` (`{}`)", path.display()),
        None => format!("the output name `{}` does not select one {}", path.display(), usual_word(&extension)),
    };
    let literal = asked.map(|_| format!("; a file of this name is `./{}`", path.display())).unwrap_or_default();
    Err(Diagnostic::new("unknown-output", message).help(format!("write {}{literal}", listed(&of_extension))))
}

/// Returns the word for the usual content of a file with this extension.
fn usual_word(extension: &str) -> &'static str {
    match extension {
        "svg" => "picture",
        "csv" => "table",
        _ => "report",
    }
}

/// Returns the first name of each kind: `x.json, links.csv or x.svg`.
fn listed<K: PartialEq>(names: &[(&str, K)]) -> String {
    let is_first = |place: usize| !names[..place].iter().any(|(_, kind)| *kind == names[place].1);
    let first: Vec<&str> = (0..names.len()).filter(|&place| is_first(place)).map(|place| names[place].0).collect();
    match first.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => first.concat(),
    }
}

/// Returns true if `KIND=FILE` has this kind or, without a kind, if the file name contains the word in any
/// case. The word must stand between characters that are not letters, so that `run-7-messages2.csv` contains
/// `messages` and `mytrace.json` does not contain `trace`. Folders and the extension do not count.
pub fn named(path: &Path, word: &str) -> bool {
    if let (Some(kind), _) = parts(path) {
        return kind == word;
    }
    let Some(stem) = path.file_stem() else { return false };
    stem.to_string_lossy().to_lowercase().split(|c: char| !c.is_alphabetic()).any(|part| part == word)
}

/// Returns a writer of a text.
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

    #[test]
    fn a_kind_before_the_name_is_the_one_that_counts() {
        let names = [("timeline.svg", "timeline"), ("noise.svg", "noise"), ("x.svg", "loads"), ("links.csv", "links")];
        let found = |name: &str| kind_of(Path::new(name), &names);
        assert_eq!(found("noise=timeline.svg"), Ok("noise"));
        assert_eq!(found("picture=noise.svg"), Ok("loads"));
        assert_eq!(found("./noise=timeline.svg"), Ok("timeline"));
        assert_eq!(parts(Path::new("noise=a/b=c.svg")), (Some("noise"), Path::new("a/b=c.svg")));
        assert_eq!(parts(Path::new("a/b=c.svg")), (None, Path::new("a/b=c.svg")));
        assert_eq!(found("noise-timeline.svg"), Ok("timeline"));
        let error = found("matrix=x.svg").unwrap_err();
        assert_eq!(error.message, "no output of this kind is called `matrix` (`matrix=x.svg`)");
        assert_eq!(
            error.help.as_deref(),
            Some("write timeline.svg, noise.svg or x.svg; a file of this name is `./matrix=x.svg`")
        );
        assert_eq!(found("x.csv").unwrap_err().message, "the output name `x.csv` does not select one table");
        assert!(found("noise=x.png").unwrap_err().message.contains("called `.png`"));
    }

    #[test]
    fn a_word_in_a_name_stands_by_itself() {
        for name in ["trace.json", "x.trace.json", "run-7_Trace.json", "trace 2.json", "a-trace-b.json", "trace2.json"]
        {
            assert!(named(Path::new(name), "trace"), "{name}");
        }
        for name in ["mytrace.json", "traces.json", "x.json", "retraced.json", "x.trace"] {
            assert!(!named(Path::new(name), "trace"), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn one_file_is_one_however_its_path_is_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("inner")).unwrap();
        std::os::unix::fs::symlink("inner", folder.join("link")).unwrap();
        let path = |name: &str| folder.join(name);
        for names in [["a.csv", "./a.csv"], ["a.csv", "inner/../a.csv"], ["inner/a.csv", "link/a.csv"]] {
            assert!(twice(&names.map(path)).is_some(), "{names:?}");
        }
        assert!(twice(&["a.csv", "inner/a.csv", "none/a.csv"].map(path)).is_none());
    }
}
