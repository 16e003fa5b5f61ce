use std::fs;
use std::path::PathBuf;

use super::*;

const TORUS: &str = "topology = \"torus-4x4\"\nworkload = \"ring\"\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, text: &str) -> Result<Plan, Invalid> {
        fs::write(self.path("plan.toml"), text).unwrap();
        Plan::read(&self.path("plan.toml"), Loader::new())
    }

    fn plan(&self, text: &str) -> Plan {
        self.read(text).unwrap_or_else(|error| panic!("{}", error.lines()))
    }
}

/// Returns the ids of all points, in order.
fn ids(plan: &Plan) -> Vec<u128> {
    let mut ids = Vec::new();
    plan.each(|_, visit| -> Result<bool, StoreError> {
        ids.push(visit.id);
        Ok(true)
    })
    .unwrap();
    ids
}

fn mistakes(text: &str) -> String {
    match Folder::new().read(text) {
        Ok(_) => panic!("no mistake: {text}"),
        Err(invalid) => invalid.lines(),
    }
}

#[test]
fn the_changelog_names_the_version_of_results() {
    let changelog = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/CHANGELOG.md")).unwrap();
    assert!(changelog.contains(&format!("\nVersion of results: {RESULTS}.\n")));
}

#[test]
fn a_point_is_the_same_however_its_scenario_is_written() {
    let folder = Folder::new();
    let of = |text: &str| ids(&folder.plan(text));
    let grid = |scenario: &str, grid: &str| of(&format!("{scenario}\n[grid]\n{grid}\n"));
    let plain = grid(TORUS, "size = [\"20 KB\", \"40 KB\"]");
    assert_eq!(plain.len(), 2);
    assert_ne!(plain[0], plain[1]);
    assert_eq!(grid(TORUS, "size = [\"20000 B\", \"0.04 MB\"]"), plain);
    assert_eq!(grid(TORUS, "\"workload.ring.size\" = \"20 KB..40 KB:x2\""), plain);
    assert_eq!(grid(TORUS, "workload.ring.size = \"20 KB..40 KB:20 KB\""), plain);
    // Defaults, and keys that varied in another plan.
    let whole =
        "topology = \"torus-4x4\"\nworkload = \"ring\"\nplacement = \"regular\"\nsharing = \"max-min\"\nseed = 1";
    assert_eq!(grid(whole, "size = [\"20 KB\", \"40 KB\"]"), plain);
    let sized = "topology = \"torus-4x4\"\n[workload.ring]\nsize = \"20 KB\"";
    assert_eq!(grid(sized, "seed = [1]"), plain[..1]);
    assert_eq!(grid(sized, "topology = [\"torus-4x4\"]"), plain[..1]);
    for other in ["seed = [2]", "placement = [\"random\"]", "sharing = [\"equal-share\"]", "size = [\"20001 B\"]"] {
        assert_ne!(grid(sized, other), plain[..1], "{other}");
    }
}

#[test]
fn a_point_is_another_when_a_file_that_it_reads_holds_something_else() {
    let folder = Folder::new();
    let text = "topology = \"torus-4x4\"\n[workload.file]\npath = \"m.csv\"\n[grid]\nseed = [1]\n";
    let with = |messages: &str| {
        fs::write(folder.path("m.csv"), messages).unwrap();
        ids(&folder.plan(text))
    };
    let first = with("src,dst,bytes\n0,1,100\n");
    assert_ne!(with("src,dst,bytes\n0,1,200\n"), first);
    assert_eq!(with("src,dst,bytes\n0,1,100\n"), first);
    // The place of the file does not matter.
    let other = Folder::new();
    fs::write(other.path("m.csv"), "src,dst,bytes\n0,1,100\n").unwrap();
    assert_eq!(ids(&other.plan(text)), first);
}

#[test]
fn configurations_that_are_the_same_are_counted_with_all_their_seeds() {
    let folder = Folder::new();
    for seeds in ["\"1..=3\"", "[1, 2, 3]"] {
        // Two keys that set the same value: the later one wins.
        let sizes = "size = [\"2 KB\", \"3 KB\"]\nworkload.ring.size = [\"16 KB\", \"1 KB\"]";
        let plan = format!("{TORUS}[grid]\n{sizes}\nseed = {seeds}\n");
        let counts = count(&folder.plan(&plan), None).unwrap().counts;
        assert_eq!((counts.points, counts.repeated, counts.missing), (12, 6, 12), "{seeds}");
    }
}

#[test]
fn the_files_that_a_list_of_a_trace_names_are_part_of_a_point() {
    let folder = Folder::new();
    fs::create_dir(folder.path("run")).unwrap();
    let text = "topology = \"torus-4x4\"\n[workload.trace]\npath = \"run/all.txt\"\n[grid]\nseed = [1]\n";
    let with = |name: &str, actions: &str| {
        fs::write(folder.path("run").join(name), actions).unwrap();
        ids(&folder.plan(text))
    };
    with("all.txt", "0.txt\n1.txt\n");
    with("1.txt", "1 init\n1 recv 0 0 100\n1 finalize\n");
    let first = with("0.txt", "0 init\n0 send 1 0 100\n0 finalize\n");
    assert_ne!(with("0.txt", "0 init\n0 compute 5\n0 send 1 0 100\n0 finalize\n"), first);
    assert_eq!(with("0.txt", "0 init\n0 send 1 0 100\n0 finalize\n"), first);
    // Files that the scenario does not name do not count. A file that names itself or does not exist does no harm.
    assert_eq!(with("2.txt", "2 init\n"), first);
    assert_ne!(with("all.txt", "all.txt\n0.txt\nnone.txt\n"), first);
}

#[test]
fn points_are_all_combinations_and_the_last_key_changes_fastest_but_for_the_seed() {
    let folder = Folder::new();
    let plan = folder.plan(&format!(
        "{TORUS}[grid]\nseed = [3, 5]\nsize = [\"1 KB\", \"2 KB\"]\nrouting = [\"dimension-order\", \"shortest-path\"]\n\
         [[zip]]\nplacement = [\"regular\", \"random\"]\nsharing = [\"max-min\", \"equal-share\"]\n\
         [[skip]]\nsize = \"2 KB\"\nrouting = \"shortest-path\"\n[[skip]]\nseed = \"4..9\"\nplacement = \"regular\"\n"
    ));
    assert_eq!(plan.keys(), ["size", "routing", "placement", "sharing", "seed"]);
    assert_eq!((plan.most_points(), plan.is_exact()), (16, false));
    let mut rows = Vec::new();
    plan.each(|configuration, visit| -> Result<bool, StoreError> {
        let values = configuration.values.iter().chain(&visit.seed).map(|(_, value)| values::json(value));
        rows.push(values.map(|value| value.to_string().replace('"', "")).collect::<Vec<_>>().join(" "));
        Ok(true)
    })
    .unwrap();
    let expected = [
        "1 KB dimension-order regular max-min 3",
        "1 KB dimension-order random equal-share 3",
        "1 KB dimension-order random equal-share 5",
        "1 KB shortest-path regular max-min 3",
        "1 KB shortest-path random equal-share 3",
        "1 KB shortest-path random equal-share 5",
        "2 KB dimension-order regular max-min 3",
        "2 KB dimension-order random equal-share 3",
        "2 KB dimension-order random equal-share 5",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn every_point_is_of_one_shard_and_shards_are_alike() {
    let folder = Folder::new();
    let plan =
        folder.plan(&format!("{TORUS}[grid]\nsize = \"1..=3000\"\n").replace("\"1..=3000\"", "\"1 B..3000 B:1 B\""));
    let mut shards = [0_u32; 7];
    for number in 0..plan.configurations() {
        shards[points::shard_of(&plan.points.values(number), 7) as usize] += 1;
    }
    // 3000 / 7 is 429, with a deviation of 19.
    assert!(shards.iter().all(|count| (330..530).contains(count)), "{shards:?}");
}

#[test]
fn what_is_wrong_with_a_plan_is_said_at_its_place() {
    let is = |text: &str, expected: &str| {
        let lines = mistakes(text);
        assert!(lines.contains(expected), "{text}\n{lines}");
    };
    let grid = |grid: &str| format!("{TORUS}[grid]\n{grid}\n");
    is(TORUS, "plan.toml: nothing is varied: there is no [grid]");
    is(&grid(""), "plan.toml:3:2: nothing is varied");
    is(&grid("size = []"), "plan.toml:4:8: a list without values leaves no point");
    is(&grid("sise = [\"1 KB\"]"), "plan.toml:4:1: unknown key `sise`; did you mean `size`?");
    is(&grid("topology.torus.bandwith = [\"1 GB/s\"]"), "plan.toml:4:16: unknown key `bandwith` in [topology.torus]");
    is(&grid("size = [\"1 KB\", \"2 apples\"]"), "plan.toml:4:17: unknown size unit \"apples\"");
    is(&grid("seed = \"1..=1000000000000\""), "1,000,000,000,000 points");
    is(&grid("seed = [1, \"x\"]"), "plan.toml:4:12: `seed` is the text \"x\"");
    is(&grid("size = \"1 KB..1 MB\""), "has no step");
    is(&grid("preset = [\"a\"]"), "cannot be varied");
    is(
        &format!("{TORUS}[[zip]]\nseed = [1, 2]\nsize = [\"1 KB\"]\n"),
        "plan.toml:5:8: `seed` has 2 values, and `size` 1",
    );
    is(&format!("{TORUS}[grid]\nseed = [1]\n[[zip]]\nseed = [1]\n"), "plan.toml:6:1: `seed` is varied twice");
    is(&format!("{TORUS}[grid]\nseed = [1]\n[[skip]]\nsize = [1]\n"), "plan.toml:6:1: `size` is not varied");
    is(
        &format!("{TORUS}[grid]\nseed = [1]\n[sweep]\nkeeps = []\n"),
        "plan.toml:6:1: unknown key `keeps` in [sweep]; did you mean `keep`?",
    );
    is(&format!("{TORUS}[grid]\nsize = [\"1 B\"]\n[sweep]\nwithin = \"1 %\"\n"), "none are varied");
    is(&format!("sede = 1\n{TORUS}[grid]\nseed = [1]\n"), "plan.toml:1:1: unknown key `sede`");
    // Copies are not samples, however they are written.
    is(&grid("seed = [1, 2, 1]"), "plan.toml:4:15: `seed` has the value 1 twice (the second time); leave it out");
    is(&grid("size = [\"16 KB\", \"16000 B\"]"), "plan.toml:4:18: `size` has the value \"16000 B\" twice");
    is(&grid("seed = [3, \"1..=4\"]"), "`seed` has the value 3 twice");
    let zip = |seeds: &str, sizes: &str| format!("{TORUS}[[zip]]\nseed = [{seeds}]\nsize = [{sizes}]\n");
    is(
        &zip("1, 2, 1", "\"1 B\", \"1 B\", \"1 B\""),
        "plan.toml:4:15: the values of `seed` and of the keys that vary with it",
    );
    assert!(Folder::new().read(&zip("1, 2, 1", "\"1 B\", \"1 B\", \"2 B\"")).is_ok());
    // Kept figures must exist in some report.
    let keep = |name: &str| format!("{TORUS}[grid]\nseed = [1]\n[sweep]\nkeep = [\"{name}\"]\n");
    is(&keep("contntion"), "plan.toml:6:8: no report has a figure `contntion`; did you mean `contention`?");
    is(&keep("links.0.utilization"), "did you mean `links.0.utilisation`?");
    // Filters must match some points, but not all.
    let skip = |size: &str| format!("{TORUS}[grid]\nsize = [\"1 KB\", \"2 KB\"]\n[[skip]]\nsize = {size}\n");
    is(&skip("\"2 KB..1 KB\""), "plan.toml:6:8: the text \"2 KB..1 KB\" is empty: it ends before it begins");
    is(&skip("[\"1 KB\", \"4 KB\"]"), "plan.toml:6:17: no value of `size` is the text \"4 KB\"");
    is(&skip("\"3 KB..4 KB\""), "plan.toml:6:8: no value of `size` is the text \"3 KB..4 KB\"");
    is(&skip("\"1 KB..2 KB\""), "plan.toml:5:3: the filters leave none of the 2 points");
    assert!(Folder::new().read(&skip("[\"2000 B\"]")).is_ok());
    // Both mistakes at once.
    let both = mistakes(&grid("size = [\"1 KB\", \"x\"]\nrouting = [\"dimension-order\", \"no-such\"]"));
    assert!(both.contains("4:17") && both.contains("no-such"), "{both}");
}

#[test]
fn seeds_end_where_the_mean_is_known_well_enough_and_the_merge_says_as_many() {
    let folder = Folder::new();
    let text = "topology = \"torus-4x4\"\nworkload = \"all-to-all-pairwise\"\nplacement = \"random\"\n\
                [grid]\nsize = [\"1 KB\", \"8 KB\"]\nseed = \"1..=40\"\n[sweep]\nwithin = \"3 %\"\nleast = 3\n";
    let plan = folder.plan(text);
    let out = folder.path("out");
    let ran = run(&plan, &out, Shard::ALL, RunControl::default()).unwrap();
    assert!(ran.run >= 6 && ran.run < 80, "{}", ran.run);
    let mut csv = Vec::new();
    let merged = merge(&plan, &out, Columns::Csv, &mut csv).unwrap();
    assert_eq!((merged.counts.points, merged.counts.missing, merged.counts.unfinished), (ran.run, 0, 0));
    // Compared with the definition.
    let text = String::from_utf8(csv).unwrap();
    let makespans = |size: &str| -> Vec<f64> {
        let lines = text.lines().filter(|line| line.split(',').nth(1) == Some(size));
        lines.map(|line| line.split(',').nth(4).unwrap().parse().unwrap()).collect()
    };
    for size in ["1 KB", "8 KB"] {
        let all = makespans(size);
        let part = |n: usize| {
            let mean = all[..n].iter().sum::<f64>() / n as f64;
            let squares: f64 = all[..n].iter().map(|value| (value - mean) * (value - mean)).sum();
            crate::report::student(n - 1) * (squares / (n - 1) as f64).sqrt() / (n as f64).sqrt() / mean
        };
        assert!(part(all.len()) <= 0.03, "{size}");
        assert!((3..all.len()).all(|n| part(n) > 0.03), "{size}");
    }
    // A plan with higher precision reuses these points.
    let better = folder.plan(&fs::read_to_string(folder.path("plan.toml")).unwrap().replace("3 %", "2 %"));
    let more = run(&better, &out, Shard::ALL, RunControl::default()).unwrap();
    assert_eq!(more.there, ran.run);
    assert!(more.run > 0);
}

#[test]
fn what_fails_is_a_row_with_its_reason() {
    let folder = Folder::new();
    let plan = folder.plan(
        "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nrouting = [\"dimension-order\", \"d-mod-k\"]\n\
         [sweep]\nkeep = [\"messages\", \"contention\", \"links.0.name\", \"gridlock.packets\"]\n",
    );
    let out = folder.path("out");
    let ran = run(&plan, &out, Shard::ALL, RunControl::default()).unwrap();
    assert_eq!((ran.run, ran.failed), (2, 1));
    let mut json = Vec::new();
    merge(&plan, &out, Columns::Json, &mut json).unwrap();
    let merged: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = merged["rows"].as_array().unwrap();
    assert_eq!((rows[0]["status"].as_str(), rows[1]["status"].as_str()), (Some("complete"), Some("invalid")));
    assert_eq!(rows[0]["messages"], 16);
    assert!(rows[0]["contention"].as_f64().unwrap() >= 1.0 && rows[0]["links.0.name"].is_string());
    assert!(rows[0]["gridlock.packets"].is_null() && rows[0]["makespan_s"].as_f64().unwrap() > 0.0);
    assert!(rows[1]["makespan_s"].is_null() && rows[1]["error"].as_str().unwrap().contains("d-mod-k"), "{}", rows[1]);
    // Nothing is run twice, except failed points if asked for.
    assert_eq!(run(&plan, &out, Shard::ALL, RunControl::default()).unwrap().run, 0);
    let again = RunControl { retry_failed: true, ..RunControl::default() };
    assert_eq!(run(&plan, &out, Shard::ALL, again).unwrap().run, 1);
}

/// One message over two links takes 2 l + m / b. 1 us with 1 GB/s is as fast as 3 us with 2 GB/s if m / 2
/// takes 4 us at 1 GB/s, so at 8000 B.
#[test]
fn a_crossing_is_found_where_arithmetic_has_it() {
    let folder = Folder::new();
    let text = "[topology.crossbar]\nnodes = 2\nbandwidth = \"1 GB/s\"\n[workload.ring]\n[grid]\nsize = \"100 B..1 MB:x10\"\n\
                [[zip]]\n\"topology.crossbar.bandwidth\" = [\"1 GB/s\", \"2 GB/s\"]\n\
                \"topology.crossbar.latency\" = [\"1 us\", \"3 us\"]\n";
    let mut plan = folder.plan(text);
    let out = folder.path("out");
    let keys = ["size", "topology.crossbar.latency"];
    refine(&mut plan, &out, keys, 0.01, RunControl::default()).unwrap();
    let means = means(&plan, &out).unwrap();
    let found = means.crossings(means.key(keys[0]).unwrap(), means.key(keys[1]).unwrap()).unwrap();
    let [crossing] = &found[..] else { panic!("{found:?}") };
    let [low, high] = crossing.between;
    assert!(low <= 8000.0 && 8000.0 <= high && high <= low * 1.01, "{crossing:?}");
    assert_eq!(crossing.best, ["1 us", "3 us"]);
    assert_eq!(crossing.clear, [Some(low), Some(high)]);
    assert!(crossing.rest.is_empty());
    assert!(means.key("sise").is_err() && means.crossings(1, 0).is_ok());
    // A second refinement runs nothing again.
    let mut again = folder.plan(text);
    assert_eq!(refine(&mut again, &out, keys, 0.01, RunControl::default()).unwrap().run, 0);
    // The best configuration is the smallest size with the lower latency: 2.1 us.
    assert!((means.best(1)[0].mean_s - 2.1e-6).abs() < 1e-15);
}

#[test]
fn a_key_matters_as_much_as_the_variance_that_goes_with_it() {
    let folder = Folder::new();
    let plan = folder
        .plan(&format!("{TORUS}[grid]\nsize = [\"1 KB\", \"100 KB\"]\nsharing = [\"max-min\", \"equal-share\"]\n"));
    let out = folder.path("out");
    run(&plan, &out, Shard::ALL, RunControl::default()).unwrap();
    let found = means(&plan, &out).unwrap().sensitivity();
    // Messages of a ring share no links: only the size matters, and 100 times the size takes 100 times as long.
    assert_eq!((found[0].key.as_str(), found[1].key.as_str()), ("size", "sharing"));
    assert!((found[0].part - 1.0).abs() < 1e-12 && found[1].part.abs() < 1e-12);
    assert!((found[0].ratio - 100.0).abs() < 1e-9 && found[0].extremes == ["1 KB", "100 KB"]);
}

#[test]
fn a_pilot_runs_points_from_all_over_the_plan() {
    let folder = Folder::new();
    let plan = folder.plan(&format!("{TORUS}[grid]\nsize = \"1 B..1000 B:1 B\"\n"));
    let out = folder.path("out");
    let control = RunControl { most: Some(20), ..RunControl::default() };
    let ran = run(&plan, &out, Shard::ALL, control).unwrap();
    assert!((20..40).contains(&ran.run), "{}", ran.run);
    let means = means(&plan, &out).unwrap();
    let sizes: Vec<f64> = means.rows.iter().map(|row| means.keys[0].numbers.as_ref().unwrap()[row.choice[0]]).collect();
    for quarter in 0..4 {
        let range = 250.0 * f64::from(quarter)..250.0 * f64::from(quarter + 1);
        assert!(sizes.iter().filter(|size| range.contains(size)).count() >= 3, "{sizes:?}");
    }
}

#[test]
fn the_scenario_of_a_point_is_read_again_as_the_same_scenario() {
    let folder = Folder::new();
    for text in [
        format!("{TORUS}\n[grid]\nsize = [\"20 KB\", \"40 KB\"]\nseed = [3, 4]\n"),
        format!("{TORUS}\n[[straggler]]\nranks = \"1\"\nspeed = 0.5\n[grid]\nplacement = [\"regular\", \"random\"]\n"),
        "topology = \"torus-4x4\"\n[[job]]\nname = \"x\"\nworkload = \"ring\"\nranks = 4\n[[job]]\nname = \"y\"\n\
         workload = \"shift\"\nranks = 8\n[grid]\nsharing = [\"max-min\", \"equal-share\"]\n"
            .to_owned(),
    ] {
        let plan = folder.plan(&text);
        assert!(plan.text().contains("[grid]"), "{}", plan.text());
        let first = plan.scenario(0).unwrap_or_else(|| panic!("no scenario: {text}"));
        let again = Loader::new()
            .text("point.toml", first.as_str())
            .load()
            .unwrap_or_else(|wrong| panic!("{wrong:?}: {first}"));
        assert_eq!(crate::scenario::settings_as_toml(again.to_json().as_object().unwrap()), first);
        assert_ne!(plan.scenario(1).unwrap(), first);
    }
}
