//! Store of a sweep: a folder with a file for each shard, to which a line is added for each point.
//!
//! `plans.jsonl` lists the plans that have been run in the folder. `0-of-1.jsonl` is the only shard of one,
//! `3-of-64.jsonl` the fourth of 64. Each file begins with a line that describes it. The process that writes
//! a shard holds a lock of its file. A line is written by one call, so a killed process leaves at most its
//! last line torn. That line is cut off, and its point is run again.

use std::borrow::Cow;
#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Plan, RESULTS};
use crate::diagnostic::{Diagnostic, Invalid, Place};

/// Version of the format of a store.
const SCHEMA: &str = "hayase-sweep-store-1";
/// File that lists the plans of a store.
const PLANS: &str = "plans.jsonl";
/// Status of a complete run.
pub(super) const COMPLETE: &str = "complete";
/// Status of a point whose scenario has mistakes with any seed.
pub(super) const INVALID: &str = "invalid";
/// Statuses of points without a makespan.
const FAILED: [&str; 5] = [INVALID, "invalid-seed", "cut-off", "deadlocked", "undone"];
/// Largest length of a row \[B\].
const MAX_ROW_BYTES: u64 = 4 << 20;

/// Part of the points: `3/64` is the fourth of 64 shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Number of the shard, from 0.
    pub index: u32,
    /// Total number of shards.
    pub of: u32,
}

impl Shard {
    /// Single shard with all points.
    pub const ALL: Self = Self { index: 0, of: 1 };

    fn file(self) -> String {
        format!("{}-of-{}.jsonl", self.index, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            Some((_, of)) if of > 0 => Err(format!("of {of} shards the first is 0/{of} and the last {}/{of}", of - 1)),
            _ => Err("the number of a shard, from 0 on, and how many there are, are expected: 3/64".to_owned()),
        }
    }
}

/// Reason why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is malformed.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The store cannot be read or written.
    #[error("{}: {}", .0.display(), .1)]
    Failed(PathBuf, io::Error),
    /// The output made from the store cannot be written.
    #[error("{0}")]
    Unwritten(io::Error),
}

impl From<Diagnostic> for StoreError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(diagnostic.into())
    }
}

/// First line of each file.
#[derive(Serialize, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    store: Cow<'a, str>,
    results: u32,
    plan: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
}

/// Parts of a row that are needed to read a store.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    status: Cow<'a, str>,
    #[serde(borrow)]
    makespan_s: Option<&'a RawValue>,
    wall_s: Option<f64>,
}

impl Line<'_> {
    /// Returns the id of the point.
    fn point(&self) -> Option<u128> {
        (self.id.len() == 32).then(|| u128::from_str_radix(&self.id, 16).ok())?
    }

    /// Returns the makespan of a complete run, or `Some(None)` for a point that failed \[s\]; `None` if the
    /// row is malformed.
    fn makespan_s(&self) -> Option<Option<f64>> {
        if self.status == COMPLETE {
            let makespan: f64 = self.makespan_s?.get().parse().ok()?;
            return (makespan.is_finite() && makespan >= 0.0).then_some(Some(makespan));
        }
        FAILED.contains(&&*self.status).then_some(None)
    }
}

/// Row of the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredRow {
    /// Makespan of a complete run \[s\].
    pub makespan_s: Option<f64>,
    /// Run time of the point \[s\].
    pub wall_s: f32,
    /// True if the scenario has mistakes with any seed.
    pub is_invalid: bool,
    /// Number of the row's file.
    file: u16,
    /// Offset of the row in the file \[B\].
    offset: u64,
}

/// Faulty lines of a store, which are ignored.
#[derive(Clone, Default, Debug)]
pub struct Faults {
    /// Places of the first lines that are not rows: `0-of-1.jsonl:17`.
    pub torn: Vec<String>,
    /// Number of lines that are not rows.
    pub torn_lines: u64,
    /// Number of points that have more than one row with the same results.
    pub doubles: u64,
    /// Places of the first points whose rows have different results.
    pub differing: Vec<String>,
}

/// Rows of a folder, by the ids of their points.
pub(super) struct Store {
    folder: PathBuf,
    files: Vec<PathBuf>,
    /// Length of each file when it was read \[B\].
    lengths: Vec<u64>,
    rows: FxHashMap<u128, StoredRow>,
    pub faults: Faults,
    /// Plans that have been run here, as far as they have been read.
    plans: Vec<StoredPlan>,
}

/// Plan that has been run in a store.
struct StoredPlan {
    digest: String,
    name: String,
}

/// Number of lines after which the number of rows of a file is estimated.
const SAMPLE: usize = 1000;

/// Returns the files of shards in a folder, in order.
fn shards(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files: Vec<((u32, u32), PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        // Reading a pipe or device may never end.
        if let Some(shard) = shard_of_name(&path).filter(|_| path.is_file()) {
            files.push(((shard.of, shard.index), path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// Reads the plans that have been run in a folder.
fn plans(folder: &Path) -> Result<Vec<StoredPlan>, StoreError> {
    let path = folder.join(PLANS);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&path, error)),
    };
    let mut plans = Vec::new();
    for (i, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = String::from_utf8_lossy(line);
        let Ok(head) = serde_json::from_str::<Head<'_>>(&text) else {
            // A torn line belongs to a plan that has not run.
            if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(&text).is_err() {
                continue;
            }
            let message = format!("`{}` does not list the plans of this folder", path.display());
            let diagnostic = Diagnostic::new("wrong-file", message).at_place(place(&path, i + 1, &text));
            return Err(diagnostic.help("move the file away, or take another folder: -o DIR").into());
        };
        check_head(&head, &path, i + 1, &text)?;
        plans.push(StoredPlan { digest: head.plan.into_owned(), name: head.name.unwrap_or_default().into_owned() });
    }
    Ok(plans)
}

fn is_among(plans: &[StoredPlan], digest: &str) -> bool {
    plans.iter().any(|plan| plan.digest == digest)
}

/// Formats an id as hexadecimal digits.
pub(super) fn hex(id: u128) -> String {
    format!("{id:032x}")
}

impl Store {
    /// Reads the rows of a folder. Rows that lack a column which the plan keeps do not count.
    pub fn read(folder: &Path, plan: &Plan) -> Result<Self, StoreError> {
        let mut store = Self {
            folder: folder.to_owned(),
            files: Vec::new(),
            lengths: Vec::new(),
            rows: FxHashMap::default(),
            faults: Faults::default(),
            plans: plans(folder)?,
        };
        for path in shards(folder)? {
            store.read_file(path, plan)?;
        }
        if !store.rows.is_empty() && !store.has_run(&plan.digest)? && !store.has_any(plan) {
            let name = store.plans.last().map_or("another plan", |plan| &plan.name);
            let message = format!(
                "`{}` holds the sweep of `{name}`, and no point of it is one of `{}`",
                folder.display(),
                plan.name
            );
            let diagnostic = Diagnostic::new("other-plan", message);
            return Err(diagnostic.help("give the plan a folder of its own: -o DIR").into());
        }
        Ok(store)
    }

    /// Returns true if the files of the folder are unchanged since they were read, except for new shards
    /// without rows.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        let mut known = 0;
        for path in shards(&self.folder)? {
            let length = fs::metadata(&path).map_err(|error| failed(&path, error))?.len();
            match self.files.iter().position(|file| *file == path) {
                Some(i) if self.lengths[i] == length => known += 1,
                None if lines_between(&path, 0, length.min(MAX_ROW_BYTES)) == 1 => {}
                _ => return Ok(false),
            }
        }
        Ok(known == self.files.len())
    }

    /// Returns the row of a point.
    pub fn get(&self, id: u128) -> Option<StoredRow> {
        self.rows.get(&id).copied()
    }

    /// Returns the number of points with rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Marks a point as in progress, so that no point is run twice. Returns false if it was marked before.
    pub fn begin(&mut self, id: u128) -> bool {
        let under_way = StoredRow { makespan_s: None, wall_s: 0.0, is_invalid: false, file: u16::MAX, offset: 0 };
        self.rows.insert(id, under_way).is_none()
    }

    /// Removes the rows of points that failed.
    pub fn forget_failed(&mut self) {
        self.rows.retain(|_, row| row.makespan_s.is_some());
    }

    /// Returns true if any point of a plan has a row.
    fn has_any(&self, plan: &Plan) -> bool {
        struct HasRow;
        plan.each(|_, visit| if self.rows.contains_key(&visit.id) { Err(HasRow) } else { Ok(true) }).is_err()
    }

    /// Returns true if a plan has been run here. Each process notes its plan before it begins a shard, so the
    /// plan of a shard that another process has begun meanwhile is found by reading again.
    fn has_run(&mut self, digest: &str) -> Result<bool, StoreError> {
        if is_among(&self.plans, digest) {
            return Ok(true);
        }
        self.plans = plans(&self.folder)?;
        Ok(is_among(&self.plans, digest))
    }

    fn read_file(&mut self, path: PathBuf, plan: &Plan) -> Result<(), StoreError> {
        let file = u16::try_from(self.files.len()).ok().filter(|file| *file < u16::MAX).ok_or_else(|| {
            let message = format!("`{}` has more than {} shards", self.folder.display(), u16::MAX - 1);
            StoreError::from(Diagnostic::new("too-many-files", message).help("take fewer, larger shards"))
        })?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut reader = BufReader::with_capacity(1 << 18, File::open(&path).map_err(|error| failed(&path, error))?);
        let kept: Vec<String> = plan.settings.keep.iter().map(|key| format!("{}:", serde_json::json!(key))).collect();
        let (mut offset, mut number, mut line) = (0, 0, Vec::new());
        loop {
            line.clear();
            let length = reader
                .by_ref()
                .take(MAX_ROW_BYTES)
                .read_until(b'\n', &mut line)
                .map_err(|error| failed(&path, error))?;
            if length == 0 {
                break;
            }
            if length as u64 == MAX_ROW_BYTES {
                let message = format!("`{}` has a line of more than {MAX_ROW_BYTES} bytes", path.display());
                let diagnostic = Diagnostic::new("wrong-file", message);
                return Err(diagnostic.help("this is not a shard of a sweep: move the file away").into());
            }
            number += 1;
            if number == SAMPLE {
                // Growth by doubling would need one and a half times the memory of the table.
                let size = reader.get_ref().metadata().map_or(0, |metadata| metadata.len());
                let rows = (size.saturating_sub(offset) * SAMPLE as u64).checked_div(offset).unwrap_or(0);
                // A shorter line is not a row.
                self.rows.reserve(rows.min(size / 64) as usize);
            }
            let text = std::str::from_utf8(&line).ok();
            if number == 1 {
                let head = text.and_then(|text| serde_json::from_str::<Head<'_>>(text).ok());
                match (&head, text) {
                    (Some(head), Some(text)) => {
                        check_head(head, &path, 1, text)?;
                        if !self.has_run(&head.plan)? {
                            let message = format!("`{}` is a shard of another plan", path.display());
                            let diagnostic = Diagnostic::new("other-plan", message).at_place(place(&path, 1, text));
                            let help = "move the file away: this folder has never run the plan that it names";
                            return Err(diagnostic.label("another plan").help(help).into());
                        }
                    }
                    // The process was killed while it wrote the first line.
                    _ if !line.ends_with(b"\n") => {}
                    _ => {
                        let message = format!("`{}` does not begin as the shard of a sweep does", path.display());
                        let diagnostic = Diagnostic::new("wrong-file", message);
                        let diagnostic = diagnostic.at_place(place(&path, 1, &String::from_utf8_lossy(&line)));
                        return Err(diagnostic.help("move the file away, or take another folder").into());
                    }
                }
                offset += length as u64;
                continue;
            }
            let row =
                text.filter(|text| text.ends_with('\n')).and_then(|text| serde_json::from_str::<Line<'_>>(text).ok());
            let known = row.as_ref().and_then(|row| Some((row.point()?, row.makespan_s()?)));
            match (row, known, text) {
                (Some(row), Some((id, makespan_s)), Some(text)) => {
                    if kept.iter().all(|key| text.contains(key.as_str())) {
                        let wall_s = row.wall_s.unwrap_or(0.0) as f32;
                        let is_invalid = row.status == INVALID;
                        self.add(id, StoredRow { makespan_s, wall_s, is_invalid, file, offset }, &name, number);
                    }
                }
                _ => {
                    self.faults.torn_lines += 1;
                    if self.faults.torn.len() < 5 {
                        self.faults.torn.push(format!("{name}:{number}"));
                    }
                }
            }
            offset += length as u64;
        }
        self.files.push(path);
        self.lengths.push(offset);
        Ok(())
    }

    fn add(&mut self, id: u128, found: StoredRow, name: &str, line: usize) {
        let Some(before) = self.rows.insert(id, found) else { return };
        match (before.makespan_s, found.makespan_s) {
            (Some(a), Some(b)) if a.to_bits() != b.to_bits() => {
                if self.faults.differing.len() < 5 {
                    self.faults.differing.push(format!("{name}:{line}"));
                }
            }
            // The later row counts, unless it is a failure after a success.
            (Some(_), None) => {
                self.rows.insert(id, before);
            }
            (None, Some(_)) => {}
            _ => self.faults.doubles += 1,
        }
    }

    /// Opens a reader of rows.
    pub fn reader(&self) -> Result<Rows<'_>, StoreError> {
        Ok(Rows { store: self, open: None, line: Vec::new() })
    }

    /// Notes that this plan is run here, and opens the file of a shard for exclusive writing.
    pub fn writer(&self, plan: &Plan, shard: Shard) -> Result<Writer, StoreError> {
        let path = self.folder.join(PLANS);
        // Other processes may be about to write the same line.
        let mut file = loop {
            match open_alone(&path).map_err(|error| failed(&path, error))? {
                Some(file) => break file,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        if !is_among(&plans(&self.folder)?, &plan.digest) {
            let head = Head {
                store: SCHEMA.into(),
                results: RESULTS,
                plan: plan.digest.as_str().into(),
                name: Some(plan.name.as_str().into()),
            };
            write_line(&mut file, &path, &head)?;
        }
        drop(file);
        Writer::open(self.folder.join(shard.file()), plan, shard)
    }

    /// Returns the files of other processes that may grow while this shard runs.
    pub fn others(&self, shard: Shard) -> OtherShards {
        let own = self.folder.join(shard.file());
        let seen = self.files.iter().cloned().zip(self.lengths.iter().copied()).collect();
        OtherShards { folder: self.folder.clone(), own, seen, rows: 0 }
    }
}

/// Reader of rows.
pub(super) struct Rows<'a> {
    store: &'a Store,
    open: Option<(u16, BufReader<File>)>,
    line: Vec<u8>,
}

impl Rows<'_> {
    /// Reads the text of a row.
    pub fn text(&mut self, row: StoredRow) -> Result<&str, StoreError> {
        let path = &self.store.files[usize::from(row.file)];
        let fail = |error| failed(path, error);
        if self.open.as_ref().is_none_or(|(file, _)| *file != row.file) {
            self.open = Some((row.file, BufReader::with_capacity(1 << 12, File::open(path).map_err(fail)?)));
        }
        let Some((_, reader)) = &mut self.open else { return Ok("") };
        let at = reader.stream_position().map_err(fail)?;
        reader.seek_relative(row.offset.wrapping_sub(at) as i64).map_err(fail)?;
        self.line.clear();
        reader.by_ref().take(MAX_ROW_BYTES).read_until(b'\n', &mut self.line).map_err(fail)?;
        std::str::from_utf8(&self.line).map_err(|error| fail(io::Error::other(error)))
    }
}

/// Opens a file to add lines, which other processes can read but not write; `None` if another process has it.
#[cfg(not(windows))]
fn open_alone(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().read(true).append(true).create(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// As above. On Windows a lock keeps out readers too, and a file opened to append cannot be shortened.
#[cfg(windows)]
fn open_alone(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    const SHARING_VIOLATION: i32 = 32;
    let mut options = File::options();
    match options.read(true).write(true).create(true).truncate(false).share_mode(SHARE_READ).open(path) {
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        opened => opened.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| Some(file))),
    }
}

/// Writer of the file of a shard, locked against other processes.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Writer {
    fn open(path: PathBuf, plan: &Plan, shard: Shard) -> Result<Self, StoreError> {
        let fail = |error| failed(&path, error);
        let Some(mut file) = open_alone(&path).map_err(fail)? else {
            let message = format!("another process runs shard {}/{} (`{}`)", shard.index, shard.of, path.display());
            let help = "wait for it, or give each process a shard of its own: --shard 0/2, --shard 1/2";
            return Err(Diagnostic::new("locked", message).help(help).into());
        };
        let end = end_of_lines(&mut file).map_err(fail)?;
        if file.metadata().map_err(fail)?.len() > end {
            file.set_len(end).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(end)).map_err(fail)?;
        let mut writer = Self { path, file, length: end };
        if end == 0 {
            let head = Head { store: SCHEMA.into(), results: RESULTS, plan: plan.digest.as_str().into(), name: None };
            let mut line = serde_json::to_string(&head).unwrap_or_default();
            line.push('\n');
            writer.write(&line)?;
        }
        Ok(writer)
    }

    /// Adds a line. If that fails, removes the part that was written, as far as possible.
    pub fn write(&mut self, line: &str) -> Result<(), StoreError> {
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                // The part that fitted on the disk is not a row.
                let _ = self.file.set_len(self.length);
                Err(failed(&self.path, error))
            }
        }
    }
}

/// Returns the end of the last whole line.
fn end_of_lines(file: &mut File) -> io::Result<u64> {
    // Longer lines have been refused when the store was read.
    let end = file.seek(SeekFrom::End(0))?;
    let tail = end.saturating_sub(MAX_ROW_BYTES);
    file.seek(SeekFrom::Start(tail))?;
    let mut part = Vec::new();
    file.take(end - tail).read_to_end(&mut part)?;
    Ok(tail + part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1))
}

/// Counter of the rows that other processes add to the store.
pub(super) struct OtherShards {
    folder: PathBuf,
    own: PathBuf,
    /// Length of each file when it was last examined \[B\].
    seen: FxHashMap<PathBuf, u64>,
    rows: u64,
}

impl OtherShards {
    /// Counts the rows that were added since the store was read.
    pub fn rows(&mut self) -> u64 {
        for path in shards(&self.folder).unwrap_or_default().into_iter().filter(|path| *path != self.own) {
            let Ok(length) = fs::metadata(&path).map(|metadata| metadata.len()) else { continue };
            let begin = self.seen.insert(path.clone(), length);
            // A new file begins with a head line, which is not a row.
            let lines = lines_between(&path, begin.unwrap_or(0), length);
            self.rows += lines.saturating_sub(u64::from(begin.is_none()));
        }
        self.rows
    }
}

fn lines_between(path: &Path, begin: u64, end: u64) -> u64 {
    let Ok(mut file) = File::open(path) else { return 0 };
    if file.seek(SeekFrom::Start(begin)).is_err() {
        return 0;
    }
    let mut part = Vec::new();
    let _ = file.take(end.saturating_sub(begin)).read_to_end(&mut part);
    part.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Returns the shard that a file of this name holds.
fn shard_of_name(path: &Path) -> Option<Shard> {
    let (index, of) = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.split_once("-of-")?;
    format!("{index}/{of}").parse().ok()
}

fn check_head(head: &Head<'_>, path: &Path, line: usize, text: &str) -> Result<(), StoreError> {
    let other = |message: String| {
        let diagnostic = Diagnostic::new("other-version", message).at_place(place(path, line, text));
        Err(diagnostic.help("take another folder (-o); the rows in this one are kept").into())
    };
    match (&*head.store, head.results) {
        (SCHEMA, RESULTS) => Ok(()),
        (SCHEMA, results) => other(format!(
            "`{}` was written with version {results} of results, and this program has version {RESULTS}",
            path.display()
        )),
        (store, _) => other(format!("`{}` is a store of the unknown form \"{store}\"", path.display())),
    }
}

fn place(path: &Path, line: usize, text: &str) -> Place {
    let text: String = text.trim_end().chars().take(400).collect();
    Place { file: path.display().to_string(), line, column: 1, length: text.chars().count().max(1), text }
}

fn write_line(file: &mut File, path: &Path, of: &impl Serialize) -> Result<(), StoreError> {
    let mut line = serde_json::to_string(of).unwrap_or_default();
    line.push('\n');
    file.write_all(line.as_bytes()).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> StoreError {
    StoreError::Failed(path.to_owned(), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Loader;

    #[test]
    fn a_shard_that_another_process_begins_while_the_store_is_read_is_none_of_another_plan() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        fs::create_dir(&store).unwrap();
        let plan = |size: &str| {
            let file = folder.path().join("plan.toml");
            let text = format!("topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = [\"{size}\"]\n");
            fs::write(&file, text).unwrap();
            Plan::read(&file, Loader::new()).unwrap()
        };
        let (small, large) = (plan("20 KB"), plan("1 MB"));

        let mut reading = Store::read(&store, &small).unwrap();
        Store::read(&store, &small).unwrap().writer(&small, Shard { index: 1, of: 8 }).unwrap();
        reading.read_file(store.join("1-of-8.jsonl"), &small).unwrap();
        assert!(reading.has_run(&small.digest).unwrap());

        Writer::open(store.join("2-of-8.jsonl"), &large, Shard { index: 2, of: 8 }).unwrap();
        let refused = reading.read_file(store.join("2-of-8.jsonl"), &small).unwrap_err();
        assert!(refused.to_string().contains("2-of-8.jsonl` is a shard of another plan"), "{refused}");
    }
}
