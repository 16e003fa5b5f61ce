//! The architecture, checked: who may use whom, how long a file may be, what a shipped file begins with.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of `src`, lowest level first. A room uses only rooms of lower levels.
const LEVELS: &[&[&str]] = &[
    &["units", "ids", "rng", "memory", "diagnostic"],
    &["fabric"],
    &["topology", "routing", "placement", "sharing", "node", "workload"],
    &["transport", "player", "prediction"],
    &["engine"],
    &["record", "system"],
    &["report"],
    &["scenario", "output"],
    &["sweep", "validation", "bench", "measure", "capture", "advice"],
    &["cli"],
];

/// Edges that the levels forbid and that are wanted all the same, each with its reason.
const ALLOWED: &[(&str, &str)] = &[
    // Cells of a table are quantities, and what is wrong with one is a mistake with a place.
    ("diagnostic", "units"),
];

/// Lines of the longest file that is still read in one sitting.
const LONGEST_FILE: usize = 700;

#[test]
fn rooms_use_only_lower_levels() {
    let mut mistakes = Vec::new();
    for file in rust_files(&root().join("src")) {
        let room = room_of(&file);
        // The roots see everything: they only list the rooms and enter the command line.
        if room == "lib" || room == "main" {
            continue;
        }
        let Some(from) = level(&room) else {
            mistakes.push(format!("src/{room} has no level; give it one in LEVELS"));
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for (line, used) in rooms_used(&text) {
            let edge = format!("{}:{line}: {room} uses {used}", file.strip_prefix(root()).unwrap().display());
            match level(&used) {
                _ if used == room || ALLOWED.contains(&(room.as_str(), used.as_str())) => {}
                None => mistakes.push(format!("{edge}, which has no level")),
                Some(to) if to > from => mistakes.push(format!("{edge}, upwards (level {from} to {to})")),
                Some(to) if to == from => mistakes.push(format!("{edge}, sideways (both on level {from})")),
                Some(_) => {}
            }
        }
    }
    assert!(mistakes.is_empty(), "{} forbidden edges:\n{}", mistakes.len(), mistakes.join("\n"));
}

#[test]
fn files_read_in_one_sitting() {
    let long: Vec<String> = rust_files(&root().join("src"))
        .into_iter()
        .filter_map(|file| {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            (lines > LONGEST_FILE).then(|| format!("{}: {lines} lines", file.display()))
        })
        .collect();
    assert!(long.is_empty(), "above {LONGEST_FILE} lines:\n{}", long.join("\n"));
}

/// What is missing is told by `hayase_needs`, which fails where `HAYASE_REQUIRE` says so; not by each test in its own way.
#[test]
fn tests_that_are_skipped_say_so_in_one_way() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders =
        crates.filter(|path| !path.ends_with("needs")).map(|path| path.join("tests")).filter(|path| path.is_dir());
    let mut others = Vec::new();
    for file in folders.chain([root().join("tests")]).flat_map(|folder| rust_files(&folder)) {
        let text = fs::read_to_string(&file).unwrap();
        let told = (1..).zip(text.lines()).filter(|(_, line)| {
            let line = line.trim_start().to_lowercase();
            ["eprintln!(\"", "println!(\""].iter().any(|print| line.contains(&format!("{print}skip")))
        });
        others.extend(told.map(|(line, _)| format!("{}:{line}", file.strip_prefix(root()).unwrap().display())));
    }
    assert!(others.is_empty(), "ask `hayase_needs::is_there`, or tell `hayase_needs::missing`:\n{}", others.join("\n"));
}

#[test]
fn shipped_files_say_where_they_come_from() {
    for folder in ["topologies", "patterns", "machines", "presets"] {
        let (mut texts, mut data) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                texts.push((path.clone(), fs::read_to_string(&path).unwrap()));
            } else {
                data.push(path);
            }
        }
        for (path, text) in &texts {
            let comment: String = text.lines().take_while(|line| line.starts_with('#')).collect();
            let words = comment.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
            assert!(words >= 5, "{} does not begin with a comment that says where it comes from", path.display());
        }
        // Tables of data cannot carry comments: the scenario that uses them speaks for them.
        for path in data {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(texts.iter().any(|(_, text)| text.contains(&name)), "no file of {folder} mentions {name}");
        }
    }
}

#[test]
fn the_reader_of_paths_sees_every_form_and_no_comment() {
    let text = "\
use crate::fabric::{Fabric, Link};
use crate::{ids::{Id, LinkId}, units::Time, rng};
// use crate::cli::Nothing;
/// See [`crate::report`].
fn f() -> crate::engine::Progress { my_crate::x() /* crate::output::y */ }
macro_rules! m { () => { $crate::sharing::Policy } }
#[cfg(test)]
mod tests { use crate::scenario::Loader; }
";
    let expected = [(1, "fabric"), (2, "ids"), (2, "units"), (2, "rng"), (5, "engine"), (6, "sharing")];
    assert_eq!(rooms_used(text), expected.map(|(line, room)| (line, room.to_string())));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

/// The first folder, or the file, below `src`.
fn room_of(file: &Path) -> String {
    let first = file.strip_prefix(root().join("src")).unwrap().components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_string_lossy().into_owned()
}

/// All Rust files below a folder but the ones that hold tests alone: a test may set the scene with any room.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if stem == "tests" || stem.ends_with("_tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The rooms that a text names by `crate::...`, each with its line, outside comments and outside its test module.
fn rooms_used(text: &str) -> Vec<(usize, String)> {
    let code = blank_comments(text);
    let end = code.find("#[cfg(test)]\nmod tests").unwrap_or(code.len());
    let code = &code[..end];
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let line_of = |offset: usize| code[..at + "crate::".len() + offset].matches('\n').count() + 1;
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if !rest.starts_with('{') {
            found.push((line_of(0), word(rest)));
            continue;
        }
        // `use crate::{a, b::{c, d}}`: the words right after the outermost brace and its commas.
        let mut depth = 0;
        let mut wanted = false;
        for (offset, c) in rest.char_indices() {
            match c {
                '{' => {
                    depth += 1;
                    wanted = depth == 1;
                }
                '}' => depth -= 1,
                ',' => wanted = depth == 1,
                c if wanted && !c.is_whitespace() => {
                    found.push((line_of(offset), word(&rest[offset..])));
                    wanted = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

/// The text with every comment's characters replaced by blanks, so that lines keep their numbers.
fn blank_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (code, comment) = rest.split_at(start);
        out.push_str(code);
        let length = match comment.starts_with("//") {
            true => comment.find('\n').unwrap_or(comment.len()),
            false => comment.find("*/").map_or(comment.len(), |end| end + 2),
        };
        out.extend(comment[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &comment[length..];
    }
    out.push_str(rest);
    out
}
