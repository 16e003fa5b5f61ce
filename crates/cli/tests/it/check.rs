//! Tests of `hayase check`.

use super::{Desk, FABRIC, MESSAGES, Said};
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

error[unknown-file]: `notes.txt` does not look like anything that is read
 |
 = help: texts with tables are called x.toml, tables with columns x.csv, platforms x.xml, reports x.json, data sets x.prog, x.comp, x.comm; traces are known by their first bytes

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

/// Every file that some command reads can be checked, and is described by its kind.
#[test]
fn any_file_that_is_read_can_be_checked() {
    let desk = Desk::new()
        .file("p.goal", "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n")
        .file("machine.toml", "[node.loggps]\nL = \"10 us\"\no = \"1 us\"\nGs = \"0 ns/B\"\nS = \"1 GB\"\n")
        .file("preset.toml", "sharing = \"equal-share\"\n[defaults.workload.any]\nsize = \"20 KB\"\n")
        .file("part.toml", "sharing = \"equal-share\"\n")
        .file("tasks.toml", "[tasks.constant]\ncount = 3\ntime = \"1 ms\"\n")
        .file("tasks.csv", "i1,time\n1,1 ms\n2,2 ms\n")
        .file("where.csv", "rank,node\n0,1\n1,0\n")
        .file("cables.csv", "from-group,from-switch,to-group,to-switch,cables\n0,0,1,0,2\n")
        .file("links.csv", "id,from,to,bandwidth\nup,0,s,1 GB/s\ndown,s,0,1 GB/s\n")
        .file("routes.csv", "src,dst,links\n0,1,up down\n")
        .file("speeds.csv", "workers,factor\n4,2\n")
        .file("measured.csv", "bytes,time\n0,1 us\n");
    let files = "p.goal machine.toml preset.toml part.toml tasks.toml tasks.csv where.csv cables.csv links.csv \
                 routes.csv speeds.csv measured.csv";
    desk.hayase(&format!("check {files}")).assert().success().stderr_eq("").stdout_eq(str![[r#"
p.goal: ok: a program, 2 ranks, 2 operations
machine.toml: ok: a machine, nodes loggps
preset.toml: ok: a preset
part.toml: ok: a part of a scenario
tasks.toml: ok: 3 tasks
tasks.csv: ok: tasks, 2 tasks
where.csv: ok: a placement, 2 ranks
cables.csv: ok: cables between groups, 1 line
links.csv: ok: links of a fabric, 2 links
routes.csv: ok: routes of a fabric, 1 route
speeds.csv: ok: speeds of workers, 1 line
measured.csv: ok: measurements, 1 measurement

"#]]);
    // Shipped files, and written ones.
    for shelf in [("preset", "mfs"), ("preset", "simgrid-lv08"), ("machine", "myrinet"), ("machine", "infiniband-hdr")]
    {
        let shown = desk.hayase(&format!("{} show {}", shelf.0, shelf.1)).output().unwrap().stdout;
        std::fs::write(desk.path().join("shown.toml"), shown).unwrap();
        let assert = desk.hayase("check shown.toml").assert().success();
        let said = assert.stdout();
        assert!(said.starts_with(&format!("shown.toml: ok: a {}", shelf.0)), "{said}");
    }
}

#[test]
fn mistakes_of_any_file_are_shown_where_they_are() {
    for (name, text, place, said) in [
        (
            "cables.csv",
            "from-group,from-switch,to-group,to-switch,cables\n0,0,1,0,0\n",
            ":2:9",
            "\"0\" is not a number",
        ),
        (
            "cables.csv",
            "from-group,from-switch,to-group,to-switch,cables\n0,0,1,0,-1\n",
            ":2:9",
            "\"-1\" is not a number",
        ),
        ("where.csv", "rank,node\n0,x\n", ":2:3", "not the number of a node"),
        ("links.csv", "id,from,to,bandwidth\nup,0,s,0\n", ":2:8", "bandwidth of 0"),
        ("machine.toml", "[node.loggps]\nL = \"10 u\"\n", ":2:5", "10 u"),
        ("preset.toml", "[defaults.sharing.all]\nx = 1\n", ":1:19", "all"),
        ("part.toml", "[routing.minimal]\nx = 1\n", ":2:1", "unknown key `x`"),
        ("list.json", "[1,2", ":1:4", "it may be cut off"),
        ("null.json", "null", "", "this is a single value"),
        ("empty.json", "", ":1:1", "the text ends too early"),
        ("p.goal", "num_ranks 2\nrank 0 {\na: send 8b to 7\n}\nrank 1 {\n}\n", ":3:", "7"),
    ] {
        let assert = Desk::new().file(name, text).hayase(&format!("check {name}")).assert().code(2).stdout_eq("");
        let error = assert.stderr();
        assert!(error.contains(&format!("{name}{place}")) && error.contains(said), "{error}");
    }
}

/// JSON output without a scenario is named by its kind wherever a scenario is expected.
#[test]
fn reports_without_a_scenario_are_called_what_they_are() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    for (words, what) in [
        ("compare -t ./fabric.toml -p ring,incast -o x.json", "a comparison"),
        ("rates -t ./fabric.toml -p ring -o x.json", "a list of rates"),
        ("throughput -t ./fabric.toml -o x.json", "a throughput"),
    ] {
        desk.hayase(&format!("{words} -q")).assert().success();
        for verb in ["run x.json", "check x.json", "run -t x.json -p ring"] {
            let assert = desk.hayase(verb).assert().code(2).stdout_eq("");
            let error = assert.stderr();
            assert!(error.contains(&format!("this is {what}")), "{words}, {verb}: {error}");
        }
    }
    // A graph is a topology and not a scenario.
    desk.hayase("topology show ./fabric.toml -o graph.json -q").assert().success();
    desk.hayase("check graph.json").assert().success();
    let assert = desk.hayase("run graph.json").assert().code(2);
    let error = assert.stderr();
    assert!(error.contains("this is a graph, which `-t` takes as a topology, and contains no scenario"), "{error}");
}

#[test]
fn a_plan_is_checked_with_all_its_points() {
    let plan = "[grid]\ntopology = [\"torus-4x4\", \"fat-tree-54\"]\npattern = [\"ring\", \"ring:ranks=16\"]\n\
                size = \"1 KB..4 KB:x2\"\nseed = \"1..=5\"\n";
    let desk = Desk::new()
        .file("plan.toml", plan)
        .file("wrong.toml", &plan.replace("ranks=16", "ranks=17"))
        .file("left-out.toml", &(plan.replace("ranks=16", "ranks=17") + SKIP))
        .file("typo.toml", &plan.replace("KB:x2", "KX:x2"));
    let said = |name: &str| {
        let output = desk.hayase(&format!("check {name}")).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
    };
    let (stdout, error, code) = said("plan.toml");
    assert_eq!(code, 0, "{error}");
    let expected = "plan.toml: ok: a plan, 60 points: topology (2) x pattern (2) x size (3) x seed (5); on ";
    assert!(
        stdout.starts_with(expected) && stdout.contains("torus 4x4 (16 nodes") && stdout.contains("fat-tree p=3"),
        "{stdout}"
    );
    // 17 ranks have no room on the torus: three sizes of four combinations.
    let (stdout, error, code) = said("wrong.toml");
    assert_eq!((code, stdout.as_str()), (2, ""), "{error}");
    let which = "3 of 12 combinations fail for this reason, first the one with topology = torus-4x4, \
                 pattern = ring:ranks=17, size = 1 KB";
    assert!(error.split_whitespace().collect::<Vec<_>>().join(" ").contains(which), "{error}");
    assert_eq!(error.matches("error").count(), 1, "{error}");
    let (stdout, error, code) = said("left-out.toml");
    assert_eq!(code, 0, "{error}");
    assert!(stdout.contains("a plan, 45 points"), "{stdout}");
    let (_, error, code) = said("typo.toml");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("\"4 KX\" is not the end of a range"), "{error}");
}

const SKIP: &str = "[[skip]]\ntopology = \"torus-4x4\"\npattern = \"ring:ranks=17\"\n";
