//! Paths in a scenario, so that they are found again.

use crate::diagnostic::{Located, Sources};
use crate::placement::PlacementSpec;
use crate::prediction::assemble::with_files;
use crate::system::Written;
use crate::workload::farm::{FarmSpec, TasksSpec};
use crate::workload::pattern::PatternSpec;
use crate::workload::{ProgramSpec, WorkloadSpec};

/// Makes paths that are relative to the text that names them relative to the working directory: what is written in a
/// report then holds for whoever runs the report again there.
pub(super) fn settle(written: &mut Written, sources: &Sources) {
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

/// The same for the files of a workload.
pub(super) fn settle_workload(workload: &mut WorkloadSpec, sources: &Sources) {
    each_path(workload, &mut |path| settle_path(path, sources));
}

/// Calls `change` for each path of a file that a workload names.
pub(super) fn each_path(workload: &mut WorkloadSpec, change: &mut dyn FnMut(&mut Located<String>)) {
    match workload {
        WorkloadSpec::Pattern(PatternSpec::File(spec)) => change(&mut spec.path),
        WorkloadSpec::Program(ProgramSpec::Trace(spec)) => change(&mut spec.path),
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
        WorkloadSpec::Pattern(_) | WorkloadSpec::Program(ProgramSpec::Program(_)) => {}
    }
}

/// A built-in file keeps its name, and so does one in memory.
pub(super) fn settle_path(path: &mut Located<String>, sources: &Sources) {
    if sources.find_attached(path).is_some() {
        return;
    }
    let resolved = sources.resolve(path);
    if resolved.exists()
        && let Some(resolved) = resolved.to_str()
    {
        *path = resolved.to_owned().into();
    }
}
