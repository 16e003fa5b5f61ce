//! The architecture, checked: allowed dependencies, lengths of files, first lines of shipped files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::house::{self, root};

/// Rooms of the simulator (`crates/core/src` and `src`), lowest level first. A room uses only rooms of lower
/// levels.
const LEVELS: &[&[&str]] = &[
    &["atomic_file", "base", "columns", "diagnostic", "ids", "rng", "units"],
    &["collective", "fabric", "noise", "parquet", "reading", "sharing", "workload"],
    &["farm", "nccl", "node", "optimum", "pattern", "placement", "routing", "topology"],
    &["faults", "program", "symmetry", "transport"],
    &["engine", "player", "trace", "training"],
    &["network"],
    &["record", "steady", "system"],
    &["prediction", "report"],
    &["simulation"],
    &["scenario"],
    &["study"],
];

/// Rooms of the simulator and crates with cycles of files that import each other, each with its reason. No
/// other room may have cycles, and a room without any must be removed from here.
const CIRCLES: &[(&str, &str)] = &[
    ("gain", "rules ask the judge of gains, which asks what the rules change; an edit and its order are one thing"),
    ("memory", "code is told by its parts, and what is opaque in it by all of them"),
    ("mpi", "the library is loaded by its ABI, which is told by the library's functions"),
    ("recorder", "the parts of the recorder are methods of one type, which calls them"),
    ("routing", "a rule of planes holds the rule for the way within one"),
    ("topology", "a fabric of planes holds the one of which each is a copy"),
];

/// Largest number of lines of a file: it can still be read in one sitting.
const LONGEST_FILE: usize = 700;

#[test]
fn rooms_use_only_lower_levels() {
    let mut mistakes = Vec::new();
    for file in simulator().iter().flat_map(|folder| rust_files(folder)) {
        let room = room_of(&file);
        // The root only lists the rooms.
        if room == "lib" {
            continue;
        }
        let Some(from) = level(&room) else {
            mistakes.push(format!("the room {room} has no level; give it one in LEVELS"));
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for (line, used) in rooms_used(&text) {
            let edge = format!("{}:{line}: {room} uses {used}", file.strip_prefix(root()).unwrap().display());
            match level(&used) {
                _ if used == room => {}
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
fn the_table_of_the_architecture_has_the_rooms_on_their_levels() {
    let text = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let level: usize = cells.next()?.parse().ok()?;
        let rooms: BTreeSet<&str> = cells.next()?.split(", ").map(|room| room.trim_matches('`')).collect();
        Some((level, rooms))
    });
    let levels = LEVELS.iter().map(|rooms| rooms.iter().copied().collect()).enumerate();
    assert_eq!(rows.collect::<Vec<_>>(), levels.collect::<Vec<(usize, BTreeSet<&str>)>>());
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let all = [Sources::of_simulator()]
        .into_iter()
        .chain(crates().into_iter().map(|(name, folder)| Sources::of_crate(&name, folder)));
    let (mut new, mut rooms) = (Vec::new(), BTreeSet::new());
    for sources in all {
        for circle in sources.circles() {
            let room = circle[0].split('/').next().unwrap_or_default().to_owned();
            if !CIRCLES.iter().any(|(name, _)| *name == room) {
                new.push(sources.describe(&circle));
            }
            rooms.insert(room);
        }
    }
    assert!(new.is_empty(), "{} circles of files that import each other:\n{}", new.len(), new.join("\n"));
    let untied: Vec<&str> = CIRCLES.iter().map(|(name, _)| *name).filter(|name| !rooms.contains(*name)).collect();
    assert!(untied.is_empty(), "take these rooms from CIRCLES, they have none any more: {untied:?}");
}

#[test]
fn the_finder_of_circles_sees_through_what_a_file_passes_on() {
    let circles = |files: &[(&str, &str)]| {
        let files = files.iter().map(|&(path, text)| (path.split('/').map(str::to_owned).collect(), text.to_owned()));
        Sources::of(files.collect()).circles()
    };
    let room = |text: &'static str, a: &'static str, b: &'static str| [("room", text), ("room/a", a), ("room/b", b)];
    let none: [Vec<String>; 0] = [];
    // A room that only re-exports names is not part of a cycle.
    assert_eq!(circles(&room("pub use a::A;\npub use b::B;", "use super::B; struct A(B);", "struct B;")), none);
    assert_eq!(
        circles(&room("pub use a::A;\npub use b::B;", "use super::B;", "use crate::room::A;")),
        [["room/a", "room/b"]]
    );
    // A room that uses the names it re-exports is.
    let uses = room("pub use a::A as First;\nenum E { A(First) }", "use super::E;", "");
    assert_eq!(circles(&uses), [["room", "room/a"]]);
    let passes = room("pub use a::A as First;\nenum E { A }", "use super::E;", "");
    assert_eq!(circles(&passes), none);
    // A path in the middle of the code counts, a comment and a test do not.
    let inside = ("fn f() -> super::b::B { todo!() }", "// use super::a::A;\nfn f() { crate::room::a::f() }");
    assert_eq!(circles(&room("", inside.0, inside.1)), [["room/a", "room/b"]]);
    let tested = "#[cfg(test)]\nmod tests { use super::super::a::A; }";
    assert_eq!(circles(&room("", "use super::b::B;", tested)), none);
    // A module's declaration, a method of its name, and the visibility of a name do not count either.
    let named = room("mod a;\npub use a::a;\nstruct S;\nfn f() { x.a() }", "use super::S;", "");
    assert_eq!(circles(&named), none);
    assert_eq!(circles(&room("use a::A;\nstruct S(A);", "pub(in crate::room) fn f() {}", "")), none);
    // Names in braces, inner rooms, three in a cycle.
    let three = [
        ("r", ""),
        ("r/a", "use super::{b::B, x};"),
        ("r/b", "use crate::{units, r::c::{C, D}};"),
        ("r/c", "use super::a::{self};"),
    ];
    assert_eq!(circles(&three), [["r/a", "r/b", "r/c"]]);
    // The root of a crate is one of its files: its own items count, its re-exports do not.
    let in_crate = |root: &str, a: &str| {
        let files = [(vec!["c"], root), (vec!["c", "a"], a), (vec!["c", "b"], "pub struct B;")];
        let files = files.map(|(path, text)| (path.into_iter().map(str::to_owned).collect(), text.to_owned()));
        Sources { depth: 1, ..Sources::of(files.into()) }.circles()
    };
    assert_eq!(in_crate("mod a;\npub(crate) use b::B;\nuse a::A;\nfn f(a: A) {}", "use crate::B;"), none);
    assert_eq!(in_crate("mod a;\nuse a::A;\npub struct End;", "use super::End;"), [["c", "c/a"]]);
}

#[test]
fn files_read_in_one_sitting() {
    let long: Vec<String> = (crates().into_iter().map(|(_, folder)| folder))
        .chain(simulator())
        .flat_map(|folder| rust_files(&folder))
        .filter_map(|file| {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            (lines > LONGEST_FILE).then(|| format!("{}: {lines} lines", file.display()))
        })
        .collect();
    assert!(long.is_empty(), "above {LONGEST_FILE} lines:\n{}", long.join("\n"));
}

/// Missing needs are reported by `hayase_needs`, which fails if `HAYASE_REQUIRE` demands it; not by each test
/// in its own way.
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

/// A family is known only to its own file and to the list of families. So a new one is one file and one line
/// (and the `mod` by which `rustfmt` finds the file).
#[test]
fn a_family_of_fabrics_is_one_file_and_one_line() {
    // Families whose arithmetic others do: routing rules, the transport of flows, drawings.
    let shared = ["fat_tree", "torus", "hyper_crossbar", "crossbar", "custom", "simgrid"];
    let folder = root().join("crates/core/src/topology");
    let list = fs::read_to_string(folder.join("mod.rs")).unwrap();
    let lines: Vec<&str> = list.split("topologies! {").nth(1).unwrap().split("\n}").next().unwrap().lines().collect();
    let families: BTreeSet<&str> =
        lines.iter().filter_map(|line| Some(line.trim().split_once('(')?.1.split_once("::")?.0)).collect();
    assert!(families.len() > 10 && families.contains("ring_of_rings"), "{families:?}");
    let crates =
        ["crates/output", "crates/cli", "crates/bench", "crates/gain"].map(|path| root().join(path).join("src"));
    let sources: Vec<(PathBuf, String)> = crates
        .into_iter()
        .chain(simulator())
        .flat_map(|folder| rust_files(&folder))
        .map(|file| (file.clone(), fs::read_to_string(&file).unwrap()))
        .collect();
    for family in families.iter().filter(|family| !shared.contains(family)) {
        let camel: String = family.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let own = [folder.join(format!("{family}.rs")), folder.join("mod.rs")];
        let parts = folder.join(family);
        for (file, text) in sources.iter().filter(|(file, _)| !own.contains(file) && !file.starts_with(&parts)) {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let named = [format!("{camel}Spec"), format!("{camel}("), format!("{family}::"), format!("{camel}>")];
                let named = named.iter().any(|name| line.contains(name.as_str()));
                assert!(!named, "{} knows the family {family}: {line}", file.display());
            }
        }
        let of_it = lines.iter().filter(|line| line.contains(&format!("{family}::"))).count();
        assert_eq!(of_it, 1, "{family}");
    }
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
        // Tables of data cannot carry comments: the scenario that uses them describes them.
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

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

/// Returns the folders of the simulator: the core, and the library around it.
fn simulator() -> [PathBuf; 2] {
    ["crates/core/src", "src"].map(|folder| root().join(folder))
}

/// Returns the first folder, or the file, below a folder of the simulator.
fn room_of(file: &Path) -> String {
    let inside = simulator().iter().find_map(|folder| file.strip_prefix(folder).ok()).unwrap();
    let first = inside.components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_string_lossy().into_owned()
}

/// Returns all Rust files below a folder except those that hold only tests: a test may set the scene with any
/// room.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let is_test = |name: &Path| {
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        stem == "tests" || stem.ends_with("_tests")
    };
    let mut files = house::files(folder, "rs");
    files.retain(|file| !file.strip_prefix(folder).unwrap().iter().any(|part| is_test(Path::new(part))));
    files
}

/// Returns the files of a folder by their module (none for the root of a crate), with their texts.
fn modules(folder: PathBuf) -> impl Iterator<Item = (Vec<String>, String)> {
    rust_files(&folder).into_iter().filter_map(move |file| {
        let path = file.strip_prefix(&folder).unwrap().with_extension("");
        let mut module: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        // A program uses its library like any other user.
        if module == ["main"] {
            return None;
        }
        if module == ["lib"] || module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        Some((module, fs::read_to_string(&file).unwrap()))
    })
}

/// Returns the crates beside the simulator by their names, with the folders of their files.
fn crates() -> Vec<(String, PathBuf)> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, PathBuf)> = crates
        .chain([root().join("validation")])
        .map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), folder.join("src")))
        .filter(|(name, folder)| name != "core" && folder.is_dir())
        .collect();
    all.sort();
    all
}

/// Files of the simulator or of a crate by their module, and their imports.
struct Sources {
    /// Imports by module path: `["player", "graph"]`, for a crate after its name. From texts without comments
    /// and tests.
    modules: BTreeMap<Vec<String>, Imports>,
    /// Number of parts of a path that stand for `crate`.
    depth: usize,
}

/// Imports of a file.
struct Imports {
    /// Each path, its name in the file, and true if the file re-exports it (`pub use`).
    paths: Vec<(Vec<String>, String, bool)>,
    /// Words of its code, outside imports.
    words: BTreeSet<String>,
}

impl Sources {
    /// Reads the simulator, whose rooms have levels and whose root only lists them.
    fn of_simulator() -> Self {
        let files = simulator().into_iter().flat_map(modules);
        Self::of(files.filter(|(module, _)| !module.is_empty()).collect())
    }

    /// Reads a crate, which is a room of its own; its root is one of its files.
    fn of_crate(name: &str, folder: PathBuf) -> Self {
        let inside = |(module, text)| ([vec![name.to_owned()], module].concat(), text);
        Self { depth: 1, ..Self::of(modules(folder).map(inside).collect()) }
    }

    fn of(files: Vec<(Vec<String>, String)>) -> Self {
        let modules = files.into_iter().map(|(module, text)| (module, Imports::of(&text))).collect();
        Self { modules, depth: 0 }
    }

    /// Returns the module whose file holds the item of a path, seen from another module; `None` if it is in
    /// another crate.
    fn resolve(&self, from: &[String], path: &[String], depth: u32) -> Option<Vec<String>> {
        let mut at = from.to_vec();
        let mut rest = path.iter().peekable();
        match path.first()?.as_str() {
            "crate" => {
                at.truncate(self.depth);
                rest.next();
            }
            "self" => {
                rest.next();
            }
            "super" => {
                while rest.next_if(|part| *part == "super").is_some() {
                    at.pop();
                }
            }
            first => {
                let child: Vec<String> = from.iter().cloned().chain([first.to_owned()]).collect();
                self.modules.get(&child)?;
            }
        }
        while let Some(part) = rest.peek() {
            at.push((*part).clone());
            if !self.modules.contains_key(&at) {
                at.pop();
                break;
            }
            rest.next();
        }
        let imports = self.modules.get(&at)?;
        // A name that the module itself re-exports is in another file.
        let passed_on = rest.next().filter(|_| depth < 8).and_then(|name| {
            let passed_on = imports.paths.iter().filter(|(_, known, is_public)| is_public & (known == name));
            passed_on.filter_map(|(path, ..)| self.resolve(&at, path, depth + 1)).next()
        });
        Some(passed_on.unwrap_or(at))
    }

    /// Returns the files of its own room that a file imports.
    fn imported(&self, module: &[String]) -> BTreeSet<Vec<String>> {
        let imports = &self.modules[module];
        let used = imports.paths.iter().filter(|(_, name, is_public)| !is_public || imports.words.contains(name));
        used.filter_map(|(path, ..)| self.resolve(module, path, 0))
            .filter(|to| to != module && to.first() == module.first())
            .collect()
    }

    /// Returns the cycles: files each of which imports all others, in some steps; as `player/graph`.
    fn circles(&self) -> Vec<Vec<String>> {
        let modules: Vec<&Vec<String>> = self.modules.keys().collect();
        let number: BTreeMap<&Vec<String>, usize> = modules.iter().copied().zip(0..).collect();
        let imported = |module: &&Vec<String>| self.imported(module).iter().map(|to| number[to]).collect();
        let edges: Vec<Vec<usize>> = modules.iter().map(imported).collect();
        let reached = |from: usize| {
            let mut seen = vec![false; modules.len()];
            let mut open = edges[from].clone();
            while let Some(module) = open.pop() {
                if !std::mem::replace(&mut seen[module], true) {
                    open.extend(&edges[module]);
                }
            }
            seen
        };
        let reached: Vec<Vec<bool>> = (0..modules.len()).map(reached).collect();
        let circle = |from: usize| -> Vec<String> {
            let both = (0..modules.len()).filter(|&to| reached[from][to] && reached[to][from]);
            both.map(|to| modules[to].join("/")).collect()
        };
        let circles: BTreeSet<Vec<String>> =
            (0..modules.len()).map(circle).filter(|circle| !circle.is_empty()).collect();
        circles.into_iter().collect()
    }

    /// Describes a cycle, with the imports in it.
    fn describe(&self, circle: &[String]) -> String {
        let lines = circle.iter().map(|file| {
            let module: Vec<String> = file.split('/').map(str::to_owned).collect();
            let imported = self.imported(&module).into_iter().map(|module| module.join("/"));
            let inside: Vec<String> = imported.filter(|file| circle.contains(file)).collect();
            format!("    {file} imports {}", inside.join(", "))
        });
        format!("{circle:?}\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Imports {
    fn of(text: &str) -> Self {
        let code = blank_comments(text);
        let end = code.find("]\nmod tests {").unwrap_or(code.len());
        let mut imports = Self { paths: Vec::new(), words: BTreeSet::new() };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut rest = &code[..end];
        let mut body = String::new();
        // Statements that import: they begin with the word `use`.
        while let Some(at) = rest.find("use ") {
            let before = rest[..at].trim_end_matches([' ', '\n']);
            let is_public = before.ends_with("pub") || before.ends_with("pub(super)") || before.ends_with("pub(crate)");
            let begins = is_public || before.is_empty() || before.ends_with([';', '}', '{', ']']);
            let length = rest[at..].find(';').unwrap_or(rest.len() - at);
            body.push_str(&rest[..at]);
            if begins {
                imports.expand(&[], &rest[at + "use ".len()..at + length], is_public);
                rest = &rest[at + length..];
            } else {
                rest = &rest[at + "use ".len()..];
            }
        }
        body.push_str(rest);
        // A declaration (`mod a;`) is not a use, nor is the visibility of a name (`pub(in crate::room)`), and
        // a method is not a name of the file.
        let declares = |line: &str| line.trim_start_matches("pub ").starts_with("mod ") && line.ends_with(';');
        let lines = body.lines().filter(|line| !declares(line.trim_start()));
        let body = lines.collect::<Vec<_>>().join("\n").replace("pub(in crate::", "pub(in ").replace("..", " ");
        let words = body.split(|c| !is_word(c) && c != '.').flat_map(|word| word.split('.').take(1));
        imports.words = words.map(str::to_owned).collect();
        // Paths in the middle of the code.
        for root in ["crate::", "super::", "self::"] {
            for (at, _) in body.match_indices(root) {
                if !body[..at].ends_with(|c| is_word(c) || c == ':' || c == '$') {
                    let path = body[at..].split(|c| !is_word(c) && c != ':').next().unwrap_or_default();
                    imports.expand(&[], path, false);
                }
            }
        }
        imports
    }

    /// Adds the imports of `a::{b, c::{d as e}}`.
    fn expand(&mut self, before: &[String], tree: &str, is_public: bool) {
        let tree = tree.trim();
        if let Some((stem, inside)) = tree.split_once('{') {
            let stem = before.iter().cloned().chain(parts(stem)).collect::<Vec<_>>();
            let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
            let mut depth = 0;
            let split = |c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                c == ',' && depth == 0
            };
            inside
                .split(split)
                .filter(|part| !part.trim().is_empty())
                .for_each(|part| self.expand(&stem, part, is_public));
            return;
        }
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
        let mut path: Vec<String> = before.iter().cloned().chain(parts(path)).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last() {
            let name = alias.map_or_else(|| last.clone(), str::to_owned);
            self.paths.push((path, name, is_public));
        }
    }
}

fn parts(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty())
}

/// Returns the rooms that a text names by `crate::...`, each with its line, outside of comments and its test
/// module.
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

/// Replaces every character of comments by a blank, so that lines keep their numbers.
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
