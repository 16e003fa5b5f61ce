//! The folder of a recording: a stream for each rank, the files needed to understand it, and `run.toml`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use hayase::atomic_file::AtomicFile;

/// First words of `run.toml`.
pub const SCHEMA: &str = "hayase-run-1";

/// File that describes the recorded run.
pub const PROVENANCE: &str = "run.toml";

/// The recorded run, with its place and its options: `run.toml`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Provenance {
    /// [`SCHEMA`].
    pub schema: String,
    /// Words of the command, as typed.
    pub command: Vec<String>,
    /// Folder in which it ran.
    pub folder: String,
    /// Launcher of the ranks: `Open MPI`, `Hydra`, `Slurm`, `-`.
    pub launcher: String,
    /// MPI library, as the ranks saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<String>,
    /// Clock whose times count: `cpu` or `wall`.
    pub clock: String,
    /// True if ranks executed one at a time.
    pub token: bool,
    /// True if memory accesses were recorded.
    pub memory: bool,
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Number of ranks that left a stream.
    pub present: u32,
    /// Number of calls recorded.
    pub events: u64,
    /// Time of the start \[s since 1970\].
    pub started: u64,
    /// Duration of the command \[s\].
    pub elapsed_s: f64,
    /// End of the command: `exit 0`, `signal 15`, `interrupted`.
    pub ended: String,
    /// Machines that took part.
    pub hosts: Vec<String>,
    /// Processor of the machine that recorded.
    pub processor: String,
    /// Version of this program.
    pub version: String,
}

impl Provenance {
    /// Writes the description into a folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let mut file = AtomicFile::create(&folder.join(PROVENANCE))?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    /// Reads the description in a folder; `None` if there is none, or not a valid one.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(PROVENANCE)).ok()?;
        toml::from_str::<Self>(&text).ok().filter(|provenance| provenance.schema == SCHEMA)
    }
}

/// Returns the name of this machine's processor.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Content at the path of a future recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetContent {
    /// Nothing, or an empty folder.
    Nothing,
    /// A recording.
    Recording,
    /// Something else.
    Other,
}

impl TargetContent {
    /// Looks at a path.
    pub fn of_path(path: &Path) -> Self {
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

/// A folder for a recording under way, which gets its name when it has content.
///
/// It lies beside its final place, since renaming works only there. Dropped without [`finish`](Self::finish),
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

    /// Present path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name; removes an earlier recording of that name.
    ///
    /// # Errors
    /// Those of the system; then it stays in its present place.
    pub fn finish(mut self) -> io::Result<()> {
        self.finished = true;
        if TargetContent::of_path(&self.target) == TargetContent::Recording {
            fs::remove_dir_all(&self.target)?;
        }
        // Also replaces an empty folder.
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

/// Returns the files of a recording with this extension (`hyt`, `maps`), by rank.
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
            assert!(TargetContent::of_path(&run) == TargetContent::Nothing || run.join("old").exists());
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
        assert_eq!(TargetContent::of_path(&other), TargetContent::Other);
        fs::write(other.join(PROVENANCE), "schema = \"something else\"").unwrap();
        assert_eq!(TargetContent::of_path(&other), TargetContent::Other);
        assert_eq!(TargetContent::of_path(&other.join("thesis.txt")), TargetContent::Other);
        assert_eq!(TargetContent::of_path(&desk.path().join("none")), TargetContent::Nothing);
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
