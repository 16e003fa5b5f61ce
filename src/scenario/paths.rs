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
    match workload {
        WorkloadSpec::Pattern(PatternSpec::File(spec)) => settle_path(&mut spec.path, sources),
        WorkloadSpec::Program(ProgramSpec::Trace(spec)) => settle_path(&mut spec.path, sources),
        WorkloadSpec::Program(ProgramSpec::ProgramData(spec)) => {
            settle_path(&mut spec.program, sources);
            spec.computation = with_files(&spec.computation, |path| settled(path, sources)).into();
            if let Some(communication) = &mut spec.communication {
                *communication = with_files(communication, |path| settled(path, sources)).into();
            }
        }
        WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)) => {
            if let TasksSpec::File(tasks) = &mut spec.tasks {
                settle_path(&mut tasks.path, sources);
            }
            if let Some(speeds) = &mut spec.speeds {
                settle_path(speeds, sources);
            }
        }
        WorkloadSpec::Pattern(_) | WorkloadSpec::Program(ProgramSpec::Program(_)) => {}
    }
}

/// The same of a path that is part of a text.
fn settled(path: &Located<String>, sources: &Sources) -> String {
    let mut path = path.clone();
    settle_path(&mut path, sources);
    path.into_inner()
}

/// A built-in file keeps its name.
fn settle_path(path: &mut Located<String>, sources: &Sources) {
    let resolved = sources.resolve(path);
    if resolved.exists()
        && let Some(resolved) = resolved.to_str()
    {
        *path = resolved.to_owned().into();
    }
}
