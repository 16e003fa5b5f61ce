//! Archives read back, compared with the calls they were written from, and damaged.

use std::collections::BTreeMap;

use super::{Archive, ToArchive, read};
use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::reading::Input;
use crate::trace::calls::Calls;
use crate::trace::{Tally, ToProgram, time_independent};

/// Actions of four ranks: requests, collectives and messages.
const ACTIONS: &str = "\
0 init\n1 init\n2 init\n3 init\n0 compute 5e6\n0 isend 1 7 1000 6\n0 wait 0 1 7\n1 irecv 0 7 1000 6\n1 compute 1e5\n\
1 wait 0 1 7\n2 send 3 1 70000 6\n3 recv 2 1 70000 6\n0 allreduce 8 0 6\n1 allreduce 8 0 6\n2 allreduce 8 0 6\n\
3 allreduce 8 0 6\n0 bcast 4096 1 6\n1 bcast 4096 1 6\n2 bcast 4096 1 6\n3 bcast 4096 1 6\n0 alltoall 64 64 6 6\n\
1 alltoall 64 64 6 6\n2 alltoall 64 64 6 6\n3 alltoall 64 64 6 6\n0 finalize\n1 finalize\n2 finalize\n3 finalize\n";

fn actions(calls: &mut impl Calls) {
    let open = |name: &str| Ok(Input::from_bytes(name, ACTIONS.into()));
    time_independent::read("a.txt", &open, 1e9, calls).unwrap();
}

/// Files of an archive by their names.
fn files_of(archive: Archive) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::from([("a.otf2".into(), archive.anchor), ("a.def".into(), archive.definitions)]);
    files.extend(archive.locations.into_iter().map(|(name, bytes)| (format!("a/{name}"), bytes)));
    files
}

fn archive() -> BTreeMap<String, Vec<u8>> {
    let mut archive = ToArchive::new();
    actions(&mut archive);
    files_of(archive.finish().unwrap())
}

fn read_files(files: &BTreeMap<String, Vec<u8>>, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    let open = |name: &str| match files.get(name) {
        Some(bytes) => Ok(Input::from_bytes(name, bytes.clone())),
        None => Err(Diagnostic::new("missing-file", format!("there is no file `{name}`"))),
    };
    read("a.otf2", &open, calls)
}

fn totals(program: &Program) -> (u64, u64, u64) {
    (program.messages(), program.collective_calls(), program.operations())
}

#[test]
fn an_archive_makes_the_program_of_the_calls_it_was_written_from() {
    let (mut direct, mut through) = (ToProgram::new("a", "line"), ToProgram::new("a", "event"));
    actions(&mut direct);
    read_files(&archive(), &mut through).unwrap();
    let (direct, through) = (direct.finish().unwrap(), through.finish().unwrap());
    assert_eq!(totals(&direct), totals(&through));
    for ((rank, direct), (_, through)) in direct.iter().zip(through.iter()) {
        assert_eq!(format!("{:?}", direct.ops), format!("{:?}", through.ops), "rank {rank}");
    }
}

#[test]
fn an_archive_has_the_calls_and_bytes_it_was_written_from() {
    let (mut direct, mut through) = (Tally::default(), Tally::default());
    actions(&mut direct);
    read_files(&archive(), &mut through).unwrap();
    assert_eq!((direct.ranks, direct.events, direct.computed), (through.ranks, through.events, through.computed));
    let bytes = |tally: &Tally| tally.calls.iter().map(|(&call, one)| (call, one.count, one.bytes)).collect::<Vec<_>>();
    assert_eq!(bytes(&direct), bytes(&through));
}

#[test]
fn a_file_that_is_cut_off_at_any_byte_is_refused_with_its_name() {
    let whole = archive();
    for (name, bytes) in &whole {
        // The last byte, after the end of the file, has no meaning.
        for length in 0..bytes.len() - 1 {
            let mut files = whole.clone();
            files.insert(name.clone(), bytes[..length].to_vec());
            let mistakes = read_files(&files, &mut Tally::default()).unwrap_err();
            assert!(mistakes[0].message.contains(name.as_str()), "{name} {length}: {}", mistakes[0].message);
        }
    }
}

#[test]
fn a_changed_byte_never_panics() {
    let whole = archive();
    let mut random = 1_u64;
    for _round in 0..4000 {
        let mut files = whole.clone();
        for _change in 0..=(random >> 40) % 3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize;
            if let Some(file) = files.values_mut().nth(at % whole.len()) {
                let place = (at / 16) % file.len();
                file[place] = (random >> 20) as u8;
            }
        }
        let mut program = ToProgram::new("a", "event");
        if read_files(&files, &mut program).is_ok() {
            drop(program.finish());
        }
    }
}

#[test]
fn every_missing_file_is_named() {
    let whole = archive();
    for name in whole.keys() {
        let mut files = whole.clone();
        files.remove(name);
        let mistakes = read_files(&files, &mut Tally::default()).unwrap_err();
        assert!(mistakes[0].message.contains(name.as_str()), "{name}: {}", mistakes[0].message);
    }
}
