//! Reading of an archive, location by location.

use std::collections::BTreeMap;

use super::EXTENSION;
use super::anchor::Anchor;
use super::definitions::{Definitions, LocalDefinitions, THREAD};
use super::file::{CHUNK, Records};
use super::joint::Joints;
use super::layout::{definitions as known, events, local};
use super::rank::{Completions, RankEvents, State};
use crate::diagnostic::Diagnostic;
use crate::reading::Input;
use crate::trace::calls::{Calls, Clock};
use crate::trace::fault::Fault;

/// Function that opens a file of an archive by its name.
pub type Open<'a> = dyn Fn(&str) -> Result<Input, Diagnostic> + 'a;

/// Largest anchor \[B\].
const LARGEST_ANCHOR: u64 = 1 << 20;

/// Returns the name of an archive without its extension.
fn stem(path: &str) -> &str {
    path.strip_suffix(EXTENSION).and_then(|path| path.strip_suffix('.')).unwrap_or(path)
}

/// Returns the names of all files of an archive: anchor, definitions, and two for each location.
///
/// # Errors
/// Anchor or definitions that cannot be read.
pub fn files(path: &str, open: &Open<'_>) -> Result<Vec<String>, Vec<Diagnostic>> {
    let (_, definitions) = opened(path, open).map_err(|mistake| vec![mistake])?;
    let stem = stem(path);
    let mut files = vec![path.to_owned(), format!("{stem}.def")];
    let of = |location| [format!("{stem}/{location}.def"), format!("{stem}/{location}.evt")];
    files.extend(definitions.locations.keys().flat_map(of));
    Ok(files)
}

fn opened(path: &str, open: &Open<'_>) -> Result<(Anchor, Definitions), Diagnostic> {
    let mut input = open(path)?;
    let name = input.name().to_owned();
    let bytes = input.read_whole_of(&[CHUNK], LARGEST_ANCHOR)?;
    let anchor = Anchor::read(&bytes).map_err(|wrong| wrong.of(&name, ""))?;
    let input = open(&format!("{}.def", stem(path)))?;
    let mut records = Records::new(input, anchor.definitions, false, known::of);
    let definitions = Definitions::read(&mut records).map_err(|wrong| wrong.of(records.name(), ""))?;
    if anchor.locations != definitions.locations.len() as u64 {
        let (claimed, there) = (anchor.locations, definitions.locations.len());
        let what = format!("`{name}` counts {claimed} locations, and `{}` defines {there}", records.name());
        return Err(Diagnostic::new("damaged-trace", what));
    }
    Ok((anchor, definitions))
}

/// Reads an archive; `path` is its anchor, next to which the other files are searched.
///
/// Cost: proportional to the files, which are read three times; memory: a chunk, the receives and non-blocking
/// collectives of one location, and the sums of the collectives whose blocks have different sizes.
///
/// # Errors
/// Mistakes of the files, with rank or location and byte; files that are missing.
pub fn read(path: &str, open: &Open<'_>, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    read_all(path, open, calls).map_err(|mistake| vec![mistake])
}

fn read_all(path: &str, open: &Open<'_>, calls: &mut impl Calls) -> Result<(), Diagnostic> {
    let (anchor, definitions) = opened(path, open)?;
    let stem = stem(path);
    let clock = match anchor.clock.as_slice() {
        b"cpu" => Clock::Cpu,
        b"none" => Clock::None,
        _ => Clock::Wall,
    };
    let file_of = |location: u64| -> Result<Records, Diagnostic> {
        Ok(Records::new(open(&format!("{stem}/{location}.evt"))?, anchor.events, true, events::of))
    };
    let ranks = definitions.ranks.len() as u32;
    let mut by_location = BTreeMap::new();
    let (mut made_up, mut records_of_mpi, mut locals) = (0, 0, [None, None]);
    let local_of = |location: u64| local_definitions(&format!("{stem}/{location}.def"), open, anchor.definitions);
    let of_rank = |wrong: Fault, records: &Records, rank: u32| wrong.of(records.name(), &format!(", rank {rank}"));
    let mut joints = Joints::default();
    for (rank, &location) in (0..).zip(&definitions.ranks) {
        let (local, mut records) = (local_of(location)?.unwrap_or_default(), file_of(location)?);
        joints.add(rank, &local, &mut records).map_err(|wrong| of_rank(wrong, &records, rank))?;
    }
    for (rank, &location) in (0..).zip(&definitions.ranks) {
        if let Some(other) = by_location.insert(location, rank) {
            let what = format!("ranks {other} and {rank} of `{path}` are both location {location}");
            return Err(Diagnostic::new("repeated-rank", what));
        }
        let local = local_of(location)?;
        locals[usize::from(local.is_some())].get_or_insert(location);
        if let [Some(without), Some(with)] = locals {
            let what = format!("there is no file `{stem}/{without}.def`, and location {with} has one");
            return Err(Diagnostic::new("missing-file", what).help("it may correct the clock of the location"));
        }
        let mut records = file_of(location)?;
        let completions = Completions::read(&mut records).map_err(|wrong| of_rank(wrong, &records, rank))?;
        records_of_mpi += completions.records;
        let mut records = file_of(location)?;
        let events = RankEvents {
            rank,
            definitions: &definitions,
            local: local.unwrap_or_default(),
            completions,
            calls: &mut *calls,
            clock,
            joints: &joints,
            made_up: &mut made_up,
            state: State::default(),
        };
        events.read(&mut records, ranks).map_err(|wrong| of_rank(wrong, &records, rank))?;
    }
    // Other threads may compute, and not communicate.
    let is_other = |number: &u64, known: &super::definitions::Location| {
        known.kind == THREAD && known.events > 0 && !by_location.contains_key(number)
    };
    for (&location, _) in definitions.locations.iter().filter(|(number, known)| is_other(number, known)) {
        let mut records = file_of(location)?;
        let found = Completions::read(&mut records)
            .map_err(|wrong| wrong.of(records.name(), &format!(", location {location}")))?;
        if found.records > 0 {
            let what = format!("`{}` has {} records of MPI, and is no first thread", records.name(), found.records);
            let help = "programs whose threads all communicate are read from recordings of Hayase (.hyt)";
            return Err(Diagnostic::new("several-threads", what).help(help));
        }
    }
    if records_of_mpi == 0 {
        let what = format!("`{path}` has no messages and no collectives, only regions and their times");
        let help = "record the program with its MPI events, as Score-P does with SCOREP_MPI_ENABLE_GROUPS=all";
        return Err(Diagnostic::new("no-calls", what).help(help));
    }
    Ok(())
}

/// Reads the definitions of a location, if it has any.
fn local_definitions(name: &str, open: &Open<'_>, size: u64) -> Result<Option<LocalDefinitions>, Diagnostic> {
    match open(name) {
        Ok(input) => {
            let mut records = Records::new(input, size, false, local::of);
            let read = LocalDefinitions::read(&mut records);
            read.map(Some).map_err(|wrong| wrong.of(records.name(), ""))
        }
        Err(mistake) if mistake.code == "missing-file" => Ok(None),
        Err(mistake) => Err(mistake),
    }
}
