//! The user's command with the recorder in it: the launcher it starts, and the way of the environment to
//! every rank.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Program that starts the processes of a parallel program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launcher {
    /// `mpirun` of Open MPI: passes to other nodes only variables that `-x` names.
    OpenMpi,
    /// `mpiexec` of MPICH, Intel MPI and others: passes the whole environment.
    Hydra,
    /// `srun`: passes the whole environment, unless `--export` says otherwise.
    Slurm,
    /// An unknown launcher, or the program itself.
    Other,
}

impl Launcher {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Hydra => "Hydra",
            Self::Slurm => "Slurm",
            Self::Other => "-",
        }
    }

    /// Identifies a launcher by its name and its version text.
    fn of(program: &Path) -> Self {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let called = name(program);
        if called == "srun" {
            return Self::Slurm;
        }
        let known = ["mpirun", "mpiexec", "orterun", "prterun"];
        if !known.iter().any(|known| called.starts_with(known)) {
            return Self::Other;
        }
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        if ["Open MPI", "OpenRTE", "PRRTE"].iter().any(|word| text.contains(word)) {
            Self::OpenMpi
        } else if ["HYDRA", "Intel(R) MPI", "MVAPICH"].iter().any(|word| text.contains(word)) {
            Self::Hydra
        } else {
            Self::Other
        }
    }
}

/// Options for the recorder, which its environment carries.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecorderOptions {
    /// Executes one rank at a time.
    pub token: bool,
    /// The clock whose times are used: `cpu`, `auto` or `wall`.
    pub clock: Option<&'static str>,
    /// Number of calls of a rank after which recording stops.
    pub stop_events: Option<u64>,
    /// Time after which recording stops.
    pub stop_after: Option<Duration>,
    /// Records which memory is accessed between calls.
    pub memory: bool,
    /// Number of callers kept for each call site.
    pub depth: Option<u32>,
}

impl RecorderOptions {
    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&'static str, OsString)> = Vec::new();
        let mut set = |name, value: String| variables.push((name, value.into()));
        if let Some(clock) = self.clock {
            set("HAYASE_CAPTURE_CLOCK", clock.into());
        }
        if self.token {
            set("HAYASE_CAPTURE_TOKEN", "1".into());
            // `hayase record` reports deadlocks itself, with lines of the source.
            set("HAYASE_CAPTURE_QUIET", "1".into());
        }
        if let Some(events) = self.stop_events {
            set("HAYASE_CAPTURE_STOP_EVENTS", events.to_string());
        }
        if let Some(time) = self.stop_after {
            set("HAYASE_CAPTURE_STOP_SECONDS", time.as_secs_f64().to_string());
        }
        if let Some(depth) = self.depth {
            set("HAYASE_CAPTURE_DEPTH", depth.to_string());
        }
        if self.memory {
            set("HAYASE_CAPTURE_MEMORY", "1".into());
        }
        variables
    }
}

/// All variables of the recorder.
const VARIABLES: &[&str] = &[
    "HAYASE_CAPTURE_DIR",
    "HAYASE_CAPTURE_CLOCK",
    "HAYASE_CAPTURE_TOKEN",
    "HAYASE_CAPTURE_QUIET",
    "HAYASE_CAPTURE_STOP_EVENTS",
    "HAYASE_CAPTURE_STOP_SECONDS",
    "HAYASE_CAPTURE_MEMORY",
    "HAYASE_CAPTURE_DEPTH",
];

/// A command that will be recorded.
#[derive(Debug)]
pub struct Launch {
    /// Program that is started.
    pub program: PathBuf,
    /// Words of the command, the program's name first, as the user wrote them.
    pub command: Vec<OsString>,
    /// Kind of launcher.
    pub launcher: Launcher,
}

impl Launch {
    /// Finds the program of a command; `None` if there is none of this name.
    pub fn new(command: &[OsString]) -> Option<Self> {
        let program = find(command.first()?)?;
        let launcher = Launcher::of(&program);
        Some(Self { program, command: command.to_vec(), launcher })
    }

    /// Returns the program whose ranks are to be recorded, as far as it can be determined: the first word
    /// after a launcher that names an executable file.
    pub fn recorded(&self) -> Option<PathBuf> {
        match self.launcher {
            Launcher::Other => Some(self.program.clone()),
            _ => self
                .command
                .iter()
                .skip(1)
                .filter(|word| !word.as_encoded_bytes().starts_with(b"-"))
                .find_map(|word| find(word)),
        }
    }

    /// Returns the command, ready to be started, which records into `folder` with this library.
    pub fn recording(&self, library: &Path, folder: &Path, wishes: &RecorderOptions) -> Command {
        let mut preload = library.as_os_str().to_owned();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        let mut variables: Vec<(&str, OsString)> = vec![("LD_PRELOAD", preload), ("HAYASE_CAPTURE_DIR", folder.into())];
        variables.extend(wishes.variables());

        let mut command = Command::new(&self.program);
        if self.launcher == Launcher::OpenMpi {
            for (name, _) in &variables {
                command.arg("-x").arg(name);
            }
        }
        command.args(self.command.iter().skip(1));
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.envs(variables);
        command
    }
}

/// Finds an executable file by its path, or by its name in PATH.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    let executable = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().starts_with(b"./") {
        return executable(path).then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| executable(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(launcher: Launcher, words: &[&str]) -> Launch {
        Launch { program: "/usr/bin/env".into(), command: words.iter().map(Into::into).collect(), launcher }
    }

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn open_mpi_is_told_to_hand_the_environment_on() {
        let wishes = RecorderOptions { token: true, clock: Some("wall"), ..RecorderOptions::default() };
        let (library, folder) = (Path::new("/c/lib.so"), Path::new("/run"));
        let command = launch(Launcher::OpenMpi, &["mpirun", "-np", "2", "./a"]).recording(library, folder, &wishes);
        let expected = "-x LD_PRELOAD -x HAYASE_CAPTURE_DIR -x HAYASE_CAPTURE_CLOCK -x HAYASE_CAPTURE_TOKEN \
                        -x HAYASE_CAPTURE_QUIET -np 2 ./a";
        assert_eq!(words(&command).join(" "), expected);
        let set: Vec<&OsStr> = command.get_envs().filter(|(_, value)| value.is_some()).map(|(name, _)| name).collect();
        let names = [
            "HAYASE_CAPTURE_CLOCK",
            "HAYASE_CAPTURE_DIR",
            "HAYASE_CAPTURE_QUIET",
            "HAYASE_CAPTURE_TOKEN",
            "LD_PRELOAD",
        ];
        assert_eq!(set, names.map(OsStr::new));
        let command = launch(Launcher::Hydra, &["mpiexec", "-n", "2", "./a"]).recording(library, folder, &wishes);
        assert_eq!(words(&command), ["-n", "2", "./a"]);
    }

    #[test]
    fn the_program_behind_a_launcher_is_the_first_word_that_can_be_executed() {
        let recorded = |words: &[&str]| launch(Launcher::Hydra, words).recorded();
        assert_eq!(recorded(&["mpiexec", "-n", "16", "--host", "a,b", "/bin/sh", "/bin/ls"]), Some("/bin/sh".into()));
        assert_eq!(recorded(&["mpiexec", "-n", "16", "./no such program"]), None);
        assert_eq!(launch(Launcher::Other, &["env", "/bin/sh"]).recorded(), Some("/usr/bin/env".into()));
    }
}
