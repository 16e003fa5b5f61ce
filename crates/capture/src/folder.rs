//! The folder of a recording: a stream a rank, what is needed to understand it, and `run.toml`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use hayase::atomic_file::AtomicFile;

/// What `run.toml` begins with.
pub const SCHEMA: &str = "hayase-run-1";

/// The file that says what was recorded.
pub const PROVENANCE: &str = "run.toml";

/// What was run, where and how: `run.toml`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Provenance {
    /// [`SCHEMA`].
    pub schema: String,
    /// The words of the command, as they were typed.
    pub command: Vec<String>,
    /// The folder in which it ran.
    pub folder: String,
    /// What started the ranks: `Open MPI`, `Hydra`, `Slurm`, `-`.
    pub launcher: String,
    /// The MPI library, as the ranks saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<String>,
    /// The clock whose times count: `cpu` or `wall`.
    pub clock: String,
    /// Whether ranks executed one at a time.
    pub token: bool,
    /// Whether accesses to memory were recorded.
    pub memory: bool,
    /// Ranks of the program.
    pub ranks: u32,
    /// Ranks that left a stream.
    pub present: u32,
    /// Calls recorded.
    pub events: u64,
    /// When it started \[s since 1970\].
    pub started: u64,
    /// How long the command took \[s\].
    pub elapsed_s: f64,
    /// How it ended: `exit 0`, `signal 15`, `interrupted`.
    pub ended: String,
    /// Machines that took part.
    pub hosts: Vec<String>,
    /// The processor of the machine that recorded.
    pub processor: String,
    /// The version of this program.
    pub version: String,
}

impl Provenance {
    /// Writes it into a folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let mut file = AtomicFile::create(&folder.join(PROVENANCE))?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    /// Reads that of a folder; `None` if it has none, or not a valid one.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(PROVENANCE)).ok()?;
        toml::from_str::<Self>(&text).ok().filter(|provenance| provenance.schema == SCHEMA)
    }
}

/// The processor of this machine, by its own name.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// What is at the path of a recording to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Present {
    /// Nothing, or an empty folder.
    Nothing,
    /// A recording.
    Recording,
    /// Something else.
    Other,
}

impl Present {
    /// Looks.
    pub fn at(path: &Path) -> Self {
        if fs::symlink_metadata(path).is_err() {
            return Self::Nothing;
        }
        match fs::read_dir(path) {
            Ok(mut entries) => match entries.next() {
                None => Self::Nothing,
                Some(_) if Provenance::read(path).is_some() => Self::Recording,
                Some(_) => Self::Other,
            },
            Err(_) => Self::Other,
        }
    }
}

/// A folder that is recorded into, and gets its name when there is something in it.
///
/// It lies beside its final place, since only there it can be renamed. Dropped without [`finish`](Self::finish),
/// it is removed.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    target: PathBuf,
    finished: bool,
}

impl Unfinished {
    /// Makes the folder for a recording that will be at `target`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = std::path::absolute(target)?;
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let above = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(above)?;
        for attempt in 0_u32.. {
            let path = above.join(format!(".{name}.{}-{attempt}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, target, finished: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name; a recording that has it already is removed.
    ///
    /// # Errors
    /// Those of the system; then it stays where it is.
    pub fn finish(mut self) -> io::Result<()> {
        self.finished = true;
        if Present::at(&self.target) == Present::Recording {
            fs::remove_dir_all(&self.target)?;
        }
        // Over an empty folder, too.
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The files of a recording with this extension (`hyt`, `maps`), by rank.
///
/// # Errors
/// Those of the system.
pub fn files(folder: &Path, extension: &str) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("rank-")?.parse::<u32>().ok());
        if let Some(rank) = stem.filter(|_| path.extension().is_some_and(|other| other == extension)) {
            files.push((rank, path));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        Provenance {
            schema: SCHEMA.into(),
            command: vec!["mpirun".into(), "./a \"b\"".into()],
            folder: "/tmp".into(),
            launcher: "Hydra".into(),
            mpi: Some("MPICH 4.0.2".into()),
            clock: "cpu".into(),
            token: false,
            memory: false,
            ranks: 4,
            present: 4,
            events: 12,
            started: 1,
            elapsed_s: 0.25,
            ended: "exit 0".into(),
            hosts: vec!["a".into()],
            processor: "x".into(),
            version: "0".into(),
        }
    }

    #[test]
    fn a_recording_appears_whole_and_replaces_only_another() {
        let desk = tempfile::tempdir().unwrap();
        let run = desk.path().join("run");
        let record = || {
            let folder = Unfinished::create(&run).unwrap();
            fs::write(folder.path().join("rank-00000.hyt"), "x").unwrap();
            provenance().write(folder.path()).unwrap();
            assert!(Present::at(&run) == Present::Nothing || run.join("old").exists());
            folder.finish().unwrap();
        };
        fs::create_dir(&run).unwrap();
        record();
        assert_eq!(Provenance::read(&run), Some(provenance()));
        fs::write(run.join("old"), "").unwrap();
        record();
        assert!(!run.join("old").exists());
        drop(Unfinished::create(&run).unwrap());
        assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 1, "what is not finished is removed");

        let other = desk.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("thesis.txt"), "").unwrap();
        assert_eq!(Present::at(&other), Present::Other);
        fs::write(other.join(PROVENANCE), "schema = \"something else\"").unwrap();
        assert_eq!(Present::at(&other), Present::Other);
        assert_eq!(Present::at(&other.join("thesis.txt")), Present::Other);
        assert_eq!(Present::at(&desk.path().join("none")), Present::Nothing);
    }

    #[test]
    fn files_of_ranks_come_in_the_order_of_ranks() {
        let desk = tempfile::tempdir().unwrap();
        for name in ["rank-00010.hyt", "rank-00002.hyt", "rank-100000.hyt", "rank-00002.maps", "rank-x.hyt", "a.hyt"] {
            fs::write(desk.path().join(name), "").unwrap();
        }
        let ranks: Vec<u32> = files(desk.path(), "hyt").unwrap().into_iter().map(|(rank, _)| rank).collect();
        assert_eq!(ranks, [2, 10, 100_000]);
    }
}
