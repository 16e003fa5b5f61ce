//! Tests stand in for an MPI library: the recorder must find their symbols, so they are exported.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-tests=-Wl,--export-dynamic");
}
