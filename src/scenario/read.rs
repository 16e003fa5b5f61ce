//! From tables to specifications: every mistake of form is reported at its place.

use std::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::LinkSpec;
use super::job::{JobSection, JobSpec};
use super::known::{KEYS, OF_PLANS, choices, is_program};
use super::schema::Node;
use super::section::Section;
use super::shared::Shared;
use crate::diagnostic::{Diagnostic, Located, Span};
use crate::faults::FaultsSpec;
use crate::node::NodeSpec;
use crate::noise::{NoiseSpec, StragglerSpec};
use crate::placement::PlacementSpec;
use crate::program::collectives::CollectivesSpec;
use crate::reading::tree::{Entry, Kind, Table, Tree};
use crate::reading::whole::{TableReader, ValueDescription, example, unknown_choice, unknown_key};
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::WorkloadSpec;
use crate::system::{Symmetry, Target};
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// The keys of a scenario, read one by one. Serialized, they identify a scenario except for its seed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sections {
    #[serde(skip)]
    pub seed: Section<u64>,
    /// Largest number of ranks on a node.
    pub ranks_per_node: Section<Located<NonZeroU32>>,
    pub resolution: Section<Located<Time>>,
    #[serde(skip)]
    pub symmetry: Section<Symmetry>,
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
    #[serde(skip_serializing_if = "Section::is_absent")]
    pub optimum: Section<Located<Target>>,
    pub workload: Section<WorkloadSpec>,
    pub jobs: Section<Vec<JobSection>>,
    /// Fabrics and programs that are shared with other scenarios.
    #[serde(skip)]
    pub shared: Option<Arc<Shared>>,
}

/// Reads all sections. If the texts are `incomplete`, no key is reported as missing; otherwise missing keys
/// are reported for `file`.
pub(super) fn sections(
    table: &Table,
    diagnostics: &mut Vec<Diagnostic>,
    incomplete: bool,
    file: Option<&str>,
) -> Sections {
    let sections = sections_without_requirements(table, diagnostics, incomplete);
    if !incomplete {
        let work = if table.contains_key("job") { "job" } else { "workload" };
        for key in ["topology", work].into_iter().filter(|key| !table.contains_key(*key)) {
            diagnostics.push(missing_choice(key, file));
        }
    }
    sections
}

/// Reads all sections of texts that need neither topology nor workload: for a program, or for a part of a
/// scenario.
pub(super) fn sections_without_requirements(
    table: &Table,
    diagnostics: &mut Vec<Diagnostic>,
    incomplete: bool,
) -> Sections {
    for (key, entry) in table.iter().filter(|(key, _)| !KEYS.contains(&key.as_str())) {
        // (A `preset` is no longer there: its text has already been merged below the rest.)
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
        ranks_per_node: reader.value("ranks-per-node"),
        resolution: reader.value("resolution"),
        symmetry: reader.value("symmetry"),
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
        optimum: reader.value("optimum"),
        workload: reader.workload(),
        jobs: reader.jobs(),
        shared: None,
    }
}

/// Reports the mistakes in a `[link]` table of a topology.
pub(super) fn check_link(link: &Entry, diagnostics: &mut Vec<Diagnostic>) {
    let table = Table::from([("link".to_owned(), link.clone())]);
    // The values are read, and their mistakes reported, in the topology.
    let mut found = Vec::new();
    let _: Section<LinkSpec> = Reader { table: &table, diagnostics: &mut found, incomplete: true }.value("link");
    diagnostics.extend(found.into_iter().filter(|mistake| matches!(mistake.code, "unknown-key" | "wrong-type")));
}

/// Returns the diagnostic for a scenario without topology or workload, with the name of its file if there is
/// one.
pub(super) fn missing_choice(table: &str, file: Option<&str>) -> Diagnostic {
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
    /// Reads a key with a plain value.
    fn value<T: DeserializeOwned>(&mut self, key: &str) -> Section<T> {
        match self.table.get(key) {
            None => Section::Absent,
            Some(entry) => self.section(key, &entry.value, entry.value.span),
        }
    }

    /// Reads the work: a pattern, a program, or a farm.
    fn workload(&mut self) -> Section<WorkloadSpec> {
        let chosen = self.table.get("workload").and_then(|entry| entry.value.table()?.first_key_value());
        match chosen.map(|(name, _)| name.as_str()) {
            Some(name) if is_program(name) => self.choice("workload").map(WorkloadSpec::Program),
            Some("master-slave") => self.choice("workload").map(WorkloadSpec::Farm),
            _ => self.choice("workload").map(WorkloadSpec::Pattern),
        }
    }

    /// Reads the jobs, each with its work.
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

    /// Reads the stragglers one by one, so that all their mistakes are found.
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

    /// Reads a table that contains exactly one choice.
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

    /// Reads one section, and finds all its mistakes.
    fn section<T: DeserializeOwned>(&mut self, key: &str, value: &Tree, span: Span) -> Section<T> {
        let whole = TableReader { key, span, is_incomplete: self.incomplete, about: &about };
        match whole.read(value) {
            Ok(value) => Section::Is(value, span),
            Err(mistakes) => {
                self.diagnostics.extend(mistakes);
                Section::Broken
            }
        }
    }
}

/// Returns the schema's description of the value at the end of these keys.
fn about(path: &[&str]) -> Option<ValueDescription> {
    let node = Node::at(path.iter().copied())?;
    Some(ValueDescription { description: node.description(), required: node.required(), keys: node.keys() })
}
