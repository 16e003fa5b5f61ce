//! Callers of call sites, from the recorder to the advice: calls from one line of a library are told apart by
//! their callers, under any compiler.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{Desk, Said};
use hayase_needs::is_there;

/// Library that sends all messages.
const LIBRARY: &str = "#include <mpi.h>
void exchange(int to, int from, double *x, int n) {
    double got[1000];
    MPI_Request request;
    MPI_Irecv(got, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &request);
    MPI_Send(x, n, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    x[0] = got[0] + 1;
}
";

/// Program that calls the library from two functions.
const PROGRAM: &str = "#include <mpi.h>
void exchange(int to, int from, double *x, int n);
static double x[1000];
volatile int spin;
__attribute__((noinline)) void setup(int rank, int ranks) {
    exchange((rank + 1) % ranks, (rank + ranks - 1) % ranks, x, 10);
    spin = 0;
}
__attribute__((noinline)) void solve(int rank, int ranks) {
    for (int i = 0; i < 2000000 * (rank + 1); i++) spin = i;
    exchange((rank + 1) % ranks, (rank + ranks - 1) % ranks, x, 1000);
    spin = 0;
}
int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 2; i++) setup(rank, ranks);
    for (int i = 0; i < 4; i++) solve(rank, ranks);
    MPI_Finalize();
    return 0;
}
";

const FORTRAN: &str = "subroutine exchange(rank, ranks, n)
  use mpi
  integer :: rank, ranks, n, error
  double precision :: x(1000), y(1000)
  x = rank
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
end subroutine
subroutine setup(rank, ranks)
  integer :: rank, ranks
  call exchange(rank, ranks, 10)
end subroutine
subroutine solve(rank, ranks)
  integer :: rank, ranks
  call exchange(rank, ranks, 1000)
end subroutine
program main
  use mpi
  integer :: rank, ranks, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call setup(rank, ranks)
  call solve(rank, ranks)
  call MPI_Finalize(error)
end program
";

const PYTHON: &str = "from mpi4py import MPI
world = MPI.COMM_WORLD
def total(x):
    return world.allreduce(x)
def setup():
    return total(1)
def solve():
    return total(2)
setup()
for i in range(3):
    solve()
";

/// Returns the output of a command, or `None` if it cannot be started or fails.
fn output(desk: &Desk, words: &[&str]) -> Option<String> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(desk.path()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `hayase` and returns its output.
fn hayase(desk: &Desk, words: &str) -> String {
    desk.hayase(words)
        .env("XDG_CACHE_HOME", desk.path().join("cache"))
        .env_remove("LD_PRELOAD")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .timeout(Duration::from_secs(300))
        .assert()
        .code(0)
        .stdout()
}

/// Returns the sites of a call with one caller each, in the order of bytes.
fn sites(desk: &Desk, run: &str, call: &str) -> Vec<(String, String)> {
    let json: Value =
        serde_json::from_str(&hayase(desk, &format!("trace sites {run} --depth 1 --format json"))).unwrap();
    let mut found: Vec<(u64, String, String)> = Vec::new();
    for site in json["sites"].as_array().unwrap().iter().filter(|site| site["call"] == call) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        found.push((site["bytes"].as_u64().unwrap(), text(&site["site"]), text(&site["callers"][0])));
    }
    found.sort();
    found.into_iter().map(|(_, site, caller)| (site, caller)).collect()
}

/// Removes the offset within the function, which varies.
fn function(name: &str) -> &str {
    name.rsplit_once("+0x").map_or(name, |(function, _)| function)
}

#[test]
fn calls_of_a_library_are_told_apart_by_their_callers() {
    let desk = Desk::new().file("lib.c", LIBRARY).file("main.c", PROGRAM);
    for mpi in ["openmpi", "mpich"] {
        for compiler in ["gcc", "clang"] {
            for (name, options, site, callers) in [
                (
                    "lines",
                    "-g -O2 -fomit-frame-pointer",
                    "lib.c:6 (exchange)",
                    ["main.c:6 (setup)", "main.c:11 (solve)"],
                ),
                ("names", "-O2 -fomit-frame-pointer", "liblines.so: exchange", ["plain: setup", "plain: solve"]),
                ("pointers", "-g -O0", "lib.c:6 (exchange)", ["main.c:6 (setup)", "main.c:11 (solve)"]),
                ("exported", "-O2 -s -rdynamic", "liblines.so: exchange", ["plain: setup", "plain: solve"]),
                ("stripped", "-O2 -s", "liblines.so: exchange", ["plain", "plain"]),
            ] {
                let mut library = vec![format!("mpicc.{mpi}"), "-shared".into(), "-fPIC".into()];
                let mut program = vec![format!("mpicc.{mpi}")];
                for words in [&mut library, &mut program] {
                    words.extend(options.split(' ').map(str::to_owned));
                }
                library.extend(["lib.c", "-o", "liblines.so"].map(str::to_owned));
                program.extend(["main.c", "-o", "plain", "-L.", "-llines", "-Wl,-rpath,$ORIGIN"].map(str::to_owned));
                let compile = |words: &[String]| {
                    let mut command = Command::new(&words[0]);
                    command.args(&words[1..]).current_dir(desk.path()).stderr(Stdio::null());
                    command.env("OMPI_CC", compiler).env("MPICH_CC", compiler);
                    command.status().is_ok_and(|status| status.success())
                };
                if !is_there(&format!("mpicc.{mpi}")) || !is_there(compiler) {
                    continue;
                }
                assert!(compile(&library) && compile(&program), "mpicc.{mpi} with {compiler} {options}");
                let run = format!("{mpi}-{compiler}-{name}");
                let launcher = if mpi == "openmpi" { "mpirun.openmpi --oversubscribe" } else { "mpirun.mpich" };
                hayase(&desk, &format!("record -o {run} -- {launcher} -np 2 ./plain"));
                let found = sites(&desk, &run, "Send");
                let expected = callers.map(|caller| (site.to_owned(), caller.to_owned()));
                let found: Vec<(String, String)> = found
                    .iter()
                    .map(|(site, caller)| (function(site).to_owned(), function(caller).to_owned()))
                    .collect();
                assert_eq!(found, expected, "{run}");
            }
            let run = format!("{mpi}-{compiler}-lines");
            if desk.path().join(&run).exists() {
                advice_names_callers(&desk, &run);
            }
        }
    }
}

/// Checks that advice names the callers: rank 1 is late to the messages of `solve`, not to those of `setup`.
fn advice_names_callers(desk: &Desk, run: &str) {
    hayase(desk, &format!("advise {run} -m myrinet --all -o advice.json -o advice.html"));
    let json: Value = serde_json::from_str(&desk.read("advice.json")).unwrap();
    let mut callers: Vec<(String, String)> = Vec::new();
    for finding in json["findings"].as_array().unwrap() {
        for location in finding["places"].as_array().unwrap().iter().map(|place| &place["location"]) {
            if location["file"] == "lib.c" {
                let called = &location["called"];
                assert_eq!(called["function"], "exchange", "{finding}");
                callers.push((called["from"]["file"].to_string(), called["from"]["line"].to_string()));
            }
        }
    }
    assert!(callers.contains(&("\"main.c\"".into(), "11".into())), "{run}: {callers:?}");
    let titles: Vec<&str> = json["findings"].as_array().unwrap().iter().filter_map(|of| of["title"].as_str()).collect();
    assert!(titles.iter().any(|title| title.contains("(exchange) called from main.c:11")), "{run}: {titles:?}");
    assert!(desk.read("advice.html").contains("called from main.c:11"), "{run}");
    // Folding and prediction use the line alone.
    hayase(desk, &format!("program fold {run} -o program.prog"));
    assert!(!desk.read("program.prog").contains("called from"));
}

#[test]
fn callers_of_fortran_are_those_of_the_program() {
    let desk = Desk::new().file("a.f90", FORTRAN);
    for mpi in ["openmpi", "mpich"] {
        let compiler = format!("mpifort.{mpi}");
        if !is_there(&compiler) {
            continue;
        }
        assert!(output(&desk, &[&compiler, "-g", "-O1", "-fno-inline", "a.f90", "-o", "a"]).is_some(), "{compiler}");
        let launcher = if mpi == "openmpi" { "mpirun.openmpi --oversubscribe" } else { "mpirun.mpich" };
        hayase(&desk, &format!("record -o {mpi} -- {launcher} -np 2 ./a"));
        let site = "a.f90:6 (exchange_)".to_owned();
        let found = sites(&desk, mpi, "Allreduce");
        assert_eq!(found, [(site.clone(), "a.f90:10 (setup_)".into()), (site, "a.f90:14 (solve_)".into())], "{mpi}");
    }
}

#[test]
fn calls_of_mpi4py_are_at_lines_of_python() {
    let desk = Desk::new().file("a.py", PYTHON);
    let python = "/usr/bin/python3";
    let Some(mpi) = output(&desk, &[python, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]) else {
        hayase_needs::skipped("there is no mpi4py");
        return;
    };
    let launcher = if mpi.contains("MPICH") { "mpirun.mpich" } else { "mpirun.openmpi --oversubscribe" };
    hayase(&desk, &format!("record -o run -- {launcher} -np 2 {python} a.py"));
    let json: Value = serde_json::from_str(&hayase(&desk, "trace sites run --depth 2 --format json")).unwrap();
    let of = |caller: &str| -> u64 {
        let sites = json["sites"].as_array().unwrap().iter();
        let mut sites = sites.filter(|site| site["site"] == "a.py:4 (total)" && site["callers"][0] == caller);
        sites.next().unwrap_or_else(|| panic!("{caller}: {json:#}"))["count"].as_u64().unwrap()
    };
    assert_eq!(of("a.py:8 (solve)"), 3 * of("a.py:6 (setup)"));
    let init =
        json["sites"].as_array().unwrap().iter().find(|site| site["call"] == "Init" || site["call"] == "Init_thread");
    assert_eq!(init.unwrap()["site"], "a.py:1 (<module>)");
}

#[test]
fn how_one_gets_lines_is_said_where_there_are_none() {
    let desk = Desk::new().file("main.c", PROGRAM).file("lib.c", LIBRARY);
    if !is_there("mpicc.openmpi") {
        return;
    }
    assert!(output(&desk, &["mpicc.openmpi", "-O1", "main.c", "lib.c", "-o", "plain"]).is_some());
    let said = |words: &str| {
        let assert = desk
            .hayase(words)
            .env("XDG_CACHE_HOME", desk.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .timeout(Duration::from_secs(300))
            .assert()
            .code(0);
        let output = assert.get_output();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let remedy = "for lines of plain compile with -g, or install its debug package";
    for words in [
        "record -o run -- mpirun.openmpi --oversubscribe -np 2 ./plain",
        "trace sites run",
        "advise run -m myrinet -o page.html",
    ] {
        let text = said(words);
        assert_eq!(text.matches(remedy).count(), 1, "{words}: {text}");
    }
    assert!(desk.read("page.html").contains(remedy));
}
