//! A program or library on disk: finds the source line of an instruction.

use std::fs;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSegment};

use super::symbols::{Symbols, demangled};

/// A program or library.
pub struct Module {
    /// Name without folders.
    short: String,
    /// Pieces of the file: offset, length, and the address that the linker gave it.
    segments: Vec<(u64, u64, u64)>,
    /// Line table, from the module or from a separate file.
    lines: Option<Loader>,
    symbols: Symbols,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("short", &self.short).finish_non_exhaustive()
    }
}

impl Module {
    /// Reads the available information: a file that cannot be read has neither lines nor functions.
    ///
    /// Debug information may be in a separate file, beside the module or where systems keep it, by its build
    /// id.
    pub fn open(path: &Path) -> Self {
        let short = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let nothing = Self { short, segments: Vec::new(), lines: None, symbols: Symbols::default() };
        let Ok(data) = fs::read(path) else { return nothing };
        let Ok(object) = object::File::parse(&*data) else { return nothing };
        let segments = object.segments().map(|segment| {
            let (start, length) = segment.file_range();
            (start, length, segment.address())
        });
        let separate = if object.has_debug_symbols() { None } else { separate(path, &object) };
        let mut symbols = Symbols::of(&object);
        // The separate file has the sections that were stripped from the module.
        if let Some(data) = separate.as_ref().and_then(|path| fs::read(path).ok())
            && let Ok(object) = object::File::parse(&*data)
        {
            symbols = Symbols::of(&object);
        }
        let lines = Loader::new(separate.as_deref().unwrap_or(path)).ok();
        Self { segments: segments.collect(), lines, symbols, ..nothing }
    }

    /// Names the place at this offset of the file (in bytes from its beginning), and the places that the
    /// compiler inlined it into, the innermost first. There is at least one name.
    ///
    /// A name is `file:line (function)`; without debug information `module: function+0x12`, without symbols
    /// `module+0x1234`. Files below `folder` are named relative to it.
    ///
    /// Source: DWARF 5, section 6.2 (line numbers); the ELF program headers lead from a place in the file to
    /// the address that the linker gave it, `va = offset - p_offset + p_vaddr`.
    pub fn names(&self, offset: u64, folder: &Path) -> Vec<String> {
        let segment =
            self.segments.iter().find(|(start, length, _)| offset.checked_sub(*start).is_some_and(|at| at < *length));
        let unknown = || vec![format!("{}+{offset:#x}", self.short)];
        let Some((start, _, address)) = segment else { return unknown() };
        let address = address.wrapping_add(offset - start);
        let lines = self.lines.as_ref().map_or_else(Vec::new, |loader| lines(loader, address, folder));
        if !lines.is_empty() {
            return lines;
        }
        match self.symbols.name(address) {
            Some(function) => vec![format!("{}: {function}", self.short)],
            None => unknown(),
        }
    }
}

/// Returns `file:line (function)` of the innermost function, then of each that it was inlined into; nothing
/// if the first is not known.
fn lines(loader: &Loader, address: u64, folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return names };
    while let Ok(Some(frame)) = frames.next() {
        let Some((file, line)) = frame.location.and_then(|location| location.file.zip(location.line)) else { break };
        // Line 0: an instruction of the compiler itself.
        if line == 0 {
            break;
        }
        let file = normal(Path::new(file));
        let file = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let function = frame.function.and_then(|function| Some(demangled(&function.raw_name().ok()?)));
        let function = function.or_else(|| loader.find_symbol(address).map(demangled));
        names.push(match function {
            Some(function) => format!("{file}:{line} ({function})"),
            None => format!("{file}:{line}"),
        });
    }
    names
}

/// Removes `.` and, by the text alone, `a/..`.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Returns the file with the debug information of a module that has none:
/// `/usr/lib/debug/.build-id/ab/cdef.debug`, or a file that the module names, beside it or below `.debug` or
/// `/usr/lib/debug`.
fn separate(path: &Path, object: &object::File<'_>) -> Option<PathBuf> {
    let debug = Path::new("/usr/lib/debug");
    let mut candidates = Vec::new();
    if let Ok(Some([first, rest @ ..])) = object.build_id() {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        candidates.push(debug.join(format!(".build-id/{first:02x}/{rest}.debug")));
    }
    if let Ok(Some((name, _))) = object.gnu_debuglink() {
        let name = String::from_utf8_lossy(name).into_owned();
        if let Some(folder) = path.parent() {
            candidates.push(folder.join(&name));
            candidates.push(folder.join(".debug").join(&name));
            candidates.push(debug.join(folder.strip_prefix("/").unwrap_or(folder)).join(&name));
        }
    }
    candidates.into_iter().find(|candidate| candidate != path && candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_what_says_nothing() {
        for (path, normal_path) in [("/a/./b/../c.c", "/a/c.c"), ("../x.f", "../x.f"), ("a/b.c", "a/b.c")] {
            assert_eq!(normal(Path::new(path)), Path::new(normal_path));
        }
    }

    #[test]
    fn what_is_no_module_is_named_by_its_offset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib.so");
        assert_eq!(Module::open(&path).names(0x10, folder.path()), ["lib.so+0x10"]);
        fs::write(&path, "no module").unwrap();
        assert_eq!(Module::open(&path).names(0, folder.path()), ["lib.so+0x0"]);
    }
}
