//! Links the program so that it is smaller and starts quicker, where the linker can.
//!
//! - `--icf=all` keeps one of functions that are the same: the program is 4 % smaller. The linker that Rust brings for
//!   Linux on x86-64 can, and so can mold; others are not asked. Nothing compares the addresses of functions.
//! - `-no-pie` puts the program at a fixed address: the loader need not write 30,000 addresses into tables of names,
//!   formats and methods before it starts, which is a fifth of the start-up of a small run (410,000 instructions, 86 page
//!   faults), and the program lacks the 0.73 MB that say where they are. What is lost is that the program's own code is at
//!   another place each time (libraries, stack and heap still are), which makes holes in programs that read what strangers
//!   send harder to use. This one reads its user's own files, without privileges of its own, and listens to nobody.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// What asks for one of functions that are the same.
pub const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTFLAGS");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let may_be_fixed = is("OS", "linux") && is("ENV", "gnu") && !has("FEATURE", "crt-static");
        let wanted = [(FOLD, true), ("-no-pie", may_be_fixed)].into_iter().filter(|&(_, is_wanted)| is_wanted);
        for (flag, _) in wanted.filter(|&(flag, _)| is_understood(flag).unwrap_or_default()) {
            println!("cargo:rustc-link-arg-bins={flag}");
        }
    }
}

/// What the target is, in this respect.
fn is(respect: &str, what: &str) -> bool {
    env::var(format!("CARGO_CFG_TARGET_{respect}")).is_ok_and(|value| value == what)
}

/// Whether the target has this among several.
fn has(respect: &str, what: &str) -> bool {
    env::var(format!("CARGO_CFG_TARGET_{respect}")).is_ok_and(|values| values.split(',').any(|value| value == what))
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
