//! Links the extension so that it is smaller, and in a wheel smaller still if the linker can.
//!
//! - Identical functions are merged, as in the program (`crates/cli/build.rs`).
//! - Similar functions stand side by side. Wheels are compressed by deflate, which looks back 32 KB, and the code holds
//!   copies of sorting, reading and dropping for each type.

#[expect(dead_code, reason = "it is the build script of another package")]
#[path = "../cli/build.rs"]
mod program;

/// Linker option for an order that compresses well; LLD has it since version 20.
const SORT: &str = "-Wl,--bp-compression-sort=function";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../cli/build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    for flag in [program::FOLD, SORT].into_iter().filter(|_| is_release) {
        if program::is_understood(flag).unwrap_or_default() {
            println!("cargo:rustc-link-arg-cdylib={flag}");
        }
    }
}
