//! Archives read back, compared with the calls they were written from, and damaged.

use std::collections::BTreeMap;

use super::{Archive, ToArchive, read};
use crate::diagnostic::Diagnostic;
use crate::program::{CollectiveCall, Counts, Program};
use crate::reading::Input;
use crate::trace::calls::{Call, Calls, Communicator, Event, Flags, Header, Item};
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

/// Number of ranks of small archives.
const RANKS: u32 = 4;

/// Returns the files of an archive in which ranks make these calls, on a communicator 1 with these members and remote
/// group, if any.
fn archive_of(
    group: impl Fn(u32) -> Option<(Vec<u32>, Vec<u32>)>,
    calls: impl Fn(u32) -> Vec<Event>,
) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ToArchive::new();
    for me in 0..RANKS {
        let mut put = |item: Item<'_>| archive.item(me, 0, item).unwrap();
        put(Item::Header(&Header::new(me, RANKS)));
        put(Item::Event(&Event::new(Call::Init, 0, 10)));
        if let Some((members, remote)) = group(me) {
            put(Item::Communicator(1, &Communicator { id: 5, members, remote }));
        }
        for (event, at) in calls(me).into_iter().zip(1..) {
            put(Item::Event(&Event { begin: 100 * at, end: 100 * at + 10, ..event }));
        }
        put(Item::Event(&Event::new(Call::Finalize, 9000, 9010)));
        put(Item::End { events: 0, lost: 0 });
    }
    files_of(archive.finish().unwrap())
}

fn program_of(files: &BTreeMap<String, Vec<u8>>) -> Result<Program, String> {
    let text = |mistakes: Vec<Diagnostic>| mistakes[0].message.clone();
    let mut program = ToProgram::new("a", "event");
    read_files(files, &mut program).map_err(text)?;
    program.finish().map_err(text)
}

#[test]
fn blocks_of_different_sizes_follow_from_the_sums_of_all_ranks() {
    let new = |call: Call| Event::new(call, 0, 0);
    let blocks: Vec<u64> = (1..=u64::from(RANKS)).map(|size| 8 * size).collect();
    // Sums s of 100, 200, 300, 400 and r of 10 (b_0 + ...): every block is s_i r_j / (r_0 + ...).
    let block = |from: u64, to: u64| (from + 1) * 10 * (to + 1);
    let ranks = || 0..u64::from(RANKS);
    let files = archive_of(
        |_| None,
        |me| {
            let (own, me) = (blocks[me as usize], u64::from(me));
            let at_root = || if me == 1 { blocks.clone() } else { Vec::new() };
            vec![
                Event { bytes: own, counts2: blocks.clone(), ..new(Call::Allgatherv) },
                Event { bytes: own, peer: 1, counts2: at_root(), ..new(Call::Gatherv) },
                Event { bytes2: own, peer: 1, counts: at_root(), ..new(Call::Scatterv) },
                Event { counts: blocks.clone(), ..new(Call::ReduceScatter) },
                Event { bytes: own, counts2: blocks.clone(), requests: vec![1], ..new(Call::Iallgatherv) },
                Event {
                    counts: ranks().map(|to| block(me, to)).collect(),
                    counts2: ranks().map(|from| block(from, me)).collect(),
                    ..new(Call::Alltoallv)
                },
                Event { requests: vec![1], ..new(Call::Wait) },
            ]
        },
    );
    let mut tally = Tally::default();
    read_files(&files, &mut tally).unwrap();
    assert_eq!([Call::Gatherv, Call::Scatterv].map(|call| tally.calls[&call].bytes), [80, 80]);
    let program = program_of(&files).unwrap();
    let each = Counts::Each(blocks.as_slice().into());
    for (call, root) in [
        (CollectiveCall::Allgather, 0),
        (CollectiveCall::Gather, 1),
        (CollectiveCall::Scatter, 1),
        (CollectiveCall::ReduceScatter, 0),
    ] {
        let found: Vec<_> = program.collectives.iter().filter(|of| of.call == call && of.root == root).collect();
        // Other ranks than the root know their own block alone.
        let expected = if root == 1 { RANKS as usize } else { 1 };
        assert!(found.iter().any(|of| of.counts == each) && found.len() == expected, "{found:?}");
    }
    for from in ranks() {
        let row: Vec<u64> = ranks().map(|to| block(from, to)).collect();
        let row = Counts::Each(row.as_slice().into());
        assert!(program.collectives.iter().any(|of| of.call == CollectiveCall::Alltoall && of.counts == row));
    }
}

#[test]
fn shares_of_a_sum_add_up_to_it() {
    let weights = [3, 0, 5, 1, 1 << 40];
    for sum in [0, 1, 7, 1000, u64::MAX] {
        let shares = super::sizes::shares(sum, weights.into_iter());
        assert_eq!((shares.len(), shares.iter().sum::<u64>()), (5, sum));
    }
    assert_eq!(super::sizes::shares(90, [1, 0, 2].into_iter()), [30, 0, 60]);
    assert!(super::sizes::shares(90, [7, 7, 7].into_iter()).is_empty());
}

#[test]
fn collectives_between_two_groups_are_refused_as_such() {
    let sides = |me: u32| if me < 2 { (vec![0, 1], vec![2, 3]) } else { (vec![2, 3], vec![0, 1]) };
    let calls = |_| {
        let (comm, flags) = (1, Flags::default().and(Flags::INTER));
        vec![Event { comm, flags, peer: 0, bytes: 8, ..Event::new(Call::Bcast, 0, 0) }]
    };
    let text = program_of(&archive_of(|me| Some(sides(me)), calls)).unwrap_err();
    assert!(text.contains("rank 0, byte ") && text.contains("between two groups are not replayed"), "{text}");
}

#[test]
fn containers_and_compressed_files_are_named_with_the_way_out() {
    for (at, name, setting) in [
        (28, "stored in SION containers, and plain files are read", "SCOREP_TRACING_USE_SION=false"),
        (29, "compressed with zlib by OTF2, and plain files are read", "SCOREP_TRACING_COMPRESS=false"),
    ] {
        let mut files = archive();
        files.get_mut("a.otf2").unwrap()[at] = 2;
        let text = program_of(&files).unwrap_err();
        assert!(text.starts_with(&format!("a.otf2, byte {at}: ")), "{text}");
        assert!(
            text.contains(name) && text.contains(setting) && text.contains("whose Python package writes them"),
            "{text}"
        );
    }
}

#[test]
fn counts_of_things_that_are_not_there_are_refused() {
    // Groups of all ranks: number of members, and these.
    let group = [1, 4, 0, 1, 1, 1, 2, 1, 3];
    let places = |bytes: &[u8]| (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&group)).collect::<Vec<_>>();
    let whole = archive();
    let found = places(&whole["a.def"]);
    assert_eq!(found.len(), 2);
    let mut mangled = Vec::new();
    for &at in &found {
        mangled.push(("a.def", at, vec![4, 0xff, 0xff, 0xff, 0x7f], "2147483647 members do not fit into the record"));
    }
    mangled.push(("a.def", found[1], vec![1, 4, 0, 1, 2], "a group has rank 2 twice"));
    mangled.push(("a.otf2", 30, vec![0xff; 7], "locations, and `a.def` defines 4"));
    mangled.push(("a.otf2", 12, vec![0xff; 7], "262144 to 16777216 are expected"));
    for (name, at, bytes, message) in mangled {
        let mut files = whole.clone();
        files.get_mut(name).unwrap()[at..at + bytes.len()].copy_from_slice(&bytes);
        let text = program_of(&files).unwrap_err();
        assert!(text.contains(name) && text.contains(message), "{text}");
    }
}
