//! Compilers that instrument.

use std::fs;
use std::path::Path;
use std::process::Command;

use hayase_needs::is_there;
use snapbox::str;

use super::Desk;

#[test]
fn a_compiler_that_cannot_instrument_is_named_with_those_that_can() {
    let desk = Desk::new().file("a.c", "int main(void) { return 0; }\n");
    desk.hayase("wrap true a.c").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-compiler]: `true` is not a compiler that can instrument: it calls itself `true (GNU coreutils) [..]`
...
"#]]);
    desk.hayase("cc --compiler no-such-mpicc a.c").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[no-compiler]: there is no compiler `no-such-mpicc`
...
"#]]);
    desk.hayase("wrap").assert().code(2).stdout_eq("");
}

#[test]
fn programs_are_instrumented_and_run_without_a_recorder() {
    let text = "#include <stdio.h>\nint a[100];\nint main(void) { for (int i = 0; i < 100; i++) a[i] = i; printf(\"%d\\n\", a[99]); }\n";
    let desk = Desk::new().file("a.c", text).file("a.f90", "print *, 42\nend\n");
    for (compiler, source) in [("gcc", "a.c"), ("clang", "a.c"), ("gfortran", "a.f90")] {
        if !is_there(compiler) {
            continue;
        }
        // In one step and in two, as build systems do.
        desk.hayase(&format!("wrap {compiler} -O2 {source} -o one"))
            .env("XDG_CACHE_HOME", desk.path())
            .assert()
            .success()
            .stderr_eq(format!(
                "hayase: {} in the place of -O2, so that each access is one of the source\n",
                if compiler == "clang" { "-O0" } else { "-Og" }
            ));
        desk.hayase(&format!("wrap {compiler} -c {source} -o two.o"))
            .env("XDG_CACHE_HOME", desk.path())
            .assert()
            .success();
        desk.hayase(&format!("wrap {compiler} two.o -o two"))
            .env("XDG_CACHE_HOME", desk.path())
            .assert()
            .success()
            .stderr_eq("");
        for program in ["one", "two"] {
            let output = Command::new(desk.path().join(program)).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && matches!(said.trim(), "99" | "42"), "{compiler}: {said}");
            let bytes = fs::read(desk.path().join(program)).unwrap();
            let needs = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
            assert!(needs(b"libhayase_memory.so") && !needs(b"libtsan.so"), "{compiler}: linked with another library");
        }
        // The compiler's own mistakes and answers are its own.
        desk.hayase(&format!("wrap {compiler} no-such-file.c")).assert().failure();
        let version = desk.hayase(&format!("wrap {compiler} --version")).assert().success();
        assert!(!version.get_output().stdout.is_empty());
        desk.hayase(&format!("wrap {compiler} {source} -static")).assert().code(2).stderr_eq(str![[r#"
error[cannot-instrument]: `-static` links without shared libraries, and the library that records memory accesses is one
...
"#]]);
    }
    assert!(Path::new(&desk.path().join("hayase")).is_dir() || !is_there("gcc"), "the library is in the cache");
}
