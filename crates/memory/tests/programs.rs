//! Programs compiled by gcc, gfortran and clang, run, and what was recorded of them held against what they do.

#[path = "../../capture/tests/common/machine_code.rs"]
mod machine_code;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use hayase_trace::memory::{Intervals, Kind, Site};

/// An access: where, how many bytes, whether written.
type Access = (u64, u64, bool);

/// What was recorded: for each interval the plain accesses in order, the gathers' among them; and the library's and opaque
/// ones by name.
struct Recorded {
    plain: BTreeMap<u64, Vec<Access>>,
    named: Vec<(u64, String, Access)>,
    addresses: BTreeMap<char, u64>,
    /// Nests and gathers of the first two intervals.
    nests: usize,
}

/// The library that cargo has built for this test.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let mut found: Vec<PathBuf> = fs::read_dir(&deps)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libhayase_memory") && name.ends_with(".so")
        })
        .collect();
    found.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    found.pop().expect("cargo has built the library")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn is_there(compiler: &str) -> bool {
    let there = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: there is no {compiler}");
    }
    there
}

/// Compiles a program as `hayase cc` does, runs it and reads what was recorded; `None` without the compiler.
fn recorded(compiler: &str, source: &str, options: &[&str]) -> Option<Recorded> {
    if !is_there(compiler) || !is_there("gcc") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    fs::copy(library(), at("libhayase_memory.so")).unwrap();
    fs::write(at("libtsan.so"), "INPUT(-lhayase_memory)").unwrap();
    fs::write(at("libtsan_preinit.o"), "/* nothing */").unwrap();
    run(Command::new("gcc").args(["-c", "-O1"]).arg(programs.join("marks.c")).arg("-o").arg(at("marks.o")));
    let mut compile = Command::new(compiler);
    compile.current_dir(folder.path()).args(["-O1", "-g", "-fsanitize=thread"]).args(options);
    compile.arg(programs.join(source)).arg(at("marks.o"));
    if compiler == "clang" {
        compile.arg("-fno-sanitize-link-runtime").arg(at("libhayase_memory.so"));
    } else {
        let folder = folder.path().display();
        compile.arg(format!("-B{folder}/")).arg(format!("-L{folder}"));
    }
    compile.args(["-Xlinker", "-rpath", "-Xlinker"]).arg(folder.path());
    run(compile.arg("-ldl").arg("-o").arg(at("program")));
    let said = run(Command::new(at("program")).env("TEST_FILE", at("accesses.mem")));
    let addresses: BTreeMap<char, u64> =
        said.lines().map(|line| (line.chars().next().unwrap(), line[2..].parse().unwrap())).collect();

    let mut intervals = Intervals::new(File::open(at("accesses.mem")).unwrap());
    let mut recorded = Recorded { plain: BTreeMap::new(), named: Vec::new(), addresses, nests: 0 };
    let mut accesses = 0;
    while let Some(interval) = intervals.next().unwrap() {
        let mut by_position = BTreeMap::new();
        // The last interval of one program calls back from a sort, in no order that folds.
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
        assert!(by_position.keys().copied().eq(0..by_position.len() as u64), "a position is missing");
        accesses += by_position.len() as u64;
        for (site, access) in by_position.into_values() {
            match site.kind {
                Kind::Plain => recorded.plain.entry(interval.number).or_default().push(access),
                _ => recorded.named.push((interval.number, site.name, access)),
            }
        }
    }
    let totals = intervals.totals().expect("the file has its end");
    assert_eq!((totals.accesses, totals.elsewhere, totals.lost), (accesses, 0, 0));
    Some(recorded)
}

/// What the loops of the programs do; local variables, `number` among them, are not compared.
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
    let gcc: &[&str] = if cfg!(target_arch = "x86_64") {
        &["-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-mmemcpy-strategy=libcall:-1:noalign"]
    } else {
        &["-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"]
    };
    let clang = ["-fno-builtin", "-mllvm", "-tsan-instrument-read-before-write=1"];
    for (compiler, options) in [("gcc", gcc), ("clang", &clang[..])] {
        let Some(recorded) = recorded(compiler, "exchange.c", options) else { continue };
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
    let Some(recorded) = recorded("gfortran", "exchange.f90", &[]) else { return };
    check_loops(&recorded);
    let (a, b) = (recorded.addresses[&'a'], recorded.addresses[&'b']);
    // The whole array is copied by a call or by a loop.
    let named: Vec<_> =
        recorded.named.iter().filter(|(interval, ..)| *interval == 2).map(|(.., access)| *access).collect();
    if named.is_empty() {
        let copied: Vec<Access> = (0..1000).flat_map(|i| [(b + 8 * i, 8, false), (a + 8 * i, 8, true)]).collect();
        let inside = |&(address, ..): &Access| (a..a + 8000).contains(&address) || (b..b + 8000).contains(&address);
        let mut found: Vec<Access> = recorded.plain[&2].iter().copied().filter(inside).collect();
        // gcc names the write of a copy as a whole before its read.
        if found.len() == 2 {
            found.sort_unstable_by_key(|&(.., write)| write);
        }
        assert!(found == copied || found == [(b, 8000, false), (a, 8000, true)], "{found:?}");
    } else {
        assert_eq!(named, [(b, 8000, false), (a, 8000, true)]);
    }
}

#[test]
fn the_runtime_has_no_instruction_that_may_raise_a_floating_point_flag() {
    let found = machine_code::floating_point(&library());
    assert!(found.as_ref().is_none_or(Vec::is_empty), "{found:#?}");
}
