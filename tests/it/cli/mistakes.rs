//! Mistakes of the user: each has its place, what was expected, and exit code 2.

use super::{Desk, FABRIC, MESSAGES};
use snapbox::str;

#[test]
fn a_run_without_anything_says_what_is_missing() {
    Desk::new().hayase("run").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn all_mistakes_of_a_scenario_are_shown_at_once_with_their_characters_marked() {
    let desk = Desk::new().file(
        "scenario.toml",
        "seed = 1\n\n[topology.fat-tree]\ndown = [4]\nbandwidth = \"4 GBs\"\nlatncy = \"0 s\"\n\n[sharing.maxmin]\n",
    );
    desk.hayase("run scenario.toml").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn an_option_is_marked_as_it_was_typed() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("run -t fabric.toml -p messages.csv --set topology.fat-tree.bandwidth=4 --placement sideways")
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq(str![]);
}

#[test]
fn mistakes_of_a_table_have_line_and_column() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("m.csv", "src,dst,bytes\n0,1,20000\n1,2,-3\n2,x,1e6\n");
    desk.hayase("rates -t fabric.toml -p m.csv").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn names_of_outputs_are_checked_before_anything_else() {
    let desk = Desk::new();
    desk.hayase("run missing.toml -o x.foo -o y.csv -o z").assert().code(2).stdout_eq("").stderr_eq(str![]);
    desk.hayase("compare missing.toml -o x.dot").assert().code(2).stdout_eq("").stderr_eq(str![]);
    assert!(desk.names().is_empty());
}

#[test]
fn a_folder_that_does_not_exist_is_found_before_the_run_and_is_no_bad_input() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("run -t fabric.toml -p messages.csv -o missing/x.json").assert().code(1).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn messages_are_coloured_when_that_is_wanted_and_never_else() {
    let desk = Desk::new();
    let stderr = |words: &str| {
        let assert = desk.hayase(words).assert().code(2);
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    assert!(!stderr("run").contains('\u{1b}'));
    assert!(stderr("run --color always").contains('\u{1b}'));
    assert!(stderr("run --format yaml --color=always").contains('\u{1b}'));
}

#[test]
fn a_scenario_is_not_written_over_a_file() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("init messages.csv -t fabric.toml -p messages.csv").assert().code(2).stdout_eq("").stderr_eq(str![]);
    assert_eq!(desk.read("messages.csv"), MESSAGES);
}
