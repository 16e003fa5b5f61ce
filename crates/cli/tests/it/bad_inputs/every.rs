//! Wrong values for every key of a scenario, every word of the other files and every option of every command.
//!
//! The tests try a sample, drawn by a fixed seed. `HAYASE_WRONG_INPUTS=all` tries everything and writes each
//! try with its answer to `HAYASE_WRONG_INPUTS_LOG`. `HAYASE_PROGRAM` names another build to try.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use super::{Answer, Desk, answer_within, files_of, good_files, unescaped};

/// Memory limit of a try [KiB].
const MEMORY: u64 = 2_000_000;
const TIME: u64 = 5;
/// Number of tries in the sample.
const SAMPLE: usize = 900;

/// Words of libraries and numbers of the operating system, which mean nothing to the author of the input.
const LIBRARIES: &str = "invalid type|invalid value: |expected u|expected i6|expected f64|invalid digit|invalid float|\
                         EOF while|os error|valid UTF-8|recursion limit|cannot parse integer|data did not match|\
                         called `Option";

/// Commands with valid arguments; the other commands call other programs or take no input.
const VERBS: &str = "\
run: -t fabric.toml -p messages.csv
compare: -t fabric.toml -p messages.csv
accuracy: -t fabric.toml -p messages.csv --seeds 1
sweep: plan.toml -o out
rates: -t fabric.toml -p messages.csv
throughput: -t torus-4x4
llm: gpt-3-175b -m a100-8x200g
predict: --program a.prog --computation a.comp -m myrinet
program fold: ti.txt -o b.prog -o b.comp
program show: a.prog
program extend: a.prog --loop L1 --iterations 5 -o b.prog
replay: two.goal -m myrinet
whatif: two.goal -m myrinet
calibrate: rtt.csv
check: fabric.toml
init: x.toml
topology list:
topology show: torus-4x4
topology compare: torus-4x4 torus-8x8
pattern list:
pattern show: ring
machine list:
machine show: myrinet
preset list:
advise: two.goal -m myrinet
explain:
trace info: two.goal
trace convert: two.goal -o b.goal
master-slave: tasks.csv -w 2
master-slave plan: --grid 64x64
validate: --list";

/// Other files than scenarios, and the commands that read them.
const FILES: &str = include_str!("every.txt");

/// Values that are wrong for most keys, as TOML.
const IN_TOML: &str = r#"true | [] | [[]] | {} | "" | "x" | -1 | 0 | 1.5 | 1e308 | 18446744073709551616 | nan | inf | "5" | "5 parsecs" | "-5 us" | "1e308 GB" | "." | "binary.bin" | "no/such.toml" | 1979-05-27"#;
/// Values, one of which is right for most keys.
const IS_ALLOWED: &str = r#"2 | "20 KB" | "1 us" | "1 GB/s" | 0.5 | true | {}"#;
/// Words that are wrong for most words of a file, and most options.
const WORDS: &str = "|x|-1|0|1.5|1e308|18446744073709551616|nan|inf|5 parsecs|-5 us|.|binary.bin|no/such.toml";

/// One wrong input.
#[derive(Clone, Debug)]
struct Try {
    /// Key, word or option, and its wrong value.
    name: String,
    /// The file to write first.
    file: Option<(&'static str, Vec<u8>)>,
    words: Vec<String>,
    /// Places, one of which a good message contains.
    places: Vec<String>,
    /// The scenario around a key.
    base: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Verdict {
    RefusedWell,
    Accepted,
    BadlyPlaced,
    LibrarysWords,
    Crashed,
}

impl Verdict {
    fn of(tried: &Try, answer: &Answer) -> Self {
        let said = &answer.stderr;
        match answer.code {
            Some(0 | 3) => Self::Accepted,
            Some(1 | 2) if said.contains("panicked") => Self::Crashed,
            Some(1 | 2) if LIBRARIES.split('|').any(|words| said.contains(words)) => Self::LibrarysWords,
            // An unwritable file is not a mistake of the input.
            Some(1) if said.contains("cannot write") || said.contains("or write") => Self::RefusedWell,
            // A text of the program for the arguments.
            Some(1 | 2) if said.contains("--> <") && !said.contains("--> <TASKS>") => Self::BadlyPlaced,
            Some(1) => Self::BadlyPlaced,
            Some(2) if !tried.places.iter().any(|place| is_place(said, place)) => Self::BadlyPlaced,
            Some(2) => Self::RefusedWell,
            _ => Self::Crashed,
        }
    }
}

/// Returns true if a message has this place: a text, or, if it ends in a colon, any line of this file.
fn is_place(said: &str, place: &str) -> bool {
    let with_line = |(at, _): (usize, &str)| said[at + place.len()..].starts_with(|c: char| c.is_ascii_digit());
    if place.ends_with(':') { said.match_indices(place).any(with_line) } else { said.contains(place) }
}

/// The schema, and the keys found in it: a scenario with `@` in the place of the value.
struct Keys<'a> {
    schema: &'a Value,
    found: BTreeMap<String, Value>,
}

impl<'a> Keys<'a> {
    fn resolved(&self, of: &'a Value) -> &'a Value {
        match of["$ref"].as_str().and_then(|name| name.strip_prefix("#/")) {
            Some(name) => name.split('/').fold(self.schema, |schema, part| &schema[part]),
            None => of,
        }
    }

    /// Returns an allowed value.
    fn example(&self, of: &'a Value) -> Value {
        let described = of["description"].as_str().and_then(|text| text.split('"').rev().nth(1));
        let of = self.resolved(of);
        if let Some(choice) = ["anyOf", "oneOf"].iter().find_map(|key| of[key].get(0)) {
            return self.example(choice);
        }
        if let Some(value) = of.get("const").or_else(|| of["enum"].get(0)) {
            return value.clone();
        }
        let kind = of["type"].as_str().or_else(|| of["type"][0].as_str()).unwrap_or_default();
        let own = of["description"].as_str().and_then(|text| text.split('"').rev().nth(1));
        match kind {
            "string" => json!(described.or(own).map_or("messages.csv", |name| good_name(name))),
            "integer" => json!(4),
            "number" => json!(0.5),
            "boolean" => json!(true),
            "array" => json!([self.example(&of["items"])]),
            _ => Value::Object(self.required(of, "")),
        }
    }

    /// Returns the required keys of a table except one.
    fn required(&self, table: &'a Value, without: &str) -> Map<String, Value> {
        let names = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let entry = |name: &str| (name.to_owned(), self.example(&table["properties"][name]));
        names.filter(|name| *name != without).map(entry).collect()
    }

    /// Finds all keys below this one; `around` puts a value into its scenario.
    fn walk(&mut self, of: &'a Value, path: &str, around: &dyn Fn(Value) -> Value) {
        // A topology may consist of topologies.
        if path.matches('.').count() > 5 {
            return;
        }
        let of = self.resolved(of);
        let choices = ["anyOf", "oneOf"].iter().filter_map(|key| of[key].as_array()).flatten();
        choices.for_each(|choice| self.walk(choice, path, around));
        for (name, inner) in of["properties"].as_object().into_iter().flatten() {
            let others = self.required(of, name);
            let around = |value: Value| {
                let mut table = others.clone();
                table.insert(name.clone(), value);
                around(Value::Object(table))
            };
            self.walk(inner, &format!("{path}.{name}"), &around);
        }
        if self.resolved(&of["items"])["properties"].is_object() {
            self.walk(&of["items"], &format!("{path}[]"), &|value| around(json!([value])));
        }
        if !path.is_empty() {
            self.found.entry(path.to_owned()).or_insert_with(|| around(json!("@")));
        }
    }
}

/// Returns the existing file for a file that the schema names.
fn good_name(name: &str) -> &str {
    match name.rsplit('.').next() {
        Some("prog") => "a.prog",
        Some("comp") => "a.comp",
        Some("xml") => "platform.xml",
        _ => name,
    }
}

/// Returns a value as TOML on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Writes a scenario as TOML, each key on a line of its own.
fn lines_of(value: &Value, path: &str, text: &mut String) {
    match value.as_object().filter(|table| !table.is_empty()) {
        Some(table) => {
            let dot = if path.is_empty() { "" } else { "." };
            table.iter().for_each(|(key, value)| lines_of(value, &format!("{path}{dot}{key}"), text));
        }
        None => writeln!(text, "{path} = {}", inline(value)).unwrap(),
    }
}

/// Returns true if the scenario around a key is valid with some value.
///
/// Then an error with another value is about this key.
fn is_allowed(desk: &Desk, base: &str) -> bool {
    IS_ALLOWED.split(" | ").any(|value| {
        fs::write(desk.path().join("s.toml"), base.replace("\"@\"", value)).unwrap();
        ran(desk.path(), &["run", "s.toml", "-q"]).code == Some(0)
    })
}

fn keys(desk: &Desk) -> Vec<Try> {
    let schema: Value = serde_json::from_str(&ran(desk.path(), &["schema"]).stdout).unwrap();
    let mut keys = Keys { schema: &schema, found: BTreeMap::new() };
    keys.walk(&schema, "", &|value| value);
    let mut tries = Vec::new();
    for (path, mut scenario) in keys.found {
        let table = scenario.as_object_mut().unwrap();
        table.entry("topology").or_insert_with(|| json!("torus-4x4"));
        if !table.contains_key("job") {
            let of_programs = ["node", "collectives", "noise", "straggler"].iter().any(|key| table.contains_key(*key));
            let workload = if of_programs { "linear:ranks=4" } else { "all-to-all-pairwise" };
            table.entry("workload").or_insert_with(|| json!(workload));
        }
        let mut text = String::new();
        lines_of(&scenario, "", &mut text);
        let at = text.lines().position(|line| line.contains("\"@\"")).unwrap();
        let line = text.lines().nth(at).unwrap().to_owned();
        let places: Vec<String> = [at + 1, at + 2].map(|line| format!("s.toml:{line}:")).into();
        let places = [places, ["binary.bin:", "messages.csv:"].map(str::to_owned).into()].concat();
        let mut change = |name: String, changed: String| {
            tries.push(Try {
                name: format!("{path} {name}"),
                file: Some(("s.toml", text.replace(&line, &changed).into_bytes())),
                words: vec!["run".to_owned(), "s.toml".to_owned()],
                places: places.clone(),
                base: Some(text.clone()),
            })
        };
        for value in IN_TOML.split(" | ") {
            change(format!("= {value}"), line.replace("\"@\"", value));
        }
        change("misspelt".to_owned(), line.replacen(" = ", "x = ", 1).replace("\"@\"", "1"));
        change("twice".to_owned(), format!("{line}\n{line}"));
        change("without a value".to_owned(), line.replace("\"@\"", ""));
    }
    tries
}

/// Returns the ranges of the words of a text: names, numbers and quoted texts.
fn words_of(text: &str) -> Vec<std::ops::Range<usize>> {
    let inside = |c: char| c.is_alphanumeric() || "._+-/%".contains(c);
    let mut words = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        match begin {
            None if inside(c) => begin = Some(at),
            Some(from) if !inside(c) => {
                words.push(from..at);
                begin = None;
            }
            _ => {}
        }
    }
    words
}

fn files(desk: &Desk) -> Vec<Try> {
    let mut tries = Vec::new();
    for line in FILES.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let (name, typed) = line.split_once(": ").unwrap();
        let made = desk.read(name);
        let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        let mut change = |what: String, content: Vec<u8>, place: String| {
            tries.push(Try {
                name: format!("{name} {what}"),
                file: Some((name, content)),
                words: words.clone(),
                places: vec![place, format!("`{name}` is"), "--> --".to_owned(), "binary.bin:".to_owned()],
                base: None,
            });
        };
        let is_comment = |at: usize| {
            made[..at]
                .rsplit('\n')
                .next()
                .is_some_and(|line| line.trim_start().starts_with(['#', '<']) && line.contains(['#', '!', '?']))
        };
        for word in words_of(&made).into_iter().filter(|word| !is_comment(word.start)).take(120) {
            let line = made[..word.start].matches('\n').count() + 1;
            for wrong in WORDS.split('|') {
                let content = format!("{}{wrong}{}", &made[..word.start], &made[word.end..]);
                let what = format!("{line}: `{}` -> `{wrong}`", &made[word.clone()]);
                change(what, content.into_bytes(), format!("{name}:"));
            }
        }
        let lines: Vec<&str> = made.lines().collect();
        for at in 0..lines.len().min(60) {
            let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
            change(format!("without line {}", at + 1), without.into_bytes(), name.to_owned());
            let twice = [&lines[..=at], &lines[at..]].concat().join("\n");
            change(format!("line {} twice", at + 1), twice.into_bytes(), name.to_owned());
            let cut = [&lines[..at], &[&lines[at][..lines[at].len() / 2]]].concat().join("\n");
            change(format!("cut in line {}", at + 1), cut.into_bytes(), name.to_owned());
        }
        for (what, content) in [("empty", &b""[..]), ("binary", b"\x00\xff\xfe\x01\x80\n\x00"), ("a blank", b" ")] {
            change(what.to_owned(), content.to_vec(), name.to_owned());
        }
    }
    tries
}

fn options(desk: &Desk) -> Vec<Try> {
    let mut tries = Vec::new();
    for (verb, right) in VERBS.lines().map(|line| line.split_once(':').unwrap()) {
        let verb: Vec<&str> = verb.split(' ').collect();
        let help = ran(desk.path(), &[&verb[..], &["-h"]].concat()).stdout;
        let right: Vec<&str> = right.split_whitespace().collect();
        let mut add = |name: String, more: &[&str], place: Vec<String>| {
            let words = [&verb, &right[..], more].concat().into_iter().map(str::to_owned).collect();
            tries.push(Try {
                name: format!("{} {name}", verb.join(" ")),
                file: None,
                words,
                places: place,
                base: None,
            });
        };
        for line in help.lines().filter(|line| line.starts_with("      --") || line.starts_with("  -")) {
            let Some(option) = line.split_whitespace().find(|word| word.starts_with("--")) else { continue };
            let option = option.split(['=', '[']).next().unwrap();
            let place = |value: &str| {
                let named = if value.is_empty() { "``" } else { value };
                [option, named, "--> --"].map(str::to_owned).into()
            };
            if matches!(option, "--help" | "--version" | "--full" | "--go") {
                continue;
            }
            add(format!("{option}x"), &[&format!("{option}x"), "1"], place(""));
            for value in WORDS.split('|') {
                add(format!("{option}={value}"), &[&format!("{option}={value}")], place(value));
            }
            if line.contains('<') {
                add(format!("{option} without a value"), &[option], place(""));
            }
        }
        for value in WORDS.split('|') {
            add(value.to_owned(), &[value], vec![value.split(' ').next().unwrap().to_owned()]);
        }
    }
    tries
}

fn ran(folder: &Path, words: &[impl AsRef<OsStr>]) -> Answer {
    let words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    answer_within(folder, &words, MEMORY, TIME)
}

/// Returns a desk with all files.
fn desk() -> Desk {
    let desk = good_files();
    for (name, content) in FILES.lines().filter_map(|line| line.strip_prefix("@ ")?.split_once(": ")) {
        fs::write(desk.path().join(name), unescaped(content)).unwrap();
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/guide");
    for name in ["rtt.csv", "platform.xml", "farm.toml", "jobs.toml", "gigabit.comm", "executed.csv"] {
        fs::copy(guide.join(name), desk.path().join(name)).unwrap();
    }
    desk
}

/// Runs the tries on `threads` threads, each with a desk of its own, and returns a verdict and the answer for each.
fn judged(tries: &[Try], threads: usize) -> Vec<(Verdict, Answer)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let desk = desk();
        let good = files_of(&desk);
        let mut judged = Vec::new();
        while let Some((i, tried)) = tries.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some((name, content)) = &tried.file {
                fs::write(desk.path().join(name), content).unwrap();
            }
            let answer = ran(desk.path(), &tried.words);
            let mut verdict = Verdict::of(tried, &answer);
            // Other mistakes of the scenario may come first.
            let elsewhere = verdict == Verdict::BadlyPlaced && is_place(&answer.stderr, "s.toml:");
            if elsewhere && tried.base.as_ref().is_some_and(|base| !is_allowed(&desk, base)) {
                verdict = Verdict::RefusedWell;
            }
            judged.push((i, (verdict, Answer { stdout: String::new(), ..answer })));
            for name in desk.names().iter().filter(|name| !good.contains_key(*name)) {
                let path = desk.path().join(name);
                if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
            }
            if let Some((name, content)) = tried.file.as_ref().and_then(|(name, _)| good.get_key_value(*name)) {
                fs::write(desk.path().join(name), content).unwrap();
            }
        }
        judged
    };
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, judged)| judged).collect()
}

#[test]
fn every_key_word_and_option_refuses_what_is_wrong_in_our_words() {
    let desk = desk();
    let kinds = [("keys", keys(&desk)), ("files", files(&desk)), ("options", options(&desk))];
    let all = std::env::var("HAYASE_WRONG_INPUTS").is_ok_and(|value| value == "all");
    let mut log = String::new();
    let mut table = format!(
        "{:8} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "", "tried", "well", "accepted", "place", "library", "crashed"
    );
    let mut badly = Vec::new();
    for (kind, tries) in kinds {
        let step = if all { 1 } else { tries.len() / (SAMPLE / 3) };
        let tries: Vec<Try> = tries.into_iter().step_by(step.max(1)).collect();
        let judged = judged(&tries, 2);
        let mut counts = [0; 5];
        for (tried, (verdict, answer)) in tries.iter().zip(&judged) {
            counts[*verdict as usize] += 1;
            writeln!(
                log,
                "{verdict:?}\t{kind}\t{}\t{:?}\t{}",
                tried.name,
                answer.code,
                answer.stderr.replace('\n', "\u{23ce}")
            )
            .unwrap();
            if *verdict > Verdict::Accepted {
                badly.push(format!("{verdict:?}: {} ({:?})\n{}", tried.name, answer.code, answer.stderr));
            }
        }
        let [well, accepted, placed, library, crashed] = counts;
        writeln!(table, "{kind:8} {:>6} {well:>8} {accepted:>8} {placed:>8} {library:>8} {crashed:>8}", tries.len())
            .unwrap();
    }
    if let Ok(path) = std::env::var("HAYASE_WRONG_INPUTS_LOG") {
        fs::write(path, log).unwrap();
    }
    println!("{table}");
    assert!(badly.is_empty(), "{} badly answered:\n{}\n{table}", badly.len(), badly.join("\n"));
}
