//! From tables to specifications: every mistake of the form, each where it was written.
//!
//! Reading stops at the first mistake. So each is put in words, the offending key is taken out of the tree, and the
//! rest is read again, until nothing is left to complain about.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use super::LinkSpec;
use super::job::{JobSection, JobSpec};
use super::known::{KEYS, OF_PLANS, choices, is_program};
use super::schema::Node;
use super::shared::Shared;
use crate::diagnostic::{Diagnostic, Located, Span, closest};
use crate::faults::FaultsSpec;
use crate::node::NodeSpec;
use crate::noise::{NoiseSpec, StragglerSpec};
use crate::placement::PlacementSpec;
use crate::program::collectives::CollectivesSpec;
use crate::reading::tree::{Entry, Kind, Step, Table, Tree};
use crate::reading::typed::{Mismatch, What, typed};
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::Target;
use crate::system::WorkloadSpec;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// No more mistakes than this are looked for in one section.
const MOST: usize = 50;

/// A key of the scenario after reading.
#[derive(Clone, Debug)]
pub(super) enum Section<T> {
    /// It is not there.
    Absent,
    /// It is there, but has mistakes; they have been reported.
    Broken,
    /// What it says, and where it stands.
    Is(T, Span),
}

impl<T> Section<T> {
    /// The same, as something else.
    fn map<U>(self, of: impl FnOnce(T) -> U) -> Section<U> {
        match self {
            Self::Absent => Section::Absent,
            Self::Broken => Section::Broken,
            Self::Is(value, span) => Section::Is(of(value), span),
        }
    }

    /// What it says, if it could be read.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Is(value, _) => Some(value),
            _ => None,
        }
    }

    /// Whether it is not there.
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Where it stands.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Is(_, span) => Some(*span),
            _ => None,
        }
    }
}

/// A key that is not there is as nothing.
impl<T: Serialize> Serialize for Section<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

/// The keys of a scenario, read one by one. Written, they are what tells scenarios apart, but for the seed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sections {
    #[serde(skip)]
    pub seed: Section<u64>,
    pub resolution: Section<Located<Time>>,
    pub topology: Section<TopologySpec>,
    pub link: Section<LinkSpec>,
    pub routing: Section<RoutingSpec>,
    pub placement: Section<PlacementSpec>,
    pub sharing: Section<SharingSpec>,
    pub transport: Section<TransportSpec>,
    pub node: Section<NodeSpec>,
    pub collectives: Section<CollectivesSpec>,
    pub faults: Section<FaultsSpec>,
    pub noise: Section<NoiseSpec>,
    pub stragglers: Section<Vec<Located<StragglerSpec>>>,
    #[serde(skip_serializing_if = "Section::is_absent")]
    pub estimate: Section<Located<Target>>,
    pub workload: Section<WorkloadSpec>,
    pub jobs: Section<Vec<JobSection>>,
    /// Where fabrics and programs are kept that others have as well.
    #[serde(skip)]
    pub shared: Option<Arc<Shared>>,
}

/// Reads all sections. Where the texts are `incomplete`, nothing is said to be missing; what is, is so in this `file`.
pub(super) fn sections(
    table: &Table,
    diagnostics: &mut Vec<Diagnostic>,
    incomplete: bool,
    file: Option<&str>,
) -> Sections {
    let sections = sections_alone(table, diagnostics, incomplete);
    if !incomplete {
        let work = if table.contains_key("job") { "job" } else { "workload" };
        for key in ["topology", work].into_iter().filter(|key| !table.contains_key(*key)) {
            diagnostics.push(nothing_chosen(key, file));
        }
    }
    sections
}

/// The same for what needs neither topology nor workload: a program, or a part of a scenario alone.
pub(super) fn sections_alone(table: &Table, diagnostics: &mut Vec<Diagnostic>, incomplete: bool) -> Sections {
    for (key, entry) in table.iter().filter(|(key, _)| !KEYS.contains(&key.as_str())) {
        // (It is gone by now: what it names has been laid below the rest.)
        diagnostics.push(match OF_PLANS.contains(&key.as_str()) {
            true => {
                Diagnostic::new("wrong-choice", format!("`{key}` is part of a plan, and a scenario is needed here"))
                    .at(entry.key)
                    .help("`hayase sweep` runs plans; leave the table out for a single run")
            }
            false => unknown_key(key, entry.key, &[&KEYS[..], &["preset"]].concat(), ""),
        });
    }
    let mut reader = Reader { table, diagnostics, incomplete };
    Sections {
        seed: reader.value("seed"),
        resolution: reader.value("resolution"),
        topology: reader.choice("topology"),
        link: reader.value("link"),
        routing: reader.choice("routing"),
        placement: reader.choice("placement"),
        sharing: reader.choice("sharing"),
        transport: reader.choice("transport"),
        node: reader.choice("node"),
        collectives: reader.value("collectives"),
        faults: reader.value("faults"),
        noise: reader.value("noise"),
        stragglers: reader.stragglers(),
        estimate: reader.value("estimate"),
        workload: reader.workload(),
        jobs: reader.jobs(),
        shared: None,
    }
}

/// Reports what is wrong in a `[link]` table that was put into a topology.
pub(super) fn check_link(link: &Entry, diagnostics: &mut Vec<Diagnostic>) {
    let table = Table::from([("link".to_owned(), link.clone())]);
    // The values are read, and reported, where they were put.
    let mut found = Vec::new();
    let _: Section<LinkSpec> = Reader { table: &table, diagnostics: &mut found, incomplete: true }.value("link");
    diagnostics.extend(found.into_iter().filter(|mistake| matches!(mistake.code, "unknown-key" | "wrong-type")));
}

/// The message for a scenario without topology or workload, which names its file where there is one.
pub(super) fn nothing_chosen(table: &str, file: Option<&str>) -> Diagnostic {
    let help = match table {
        "topology" => "name one with -t, or write a table like [topology.fat-tree]; `hayase topology list` shows all",
        "node" => "name a machine with -m, or write a table like [node.loggps]",
        _ => "name a pattern with -p, or write a table like [workload.all-to-all]; `hayase pattern list` shows all",
    };
    let diagnostic = Diagnostic::new("missing-key", format!("there is no {table}")).help(help);
    match file {
        Some(file) => diagnostic.of_file(file),
        None => diagnostic,
    }
}

struct Reader<'a> {
    table: &'a Table,
    diagnostics: &'a mut Vec<Diagnostic>,
    incomplete: bool,
}

impl Reader<'_> {
    /// A key that holds a plain value.
    fn value<T: DeserializeOwned>(&mut self, key: &str) -> Section<T> {
        match self.table.get(key) {
            None => Section::Absent,
            Some(entry) => self.section(key, &entry.value, entry.value.span),
        }
    }

    /// The work: a pattern, a program, or a farm.
    fn workload(&mut self) -> Section<WorkloadSpec> {
        let chosen = self.table.get("workload").and_then(|entry| entry.value.table()?.first_key_value());
        match chosen.map(|(name, _)| name.as_str()) {
            Some(name) if is_program(name) => self.choice("workload").map(WorkloadSpec::Program),
            Some("master-slave") => self.choice("workload").map(WorkloadSpec::Farm),
            _ => self.choice("workload").map(WorkloadSpec::Pattern),
        }
    }

    /// The jobs, each with its work.
    fn jobs(&mut self) -> Section<Vec<JobSection>> {
        let Some(Entry { key: at, value }) = self.table.get("job") else { return Section::Absent };
        let wrong = |what: &str, span: Span| {
            let diagnostic = Diagnostic::new("wrong-type", format!("`job` is {what}")).at(span);
            diagnostic.label("a list of tables is expected").help("write a table [[job]] for each job")
        };
        if let Some(workload) = self.table.get("workload") {
            let message = "there are jobs, and a workload beside them";
            let help = "make it a job as well: [[job]] with a table [job.workload.all-to-all], or --job";
            self.diagnostics.push(Diagnostic::new("two-choices", message).at(workload.key).help(help));
        }
        let Kind::List(items) = &value.kind else {
            self.diagnostics.push(wrong(value.what(), value.span));
            return Section::Broken;
        };
        let mut jobs = Vec::with_capacity(items.len());
        for item in items {
            let Some(table) = item.table() else {
                self.diagnostics.push(wrong("a list of something else", item.span));
                continue;
            };
            let mut own = Reader { table, diagnostics: &mut *self.diagnostics, incomplete: self.incomplete };
            let workload = own.workload();
            let placement_at = table.get("placement").map(|entry| entry.value.span);
            if let Section::Is(spec, _) = own.section::<JobSpec>("job", item, item.span) {
                jobs.push(JobSection { spec, workload, placement_at });
            }
        }
        if jobs.len() == items.len() { Section::Is(jobs, *at) } else { Section::Broken }
    }

    /// The stragglers, each by itself: so all their mistakes are found.
    fn stragglers(&mut self) -> Section<Vec<Located<StragglerSpec>>> {
        let Some(Entry { key: at, value }) = self.table.get("straggler") else { return Section::Absent };
        let Kind::List(items) = &value.kind else {
            let message = format!("`straggler` is {}", value.what());
            let diagnostic =
                Diagnostic::new("wrong-type", message).at(value.span).label("a list of tables is expected");
            self.diagnostics.push(diagnostic.help("write a table [[straggler]] for each"));
            return Section::Broken;
        };
        let read = |item: &Tree| match self.section::<StragglerSpec>("straggler", item, item.span) {
            Section::Is(spec, span) => Some(Located::new(spec, span)),
            Section::Absent | Section::Broken => None,
        };
        let stragglers: Vec<Located<StragglerSpec>> = items.iter().filter_map(read).collect();
        if stragglers.len() == items.len() { Section::Is(stragglers, *at) } else { Section::Broken }
    }

    /// A table that holds exactly one choice.
    fn choice<T: DeserializeOwned>(&mut self, key: &str) -> Section<T> {
        let Some(Entry { key: at, value }) = self.table.get(key) else { return Section::Absent };
        let names = choices(key);
        let mistake = match value.table() {
            None => Diagnostic::new("wrong-type", format!("`{key}` is {}", value.what()))
                .at(value.span)
                .label("a table is expected")
                .help(example(key, &names)),
            Some(choices) => {
                let mut unknown: Vec<Diagnostic> = choices
                    .iter()
                    .filter(|(name, _)| !names.contains(&name.as_str()))
                    .map(|(name, entry)| unknown_choice(key, name, entry.key, &names))
                    .collect();
                let mut spans: Vec<Span> = choices.values().map(|entry| entry.key).collect();
                spans.sort();
                match spans[..] {
                    [span] if unknown.is_empty() => return self.section(key, value, span),
                    [] => Diagnostic::new("missing-key", format!("no {key} is chosen"))
                        .at(*at)
                        .label("empty")
                        .help(example(key, &names)),
                    _ => match unknown.pop() {
                        Some(last) => {
                            self.diagnostics.append(&mut unknown);
                            last
                        }
                        None => {
                            let chosen: Vec<String> = choices.keys().map(|name| format!("`{name}`")).collect();
                            Diagnostic::new("two-choices", format!("more than one {key}: {}", chosen.join(" and ")))
                                .at(spans[spans.len() - 1])
                                .label("only one can be used")
                                .help("leave out the others")
                        }
                    },
                }
            }
        };
        self.diagnostics.push(mistake);
        Section::Broken
    }

    /// Reads one section, again and again until all its mistakes are found.
    fn section<T: DeserializeOwned>(&mut self, key: &str, value: &Tree, span: Span) -> Section<T> {
        let mut next = match typed::<T>(value) {
            Ok(value) => return Section::Is(value, span),
            Err(mismatch) => mismatch,
        };
        let mut tree = value.clone();
        let mut removed = BTreeSet::new();
        for _ in 0..MOST {
            let Mismatch { what, path, span: at } = next;
            let at = at.unwrap_or(span);
            if let What::MissingKey(name) = what {
                self.missing(key, &path, name, at, &tree, &removed);
                break;
            }
            if matches!(what, What::NotOneChoice) && removed.iter().any(|path_of| path_of.starts_with(&path)) {
                // What was chosen has been reported and taken out.
                break;
            }
            removed.extend(meant(&what, &path));
            self.diagnostics.push(in_words(what, key, &path, at));
            if !tree.remove(&path) {
                break;
            }
            removed.insert(path);
            match typed::<T>(&tree) {
                Ok(_) => break,
                Err(mismatch) => next = mismatch,
            }
        }
        Section::Broken
    }

    /// Reports all keys that a table lacks, unless they were taken out for a mistake of their own.
    fn missing(&mut self, key: &str, path: &[Step], name: &str, at: Span, tree: &Tree, removed: &BTreeSet<Vec<Step>>) {
        if self.incomplete {
            return;
        }
        let node = node_at(key, path);
        let mut names = node.as_ref().map(Node::required).unwrap_or_default();
        if !names.contains(&name) {
            names = vec![name];
        }
        let written = subtree(tree, path).and_then(Tree::table);
        names.retain(|name| {
            let mut full = path.to_vec();
            full.push(Step::Key((*name).to_owned()));
            !removed.contains(&full) && !written.is_some_and(|table| table.contains_key(*name))
        });
        if names.is_empty() {
            return;
        }
        let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let keys = if names.len() == 1 { "key" } else { "keys" };
        let described = names.iter().filter_map(|name| {
            let description = node.as_ref()?.key(name)?.description()?;
            Some(format!("`{name}`: {}", brief(&description)))
        });
        let described: Vec<String> = described.collect();
        let mut diagnostic = Diagnostic::new("missing-key", format!("missing {keys} {}", listed.join(", "))).at(at);
        if !described.is_empty() {
            diagnostic = diagnostic.help(described.join("; "));
        }
        self.diagnostics.push(diagnostic);
    }
}

/// The key that was meant where an unknown one stands at this path: it is not missing.
fn meant(what: &What, path: &[Step]) -> Option<Vec<Step>> {
    let What::UnknownKey { name, known } = what else { return None };
    let near = closest(name, known.iter().copied())?;
    let mut meant = path.to_vec();
    *meant.last_mut()? = Step::Key(near.to_owned());
    Some(meant)
}

/// What is wrong at this path of a section.
fn in_words(what: What, key: &str, path: &[Step], at: Span) -> Diagnostic {
    let name = path.iter().rev().find_map(step_name).unwrap_or(key);
    match what {
        What::UnknownKey { name: unknown, known } => {
            let table: Vec<&str> = path[..path.len().saturating_sub(1)].iter().filter_map(step_name).collect();
            unknown_key(&unknown, at, known, &[&[key], &table[..]].concat().join("."))
        }
        What::UnknownChoice { name: unknown, known } => {
            // Where the choice is a key itself, its table says of what it is one.
            let above = path.len().checked_sub(2).and_then(|i| step_name(&path[i]));
            let what = if name == unknown { above.unwrap_or(key) } else { name };
            unknown_choice(what, &unknown, at, known)
        }
        What::NotOneChoice => {
            let known = node_at(key, path).map(|node| node.keys()).unwrap_or_default();
            let table: Vec<&str> = std::iter::once(key).chain(path.iter().filter_map(step_name)).collect();
            let diagnostic = Diagnostic::new("two-choices", format!("`{name}` is not one choice")).at(at);
            diagnostic.label("exactly one table is expected").help(example(&table.join("."), &known))
        }
        What::MissingKey(missing) => Diagnostic::new("missing-key", format!("missing key `{missing}`")).at(at),
        What::Unfit { found, wanted } => {
            let diagnostic = Diagnostic::new("wrong-type", format!("`{name}` is {found}"))
                .at(at)
                .label(format!("{wanted} is expected"));
            match node_at(key, path).and_then(|node| node.description()) {
                Some(description) => diagnostic.help(format!("`{name}`: {}", brief(&description))),
                None => diagnostic,
            }
        }
        What::Refused(message) => {
            let (message, help) = match message.split_once("; ") {
                Some((message, help)) => (message, Some(help)),
                None => (message.as_str(), None),
            };
            let diagnostic = Diagnostic::new("wrong-value", lowercase_first(message)).at(at);
            match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        }
    }
}

pub(super) fn unknown_key(unknown: &str, at: Span, known: &[&str], table: &str) -> Diagnostic {
    let place = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
    let diagnostic = Diagnostic::new("unknown-key", format!("unknown key `{unknown}`{place}")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => diagnostic.help("there are no keys here"),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

fn unknown_choice(what: &str, unknown: &str, at: Span, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-choice", format!("unknown {what} `{unknown}`")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

fn example(key: &str, names: &[&str]) -> String {
    format!("write a table like [{key}.{}]; there are: {}", names.first().unwrap_or(&"..."), names.join(", "))
}

/// What the schema says of the value at this path of a section.
fn node_at(key: &str, path: &[Step]) -> Option<Node> {
    Node::at(std::iter::once(key).chain(path.iter().filter_map(step_name)))
}

fn step_name(step: &Step) -> Option<&str> {
    match step {
        Step::Key(name) => Some(name),
        Step::Item(_) => None,
    }
}

fn subtree<'a>(tree: &'a Tree, path: &[Step]) -> Option<&'a Tree> {
    path.iter().try_fold(tree, |tree, step| match step {
        Step::Key(key) => tree.table()?.get(key).map(|entry| &entry.value),
        Step::Item(_) => None,
    })
}

/// The beginning of a description, up to the first detail.
fn brief(description: &str) -> String {
    let end = ["; ", ": ", " (", ". "].iter().filter_map(|mark| description.find(mark)).min();
    lowercase_first(&description[..end.unwrap_or(description.len())])
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // Not an abbreviation.
        Some(first) if first.is_uppercase() && !text.chars().nth(1).is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
