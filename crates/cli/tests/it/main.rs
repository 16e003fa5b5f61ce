//! The command line, as transcripts: the command, its output on each stream, and the exit code.

mod accuracy;
mod advice_cases;
mod advice_idioms;
mod advise;
mod advise_network;
mod any_work;
mod bad_inputs;
mod bench;
mod calibrate;
mod carried;
mod check;
mod environment;
mod estimate;
mod examples;
mod fabrics;
mod farms;
mod faults;
mod help;
mod inputs;
#[cfg(target_os = "linux")]
mod instrumented;
mod integrity;
mod jobs;
mod kinds;
mod known_answers;
mod late;
mod lists;
mod llm;
mod master_slave;
mod matches;
#[cfg(target_os = "linux")]
mod measure;
mod measured;
mod mistakes;
mod nccl;
mod noise;
mod outputs;
mod packet;
mod page;
#[cfg(target_os = "linux")]
mod paths;
mod predict;
#[cfg(target_os = "linux")]
mod random_programs;
#[cfg(target_os = "linux")]
mod record;
mod reference;
#[cfg(target_os = "linux")]
mod regions;
mod replay;
mod run;
mod schedule;
mod simgrid;
mod sweep;
mod tables;
mod threads;
mod throughput;
mod trace;
mod units;
mod validate;
mod whatif;
#[cfg(target_os = "linux")]
mod wrap;

use std::fs;
use std::path::Path;

use snapbox::cmd::{Command, OutputAssert};
use tempfile::TempDir;

/// Temporary folder with the files of a test, in which the program runs.
struct Desk(TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Adds a file.
    pub fn file(self, name: &str, text: &str) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Returns the names of all files, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command `hayase` with these arguments, split at blanks.
    pub fn hayase(&self, words: &str) -> Command {
        Command::new(snapbox::cmd::cargo_bin!("hayase"))
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .env("COLUMNS", "100")
    }
}

/// Texts of a finished call.
trait Said {
    fn stdout(&self) -> String;
    fn stderr(&self) -> String;

    /// Reads standard output as JSON.
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout()).unwrap()
    }
}

impl Said for OutputAssert {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.get_output().stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.get_output().stderr).into_owned()
    }
}

/// Fabric of four nodes on one switch.
pub const FABRIC: &str = "\
# A small tree, for tests.
[topology.fat-tree]
down = [4]
bandwidth = \"1 GB/s\"
latency = \"0 s\"
";

/// Messages: rank 0 sends to 1 and 2; rank 3 sends to 2 without waiting.
pub const MESSAGES: &str = "\
src,dst,bytes
0,1,20000
0,2,20000
3,2,10000
";
