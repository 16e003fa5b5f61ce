//! Examples of all help texts: each runs as it stands, or the help says which files the reader must supply.

use std::collections::BTreeSet;

use super::{Desk, Said};

/// Commands whose examples start compilers, launchers or long measurements, or write into home folders.
const NOT_HERE: [&str; 10] =
    ["cc", "fc", "wrap", "record", "measure", "bench", "validate", "completions", "man", "generate"];
/// Endings of the names of input files.
const FILES: [&str; 16] = [
    ".toml", ".csv", ".goal", ".xml", ".json", ".zst", ".tsv", ".prog", ".comp", ".comm", ".c", ".cc", ".f90", ".dat",
    ".log", "/",
];

fn help(verb: &str) -> String {
    Desk::new().hayase(&format!("{verb} --help")).env("COLUMNS", "200").assert().success().stdout()
}

/// Hidden commands, which other commands have replaced.
const HIDDEN: [&str; 7] = ["pattern", "machine", "preset", "explain", "completions", "man", "schema"];

/// Returns the commands that a help text lists; those of the program are in groups.
fn listed(text: &str) -> Vec<String> {
    let first = if text.contains("\nSimulate:\n") { "Simulate:" } else { "Commands:" };
    let lines = text.lines().skip_while(|line| *line != first).skip(1);
    let lines = lines.take_while(|line| match first {
        "Commands:" => !line.is_empty(),
        _ => *line != "Options:",
    });
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns all commands with their help texts; the program itself has an empty name.
fn helps() -> Vec<(String, String)> {
    let mut found = vec![(String::new(), help(""))];
    found.extend(HIDDEN.map(|verb| (verb.to_owned(), help(verb))));
    let mut at = 0;
    while at < found.len() {
        let (verb, text) = found[at].clone();
        found.extend(listed(&text).into_iter().map(|name| {
            let verb = format!("{verb} {name}").trim().to_owned();
            let text = help(&verb);
            (verb, text)
        }));
        at += 1;
    }
    found
}

/// Returns the words of each example command, split as in a shell.
fn commands(help: &str) -> Vec<Vec<String>> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    let mut joined: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        if goes_on {
            let last = joined.last_mut().unwrap();
            *last = format!("{} {}", last.trim_end_matches(['\\', '/']).trim_end(), line.trim());
        } else if line.starts_with("  hayase ") {
            // After two blanks comes an explanation.
            joined.push(line[2..].split("  ").next().unwrap().to_owned());
        }
        goes_on = line.ends_with('\\');
    }
    let parts = joined.iter().flat_map(|line| line.split("&&")).flat_map(|line| line.split("; "));
    parts.map(|part| words(part.trim())).collect()
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn examples_run_as_they_are_or_say_which_files_are_yours() {
    let mut ran = 0;
    for (verb, text) in helps() {
        let desk = Desk::new();
        let yours: String = text
            .lines()
            .skip_while(|line| !line.starts_with("You supply:"))
            .take_while(|line| !line.is_empty())
            .collect();
        let mut made = BTreeSet::new();
        let mut missing = Vec::new();
        for command in commands(&text) {
            let told = command.join(" ");
            assert_eq!(command[0], "hayase", "{verb}: {told}");
            let mut inputs = Vec::new();
            let mut outputs = Vec::new();
            let mut output = false;
            for word in command.iter().skip(2).take_while(|word| *word != "--") {
                match output || (command[1] == "init" && !word.starts_with('-') && outputs.is_empty()) {
                    true => outputs.push(word.clone()),
                    false => inputs.extend(word.split([',', '=', ':']).map(str::to_owned)),
                }
                output = ["-o", "--node-out", "--merge"].contains(&word.as_str());
            }
            let is_made = |word: &String| made.contains(word.trim_end_matches('/'));
            let is_file = |word: &&String| FILES.iter().any(|end| word.ends_with(end)) || is_made(word);
            let is_there = |word: &String| desk.path().join(word).exists();
            let absent: Vec<&String> = inputs.iter().filter(is_file).filter(|word| !is_there(word)).collect();
            for file in &absent {
                // `node:8=x.comm` is x.comm.
                if !yours.contains(file.as_str()) && !yours.starts_with("You supply: all") && !is_made(file) {
                    missing.push(format!("{file} of `{told}`"));
                }
            }
            made.extend(outputs.iter().map(|name| name.trim_end_matches('/').to_owned()));
            if absent.is_empty() && !NOT_HERE.contains(&command[1].as_str()) {
                let mut words = command[1..].to_vec();
                words.push("-q".to_owned());
                let output = desk.hayase("").args(words).output().unwrap();
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(0), "{verb}: {told}\n{stderr}");
                assert!(
                    outputs.iter().all(|name| desk.path().join(name).exists()),
                    "{verb}: {told} does not write {outputs:?}"
                );
                ran += 1;
            }
        }
        assert!(missing.is_empty(), "hayase {verb} --help does not say whose files these are:\n{}", missing.join("\n"));
    }
    assert!(ran >= 25, "only {ran} examples were run: have help texts another form?");
}

#[test]
fn replay_lists_all_programs_by_rule() {
    let text = help("replay");
    for rule in ["pairwise:", "linear:", "dissemination:", "broadcast:", "stencil:", "gaussian-elimination:n="] {
        assert!(text.contains(&format!("\n  {rule}")), "{rule}: {text}");
    }
}
