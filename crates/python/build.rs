//! Links the extension as the program is linked, where the linker can.

#[expect(dead_code, reason = "it is the build script of another package")]
#[path = "../cli/build.rs"]
mod program;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../cli/build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_release && program::is_understood(program::FOLD).unwrap_or_default() {
        println!("cargo:rustc-link-arg-cdylib={}", program::FOLD);
    }
}
