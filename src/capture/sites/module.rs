//! A program or library on disk: which line of the source an instruction belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSegment};

/// Names the places at these offsets of a file (in bytes from its beginning).
///
/// A name is `file:line (function)`; without debug information `function+0x12`, without symbols `module+0x1234`. Files below
/// `folder` are named from there. Debug information may be in a file of its own, beside the module or where systems keep
/// it, by its build id.
///
/// Source: DWARF 5, section 6.2 (line numbers); the ELF program headers lead from a place in the file to the address that
/// the linker gave it, `va = offset - p_offset + p_vaddr`.
pub fn names(path: &Path, offsets: &[u64], folder: &Path) -> Vec<String> {
    let short = path.file_name().unwrap_or_default().to_string_lossy();
    let unknown = |offset: &u64| format!("{short}+{offset:#x}");
    let Ok(data) = fs::read(path) else { return offsets.iter().map(unknown).collect() };
    let Ok(object) = object::File::parse(&*data) else { return offsets.iter().map(unknown).collect() };
    let segments: Vec<(u64, u64, u64)> = object
        .segments()
        .map(|segment| {
            let (start, length) = segment.file_range();
            (start, length, segment.address())
        })
        .collect();
    // What cannot be read has no lines.
    let plain = Loader::new(path).ok();
    let separate = if object.has_debug_symbols() { None } else { separate(path, &object) };
    let separate = separate.and_then(|path| Loader::new(path).ok());
    let with_lines = separate.as_ref().or(plain.as_ref());
    offsets
        .iter()
        .map(|offset| {
            let segment =
                segments.iter().find(|(start, length, _)| offset.checked_sub(*start).is_some_and(|at| at < *length));
            let Some((start, _, address)) = segment else { return unknown(offset) };
            let address = address.wrapping_add(offset - start);
            with_lines
                .and_then(|loader| line(loader, address, folder))
                .or_else(|| separate.as_ref().and_then(|loader| symbol(loader, address)))
                .or_else(|| plain.as_ref().and_then(|loader| symbol(loader, address)))
                .unwrap_or_else(|| unknown(offset))
        })
        .collect()
}

/// `file:line (function)`; of functions that were put into others, the innermost: there the call is written.
fn line(loader: &Loader, address: u64, folder: &Path) -> Option<String> {
    let mut frames = loader.find_frames(address).ok()?;
    let frame = frames.next().ok()??;
    let location = frame.location?;
    let (file, line) = (location.file?, location.line?);
    let file = normal(Path::new(file));
    let file = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
    let function = frame.function.and_then(|function| Some(function.demangle().ok()?.into_owned()));
    let function = function.or_else(|| loader.find_symbol(address).map(demangled));
    Some(match function {
        Some(function) => format!("{file}:{line} ({function})"),
        None => format!("{file}:{line}"),
    })
}

/// `function+0x12`.
fn symbol(loader: &Loader, address: u64) -> Option<String> {
    let symbol = loader.find_symbol_info(address)?;
    Some(format!("{}+{:#x}", demangled(symbol.name()), address - symbol.address()))
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// Without `.` and, where it is only text, `a/..`.
fn normal(path: &Path) -> PathBuf {
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

/// Where the debug information of a module is, if it is not in it: `/usr/lib/debug/.build-id/ab/cdef.debug`, or a file
/// that the module names, beside it or below `.debug` or `/usr/lib/debug`.
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
        assert_eq!(names(&path, &[0x10], folder.path()), ["lib.so+0x10"]);
        fs::write(&path, "no module").unwrap();
        assert_eq!(names(&path, &[0x10, 0], folder.path()), ["lib.so+0x10", "lib.so+0x0"]);
    }
}
