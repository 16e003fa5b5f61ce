//! Files with which programs mark regions: a header for C and C++, a module for Fortran, written when they
//! are needed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::library::{PlaceError, folders, place_in};

/// Header for C and C++.
const HEADER: (&str, &str) = ("hayase.h", include_str!("../include/hayase.h"));
/// Module for Fortran.
const MODULE: (&str, &str) = ("hayase.f90", include_str!("../include/hayase.f90"));
/// Library with the compiled module.
const LIBRARY: &str = "hayase_regions";

/// Returns a folder with the header and the source of the module.
///
/// # Errors
/// No folder can be written.
pub fn place() -> Result<PathBuf, PlaceError> {
    let hash = blake3::hash([HEADER.1, MODULE.1].concat().as_bytes()).to_hex();
    let mut failed = None;
    for folder in folders() {
        let folder = folder.join(format!("include-{}", &hash[..16]));
        match [HEADER, MODULE].iter().try_for_each(|(name, text)| place_in(&folder, name, text.as_bytes()).map(drop)) {
            Ok(()) => return Ok(folder),
            Err(error) => failed = Some(PlaceError::Io { folder, error }),
        }
    }
    Err(failed.unwrap_or(PlaceError::None))
}

/// Returns a folder with the module for this Fortran compiler, compiled at the first use: `hayase.mod`, and
/// the library to link.
///
/// Module files of a compiler fit no other compiler, and hardly another version. So each compiler has its
/// own, identified by its version text. `None` if compiling fails: then the program must bring the module
/// along.
pub fn module(compiler: &OsStr, says: &str) -> Option<PathBuf> {
    let source = place().ok()?;
    let hash = blake3::hash(says.as_bytes()).to_hex();
    let folder = source.join(format!("fortran-{}", &hash[..16]));
    let library = folder.join(format!("lib{LIBRARY}.a"));
    if library.exists() {
        return Some(folder);
    }
    // Several compilers may do this at once: each makes its own, and the first one stays.
    let making = source.join(format!("making-{}", std::process::id()));
    std::fs::create_dir_all(&making).ok()?;
    let made = make(compiler, &source, &making);
    if made.is_some() {
        // If it already exists, it is the same.
        let _ = std::fs::rename(&making, &folder);
    }
    let _ = std::fs::remove_dir_all(&making);
    library.exists().then_some(folder)
}

fn make(compiler: &OsStr, source: &Path, folder: &Path) -> Option<()> {
    let run = |command: &mut Command| {
        let status =
            command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then_some(())
    };
    // The interval between two calls belongs to the program: the module is not instrumented.
    run(Command::new(compiler)
        .args(["-O1", "-g", "-fPIC", "-c"])
        .arg(source.join(MODULE.0))
        .args(["-o", "regions.o"]))?;
    run(Command::new("ar").args(["rcs", &format!("lib{LIBRARY}.a"), "regions.o"]))
}

/// Returns the arguments for a linker.
pub fn linked(folder: &Path) -> [std::ffi::OsString; 2] {
    let mut path = std::ffi::OsString::from("-L");
    path.push(folder);
    [path, format!("-l{LIBRARY}").into()]
}
