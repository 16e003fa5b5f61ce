//! Programs compiled by gcc, gfortran and clang: their recordings are compared with their accesses.

mod common;
#[path = "../../recorder/tests/common/machine_code.rs"]
mod machine_code;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use common::{build, library, place, run};
use hayase_needs::is_there;

use hayase_trace::memory::{AccessKind, Intervals, Nest, Site};

/// An access: address, number of bytes, true if written.
type Access = (u64, u64, bool);

/// A recording: the plain accesses of each interval in order, including those of gathers, and the accesses of
/// libraries and opaque calls by name.
struct Recorded {
    plain: BTreeMap<u64, Vec<Access>>,
    named: Vec<(u64, String, Access)>,
    /// Functions that began or ended in each interval: position and bytes.
    frames: BTreeMap<u64, Vec<(u64, Access)>>,
    addresses: BTreeMap<char, u64>,
    /// Number of nests and gathers in the first two intervals.
    nests: usize,
}

/// Compiles a program as `hayase cc` does, runs it and reads the recording; `None` without the compiler.
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
    let words = [OsStr::new("-O2"), source.as_os_str(), OsStr::new("marks.o"), OsStr::new("-ldl")];
    build(compiler, folder.path(), &words, "program");
    let said = run(Command::new(at("program")).env("TEST_FILE", at("accesses.mem")));
    let addresses: BTreeMap<char, u64> =
        said.lines().map(|line| (line.chars().next().unwrap(), line[2..].parse().unwrap())).collect();

    let mut intervals = Intervals::new(File::open(at("accesses.mem")).unwrap());
    let mut recorded =
        Recorded { plain: BTreeMap::new(), named: Vec::new(), addresses, nests: 0, frames: BTreeMap::new() };
    let mut accesses = 0;
    while let Some(interval) = intervals.next().unwrap() {
        let mut by_position = BTreeMap::new();
        // In the last interval of one program a sort calls back, in an order that does not fold.
        if interval.number < 2 {
            recorded.nests += interval.nests.len() + interval.gathers.len();
        }
        for run in interval.runs() {
            for index in 0..run.count {
                let (address, position) = run.access(index).unwrap();
                let site: &Site = &intervals.sites()[run.site as usize];
                assert!(by_position.insert(position, (site.clone(), (address, run.size, site.write))).is_none());
            }
        }
        let frame = |frame: &Nest| (frame.first, (frame.base, frame.size, true));
        recorded.frames.insert(interval.number, interval.frames.iter().map(frame).collect());
        assert!(by_position.keys().copied().eq(0..by_position.len() as u64), "a position is missing");
        accesses += by_position.len() as u64;
        // The mark is also a call of a function that is not instrumented.
        if let Some(last) = by_position.last_entry().filter(|last| last.get().0.name.contains("not instrumented")) {
            last.remove();
        }
        for (site, access) in by_position.into_values() {
            match site.kind {
                AccessKind::Plain => recorded.plain.entry(interval.number).or_default().push(access),
                _ => recorded.named.push((interval.number, site.name, access)),
            }
        }
    }
    let totals = intervals.totals().expect("the file has its end");
    assert_eq!((totals.accesses, totals.elsewhere, totals.lost), (accesses, 0, 0));
    Some(recorded)
}

/// Asserts the accesses of the programs' loops; local variables, `number` among them, are not compared.
fn check_loops(recorded: &Recorded) {
    let at = |name: char, index: u64, size: u64| recorded.addresses[&name] + index * size;
    let in_arrays = |interval: u64| -> Vec<Access> {
        let inside = |&(address, ..): &Access| {
            [('a', 8), ('b', 8), ('c', 8), ('k', 4)]
                .iter()
                .any(|&(name, size)| (at(name, 0, size)..at(name, 1000, size)).contains(&address))
        };
        recorded.plain.get(&interval).into_iter().flatten().copied().filter(inside).collect()
    };
    let first: Vec<Access> =
        (0..1000).flat_map(|i| [(at('b', 999 - i, 8), 8, false), (at('a', i, 8), 8, true)]).collect();
    assert_eq!(in_arrays(0), first, "a read backwards, a write forwards, in turn");
    let mut second = in_arrays(1);
    assert_eq!(second.len(), 4000);
    for (i, iteration) in (0..).zip(second.chunks_mut(4)) {
        // Compilers may read the index, the addend and the sum in any order; the write comes last.
        assert_eq!(iteration[3], (at('c', i, 8), 8, true));
        iteration[..3].sort_unstable();
        let mut expected =
            [(at('k', i, 4), 4, false), (at('a', i * 617 % 1000, 8), 8, false), (at('c', i, 8), 8, false)];
        expected.sort_unstable();
        assert_eq!(iteration[..3], expected, "iteration {i}");
    }
}

#[test]
fn c_programs_are_seen_as_their_source_reads() {
    for compiler in ["gcc", "clang"] {
        let Some(recorded) = recorded(compiler, "exchange.c") else { continue };
        check_loops(&recorded);
        let (d, e) = (recorded.addresses[&'d'], recorded.addresses[&'e']);
        let named = |name: &str| -> Vec<(u64, Access)> {
            let of = recorded.named.iter().filter(|(_, other, _)| other == name);
            of.map(|(interval, _, access)| (*interval, *access)).collect()
        };
        assert_eq!(named("memcpy"), [(2, (e, 4096, false)), (2, (d, 4096, true))], "{compiler}");
        assert_eq!(named("memset"), [(2, (e, 64, true))], "{compiler}");
        assert_eq!(named("memmove"), [(2, (d, 24, false)), (2, (d + 8, 24, true))], "{compiler}");
        if cfg!(target_arch = "x86_64") {
            assert_eq!(named("qsort"), [(2, (0, 0, true))], "{compiler}");
        }
        assert!(recorded.nests < 20, "{compiler}: {} records for a few loops", recorded.nests);
    }
}

#[test]
fn fortran_programs_are_seen_as_their_source_reads() {
    let Some(recorded) = recorded("gfortran", "exchange.f90") else { return };
    check_loops(&recorded);
    let (a, b) = (recorded.addresses[&'a'], recorded.addresses[&'b']);
    // The whole array is copied by a call or by a loop.
    let named: Vec<_> =
        recorded.named.iter().filter(|(interval, ..)| *interval == 2).map(|(.., access)| *access).collect();
    if named.is_empty() {
        let copied: Vec<Access> = (0..1000).flat_map(|i| [(b + 8 * i, 8, false), (a + 8 * i, 8, true)]).collect();
        let inside = |&(address, ..): &Access| (a..a + 8000).contains(&address) || (b..b + 8000).contains(&address);
        let mut found: Vec<Access> = recorded.plain[&2].iter().copied().filter(inside).collect();
        // gcc reports the write of a copy as a whole before its read.
        if found.len() == 2 {
            found.sort_unstable_by_key(|&(.., write)| write);
        }
        assert!(found == copied || found == [(b, 8000, false), (a, 8000, true)], "{found:?}");
    } else {
        assert_eq!(named, [(b, 8000, false), (a, 8000, true)]);
    }
}

/// Every unreported access is marked: nothing remains unknown.
#[test]
fn what_compilers_do_not_tell_is_marked() {
    for compiler in ["gcc", "clang"] {
        let Some(recorded) = recorded(compiler, "untold.c") else { continue };
        let address = |name: char| recorded.addresses[&name];
        let told = |interval: u64, low: u64, size: u64, write: bool| -> bool {
            let plain = recorded.plain.get(&interval).into_iter().flatten().copied();
            let library = recorded.named.iter().filter(|(at, ..)| *at == interval).map(|(.., access)| *access);
            let mut missing: Vec<u64> = (low..low + size).collect();
            for (base, length, _) in plain.chain(library).filter(|&(.., writes)| writes == write) {
                missing.retain(|byte| !(base..base + length).contains(byte));
            }
            missing.is_empty()
        };
        let marked = |interval: u64, what: &str| -> bool {
            recorded.named.iter().any(|(at, name, (.., size, _))| *at == interval && *size == 0 && name.contains(what))
        };
        if cfg!(target_arch = "x86_64") {
            let structures = [(1, 's', 16, true), (2, 's', 16, false), (3, 'l', 320, true), (4, 'l', 320, false)];
            for (interval, name, size, write) in structures {
                let known = told(interval, address(name), size, write) || marked(interval, "structure");
                assert!(
                    known,
                    "{compiler}: interval {interval}: {:?}, {:?}",
                    recorded.plain.get(&interval),
                    recorded.named
                );
            }
            assert!(marked(5, "not instrumented"), "{compiler}: {:?}", recorded.named);
            assert!(!marked(6, ""), "{compiler}: a function on numbers: {:?}", recorded.named);
            // The call of the sort, and the points where it continues after each comparison.
            let sorts = recorded.named.iter().filter(|(at, ..)| *at == 7).count();
            assert!(marked(7, "qsort") && sorts > 200, "{compiler}: {sorts} marks in the interval of a sort");
        }
        // Both arguments get their values when their function begins, and cease to exist when it ends.
        let covers = |interval: u64, low: u64, size: u64| {
            let frames = recorded.frames.get(&interval).into_iter().flatten();
            let mut covering = frames.filter(|(_, (base, length, _))| *base <= low && low + size <= base + length);
            covering.next().map(|&(position, _)| position)
        };
        let told_before = |low: u64, size: u64| told(8, low, size, true) || marked(8, "structure");
        for (name, size) in [('x', 8), ('y', 320), ('z', 32)] {
            let low = address(name);
            assert!(
                covers(8, low, size).is_some() || told_before(low, size),
                "{compiler}: {name} at {low:#x} when its function begins: {:x?}",
                recorded.frames
            );
        }
        // After the number of exchanges, which is read and written.
        assert_eq!(covers(10, address('x'), 8), Some(2), "{compiler}: {:x?}", recorded.frames);
        assert_eq!(covers(9, address('x'), 8), None, "{compiler}: nothing begins or ends");
    }
}

#[test]
fn the_runtime_has_no_instruction_that_may_raise_a_floating_point_flag() {
    let found = machine_code::floating_point(&library());
    assert!(found.as_ref().is_none_or(Vec::is_empty), "{found:#?}");
}
