//! Hundreds of wrong inputs over all commands. Each is answered with a place or a name and the expectation,
//! in a few lines, without a panic or much memory, and leaves all files unchanged.

mod every;
mod limits;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Desk, FABRIC, MESSAGES};

const CASES: &str = include_str!("cases.txt");

/// Files of a command, before and after.
type Files = BTreeMap<String, Vec<u8>>;

/// Largest memory of a mistake [KiB], because it is found before anything large is built.
const MEMORY: u64 = 4_000_000;
/// Processor time after which a command counts as hanging \[s\]; it does not depend on the load of the
/// machine.
const HANGS: u64 = 60;
/// Longest answer [B], a screen or two for several mistakes.
const LONGEST_ANSWER: usize = 6000;

/// Case of `cases.txt`: a line that begins with `$`, with the files above it and the expectations below it.
#[derive(Default)]
struct Case {
    files: Vec<(String, Vec<u8>)>,
    words: String,
    code: i32,
    said: Vec<String>,
}

/// Exit code and output of a run.
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program under limits of memory and time.
pub fn answer(folder: &Path, words: &[&std::ffi::OsStr], memory_kib: u64) -> Answer {
    answer_within(folder, words, memory_kib, HANGS)
}

/// Runs the program under limits of memory \[KiB\] and processor time \[s\].
fn answer_within(folder: &Path, words: &[&std::ffi::OsStr], memory_kib: u64, seconds: u64) -> Answer {
    let [mut stdout, mut stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    let status = Command::new("sh")
        .args(["-c", &format!("ulimit -v {memory_kib}; ulimit -t {seconds}; exec \"$0\" \"$@\"")])
        .arg(std::env::var_os("HAYASE_PROGRAM").unwrap_or_else(|| snapbox::cmd::cargo_bin!("hayase").into()))
        .args(words)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().unwrap())
        .stderr(stderr.try_clone().unwrap())
        .status()
        .unwrap();
    let text = |file: &mut fs::File| {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Answer { code: status.code(), stdout: text(&mut stdout), stderr: text(&mut stderr) }
}

/// Returns the bytes of a text with escapes.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            bytes.extend(c.to_string().bytes());
            continue;
        }
        bytes.push(match rest.next().unwrap() {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'x' => u8::from_str_radix(&rest.by_ref().take(2).collect::<String>(), 16).unwrap(),
            other => u8::try_from(other).unwrap(),
        });
    }
    bytes
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut files = Vec::new();
    for line in CASES.lines() {
        if let Some(file) = line.strip_prefix("@ ") {
            let (name, content) = file.split_once(':').unwrap();
            files.push((name.to_owned(), unescaped(content.strip_prefix(' ').unwrap_or(content))));
        } else if let Some(typed) = line.strip_prefix('$') {
            let digits = typed.len() - typed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let code = typed[..digits].parse().unwrap_or(2);
            let words = typed[digits..].trim().to_owned();
            cases.push(Case { files: std::mem::take(&mut files), words, code, said: Vec::new() });
        } else if let Some(said) = line.strip_prefix("? ") {
            cases.last_mut().unwrap().said.push(said.to_owned());
        }
    }
    cases
}

/// Returns a desk with valid files.
fn good_files() -> Desk {
    let round_trips = "bytes,work,time,call\n10,0 s,10 us,round-trip\n1000,0 s,20 us,round-trip\n";
    let send = "0 compute 1e6\n0 send 1 7 100\n".repeat(3);
    let receive = "1 recv 0 7 100\n".repeat(3);
    let desk = Desk::new()
        .file("fabric.toml", FABRIC)
        .file("messages.csv", MESSAGES)
        .file("tasks.csv", "time,bytes_in,bytes_out\n100 us,20 KB,30 KB\n40 us,20 KB,30 KB\n60 us,20 KB,30 KB\n")
        .file("two.goal", "num_ranks 2\nrank 0 {\na: send 100b to 1\n}\nrank 1 {\nb: recv 100b from 0\n}\n")
        .file("ti.txt", &format!("0 init\n{send}0 finalize\n1 init\n{receive}1 finalize\n"))
        .file("rtt.csv", round_trips);
    desk.hayase("program fold ti.txt -o a.prog -o a.comp").assert().success();
    desk.hayase("run -t fabric.toml -p messages.csv -o report.json").assert().success();
    desk
}

fn files_of(desk: &Desk) -> Files {
    let names = desk.names();
    names.into_iter().map(|name| (name.clone(), fs::read(desk.path().join(name)).unwrap_or_default())).collect()
}

/// Returns the differences between the answer to a case and the expected one.
fn faults(case: &Case, answer: &Answer, unchanged: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if answer.code != Some(case.code) {
        faults.push(format!("exit code {:?}, not {}", answer.code, case.code));
    }
    for said in case.said.iter().filter(|said| !answer.stderr.contains(*said)) {
        faults.push(format!("does not say `{said}`"));
    }
    let mut bad = |is: bool, what: &str| {
        if is {
            faults.push(what.to_owned());
        }
    };
    bad(case.said.is_empty(), "the case expects nothing to be said");
    bad(answer.stderr.contains("panicked"), "panics");
    bad(answer.stderr.len() > LONGEST_ANSWER, "says more than fits on a screen");
    bad(case.code != 3 && !answer.stdout.is_empty(), "prints results");
    bad(!unchanged, "leaves files, or changes them");
    faults
}

#[test]
fn every_bad_input_is_answered_well() {
    let desk = good_files();
    let good = files_of(&desk);
    let cases = cases();
    assert!(cases.len() >= 300, "{} cases", cases.len());
    let mut badly = Vec::new();
    for case in &cases {
        for (name, content) in &case.files {
            fs::write(desk.path().join(name), content).unwrap();
        }
        let before = files_of(&desk);
        let words: Vec<&std::ffi::OsStr> = case.words.split_whitespace().map(std::ffi::OsStr::new).collect();
        let answer = answer(desk.path(), &words, MEMORY);
        let after = files_of(&desk);
        let faults = faults(case, &answer, before == after);
        if !faults.is_empty() {
            badly.push(format!("hayase {}\n  {}\n{}", case.words, faults.join("; "), answer.stderr));
        }
        for name in after.keys().filter(|name| !good.contains_key(*name)) {
            let path = desk.path().join(name);
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        for (name, content) in good.iter().filter(|(name, content)| after.get(*name) != Some(content)) {
            fs::write(desk.path().join(name), content).unwrap();
        }
    }
    assert!(badly.is_empty(), "{} of {} badly answered:\n\n{}", badly.len(), cases.len(), badly.join("\n"));
}
