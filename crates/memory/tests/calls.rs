//! Effects of calls on the memory of programs: arguments of MPI, blocks that begin and end, and hazards.

mod common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use common::{build, place, run};
use hayase_needs::is_there;
use hayase_trace::memory::{AccessKind, Intervals, Nest};

/// A record: kind, name, writes (begins), address, size.
type Record = (AccessKind, String, bool, u64, u64);

struct Recorded {
    /// Records of each interval, in order.
    records: BTreeMap<u64, Vec<Record>>,
    addresses: BTreeMap<char, u64>,
}

/// Compiles a program as `hayase cc` does, runs it as one process and reads the recording; `None` without the
/// compiler.
fn recorded(compiler: &str, source: &str) -> Option<Recorded> {
    if !is_there(compiler) || !is_there("gcc") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    place(folder.path());
    run(Command::new("gcc").args(["-c", "-O1"]).arg(programs.join("marks.c")).arg("-o").arg(at("marks.o")));
    let source = programs.join(source);
    let words = ["-O2".as_ref(), source.as_os_str(), "marks.o".as_ref(), "-ldl".as_ref(), "-pthread".as_ref()];
    build(compiler, folder.path(), &words as &[&OsStr], "program");
    let mut program = Command::new(at("program"));
    program.env("TEST_FILE", at("accesses.mem"));
    // For Open MPI in containers.
    program.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let said = run(&mut program);
    let addresses = said.lines().map(|line| (line.chars().next().unwrap(), line[2..].parse().unwrap())).collect();

    let mut intervals = Intervals::new(File::open(at("accesses.mem")).unwrap());
    let mut records = BTreeMap::new();
    while let Some(interval) = intervals.next().unwrap() {
        let mut found: Vec<(u64, Record)> = Vec::new();
        let mut add = |site: u32, position, address, size| {
            let site = &intervals.sites()[site as usize];
            found.push((position, (site.kind, site.name.clone(), site.write, address, size)));
        };
        for run in interval.runs() {
            for (address, position) in (0..run.count).filter_map(|index| run.access(index)) {
                add(run.site, position, address, run.size);
            }
        }
        for Nest { site, size, base, first, .. } in interval.blocks.iter().chain(&interval.hazards) {
            add(*site, *first, *base, *size);
        }
        found.sort_by(|(one, a), (other, b)| (one, &a.1, a.2, a.3).cmp(&(other, &b.1, b.2, b.3)));
        records.insert(interval.number, found.into_iter().map(|(_, record)| record).collect());
    }
    assert_eq!(intervals.totals().map(|totals| totals.lost), Some(0));
    Some(Recorded { records, addresses })
}

impl Recorded {
    /// Returns the records of a kind in an interval.
    fn of(&self, interval: u64, kind: AccessKind) -> Vec<&Record> {
        self.records.get(&interval).into_iter().flatten().filter(|record| record.0 == kind).collect()
    }

    /// Asserts that exactly these blocks, by address and name, begin or end in an interval; each has at least
    /// this size.
    fn check_blocks(&self, interval: u64, expected: &[(char, &str, u64)]) {
        let found = self.of(interval, AccessKind::Block);
        assert_eq!(found.len(), expected.len(), "interval {interval}: {found:x?}");
        for (block, (address, name, size)) in found.iter().zip(expected) {
            let (_, function, write, low, length) = block;
            assert!(function.starts_with(name) && *write && length >= size, "interval {interval}: {block:x?}");
            assert_eq!(*low, self.addresses[address], "interval {interval}");
        }
    }

    /// Asserts that a function makes exactly these accesses in an interval: by address, offset, size and
    /// direction.
    fn check(&self, interval: u64, kind: AccessKind, name: &str, expected: &[(char, u64, u64, bool)]) {
        let of = self.of(interval, kind);
        let mut found: Vec<_> =
            of.iter().filter(|record| record.1 == name).map(|record| (record.3, record.4, record.2)).collect();
        let mut expected: Vec<_> =
            expected.iter().map(|&(at, offset, size, write)| (self.addresses[&at] + offset, size, write)).collect();
        // Reads come first.
        assert!(found.is_sorted_by_key(|access| access.2), "interval {interval}: {of:x?}");
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "interval {interval}, {name}: {of:x?}");
    }

    fn hazards(&self) -> Vec<(u64, &str, bool)> {
        let all =
            self.records.iter().flat_map(|(interval, records)| records.iter().map(move |record| (interval, record)));
        all.filter(|(_, record)| record.0 == AccessKind::Hazard)
            .map(|(interval, record)| (*interval, &*record.1, record.2))
            .collect()
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn blocks_begin_and_end_where_the_program_makes_and_frees_them() {
    for compiler in ["gcc", "clang"] {
        let Some(recorded) = recorded(compiler, "blocks.c") else { continue };
        recorded.check_blocks(1, &[('p', "malloc", 1000)]);
        recorded.check_blocks(2, &[('p', "free", 1000)]);
        recorded.check_blocks(3, &[('o', "realloc", 800), ('r', "realloc", 90000)]);
        recorded.check_blocks(4, &[('m', "mmap", 8192)]);
        recorded.check_blocks(5, &[('m', "munmap", 8192)]);
        recorded.check_blocks(12, &[('a', "posix_memalign", 4096)]);
        // Neighbours are merged into one block: all their bytes are there, in few notes.
        for interval in [6, 7] {
            let blocks = recorded.of(interval, AccessKind::Block);
            let (low, high) = blocks.iter().fold((u64::MAX, 0), |(low, high), b| (low.min(b.3), high.max(b.3 + b.4)));
            assert!(blocks.len() <= 2000 && high - low >= 3000 * 64, "{compiler}: {}", blocks.len());
        }
        // The block made before the recording exists from its start.
        let expected = [
            (0, "shared mapping", true),
            (8, "shared mapping", false),
            (9, "shared mapping", true),
            (10, "shared mapping", false),
            (11, "signal handler", true),
            (12, "thread", true),
        ];
        assert_eq!(recorded.hazards(), expected, "{compiler}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn containers_end_with_their_scope_and_exceptions_pass() {
    for compiler in ["g++", "clang++"] {
        let Some(recorded) = recorded(compiler, "containers.cpp") else { continue };
        recorded.check_blocks(1, &[('v', "_Znwm", 8000)]);
        recorded.check_blocks(2, &[('w', "_Znwm", 800_000), ('v', "_ZdlPv", 8000)]);
        recorded.check_blocks(3, &[('w', "_ZdlPv", 800_000)]);
        assert!(recorded.records.contains_key(&104), "{compiler}: {:?}", recorded.records.keys());
        assert_eq!(recorded.hazards(), [(105, "thread", true)], "{compiler}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn copies_of_sections_begin_and_end_with_the_call() {
    let Some(recorded) = recorded("gfortran", "sections.f90") else { return };
    recorded.check_blocks(1, &[('a', "malloc", 8000)]);
    recorded.check_blocks(2, &[('a', "free", 8000)]);
    recorded.check_blocks(3, &[('b', "malloc", 1600)]);
    recorded.check_blocks(4, &[('c', "malloc", 120)]);
    recorded.check_blocks(5, &[('c', "free", 120)]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn arguments_of_mpi_are_accessed_as_the_standard_says() {
    for (compiler, handle, status) in [("mpicc.openmpi", 8, 24), ("mpicc.mpich", 4, 20)] {
        let Some(recorded) = recorded(compiler, "arguments.c") else { continue };
        let check = |interval, kind, name: &str, expected: &[_]| recorded.check(interval, kind, name, expected);
        check(1, AccessKind::Call, "MPI_Sendrecv", &[('s', 0, status, true)]);
        check(2, AccessKind::Library, "MPI_Get_count", &[('s', 0, status, false), ('c', 0, 4, true)]);
        check(3, AccessKind::Call, "MPI_Irecv", &[]);
        let waited = [
            ('q', 0, 3 * handle, false),
            ('q', 0, 3 * handle, true),
            ('c', 0, 4, true),
            ('i', 0, 12, true),
            ('t', 0, 3 * status, true),
        ];
        check(4, AccessKind::Call, "MPI_Waitsome", &waited);
        check(5, AccessKind::Call, "MPI_Waitall", &[('q', 0, 3 * handle, false), ('q', 0, 3 * handle, true)]);
        // From the first to the fourth of a column of two.
        let packed = [('x', 0, 32, false), ('p', 0, 4, false), ('b', 0, 200, true), ('p', 0, 4, true)];
        check(6, AccessKind::Library, "MPI_Pack", &packed);
        check(7, AccessKind::Call, "MPI_Allgatherv", &[('n', 0, 4, false), ('d', 0, 4, false)]);
        check(8, AccessKind::Call, "MPI_Iprobe", &[('f', 0, 4, true)]);
        recorded.check_blocks(9, &[('m', "MPI_Alloc_mem", 5000)]);
        recorded.check_blocks(10, &[('m', "MPI_Free_mem", 5000)]);
        let hazards = [(11, "errors return", true), (14, "window", true), (16, "window", false)];
        let count = if compiler == "mpicc.mpich" { 3 } else { 1 };
        assert_eq!(recorded.hazards(), hazards[..count], "{compiler}");
        let marks: Vec<_> = recorded.of(12, AccessKind::Opaque).iter().map(|mark| &mark.1).collect();
        assert!(marks.iter().any(|name| name.contains("through a pointer")), "{compiler}: {marks:?}");
        check(13, AccessKind::Library, "gettimeofday", &[('z', 0, 16, true)]);
        for interval in (1..=11).chain([13]) {
            let opaque = recorded.of(interval, AccessKind::Opaque);
            // Functions that show objects and set marks.
            assert!(
                opaque.iter().all(|mark| mark.1.contains("not instrumented") || mark.1.contains("printf")),
                "{compiler}: {opaque:?}"
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn arguments_of_fortran_are_read_by_address() {
    for (compiler, status) in [("mpifort.openmpi", 24), ("mpifort.mpich", 20)] {
        let Some(mut recorded) = recorded(compiler, "arguments.f90") else { continue };
        // Count, datatype, rank, tag and communicator are numbers at some address.
        let is_number = |record: &Record| record.0 == AccessKind::Call && !record.2 && record.4 == 4;
        assert_eq!(recorded.records[&1].iter().filter(|record| is_number(record)).count(), 5, "{compiler}");
        recorded.records.values_mut().for_each(|records| records.retain(|record| !is_number(record)));
        let check = |interval, kind, name: &str, expected: &[_]| recorded.check(interval, kind, name, expected);
        check(1, AccessKind::Call, "MPI_Irecv", &[]);
        check(2, AccessKind::Call, "MPI_Isend", &[]);
        check(3, AccessKind::Call, "MPI_Waitall", &[('q', 0, 8, false), ('q', 0, 8, true), ('t', 0, 2 * status, true)]);
        let counted = recorded.of(4, AccessKind::Library);
        let has = |at: char, size, write| {
            counted.iter().any(|record| record.3 == recorded.addresses[&at] && record.4 == size && record.2 == write)
        };
        assert!(has('t', status, false) && has('n', 4, true), "{compiler}: {counted:x?}");
        check(5, AccessKind::Call, "MPI_Probe", &[]);
        check(6, AccessKind::Call, "MPI_Probe", &[('s', 0, status, true)]);
        let reduced = recorded.of(7, AccessKind::Library);
        let expected = [('x', 16, false), ('y', 0, false), ('y', 0, true)];
        for (at, offset, write) in expected {
            let low = recorded.addresses[&at] + offset;
            assert!(reduced.iter().any(|record| (record.3, record.4, record.2) == (low, 32, write)), "{reduced:x?}");
        }
        assert_eq!(recorded.hazards(), [(8, "errors return", true)], "{compiler}");
        // Five of ten elements in three columns are copied: by the library of gfortran, or in a loop.
        let b = recorded.addresses[&'b'];
        let read = recorded.records[&9].iter().filter(|record| !record.2 && (b..b + 1600).contains(&record.3));
        let read: Vec<(u64, u64)> = read.map(|record| (record.3 - b, record.4)).collect();
        let expected: Vec<(u64, u64)> =
            (2..5_u64).flat_map(|j| (0..5).map(move |i| (8 * (10 * j + 2 * i), 8))).collect();
        assert_eq!(read, expected, "{compiler}");
        let copies = recorded.of(9, AccessKind::Library);
        assert!(copies.iter().filter(|copy| copy.2).all(|copy| copy.4 == 120), "{compiler}: {copies:x?}");
    }
}
