//! Paths in a scenario, changed so that reports can be run again.

use super::loader::Texts;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::farm::{FarmSpec, TasksSpec};
use crate::pattern::PatternSpec;
use crate::placement::PlacementSpec;
use crate::prediction::assemble::with_files;
use crate::reading::tree::{Entry, Table, Tree};
use crate::system::Specifications;
use crate::system::{ProgramSpec, WorkloadSpec};
use crate::trace::chakra::is_prefix;

/// Makes paths relative to the working directory instead of the text that names them, so that a report can be
/// run again from that directory. Keeps the files in memory.
pub(super) fn settle(written: &mut Specifications, sources: &Sources) {
    written.files = sources.attached().to_vec();
    for path in written.topology.iter_mut().flat_map(|topology| topology.files()) {
        settle_path(path, sources);
    }
    for path in written.routing.iter_mut().flat_map(|routing| routing.files()) {
        settle_path(path, sources);
    }
    if let Some(PlacementSpec::File(spec)) = &mut written.placement {
        settle_path(&mut spec.path, sources);
    }
}

/// Returns the workload with its paths changed in the same way.
pub(super) fn settled(mut workload: WorkloadSpec, sources: &Sources) -> WorkloadSpec {
    each_path(&mut workload, &mut |path| settle_path(path, sources));
    workload
}

/// Calls `change` for each path of a file that a workload names.
pub(super) fn each_path(workload: &mut WorkloadSpec, change: &mut dyn FnMut(&mut Located<String>)) {
    match workload {
        WorkloadSpec::Pattern(PatternSpec::File(spec)) => change(&mut spec.path),
        WorkloadSpec::Program(ProgramSpec::Trace(spec)) => {
            change(&mut spec.path);
            spec.groups.iter_mut().for_each(change);
        }
        WorkloadSpec::Program(ProgramSpec::ProgramData(spec)) => {
            change(&mut spec.program);
            let mut part = |path: &Located<String>| {
                let mut path = path.clone();
                change(&mut path);
                path.into_inner()
            };
            spec.computation = with_files(&spec.computation, &mut part).into();
            if let Some(communication) = &mut spec.communication {
                *communication = with_files(communication, &mut part).into();
            }
        }
        WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)) => {
            if let TasksSpec::File(tasks) = &mut spec.tasks {
                change(&mut tasks.path);
            }
            if let Some(speeds) = &mut spec.speeds {
                change(speeds);
            }
        }
        WorkloadSpec::Pattern(_) | WorkloadSpec::Program(ProgramSpec::Program(_) | ProgramSpec::Llm(_)) => {}
    }
}

/// Makes a path relative to the working directory. Built-in files and files in memory keep their names.
pub(super) fn settle_path(path: &mut Located<String>, sources: &Sources) {
    if sources.find_attached(path).is_some() {
        return;
    }
    let resolved = sources.resolve(path);
    if (resolved.exists() || is_prefix(&resolved))
        && let Some(resolved) = resolved.to_str()
    {
        *path = resolved.to_owned().into();
    }
}

impl Texts {
    /// Takes the files of a text, `[files]` with names and contents, into memory.
    pub(super) fn take_files(&mut self, tables: &mut Table) {
        let Some(files) = tables.remove("files") else { return };
        let wrong = |what: &str, at: &Tree| {
            let mistake = Diagnostic::new("wrong-type", format!("{what} expected, not {}", at.what())).at(at.span);
            mistake.help("write [files] with a line `\"name\" = \"what is in it\"` for each file")
        };
        let Some(table) = files.value.table() else {
            return self.diagnostics.push(wrong("a table of names and texts is", &files.value));
        };
        for (name, Entry { value, .. }) in table {
            match value.text() {
                Some(text) => self.sources.attach(name.as_str(), text.as_bytes()),
                None => self.diagnostics.push(wrong("the text of a file is", value)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Loader;

    const BROUGHT: &str = "topology = 'torus-4x4'\nworkload.file = { path = 'two.csv' }\n\
                           [files]\n'two.csv' = '''\nsrc,dst,bytes\n0,1,20000\n1,0,20000\n'''\n'other.csv' = ''\n";

    #[test]
    fn files_that_a_text_brings_are_in_its_report_as_far_as_it_names_them() {
        let report = |loader: Loader| loader.load_pattern().unwrap().run(Default::default()).report;
        let brought = report(Loader::new().text("scenario", BROUGHT));
        assert_eq!(brought.head.makespan_s, 20e-6);
        let files = brought.head.scenario["files"].as_object().unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["two.csv"]);
        let text = serde_json::to_string(&brought).unwrap();
        let again = report(Loader::new().attach("report.json", text.as_bytes()).file("report.json".as_ref()));
        assert_eq!(again.head.fingerprint, brought.head.fingerprint);
        assert_eq!(again.head.scenario, brought.head.scenario);
    }

    #[test]
    fn files_are_a_table_of_texts() {
        for (wrong, wanted) in [
            ("files = 3", "a table of names and texts is expected, not a number"),
            ("files = { 'a.csv' = [1] }", "the text of a file is expected, not a list"),
        ] {
            let text = format!("{wrong}\ntopology = 'torus-4x4'\nworkload = 'ring'\n");
            let invalid = Loader::new().text("scenario", &text).load_pattern().unwrap_err();
            assert!(invalid.diagnostics.iter().any(|mistake| mistake.message == wanted), "{:?}", invalid.diagnostics);
        }
    }
}
