//! Mistakes of the user: each has a place, an expectation and exit code 2.

use super::{Desk, FABRIC, MESSAGES, Said};
use snapbox::str;

#[test]
fn a_run_without_anything_says_what_is_missing() {
    Desk::new().hayase("run").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[missing-key]: there is no topology
 |
 = help: name one with -t, or write a table like [topology.fat-tree]; `hayase topology list` shows all

error[missing-key]: there is no workload
 |
 = help: name a pattern with -p, or write a table like [workload.all-to-all]; `hayase pattern list` shows all

2 mistakes

"#]]);
}

#[test]
fn all_mistakes_of_a_scenario_are_shown_at_once_with_their_characters_marked() {
    let desk = Desk::new().file(
        "scenario.toml",
        "seed = 1\n\n[topology.fat-tree]\ndown = [4]\nbandwidth = \"4 GBs\"\nlatncy = \"0 s\"\n\n[sharing.maxmin]\n",
    );
    desk.hayase("run scenario.toml").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[wrong-value]: unknown bandwidth unit "GBs"
 --> scenario.toml:5:13
  |
5 | bandwidth = "4 GBs"
  |             ^^^^^^^
  |
  = help: write "12.5 GB/s" or "100 Gbit/s"

error[unknown-key]: unknown key `latncy` in [topology.fat-tree]
 --> scenario.toml:6:1
  |
6 | latncy = "0 s"
  | ^^^^^^
  |
  = help: did you mean `latency`?

error[unknown-choice]: unknown sharing `maxmin`
 --> scenario.toml:8:10
  |
8 | [sharing.maxmin]
  |          ^^^^^^
  |
  = help: did you mean `max-min`?

error[missing-key]: scenario.toml: there is no workload
 |
 = help: name a pattern with -p, or write a table like [workload.all-to-all]; `hayase pattern list` shows all

4 mistakes

"#]]);
}

#[test]
fn an_option_is_marked_as_it_was_typed() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("run -t fabric.toml -p messages.csv --set topology.fat-tree.bandwidth=4 --placement sideways")
        .assert()
        .code(2)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error[unknown-choice]: unknown placement `sideways`
 --> --placement:1:1
  |
1 | sideways
  | ^^^^^^^^
  |
  = help: there are: regular, random, block, round-robin, by-leaf, by-group, file, nodes

error[wrong-value]: 4 has no unit
 --> --set:1:29
  |
1 | topology.fat-tree.bandwidth=4
  |                             ^
  |
  = help: write a bandwidth like "12.5 GB/s" or "100 Gbit/s"

2 mistakes

"#]]);
}

#[test]
fn mistakes_of_a_table_have_line_and_column() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("m.csv", "src,dst,bytes\n0,1,20000\n1,2,-3\n2,x,1e6\n");
    desk.hayase("rates -t fabric.toml -p m.csv").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[bad-quantity]: a size is finite and not negative, unlike "-3"
 --> m.csv:3:5
  |
3 | 1,2,-3
  |     ^^

error[bad-number]: "x" is not the number of a rank
 --> m.csv:4:3
  |
4 | 2,x,1e6
  |   ^ ranks are numbered from 0 to 16777215

2 mistakes

"#]]);
}

#[test]
fn names_of_outputs_are_checked_before_anything_else() {
    let desk = Desk::new();
    desk.hayase("run missing.toml -o x.foo -o z").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-output]: no output of this kind is called `.foo` (`x.foo`)
 |
 = help: write x.json, x.html, timeline.svg, noise.svg, links.svg, x.svg, messages.csv, links.csv, noise.csv, ranks.csv, activities.csv, path.csv, rankfile=FILE or hostfile=FILE

error[unknown-output]: the output `z` has no extension, which selects the content
 |
 = help: write x.json, x.html, timeline.svg, noise.svg, links.svg, x.svg, messages.csv, links.csv, noise.csv, ranks.csv, activities.csv, path.csv, rankfile=FILE or hostfile=FILE

2 mistakes

"#]]);
    desk.hayase("compare missing.toml -o x.dot").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-output]: no output of this kind is called `.dot` (`x.dot`)
 |
 = help: write faults.svg, x.svg, jobs.csv, x.csv, x.json, x.html or x.md

"#]]);
    // A farm has one table, a pattern several: which it is, is known when the scenario has been read.
    desk.hayase("run -t torus-4x4 -p ring -o y.csv").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-output]: the output name `y.csv` does not select one table
 |
 = help: write messages.csv, links.csv, noise.csv, ranks.csv, activities.csv or path.csv

"#]]);
    assert!(desk.names().is_empty());
}

#[test]
fn a_folder_that_does_not_exist_is_found_before_the_run_and_is_no_bad_input() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("run -t fabric.toml -p messages.csv -o missing/x.json").assert().code(1).stdout_eq("").stderr_eq(str![
        [r#"
error: cannot write `missing/x.json`: no such file or directory

"#]
    ]);
}

#[test]
fn messages_are_coloured_when_that_is_wanted_and_never_else() {
    let desk = Desk::new();
    let stderr = |words: &str| desk.hayase(words).assert().code(2).stderr();
    assert!(!stderr("run").contains('\u{1b}'));
    assert!(stderr("run --color always").contains('\u{1b}'));
    assert!(stderr("run --format yaml --color=always").contains('\u{1b}'));
}

#[test]
fn a_scenario_is_not_written_over_a_file() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    desk.hayase("init messages.csv -t fabric.toml -p messages.csv").assert().code(2).stdout_eq("").stderr_eq(str![[
        r#"
error[file-exists]: `messages.csv` exists already
 |
 = help: choose another name, or remove the file

"#
    ]]);
    assert_eq!(desk.read("messages.csv"), MESSAGES);
}

#[test]
fn a_scenario_is_written_under_a_name_that_runs() {
    let desk = Desk::new();
    for name in ["y.json", "y.csv", "y.txt"] {
        let assert = desk.hayase(&format!("init {name}")).assert().code(2).stdout_eq("");
        let error = assert.stderr();
        assert!(error.contains("error[unknown-output]") && error.contains("a scenario file is x.toml"), "{error}");
    }
    assert_eq!(desk.names(), [""; 0]);
    desk.hayase("init").arg("it is mine.toml").assert().success().stderr_eq(str![[r#"
hint: edit `'it is mine.toml'`, then `hayase run 'it is mine.toml'`

"#]]);
    desk.hayase("run -q").arg("it is mine.toml").assert().success();
    desk.hayase("init plain").assert().success();
    desk.hayase("run plain -q").assert().success();
}

#[test]
fn what_is_missing_is_missing_in_a_file() {
    let desk = Desk::new().file("empty.toml", "").file("nodes.toml", "[node.loggps]\nL = \"10 us\"\n");
    let said = |words: &str| desk.hayase(words).assert().code(2).stderr();
    for words in ["run empty.toml", "compare empty.toml --seeds 2", "run empty.toml --jitter 1us"] {
        let error = said(words);
        assert!(error.contains("error[missing-key]: empty.toml: there is no topology"), "{words}: {error}");
        assert!(error.contains("error[missing-key]: empty.toml: there is no workload"), "{words}: {error}");
    }
    assert!(said("run nodes.toml").contains("nodes.toml: there is no workload"));
    assert!(said("check empty.toml nodes.toml").contains("empty.toml: there is no topology"));
    // Without a file there is nothing to name.
    assert!(said("run -t torus-4x4").contains("error[missing-key]: there is no workload"));
}
