//! Tests of `hayase accuracy`, and of the accuracy that `run` and `compare` report.

use super::{Desk, FABRIC, MESSAGES};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn answered(desk: &Desk, words: &str) -> (String, String, Option<i32>) {
    let output = desk.hayase(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn table_json_csv_and_map_are_of_the_same_errors() {
    let desk = Desk::new();
    let words = "accuracy -t torus-4x4 -p all-to-all-pairwise,ring --size 20KB --seeds 2 --references packet:oq,packet:iq:turn \
                 --models max-min,blocking --format json -o a.csv -o a.svg -o a.md";
    let (out, error, code) = answered(&desk, words);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    let report = json(&out);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &report["complete"], &report["schema"]), (8, &true.into(), &"hayase-accuracy-1".into()));
    let csv = desk.read("a.csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 9 && lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
    let column = |name: &str| lines[0].iter().position(|cell| *cell == name).unwrap();
    let markdown = desk.read("a.md");
    for (row, line) in rows.iter().zip(&lines[1..]) {
        for key in ["model", "reference", "topology", "pattern", "placement"] {
            assert_eq!(row[key], line[column(key)]);
        }
        for key in ["makespan_error", "mean_finish_error", "time_error_q50", "reference_makespan_s", "size_B"] {
            // The reader of JSON rounds the last digit.
            let (json, csv) = (row[key].as_f64().unwrap(), line[column(key)].parse::<f64>().unwrap());
            assert!((json - csv).abs() <= 1e-12 * csv.abs(), "{key}: {json} {csv}");
        }
        assert_eq!(row["seeds"], serde_json::json!([1, 2]));
        assert!(row["speed_ratio"].as_f64().unwrap() > 0.0);
        // Beyond a tenth it is bold.
        let percent = 100.0 * row["makespan_error"].as_f64().unwrap();
        let shown = match percent {
            _ if percent.abs() < 0.05 => "0.0".to_owned(),
            _ if percent > 0.0 => format!("+{percent:.1}"),
            _ => format!("{percent:.1}"),
        };
        let shown = if percent.abs() > 10.0 { format!("**{shown}**") } else { shown };
        assert!(markdown.contains(&format!("| {shown} |")), "{shown}\n{markdown}");
    }
    let svg = desk.read("a.svg");
    roxmltree::Document::parse(&svg).unwrap();
    assert!(svg.contains("error of the makespan [%]") && svg.matches(" against packet:").count() == 8);
}

/// The rows of the map must come from the current version of the models.
#[test]
fn rows_of_the_map_are_those_of_the_program() {
    const MAP: &str = include_str!("../../../../validation/accuracy/map.csv");
    let cases = [
        ("torus-4x4", "random-permutation", "--set workload.permutation.rounds=8", "300KB", 4),
        ("fat-tree-54", "incast", "--set workload.incast.messages=4", "20KB", 2),
        ("dragonfly-72", "shift", "--set workload.permutation.offset=5 --set workload.permutation.rounds=8", "20KB", 2),
    ];
    let heading = MAP.lines().find(|line| !line.starts_with('#')).unwrap();
    let column = |name: &str| heading.split(',').position(|cell| cell == name).unwrap();
    let mut held = 0;
    for (topology, pattern, set, size, seeds) in cases {
        let references = "packet:fq,packet:iq:dateline,packet:iq:turn,packet:iq:classes";
        let words = format!(
            "accuracy -t {topology} -p {pattern} {set} --size {size} --seeds {seeds} --placement random \
             --references {references} --format json"
        );
        let (out, error, code) = answered(&Desk::new(), &words);
        assert_eq!(code, Some(0), "{error}");
        for row in json(&out)["rows"].as_array().unwrap() {
            let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let size = row["size_B"].as_u64().unwrap();
            let begin = format!(
                "{topology},{pattern},random,{size},{},{},{},",
                word("model"),
                word("channels"),
                word("reference")
            );
            let known = MAP.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("no row {begin}"));
            let cells: Vec<&str> = known.split(',').collect();
            for key in ["makespan_error", "mean_finish_error", "reference_makespan_s"] {
                let (found, known) = (row[key].as_f64().unwrap(), cells[column(key)].parse::<f64>().unwrap());
                assert!((found - known).abs() <= 0.006 * known.abs() + 1e-9, "{begin} {key}: {found}, not {known}");
            }
            held += 1;
        }
    }
    assert!(held >= 20, "{held}");
}

#[test]
fn how_much_there_is_to_do_is_said_without_doing_it() {
    let words = "accuracy -t torus-16x16 -p all-to-all-pairwise --size 1GB --seeds 50 -j 2 --count";
    let (out, error, code) = answered(&Desk::new(), words);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    // 6 packet models, 3 flow models and `blocking` with each of its 4 channels.
    assert!(
        out.starts_with("1 case, 650 runs, ") && out.contains(" packet-hops: about ") && out.contains(" days"),
        "{out}"
    );
}

#[test]
fn packets_are_kept_in_a_folder_and_one_that_cannot_be_written_costs_nothing_else() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    let words = "accuracy -t torus-4x4 -p ring --size 20KB --seeds 1 --references packet:oq --models max-min";
    let count = |folder: &str| answered(&desk, &format!("{words} --keep {folder} --count")).0;
    assert!(count("packets").starts_with("1 case, 2 runs, "));
    let (first, error, code) = answered(&desk, &format!("{words} --keep packets --format csv"));
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(count("packets").starts_with("1 case, 1 run, 0 packet-hops"), "{}", count("packets"));
    let (second, _, _) = answered(&desk, &format!("{words} --keep packets --format csv"));
    // All but processor times, which come last.
    let figures =
        |csv: &str| csv.lines().map(|line| line.rsplitn(4, ',').last().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(figures(&first), figures(&second));
    let (out, error, code) = answered(&desk, &format!("{words} --keep fabric.toml/packets --format csv"));
    assert_eq!((code, figures(&out)), (Some(0), figures(&first)), "{error}");
    assert!(error.contains("cannot keep runs in `fabric.toml/packets`: not a directory"), "{error}");
}

#[test]
fn mistakes_are_named_with_what_there_is_instead() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES);
    for (words, said) in [
        ("-t torus-4x4 -p ring --models flow", "those are equal-share, redistribute, max-min, blocking, few-packets"),
        ("-t torus-4x4 -p ring --references packet:xq", "packet:iq:dateline"),
        ("-t torus-4x4 -p ring --buffer 0", "is not a number of packets from 1, or unlimited"),
        ("-t torus-4x4 -p ring --size 1parsec", "parsec"),
        ("-t torus-4x4 -p ring --seeds 0", "--seeds"),
        ("-t torus-4x4 -p ring --packets-per-message 0", "a whole number from 1"),
        ("-t torus-4x4 -p ring --set workload.ring.ranks=1", "`ring` sends nothing on `torus-4x4`"),
        ("-t torus-4x4 -p nothing", "error[unknown-name]: nothing, on torus-4x4: unknown pattern `nothing`"),
        ("-t nowhere -p ring", "nowhere"),
        ("-t torus-4x4 -p linear:ranks=4", "is not a pattern on a fabric"),
        ("-t fat-tree-54 -p ring --references packet:iq:dateline", "none of the packet models"),
        ("-t torus-4x4 -p ring --models few-packets --packets-per-message 7", "is the reference itself with 7 packets"),
        ("-t torus-4x4 -p ring -o x.parquet", "x.svg, x.csv, x.json, x.html or x.md"),
    ] {
        let (out, error, code) = answered(&desk, &format!("accuracy {words}"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{words}: {error}");
        assert!(error.contains(said) && !error.contains("panicked"), "{words}: {error}");
    }
    // Models that some cases lack are named beside the rows too.
    let words = "accuracy -t torus-4x4 -p ring --seeds 1 --size 1KB --references packet:iq:bubble --buffer 1,2 --models max-min";
    let (out, error, code) = answered(&desk, &format!("{words} --format csv"));
    assert_eq!((code, out.lines().count()), (Some(0), 2), "{error}");
    let said =
        "left out: packet:iq:bubble, ring on torus-4x4, regular: a buffer of one packet has no room for a bubble";
    assert!(error.contains(said), "{error}");
    // A list of messages has its own sizes.
    for sizes in ["", "--size own"] {
        let words = format!("accuracy -t fabric.toml -p messages.csv,ring {sizes} --seeds 1 --count");
        let (out, error, code) = answered(&desk, &words);
        assert_eq!(code, Some(0), "{error}");
        assert!(out.starts_with(if sizes.is_empty() { "4 cases" } else { "2 cases" }), "{out}");
    }
    let (_, error, code) = answered(&desk, "accuracy -t fabric.toml -p messages.csv --size 1KB --count");
    assert!(code == Some(2) && error.contains("has no `size`"), "{error}");
}

#[test]
fn a_run_says_how_good_its_model_is_and_a_quiet_one_does_not() {
    let desk = Desk::new();
    let near = "run -t torus-8x8 -p all-to-all-pairwise --placement random";
    let (out, error, _) = answered(&desk, &format!("{near} --format json"));
    let known = &json(&out)["accuracy"];
    let line = format!("accuracy: {}", known["text"].as_str().unwrap());
    assert!(error.lines().any(|said| said == line), "{error}");
    assert!(line.contains("accuracy: max-min is ") && line.contains("against input-queued packets"), "{line}");
    assert!(known["cases"].as_array().unwrap().iter().all(|case| case.as_str().unwrap().contains("20 KB, random")));
    assert_eq!(known["against"][0]["model"], "max-min");
    let (_, error, _) = answered(&desk, &format!("{near} -q"));
    assert_eq!(error, "");
    // Packets are not flows, and no pattern resembles a file of messages.
    let (out, error, _) = answered(&desk, &format!("{near} --transport packet:iq --format json"));
    assert!(!error.contains("accuracy") && json(&out).get("accuracy").is_none());
    let (out, error, _) = answered(&desk, "run -t fat-tree-54 -p npb-cg-W-16 --format json");
    let said = error.contains("accuracy: ");
    assert_eq!(said, json(&out).get("accuracy").is_some(), "{error}");
}

#[test]
fn where_no_case_is_near_the_command_that_measures_it_is_said() {
    let desk = Desk::new();
    let (out, error, _) = answered(&desk, "run -t slim-fly-200 -p ring --format json");
    let line =
        "accuracy: unknown, no similar case has been measured; hayase accuracy -t slim-fly-200 -p ring measures it";
    assert!(error.lines().any(|said| said == line), "{error}");
    assert_eq!(json(&out)["accuracy"]["cases"], serde_json::json!([]));
    // Words that a shell would split are quoted; rules that contain a comma are left out.
    let run =
        desk.hayase("run -q").args(["-t", "torus:dims=[3,3,1,1],bandwidth=1 GB/s", "-p", "ring", "--size", "1 MB"]);
    assert_eq!(run.output().unwrap().stderr, b"");
    let run = desk.hayase("run -p ring --placement 0-8").args([
        "-t",
        "torus:dims=[3,3,1,1],bandwidth=1 GB/s",
        "--size",
        "1 MB",
    ]);
    let error = String::from_utf8(run.output().unwrap().stderr).unwrap();
    let line = "measured; hayase accuracy -t 'torus:dims=[3,3,1,1],bandwidth=1 GB/s' -p ring --size '1 MB' --placement 0-8 measures it";
    assert!(error.contains(line), "{error}");
    let run = desk.hayase("run -t slim-fly-200 -p ring --placement 0,2-199,1");
    let error = String::from_utf8(run.output().unwrap().stderr).unwrap();
    assert!(error.contains("measured; hayase accuracy -t slim-fly-200 -p ring measures it"), "{error}");
    let (out, error, _) =
        answered(&desk, "compare -t torus-8x8,slim-fly-200 -p all-to-all-simple-spread,ring --format json");
    assert!(error.lines().any(|said| said.starts_with("accuracy of torus-8x8, ")), "{error}");
    assert_eq!(error.matches("no similar case has been measured").count(), 1, "{error}");
    assert!(json(&out)["rows"].as_array().unwrap().iter().all(|row| row["accuracy"]["model"] == "max-min"));
}

#[test]
fn the_command_that_measures_what_was_compared_can_be_copied() {
    let desk = Desk::new().file("base.toml", "workload = \"ring\"\n");
    let measures = |words: &[&str]| {
        let output = desk.hayase("compare").args(words).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{error}");
        let line =
            error.lines().find(|line| line.contains("measured; hayase accuracy")).unwrap_or_else(|| panic!("{error}"));
        let command = line.split_once("measured; hayase ").unwrap().1.strip_suffix(" measures it").unwrap().to_owned();
        let counted = desk.hayase("").args(shlex::split(&command).unwrap()).arg("--count").output().unwrap();
        assert_eq!(counted.status.code(), Some(0), "{command}: {}", String::from_utf8_lossy(&counted.stderr));
        command
    };
    let torus = "torus:dims=[3,3,1,1],bandwidth=1 GB/s";
    let command = measures(&["-t", torus, "-p", "ring", "--size", "1 MB", "--placement", "0-8,random"]);
    let expected = ["accuracy", "-t", torus, "-p", "ring", "--size", "1 MB", "--placement", "0-8,random"];
    assert_eq!(shlex::split(&command).unwrap(), expected);
    let command = measures(&["base.toml", "-t", "slim-fly-200", "--routing", "minimal,valiant-switches"]);
    let expected = ["accuracy", "base.toml", "-t", "slim-fly-200", "--routing", "minimal,valiant-switches"];
    assert_eq!(shlex::split(&command).unwrap(), expected);
}
