//! Reading any altered scenario ends with a scenario or with mistakes, never with a panic.

use hayase::scenario::Loader;
use proptest::prelude::*;

const SCENARIOS: [&str; 5] = [
    "seed = 3\n[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n\n[workload.all-to-all]\nalgorithm = \"2d-spread\"\nsize = \"20 KB\"\ninjection = \"window=2\"\nmessage-jitter = \"1 us\"\n",
    "resolution = \"1 ns\"\nplacement = \"random\"\n[topology.torus]\ndims = [4, 4]\nbandwidth = [\"1 GB/s\", \"2 GB/s\"]\nhost-link = false\n[routing.dimension-order]\nties = \"balanced\"\n[workload.permutation]\nkind = \"shift\"\nsize = \"1 MiB\"\noffset = 3\n",
    "[topology.fat-tree]\ndown = [2, 4]\nup = [1, 2]\nparallel = [1, 1]\nbandwidth = \"100 Gbit/s\"\n[placement.block]\nper-leaf = 2\n[sharing.redistribute]\nthreshold = 0.01\n[workload.halo]\nsize = \"1 KB\"\n",
    "[topology]\nhyper-crossbar = { dims = [2, 3], bandwidth = \"1 GB/s\" }\n[workload]\nallreduce = { algorithm = \"ring\", size = \"1 KB\" }\n",
    "topology.crossbar.nodes = 4\ntopology.crossbar.bandwidth = \"1 GB/s\"\nworkload.uniform-random.size = \"8 B\"\nworkload.uniform-random.messages = 5\n",
];

const TOKENS: [&str; 30] = [
    "[",
    "]",
    "[[",
    "]]",
    "=",
    "\"",
    "'",
    "\"\"\"",
    "{",
    "}",
    ",",
    ".",
    "#",
    "\n",
    "-1",
    "0",
    "nan",
    "inf",
    "1e999",
    "true",
    "99999999999999999999",
    "4294967295",
    "\"1 GB/s\"",
    "\"-5 us\"",
    "[topology.torus]",
    "[workload]",
    "é",
    "\u{0}",
    "0x",
    "1979-05-27",
];

#[derive(Clone, Debug)]
enum Change {
    Delete(usize, usize),
    Duplicate(usize, usize),
    Replace(usize, char),
    Insert(usize, usize),
    SwapLines(usize, usize),
    Number(usize, usize),
}

const NUMBERS: [&str; 10] = ["0", "-1", "3", "7", "4294967296", "1e308", "-0.0", "nan", "0.5", "18446744073709551616"];

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>();
    let at = at.prop_map(|index| index.index(400));
    prop_oneof![
        (at.clone(), 1usize..20).prop_map(|(at, length)| Change::Delete(at, length)),
        (at.clone(), 1usize..40).prop_map(|(at, length)| Change::Duplicate(at, length)),
        (at.clone(), any::<char>()).prop_map(|(at, with)| Change::Replace(at, with)),
        (at.clone(), 0..TOKENS.len()).prop_map(|(at, token)| Change::Insert(at, token)),
        (0usize..16, 0usize..16).prop_map(|(a, b)| Change::SwapLines(a, b)),
        (0usize..8, 0..NUMBERS.len()).prop_map(|(which, number)| Change::Number(which, number)),
    ]
}

fn changed(text: &str, change: &Change) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let n = chars.len();
    match *change {
        Change::Delete(at, length) => {
            chars.drain(at.min(n)..(at + length).min(n));
        }
        Change::Duplicate(at, length) => {
            let piece = chars[at.min(n)..(at + length).min(n)].to_vec();
            chars.splice(at.min(n)..at.min(n), piece);
        }
        Change::Replace(at, with) if at < n => chars[at] = with,
        Change::Replace(..) => {}
        Change::Insert(at, token) => {
            chars.splice(at.min(n)..at.min(n), TOKENS[token].chars());
        }
        Change::SwapLines(a, b) => {
            let mut lines: Vec<&str> = text.lines().collect();
            let count = lines.len().max(1);
            if !lines.is_empty() {
                lines.swap(a % count, b % count);
            }
            return lines.join("\n");
        }
        Change::Number(which, number) => return with_number(text, which, NUMBERS[number]),
    }
    chars.into_iter().collect()
}

/// Replaces the `which`-th run of digits in a text.
fn with_number(text: &str, which: usize, number: &str) -> String {
    let mut result = String::new();
    let (mut seen, mut inside) = (0, false);
    for c in text.chars() {
        if c.is_ascii_digit() {
            if !inside {
                seen += 1;
                if seen == which + 1 {
                    result.push_str(number);
                }
            }
            inside = true;
            if seen == which + 1 {
                continue;
            }
        } else {
            inside = false;
        }
        result.push(c);
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mangled_scenario_never_panics(which in 0..SCENARIOS.len(), changes in prop::collection::vec(change(), 1..6)) {
        let text = changes.iter().fold(SCENARIOS[which].to_owned(), |text, change| changed(&text, change));
        if let Err(invalid) = Loader::new().text("mangled.toml", text).load_pattern() {
            prop_assert!(!invalid.diagnostics.is_empty());
            prop_assert!(!invalid.to_string().is_empty());
        }
    }

    #[test]
    fn a_mangled_flag_never_panics(assignment in "[a-z.=\\[\\]\"{}# \\n0-9-]{0,40}", value in "\\PC{0,12}") {
        let loader = Loader::new().text("s.toml", SCENARIOS[0]);
        let loader = loader.set("--set", &assignment).size(&value).injection(&value).placement(&value).sharing(&value);
        let _ = loader.topology(&value).load_pattern();
    }

    #[test]
    fn mangled_json_never_panics(changes in prop::collection::vec(change(), 1..4)) {
        let json = "{\"scenario\": {\"seed\": 3, \"topology\": {\"crossbar\": {\"nodes\": 4, \"bandwidth\": \"1 GB/s\"}}, \"workload\": {\"ring\": {\"size\": \"1 KB\", \"rounds\": 1}}}}";
        let text = changes.iter().fold(json.to_owned(), |text, change| changed(&text, change));
        let directory = tempfile::tempdir().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let path = directory.path().join("report.json");
        std::fs::write(&path, text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let _ = Loader::new().file(&path).load_pattern();
    }
}

#[test]
fn the_scenarios_that_are_mangled_are_whole() {
    for text in SCENARIOS {
        if let Err(invalid) = Loader::new().text("whole.toml", text).load_pattern() {
            panic!("{invalid}\n{text}");
        }
    }
}

#[test]
fn numbers_out_of_all_bounds_are_mistakes() {
    for number in
        ["-1", "0", "4294967295", "9223372036854775807", "99999999999999999999", "nan", "inf", "1e400", "\"\""]
    {
        for key in [
            "topology.fat-tree.p",
            "topology.fat-tree.bandwidth",
            "seed",
            "resolution",
            "topology.torus.dims",
            "workload.halo.dims",
        ] {
            let loader = Loader::new().text("s.toml", SCENARIOS[0]).set("--set", &format!("{key}={number}"));
            if key != "seed" {
                assert!(loader.load_pattern().is_err(), "{key} = {number}");
            } else {
                let _ = loader.load_pattern();
            }
        }
    }
}
