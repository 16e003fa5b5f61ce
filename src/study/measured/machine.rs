//! Machines of measured collectives: the table `[measured]` of a machine file, and placements by names of places.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::diagnostic::{Diagnostic, Invalid, Sources, Span, file_names};
use crate::node::NodeSpec;
use crate::reading::Input;
use crate::reading::csv::{self, Column};
use crate::reading::tree::{self, Table};
use crate::reading::whole::{TableReader, unknown_key};
use crate::report::MeasuredRow;
use crate::scenario::library::{self, LibraryEntry, Shelf};

/// `[measured]` of a machine file: fabric and placement of collectives that were measured on the machine.
#[spec]
pub struct MeasuredSpec {
    /// Names of the machine in tables of measured collectives; ["Fugaku"].
    pub system: Vec<String>,
    /// Fabric, with {nodes} for the number of nodes of a row and {shape} for its shape as a list;
    /// "torus:dims=[{shape}],bandwidth=6.8 GB/s".
    pub topology: String,
    /// Numbers of nodes from placements: the sum of each column times its factor (default: ranks in the order of
    /// nodes); { cell = 180, leaf = 10, slot = 1 }.
    #[serde(default)]
    pub node_number: BTreeMap<String, u32>,
    /// Set if the machine includes the cost to combine operands. Otherwise rows with reductions are predicted and
    /// not scored.
    #[serde(default)]
    pub combine: bool,
    /// Rows from which the machine was calibrated, which are not scored: operation, algorithm and nodes;
    /// "allgather ring on 32".
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Rows whose library took another algorithm than the one it names, which are not predicted; "bcast basic-linear
    /// on 512".
    #[serde(default)]
    pub replaced: Vec<String>,
    /// Beginnings of notes of rows that the machine does not describe, which are not scored; "GPU buffers".
    #[serde(default)]
    pub other_notes: Vec<String>,
    /// Shapes whose folding onto the machine is not known; rows with them are not scored; "64x64".
    #[serde(default)]
    pub unknown_shapes: Vec<String>,
}

/// Columns of placements that a machine may number nodes by, the largest place first.
const PLACES: [&str; 9] = ["cell", "group", "rack", "chassis", "blade", "leaf", "switch", "slot", "node"];

/// Machine with a table `[measured]`.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// Name in the library, or path.
    pub name: String,
    pub spec: MeasuredSpec,
}

/// Returns the machines in these files, then those of the library with a table `[measured]`.
///
/// # Errors
/// Files that cannot be read or have no such table.
pub(super) fn machines(files: &[String]) -> Result<Vec<Machine>, Invalid> {
    let mut sources = Sources::default();
    let (mut machines, mut diagnostics) = (Vec::new(), Vec::new());
    for name in files {
        let table = Shelf::Machines.text(&name.clone().into(), &mut sources).map_err(|mistake| vec![mistake]).and_then(
            |(base, text)| {
                let missing = || vec![Diagnostic::new("missing-key", format!("`{name}` has no [measured] table"))];
                section(&text, base)?.ok_or_else(missing)
            },
        );
        match table {
            Ok(spec) => machines.push(Machine { name: name.clone(), spec }),
            Err(mistakes) => diagnostics.extend(mistakes),
        }
    }
    for entry in Shelf::Machines.all().iter().filter(|entry| entry.text.contains("[measured]")) {
        let base = sources.add(entry.source_name(), entry.text);
        match section(entry.text, base) {
            Ok(spec) => machines.extend(spec.map(|spec| Machine { name: entry.name.to_owned(), spec })),
            Err(mistakes) => diagnostics.extend(mistakes),
        }
    }
    if diagnostics.is_empty() { Ok(machines) } else { Err(Invalid { diagnostics, sources }) }
}

/// Returns name and family of the library's measured machine whose messages cost this at their ends.
pub(super) fn with_node(node: &NodeSpec) -> Option<(&'static str, String)> {
    if *node == NodeSpec::default() {
        return None;
    }
    let mut measured = Shelf::Machines.all().iter().filter(|entry| entry.text.contains("[measured]"));
    let own = measured.find(|entry| {
        let own = table::<NodeSpec>(entry.text, 0, "node");
        own.is_ok_and(|own| own.is_some_and(|(own, _)| own == *node))
    })?;
    let topology = section(own.text, 0).ok()??.topology;
    Some((own.name, topology.split(':').next().unwrap_or_default().to_owned()))
}

/// Reads a table of a text, with its place.
fn table<T: DeserializeOwned>(text: &str, base: usize, key: &str) -> Result<Option<(T, Span)>, Vec<Diagnostic>> {
    let (tables, mistakes): (Table, _) = tree::parse(text, base);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let Some(entry) = tables.get(key) else { return Ok(None) };
    let span = entry.value.span;
    let read = TableReader { key, span, is_incomplete: false, about: &|_| None }.read(&entry.value)?;
    Ok(Some((read, span)))
}

/// Reads the table `[measured]` of a text.
fn section(text: &str, base: usize) -> Result<Option<MeasuredSpec>, Vec<Diagnostic>> {
    let Some((spec, span)) = table::<MeasuredSpec>(text, base, "measured")? else { return Ok(None) };
    let unknown = spec.node_number.keys().find(|name| !PLACES.contains(&name.as_str()));
    match unknown {
        Some(name) => Err(vec![unknown_key(name, span, &PLACES, "measured.node-number")]),
        None => Ok(Some(spec)),
    }
}

impl Machine {
    /// Returns the fabric of a row.
    pub fn topology(&self, row: &MeasuredRow) -> String {
        let shape = row.shape.replace('x', ",");
        self.spec.topology.replace("{nodes}", &row.nodes.to_string()).replace("{shape}", &shape)
    }
}

/// Returns operation, algorithm and nodes of a row in words: `allgather ring on 32`.
pub(super) fn series(row: &MeasuredRow) -> String {
    format!("{} {} on {}", row.operation, row.algorithm, row.nodes)
}

/// Reader of placements: files `NAME.csv` of a folder, and those of the library.
pub(super) struct Placements<'a> {
    /// Folder that is searched first.
    pub folder: Option<&'a Path>,
}

impl Placements<'_> {
    /// Returns a placement on a machine; `None` if no file has this name.
    ///
    /// A file has the columns of the machine's `node-number`, else `node`. Lines are in the order of ranks, or have
    /// a column `rank`. A cell may be a list of places: `0 2-5`.
    ///
    /// # Errors
    /// Mistakes of the file, and a rank that it names twice or not at all.
    pub fn nodes(&self, name: &str, machine: &Machine) -> Result<Option<Place>, Vec<Diagnostic>> {
        let path = self.folder.map(|folder| folder.join(format!("{name}.csv"))).filter(|path| path.is_file());
        let input = match path {
            Some(path) => Sources::default().open(&file_names::text_of(&path).into()).map_err(|wrong| vec![wrong])?,
            None => match library::placements().iter().find(|entry| entry.name == name) {
                Some(LibraryEntry { text, .. }) => Input::from_bytes(format!("<{name}>"), text.as_bytes().to_vec()),
                None => return Ok(None),
            },
        };
        read(input, &machine.spec.node_number).map(Some)
    }
}

/// Largest number of a node, and of places on one line.
const MOST: u64 = 1 << 24;

/// Nodes of ranks.
#[derive(Clone, Debug)]
pub(super) struct Place {
    file: String,
    nodes: Vec<u32>,
    /// Largest number of ranks on a node.
    per_node: u32,
    /// Mistake of a node with several ranks, if there is one.
    twice: Option<Diagnostic>,
}

impl Place {
    /// Returns the mistake if the placement does not give each rank of a row a node, or puts more ranks on one than
    /// the row has. A placement with several ranks on a node may be of other ranks, which is none.
    pub fn mistake(&self, row: &MeasuredRow) -> Option<Diagnostic> {
        let (here, ranks) = (self.nodes.len(), row.ranks);
        match &self.twice {
            Some(_) if self.is_shared(row) => None,
            Some(twice) if self.per_node > row.ranks.div_ceil(row.nodes) => Some(twice.clone()),
            _ if here == ranks as usize => None,
            _ => {
                let message = format!("`{}` places {here} ranks, and a row that names it has {ranks}", self.file);
                Some(Diagnostic::new("wrong-placement", message).help("a placement has a line or place for each rank"))
            }
        }
    }

    /// Returns true if nodes have several ranks, which are not those of a row.
    pub fn is_shared(&self, row: &MeasuredRow) -> bool {
        self.twice.is_some() && self.nodes.len() != row.ranks as usize
    }

    /// Returns the placement as a file `rank,node`.
    pub fn as_csv(&self) -> Vec<u8> {
        let lines = (0..).zip(&self.nodes).map(|(rank, node): (u32, _)| format!("{rank},{node}\n"));
        format!("rank,node\n{}", lines.collect::<String>()).into_bytes()
    }
}

/// Reads the nodes of ranks.
fn read(input: Input, factors: &BTreeMap<String, u32>) -> Result<Place, Vec<Diagnostic>> {
    let usual = BTreeMap::from([("node".to_owned(), 1)]);
    let factors = if factors.is_empty() { &usual } else { factors };
    let places: Vec<(&'static str, u64)> =
        PLACES.iter().filter_map(|name| Some((*name, u64::from(*factors.get(*name)?)))).collect();
    let mut columns = vec![Column::optional("rank")];
    columns.extend(places.iter().map(|(name, _)| Column::required(name)));
    let file = input.name().to_owned();
    let mut placed: Vec<(u32, u32)> = Vec::new();
    let (mut ranks, mut nodes, mut twice, mut per_node) = (BTreeMap::new(), BTreeMap::new(), None, 1);
    csv::read(input, &columns, |row| {
        let mut here: Vec<u64> = vec![0];
        for (at, (_, factor)) in (1..).zip(&places) {
            let Some(list) = list(row, at) else { return };
            here = here.iter().flat_map(|sum| list.iter().map(move |number| sum + number * factor)).collect();
        }
        for node in here {
            let next = placed.len() as u32;
            let rank = if row.has(0) { row.number(0, "rank", MOST as u32) } else { Some(next) };
            let (Some(rank), Ok(node)) = (rank, u32::try_from(node)) else { return };
            let line = row.line();
            if let Some(earlier) = ranks.insert(rank, line) {
                let mistake = Diagnostic::new("duplicate-rank", format!("rank {rank} has a node already"));
                return row.mistake(0, mistake.label(format!("line {earlier} places it")));
            }
            let (first, here) = nodes.entry(node).or_insert((line, 0));
            *here += 1;
            per_node = per_node.max(*here);
            if *here > 1 && twice.is_none() {
                let message = format!("{file}:{line}: node {node} has a rank already, by line {first}");
                twice = Some(Diagnostic::new("duplicate-node", message));
            }
            placed.push((rank, node));
        }
    })?;
    placed.sort_unstable();
    let missing = (0..).zip(&placed).find(|(at, (rank, _))| at != rank);
    if let Some((rank, _)) = missing {
        return Err(vec![Diagnostic::new("missing-rank", format!("`{file}` gives rank {rank} no node"))]);
    }
    Ok(Place { file, nodes: placed.into_iter().map(|(_, node)| node).collect(), per_node, twice })
}

/// Returns the numbers of a cell: `3` or a list `0 2-5`.
fn list(row: &mut csv::Row<'_>, column: usize) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for (part, word) in row.words(column) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last && last < MOST => numbers.extend(first..=last),
            _ => {
                let mistake = Diagnostic::new("bad-number", format!("\"{word}\" is no number of a place"));
                row.mistake_in(column, part, mistake.label("a number, or a list like 0 2-5"));
                return None;
            }
        }
    }
    if numbers.is_empty() {
        row.mistake(column, Diagnostic::new("empty-cell", "the place is empty"));
    }
    Some(numbers).filter(|numbers| !numbers.is_empty())
}
