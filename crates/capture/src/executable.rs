//! Examination of a program: reasons why a recorder cannot be loaded into it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use object::elf;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};

/// A reason for which no call of a program can be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It runs with another user's rights: the loader ignores libraries from the environment.
    OtherUser,
    /// A script, which starts the actual program.
    Script(String),
    /// Not a program of this machine.
    Foreign,
    /// It is linked statically: no loader can load a library into it.
    Static,
    /// Its loader belongs to another C library than the recorder.
    OtherLoader(String),
    /// The MPI library is part of it.
    StaticMpi,
    /// Neither it nor a library that it names calls MPI.
    NoMpi,
}

impl Obstacle {
    /// Returns the description that follows the name of the program.
    pub fn message(&self) -> String {
        match self {
            Self::OtherUser => {
                "runs with the rights of another user (set-uid), so that nothing can be loaded into it".into()
            }
            Self::Script(interpreter) => format!("is a script for `{interpreter}`"),
            Self::Foreign => "is no 64-bit Linux program for this machine".into(),
            Self::Static => "is statically linked, so that nothing can be loaded into it".into(),
            Self::OtherLoader(loader) => format!("is loaded by `{loader}`, which cannot load the recorder"),
            Self::StaticMpi => "has the MPI library linked into it, so that its calls cannot be intercepted".into(),
            Self::NoMpi => "makes no calls of MPI".into(),
        }
    }

    /// Returns the remedy.
    pub fn help(&self) -> &'static str {
        match self {
            Self::OtherUser => "record a copy of the program without the set-uid bit",
            Self::Script(_) => "see that it hands LD_PRELOAD and HAYASE_CAPTURE_DIR on to the program that it starts",
            Self::Foreign => "record on a machine of the kind that the program is for",
            Self::Static | Self::StaticMpi => {
                "link it again with the shared libraries of MPI: without -static, and without the names of libraries ending in .a"
            }
            Self::OtherLoader(_) => "build it with a compiler for glibc",
            Self::NoMpi => {
                "name the program that calls MPI, after its launcher: hayase record -o run -- mpirun -np 4 ./program"
            }
        }
    }
}

/// Returns the obstacle to recording a program; `None` if none is found.
pub fn obstacle(path: &Path) -> Option<Obstacle> {
    let metadata = fs::metadata(path).ok()?;
    let data = fs::read(path).ok()?;
    if let Some(line) = data.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        return Some(Obstacle::Script(String::from_utf8_lossy(line).trim().to_owned()));
    }
    let other_user =
        metadata.permissions().mode() & 0o4000 != 0 && metadata.uid() != rustix::process::getuid().as_raw();
    of_elf(&data).or(other_user.then_some(Obstacle::OtherUser))
}

fn of_elf(data: &[u8]) -> Option<Obstacle> {
    let Ok(file) = ElfFile64::<Endianness>::parse(data) else { return Some(Obstacle::Foreign) };
    let ours = if cfg!(target_arch = "x86_64") {
        object::Architecture::X86_64
    } else if cfg!(target_arch = "aarch64") {
        object::Architecture::Aarch64
    } else {
        file.architecture()
    };
    if file.architecture() != ours {
        return Some(Obstacle::Foreign);
    }
    let defined =
        file.symbols().any(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| name == "PMPI_Init"));
    let loader = match loader(&file) {
        None => return Some(Obstacle::Static),
        Some(loader) => loader,
    };
    if !loader.contains("ld-linux") {
        return Some(Obstacle::OtherLoader(loader));
    }
    if defined {
        return Some(Obstacle::StaticMpi);
    }
    // Calls in a library of the program are not visible here. So only a program that names no libraries
    // except those of the system is known to call nothing.
    let calls = file.dynamic_symbols().any(|symbol| {
        symbol.is_undefined()
            && symbol.name().is_ok_and(|name| name.to_ascii_lowercase().trim_start_matches('p').starts_with("mpi_"))
    });
    let known = [
        "libc.",
        "libm.",
        "libdl.",
        "libpthread.",
        "librt.",
        "libgcc_s.",
        "libstdc++.",
        "libgfortran.",
        "libquadmath.",
        "ld-linux",
    ];
    let others = needed(&file).iter().any(|name| !known.iter().any(|known| name.starts_with(known)));
    (!calls && !others).then_some(Obstacle::NoMpi)
}

/// Returns the loader of the program (PT_INTERP).
fn loader(file: &ElfFile64<'_>) -> Option<String> {
    use object::read::elf::ProgramHeader;
    let endian = file.endian();
    file.elf_program_headers().iter().find_map(|header| {
        let name = header.interpreter(endian, file.data()).ok()??;
        Some(String::from_utf8_lossy(name).into_owned())
    })
}

/// Returns the libraries that it names (DT_NEEDED).
fn needed(file: &ElfFile64<'_>) -> Vec<String> {
    let Ok(table) = file.elf_dynamic_table() else { return Vec::new() };
    let named = table.iter().filter(|entry| entry.tag == elf::DT_NEEDED);
    named.filter_map(|entry| Some(String::from_utf8_lossy(table.string(entry).ok()?).into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_interpreter_and_other_files_are_no_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "#!/usr/bin/env python3\nprint()\n").unwrap();
        assert_eq!(obstacle(&path), Some(Obstacle::Script("/usr/bin/env python3".into())));
        fs::write(&path, "hello").unwrap();
        assert_eq!(obstacle(&path), Some(Obstacle::Foreign));
        assert_eq!(obstacle(&folder.path().join("none")), None);
    }

    #[test]
    fn a_program_of_the_system_calls_no_mpi() {
        // The test itself: linked to the C library only.
        let this = std::env::current_exe().unwrap();
        assert_eq!(obstacle(&this), Some(Obstacle::NoMpi));
    }
}
