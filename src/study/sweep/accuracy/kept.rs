//! Cache of runs of packet models: flow models change often and cost little, packets do neither.
//!
//! The cache is a folder with a file for each run. The name of a file is the identity of the scenario
//! (defaults, contents of files, seed) and of [`PACKET_RESULTS`], so that any change of a run changes its
//! name. The file holds the results of the run: [`MAGIC`], packets of a buffer (0: no limit), number of
//! message times, makespan, mean finish, processor time \[s\], the times \[s\], and a check sum, all
//! little-endian.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::played::Played;
use crate::atomic_file::AtomicFile;
use crate::scenario::Identity;

/// Version of results of packet models: raised with every change of a time that they simulate.
pub const PACKET_RESULTS: u32 = 1;

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"hayase a";
/// Number of bytes before the times of messages.
const HEAD: usize = MAGIC.len() + 4 + 8 + 3 * 8;
/// Number of bytes of the check sum.
const SUM: usize = 8;

/// Packets of a buffer, and results of a run.
pub type Run = (Option<u32>, Played);

/// Folder of cached runs.
#[derive(Debug)]
pub struct RunCache {
    folder: PathBuf,
    /// First error of writing a run.
    failed: Mutex<Option<io::Error>>,
}

impl RunCache {
    /// Opens a folder of runs; it is created when the first run is written.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, failed: Mutex::default() }
    }

    /// Returns the path of a run's file.
    pub fn file(&self, identity: &Identity, seed: u64) -> PathBuf {
        self.folder.join(format!("{:032x}.run", identity.with_seed(seed)))
    }

    /// Writes the file of a run.
    pub fn write(&self, path: &Path, run: &Run) {
        let written = fs::create_dir_all(&self.folder).and_then(|()| {
            let mut file = AtomicFile::create(path)?;
            file.write_all(&encoded(run))?;
            file.commit()
        });
        if let Err(error) = written {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Returns the first error of writing a run, if there was one.
    pub fn failure(&self) -> Option<io::Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reads the file of a run; returns `None` if it does not exist, is damaged, or has another number of
/// messages.
pub fn read(path: &Path, messages: u64) -> Option<Run> {
    decoded(&fs::read(path).ok()?).filter(|(_, played)| played.times_s.len() as u64 == messages)
}

fn encoded((buffer, played): &Run) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + 4 * played.times_s.len() + SUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&buffer.unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&(played.times_s.len() as u64).to_le_bytes());
    for value in [played.makespan_s, played.mean_finish_s, played.cpu_s] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for time in &played.times_s {
        bytes.extend_from_slice(&time.to_le_bytes());
    }
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(&sum.as_bytes()[..SUM]);
    bytes
}

fn decoded(bytes: &[u8]) -> Option<Run> {
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM)?)?;
    let (head, times) = body.split_at_checked(HEAD)?;
    if !head.starts_with(MAGIC) || blake3::hash(body).as_bytes()[..SUM] != *sum {
        return None;
    }
    let (buffer, rest) = head[MAGIC.len()..].split_first_chunk::<4>()?;
    let (words, _) = rest.as_chunks::<8>();
    let [count, makespan, finish, cpu] = words else { return None };
    let (times, _) = times.as_chunks::<4>();
    if times.len() as u64 != u64::from_le_bytes(*count) {
        return None;
    }
    let played = Played {
        makespan_s: f64::from_le_bytes(*makespan),
        mean_finish_s: f64::from_le_bytes(*finish),
        times_s: times.iter().map(|time| f32::from_le_bytes(*time)).collect(),
        cpu_s: f64::from_le_bytes(*cpu),
    };
    let buffer = u32::from_le_bytes(*buffer);
    Some(((buffer > 0).then_some(buffer), played))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        (
            Some(8),
            Played { makespan_s: 0.1, mean_finish_s: 0.05, times_s: vec![0.25, f32::MIN_POSITIVE, 3.0], cpu_s: 1.5 },
        )
    }

    #[test]
    fn what_is_read_is_what_was_written_to_the_last_bit() {
        for run in [run(), (None, Played { times_s: Vec::new(), ..run().1 })] {
            let (buffer, played) = decoded(&encoded(&run)).unwrap();
            assert_eq!((buffer, played.times_s), (run.0, run.1.times_s));
            assert_eq!(played.makespan_s.to_bits(), run.1.makespan_s.to_bits());
            assert_eq!((played.mean_finish_s, played.cpu_s), (run.1.mean_finish_s, run.1.cpu_s));
        }
    }

    #[test]
    fn a_file_that_is_cut_off_or_changed_is_as_if_it_were_not_there() {
        let whole = encoded(&run());
        assert!((0..whole.len()).all(|length| decoded(&whole[..length]).is_none()));
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(decoded(&changed).is_none(), "byte {at}");
        }
    }
}
