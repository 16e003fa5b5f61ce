//! Traces of this format as programs: the arguments of calls, members of communicators, and damaged files.

mod writer;

use proptest::prelude::*;

use self::writer::{Call, call, file, file_on, trace};
use crate::diagnostic::{Invalid, Sources};
use crate::ids::RankId;
use crate::program::{Op, Program};
use crate::trace::{Options, Tally, Trace};
use crate::units::Time;

const WORLD: i32 = 2;
const INT: i32 = 9;
const DOUBLE: i32 = 14;
const ANY: i32 = -1;

fn text_of(diagnostics: Vec<crate::diagnostic::Diagnostic>) -> String {
    Invalid { diagnostics, sources: Sources::default() }.lines()
}

fn opened<T>(sources: &Sources, read: impl FnOnce(&Trace<'_>) -> Result<T, String>) -> Result<T, String> {
    let trace = Trace::open(sources, &"t.meta".to_owned().into()).map_err(|mistake| text_of(vec![mistake]))?;
    read(&trace)
}

fn program(sources: &Sources, options: Options) -> Result<Program, String> {
    opened(sources, |trace| trace.program(options).map_err(text_of))
}

fn tally(sources: &Sources) -> Tally {
    let mut tally = Tally::default();
    opened(sources, |trace| trace.calls(Options::default(), &mut tally).map_err(text_of)).unwrap();
    tally
}

/// Returns a rank with these calls between `Init` and `Finalize`.
fn rank(calls: Vec<Call>) -> Vec<u8> {
    let end = 1_000_000;
    let mut all = vec![call("Init", (0, 10), &[0])];
    all.extend(calls);
    all.push(call("Finalize", (end, end + 5), &[]));
    file(&all)
}

/// Returns two ranks that exchange a message of 1000 ints, after 90 us of computation of the first.
fn exchange() -> Vec<Vec<u8>> {
    let sender = vec![call("Send", (100, 120), &[1000, INT, 1, 7, WORLD])];
    let receiver = vec![call("Recv", (10, 130), &[1000, INT, 0, 7, WORLD]).status(0, 7, 4000)];
    vec![rank(sender), rank(receiver)]
}

fn ops(program: &Program, rank: u32) -> Vec<Op> {
    program.rank(RankId(rank)).ops.clone()
}

/// Returns the members of all communicators.
fn members(program: &Program) -> Vec<Vec<u32>> {
    let members = |comm: &crate::program::Communicator| (0..comm.size()).map(|rank| comm.world_rank(rank)).collect();
    program.communicators.iter().map(members).collect()
}

#[test]
fn the_same_program_as_text_has_the_same_operations() {
    let text = "0 init\n0 compute 90000\n0 send 1 7 4000 6\n0 compute 999880000\n0 finalize\n1 init\n\
                1 recv 0 7 4000 6\n1 compute 999870000\n1 finalize\n";
    let mut sources = Sources::default();
    sources.attach("t.meta", text.as_bytes());
    let as_text = program(&sources, Options::default()).unwrap();
    let as_dumpi = program(&trace(&exchange()), Options::default()).unwrap();
    for rank in 0..2 {
        assert_eq!(format!("{:?}", ops(&as_text, rank)), format!("{:?}", ops(&as_dumpi, rank)));
    }
}

#[test]
fn processor_time_replaces_real_time_that_is_missing() {
    let calls =
        [call("Init", (0, 10), &[0]), call("Send", (40, 50), &[1, INT, -1, 0, WORLD]), call("Finalize", (80, 90), &[])];
    let one = |clocks: u8| file(&calls_with(&calls, clocks));
    let computed = |clocks| tally(&trace(&[one(clocks)])).computed;
    assert_eq!(computed(12), Time::from_ps(60e6));
    assert_eq!(computed(8), Time::from_ps(60e6));
    assert_eq!(computed(4), Time::from_ps(60e6));
    assert_eq!(computed(0), Time::ZERO);
}

fn calls_with(calls: &[Call], clocks: u8) -> Vec<Call> {
    calls.iter().map(|one| one.with_clocks(clocks)).collect()
}

#[test]
fn a_wildcard_receive_takes_the_message_that_its_wait_names() {
    let receiver = vec![
        call("Irecv", (20, 21), &[50, DOUBLE, ANY, ANY, WORLD, 2]),
        call("Waitall", (30, 40), &[1]).array(&[2]).status(1, 9, 80),
        // The number of a request that is complete is used again.
        call("Recv_init", (41, 42), &[50, DOUBLE, ANY, 3, WORLD, 2]),
        call("Start", (43, 44), &[2]),
        call("Waitany", (45, 46), &[1, 0]).array(&[2]).status(1, 3, 16),
        call("Start", (47, 48), &[2]),
        call("Waitsome", (49, 50), &[1, 1]).array(&[2]).array(&[0]).status(1, 3, 24),
        call("Request_free", (51, 52), &[2]),
    ];
    let sender = [(9, 10), (3, 2), (3, 3)].map(|(tag, count)| call("Send", (20, 30), &[count, DOUBLE, 0, tag, WORLD]));
    let sources = trace(&[rank(receiver), rank(sender.into())]);
    let program = program(&sources, Options::default()).unwrap();
    let received: Vec<_> = ops(&program, 0).into_iter().filter(|op| op.peer == 1).map(|op| (op.tag, op.size)).collect();
    assert_eq!(received, [(9, 80), (3, 16), (3, 24)]);
}

#[test]
fn bytes_of_datatypes_follow_from_the_calls_that_make_them() {
    let calls = vec![
        call("Type_vector", (20, 21), &[3, 2, 9, DOUBLE, 28]),
        call("Type_contiguous", (22, 23), &[10, 28, 29]),
        call("Type_struct", (24, 25), &[2, 30]).array(&[2, 1]).array(&[0, 8]).array(&[INT, 29]),
        call("Type_create_subarray", (26, 27), &[2, 0, INT, 31]).array(&[9, 9]).array(&[4, 5]).array(&[0, 0]),
        call("Send", (30, 31), &[1, 28, 0, 0, WORLD]),
        call("Send", (30, 31), &[1, 29, 0, 0, WORLD]),
        call("Send", (30, 31), &[1, 30, 0, 0, WORLD]),
        call("Send", (30, 31), &[1, 31, 0, 0, WORLD]),
    ];
    let tally = tally(&trace(&[rank(calls)]));
    assert_eq!(tally.calls[&crate::trace::calls::Call::Send].bytes, 48 + 480 + 488 + 80);
}

#[test]
fn members_of_communicators_follow_from_the_calls_of_all_ranks() {
    // Two rows of two, each in falling order; the first column; a grid and its rows.
    let calls = |me: i32| {
        let other_in_row = 0;
        vec![
            call("Comm_split", (20, 21), &[WORLD, me / 2, -me, 4]),
            call("Comm_group", (22, 23), &[WORLD, 3]),
            call("Group_range_incl", (24, 25), &[3, 1, 4]).array(&[0, 3, 2]),
            call("Comm_create", (26, 27), &[WORLD, 4, if me % 2 == 0 { 5 } else { 1 }]),
            call("Cart_create", (28, 29), &[WORLD, 2, 0, 6]).array(&[2, 2]).array(&[0, 0]),
            call("Cart_sub", (30, 31), &[2, 6, 7]).array(&[1, 0]),
            call("Sendrecv", (32, 33), &[1, INT, other_in_row, 1, 1, INT, other_in_row, 1, 4]),
            call("Barrier", (34, 35), &[7]),
        ]
    };
    let sources = trace(&[0, 1, 2, 3].map(|me| rank(calls(me))));
    let program = program(&sources, Options::default()).unwrap();
    let members = members(&program);
    for expected in [vec![1, 0], vec![3, 2], vec![0, 2], vec![0, 1, 2, 3], vec![1, 3]] {
        assert!(members.contains(&expected), "{expected:?} is not in {members:?}");
    }
    // Rank 0 of the row of ranks 0 and 1 is rank 1.
    assert!(ops(&program, 0).iter().any(|op| op.peer == 1));
}

#[test]
fn two_groups_whose_leaders_name_each_other_are_one_communicator() {
    let calls = |me: i32| {
        let other = if me < 2 { 2 } else { 0 };
        let there = me % 2;
        vec![
            call("Comm_split", (20, 21), &[WORLD, me / 2, me, 4]),
            call("Intercomm_create", (22, 23), &[4, 0, WORLD, other, 5, 5]),
            call("Sendrecv", (24, 25), &[1, INT, there, 1, 1, INT, there, 1, 5]).status(there, 1, 4),
            call("Intercomm_merge", (26, 27), &[5, i32::from(me < 2), 6]),
            call("Bcast", (28, 29), &[1, INT, 0, 6]),
        ]
    };
    let program = program(&trace(&[0, 1, 2, 3].map(|me| rank(calls(me)))), Options::default()).unwrap();
    for me in 0..4 {
        let partner = (me + 2) % 4;
        assert_eq!(ops(&program, me).iter().filter(|op| op.peer == partner && op.size == 4).count(), 2);
    }
    assert!(members(&program).contains(&vec![2, 3, 0, 1]));
}

#[test]
fn collectives_move_the_bytes_of_the_side_that_is_valid_in_place() {
    use crate::trace::calls::Call::{Allgather, Allgatherv, Alltoallv, Gatherv, ReduceScatter, Scatterv};
    let calls = |me: i32| {
        let root = |call: Call| if me == 0 { call.array(&[1, 2]).array(&[0, 1]) } else { call };
        vec![
            call("Allgather", (20, 21), &[0, 1, 5, INT, WORLD]),
            call("Allgatherv", (22, 23), &[2, 0, 1, INT, WORLD]).array(&[1, 2]).array(&[0, 1]),
            call("Alltoallv", (24, 25), &[2, INT, INT, WORLD])
                .array(&[3, 4])
                .array(&[0, 3])
                .array(&[3, 4])
                .array(&[0, 3]),
            root(call("Gatherv", (26, 27), &[me, 2, me + 1, INT, 0, WORLD, INT])),
            root(call("Scatterv", (28, 29), &[me, 2, INT, me + 1, INT, 0, WORLD])),
            call("Reduce_scatter", (30, 31), &[2, INT, 3, WORLD]).array(&[6, 7]),
        ]
    };
    let tally = tally(&trace(&[rank(calls(0)), rank(calls(1))]));
    let counts: Vec<_> = [Allgather, Allgatherv, Alltoallv, Gatherv, Scatterv, ReduceScatter]
        .iter()
        .map(|of| tally.calls[of].count)
        .collect();
    assert_eq!(counts, [2; 6]);
    assert_eq!(tally.calls[&Alltoallv].bytes, 2 * 28);
    assert!(program(&trace(&[rank(calls(0)), rank(calls(1))]), Options::default()).is_ok());
}

#[test]
fn calls_that_were_not_recorded_are_counted() {
    // A wait for the request of a non-blocking collective, which the format does not have.
    let waits = || vec![call("Wait", (20, 30), &[5]), call("Wait", (31, 32), &[1])];
    let sources = trace(&[rank(waits())]);
    assert_eq!(tally(&sources).lost, 1);
    let caveats = program(&sources, Options::default()).unwrap().caveats.incomplete.concat();
    assert!(caveats.starts_with("1 calls of rank 0 were not recorded"), "{caveats}");
}

#[test]
fn communicators_without_a_record_have_the_ranks_of_a_host_or_all_whose_numbers_fit() {
    // Communicator 4 by Comm_split_type, 5 by Comm_idup, with its request; 6 holds the first of each host.
    let calls = |me: i32| {
        let there = 1 - me % 2;
        vec![
            call("Init", (0, 10), &[0]),
            call("Comm_rank", (20, 21), &[4, me % 2]),
            call("Comm_size", (22, 23), &[4, 2]),
            call("Sendrecv", (24, 25), &[1, INT, there, 1, 1, INT, there, 1, 4]).status(there, 1, 4),
            call("Wait", (26, 27), &[9]),
            call("Comm_size", (28, 29), &[5, 4]),
            call("Comm_rank", (30, 31), &[5, 3 - me]),
            call("Bcast", (32, 33), &[1, INT, 0, 5]),
            call("Comm_split", (34, 35), &[5, me % 2, me, 6]),
            call("Barrier", (36, 37), &[6]),
            call("Finalize", (50, 51), &[]),
        ]
    };
    let hosts = [b"left", b"left", b"rite", b"rite"];
    let files: Vec<_> = (0..).zip(hosts).map(|(me, host)| file_on(host, &calls(me))).collect();
    let sources = trace(&files);
    let is_exchange = |me: u32, op: &Op| op.peer == me ^ 1 && op.size == 4;
    let with_other = |me, program: &Program| ops(program, me).iter().filter(|op| is_exchange(me, op)).count();
    let whole = program(&sources, Options::default()).unwrap();
    assert_eq!([0, 1, 2, 3].map(|me| with_other(me, &whole)), [2; 4]);
    let members = members(&whole);
    for expected in [vec![0, 1], vec![2, 3], vec![3, 2, 1, 0], vec![0, 2], vec![1, 3]] {
        assert!(members.contains(&expected), "{expected:?} is not in {members:?}");
    }
    // Two communicators were made and one wait ended without a record, on each rank.
    assert_eq!(tally(&sources).lost, 4 * 3);
    // Numbers that no group has: its members remain unknown.
    let odd = files.iter().map(|file| {
        let at = file.windows(6).position(|bytes| bytes == [0, 4, 0, 0, 0, 2]).unwrap();
        [&file[..at + 5], &[3], &file[at + 6..]].concat()
    });
    let text = program(&trace(&odd.collect::<Vec<_>>()), Options::default()).unwrap_err();
    assert!(text.contains("it is not known who is in communicator"), "{text}");
}

#[test]
fn a_rank_that_is_cut_off_ends_the_calls_on_communicators_that_it_did_not_make() {
    let calls = || vec![call("Comm_split", (20, 21), &[WORLD, 0, 0, 4]), call("Barrier", (22, 23), &[4])];
    let mut files = vec![rank(calls()), rank(calls())];
    // Records of 31 bytes for Init, 41 for Comm_split.
    files[1].truncate(60);
    let text = program(&trace(&files), Options::default()).unwrap_err();
    assert!(text.contains("t-0001.bin, rank 1, byte "), "{text}");
    let truncated = Options { truncated: true, ..Options::default() };
    let caveats = program(&trace(&files), truncated).unwrap().caveats.incomplete.concat();
    assert!(caveats.contains("the calls of ranks 0-1 are cut off"), "{caveats}");
}

#[test]
fn counts_of_things_that_are_not_there_are_refused() {
    let waits = call("Waitall", (20, 30), &[2]).array(&[2, 3]).status(0, 1, 2).status(0, 3, 4);
    let ranges = call("Group_range_incl", (31, 32), &[3, 1, 4]).array(&[0, 3, 2]);
    let file = rank(vec![waits, ranges]);
    let sizes = [0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let (array, statuses, rows) =
        ([0, 0, 0, 2, 0, 0, 0, 2], [0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 3]);
    for (count, skipped) in [(&sizes[..], 0), (&array, 4), (&statuses, 0), (&rows, 0), (&rows, 4)] {
        let at = file.windows(count.len()).position(|bytes| bytes == count).unwrap() + skipped;
        let mut mangled = file.clone();
        mangled[at] = 0x7f;
        let text = program(&trace(&[mangled]), Options::default()).unwrap_err();
        assert!(text.contains(&format!("byte {at}: an array claims")), "{text}");
    }
    let mut sources = trace(&[file]);
    sources.attach("t.meta", b"numprocs=1048576\nfileprefix=t\n".as_slice());
    let text = opened(&sources, |_| Ok(())).unwrap_err();
    assert!(text.contains("`t.meta` has 1048576 ranks, of which 1 have files; at most 4096 are read then"), "{text}");
    // A group of all ranks but one for every thirty bytes.
    let of_all = [call("Comm_group", (20, 21), &[WORLD, 3])];
    let groups = (0..30_000).map(|at| call("Group_excl", (22, 23), &[3, 1, 4 + at]).array(&[0]));
    let of_rank = rank(of_all.into_iter().chain(groups).collect());
    let ranks: Vec<Vec<u8>> = (0..500).map(|_| rank(Vec::new())).collect();
    let text = program(&trace(&[vec![of_rank], ranks].concat()), Options::default()).unwrap_err();
    assert!(text.contains("groups of the files have more than"), "{text}");
}

#[test]
fn a_small_file_that_expands_to_another_format_is_not_read_whole() {
    // 300 MiB of zeros, of which eight bytes are read.
    let sources = trace(&[zstd::encode_all(&[0; 1 << 20][..], 1).unwrap().repeat(300)]);
    let text = program(&sources, Options::default()).unwrap_err();
    assert!(text.contains("byte 0: the file does not begin with ff aa dd"), "{text}");
}

#[test]
fn one_sided_communication_takes_its_time() {
    let calls = vec![
        call("Win_fence", (20, 30), &[0, 1]),
        call("Put", (40, 60), &[1, INT, 0, 0, 1, INT, 1]),
        call("Comm_rank", (70, 90), &[WORLD, 0]),
    ];
    assert_eq!(tally(&trace(&[rank(calls)])).calls[&crate::trace::calls::Call::Opaque].count, 2);
}

#[test]
fn a_mistake_names_file_rank_and_byte() {
    let of = |files: &[Vec<u8>]| program(&trace(files), Options::default()).unwrap_err();
    let good = exchange();
    let mut turned = good.clone();
    turned[1][..8].reverse();
    assert!(of(&turned).contains("t-0001.bin, rank 1, byte 0: the file does not begin with ff aa dd"));
    assert!(of(&turned).contains("the bytes are in the wrong order"));
    let header = good[0].windows(6).position(|bytes| bytes == [0, 4, b'h', b'o', b's', b't']).unwrap() - 11;
    let mut newer = good.clone();
    newer[0][header] = 99;
    assert!(of(&newer).contains(&format!("rank 0, byte {header}: version 99.0.0 of the format")));
    let mut unknown = good.clone();
    unknown[0][16..18].copy_from_slice(&[0xab, 0xcd]);
    assert!(of(&unknown).contains("byte 16: function 43981 is none of those that have records"));
    // An array that claims more than the file has.
    let waits = call("Waitall", (20, 30), &[1]).array(&[2]);
    let mut large = vec![rank(vec![waits])];
    let at = large[0].windows(8).position(|bytes| bytes == [0, 0, 0, 1, 0, 0, 0, 1]).unwrap();
    large[0][at + 4] = 0x7f;
    assert!(of(&large).contains(&format!("byte {}: an array claims 2130706433 elements", at + 4)));
    let back = vec![rank(vec![call("Barrier", (500_000, 500_010), &[WORLD]), call("Barrier", (100, 110), &[WORLD])])];
    assert!(of(&back).contains("its clock runs backwards"));
    let other = vec![rank(vec![call("Comm_size", (20, 21), &[WORLD, 8])])];
    assert!(
        of(&other).contains("the program was told that the number of ranks is 8, and the names of the files say 1")
    );
    let mixed = vec![rank(vec![call("Comm_rank", (20, 21), &[WORLD, 3])])];
    assert!(of(&mixed).contains("the program was told that rank is 3"));
    let unsized_type = vec![rank(vec![call("Send", (20, 21), &[1, 60, 0, 0, WORLD])])];
    assert!(of(&unsized_type).contains("the size of datatype 60 is not known"));
    let mut lacking = trace(&good);
    lacking.attach("t.meta", b"numprocs=3\n".as_slice());
    let text = program(&lacking, Options::default()).unwrap_err();
    assert!(text.contains("has the calls of 2 of 3 ranks; rank 2 is missing"), "{text}");
}

#[test]
fn a_file_cut_at_any_byte_is_refused_or_used_as_far_as_it_goes() {
    let good = exchange();
    for length in 0..good[0].len() {
        let cut = vec![good[0][..length].to_vec(), good[1].clone()];
        let text = program(&trace(&cut), Options::default()).unwrap_err();
        assert!(text.contains("t-0000.bin") && text.contains(", byte "), "{length}: {text}");
        let truncated = Options { truncated: true, ..Options::default() };
        let used = program(&trace(&cut), truncated);
        // The body has three records.
        let body = 16..good[0].len() - 2500;
        assert!(used.is_ok() || !body.contains(&length), "{length}: {}", used.unwrap_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut whole = super::MAGIC.to_vec();
        whole.extend(bytes);
        let truncated = Options { truncated: true, ..Options::default() };
        let _ = program(&trace(&[whole]), truncated);
    }

    #[test]
    fn no_change_of_a_good_file_makes_the_reader_panic(changes in prop::collection::vec((0_usize..4000, any::<u8>()), 1..8)) {
        let mut files = exchange();
        for (at, byte) in changes {
            let at = at % files[0].len();
            files[0][at] = byte;
        }
        for truncated in [false, true] {
            let _ = program(&trace(&files), Options { truncated, ..Options::default() });
        }
    }
}
