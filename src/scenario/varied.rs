//! Scenarios that differ from one text in the values of some keys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::library::Shelf;
use super::load::{Needs, ReadScenario};
use super::loader::Texts;
use super::overlay::one;
use super::read::Sections;
use super::section::Section;
use super::shared::Shared;
use super::{Loader, Scenario, jobs, paths};
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources, Span, file_names};
use crate::node::NodeSpec;
use crate::placement::{PlacementSpec, RegularSpec};
use crate::program::collectives::CollectivesSpec;
use crate::reading::nulls::drop_nulls;
use crate::reading::tree::{Entry, Kind, Table, Tree};
use crate::system::WorkloadSpec;
use crate::trace::chakra::is_prefix;
use crate::trace::{Format, Trace};

/// Number of names whose file hashes are kept; further ones are looked up again.
const MOST_WORDS: usize = 100_000;

/// Texts of which some keys are varied: read once, and merged below each variant.
pub(crate) struct Base {
    texts: Texts,
    apart: Table,
    shared: Arc<Shared>,
    files: Files,
}

/// A key of a scenario with a value that was read already, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Names of the tables and the key.
    pub key: Vec<String>,
    /// Place of the key.
    pub at: Span,
    /// Its value.
    pub value: Tree,
}

/// Texts with some settings, read into sections.
pub(crate) struct Variant(ReadScenario);

/// Identity of a variant: a hash of everything except its seed, and the seed.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    hasher: blake3::Hasher,
    /// Seed in the texts.
    pub seed: u64,
}

impl Identity {
    /// Returns the first half of the hash, with this seed.
    pub fn with_seed(&self, seed: u64) -> u128 {
        let hash = self.hasher.clone().update(&seed.to_le_bytes()).finalize();
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        u128::from_be_bytes(half)
    }

    /// Returns the identity of something that is not a scenario.
    pub fn of_text(text: &str, results: u32) -> Self {
        let mut hasher = start_hash(results);
        hasher.update(b"no scenario\0").update(text.as_bytes()).update(b"\0");
        Self { hasher, seed: 0 }
    }
}

/// Starts a hash with the version of results, the only thing besides the scenario on which results depend.
fn start_hash(results: u32) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"hayase point\0").update(&results.to_le_bytes());
    hasher
}

impl Base {
    /// Reads the texts of a loader. The keys `apart` are not part of a scenario and are kept separately.
    pub fn new(loader: Loader, apart: &[&str]) -> Self {
        let mut texts = loader.merge_texts();
        let apart = apart.iter().filter_map(|key| texts.table.remove_entry(*key)).collect();
        Self { texts, apart, shared: Arc::default(), files: Files::default() }
    }

    /// Returns the keys that are kept separately.
    pub fn apart(&self) -> &Table {
        &self.apart
    }

    /// Returns true if the texts set a key.
    pub fn sets(&self, key: &str) -> bool {
        self.texts.table.contains_key(key)
    }

    /// Returns the texts.
    pub fn sources(&self) -> &Sources {
        &self.texts.sources
    }

    /// Returns the mistakes found so far in the texts.
    pub fn mistakes(&self) -> &[Diagnostic] {
        &self.texts.diagnostics
    }

    /// Returns the texts with these settings. If settings set the same key, the later one counts, but
    /// fabrics, machines and work are set before their parts.
    pub fn variant(&self, mut settings: Vec<Setting>) -> Variant {
        settings.arrange_by_key(|setting| match setting.key.as_slice() {
            [word] if ["topology", "machine", "node"].contains(&word.as_str()) => 0,
            [word] if ["pattern", "workload"].contains(&word.as_str()) => 1,
            [word] if ["transport", "sharing", "routing", "placement"].contains(&word.as_str()) => 2,
            _ => 3,
        });
        let mut texts = self.texts.clone();
        for setting in &settings {
            texts.set(&setting.key, &setting.value, setting.at);
        }
        texts.settle();
        let mut understood = ReadScenario::of(texts, Needs::All);
        understood.sections.shared = Some(Arc::clone(&self.shared));
        Variant(understood)
    }
}

impl Variant {
    /// Returns the mistakes that can be found without building the variant.
    pub fn mistakes(&self) -> (&[Diagnostic], &Sources) {
        (&self.0.notes.diagnostics, &self.0.notes.sources)
    }

    /// Returns the identity of the variant, from the scenario with the defaults of its tables, the contents
    /// of the files that it names, and the version of results. Returns `None` if it is not a scenario.
    pub fn identity(&self, base: &Base, results: u32) -> Option<Identity> {
        let ReadScenario { sections, notes } = &self.0;
        if !notes.is_clean() {
            return None;
        }
        let sources = &notes.sources;
        let mut sections = sections.clone();
        let files = reduce_paths(&mut sections, sources);
        complete(&mut sections);
        let mut written = serde_json::to_value(&sections).ok()?;
        drop_nulls(&mut written);
        let mut hasher = start_hash(results);
        hasher.update(&serde_json::to_vec(&written).ok()?);
        for (path, _) in &files {
            base.files.add(path, sources, &mut hasher);
        }
        // Other keys name files, too: any text that is the name of a file counts.
        texts_of(&written, &mut |text| {
            if !files.iter().any(|(_, name)| name == text) {
                base.files.add(text, sources, &mut hasher);
            }
        });
        hasher.update(b"\0seed");
        Some(Identity { hasher, seed: sections.seed() })
    }

    /// Builds the variant.
    ///
    /// # Errors
    /// Every mistake; and a farm that is tried in several ways.
    pub fn load(self) -> Result<Scenario, Invalid> {
        let help = "give one number of workers and no `vary`: keys to vary are in [grid]";
        self.0.build()?.only(help)
    }
}

/// Reduces the paths in all sections to file names, because the contents of files count and not their
/// locations. Returns the names with the paths relative to the working directory.
fn reduce_paths(sections: &mut Sections, sources: &Sources) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut settle = |path: &mut Located<String>| {
        paths::settle_path(path, sources);
        let name = Path::new(&***path).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let whole = std::mem::replace(path, name.clone().into()).into_inner();
        files.push((whole, name));
    };
    if let Section::Is(topology, _) = &mut sections.topology {
        topology.files().into_iter().for_each(&mut settle);
    }
    if let Section::Is(routing, _) = &mut sections.routing {
        routing.files().for_each(&mut settle);
    }
    let mut place = |placement: &mut PlacementSpec| {
        if let PlacementSpec::File(spec) = placement {
            settle(&mut spec.path);
        }
    };
    if let Section::Is(placement, _) = &mut sections.placement {
        place(placement);
    }
    if let Section::Is(jobs, _) = &mut sections.jobs {
        jobs.iter_mut().filter_map(|job| job.spec.placement.as_mut()).for_each(&mut place);
        for job in jobs {
            if let Section::Is(workload, _) = &mut job.workload {
                paths::each_path(workload, &mut settle);
            }
        }
    }
    if let Section::Is(workload, _) = &mut sections.workload {
        paths::each_path(workload, &mut settle);
    }
    files
}

/// Fills in the defaults of absent sections.
fn complete(sections: &mut Sections) {
    fn put<T>(section: &mut Section<T>, value: T) {
        if matches!(section, Section::Absent) {
            *section = Section::Is(value, Span::new(0, 0));
        }
    }
    if matches!(sections.topology, Section::Is(..)) {
        put(&mut sections.sharing, Default::default());
        put(&mut sections.transport, Default::default());
        if matches!(sections.jobs, Section::Absent) {
            put(&mut sections.placement, PlacementSpec::Regular(RegularSpec {}));
        }
    }
    let is_pattern = matches!(sections.workload, Section::Is(WorkloadSpec::Pattern(_), _));
    put(&mut sections.node, NodeSpec::default());
    if !is_pattern {
        put(&mut sections.collectives, CollectivesSpec::default());
    }
    if sections.faults.get().is_some_and(|faults| faults.is_nothing() && !faults.is_given()) {
        sections.faults = Section::Absent;
    }
}

/// Calls `with` for every text in a value.
fn texts_of(value: &Value, with: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => with(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, with)),
        Value::Object(map) => map.values().for_each(|value| texts_of(value, with)),
        _ => {}
    }
}

/// Hashes of files, by name.
#[derive(Default)]
struct Files(Mutex<FxHashMap<String, Option<[u8; 32]>>>);

impl Files {
    /// Adds the content of the file with this name to a hash, if there is such a file.
    fn add(&self, name: &str, sources: &Sources, hasher: &mut blake3::Hasher) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let hash = known.unwrap_or_else(|| {
            let path = Path::new(name);
            let hash = match sources.find_attached(name) {
                Some(content) => Some(*blake3::hash(content).as_bytes()),
                None => {
                    (!name.is_empty() && (path.exists() || is_prefix(path))).then(|| hash_of(path)).and_then(Result::ok)
                }
            };
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_WORDS {
                known.clear();
            }
            known.insert(name.to_owned(), hash);
            hash
        });
        if let Some(hash) = hash {
            hasher.update(&hash);
        }
    }
}

/// Returns the hash of a file, of all files in a folder, or of a list of trace files together with these
/// files.
fn hash_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.arrange_by_key(fs::DirEntry::file_name);
        for entry in entries.iter().filter(|entry| entry.path().is_file()) {
            hasher.update(entry.file_name().as_encoded_bytes()).update(b"\0").update(&hash_in_folder(&entry.path())?);
        }
    } else if Format::of_name(path) == Some(Format::Chakra) || is_prefix(path) {
        for part in listed(path) {
            io::copy(&mut fs::File::open(part)?, &mut hasher)?;
        }
    } else if path.is_file() {
        io::copy(&mut fs::File::open(path)?, &mut hasher)?;
        for part in listed(path).into_iter().filter(|part| part != path) {
            // Hashes the listed files one after another; files that they name are not followed.
            io::copy(&mut fs::File::open(part)?, &mut hasher)?;
        }
    }
    Ok(*hasher.finalize().as_bytes())
}

/// Returns the hash of a file of a folder of which all files are hashed. Other files of the same trace are among them.
fn hash_in_folder(path: &Path) -> io::Result<[u8; 32]> {
    match Format::of_name(path) {
        Some(Format::Chakra | Format::Dumpi | Format::GoalBinary) => {
            let mut hasher = blake3::Hasher::new();
            io::copy(&mut fs::File::open(path)?, &mut hasher)?;
            Ok(*hasher.finalize().as_bytes())
        }
        _ => hash_of(path),
    }
}

/// Returns the files that a list of trace files names, or those of the ranks of an execution trace.
fn listed(path: &Path) -> Vec<PathBuf> {
    let has_parts = matches!(
        Format::of_name(path),
        // The file of a rank of a DUMPI trace has the name of a binary GOAL schedule.
        Some(Format::TimeIndependent | Format::Chakra | Format::Dumpi | Format::GoalBinary | Format::Otf2)
    );
    if !has_parts && !is_prefix(path) {
        return Vec::new();
    }
    let sources = Sources::default();
    let parts = Trace::open(&sources, &file_names::text_of(path).into()).ok().and_then(|trace| trace.parts().ok());
    let parts = parts.unwrap_or_default().into_iter().map(|part| file_names::path(&part));
    parts.filter(|part| part.is_file()).collect()
}

/// Keys of plans that are words of the command line, with the same texts.
const WORDS: [&str; 5] = ["machine", "pattern", "size", "injection", "jitter"];

impl Texts {
    /// Sets a key to a value that was read already, with its place. The key is a dotted key as in `--set`, or
    /// one of the words `machine`, `pattern`, `size`, `injection` and `jitter`, which mean the same as the
    /// options with these names.
    pub(super) fn set(&mut self, key: &[String], value: &Tree, key_at: Span) {
        let (at, text) = (value.span, value.text().map(str::to_owned));
        let name = |key: &str| Table::from([(key.to_owned(), Entry { key: key_at, value: value.clone() })]);
        let layer = match (key, text) {
            ([word], Some(text)) => match word.as_str() {
                "machine" => {
                    self.whole.push("node");
                    self.named(Shelf::Machines, &text, at, 0).unwrap_or_default()
                }
                "pattern" => self.expanded(name("workload"), 0),
                "size" => self.workload_option("size", "size", value.clone()),
                "injection" => self.workload_option("injection", "injection", value.clone()),
                "jitter" => self.workload_option("jitter", "message-jitter", value.clone()),
                "placement" | "transport" => self.chosen(word, text, at, key_at),
                _ => self.expanded(name(word), 0),
            },
            ([word], None) if WORDS.contains(&word.as_str()) => {
                let mistake = Diagnostic::new("wrong-type", format!("`{word}` is {}", value.what())).at(at);
                self.diagnostics.push(mistake.label("expected a text such as \"1 MB\""));
                Table::new()
            }
            ([outer @ .., last], _) => {
                let nested = outer.iter().rev().fold(name(last), |inner, key| {
                    one(key.clone(), key_at, Tree { span: key_at, kind: Kind::Table(inner) })
                });
                match jobs::unknown(&self.table, &nested) {
                    Some(unknown) => {
                        self.diagnostics.push(unknown.at(key_at));
                        Table::new()
                    }
                    None => self.expanded(nested, 0),
                }
            }
            ([], _) => Table::new(),
        };
        self.add(layer);
    }

    /// Returns the table for a choice by its name.
    pub(super) fn chosen(&mut self, table: &str, value: String, at: Span, key_at: Span) -> Table {
        if table == "transport" {
            self.forget_other_model(&value);
        }
        if table == "placement" {
            // A placement of all jobs replaces the placement of each.
            jobs::each(&mut self.table).for_each(|job| drop(job.remove("placement")));
        }
        let value = Tree { span: at, kind: Kind::Text(value) };
        self.expanded(Table::from([(table.to_owned(), Entry { key: key_at, value })]), 0)
    }
}
