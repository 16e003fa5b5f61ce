//! Tables of training steps: the keys of a named model stand below them, and the GPU is that of the machine.

use super::library::Shelf;
use super::loader::Texts;
use super::{jobs, overlay};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::reading::tree::{self, Entry, Table, merge_tables};

impl Texts {
    /// Completes the tables of training steps.
    pub(super) fn complete_training(&mut self) {
        let mut scenario = std::mem::take(&mut self.table);
        self.complete_workload(&mut scenario);
        jobs::each(&mut scenario).for_each(|job| self.complete_workload(job));
        self.table = scenario;
    }

    fn complete_workload(&mut self, scenario: &mut Table) {
        let workload = scenario.get_mut("workload").and_then(|entry| entry.value.table_mut());
        let Some(llm) = workload.and_then(|table| table.get_mut("llm")?.value.table_mut()) else { return };
        if let Err(mistakes) = with_model(llm, &mut self.sources) {
            self.incomplete = true;
            self.diagnostics.extend(mistakes);
        }
        if let Some(mut gpu) = self.gpu.clone() {
            if let Some(own) = llm.remove("gpu") {
                gpu.value.merge(own.value);
            }
            llm.insert("gpu".to_owned(), gpu);
        }
    }
}

/// Lays the keys of the model that a table names below its own, with hyphens for underscores. A number of GPUs
/// replaces the model's degree of data parallelism, and the other way round.
///
/// # Errors
/// An unknown name, and mistakes of the model's text.
pub(crate) fn with_model(table: &mut Table, sources: &mut Sources) -> Result<(), Vec<Diagnostic>> {
    let hyphens =
        |table: Table| -> Table { table.into_iter().map(|(key, entry)| (key.replace('_', "-"), entry)).collect() };
    *table = hyphens(std::mem::take(table));
    let named = |entry: &Entry| Some(Located::new(entry.value.text()?.to_owned(), entry.value.span));
    let Some(name) = table.get("model").and_then(named) else { return Ok(()) };
    let (base, text) = Shelf::Models.text(&name, sources).map_err(|mistake| vec![mistake])?;
    let (below, mistakes) = tree::parse(&text, base);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut below = hyphens(below);
    for (one, other) in [("gpus", "dp"), ("dp", "gpus")] {
        if table.contains_key(one) && !table.contains_key(other) {
            below.remove(other);
        }
    }
    if overlay::is_path(&name) {
        // A report stands without the file.
        table.remove("model");
    }
    merge_tables(&mut below, std::mem::take(table));
    *table = below;
    Ok(())
}
