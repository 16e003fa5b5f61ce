//! Provides the libraries that recordings load into other programs to `src/library.rs`.
//!
//! Such a library is a build-dependency, so cargo has built its shared object before this runs; it lies
//! beside the other dependencies of build scripts. Both are carried compressed as one: their common parts
//! (the standard library, zstd) then count once, and both take 530 KB instead of 750.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Names of their shared objects, in the order in which `src/library.rs` finds them.
const LIBRARIES: &[&str] = &["hayase_recorder", "hayase_memory"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HAYASE_LIBRARIES");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    // Empty if there is none to carry: the program then says so when asked to record.
    let mut carried = Vec::new();
    // Folder of shared objects for another machine, from a build of their own.
    let given = env::var_os("HAYASE_LIBRARIES").map(PathBuf::from);
    if given.is_some() || is_for_this_machine() {
        for name in LIBRARIES {
            let library = shared_object(name, given.as_deref(), &out);
            carried.extend((library.len() as u64).to_le_bytes());
            carried.extend(library);
        }
        carried = compressed(&carried);
    }
    fs::write(out.join("libraries.zst"), carried).expect("the folder of cargo can be written");
}

/// Returns true if code built for the build itself runs on the program's machine: a build-dependency knows no
/// other one.
fn is_for_this_machine() -> bool {
    let set = |name: &str| env::var(name).unwrap_or_default();
    let (host, target) = (set("HOST"), set("TARGET"));
    // A program with another C library can record other programs all the same: it only passes the library on.
    set("CARGO_CFG_TARGET_OS") == "linux"
        && host.contains("linux")
        && host.split('-').next() == target.split('-').next()
}

/// Returns the newest shared object of this name that cargo has built.
fn shared_object(name: &str, given: Option<&Path>, out: &Path) -> Vec<u8> {
    let (plain, hashed) = (format!("lib{name}.so"), format!("lib{name}-"));
    let mut found: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    // OUT_DIR is `PROFILE/build/hayase-HASH/out`, with --target in a folder of its own: there and above, all
    // `deps`.
    let profile = out.ancestors().nth(3).expect("the folder of cargo is four deep");
    let profile_name = profile.file_name().unwrap_or_default();
    let beside = profile.join("deps");
    let above = profile.ancestors().nth(2).map(|target| target.join(profile_name).join("deps"));
    let folders = match given {
        Some(given) => vec![given.to_owned()],
        None => [Some(beside), above].into_iter().flatten().collect(),
    };
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            if file == plain || (file.starts_with(&hashed) && file.ends_with(".so")) {
                let time = entry.metadata().and_then(|metadata| metadata.modified());
                found.push((time.unwrap_or(std::time::UNIX_EPOCH), entry.path()));
            }
        }
    }
    found.sort();
    let Some((_, path)) = found.pop() else {
        panic!("cargo has not built {plain} beside {}", out.display());
    };
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(is_whole(&bytes), "{} is being written by another build; build again", path.display());
    bytes
}

fn compressed(content: &[u8]) -> Vec<u8> {
    // The highest level, which looks back over the whole content: two seconds.
    zstd::bulk::compress(content, 22).expect("memory is compressed into memory")
}

/// Returns true if a shared object is complete up to its last table, which linkers write last.
fn is_whole(elf: &[u8]) -> bool {
    let number = |at: usize, length: usize| {
        let bytes = elf.get(at..at + length)?;
        Some(bytes.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    // e_shoff, e_shentsize, e_shnum of a 64-bit, little-endian file.
    let end = || Some(number(40, 8)? + number(58, 2)? * number(60, 2)?);
    elf.starts_with(b"\x7fELF") && end().is_some_and(|end| end > 0 && end <= elf.len() as u64)
}
