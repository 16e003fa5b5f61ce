//! Kinds of files that the program reads, detected by name, first bytes, or the tables and columns in the
//! file.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::json;
use super::known::{KEYS, OF_PLANS};
use crate::diagnostic::{Diagnostic, Located, Sources, file_names};
use crate::farm::source;
use crate::node::calibrate;
use crate::placement;
use crate::reading::Input;
use crate::reading::csv::{self, Column, Row};
use crate::system::ALONE;
use crate::topology;
use crate::trace::Format;
use crate::trace::chakra::is_prefix;

/// Contents of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// A complete scenario, or a report of one.
    Scenario,
    /// A scenario with the keys to vary.
    Plan,
    /// A preset, which lies below scenarios and has defaults for choices made elsewhere.
    Preset,
    /// A fabric: a `[topology.*]` table, a SimGrid platform, an InfraGraph, or a networkx graph.
    Topology,
    /// A `[workload.*]` table, or a list of messages.
    Pattern,
    /// A `[node.*]` table.
    Machine,
    /// Other keys of a scenario, without fabric and work.
    Part,
    /// The tasks of a farm: `[tasks.*]`.
    Tasks,
    /// A recorded program, or a schedule.
    Trace,
    /// Program data.
    Program,
    /// Computation data.
    Computation,
    /// Communication data.
    Communication,
    /// A table of numbers that other files or options name.
    Table(&'static TableKind),
}

/// A kind of table that scenarios and options name.
#[derive(Debug)]
pub struct TableKind {
    /// Name of the kind, for people.
    pub name: &'static str,
    /// Noun for a line, singular and plural.
    pub lines: [&'static str; 2],
    columns: &'static [Column],
    /// Checks a line as far as possible without knowing the purpose of the table.
    line: fn(&mut Row<'_>),
}

impl PartialEq for TableKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TableKind {}

const ANY_NUMBER: u32 = u32::MAX;

/// All kinds except lists of messages.
static KINDS: [TableKind; 7] = [
    TableKind {
        name: "cables between groups",
        lines: ["line", "lines"],
        columns: &topology::CABLES,
        line: |row| {
            for (column, what) in [(0, "group"), (1, "switch"), (2, "group"), (3, "switch")] {
                row.number(column, what, ANY_NUMBER);
            }
            if !row.bytes(4).is_empty() {
                row.count(4, "cable");
            }
        },
    },
    TableKind {
        name: "links of a fabric",
        lines: ["link", "links"],
        columns: &topology::LINKS,
        line: |row| {
            row.bandwidth(3);
            if !row.bytes(4).is_empty() {
                row.time(4);
            }
        },
    },
    TableKind {
        name: "routes of a fabric",
        lines: ["route", "routes"],
        columns: &topology::ROUTES,
        line: |row| {
            row.number(0, "node", ANY_NUMBER);
            row.number(1, "node", ANY_NUMBER);
        },
    },
    TableKind {
        name: "a placement",
        lines: ["rank", "ranks"],
        columns: &placement::COLUMNS,
        line: |row| {
            row.number(0, "rank", ANY_NUMBER);
            row.number(1, "node", ANY_NUMBER);
        },
    },
    TableKind {
        name: "speeds of workers",
        lines: ["line", "lines"],
        columns: &[Column::optional("workers"), Column::required("factor")],
        line: |row| {
            if row.has(0) {
                row.number(0, "worker", ANY_NUMBER);
            }
            row.decimal(1);
        },
    },
    TableKind {
        name: "measurements",
        lines: ["measurement", "measurements"],
        columns: &calibrate::COLUMNS,
        line: |_| (),
    },
    TableKind { name: "tasks", lines: ["task", "tasks"], columns: &source::COLUMNS, line: |_| () },
];

impl TableKind {
    /// Reads the whole table and returns the number of its lines.
    ///
    /// # Errors
    /// All mistakes that can be found without the text that names the table.
    pub fn read(&self, path: &Located<String>, sources: &Sources) -> Result<u64, Vec<Diagnostic>> {
        let input = sources.open(path).map_err(|diagnostic| vec![diagnostic])?;
        match self.name {
            "measurements" => calibrate::read(input).map(|samples| samples.len() as u64),
            "tasks" => source::read_table(input, Default::default()).map(|tasks| tasks.len() as u64),
            _ => csv::read(input, self.columns, |row| (self.line)(row)),
        }
    }
}

/// Returns the contents of a file; `None` if it looks like no file that the program reads. A file that cannot
/// be opened is judged by its name.
pub fn contents(path: &Path, sources: &mut Sources) -> Option<Contents> {
    if path.is_dir() || is_prefix(path) {
        return Some(Contents::Trace);
    }
    let plain = if extension(path) == "zst" { path.with_extension("") } else { path.to_owned() };
    let named: Located<String> = file_names::text_of(path).into();
    match extension(&plain).as_str() {
        "prog" => Some(Contents::Program),
        "comp" => Some(Contents::Computation),
        "comm" => Some(Contents::Communication),
        "xml" | "yaml" | "yml" => Some(Contents::Topology),
        "csv" => Some(sources.open(&named).map_or(Contents::Pattern, table)),
        "toml" | "json" => {
            let text = sources.read_text(&named).map(|(_, text)| text);
            Some(text.map_or(Contents::Scenario, |text| tables(&text)))
        }
        _ => trace(&plain, &named, sources),
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Detects a trace by its first bytes, or by its name; other text files give `None`.
fn trace(plain: &Path, named: &Located<String>, sources: &Sources) -> Option<Contents> {
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let readable = sources.open(named).is_ok_and(|input| input.take(HEAD).read_to_end(&mut head).is_ok());
    let by_name = || Format::of_name(plain).filter(|_| extension(plain) != "txt");
    let format = if readable { Format::of_content(&head).or_else(by_name) } else { by_name() };
    format.map(|_| Contents::Trace)
}

/// Returns the contents of a text with tables. A text with both fabric and work, or with one of them and a
/// preset, is a scenario. So is a text that fits no kind: its mistakes are then reported as those of a
/// scenario.
fn tables(text: &str) -> Contents {
    if topology::is_graph(text) {
        return Contents::Topology;
    }
    let text = if json::is_meant(text) { json::to_toml(text).unwrap_or_default() } else { text.to_owned() };
    let table: toml::Table = text.parse().unwrap_or_default();
    let has = |key: &str| table.contains_key(key);
    let work = table.get("workload").and_then(toml::Value::as_table);
    let alone = work.is_some_and(|work| ALONE.iter().any(|name| work.contains_key(*name)));
    match (has("topology"), has("workload")) {
        _ if has("defaults") => Contents::Preset,
        _ if OF_PLANS.into_iter().any(has) => Contents::Plan,
        _ if has("preset") || has("job") => Contents::Scenario,
        (true, false) => Contents::Topology,
        (false, true) if !alone => Contents::Pattern,
        (false, false) if has("node") => Contents::Machine,
        (false, false) if has("tasks") => Contents::Tasks,
        (false, false) if table.keys().any(|key| KEYS.contains(&key.as_str())) => Contents::Part,
        _ => Contents::Scenario,
    }
}

/// Returns the kind of table whose required columns are all there, preferably without other columns; a list
/// of messages if no kind fits.
fn table(input: Input) -> Contents {
    let names = columns(input);
    let fits = |kind: &&TableKind| {
        let known = |name: &String| kind.columns.iter().any(|column| column.name() == name);
        let required = kind.columns.iter().filter(|column| column.is_required());
        required.clone().all(|column| names.iter().any(|name| name == column.name())) && names.iter().all(known)
    };
    // Allows other columns, so that a wrong column is reported as a mistake of the intended kind.
    let begins = |kind: &&TableKind| {
        let required = kind.columns.iter().filter(|column| column.is_required());
        let messages = ["src", "dst"].iter().all(|column| names.iter().any(|name| name == column));
        !messages && required.clone().all(|column| names.iter().any(|name| name == column.name()))
    };
    let kind = KINDS.iter().find(fits).or_else(|| KINDS.iter().find(begins));
    kind.map_or(Contents::Pattern, Contents::Table)
}

/// Returns the names in the first line of a table.
fn columns(input: Input) -> Vec<String> {
    const MAX_LINE_BYTES: u64 = 1 << 16;
    let lines = BufReader::new(input.take(MAX_LINE_BYTES)).lines().map_while(Result::ok);
    let mut lines = lines.map(|line| line.trim_start_matches('\u{feff}').trim().to_owned());
    let header = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    header.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect()
}
