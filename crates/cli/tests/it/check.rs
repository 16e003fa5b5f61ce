//! `hayase check`.

use super::{Desk, FABRIC, MESSAGES};
use snapbox::str;

#[test]
fn what_is_right_is_said_in_a_line() {
    let scenario = format!("{FABRIC}\n[workload.file]\npath = \"messages.csv\"\ninjection = \"window=4\"\n");
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES).file("scenario.toml", &scenario);
    desk.hayase("check fabric.toml messages.csv scenario.toml").assert().success().stderr_eq("").stdout_eq(str![[r#"
fabric.toml: ok: fat-tree down 4 up 1 (4 nodes, 1 switch, 8 links)
messages.csv: ok: messages of messages.csv, 4 ranks, 3 messages, 50 KB, 2 steps
scenario.toml: ok: fat-tree down 4 up 1 (4 nodes, 1 switch, 8 links), messages of messages.csv, 3 messages, 50 KB, 2 steps, injection window=4

"#]]);
}

#[test]
fn one_wrong_file_does_not_hide_the_others() {
    let desk =
        Desk::new().file("fabric.toml", FABRIC).file("broken.toml", "[topology.fat-tree\n").file("notes.txt", "");
    desk.hayase("check broken.toml notes.txt missing.toml fabric.toml")
        .assert()
        .code(2)
        .stdout_eq("fabric.toml: ok: [..]\n")
        .stderr_eq(str![[r#"
error[syntax]: unclosed table
 --> broken.toml:1:19
  |
1 | [topology.fat-tree 
  |                   ^ expected `]`

error[unknown-file]: `notes.txt` does not look like anything that can be checked
 |
 = help: scenarios, topologies and patterns are called x.toml, lists of messages x.csv, platforms x.xml, data sets x.prog, x.comp, x.comm

error[missing-file]: there is no file `missing.toml`
 |
 = note: no such file
 = help: a path is relative to the file that names it, or to the current directory


"#]]);
}

#[test]
fn a_commented_scenario_is_right_and_can_be_checked() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("init my.toml -t fabric.toml -p messages.csv").assert().success().stdout_eq("").stderr_eq(str![[r#"
hint: edit `my.toml`, then `hayase run my.toml`

"#]]);
    desk.hayase("check my.toml").assert().success().stderr_eq("");
}
