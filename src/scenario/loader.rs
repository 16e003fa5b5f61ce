//! The loader: collects the texts of a scenario and merges them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::known::CHOICES;
use super::library::{self, Shelf};
use super::links::Links;
use super::overlay::{choice, chosen_key, empty_choice, is_path, one, overlay};
use super::presets::Defaults;
use super::with_options::WithOptions;
use super::{jobs, json, known, read, tasks};
use crate::base::Arrange;
use crate::diagnostic::{At, Diagnostic, Located, OnRead, Sources, Span, file_names};
use crate::placement::short;
use crate::program::generate::Generator;
use crate::reading::tree::{self, Entry, Kind, Table, Tree};
use crate::topology::is_graph;
use crate::trace::Format;
use crate::trace::chakra::is_prefix;

/// Largest depth of texts that name texts.
const DEPTH: u32 = 8;

/// A collection of the texts of a scenario; later ones override earlier ones.
///
/// Independent of the order of the calls, the order is: presets, scenario files, topologies, patterns, flags.
/// Within each, the later call overrides.
#[derive(Clone, Default)]
pub struct Loader {
    parts: Vec<Part>,
    attached: Vec<(Arc<str>, Arc<[u8]>)>,
    on_read: Option<OnRead>,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    File(PathBuf),
    Text { name: String, text: String },
    Over { name: String, text: String },
    Named { shelf: Shelf, flag: String, name: String },
    Choice { flag: String, table: &'static str, value: String },
    Option { flag: String, key: String, value: String, is_text: bool },
    Set { flag: String, assignment: String },
    Job { flag: String, text: String },
    Slow { flag: &'static str, text: String },
}

impl Part {
    /// Returns the position in the order in which parts override each other.
    fn rank(&self) -> u8 {
        match self {
            Self::Named { shelf: Shelf::Presets, .. } => 0,
            Self::File(_) | Self::Text { .. } => 1,
            Self::Named { shelf: Shelf::Topologies | Shelf::Machines, .. } => 2,
            Self::Named { shelf: Shelf::Patterns | Shelf::Models, .. } | Self::Job { .. } => 3,
            Self::Over { .. } | Self::Choice { .. } | Self::Option { .. } | Self::Slow { .. } => 4,
            Self::Set { .. } => 5,
        }
    }
}

/// Declares the flags whose text is a name or a value, with their spelling and their target.
macro_rules! flags {
    ($($(#[doc = $about:literal])* $method:ident = $part:ident($flag:literal, $of:expr),)*) => {
        impl Loader {
            $(
                $(#[doc = $about])*
                #[must_use]
                pub fn $method(self, value: &str) -> Self {
                    self.$part($flag, $of, value)
                }
            )*
        }
    };
}

flags! {
    /// `--preset`: a named preset, or a file like those of `presets/`; all other texts override it. It
    /// replaces the preset that a scenario file names.
    preset = named("--preset", Shelf::Presets),
    /// `-t`: a named topology, a file with a `[topology.*]` table, a node-link graph (`.json`), an InfraGraph
    /// (`.yaml`), or a SimGrid platform (`.xml`).
    topology = named("--topology", Shelf::Topologies),
    /// `-p`: a named pattern, a file with a `[workload.*]` table, or a CSV of messages.
    pattern = named("--pattern", Shelf::Patterns),
    /// `-m`: a named machine, or a file with a `[node.*]` table.
    machine = named("--machine", Shelf::Machines),
    /// `--node`: the name of a node model.
    node = choice("--node", "node"),
    /// `--placement`: `regular`, `random`, `block`, `round-robin` or a CSV file.
    placement = choice("--placement", "placement"),
    /// `--routing`: the name of a routing rule.
    routing = choice("--routing", "routing"),
    /// `--sharing`: the name of a sharing policy.
    sharing = choice("--sharing", "sharing"),
    /// `--transport`: `flow`, `packet:oq`, `contention-free` ...; `flow:equal-share` also chooses the sharing policy.
    transport = choice("--transport", "transport"),
    /// `--size`: the size of the workload's messages, for any workload.
    size = work("--size", "size"),
    /// `--size-of`: `block` or `vector`, for collectives.
    size_of = work("--size-of", "size-of"),
    /// `--injection`: the rule by which messages are sent, for any workload.
    injection = work("--injection", "injection"),
    /// `--order`: the order of an all-to-all, or of the tasks of a farm.
    order = work("--order", "order"),
    /// `--barrier-cost`: the time of each barrier between steps, for any pattern.
    barrier_cost = work("--barrier-cost", "barrier-cost"),
    /// `--jitter`: the workload's `message-jitter`, for any workload.
    jitter = work("--jitter", "message-jitter"),
    /// `--ranks`: the number of ranks of the workload, for any pattern.
    ranks = work("--ranks", "ranks"),
}

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Loader {
    /// `--ranks-per-node N`: up to this number of ranks on each node.
    #[must_use]
    pub fn ranks_per_node(self, ranks: &str) -> Self {
        self.set("--ranks-per-node", &format!("ranks-per-node={ranks}"))
    }

    /// Creates a loader without texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a scenario file (TOML, or a JSON report whose scenario is run again).
    #[must_use]
    pub fn file(self, path: &Path) -> Self {
        self.with(Part::File(path.to_owned()))
    }

    /// Adds a scenario as a text. `name` stands for it in messages, and paths in it are relative to the
    /// directory of `name`.
    #[must_use]
    pub fn text(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(Part::Text { name: name.into(), text: text.into() })
    }

    /// Adds a scenario as a text that overrides all other texts, as flags do. Its tables are merged into the
    /// existing ones.
    #[must_use]
    pub fn over(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(Part::Over { name: name.into(), text: text.into() })
    }

    /// Adds a file in memory, for any text that names a file by exactly this name: a graph, a list of
    /// messages, a placement, a trace, or a scenario for [`Loader::file`]. It takes precedence over a file on
    /// disk with that name, and may be compressed.
    #[must_use]
    pub fn attach(mut self, name: impl Into<Arc<str>>, content: impl Into<Arc<[u8]>>) -> Self {
        self.attached.push((name.into(), content.into()));
        self
    }

    /// Returns the content of the file in memory with this name.
    pub(crate) fn attached(&self, name: &str) -> Option<&[u8]> {
        self.attached.iter().rev().find(|(known, _)| **known == *name).map(|(_, content)| &**content)
    }

    /// `--faults`: cables that fail, as in `faults.links`: a fraction (`1 %`) or a name.
    #[must_use]
    pub fn faults(self, links: &str) -> Self {
        let quoted = links.replace('\\', "\\\\").replace('"', "\\\"");
        self.set("--faults", &format!("faults.links=\"{quoted}\""))
    }

    /// `--seed`: the seed of everything random.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.set("--seed", &format!("seed={seed}"))
    }

    /// `--set topology.fat-tree.p=4`: sets any key of a scenario by its dotted name. The value is TOML, or a
    /// string if it is not valid TOML (`workload.all-to-all.size=40 KB`). `flag` names it in messages.
    #[must_use]
    pub fn set(self, flag: &str, assignment: &str) -> Self {
        // A preset lies below all other texts, wherever it is named.
        if let Some(("preset", name)) = assignment.split_once('=').map(|(key, name)| (key.trim(), name.trim())) {
            return self.named(flag, Shelf::Presets, name.trim_matches(['"', '\'']));
        }
        self.with(Part::Set { flag: flag.to_owned(), assignment: assignment.to_owned() })
    }

    /// `--job NAME=PATTERN:RANKS@PLACEMENT`: adds a job to those in files. Ranks and placement are optional.
    #[must_use]
    pub fn job(self, job: &str) -> Self {
        self.with(Part::Job { flag: "--job".to_owned(), text: job.to_owned() })
    }

    /// `--noise LENGTH/PERIOD,...`: stops of the ranks' processors, instead of those in files.
    #[must_use]
    pub fn noise(self, noise: &str) -> Self {
        self.with(Part::Slow { flag: "--noise", text: noise.to_owned() })
    }

    /// `--straggler RANKS=SPEED`: adds slow ranks to those in files.
    #[must_use]
    pub fn straggler(self, straggler: &str) -> Self {
        self.with(Part::Slow { flag: "--straggler", text: straggler.to_owned() })
    }

    /// Removes settings of another choice of a table than `value`, if `is_left_out` is true for that choice. In a
    /// comparison of `flow` and `packet:iq`, `transport.packet.buffer` is for the second.
    #[must_use]
    pub(crate) fn for_choice(mut self, table: &str, value: &str, is_left_out: impl Fn(&str) -> bool) -> Self {
        let choice = value.split(':').next();
        self.parts.retain(|part| {
            let Part::Set { assignment, .. } = part else { return true };
            let mut words = assignment.split('=').next().unwrap_or_default().split('.').map(str::trim);
            let is_of_table = words.next() == Some(table);
            words.next().is_none_or(|set| !is_of_table || Some(set) == choice || !is_left_out(set))
        });
        self
    }

    /// Sets a hook that is called while a large file is read.
    #[must_use]
    pub fn on_read(mut self, hook: OnRead) -> Self {
        self.on_read = Some(hook);
        self
    }

    /// Sets a key of the workload, for any workload, to a value given as text. `flag` names it in messages.
    #[must_use]
    pub fn work(self, flag: &str, key: &str, value: &str) -> Self {
        self.option(flag, key, value, key != "ranks")
    }

    /// Sets a key of the workload, for any workload, to a TOML value: a number, a truth value or a list.
    #[must_use]
    pub fn work_value(self, flag: &str, key: &str, value: &str) -> Self {
        self.option(flag, key, value, false)
    }

    fn option(self, flag: &str, key: &str, value: &str, is_text: bool) -> Self {
        self.with(Part::Option { flag: flag.to_owned(), key: key.to_owned(), value: value.to_owned(), is_text })
    }

    fn named(self, flag: &str, shelf: Shelf, name: &str) -> Self {
        self.with(Part::Named { shelf, flag: flag.to_owned(), name: name.to_owned() })
    }

    fn choice(self, flag: &str, table: &'static str, value: &str) -> Self {
        self.with(Part::Choice { flag: flag.to_owned(), table, value: value.to_owned() })
    }

    pub(super) fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Reads all texts and merges them.
    pub(super) fn gather(self) -> Texts {
        let mut texts = self.merge_texts();
        texts.settle();
        texts
    }

    /// Reads all texts and merges them, without filling in the defaults of presets and machines.
    pub(super) fn merge_texts(self) -> Texts {
        let mut texts = Texts::default();
        texts.sources.built_in(library::FILES);
        self.on_read.into_iter().for_each(|hook| texts.sources.on_read(hook));
        self.attached.into_iter().for_each(|(name, content)| texts.sources.attach(name, content));
        let mut parts = self.parts;
        parts.arrange_by_key(Part::rank);
        texts.preset_is_given = parts.iter().any(|part| matches!(part, Part::Named { shelf: Shelf::Presets, .. }));
        for part in parts {
            let layer = texts.layer(part).unwrap_or_default();
            texts.add(layer);
        }
        texts
    }
}

/// All texts, read and merged.
#[derive(Clone, Default)]
pub(super) struct Texts {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
    pub table: Table,
    /// Scenario file; the last one of several.
    pub file: Option<String>,
    /// Properties of links.
    pub links: Links,
    /// Defaults of presets for choices made elsewhere.
    presets: Defaults,
    /// Tables of the text being read that a name stands for. They are complete, so they replace earlier
    /// tables of their kind.
    pub whole: Vec<&'static str>,
    /// Choices made by flags, by table, each with the flag and its value.
    pub flags: FxHashMap<&'static str, (String, String)>,
    /// Set if a preset was asked for, so that presets named by files are ignored.
    preset_is_given: bool,
    /// Tables of the patterns of the library that were named, by name.
    known: FxHashMap<String, Table>,
    /// Table `[gpu]` of the machine, for training steps.
    pub gpu: Option<Entry>,
    /// Names of the jobs added by flags.
    given_jobs: Vec<String>,
    /// Places of TOML syntax errors.
    pub broken: Vec<Span>,
    /// Set if a text is missing or could not be read, so that no key can be reported as missing.
    pub incomplete: bool,
}

impl Texts {
    /// Merges a later text into the tables.
    pub(super) fn add(&mut self, mut layer: Table) {
        tasks::expand(&mut layer);
        for key in self.whole.drain(..).filter(|&key| layer.contains_key(key)) {
            self.table.remove(key);
        }
        overlay(&mut self.table, layer);
    }

    /// Fills in the defaults of presets and machines, when all texts are merged.
    pub(super) fn settle(&mut self) {
        jobs::each(&mut self.table).for_each(tasks::expand);
        self.complete_training();
        self.presets.fill_in(&mut self.table);
        self.links.settle(&mut self.table);
        for link in &self.links.of_topologies {
            read::check_link(link, &mut self.diagnostics);
        }
    }

    fn layer(&mut self, part: Part) -> Option<Table> {
        Some(match part {
            Part::File(path) => {
                let name = file_names::text_of(&path);
                let table = self.file(&name, None, 0);
                self.file = Some(name);
                return table;
            }
            Part::Text { name, text } | Part::Over { name, text } => self.text(name, text, 0),
            Part::Named { shelf, flag, name } => {
                let at = self.flag(flag, &name);
                self.whole.extend(shelf.table());
                return self.named(shelf, &name, at, 0);
            }
            Part::Choice { flag, table, value } => {
                let at = self.flag(flag.clone(), &value);
                let layer = self.chosen(table, value.clone(), at, at);
                if let Some(choice) = chosen_key(&layer, table) {
                    self.flags.insert(table, (choice.to_owned(), format!("{flag} {value}")));
                }
                layer
            }
            Part::Option { flag, key, value, is_text } => {
                let at = self.flag(flag.clone(), &value);
                let value = match is_text {
                    true => Tree { span: at, kind: Kind::Text(value) },
                    false => tree::value_or_text(&value, at.start),
                };
                self.workload_option(&flag, &key, value)
            }
            Part::Set { flag, assignment } => self.assignment(flag, &assignment),
            Part::Job { flag, text } => return self.job(flag, &text),
            Part::Slow { flag, text } => return self.slow(flag, &text),
        })
    }

    /// Reports a text that cannot be read.
    pub(super) fn lost<T>(&mut self, diagnostic: Diagnostic, at: Option<Span>) -> Option<T> {
        self.incomplete = true;
        self.diagnostics.push(match at {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        });
        None
    }

    /// Keeps the value of a flag as a text of its own.
    pub(super) fn flag(&mut self, flag: String, value: &str) -> Span {
        let base = self.sources.add(flag, value);
        Span::new(base, base + value.len())
    }

    /// Returns the tables of a file; `at` is the place that names it.
    fn file(&mut self, name: &str, at: Option<Span>, depth: u32) -> Option<Table> {
        let located = match at {
            Some(span) => Located::new(name.to_owned(), span),
            None => name.to_owned().into(),
        };
        let (base, text) = match self.sources.read_text(&located) {
            Ok(read) => read,
            Err(diagnostic) => return self.lost(diagnostic, None),
        };
        // A file with this extension is read as JSON, so that its mistakes are reported as those of JSON.
        let called_json = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if !called_json && !json::is_meant(&text) {
            return Some(self.parsed(&text, base, depth));
        }
        match json::to_toml(&text) {
            // In angle brackets, because this is not the text of the file. Paths in it are relative to the working
            // directory.
            Ok(converted) => {
                Some(self.text(format!("<{}>", self.sources.resolve(&located).display()), converted, depth))
            }
            Err(error) => {
                let diagnostic = error.located(base, &self.sources);
                self.lost(diagnostic, None)
            }
        }
    }

    fn text(&mut self, name: String, text: String, depth: u32) -> Table {
        let text: Arc<str> = text.into();
        let base = self.sources.add(name, Arc::clone(&text));
        self.parsed(&text, base, depth)
    }

    /// Returns the tables of a text that `sources` holds.
    fn parsed(&mut self, text: &str, base: usize, depth: u32) -> Table {
        let (mut table, mistakes) = tree::parse(text, base);
        for mistake in mistakes {
            if let At::Span(span) = mistake.at {
                self.broken.push(span);
                self.incomplete = true;
            }
            self.diagnostics.push(mistake);
        }
        self.take_files(&mut table);
        self.expanded(table, depth)
    }

    /// Returns a table with its short names expanded: `topology = "torus-4x4"` to the text with that name,
    /// `sharing = "max-min"` to `[sharing.max-min]`.
    pub(super) fn expanded(&mut self, mut table: Table, depth: u32) -> Table {
        tasks::expand(&mut table);
        let mut below = self.below(&mut table, depth);
        let whole = std::mem::take(&mut self.whole);
        for job in jobs::each(&mut table) {
            *job = self.expanded(std::mem::take(job), depth);
        }
        self.whole = whole;
        for key in CHOICES {
            let Some((at, name)) =
                table.get(key).and_then(|entry| Some((entry.value.span, entry.value.text()?.to_owned())))
            else {
                continue;
            };
            let shelf = match key {
                "topology" => Some(Shelf::Topologies),
                "workload" => Some(Shelf::Patterns),
                _ => None,
            };
            match shelf {
                Some(shelf) => {
                    table.remove(key);
                    self.whole.push(key);
                    if let Some(named) = self.named(shelf, &name, at, depth + 1) {
                        below.remove(key);
                        overlay(&mut below, named);
                    }
                }
                None => {
                    let (name, detail) = match name.split_once(':') {
                        Some((name, detail))
                            if key == "transport" || (key == "routing" && ["tables", "paths"].contains(&name)) =>
                        {
                            (name.to_owned(), Some(detail.to_owned()))
                        }
                        _ => (name, None),
                    };
                    let value = match (key, detail) {
                        // `flow:max-min` chooses in two tables; `packet:oq` (below) sets the model.
                        ("transport", Some(policy)) if name == "flow" => {
                            below.insert("sharing".to_owned(), Entry { key: at, value: empty_choice(policy, at) });
                            empty_choice(name, at)
                        }
                        ("transport", Some(model)) => choice(&name, "model", &model, at),
                        ("routing", Some(file)) => choice(&name, "file", &file, at),
                        ("placement", _) => match short(&name) {
                            Some([rule, key, value]) => choice(rule, key, value, at),
                            None if is_path(&name) => choice("file", "path", &name, at),
                            None => empty_choice(name, at),
                        },
                        _ => empty_choice(name, at),
                    };
                    if let Some(entry) = table.get_mut(key) {
                        entry.value = value;
                    }
                }
            }
        }
        overlay(&mut below, table);
        below
    }

    /// Returns the tables of the preset that this table names, if it names one.
    fn below(&mut self, table: &mut Table, depth: u32) -> Table {
        let Some(Entry { value, .. }) = table.remove("preset") else { return Table::new() };
        let Some(name) = value.text() else {
            let diagnostic = Diagnostic::new("wrong-type", format!("`preset` is {}", value.what())).at(value.span);
            self.diagnostics.push(diagnostic.label("the name of a preset is expected"));
            return Table::new();
        };
        if self.preset_is_given {
            return Table::new();
        }
        self.named(Shelf::Presets, name, value.span, depth + 1).unwrap_or_default()
    }

    /// Returns the tables of a name of the library or a path.
    pub(super) fn named(&mut self, shelf: Shelf, name: &str, at: Span, depth: u32) -> Option<Table> {
        if depth > DEPTH {
            let message = format!("`{name}` is named by a text that it names itself");
            return self.lost(Diagnostic::new("endless-naming", message), Some(at));
        }
        if let Some(known) = self.known.get(name).filter(|_| shelf == Shelf::Patterns) {
            // Many jobs may use one pattern; its mistakes are shown where it is named.
            let mut table = known.clone();
            tree::move_to(&mut table, at);
            return Some(table);
        }
        let key = shelf.table();
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        let path = self.sources.resolve(&Located::new(name.to_owned(), at));
        let attached = self.sources.find_attached(name).is_some();
        let is_file = attached || path.is_file();
        let single = |kind: &str, file: &str| Some(one(key?.to_owned(), at, choice(kind, file, name, at)));
        match (shelf, extension) {
            (Shelf::Topologies, Some("json")) if self.is_graph(name, at) => return single("graph", "file"),
            (Shelf::Topologies, Some("csv")) if is_file => {
                let diagnostic = Diagnostic::new("wrong-file", format!("`{name}` is a table and not a fabric"));
                let help = format!("links are taken as `custom:links={name},nodes=N`, with the number of nodes");
                return self.lost(diagnostic.help(help), Some(at));
            }
            (Shelf::Topologies, Some("yaml" | "yml")) => return single("infragraph", "file"),
            (Shelf::Topologies, Some("xml")) => return single("simgrid", "platform"),
            (Shelf::Patterns, _) if shelf.get(name).is_none() && Generator::is_meant(name) => {
                return single("program", "rule");
            }
            (Shelf::Patterns, _)
                if shelf.get(name).is_none()
                    && (Format::of_name(&path).is_some() || !attached && (path.is_dir() || is_prefix(&path))) =>
            {
                return single("trace", "path");
            }
            (Shelf::Patterns, Some("csv" | "zst")) => return single("file", "path"),
            _ => {}
        }
        if let Some(named) = WithOptions::of(shelf, name).filter(|_| !is_file) {
            return self.named_with_options(shelf, &named, at, depth);
        }
        let outer = std::mem::take(&mut self.presets);
        // A preset may lie on another preset, even if it was itself asked for by a flag.
        let is_given = self.preset_is_given;
        self.preset_is_given &= key.is_some();
        let read = match shelf.get(name) {
            Some(named) => {
                let base = self.sources.add(named.source_name(), named.text);
                self.sources.set_named_at(at);
                Some(self.parsed(named.text, base, depth))
            }
            None if is_path(name) || is_file => self.file(name, Some(at), depth),
            None => shelf.find(name).err().and_then(|mut unknown| {
                if let Some(rule) = Generator::meant(name).filter(|_| shelf == Shelf::Patterns && name.contains(':')) {
                    unknown = unknown.help(format!("did you mean the program by rule `{rule}`?"));
                }
                self.lost(unknown, Some(at))
            }),
        };
        self.preset_is_given = is_given;
        let mut inner = std::mem::replace(&mut self.presets, outer);
        let mut table = read?;
        inner.retain(|key| shelf.sets_key(key));
        self.presets.merge(inner);
        let Some(key) = key else {
            self.presets.take(&mut table, &mut self.diagnostics);
            return Some(table);
        };
        if !table.contains_key(key) && !self.incomplete {
            let message = format!("`{name}` has no [{key}.*] table");
            let diagnostic = Diagnostic::new("wrong-file", message).label(format!("used as a {}", shelf.word()));
            return self.lost(diagnostic, Some(at));
        }
        if shelf == Shelf::Machines {
            self.gpu = table.remove("gpu").or(self.gpu.take());
        }
        table.retain(|other, _| shelf.sets_key(other));
        let mut kinds = table.get(key).and_then(|entry| entry.value.table()).into_iter().flat_map(Table::keys);
        if shelf == Shelf::Patterns && shelf.get(name).is_some() && !kinds.any(|kind| known::is_program(kind)) {
            self.known.insert(name.to_owned(), table.clone());
        }
        match shelf {
            Shelf::Topologies => self.links.topology(name, &mut table),
            Shelf::Machines => self.links.machine(name),
            Shelf::Patterns | Shelf::Presets | Shelf::Models => {}
        }
        Some(table)
    }

    /// Returns the tables of a name of the library, or of a table, with keys of that table.
    fn named_with_options(&mut self, shelf: Shelf, name: &WithOptions<'_>, at: Span, depth: u32) -> Option<Table> {
        let key = shelf.table()?;
        let options = match name.table(at) {
            Ok(options) => options,
            Err(mistakes) => {
                self.incomplete = true;
                self.diagnostics.extend(mistakes);
                return None;
            }
        };
        let mut table = match shelf.get(name.base) {
            Some(_) => self.named(shelf, name.base, at, depth + 1)?,
            None => {
                let mut table = one(key.to_owned(), at, empty_choice(name.base.to_owned(), at));
                if shelf == Shelf::Topologies {
                    self.links.topology(name.base, &mut table);
                }
                table
            }
        };
        let chosen = table.get_mut(key).and_then(|entry| entry.value.table_mut()?.values_mut().next());
        if let Some(chosen) = chosen.and_then(|entry| entry.value.table_mut()) {
            chosen.extend(options);
        }
        Some(table)
    }

    /// Returns true if the file with this name is a networkx graph, and not a report. An unreadable file is
    /// reported later.
    fn is_graph(&self, name: &str, at: Span) -> bool {
        self.sources.clone().read_text(&Located::new(name.to_owned(), at)).is_ok_and(|(_, text)| is_graph(&text))
    }

    /// Removes the options of the earlier packet model if `packet:MODEL` chooses another one, except the size
    /// of packets.
    pub(super) fn forget_other_model(&mut self, value: &str) {
        let packet = self.table.get_mut("transport").and_then(|entry| entry.value.table_mut()?.get_mut("packet"));
        let (Some(model), Some(options)) =
            (value.strip_prefix("packet:"), packet.and_then(|entry| entry.value.table_mut()))
        else {
            return;
        };
        let written = options.get("model").and_then(|entry| entry.value.text());
        if written.unwrap_or("oq") != model {
            options.retain(|key, _| key == "packet-size");
        }
    }

    /// Returns a table that sets an option of the current workload, whichever it is.
    pub(super) fn workload_option(&mut self, flag: &str, key: &str, value: Tree) -> Table {
        let at = value.span;
        if self.table.contains_key("job") {
            if !jobs::set_option(&mut self.table, key, &value) {
                let diagnostic = Diagnostic::new("unknown-key", format!("the workload of no job has `{key}`")).at(at);
                self.diagnostics.push(diagnostic.help(format!("leave out {flag}")));
            }
            return Table::new();
        }
        let Some(workload) = self.table.get("workload").and_then(|entry| entry.value.table()?.first_key_value()) else {
            return Table::new();
        };
        let variant = workload.0.clone();
        if known::has_key("workload", &variant, key) == Some(false) {
            let message = format!("the workload `{variant}` has no `{key}`");
            let keys = known::keys("workload", &variant).unwrap_or_default().join(", ");
            let help = format!("leave out {flag}; `{variant}` is {} and has {keys}", known::kind_of_work(&variant));
            self.diagnostics.push(Diagnostic::new("unknown-key", message).at(at).help(help));
            return Table::new();
        }
        let options = Tree { span: at, kind: Kind::Table(one(key.to_owned(), at, value)) };
        one("workload".to_owned(), at, Tree { span: at, kind: Kind::Table(one(variant, at, options)) })
    }

    /// Reads a job from `NAME=PATTERN:RANKS@PLACEMENT`.
    fn job(&mut self, flag: String, text: &str) -> Option<Table> {
        let at = self.flag(flag.clone(), text);
        let Some(typed) = jobs::parse_option(text, at) else {
            let diagnostic = Diagnostic::new("syntax", format!("`{text}` is not a job")).at(at);
            let help = format!("write {flag} NAME=PATTERN:RANKS@PLACEMENT, as in a=all-to-all-pairwise:16@random");
            return self.lost(diagnostic.help(help), None);
        };
        let (name, span) = typed.name.clone();
        if self.given_jobs.contains(&name) {
            let diagnostic = Diagnostic::new("duplicate-name", format!("there are two jobs `{name}`"));
            return self.lost(diagnostic.label("the second one"), Some(span));
        }
        self.given_jobs.push(name);
        let layer = one("job".to_owned(), at, typed.list(at));
        Some(self.expanded(layer, 0))
    }
}
