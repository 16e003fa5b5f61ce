//! Names of the callers above a call site: from the recorder's data to the author's source.

use std::path::{Path, PathBuf};

use hayase_trace::names::{function, has_line};
use hayase_trace::{Frame, Site};

use super::module::normal;

/// Functions of the system that start a program or a thread: nothing of the program is above them.
const STARTS: [&str; 7] = [
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
];

/// Importer of Python modules, which is not a place of the program.
const IMPORTING: &str = "<frozen importlib";

/// Names a site and its callers.
///
/// `names` returns the file of an address and its names: its own, then those of the functions that it was
/// inlined into, which become callers. Callers end with `main`. A call from a library of an interpreter is
/// named after the innermost line of the interpreted language: the call's own place means nothing to the
/// authors of the program.
pub fn name<'a>(site: &mut Site, source: &Path, names: impl Fn(u64) -> Option<(&'a PathBuf, &'a Vec<String>)>) {
    let unknown = |address: u64| format!("{address:#x}");
    let mut callers: Vec<Frame> = Vec::new();
    let mut put = |address: u64, names: &[String]| {
        callers.extend(names.iter().map(|name| Frame { address, name: name.clone() }));
    };
    let own = names(site.address);
    site.name = own.and_then(|(_, names)| names.first().cloned()).unwrap_or_else(|| unknown(site.address));
    put(site.address, own.map_or(&[], |(_, names)| names.get(1..).unwrap_or_default()));
    for Frame { address, name } in std::mem::take(&mut site.callers) {
        if address == 0 && name.starts_with(IMPORTING) {
            continue;
        }
        match (name.as_str(), names(address)) {
            ("", Some((_, names))) => put(address, names),
            ("", None) => put(address, &[unknown(address)]),
            (name, _) => put(address, &[below(name, source)]),
        }
    }
    let is_main = |name: &str| function(name) == Some("main");
    if is_main(&site.name) {
        callers.clear();
    } else if let Some(main) = callers.iter().position(|frame| is_main(&frame.name)) {
        callers.truncate(main + 1);
    }
    let starts = |frame: &Frame| function(&frame.name).is_some_and(|name| STARTS.contains(&name));
    if let Some(start) = callers.iter().position(starts) {
        callers.truncate(start);
    }
    let interpreted = callers.iter().find(|frame| frame.address == 0);
    if let Some(frame) = interpreted
        && (!has_line(&site.name) || own.is_some_and(|(path, _)| is_extension(path)))
    {
        site.name.clone_from(&frame.name);
    }
    site.callers = callers;
}

/// Returns true if a library is an extension of Python by its name: `MPI.cpython-311-x86_64-linux-gnu.so`,
/// `MPI.abi3.so`.
fn is_extension(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(".cpython-") || name.contains(".abi3.")
}

/// Returns the name of a place, relative to a folder if it is below it.
fn below(name: &str, folder: &Path) -> String {
    let (place, function) = name.rsplit_once(" (").map_or((name, ""), |(place, _)| (place, &name[place.len()..]));
    let file = normal(Path::new(place));
    format!("{}{function}", file.strip_prefix(folder).unwrap_or(&file).display())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn named(address: u64, callers: &[(u64, &str)]) -> (String, Vec<String>) {
        let file =
            |path: &str, names: &[&str]| (PathBuf::from(path), names.iter().map(|name| (*name).to_owned()).collect());
        let places: BTreeMap<u64, (PathBuf, Vec<String>)> = BTreeMap::from([
            (1, file("/a", &["lib.c:3 (send)", "lib.c:9 (exchange)"])),
            (2, file("/a", &["a.c:20 (solve)"])),
            (3, file("/a", &["a.c:50 (main)"])),
            (4, file("/c", &["libc.so.6: __libc_start_call_main+0x7a"])),
            (5, file("/p/MPI.cpython-311-x86_64-linux-gnu.so", &["MPI.cpython-311-x86_64-linux-gnu.so+0x7a"])),
            (6, file("/p/MPI.cpython-311-x86_64-linux-gnu.so", &["MPI.c:900 (send)"])),
        ]);
        let callers = callers.iter().map(|&(address, name)| Frame { address, name: name.into() }).collect();
        let mut site = Site { address, name: String::new(), callers };
        name(&mut site, Path::new("/home/me"), |address| places.get(&address).map(|(path, names)| (path, names)));
        (site.name, site.callers.into_iter().map(|frame| frame.name).collect())
    }

    #[test]
    fn functions_that_became_part_of_others_are_called_by_these() {
        let (name, callers) = named(1, &[(2, ""), (3, ""), (4, "")]);
        assert_eq!(name, "lib.c:3 (send)");
        assert_eq!(callers, ["lib.c:9 (exchange)", "a.c:20 (solve)", "a.c:50 (main)"]);
    }

    #[test]
    fn above_main_is_nothing() {
        assert_eq!(named(3, &[(4, ""), (4, "")]), ("a.c:50 (main)".into(), vec![]));
        assert_eq!(
            named(2, &[(4, ""), (8, "")]),
            ("a.c:20 (solve)".into(), vec![]),
            "a thread, or a program without symbols"
        );
        assert_eq!(named(9, &[(8, "")]), ("0x9".into(), vec!["0x8".into()]), "no file");
    }

    #[test]
    fn a_call_of_an_extension_is_named_after_the_line_of_python() {
        let importing = (0, "<frozen importlib._bootstrap>:241 (_call_with_frames_removed)");
        let python = [importing, (0, "/home/me/x/../mp.py:7 (f)"), (0, "/usr/lib/a (1)/b.py:9 (<module>)")];
        let (line, above) = ("mp.py:7 (f)".to_owned(), "/usr/lib/a (1)/b.py:9 (<module>)".to_owned());
        assert_eq!(named(5, &python), (line.clone(), vec![line.clone(), above.clone()]));
        assert_eq!(named(6, &python).0, line);
        let (name, callers) = named(1, &[(6, ""), python[0], python[1], python[2]]);
        assert_eq!(name, "lib.c:3 (send)", "a library that has lines of its own");
        assert_eq!(callers[1..], ["MPI.c:900 (send)".to_owned(), line, above]);
    }
}
