//! Tests of `hayase accuracy --measured`.

use super::{Desk, Said};

const HEAD: &str = "system,operation,algorithm,nodes,ranks,size_B,time_s\n";

fn failed(desk: &Desk, words: &str) -> String {
    let text = desk.hayase(&format!("accuracy --measured {words}")).assert().code(2).stderr();
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_linear_all_to_all_on_a_crossbar_takes_the_time_of_its_bytes() {
    let rows = format!("{HEAD}MareNostrum 5 ACC,alltoall,linear,64,64,536870912,0.0229\n");
    let desk = Desk::new().file("rows.csv", &rows);
    let words = "accuracy --measured rows.csv --models max-min+ideal --format csv -o x.svg -o x.json -o x.md";
    let out = desk.hayase(words).assert().success().stdout();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("{},predicted_s,low_s,high_s,ratio,scored,reason", HEAD.trim_end()));
    let cells: Vec<&str> = lines[1].split(',').collect();
    // 63 blocks of 8 MiB at 24.5 GB/s.
    let expected = 63.0 * f64::from(1 << 23) / 24.5e9;
    let predicted: f64 = cells[7].parse().unwrap();
    assert!((predicted / expected - 1.0).abs() < 1e-6, "{predicted} {expected}");
    assert_eq!((cells[11], cells[12]), ("1", ""));
    roxmltree::Document::parse(&desk.read("x.svg")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&desk.read("x.json")).unwrap();
    assert_eq!((&report["schema"], &report["complete"]), (&"hayase-measured-1".into(), &true.into()));
    assert!(desk.read("x.md").contains("MareNostrum 5 ACC alltoall linear, 64 nodes"));
}

#[test]
fn rows_keep_their_order_and_each_unscored_one_has_its_reason() {
    let rows = format!(
        "{HEAD}Moon,alltoall,linear,8,8,1024,1\nMareNostrum 5 ACC,bcast,binomial,4,4,1024,1e-5\n\
         MareNostrum 5 ACC,bcast,telepathy,4,4,1024,1\nMareNostrum 5 ACC,parade,x,4,4,1024,1\n\
         MareNostrum 5 ACC,bcast,binomial,4,16,1024,1\nMareNostrum 5 ACC,allgather,ring,3,3,4,1\n\
         MareNostrum 5 ACC,allreduce,ring,4,4,4096,1\nMareNostrum 5 ACC,bcast,library default,4,4,4,1\n\
         Fugaku,bcast,binomial,8,8,1024,1\n"
    );
    let desk = Desk::new().file("rows.csv", &rows);
    let out = desk.hayase("accuracy --measured rows.csv --format csv").assert().success().stdout();
    let reasons: Vec<&str> = out.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1).collect();
    assert_eq!(
        reasons,
        [
            "no machine has the system `Moon`",
            "",
            "unknown algorithm `telepathy` of bcast",
            "unknown operation `parade`",
            "",
            "blocks are no whole elements of 4 bytes",
            "",
            "the library chooses the algorithm",
            "the shape is unknown",
        ]
    );
}

#[test]
fn mistakes_are_named_with_their_places() {
    let rows = |line: &str| Desk::new().file("rows.csv", &format!("{HEAD}{line}\n"));
    let of = |line: &str| failed(&rows(line), "rows.csv");
    assert!(of("Moon,alltoall,linear,8,8,1024,1").contains("rows.csv:2: no machine has the system `Moon`"));
    assert!(of("Fugaku,alltoall,linear,8,8,1024,-1").contains("a time above 0"));
    assert!(of("Fugaku,alltoall,linear,8,8,1024,").contains("rows.csv:2:"));
    assert!(of("Fugaku,alltoall,linear,8,4,1024,1").contains("4 ranks do not use 8 nodes"));
    let desk = Desk::new().file("bare.csv", "1,2,3\n").file("osu.txt", "# OSU MPI Allreduce Latency Test\n4 1.5\n");
    assert!(failed(&desk, "bare.csv").contains("does not name the columns"));
    assert!(failed(&desk, "osu.txt --nodes 4").contains("--system NAME"));
    let desk = desk.file("ring.txt", "# OSU MPI Allgather Latency Test\n1 1.5\n65536 250\n");
    let words = "ring.txt --system Fugaku --algorithm ring --nodes 8";
    assert!(failed(&desk, words).contains("ring.txt:2: the shape is unknown"));
    assert!(failed(&desk, &format!("{words} --shape 2x2")).contains("the shape \"2x2\" does not have 8 nodes"));
    desk.hayase(&format!("accuracy --measured {words} --shape 2x2x2")).assert().success();
    assert!(failed(&desk, "fugacu").contains("did you mean `fugaku`?"));
    assert!(failed(&desk, "fugaku --models magic").contains("`magic` is no model"));
    assert!(failed(&desk, "fugaku --placements nowhere").contains("no folder of placements"));
    assert!(failed(&desk, "fugaku -t torus-4x4").contains("cannot be used with"));
}

#[test]
fn placements_and_machines_of_a_user_are_taken() {
    let machine = "[node.ideal]\n\n[measured]\nsystem = [\"Mine\"]\ntopology = \"torus:dims=[8],bandwidth=1 GB/s\"\n\
                   node-number = { slot = 1 }\n";
    let rows = "system,operation,algorithm,nodes,size_B,time_s,placement\nMine,bcast,linear,2,1000000,0.001,here\n";
    let desk = Desk::new().file("mine.toml", machine).file("rows.csv", rows);
    let words = "rows.csv -m mine.toml --placements places";
    let with = |text: &str| std::fs::write(desk.path().join("places/here.csv"), text).unwrap();
    std::fs::create_dir(desk.path().join("places")).unwrap();
    with("rank,slot\n1,0\n0,4\n");
    let out = desk.hayase(&format!("accuracy --measured {words} --format csv")).assert().success().stdout();
    // One megabyte over links of 1 GB/s.
    assert!(out.lines().nth(1).unwrap().starts_with("Mine,bcast,linear,2,1000000,0.001,here,0.001,"), "{out}");
    // Four ranks on two nodes: the root's node sends two messages of a megabyte away.
    let shared = "system,operation,algorithm,nodes,ranks,size_B,time_s,placement\n\
                  Mine,bcast,linear,2,4,1000000,0.002,here\n";
    std::fs::write(desk.path().join("shared.csv"), shared).unwrap();
    with("slot\n0\n0\n4\n4\n");
    let words = "shared.csv -m mine.toml --placements places";
    let out = desk.hayase(&format!("accuracy --measured {words} --format csv")).assert().success().stdout();
    assert!(out.lines().nth(1).unwrap().starts_with("Mine,bcast,linear,2,4,1000000,0.002,here,0.002,"), "{out}");
    with("slot\n0\n0\n0\n4\n");
    assert!(failed(&desk, words).contains("node 0 has a rank already"));
    let words = "rows.csv -m mine.toml --placements places";
    with("slot\n3\n3\n");
    assert!(failed(&desk, words).contains("node 3 has a rank already"));
    with("slot\n3\n");
    assert!(failed(&desk, words).contains("places 1 ranks, and a row that names it has 2"));
    with("rank,slot\n0,x\n1,4\n");
    assert!(failed(&desk, words).contains("here.csv:2:3"));
    with("cell\n3\n");
    assert!(failed(&desk, words).contains("slot"));
}

#[test]
fn blocking_leaves_out_what_would_not_end() {
    let rows =
        "system,operation,algorithm,nodes,shape,size_B,time_s\nFugaku,alltoall,linear,512,8x8x8,67108864,0.0286\n";
    let desk = Desk::new().file("rows.csv", rows);
    assert!(failed(&desk, "rows.csv --models blocking").contains("blocking: too many messages under way"));
}

#[test]
fn a_run_near_measured_rows_says_how_well_they_are_predicted() {
    let run = |words: &str| Desk::new().hayase(&format!("run {words}")).assert().success().stderr();
    let torus = "-t torus:dims=[4,4,4],bandwidth=6.27GB/s,host-bandwidth=37.6GB/s,switch-port-bandwidth=6.27GB/s";
    let found = run(&format!("{torus} -m fugaku -p allgather-recursive-doubling --size 128KiB"));
    let measured = found.find("of the measured time on `fugaku`").unwrap_or_else(|| panic!("{found}"));
    // Before anything about packets.
    assert!(found.find("packets").is_none_or(|packets| measured < packets), "{found}");
    let linear = run(&format!("{torus} -m fugaku -p all-to-all-linear --size 128KiB"));
    assert!(linear.contains("rows of alltoall"), "{linear}");
    // Other costs at the ends, and another fabric.
    assert!(
        !run(&format!("{torus} -m lumi -p allgather-recursive-doubling --size 128KiB"))
            .contains("of the measured time")
    );
    assert!(
        !run("-t crossbar:nodes=64,bandwidth=6GB/s -m fugaku -p allgather-recursive-doubling --size 128KiB")
            .contains("of the measured time")
    );
}
