//! Scenarios that differ from one text in the values of some keys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::library::Shelf;
use super::load::{Needs, Understood};
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
use crate::trace::{Format, Trace};

/// Words of which the hashes of files are kept; more are forgotten and looked up again.
const MOST_WORDS: usize = 100_000;

/// Texts of which some keys are varied: read once, and laid below each variant.
pub(crate) struct Base {
    texts: Texts,
    apart: Table,
    shared: Arc<Shared>,
    files: Files,
}

/// A key of a scenario with a value that was read already, where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The key, one name a table.
    pub key: Vec<String>,
    /// Where the key stands.
    pub at: Span,
    /// Its value.
    pub value: Tree,
}

/// The texts with these settings.
pub(crate) struct Variant(Understood);

/// What tells one variant from the others: a hash over all that it is but its seed, and the seed.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    hasher: blake3::Hasher,
    /// The seed that the texts say.
    pub seed: u64,
}

impl Identity {
    /// The first half of the hash, with this seed.
    pub fn with_seed(&self, seed: u64) -> u128 {
        let hash = self.hasher.clone().update(&seed.to_le_bytes()).finalize();
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        u128::from_be_bytes(half)
    }

    /// That of something which is no scenario.
    pub fn of_text(text: &str, results: u32) -> Self {
        let mut hasher = begun(results);
        hasher.update(b"no scenario\0").update(text.as_bytes()).update(b"\0");
        Self { hasher, seed: 0 }
    }
}

/// A hash over nothing but what results depend on beside the scenario.
fn begun(results: u32) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"hayase point\0").update(&results.to_le_bytes());
    hasher
}

impl Base {
    /// The texts of a loader; what they say of these keys is no part of a scenario, and is set apart.
    pub fn new(loader: Loader, apart: &[&str]) -> Self {
        let mut texts = loader.lay();
        let apart = apart.iter().filter_map(|key| texts.table.remove_entry(*key)).collect();
        Self { texts, apart, shared: Arc::default(), files: Files::default() }
    }

    /// What the texts say of the keys that were set apart.
    pub fn apart(&self) -> &Table {
        &self.apart
    }

    /// Whether the texts say anything of a key.
    pub fn says(&self, key: &str) -> bool {
        self.texts.table.contains_key(key)
    }

    /// What was read.
    pub fn sources(&self) -> &Sources {
        &self.texts.sources
    }

    /// What is wrong with the texts as far as they were read.
    pub fn mistakes(&self) -> &[Diagnostic] {
        &self.texts.diagnostics
    }

    /// The texts with these settings; where they set the same, the later one holds, but fabrics, machines and work come
    /// before what is said of their parts.
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
        let mut understood = Understood::of(texts, Needs::All);
        understood.sections.shared = Some(Arc::clone(&self.shared));
        Variant(understood)
    }
}

impl Variant {
    /// What is wrong with it, as far as that is known without building it.
    pub fn mistakes(&self) -> (&[Diagnostic], &Sources) {
        (&self.0.notes.diagnostics, &self.0.notes.sources)
    }

    /// What tells it from others: the scenario with the defaults of its tables, the contents of the files that it
    /// names, and the version of results. Nothing where it is none.
    pub fn identity(&self, base: &Base, results: u32) -> Option<Identity> {
        let Understood { sections, notes } = &self.0;
        if !notes.is_clean() {
            return None;
        }
        let sources = &notes.sources;
        let mut sections = sections.clone();
        let files = settled(&mut sections, sources);
        complete(&mut sections);
        let mut written = serde_json::to_value(&sections).ok()?;
        drop_nulls(&mut written);
        let mut hasher = begun(results);
        hasher.update(&serde_json::to_vec(&written).ok()?);
        for (path, _) in &files {
            base.files.add(path, sources, &mut hasher);
        }
        // What else names a file, whatever key it is: a text that is the name of one.
        texts_of(&written, &mut |text| {
            if !files.iter().any(|(_, name)| name == text) {
                base.files.add(text, sources, &mut hasher);
            }
        });
        hasher.update(b"\0seed");
        Some(Identity { hasher, seed: sections.seed() })
    }

    /// Builds it.
    ///
    /// # Errors
    /// Every mistake; and a farm that is tried in several ways.
    pub fn load(self) -> Result<Scenario, Invalid> {
        let help = "give one number of workers and no `vary`: what is tried stands in [grid]";
        self.0.build()?.only(help)
    }
}

/// Leaves of the paths in all sections the names alone: what the files hold counts, and not where they are. Where that
/// is, as seen from the working directory, with the name.
fn settled(sections: &mut Sections, sources: &Sources) -> Vec<(String, String)> {
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

/// Puts in what holds where nothing is said.
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
    if sections.faults.get().is_some_and(|faults| faults.is_nothing() && !faults.says_anything()) {
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

/// What files hold, by their names.
#[derive(Default)]
struct Files(Mutex<FxHashMap<String, Option<[u8; 32]>>>);

impl Files {
    /// Adds what the file of this name holds, if there is one.
    fn add(&self, name: &str, sources: &Sources, hasher: &mut blake3::Hasher) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let hash = known.unwrap_or_else(|| {
            let path = Path::new(name);
            let hash = match sources.find_attached(name) {
                Some(content) => Some(*blake3::hash(content).as_bytes()),
                None => (!name.is_empty() && path.exists()).then(|| hash_of(path)).and_then(Result::ok),
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

/// The hash of a file, or of all files in a folder; of a list of the files of a trace that of these files, too.
fn hash_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.arrange_by_key(fs::DirEntry::file_name);
        for entry in entries.iter().filter(|entry| entry.path().is_file()) {
            hasher.update(entry.file_name().as_encoded_bytes()).update(b"\0").update(&hash_of(&entry.path())?);
        }
    } else if path.is_file() {
        io::copy(&mut fs::File::open(path)?, &mut hasher)?;
        for part in listed(path) {
            // One behind the other, as they are read; what is named in them is not followed.
            io::copy(&mut fs::File::open(part)?, &mut hasher)?;
        }
    }
    Ok(*hasher.finalize().as_bytes())
}

/// The files that a list of the files of a trace names.
fn listed(path: &Path) -> Vec<PathBuf> {
    if Format::of_name(path) != Some(Format::TimeIndependent) {
        return Vec::new();
    }
    let sources = Sources::default();
    let parts = Trace::open(&sources, &file_names::text_of(path).into()).ok().and_then(|trace| trace.parts().ok());
    let parts = parts.unwrap_or_default().into_iter().map(|part| file_names::path(&part));
    parts.filter(|part| part != path && part.is_file()).collect()
}

/// Keys of plans that are words of the command line, and texts as there.
const WORDS: [&str; 5] = ["machine", "pattern", "size", "injection", "jitter"];

impl Texts {
    /// Sets a key to a value that was read already, where it stands: a dotted key as `--set` has it, or one of the
    /// words `machine`, `pattern`, `size`, `injection` and `jitter`, which mean what the options of these names do.
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
                "size" => self.workload_option("size", "size", text, at),
                "injection" => self.workload_option("injection", "injection", text, at),
                "jitter" => self.workload_option("jitter", "message-jitter", text, at),
                "placement" | "transport" => self.chosen(word, text, at, key_at),
                _ => self.expanded(name(word), 0),
            },
            ([word], None) if WORDS.contains(&word.as_str()) => {
                let mistake = Diagnostic::new("wrong-type", format!("`{word}` is {}", value.what())).at(at);
                self.diagnostics.push(mistake.label("a text is expected, with its unit where it has one"));
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

    /// A choice by its name.
    pub(super) fn chosen(&mut self, table: &str, value: String, at: Span, key_at: Span) -> Table {
        if table == "transport" {
            self.forget_other_model(&value);
        }
        if table == "placement" {
            // That of all jobs: what each says of its own has no meaning any more.
            jobs::each(&mut self.table).for_each(|job| drop(job.remove("placement")));
        }
        let value = Tree { span: at, kind: Kind::Text(value) };
        self.expanded(Table::from([(table.to_owned(), Entry { key: key_at, value })]), 0)
    }
}
