//! Link options that make the program smaller and start faster, where the linker has them.
//!
//! - `--icf=all` keeps one of several identical functions: the program is 4 % smaller. Rust's own linker for Linux
//!   on x86-64 can do this, and so can mold; no other linker is asked. Nothing compares the addresses of functions.
//! - `-no-pie` puts the program at a fixed address, so the loader does not write 30,000 addresses into tables of
//!   names, formats and methods at each start. That is a fifth of the start-up of a small run (410,000
//!   instructions, 86 page faults), and the relocations take 0.73 MB of the program. The price is that the
//!   program's own code is always at the same place (libraries, stack and heap still move), which makes holes in
//!   programs that read untrusted input easier to exploit. This program reads its user's own files, has no
//!   privileges and listens to no network.
//! - A linker script drops the tables for unwinding: a panic ends this program at once, and a stripped program has
//!   no names for a backtrace. These tables are a tenth of the program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Keeps one of several identical functions.
pub const FOLD: &str = "-Wl,--icf=all";

/// Linker script that adds to the default layout and drops the tables for unwinding.
const WITHOUT_UNWINDING: &str =
    "SECTIONS { /DISCARD/ : { *(.eh_frame .gcc_except_table .gcc_except_table.*) } } INSERT AFTER .rodata;\n";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTFLAGS");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let is_gnu = is("OS", "linux") && is("ENV", "gnu") && !has("FEATURE", "crt-static");
        let mut flags = vec![FOLD.to_owned()];
        if is_gnu {
            let script = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write")).join("program.ld");
            fs::write(&script, WITHOUT_UNWINDING).expect("the folder of cargo can be written");
            flags.extend(["-no-pie".to_owned(), format!("-Wl,--no-eh-frame-hdr,-T,{}", script.display())]);
        }
        for flag in flags.iter().filter(|flag| is_understood(flag).unwrap_or_default()) {
            println!("cargo:rustc-link-arg-bins={flag}");
        }
    }
}

/// Returns true if the target has this value of a property.
fn is(respect: &str, what: &str) -> bool {
    env::var(format!("CARGO_CFG_TARGET_{respect}")).is_ok_and(|value| value == what)
}

/// Returns true if the target has this among several values of a property.
fn has(respect: &str, what: &str) -> bool {
    env::var(format!("CARGO_CFG_TARGET_{respect}")).is_ok_and(|values| values.split(',').any(|value| value == what))
}

/// Returns true if an empty program links with the flag, under the compiler, linker and flags of this build.
/// Returns `None` if that cannot be tried.
pub fn is_understood(flag: &str) -> Option<bool> {
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    let source = out.join("nothing.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(source).arg("-o").arg(out.join("nothing")).args(["-C", "panic=abort"]);
    rustc.arg("-C").arg(format!("link-arg={flag}"));
    rustc.arg("--target").arg(env::var_os("TARGET")?);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", linker.display()));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    Some(rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
}
