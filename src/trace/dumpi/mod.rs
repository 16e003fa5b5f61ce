//! DUMPI traces of MPI programs: binary files, one per rank, as the library of the SST simulators records them.
//!
//! A trace has every call of MPI with its arguments, and the times at entry and exit on the clocks of the processor
//! and of the wall. It does not have the members of communicators, which follow from the calls of all ranks
//! (`members`), nor the message of a wildcard receive, which the result of its wait tells (`requests`).
//!
//! | record | call |
//! |---|---|
//! | messages, requests, probes, collectives, communicators | the same |
//! | one-sided communication, files, processes that join | `Opaque`: its recorded time |
//! | all others | none: their time is computation |
//!
//! Calls that the library has not recorded are lost: those that its options left out, and the non-blocking
//! collectives of MPI-3, of which only the waits are there.
//!
//! Source: sst-dumpi, `docs/traceformat.dox`, `common/argtypes.h`, `common/constants.h`, `common/dumpiio.c`.

mod convert;
mod file;
pub(super) mod files;
mod functions;
mod members;
mod record;
mod requests;
mod types;
mod wire;

pub(super) use file::MAGIC;

use self::convert::Converter;
use self::file::Sections;
use self::members::{COMM_WORLD, Steps};
use self::record::NS_PER_S;
use self::requests::{Results, each};
use self::types::Types;
use super::calls::{Call, CallKind, Calls, Clock, Header, Item};
use crate::base::memory;
use crate::diagnostic::{Diagnostic, Located};
use crate::reading::Input;
use crate::trace::fault::{Fault, mistake};

/// Largest file of a rank \[B\]. It is kept whole while it is read.
const LARGEST: u64 = 64 << 30;

/// Function that opens the file of a rank.
pub(super) type Open<'a> = dyn Fn(&Located<String>) -> Result<Input, Diagnostic> + 'a;

/// Reads a trace. With `truncated`, files that end early are used as far as they go.
///
/// # Errors
/// A file that cannot be read, is damaged or ends early, with the rank and the byte.
pub(super) fn read(
    ranks: &files::Ranks,
    open: &Open<'_>,
    truncated: bool,
    calls: &mut impl Calls,
) -> Result<(), Vec<Diagnostic>> {
    let is_accepted = |fault: &Fault| truncated && fault.code == "truncated-trace";
    let mut steps: Vec<Steps> = (0..ranks.count).map(|_| Steps::default()).collect();
    let mut is_cut = false;
    for (rank, file) in &ranks.files {
        let (name, bytes) = whole(open, file)?;
        let of = &mut steps[*rank as usize];
        match scan(&bytes, *rank, ranks.count, of) {
            Err(fault) if !is_accepted(&fault) => return Err(vec![at(fault, &name, *rank)]),
            scanned => is_cut |= scanned.is_err(),
        }
    }
    let (known, made) = members::resolve(steps).map_err(|what| vec![Diagnostic::new("unlike-groups", what)])?;
    // A rank ends at its first call on a communicator whose members are unknown because a file is cut off.
    let is_accepted = |fault: &Fault| is_accepted(fault) || is_cut && fault.code == "unknown-members";
    for (rank, file) in &ranks.files {
        let (name, bytes) = whole(open, file)?;
        let (made, told) = &made[*rank as usize];
        match convert(&bytes, (*rank, ranks.count), (&known, made, told), calls) {
            Err(fault) if !is_accepted(&fault) => return Err(vec![at(fault, &name, *rank)]),
            _ => {}
        }
    }
    Ok(())
}

/// Reads the file of a rank; of one that does not begin as such only the first bytes, which [`Sections`] refuses.
fn whole(open: &Open<'_>, file: &Located<String>) -> Result<(String, Vec<u8>), Vec<Diagnostic>> {
    let most = memory::free().map_or(LARGEST, |free| LARGEST.min(free / 2));
    let read = open(file).and_then(|mut input| Ok((input.name().to_owned(), input.read_whole_of(&MAGIC, most)?)));
    read.map_err(|diagnostic| vec![diagnostic])
}

fn at(Fault { code, at, what }: Fault, file: &str, rank: u32) -> Diagnostic {
    let diagnostic = Diagnostic::new(code, format!("{file}, rank {rank}, byte {at}: {what}"));
    match code {
        "truncated-trace" => diagnostic.help("--truncated uses the calls before, up to where all ranks have calls"),
        "unknown-size" => diagnostic.help("record with a version of the library that writes the sizes of datatypes"),
        _ => diagnostic,
    }
}

/// Gathers what the members of communicators follow from, and checks the rank that the file is of.
fn scan(bytes: &[u8], rank: u32, ranks: u32, steps: &mut Steps) -> Result<(), Fault> {
    let sections = Sections::new(bytes)?;
    (steps.host, steps.bytes) = (sections.host.clone(), bytes.len());
    each(sections.records(), |record| {
        let [comm, value, ..] = record.numbers;
        let (expected, what) = match record.function.name {
            "Comm_rank" if comm == COMM_WORLD => (rank, "rank"),
            "Comm_size" if comm == COMM_WORLD => (ranks, "the number of ranks"),
            _ => {
                steps.take(record);
                return Ok(());
            }
        };
        if u32::try_from(value).is_ok_and(|value| value == expected) {
            return Ok(());
        }
        let what = format!("the program was told that {what} is {value}, and the names of the files say {expected}");
        mistake("other-run", record.at as u64, what)
    })?;
    if sections.is_cut_off { Err(sections.cut_off()) } else { Ok(()) }
}

/// Passes on the calls of a rank.
fn convert(
    bytes: &[u8],
    (rank, ranks): (u32, u32),
    of: (&[members::Known], &members::Made, &members::Told),
    calls: &mut impl Calls,
) -> Result<(), Fault> {
    let sections = Sections::new(bytes)?;
    let wrong = |wrong: super::calls::ItemError| Fault::of_item(wrong, 0);
    // The clock of the first record is that of all.
    let mut first = sections.records();
    let record = first.next().ok().flatten();
    let (clock, begin) = match record.map(|record| (record.wall, record.cpu)) {
        Some((Some(wall), _)) => (Clock::Wall, wall.0),
        Some((None, Some(_))) => (Clock::Cpu, 0),
        _ => (Clock::None, 0),
    };
    let mut header = Header { clock, ..Header::new(rank, ranks) };
    if clock == Clock::Wall {
        header.start = u64::from(sections.epochs[1]) * NS_PER_S + begin;
    }
    if !sections.host.is_empty() {
        header = header.note("host", &sections.host);
    }
    calls.item(rank, 0, Item::Header(&header)).map_err(wrong)?;
    let results = Results::read(sections.records());
    let types = Types::new(&sections.sizes);
    let mut converter = Converter::new(rank, clock, types, of, results);
    each(sections.records(), |record| converter.take(record, calls))?;
    if sections.is_cut_off {
        return Err(sections.cut_off());
    }
    let communicates = |call: Call| call.kind() != CallKind::Local;
    let ignored = functions::functions().into_iter().zip(&sections.ignored);
    let ignored = ignored.filter(|(function, _)| function.call.is_some_and(communicates));
    let lost = ignored.fold(converter.lost, |lost, (_, &count)| lost.saturating_add(count.into()));
    let end = Item::End { events: converter.events, lost };
    calls.item(rank, 0, end).map_err(wrong)
}

#[cfg(test)]
mod tests;
