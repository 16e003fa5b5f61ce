//! Links the program so that it is smaller and starts quicker, where the linker can.
//!
//! - `--icf=all` keeps one of functions that are the same: the program is 4 % smaller. The linker that Rust brings for
//!   Linux on x86-64 can, and so can mold; others are not asked. Nothing compares the addresses of functions.
//! - `-no-pie` puts the program at a fixed address: the loader need not write 30,000 addresses into tables of names,
//!   formats and methods before it starts, which is a fifth of the start-up of a small run (410,000 instructions, 86
//!   page faults), and the program lacks the 0.73 MB that say where they are. What is lost is that the program's own
//!   code is at another place each time (libraries, stack and heap still are), which makes holes in programs that read
//!   what strangers send harder to use. This one reads its user's own files, without privileges of its own, and listens
//!   to nobody.
//! - A linker script drops the tables by which a panic unwinds the stack: a panic ends this program where it happens,
//!   and what is stripped has no names for a backtrace. They are a tenth of the program.

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
