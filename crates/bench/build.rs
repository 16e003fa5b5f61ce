//! Notes the compiler that builds the program, to be named by the benchmarks.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    println!("cargo:rustc-env=HAYASE_COMPILER={version}");
}
