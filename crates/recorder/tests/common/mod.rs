#![allow(dead_code, reason = "each test uses what it needs")]
//! Runs programs of `tests/programs` under an MPI of this machine, with the recorder loaded first.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hayase_needs::is_there;
use hayase_trace::{Communicator, Event, Header, Item, Mark, Reader, Site};

/// MPIs under which the programs run.
pub const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// Returns true if an MPI is installed with its compiler.
pub fn installed(mpi: &str) -> bool {
    is_there(&format!("mpicc.{mpi}"))
}

/// Returns the path of the recorder, which cargo has built beside this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libhayase_recorder.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

/// Results of a run of a program.
pub struct Run {
    pub folder: tempfile::TempDir,
    pub output: Output,
}

/// Options of a run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    pub ranks: usize,
    pub arguments: &'a [&'a str],
    pub variables: &'a [(&'a str, &'a str)],
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self { ranks: 4, arguments: &[], variables: &[] }
    }
}

pub const TOKEN: &[(&str, &str)] = &[("HAYASE_CAPTURE_TOKEN", "1")];

/// Compiles and runs a program; `None` if this MPI is not installed.
pub fn run(mpi: &str, program: &str, how: RunOptions) -> Option<Run> {
    run_compiled(mpi, program, "gcc -g -O1 -frounding-math", how)
}

/// Compiles and runs a program without the recorder.
pub fn run_plainly(mpi: &str, program: &str, how: RunOptions) -> Option<Run> {
    start(mpi, program, "gcc -g -O1 -frounding-math", how, false)
}

/// Compiles and runs a program, with a compiler and its options; `None` if the MPI or the compiler is not
/// installed.
pub fn run_compiled(mpi: &str, program: &str, way: &str, how: RunOptions) -> Option<Run> {
    start(mpi, program, way, how, true)
}

fn start(mpi: &str, program: &str, way: &str, how: RunOptions, recorded: bool) -> Option<Run> {
    if !installed(mpi) {
        return None;
    }
    let mut words = way.split(' ');
    let compiler = words.next().unwrap();
    if !is_there(compiler) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join(program);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{program}.c"));
    let compiled = Command::new(format!("mpicc.{mpi}"))
        .env("OMPI_CC", compiler)
        .env("MPICH_CC", compiler)
        .args(["-w", "-pthread", concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../capture/include")])
        .args(words)
        .arg("-o")
        .args([&binary, &source])
        .arg("-lm")
        .status()
        .unwrap();
    assert!(compiled.success(), "{program}.c does not compile");
    Some(launch(mpi, &binary, folder, how, recorded))
}

/// Runs a program that has been compiled into a folder.
pub fn run_binary(mpi: &str, binary: &Path, folder: tempfile::TempDir, how: RunOptions) -> Run {
    launch(mpi, binary, folder, how, true)
}

fn launch(mpi: &str, binary: &Path, folder: tempfile::TempDir, how: RunOptions, recorded: bool) -> Run {
    let traces = folder.path().join("run");
    std::fs::create_dir(&traces).unwrap();
    let mut variables: Vec<(String, String)> = Vec::new();
    if recorded {
        variables.push(("LD_PRELOAD".into(), library().display().to_string()));
        variables.push(("HAYASE_CAPTURE_DIR".into(), traces.display().to_string()));
    }
    variables.extend(how.variables.iter().map(|&(name, value)| (name.into(), value.into())));
    let mut command = Command::new("timeout");
    command.args(["-k", "5", "120", &format!("mpirun.{mpi}"), "-n", &how.ranks.to_string()]);
    if mpi == "openmpi" {
        command.arg("--oversubscribe");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // Runs at one time would create and remove the same folder of sessions.
        command.env("OMPI_MCA_orte_tmpdir_base", folder.path());
        for (name, value) in &variables {
            command.args(["-x", &format!("{name}={value}")]);
        }
    } else {
        for (name, value) in &variables {
            command.args(["-env", name, value]);
        }
    }
    let output = command.arg(binary).args(how.arguments).output().unwrap();
    Run { folder, output }
}

/// Compiles a source of `tests/fake`.
pub fn compile_fake(source: &str, out: &Path, arguments: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake").join(source);
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition", "2024", "-C", "debuginfo=0", "-o"]).args([out, &source]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the installed interpreters of Python 3.8 to 3.13, with their versions.
pub fn interpreters() -> Vec<(PathBuf, String)> {
    let mut candidates: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .flat_map(|folder| (8..=13).map(move |minor| folder.join(format!("python3.{minor}"))))
        .collect();
    candidates.push("/usr/bin/python3".into());
    // Interpreters installed by pyenv.
    let versions = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pyenv/versions"));
    for entry in versions.into_iter().flat_map(std::fs::read_dir).flatten().flatten() {
        candidates.push(entry.path().join("bin/python3"));
    }
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for candidate in candidates {
        let output = Command::new(&candidate).args(["-c", "import sys, ctypes; print(sys.version)"]).output();
        let Ok(output) = output else { continue };
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let minor = version.strip_prefix("3.").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
        if minor.is_some_and(|minor| (8..=13).contains(&minor)) && !found.iter().any(|(_, known)| *known == version) {
            found.push((candidate, version));
        }
    }
    found
}

/// Runs a program in Python, with the recorder and an MPI library loaded first.
pub fn run_python(interpreter: &Path, mpi: &Path, program: &Path, variables: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("run");
    std::fs::create_dir(&traces).unwrap();
    let output = Command::new(interpreter)
        .arg(program)
        .env("LD_PRELOAD", format!("{}:{}", library().display(), mpi.display()))
        .env("HAYASE_CAPTURE_DIR", &traces)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Run { folder, output }
}

/// Stream of a rank.
#[derive(Debug, Default)]
pub struct Stream {
    pub header: Option<Header>,
    pub events: Vec<Event>,
    pub communicators: Vec<(u32, Communicator)>,
    pub sites: Vec<u64>,
    pub whole_sites: Vec<Site>,
    /// Names of regions, by index.
    pub regions: Vec<String>,
    /// Borders of regions, each with the number of events before it.
    pub marks: Vec<(usize, Mark)>,
    pub notes: Vec<(String, String)>,
    pub ended: bool,
    pub lost: u64,
}

impl Stream {
    /// Returns the rank in the world of a partner.
    pub fn world(&self, event: &Event, peer: i32) -> Option<u32> {
        let peer = usize::try_from(peer).ok()?;
        if event.comm == 0 {
            return Some(peer as u32);
        }
        let (_, comm) = self.communicators.iter().find(|(index, _)| *index == event.comm)?;
        let group = if event.flags.has(hayase_trace::Flags::INTER) { &comm.remote } else { &comm.members };
        group.get(peer).copied()
    }

    /// Returns the id of the communicator of a call.
    pub fn id(&self, comm: u32) -> u64 {
        match self.communicators.iter().find(|(index, _)| *index == comm) {
            Some((_, comm)) => comm.id,
            None => {
                assert_eq!(comm, 0, "a communicator that was never said");
                1
            }
        }
    }
}

impl Run {
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// Asserts that the run succeeded.
    pub fn assert_success(&self, what: &str) {
        assert!(
            self.output.status.success(),
            "{what}: {:?}\n{}\n{}",
            self.output.status,
            String::from_utf8_lossy(&self.output.stdout),
            String::from_utf8_lossy(&self.output.stderr)
        );
    }

    /// Reads the stream of a rank.
    pub fn stream(&self, rank: usize) -> Stream {
        let bytes = std::fs::read(self.path().join(format!("rank-{rank:05}.hyt"))).unwrap();
        let mut reader = Reader::new(bytes.as_slice());
        let mut stream = Stream::default();
        while let Some(item) = reader.next().unwrap_or_else(|error| panic!("rank {rank}: {error}")) {
            match item {
                Item::Header(header) => stream.header = Some(header.clone()),
                Item::Event(event) => stream.events.push(event.clone()),
                Item::Communicator(index, communicator) => stream.communicators.push((index, communicator.clone())),
                Item::Site(_, site) => {
                    stream.sites.push(site.address);
                    stream.whole_sites.push(site.clone());
                }
                Item::Region(index, name) => {
                    assert_eq!(index as usize, stream.regions.len());
                    stream.regions.push(name.into());
                }
                Item::Mark(mark) => stream.marks.push((stream.events.len(), *mark)),
                Item::Note(name, text) => {
                    stream.notes.push((name.into(), String::from_utf8_lossy(text).into_owned()));
                }
                Item::End { lost, .. } => (stream.ended, stream.lost) = (true, lost),
            }
        }
        stream
    }
}
