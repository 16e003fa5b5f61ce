//! Compiles, records and advises programs, and runs their moved versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hayase_advice::model::Finding;

use super::program::{Language, Program};

/// Folder with the files that all programs need.
pub struct Workshop {
    folder: tempfile::TempDir,
}

/// Time limit of a run in seconds.
const PATIENCE: &str = "120";
/// Time limits of a moved version in seconds: at first, and when it is run again alone.
const HANGS_AFTER: [&str; 2] = ["8", "15"];

/// Results that a run printed, by version and rank, one for each pass.
pub type Results = BTreeMap<(usize, usize), Vec<String>>;

/// Folder of one program.
pub struct Bench<'a> {
    shop: &'a Workshop,
    pub folder: PathBuf,
    mpi: &'static str,
    language: Language,
    ranks: usize,
}

impl Workshop {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("moved.c"), include_str!("moved.c")).unwrap();
        let shop = Self { folder };
        for mpi in super::MPIS {
            let mut compile = Command::new(format!("mpicc.{mpi}"));
            compile.args(["-O1", "-fwrapv", "-c", "moved.c", "-o", &format!("moved.{mpi}.o")]);
            done(compile.current_dir(shop.folder.path()));
        }
        shop
    }

    /// Returns a folder for a program.
    pub fn bench(&self, name: &str, program: &Program, mpi: &'static str) -> Bench<'_> {
        let folder = self.folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        Bench { shop: self, folder, mpi, language: program.language, ranks: program.ranks }
    }
}

/// Runs a command that must succeed.
fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}

impl Bench<'_> {
    fn is_c(&self) -> bool {
        self.language == Language::C
    }

    /// Returns the name of a source.
    pub fn source(&self, name: &str) -> String {
        format!("{name}.{}", if self.is_c() { "c" } else { "f90" })
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .current_dir(&self.folder)
            .env("XDG_CACHE_HOME", self.shop.folder.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            // Ranks that wait leave the processor to those that compute.
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .env("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")
            .env("OMPI_CC", "gcc")
            // Jobs that end at the same time remove a folder that they share.
            .env("OMPI_MCA_orte_tmpdir_base", &self.folder)
            .env("MPICH_CC", "gcc")
            .env("COLUMNS", "100");
        command
    }

    fn hayase(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE).arg(snapbox::cmd::cargo_bin!("hayase")).args(words);
        self.prepared(command)
    }

    fn wrapper(&self) -> String {
        format!("{}.{}", if self.is_c() { "mpicc" } else { "mpifort" }, self.mpi)
    }

    fn options(&self) -> &'static [&'static str] {
        if self.is_c() {
            &["-w", "-fwrapv"]
        } else {
            &["-w", "-fwrapv", "-fallow-argument-mismatch", "-ffree-line-length-none"]
        }
    }

    /// Returns how MPI starts a program.
    fn launcher(&self) -> Vec<String> {
        let mut words = vec![format!("mpirun.{}", self.mpi)];
        if self.mpi == "openmpi" {
            words.push("--oversubscribe".into());
        }
        words.extend(["-np".into(), self.ranks.to_string()]);
        words
    }

    /// Compiles and records a program; returns its results.
    pub fn record(&self, text: &str) -> Results {
        let source = self.source("program");
        fs::write(self.folder.join(&source), text).unwrap();
        let wrapper = self.wrapper();
        let verb = if self.is_c() { "cc" } else { "fc" };
        let words = ["-q", verb, "--compiler", &wrapper, "-O2"];
        let words: Vec<&str> =
            words.iter().chain(self.options()).copied().chain([source.as_str(), "-o", "program"]).collect();
        done(&mut self.hayase(&words));
        let launcher = self.launcher();
        let words = ["-q", "record", "--memory", "-o", "run", "--"].into_iter();
        let words: Vec<&str> = words.chain(launcher.iter().map(String::as_str)).chain(["./program"]).collect();
        results(&done(&mut self.hayase(&words)))
    }

    /// Returns all findings, each with its certainty.
    pub fn advise(&self) -> Vec<(Finding, String)> {
        let words = ["-q", "advise", "run", "-m", "fast-ethernet", "--all", "--format", "json"];
        let output = done(&mut self.hayase(&words));
        let advice: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = advice["findings"].as_array().unwrap().iter();
        findings
            .map(|finding| {
                let certainty = finding["certainty"].as_str().unwrap().to_owned();
                (serde_json::from_value(finding.clone()).unwrap(), certainty)
            })
            .collect()
    }

    /// Compiles moved versions, without instrumentation.
    pub fn compile_moved(&self, text: &str) {
        let source = self.source("moved");
        fs::write(self.folder.join(&source), text).unwrap();
        let mut command = Command::new(self.wrapper());
        let runtime = self.shop.folder.path().join(format!("moved.{}.o", self.mpi));
        command.args(["-O1", "-g"]).args(self.options()).arg(source).arg(runtime).args(["-o", "moved"]);
        done(&mut self.prepared(command));
    }

    /// Runs these versions and returns their results, however they end. A version that hangs stops all later
    /// ones.
    pub fn run_moved(&self, versions: std::ops::RangeInclusive<usize>) -> Results {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE).args(self.launcher()).arg("./moved");
        command.args([versions.start().to_string(), versions.end().to_string()]);
        command.env("HANGS_AFTER", HANGS_AFTER[usize::from(versions.start() == versions.end())]);
        results(&self.prepared(command).output().unwrap())
    }

    /// Keeps the folder of a program that shows a difference, and returns its path.
    pub fn keep(&self, name: &str, notes: &str) -> PathBuf {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random_programs").join(name);
        let _ = fs::remove_dir_all(&to);
        fs::create_dir_all(&to).unwrap();
        for source in [self.source("program"), self.source("moved")] {
            if let Ok(text) = fs::read(self.folder.join(&source)) {
                fs::write(to.join(&source), text).unwrap();
            }
        }
        fs::write(to.join("moved_runtime.c"), include_str!("moved.c")).unwrap();
        fs::write(to.join("differences.txt"), notes).unwrap();
        to
    }
}

fn results(output: &Output) -> Results {
    let mut results = Results::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["@", version, rank, rest @ ..] = words.as_slice()
            && let (Ok(version), Ok(rank)) = (version.parse(), rank.parse())
        {
            results.entry((version, rank)).or_default().push(rest.join(" "));
        }
    }
    results
}
