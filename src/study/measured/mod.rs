//! Measured collectives beside predictions: rows of tables, their scenarios, and the errors of models.
//!
//! Rows come from files or the library ([`MeasuredSweep::read`]). Each becomes a scenario of its machine: fabric,
//! placement, pattern and size. Equal scenarios run once. The report has the rows in their order, and for each
//! prediction an interval from the errors of other rows.

mod algorithms;
mod benchmarks;
mod known;
mod machine;
mod rows;
mod score;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::runs::{Control, Runs};
use crate::diagnostic::{Diagnostic, Invalid, Sources, closest, file_names};
use crate::reading::Input;
use crate::report::{MeasuredReport, MeasuredRow, Status};
use crate::scenario::{Loader, library};
use crate::simulation::RunOptions;

pub use benchmarks::BenchmarkFacts;
pub use known::known_of;
pub use machine::MeasuredSpec;

use machine::{Machine, Place, Placements};
use rows::{ReadRow, ReadRows};

/// Number of messages above which a row is not run.
const MOST_MESSAGES: u64 = 2_100_000;
/// Number of messages under way at once above which `blocking` is not run.
const MOST_UNDER_WAY: u64 = 100_000;
/// Largest text of a file \[B\].
const LARGEST: u64 = 256 << 20;
/// End of the name of a model without the cost of messages at their ends.
const IDEAL: &str = "+ideal";

/// Request: tables of measured collectives, and the models that predict them.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSweep {
    /// Files, names of tables of the library, or `all`.
    pub tables: Vec<String>,
    /// Folder of placements, searched before those of the library.
    pub placements: Option<PathBuf>,
    /// Machine files with a table `[measured]`, searched before those of the library.
    pub machines: Vec<String>,
    /// Models: sharing policies, `max-min+ideal` without the ends of messages (default: max-min).
    pub models: Vec<String>,
    /// Facts about outputs of benchmarks.
    pub facts: BenchmarkFacts,
    /// Number of messages above which a row is not run (default: 2,100,000).
    pub most_messages: Option<u64>,
    /// Settings of all runs.
    pub base: Loader,
}

/// Rows that were read, with their scenarios.
#[derive(Debug)]
pub struct Measured {
    title: String,
    models: Vec<String>,
    columns: Vec<&'static str>,
    rows: Vec<ReadRow>,
    machines: Vec<Machine>,
    /// Machine of each row; `None` if no machine has its system.
    machine_of: Vec<Option<usize>>,
    /// Number of the job of each row and model, or the reason why there is none.
    job_of: Vec<Vec<Result<usize, String>>>,
    jobs: Vec<Job>,
}

/// One run.
#[derive(Debug)]
struct Job {
    loader: Loader,
    /// Number of messages, roughly.
    messages: u64,
}

impl MeasuredSweep {
    /// Reads the tables, machines and placements.
    ///
    /// # Errors
    /// All mistakes in them, unknown names, and tables without a row that can be predicted.
    pub fn read(&self) -> Result<Measured, Invalid> {
        let models = if self.models.is_empty() { vec!["max-min".to_owned()] } else { self.models.clone() };
        let mut diagnostics: Vec<Diagnostic> = models.iter().filter_map(|model| unknown_model(model)).collect();
        let mut read = ReadRows::default();
        for table in &self.tables {
            match self.table(table) {
                Ok(part) => {
                    read.rows.extend(part.rows);
                    read.columns.extend(part.columns);
                }
                Err(mistakes) => diagnostics.extend(mistakes),
            }
        }
        if !diagnostics.is_empty() {
            return Err(Invalid { diagnostics, ..Invalid::default() });
        }
        let machines = machine::machines(&self.machines)?;
        let known = |row: &MeasuredRow| machines.iter().position(|machine| machine.spec.system.contains(&row.system));
        let machine_of: Vec<Option<usize>> = read.rows.iter().map(|read| known(&read.row)).collect();
        let has = |column: &&str| read.columns.contains(column);
        let columns = rows::COLUMNS.iter().map(crate::reading::csv::Column::name).filter(has).collect();
        let title = self.tables.join(", ");
        let (job_of, jobs, rows) = (Vec::new(), Vec::new(), read.rows);
        let mut measured = Measured { title, models, columns, rows, machines, machine_of, job_of, jobs };
        self.plan(&mut measured)?;
        Ok(measured)
    }

    /// Reads the tables that a word names.
    fn table(&self, table: &str) -> Result<ReadRows, Vec<Diagnostic>> {
        let built_in = || library::measured().iter().filter(|entry| table == "all" || entry.name == table);
        let system = self.facts.system.as_deref();
        if built_in().next().is_some() {
            let mut all = ReadRows::default();
            for entry in built_in() {
                let input = Input::from_bytes(entry.source_name(), entry.text.as_bytes().to_vec());
                let part = rows::read(input, None)?;
                all.rows.extend(part.rows);
                all.columns.extend(part.columns);
            }
            return Ok(all);
        }
        let mut input = Sources::default().open(&table.to_owned().into()).map_err(|mistake| {
            let names: Vec<&str> = library::measured().iter().map(|entry| entry.name).chain(["all"]).collect();
            let near = closest(table, names.iter().copied()).map(|near| format!("did you mean `{near}`? "));
            let help = format!("{}built in are: {}", near.unwrap_or_default(), names.join(", "));
            vec![if mistake.code == "missing-file" { mistake.help(help) } else { mistake }]
        })?;
        let file: Arc<str> = file_names::text_of(table.as_ref()).into();
        let bytes = input.read_whole(LARGEST).map_err(|mistake| vec![mistake])?;
        if let Some(rows) = benchmarks::read(&file, &String::from_utf8_lossy(&bytes), &self.facts) {
            let columns = ["system", "operation", "algorithm", "nodes", "ranks", "size_B", "time_s", "source"];
            return Ok(ReadRows { rows: rows?, columns: columns.into() });
        }
        rows::read(Input::from_bytes(file.to_string(), bytes), system)
    }

    /// Makes the runs of all rows.
    fn plan(&self, measured: &mut Measured) -> Result<(), Invalid> {
        let placements = Placements { folder: self.placements.as_deref() };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut places: BTreeMap<(usize, String), Option<Place>> = BTreeMap::new();
        let mut diagnostics = Vec::new();
        for (read, machine) in measured.rows.iter().zip(&measured.machine_of) {
            let row = &read.row;
            let place = match machine.map(|at| (at, &measured.machines[at])) {
                Some((at, machine)) if !machine.spec.node_number.is_empty() && row.ranks.is_multiple_of(row.nodes) => {
                    let key = (at, row.placement.clone());
                    if !places.contains_key(&key) {
                        let nodes = placements.nodes(&row.placement, machine).unwrap_or_else(|mistakes| {
                            diagnostics.extend(mistakes);
                            None
                        });
                        places.insert(key.clone(), nodes);
                    }
                    let place = places.get(&key).and_then(Option::as_ref);
                    let mistake = place.and_then(|place| place.mistake(row));
                    diagnostics.extend(mistake.filter(|mistake| !diagnostics.contains(mistake)));
                    place
                }
                _ => None,
            };
            let mut jobs = Vec::new();
            for model in &measured.models {
                let planned = machine
                    .ok_or_else(|| format!("no machine has the system `{}`", row.system))
                    .and_then(|at| self.job(read, &measured.machines[at], place, model));
                jobs.push(planned.map(|(key, job)| {
                    *known.entry(key).or_insert_with(|| {
                        measured.jobs.push(job);
                        measured.jobs.len() - 1
                    })
                }));
            }
            measured.job_of.push(jobs);
        }
        if diagnostics.is_empty() && measured.jobs.is_empty() {
            let mut said = std::collections::BTreeSet::new();
            for (read, jobs) in measured.rows.iter().zip(&measured.job_of) {
                let reasons = jobs.iter().filter_map(|job| job.as_ref().err());
                diagnostics
                    .extend(reasons.filter(|reason| said.insert((*reason).clone())).map(|why| read.mistake(why)));
            }
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(Invalid { diagnostics, ..Invalid::default() }) }
    }

    /// Returns the run of a row by a model, with a text that identifies it.
    fn job(
        &self,
        read: &ReadRow,
        machine: &Machine,
        place: Option<&Place>,
        model: &str,
    ) -> Result<(String, Job), String> {
        let row = &read.row;
        let vector = (row.size_bytes, read.element);
        let (work, messages) = algorithms::workload(&row.operation, &row.algorithm, row.ranks, vector)?;
        if !row.ranks.is_multiple_of(row.nodes) {
            return Err("nodes have different numbers of ranks".to_owned());
        }
        if place.is_some_and(|place| place.is_shared(row)) {
            return Err("the placement has several ranks on a node, which are not those of the row".to_owned());
        }
        if machine.spec.topology.contains("{shape}") && row.shape.is_empty() {
            return Err("the shape is unknown".to_owned());
        }
        if !machine.spec.node_number.is_empty() && place.is_none() {
            return Err("the placement is unknown".to_owned());
        }
        if machine.spec.replaced.contains(&machine::series(row)) {
            return Err("the library took another algorithm".to_owned());
        }
        if messages > self.most_messages.unwrap_or(MOST_MESSAGES) {
            return Err("too many messages".to_owned());
        }
        let sharing = model.strip_suffix(IDEAL).unwrap_or(model);
        if sharing == "blocking" && work.contains("\"all\"") && messages > MOST_UNDER_WAY {
            return Err("blocking: too many messages under way".to_owned());
        }
        let topology = machine.topology(row);
        let per_node = row.ranks.div_ceil(row.nodes);
        let key = format!("{model} {} {topology} {per_node} {} {work}", machine.name, row.placement);
        let mut loader = self.base.clone().topology(&topology).text("<row>", work).sharing(sharing);
        if sharing == model {
            loader = loader.machine(&machine.name);
        }
        if per_node > 1 {
            loader = loader.ranks_per_node(&per_node.to_string());
        }
        if let Some(place) = place {
            let name = format!("{}.csv", row.placement);
            loader = loader.attach(&*name, place.as_csv()).placement(&name);
        }
        Ok((key, Job { loader, messages }))
    }
}

/// Returns the mistake of a model that does not exist.
fn unknown_model(model: &str) -> Option<Diagnostic> {
    let policies = ["max-min", "blocking", "equal-share", "redistribute"];
    if policies.contains(&model.strip_suffix(IDEAL).unwrap_or(model)) {
        return None;
    }
    let message = format!("`{model}` is no model of measured collectives");
    let help =
        format!("there are: {}; with {IDEAL} at the end, messages cost nothing at their ends", policies.join(", "));
    Some(Diagnostic::new("wrong-choice", message).help(help))
}

impl Measured {
    /// Runs all scenarios, on as many threads as rayon has. If `control` ends them, predictions are missing.
    pub fn run(&self, control: Control<'_>) -> MeasuredReport {
        // The longest runs first, so that no core is left alone with one at the end.
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_key(|&job| std::cmp::Reverse(self.jobs[job].messages));
        let runs = Runs::new(control, order.iter().map(|&job| self.jobs[job].messages).collect());
        let found = runs.each(&order, |&job, run| match self.jobs[job].loader.clone().load() {
            Ok(scenario) => {
                let outcome = scenario.run(RunOptions { watch: Some(run), ..RunOptions::default() });
                let summary = outcome.summary();
                match summary.status {
                    Status::Complete if summary.makespan_s > 0.0 => Some(Ok(summary.makespan_s)),
                    Status::Interrupted => None,
                    _ => Some(Err("the run does not end".to_owned())),
                }
            }
            Err(invalid) => {
                Some(Err(invalid.diagnostics.first().map_or_else(String::new, |first| first.message.clone())))
            }
        });
        let mut results = vec![None; self.jobs.len()];
        for (job, result) in order.into_iter().zip(found) {
            results[job] = result;
        }
        let rows = self.rows.iter().zip(&self.machine_of).zip(&self.job_of).map(|((read, machine), jobs)| {
            let mut row = read.row.clone();
            for (model, job) in jobs.iter().enumerate() {
                let result = match job {
                    Ok(job) => results[*job].clone().unwrap_or_else(|| Err("interrupted".to_owned())),
                    Err(reason) => Err(reason.clone()),
                };
                if let (0, Err(reason)) = (model, &result) {
                    row.reason.clone_from(reason);
                }
                row.predicted_s.push(result.ok());
            }
            row.ratio = row.ratio_of(0);
            if let Some(machine) = machine.map(|at| &self.machines[at]).filter(|_| row.ratio.is_some()) {
                row.reason = score::reason(&row, machine).unwrap_or_default();
                row.scored = row.reason.is_empty();
            }
            row
        });
        score::report(&self.title, &self.models, &self.columns, rows.collect(), runs.missing())
    }
}

#[cfg(test)]
mod tests;
