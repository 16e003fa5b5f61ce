//! `hayase check`.

use super::{Desk, FABRIC, MESSAGES};
use snapbox::str;

#[test]
fn what_is_right_is_said_in_a_line() {
    let scenario = format!("{FABRIC}\n[workload.file]\npath = \"messages.csv\"\ninjection = \"window=4\"\n");
    let desk =
        Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES).file("scenario.toml", &scenario);
    desk.hayase("check fabric.toml messages.csv scenario.toml").assert().success().stderr_eq("").stdout_eq(str![]);
}

#[test]
fn one_wrong_file_does_not_hide_the_others() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("broken.toml", "[topology.fat-tree\n").file("notes.txt", "");
    desk.hayase("check broken.toml notes.txt missing.toml fabric.toml")
        .assert()
        .code(2)
        .stdout_eq("fabric.toml: ok: [..]\n")
        .stderr_eq(str![]);
}

#[test]
fn a_commented_scenario_is_right_and_can_be_checked() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("init my.toml -t fabric.toml -p messages.csv").assert().success().stdout_eq("").stderr_eq(str![]);
    desk.hayase("check my.toml").assert().success().stderr_eq("");
}
