//! Recording: what is refused, what is said where nothing is recorded, and what is recorded where there is an MPI.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Desk;

/// `hayase` with a cache of its own: the recorder is written there.
fn hayase(desk: &Desk, words: &str) -> snapbox::cmd::Command {
    desk.hayase(words)
        .env("XDG_CACHE_HOME", desk.path().join("cache"))
        .env_remove("LD_PRELOAD")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .timeout(Duration::from_secs(300))
}

/// What it says when it ends with this code.
fn said(desk: &Desk, words: &str, code: i32) -> String {
    let assert = hayase(desk, words).assert().code(code);
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_recording_needs_a_program_and_a_place_of_its_own() {
    let desk = Desk::new().file("thesis/chapter.txt", "");
    for (words, what) in [
        ("record -o run", "required"),
        ("record -- true", "--output"),
        ("record -o run -- ./no-such-program", "there is no program `./no-such-program`"),
        ("record -o thesis -- true", "`thesis` is there and is no recording"),
        ("record -o thesis --force -- true", "`thesis` is there and is no recording"),
        ("record -o run --clock moon -- true", "moon"),
        ("record -o run --stop-after 3km -- true", "a time like"),
        ("record -o run --stop-after 0 -- true", "at least one call"),
    ] {
        let text = said(&desk, words, 2);
        assert!(text.contains(what), "{words}: {text}");
    }
    assert_eq!(desk.names(), ["thesis"]);
}

#[test]
fn where_nothing_was_recorded_the_reason_is_said_and_nothing_stays() {
    let desk = Desk::new().file("job", "#!/bin/sh\ntrue\n").file("text", "hello\n");
    for name in ["job", "text"] {
        fs::set_permissions(desk.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (words, what) in [
        ("record -o run -- true", "makes no calls of MPI"),
        ("record -o run -- ./job", "`./job` is a script for `/bin/sh`"),
    ] {
        let text = said(&desk, words, 1);
        assert!(text.contains(what), "{words}: {text}");
    }
    let text = said(&desk, "record -o run -- ./text", 2);
    assert!(text.contains("cannot start `./text`"), "{text}");
    assert_eq!(desk.names(), ["cache", "job", "text"]);
}

#[test]
fn a_static_program_is_said_to_be_one() {
    let desk = Desk::new().file("a.c", "int main(void) { return 0; }\n");
    let mut compiled = Command::new("cc");
    compiled.args(["-static", "-o", "a", "a.c"]).current_dir(desk.path()).stderr(Stdio::null());
    if !compiled.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no C compiler that links statically");
        return;
    }
    let text = said(&desk, "record -o run -- ./a", 1);
    assert!(text.contains("`./a` is statically linked"), "{text}");
    assert!(text.contains("link it again"), "{text}");
}

#[test]
fn the_recorder_is_written_for_its_owner_alone_and_once() {
    let desk = Desk::new();
    let cached = || {
        said(&desk, "record -o run -- true", 1);
        let folder = desk.path().join("cache/hayase");
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        (names[0].clone(), fs::metadata(&names[0]).unwrap().modified().unwrap())
    };
    assert_eq!(cached(), cached());
}
