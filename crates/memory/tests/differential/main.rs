//! Random programs in C and Fortran, compiled with the instrumentation. Every access of the source is
//! recorded, at its place in the source, and no other, whatever the compiler would make of it at the
//! requested level of optimisation.
//!
//! The expected accesses of a program follow from its construction (`meaning`), statement by statement. They
//! are compared with the recording, at the levels that `hayase cc` chooses and at `-O0`: in each statement
//! the same bytes, in each direction. `HAYASE_PROGRAMS=2000` tries 2000 programs of each language instead of
//! a few hundred, `HAYASE_SEED=7` others.

#[path = "../common/mod.rs"]
mod common;

mod c;
mod fortran;
mod meaning;
mod program;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use common::{build, place, run};
use hayase_needs::is_there;
use hayase_trace::memory::{AccessKind, Intervals};
use meaning::{Bytes, Interval};
use program::Program;

/// Number of programs, each a function, that are compiled together.
const BATCH: usize = 40;

/// An access of an object that can be passed to MPI: its bytes and its direction.
type Access = (Bytes, bool);

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Returns the recording of a program, by interval, in order.
fn recorded(
    folder: &Path,
    compiler: &str,
    level: &str,
    source: &str,
    globals: usize,
    sizes: &[usize],
) -> BTreeMap<u64, Vec<Access>> {
    let at = |name: &str| folder.join(name);
    build(compiler, folder, &[level, "-w", source, "marks.o", "-ldl"].map(OsStr::new), "program");
    let said = run(Command::new(at("program")).env("TEST_FILE", at("accesses.mem")));
    // Objects: address, and the intervals in which they exist as a whole. The first ones exist from the
    // start.
    let mut objects: Vec<(usize, u64, u64, u64)> = Vec::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [object, address, interval] = [1, 2, 3].map(|i| words[i].parse::<u64>().unwrap());
        match words[0] {
            "+" => objects.push((object as usize, address, interval, u64::MAX)),
            _ => objects.iter_mut().find(|shown| shown.0 == object as usize).unwrap().3 = interval,
        }
    }
    let mut intervals = Intervals::new(File::open(at("accesses.mem")).unwrap());
    let mut accesses = BTreeMap::new();
    while let Some(interval) = intervals.next().unwrap() {
        // Objects shown before the first call exist in the first interval too.
        let here: Vec<_> = objects
            .iter()
            .filter(|shown| (shown.2 < interval.number || shown.0 < globals) && interval.number < shown.3)
            .collect();
        let mut list: Vec<(u64, Access)> = Vec::new();
        for run in interval.runs() {
            let site = &intervals.sites()[run.site as usize];
            if site.kind == AccessKind::Opaque {
                // A structure is passed to a case, between two cases.
                if site.name.contains("structure") {
                    list.extend((0..run.count).filter_map(|i| Some((run.access(i)?.1, ((usize::MAX, 0, 0), true)))));
                }
                continue;
            }
            for (address, position) in (0..run.count).filter_map(|index| run.access(index)) {
                let object = here.iter().find(|shown| (shown.1..shown.1 + sizes[shown.0] as u64).contains(&address));
                if let Some(&&(object, base, ..)) = object {
                    list.push((position, ((object, (address - base) as usize, run.size as usize), site.write)));
                }
            }
        }
        list.sort_by_key(|&(position, _)| position);
        accesses.insert(interval.number, list.into_iter().map(|(_, access)| access).collect());
    }
    assert_eq!(intervals.totals().expect("the file has its end").lost, 0);
    accesses
}

fn expanded(bytes: &[Bytes]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = bytes
        .iter()
        .flat_map(|&(object, first, length)| (first..first + length).map(move |byte| (object, byte)))
        .collect();
    all.sort_unstable();
    all
}

/// Returns a description of the differences in an interval; `None` if there are none.
fn difference(wanted: &Interval, found: &[Access]) -> Option<String> {
    // Nothing else is taken for an unreported access.
    let between = wanted.groups.is_empty();
    let mut rest = found.iter().filter(|((object, ..), _)| !between || *object != usize::MAX);
    for (number, group) in wanted.groups.iter().enumerate() {
        let length = |bytes: &[Bytes]| bytes.iter().map(|&(.., length)| length).sum::<usize>();
        let mut missing = [length(&group.reads), length(&group.writes)];
        let mut these: [Vec<Bytes>; 2] = Default::default();
        while missing != [0, 0] {
            let Some(&(bytes, write)) = rest.next() else {
                return Some(format!("statement {number}: only {these:?} of {group:?}, then the end"));
            };
            these[usize::from(write)].push(bytes);
            match missing[usize::from(write)].checked_sub(bytes.2) {
                Some(less) => missing[usize::from(write)] = less,
                None => return Some(format!("statement {number}: {these:?} in the place of {group:?}")),
            }
        }
        if expanded(&these[0]) != expanded(&group.reads) || expanded(&these[1]) != expanded(&group.writes) {
            return Some(format!("statement {number}: {these:?} in the place of {group:?}"));
        }
    }
    rest.next().map(|more| format!("{more:?} behind the last statement"))
}

/// Returns the text of a case.
fn case(text: &str, number: usize) -> &str {
    let from = text.find(&format!("case_{number}(")).unwrap_or(0);
    let to = text[from..].find("\n}\n").or_else(|| text[from..].find("end subroutine"));
    &text[from..to.map_or(text.len(), |to| from + to)]
}

fn no_differences(c: bool, compilers: &[&str]) {
    let compilers: Vec<&&str> = compilers.iter().filter(|compiler| is_there(compiler) && is_there("gcc")).collect();
    let folder = tempfile::tempdir().unwrap();
    place(folder.path());
    let marks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/marks.c");
    run(Command::new("gcc").args(["-c", "-O1", "-o"]).arg(folder.path().join("marks.o")).arg(marks));
    let programs = setting("HAYASE_PROGRAMS", 240).div_ceil(BATCH as u64);
    let (mut tried, mut statements, mut differences) = (0, 0, Vec::new());
    for part in 0..programs {
        let program = Program::new(setting("HAYASE_SEED", 1) * 1_000_003 + part, BATCH, c);
        let wanted = meaning::intervals(&program);
        let cases = program.cases.iter().flat_map(|case| &case.objects);
        let sizes: Vec<usize> = program
            .objects
            .iter()
            .chain(cases)
            .map(|object| object.rows * object.columns * object.element.size())
            .collect();
        let (name, text) =
            if c { ("x.c", c::text(&program)) } else { ("x.f90", fortran::text(&program, part % 2 == 1)) };
        fs::write(folder.path().join(name), &text).unwrap();
        tried += program.cases.len();
        statements += wanted.iter().map(|interval| interval.groups.len()).sum::<usize>();
        for compiler in &compilers {
            // A level that users ask for, and one at which nothing is moved.
            for level in ["-O3", "-O0"] {
                if level == "-O0" && **compiler == "clang" {
                    continue;
                }
                let found = recorded(folder.path(), compiler, level, name, program.objects.len(), &sizes);
                for (number, interval) in wanted.iter().enumerate() {
                    let found = found.get(&(number as u64)).map(Vec::as_slice).unwrap_or_default();
                    if let Some(what) = difference(interval, found) {
                        let text = case(&text, interval.case);
                        differences.push(format!(
                            "{compiler} {level}, part {part}, case {}, interval {number}: {what}\n{text}",
                            interval.case
                        ));
                    }
                }
            }
        }
    }
    let compilers = compilers.iter().map(|compiler| **compiler).collect::<Vec<_>>().join(", ");
    println!(
        "programs: {tried}, statements executed: {statements}, compilers: {compilers}, differences: {}",
        differences.len()
    );
    assert!(differences.is_empty(), "{} differences, the first:\n{}", differences.len(), differences[0]);
}

#[test]
fn programs_in_c_are_recorded_as_their_source_reads() {
    no_differences(true, &["gcc", "clang"]);
}

#[test]
fn programs_in_fortran_are_recorded_as_their_source_reads() {
    no_differences(false, &["gfortran"]);
}
