//! Compiles programs as `hayase cc` does.

#[path = "../../../capture/src/instrument.rs"]
#[allow(dead_code, reason = "of the simulator, which has more use for it")]
mod instrument;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of the library that cargo has built for this test.
pub fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let mut found: Vec<PathBuf> = fs::read_dir(&deps)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libhayase_memory") && name.ends_with(".so")
        })
        .collect();
    found.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    found.pop().expect("cargo has built the library")
}

/// Runs a command that must succeed; returns its output.
pub fn run(command: &mut Command) -> String {
    // Cargo's value would lead to another build of the library, perhaps an older one.
    let output = command.env_remove("LD_LIBRARY_PATH").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Puts the library into a folder, together with the files that compilers look for beside it.
pub fn place(folder: &Path) {
    fs::copy(library(), folder.join("libhayase_memory.so")).unwrap();
    fs::write(folder.join("libtsan.so"), "INPUT(-lhayase_memory)").unwrap();
    fs::write(folder.join("libtsan_preinit.o"), "/* nothing */").unwrap();
}

/// Compiles with the instrumentation: `words` are the arguments of the compiler; the output goes to the
/// folder with the library.
pub fn build(compiler: &str, folder: &Path, words: &[&OsStr], to: &str) {
    let version = run(Command::new(compiler).arg("--version"));
    let family = instrument::Family::of(&version).expect("a compiler that instruments");
    let mut words: Vec<OsString> = words.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["-o".into(), to.into()]);
    let rewritten = instrument::rewrite(family, &words, folder).unwrap();
    run(Command::new(compiler).current_dir(folder).args(rewritten.arguments));
}
