//! Starts the two processes, and reads their output.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::Plan;
use super::protocol::{Message, Times};

/// File names of libraries of Open MPI and of MPICH and its relatives.
const OPEN_MPI: [&str; 3] = ["libmpi.so.40", "libmpi.so.80", "libmpi.so"];
const MPICH: [&str; 4] = ["libmpich.so.12", "libmpi.so.12", "libmpich.so", "libmpi.so"];

/// Measurements of the two processes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// Name and version of the MPI library.
    pub mpi: String,
    /// Host of each rank.
    pub hosts: Vec<String>,
    /// Processor of rank 0.
    pub processor: String,
    /// Cost of reading the clock, which has been subtracted \[ns\].
    pub clock_ns: f64,
    /// S, if some measured size waits for its receiver \[B\].
    pub eager: Option<u64>,
    /// All repetitions.
    pub times: Vec<Times>,
}

/// Reason why nothing was measured.
#[derive(Debug)]
pub enum MeasureError {
    /// The launcher could not be started.
    Start(String, io::Error),
    /// The benchmark reports a failure.
    Failed {
        /// Reason.
        message: String,
        /// Remedy; may be empty.
        help: String,
    },
    /// The launcher ended before the benchmark.
    Ended(String, ExitStatus),
    /// Its output cannot be read.
    Read(io::Error),
}

/// Returns the libraries to try, best first: those of the launcher's MPI, in its own folder and by name.
///
/// For a launcher that does not tell its MPI (a wrapper, `srun`), the variables of the running processes
/// decide.
pub fn libraries(launcher: &str) -> Vec<String> {
    let said = Command::new(launcher).arg("--version").stdin(Stdio::null()).output();
    let said = said.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    of_family(&String::from_utf8_lossy(&said), &folders(launcher))
}

fn of_family(said: &str, folders: &[PathBuf]) -> Vec<String> {
    let names: Vec<&str> = if ["Open MPI", "OpenRTE", "PRRTE"].iter().any(|name| said.contains(name)) {
        OPEN_MPI.to_vec()
    } else if ["HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|name| said.contains(name)) {
        MPICH.to_vec()
    } else if std::env::var_os("I_MPI_ROOT").is_some() {
        [MPICH.as_slice(), &OPEN_MPI].concat()
    } else {
        [OPEN_MPI.as_slice(), &MPICH].concat()
    };
    let mut all: Vec<String> = Vec::new();
    for folder in folders {
        let there = names.iter().map(|name| folder.join(name)).filter(|path| path.exists());
        all.extend(there.map(|path| path.display().to_string()));
    }
    all.extend(names.iter().map(|name| (*name).to_owned()));
    all.dedup();
    all
}

/// Returns `lib` and `lib64` beside the launcher's `bin`, except those of the system, where every name is
/// looked up anyway.
fn folders(launcher: &str) -> Vec<PathBuf> {
    let path = if launcher.contains('/') {
        Some(PathBuf::from(launcher))
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(launcher)).find(|path| path.is_file())
    };
    let Some(prefix) = path.and_then(|path| path.canonicalize().ok()?.parent()?.parent().map(Path::to_owned)) else {
        return Vec::new();
    };
    if ["/", "/usr", "/usr/local"].iter().any(|system| prefix == Path::new(system)) {
        return Vec::new();
    }
    ["lib", "lib64"].iter().map(|name| prefix.join(name)).collect()
}

/// Starts `command` with this program's benchmark as its program, and collects the output; `program` are the
/// words that start this program.
///
/// `on_progress` is called with the progress, from 0 to 1; `on_other` with every line that is not part of the
/// protocol.
///
/// # Errors
/// The launcher cannot be started, fails, or the benchmark fails.
pub fn run(
    command: &[String],
    program: &[OsString],
    libraries: &[String],
    plan: &Plan,
    mut on_progress: impl FnMut(f64),
    mut on_other: impl FnMut(&str),
) -> Result<Measured, MeasureError> {
    let name = command.first().cloned().unwrap_or_default();
    let mut starting = Command::new(&name);
    starting.args(&command[1.min(command.len())..]).args(program).arg("measure-agent");
    let sizes = &plan.sizes;
    starting.arg(format!("--smallest={}", sizes.smallest)).arg(format!("--largest={}", sizes.largest));
    starting.args(sizes.increment.map(|increment| format!("--increment={increment}")));
    starting.arg(format!("--seconds={}", plan.seconds)).args(libraries);
    let mut child = starting
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| MeasureError::Start(name.clone(), error))?;
    let (mut measured, mut failed, mut ended, mut read) = (Measured::default(), None, false, Ok(()));
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    read = Err(error);
                    break;
                }
            };
            let line = String::from_utf8_lossy(&line);
            match Message::from_line(&line) {
                Some(Message::Pair { mpi, hosts, processor, clock_ns }) => {
                    (measured.mpi, measured.hosts) = (mpi, hosts);
                    (measured.processor, measured.clock_ns) = (processor, clock_ns);
                }
                Some(Message::Eager { limit }) => measured.eager = limit,
                Some(Message::Done(part)) => on_progress(part),
                Some(Message::Times(times)) => measured.times.push(times),
                // Both processes may give a reason; the first one is the best.
                Some(Message::Failed { message, help }) => {
                    failed.get_or_insert(MeasureError::Failed { message, help });
                }
                Some(Message::End) => ended = true,
                None => on_other(&line),
            }
        }
    }
    let status = child.wait().map_err(MeasureError::Read)?;
    match (failed, read) {
        (Some(trouble), _) => Err(trouble),
        (None, Err(error)) => Err(MeasureError::Read(error)),
        (None, Ok(())) if !ended => Err(MeasureError::Ended(name, status)),
        (None, Ok(())) => Ok(measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_follows_from_what_the_launcher_says_it_is() {
        let first = |said: &str| of_family(said, &[]).remove(0);
        assert_eq!(first("mpirun (Open MPI) 4.1.4"), "libmpi.so.40");
        assert_eq!(first("HYDRA build details:\n Version: 4.0.2"), "libmpich.so.12");
        assert!(of_family("slurm 23.02", &[]).contains(&"libmpich.so.12".to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libmpi.so.40");
        std::fs::write(&library, "").unwrap();
        assert_eq!(of_family("mpirun (Open MPI) 5", &[folder.path().to_owned()])[0], library.display().to_string());
    }

    #[test]
    fn a_launcher_that_is_not_there_is_named() {
        let command = ["no-such-launcher".to_owned()];
        let found = run(&command, &["x".into()], &[], &Plan::default(), |_| (), |_| ());
        assert!(matches!(found, Err(MeasureError::Start(name, _)) if name == "no-such-launcher"));
    }

    #[test]
    fn what_the_processes_say_is_collected_and_other_lines_are_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("launcher");
        let said = [Message::Eager { limit: Some(7) }, Message::Done(0.5), Message::End];
        let said: String = said.iter().map(Message::to_line).collect();
        std::fs::write(folder.path().join("said"), format!("hello\n{said}")).unwrap();
        let (mut part, mut other) = (0.0, Vec::new());
        std::fs::write(&script, "cat $(dirname $0)/said; exit $1\n").unwrap();
        let mut start = |status: &str| {
            let command = ["sh".to_owned(), script.display().to_string(), status.to_owned()];
            let plan = Plan::default();
            run(&command, &["x".into()], &[], &plan, |done| part = done, |line| other.push(line.to_owned()))
        };
        assert_eq!(start("0").unwrap().eager, Some(7));
        std::fs::write(folder.path().join("said"), "").unwrap();
        assert!(
            matches!(start("3"), Err(MeasureError::Ended(name, status)) if name == "sh" && status.code() == Some(3))
        );
        assert_eq!((part, other), (0.5, vec!["hello".to_owned()]));
    }
}
