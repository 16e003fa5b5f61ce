#![allow(dead_code, reason = "each test uses what it needs")]
//! Programs of `tests/programs`, run under an MPI of this machine with the recorder before them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hayase_trace::{Communicator, Event, Header, Item, Reader};

/// The MPIs that are tried.
pub const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// Whether an MPI is there; that it is not is said.
pub fn installed(mpi: &str) -> bool {
    let there = Command::new(format!("mpicc.{mpi}")).arg("--version").output().is_ok_and(|out| out.status.success());
    if !there {
        eprintln!("skipped: no mpicc.{mpi} on this machine");
    }
    there
}

/// The recorder, as cargo has built it beside this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libhayase_capture.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

/// A run of a program.
pub struct Run {
    pub folder: tempfile::TempDir,
    pub output: Output,
}

/// How to run.
#[derive(Clone, Copy)]
pub struct How<'a> {
    pub ranks: usize,
    pub arguments: &'a [&'a str],
    pub variables: &'a [(&'a str, &'a str)],
}

impl Default for How<'_> {
    fn default() -> Self {
        Self { ranks: 4, arguments: &[], variables: &[] }
    }
}

pub const TOKEN: &[(&str, &str)] = &[("HAYASE_CAPTURE_TOKEN", "1")];

/// Compiles and runs a program; `None` if this MPI is not installed.
pub fn run(mpi: &str, program: &str, how: How) -> Option<Run> {
    start(mpi, program, how, true)
}

/// The same, and nothing is recorded: the recorder is not there.
pub fn run_plainly(mpi: &str, program: &str, how: How) -> Option<Run> {
    start(mpi, program, how, false)
}

fn start(mpi: &str, program: &str, how: How, recorded: bool) -> Option<Run> {
    if !installed(mpi) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join(program);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{program}.c"));
    let compiled = Command::new(format!("mpicc.{mpi}"))
        .args(["-w", "-g", "-O1", "-pthread", "-frounding-math", "-o"])
        .args([&binary, &source])
        .arg("-lm")
        .status()
        .unwrap();
    assert!(compiled.success(), "{program}.c does not compile");

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
        for (name, value) in &variables {
            command.args(["-x", &format!("{name}={value}")]);
        }
    } else {
        for (name, value) in &variables {
            command.args(["-env", name, value]);
        }
    }
    let output = command.arg(&binary).args(how.arguments).output().unwrap();
    Some(Run { folder, output })
}

/// The stream of a rank.
#[derive(Debug, Default)]
pub struct Stream {
    pub header: Option<Header>,
    pub events: Vec<Event>,
    pub communicators: Vec<(u32, Communicator)>,
    pub sites: Vec<u64>,
    pub notes: Vec<(String, String)>,
    pub ended: bool,
    pub lost: u64,
}

impl Stream {
    /// Where in the world a rank of a communicator is.
    pub fn world(&self, event: &Event, peer: i32) -> Option<u32> {
        let peer = usize::try_from(peer).ok()?;
        if event.comm == 0 {
            return Some(peer as u32);
        }
        let (_, comm) = self.communicators.iter().find(|(index, _)| *index == event.comm)?;
        let group = if event.flags.has(hayase_trace::Flags::INTER) { &comm.remote } else { &comm.members };
        group.get(peer).copied()
    }

    /// The id of the communicator of a call.
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

    /// The run went well.
    pub fn assert_success(&self, what: &str) {
        assert!(
            self.output.status.success(),
            "{what}: {:?}\n{}\n{}",
            self.output.status,
            String::from_utf8_lossy(&self.output.stdout),
            String::from_utf8_lossy(&self.output.stderr)
        );
    }

    /// What a rank has written.
    pub fn stream(&self, rank: usize) -> Stream {
        let bytes = std::fs::read(self.path().join(format!("rank-{rank:05}.hyt"))).unwrap();
        let mut reader = Reader::new(bytes.as_slice());
        let mut stream = Stream::default();
        while let Some(item) = reader.next().unwrap_or_else(|error| panic!("rank {rank}: {error}")) {
            match item {
                Item::Header(header) => stream.header = Some(header.clone()),
                Item::Event(event) => stream.events.push(event.clone()),
                Item::Communicator(index, communicator) => stream.communicators.push((index, communicator.clone())),
                Item::Site(_, site) => stream.sites.push(site.address),
                Item::Note(name, text) => {
                    stream.notes.push((name.into(), String::from_utf8_lossy(text).into_owned()));
                }
                Item::End { lost, .. } => (stream.ended, stream.lost) = (true, lost),
            }
        }
        stream
    }
}
