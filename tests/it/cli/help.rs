//! What a newcomer reads first.

use super::Desk;
use snapbox::str;

#[test]
fn the_first_page_names_all_verbs_with_examples_and_exit_codes() {
    Desk::new().hayase("--help").assert().success().stderr_eq("").stdout_eq(str![]);
}

#[test]
fn without_a_verb_the_help_is_shown_and_the_call_is_wrong() {
    let assert = Desk::new().hayase("").assert().code(2).stdout_eq("");
    let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("Usage: hayase") && stderr.contains("Examples:"), "{stderr}");
}

#[test]
fn the_help_of_run_says_what_each_option_takes() {
    Desk::new().hayase("run -h").assert().success().stdout_eq(str![]);
}

#[test]
fn a_wrong_option_is_answered_with_the_right_one() {
    Desk::new().hayase("run --topolgy x").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn a_wrong_value_is_answered_with_the_right_ones() {
    Desk::new().hayase("run --format yaml").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let assert = Desk::new().hayase(&format!("completions {shell}")).assert().success();
        let script = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(script.contains("compare") && script.contains("placement"), "{shell}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let desk = Desk::new();
    desk.hayase("man -o . --quiet").assert().success().stdout_eq("").stderr_eq("");
    let names = desk.names();
    for name in ["hayase.1", "hayase-run.1", "hayase-topology-show.1"] {
        assert!(names.iter().any(|other| other == name), "{names:?}");
        assert!(desk.read(name).contains(".SH NAME"), "{name}");
    }
}

#[test]
fn the_version_is_told() {
    let text = format!("hayase {}\n", env!("CARGO_PKG_VERSION"));
    Desk::new().hayase("--version").assert().success().stdout_eq(text);
}
