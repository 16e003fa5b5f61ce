//! Needs of tests that a machine may lack, and the handling of tests that lack one.
//!
//! A test that needs an MPI, a compiler or a browser asks for it with [`is_there`]. If it is missing, the
//! test is skipped, and says so on standard error (past the harness, which shows nothing of tests that pass).
//! `HAYASE_REQUIRE=mpi,compilers,browser` lists what must be there: a test that misses one of these fails
//! instead.

use std::env;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Variable with the needs that must be there: words of [`Need`], separated by commas.
pub const VARIABLE: &str = "HAYASE_REQUIRE";

/// Equipment that a machine may lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Open MPI and MPICH: their compilers, launchers and libraries.
    Mpi,
    /// gcc, clang and gfortran.
    Compilers,
    /// Chromium, and node to drive it: for the page of advice (`tests/page/run`).
    Browser,
}

impl Need {
    /// All needs.
    pub const ALL: [Self; 3] = [Self::Mpi, Self::Compilers, Self::Browser];

    /// Word for it in `HAYASE_REQUIRE`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::Compilers => "compilers",
            Self::Browser => "browser",
        }
    }

    /// Returns the need that a tool belongs to: `mpirun.mpich` to an MPI, `gcc` to the compilers.
    fn of(tool: &str) -> Self {
        if tool.starts_with("mpi") { Self::Mpi } else { Self::Compilers }
    }
}

/// Returns true if a compiler or a launcher is there (it answers `--version`). If it is not, the test is
/// about to be skipped.
///
/// # Panics
/// The tool is missing, and `HAYASE_REQUIRE` names it; or `HAYASE_REQUIRE` has an unknown word, in any case.
pub fn is_there(tool: &str) -> bool {
    if let Err(failure) = parse(&required()) {
        panic!("{failure}");
    }
    let mut asked = Command::new(tool);
    asked.arg("--version").stdin(Stdio::null());
    let there = asked.output().is_ok_and(|output| output.status.success());
    if !there {
        missing(Need::of(tool), &format!("there is no {tool}"));
    }
    there
}

/// Reports that a test is skipped, and why.
///
/// # Panics
/// `HAYASE_REQUIRE` names the missing need, or has an unknown word.
pub fn missing(need: Need, why: &str) {
    match verdict(need, why, &required()) {
        Ok(said) => {
            // Past the harness; if nobody listens, nobody can be told.
            let _ = writeln!(io::stderr(), "{said}");
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// Reports that a test is skipped for a reason without a word in [`VARIABLE`].
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(io::stderr(), "SKIPPED, all or a part of it: {test}: {why}");
}

fn required() -> String {
    env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the report of a missing need, or the failure of the test.
fn verdict(need: Need, why: &str, required: &str) -> Result<String, String> {
    if parse(required)?.contains(&need) {
        Err(format!("{why}, and {VARIABLE}={required} says that `{}` is not to be missing", need.word()))
    } else {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        Ok(format!("SKIPPED, all or a part of it: {test}: {why} ({VARIABLE}={} makes that a failure)", need.word()))
    }
}

/// Reads the words of `HAYASE_REQUIRE`.
fn parse(text: &str) -> Result<Vec<Need>, String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| {
            Need::ALL.into_iter().find(|need| need.word() == word).ok_or_else(|| {
                let known = Need::ALL.map(Need::word).join(", ");
                format!("{VARIABLE}={text}: there is no `{word}`; known are {known}")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_or_fails_as_required() {
        let said = verdict(Need::Mpi, "there is no mpirun", "").unwrap();
        assert!(said.contains("what_is_missing_is_said_or_fails_as_required: there is no mpirun"), "{said}");
        assert!(said.contains("HAYASE_REQUIRE=mpi"), "{said}");
        // Another word than that of the missing need.
        assert!(verdict(Need::Mpi, "there is no mpirun", "browser, compilers,").is_ok());
        let failure = verdict(Need::Mpi, "there is no mpirun", "browser, mpi").unwrap_err();
        assert_eq!(failure, "there is no mpirun, and HAYASE_REQUIRE=browser, mpi says that `mpi` is not to be missing");
    }

    #[test]
    fn a_word_that_is_unknown_is_a_mistake_whatever_is_missing() {
        for need in Need::ALL {
            let failure = verdict(need, "there is none", "mpi,browsers").unwrap_err();
            assert_eq!(
                failure,
                "HAYASE_REQUIRE=mpi,browsers: there is no `browsers`; known are mpi, compilers, browser"
            );
        }
    }

    #[test]
    fn tools_belong_to_an_mpi_or_to_the_compilers() {
        for tool in ["mpicc.mpich", "mpirun.openmpi", "mpifort.openmpi"] {
            assert_eq!(Need::of(tool), Need::Mpi);
        }
        for tool in ["gcc", "clang", "gfortran"] {
            assert_eq!(Need::of(tool), Need::Compilers);
        }
    }
}
