//! Slow ranks: options, tables and files.

use super::{Desk, Said};

/// Messages of two ranks that in turn compute 10 us and send, three times.
const PING_PONG: &str = "src,dst,bytes,delay,after,id\n0,1,1000,10 us,,a\n1,0,1000,10 us,a,b\n0,1,1000,10 us,b,c\n";
const PAIR: &str = "[topology.crossbar]\nnodes = 2\nbandwidth = \"1 GB/s\"\n";

fn report(desk: &Desk, words: &str) -> serde_json::Value {
    desk.hayase(&format!("{words} -q --format json")).assert().success().stderr_eq("").json()
}

#[test]
fn a_straggler_is_found_in_messages_in_jobs_and_in_a_program_by_one_command_each() {
    let desk = Desk::new().file("pair.toml", PAIR).file("ping.csv", PING_PONG);
    let cost = |report: &serde_json::Value| (report["noise"]["cost_s"].as_f64().unwrap() * 1e9).round() / 1e3;
    let words = "run -t ./pair.toml -p ping.csv --straggler 0=50%";
    let messages = report(&desk, &format!("{words} -o noise.svg -o noise.csv -o r.json"));
    // Twice 10 us more.
    assert_eq!(cost(&messages), 20.0);
    assert_eq!(messages["noise"]["slowed"]["most_rank"], 0);
    assert_eq!(report(&desk, "run r.json")["noise"], messages["noise"]);
    assert!(desk.read("noise.svg").contains("slow rank 0"));
    let table = desk.read("noise.csv");
    assert!(table.starts_with("rank,end_s,without_s,delay_s,slowed_s,reached_s,messages,hops\n"), "{table}");
    let cells = |line: &str| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let expected = [[0.0, 53.0, 33.0, 20.0, 20.0, 20.0, 0.0, 0.0], [1.0, 53.0, 33.0, 20.0, 0.0, 21.0, 1.0, 2.0]];
    for (line, row) in table.lines().skip(1).zip(expected) {
        for (column, (cell, wanted)) in cells(line).into_iter().zip(row).enumerate() {
            let wanted = if (1..6).contains(&column) { wanted * 1e-6 } else { wanted };
            assert!((cell - wanted).abs() < 1e-12, "{column} of {line}");
        }
    }
    let jobs = "run -t ./pair.toml --job a=ping.csv:2 --straggler a:1=50%@..21us -o jobs-noise.svg";
    // From 11 us on rank 1 computes: 5 of its 10 us are done at 21.
    assert_eq!(cost(&report(&desk, jobs)), 5.0);
    let program = "replay stencil:x=4,y=4,iterations=3 -m myrinet --straggler 5=50% -o noise.svg";
    let program = report(&desk, program);
    assert!(program["noise"]["cost_s"].as_f64().unwrap() > 0.0);
    let by_distance = program["noise"]["by_distance"].as_array().unwrap();
    assert!(by_distance.len() > 2 && by_distance[0]["ranks"] == 1, "{by_distance:?}");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/cg.S.16.tsv.zst");
    let recorded = report(&desk, &format!("replay {trace} -m myrinet --straggler 5=50%"));
    assert_eq!(
        (&recorded["noise"]["slowed"]["ranks"], &recorded["noise"]["by_distance"][0]["ranks"]),
        (&1.into(), &1.into())
    );
    let compared = report(&desk, "compare -t ./pair.toml -p ping.csv --vary noise.length=0us,5us,10us");
    let makespans = compared["rows"].as_array().unwrap().iter();
    let makespans: Vec<f64> = makespans.map(|row| row["makespan"]["mean_s"].as_f64().unwrap() * 1e6).collect();
    assert!(makespans.iter().zip([33.0, 48.0, 63.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{makespans:?}");
}

#[test]
fn the_table_says_what_noise_costs_over_seeds_and_that_it_slows_nobody_where_it_does() {
    let desk = Desk::new().file("pair.toml", PAIR).file("ping.csv", PING_PONG);
    let text =
        desk.hayase("run -t ./pair.toml -p ping.csv --noise 2us/20us,uniform --seeds 3 -q").assert().success().stdout();
    for said in ["slow ranks    cost ", "over 3 seeds ", "95 % interval", "work took longer on "] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    let said = desk.hayase("run -t ./pair.toml -p ring --noise 2us/20us").assert().success().stderr();
    assert!(said.contains("no rank was slowed down"), "{said}");
}
