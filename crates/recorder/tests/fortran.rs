//! Programs in Fortran, through all three interfaces, under every installed MPI: each call is recorded once,
//! with the program's arguments, and the program computes the same as without a recorder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use hayase_needs::is_there;
use hayase_trace::{Call, Event, Flags, Item, Reader};

const INTERFACES: [&str; 3] = ["MPIF_H", "USE_MPI", "USE_F08"];
const RANKS: usize = 3;

/// Returns the path of the recorder that cargo has built for this test.
fn library() -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name("libhayase_recorder.so");
    assert!(library.is_file(), "{}", library.display());
    library
}

/// Compiles the program.
fn compile(mpi: &str, interface: &str, folder: &Path) -> PathBuf {
    let program = folder.join(format!("{interface}-{mpi}"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interfaces.F90");
    let mut compiler = Command::new(format!("mpifort.{mpi}"));
    compiler.args(["-g", "-O0", &format!("-D{interface}"), "-o"]).arg(&program).arg(source);
    // Without interfaces, one routine with arguments of several types is an error to the compiler.
    if interface != "USE_F08" {
        compiler.arg("-fallow-argument-mismatch");
    }
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs the program on three ranks; with a folder, it is recorded there.
fn run(mpi: &str, program: &Path, record: Option<&Path>) -> String {
    let mut command = Command::new("timeout");
    command.arg("120").arg(format!("mpirun.{mpi}")).args(["-np", &RANKS.to_string()]);
    if mpi == "openmpi" {
        command.arg("--oversubscribe");
    }
    command.arg(program).env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env_remove("HAYASE_CAPTURE_DIR");
    if let Some(folder) = record {
        command.env("LD_PRELOAD", library()).env("HAYASE_CAPTURE_DIR", folder);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{mpi} {program:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn events(folder: &Path, rank: usize) -> Vec<Event> {
    let path = folder.join(format!("rank-{rank:05}.hyt"));
    let mut reader = Reader::new(BufReader::new(File::open(&path).unwrap()));
    let mut events = Vec::new();
    let mut ended = false;
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Event(event) => events.push(event.clone()),
            Item::End { lost, .. } => {
                assert_eq!(lost, 0);
                ended = true;
            }
            _ => {}
        }
    }
    assert!(ended, "{}", path.display());
    events
}

/// Number of calls of each kind that each rank makes, as in the program's text.
const COUNTS: &[(Call, [usize; RANKS])] = &[
    (Call::Init, [1; 3]),
    (Call::Send, [3, 2, 3]),
    (Call::Ssend, [0, 1, 1]),
    (Call::Recv, [3, 1, 0]),
    (Call::Probe, [1, 0, 0]),
    (Call::Irecv, [4; 3]),
    (Call::Isend, [3; 3]),
    (Call::Waitall, [4; 3]),
    (Call::Waitany, [2; 3]),
    (Call::Sendrecv, [1; 3]),
    (Call::SendrecvReplace, [1; 3]),
    (Call::SendInit, [1; 3]),
    (Call::RecvInit, [1; 3]),
    (Call::Startall, [2; 3]),
    (Call::RequestFree, [2; 3]),
    (Call::Barrier, [2; 3]),
    (Call::Bcast, [1; 3]),
    (Call::Allreduce, [3; 3]),
    (Call::Reduce, [1; 3]),
    (Call::Alltoall, [1; 3]),
    (Call::Gatherv, [1; 3]),
    (Call::Iallreduce, [1; 3]),
    (Call::Wait, [1; 3]),
    (Call::CommSplit, [1; 3]),
    (Call::CommFree, [1; 3]),
    (Call::Finalize, [1; 3]),
];

#[test]
fn every_call_of_every_interface_is_recorded_once_and_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for mpi in ["openmpi", "mpich"] {
        if !is_there(&format!("mpifort.{mpi}")) {
            continue;
        }
        for interface in INTERFACES {
            let program = compile(mpi, interface, folder.path());
            let record = folder.path().join(format!("run-{interface}-{mpi}"));
            std::fs::create_dir(&record).unwrap();
            let plain = run(mpi, &program, None);
            assert!(plain.contains("answer"), "{plain}");
            assert_eq!(run(mpi, &program, Some(&record)), plain, "{interface} under {mpi} computes something else");
            for rank in 0..RANKS {
                check(&events(&record, rank), rank, &format!("rank {rank} of {interface} under {mpi}"));
            }
        }
    }
}

fn check(events: &[Event], rank: usize, name: &str) {
    let mut counts: BTreeMap<Call, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(event.call).or_default() += 1;
    }
    // The number of tests that find nothing is unknown; together they are one event.
    let tests = counts.remove(&Call::Test).unwrap_or(0);
    assert!((1..=2).contains(&tests), "{name}: {tests} tests");
    let expected: BTreeMap<Call, usize> =
        COUNTS.iter().map(|(call, counts)| (*call, counts[rank])).filter(|(_, count)| *count > 0).collect();
    assert_eq!(counts, expected, "{name}");

    let (left, right) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
    let (left, right) = (left as i32, right as i32);
    let of = |call: Call| events.iter().filter(move |event| event.call == call);
    let all = |call: Call| of(call).map(|event| (event.peer, event.tag, event.bytes)).collect::<Vec<_>>();
    let nowhere = (Event::PROC_NULL, 1, 96);
    let sends = match rank {
        0 => vec![(1, 7, 96), nowhere, (1, 6, 96)],
        1 => vec![nowhere, (2, 6, 96)],
        _ => vec![nowhere, (0, 6, 96), (0, 33, 40)],
    };
    assert_eq!(all(Call::Send), sends, "{name}");
    match rank {
        0 => {
            let mut received = all(Call::Recv);
            received[..2].sort_unstable();
            assert_eq!(received, [(1, 21, 40), (2, 22, 48), (2, 33, 40)], "{name}");
            let any = Flags::ANY_SOURCE.and(Flags::ANY_TAG);
            let flags: Vec<Flags> = of(Call::Recv).map(|event| event.flags).collect();
            assert_eq!(flags, [any, any, Flags::default()], "{name}");
            assert_eq!(all(Call::Probe), [(2, 33, 40)], "{name}");
        }
        1 => {
            assert_eq!(all(Call::Recv), [(0, 7, 96)], "{name}");
            assert_eq!(all(Call::Ssend), [(0, 21, 40)], "{name}");
        }
        _ => assert_eq!(all(Call::Ssend), [(0, 22, 48)], "{name}"),
    }
    assert_eq!(all(Call::Isend), [(right, 3, 96), (right, 4, 8), (right, 5, 96)], "{name}");
    // Two integers arrived in room for three.
    assert_eq!(all(Call::Irecv), [(left, 3, 96), (left, 4, 8), (left, 5, 96), (left, 6, 96)], "{name}");
    for (call, tag) in [(Call::Sendrecv, 8), (Call::SendrecvReplace, 9)] {
        let event = of(call).next().unwrap();
        assert_eq!((event.peer, event.tag, event.bytes), (right, tag, 48), "{name}");
        assert_eq!((event.peer2, event.tag2, event.bytes2), (left, tag, 48), "{name}");
    }
    for event in of(Call::Waitall) {
        assert_eq!(event.requests.len(), 2, "{name}");
    }
    let bytes = |call: Call| of(call).map(|event| event.bytes).collect::<Vec<_>>();
    assert_eq!(bytes(Call::Bcast), [96], "{name}");
    assert_eq!(bytes(Call::Allreduce), [96, 4, 8], "{name}");
    assert!(of(Call::Allreduce).all(|event| event.flags.has(Flags::IN_PLACE)), "{name}");
    assert_eq!(bytes(Call::Alltoall), [4], "{name}");
    assert_eq!(bytes(Call::Gatherv), [8 * (rank as u64 + 1)], "{name}");
    let root = of(Call::Gatherv).next().unwrap();
    assert_eq!(root.counts2, if rank == 0 { vec![8, 16, 24] } else { vec![] }, "{name}");
    let comms: Vec<u32> = of(Call::Allreduce).map(|event| event.comm).collect();
    assert!(comms[1] != 0 && comms[0] == 0 && comms[2] == 0, "{name}: {comms:?}");

    // Without optimisation, loops are not unrolled: a line is a site. The calls are on different lines,
    // except for the two consecutive Waitany and calls in a loop.
    let sites: std::collections::BTreeSet<u32> = events.iter().map(|event| event.site).collect();
    let lines = events.len() - tests + 1 - usize::from(rank == 0) - 2;
    assert!(!sites.contains(&0) && sites.len() == lines, "{name}: {} sites, {lines} lines", sites.len());
}
