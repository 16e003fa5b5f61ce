//! Tests of `hayase validate`: order, results on any number of threads, and output after Ctrl-C.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Desk, Said};

/// Cases that are done at once.
const CASES: &str = "validate one-message-alone thousands-into-one-link max-min-rates torus-n3";

fn output(words: &str) -> String {
    Desk::new().hayase(words).assert().success().stdout()
}

/// Returns the records without values that differ between runs.
fn records(words: &str) -> Vec<Value> {
    let Ok(Value::Array(mut records)) = serde_json::from_str(&output(words)) else { panic!("no list of records") };
    for record in &mut records {
        let meta = record.as_object_mut().unwrap().remove("meta").unwrap();
        assert_eq!(meta["version"], env!("CARGO_PKG_VERSION"));
        if cfg!(unix) {
            assert!(meta["cpu_s"].as_f64().unwrap() > 0.0, "{record}");
        }
    }
    records
}

#[test]
fn cases_are_told_in_their_order_on_any_number_of_threads() {
    let listed = output(&format!("{CASES} --list"));
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(listed.len() >= 5, "{listed:?}");
    let alone = records(&format!("{CASES} -j 1 --format json"));
    let names: Vec<&str> = alone.iter().map(|record| record["case"].as_str().unwrap()).collect();
    assert_eq!(names, listed);
    assert!(alone.iter().all(|record| record["verdict"] == "pass" && record["reason"].is_null()), "{alone:?}");
    for threads in [2, 7] {
        assert_eq!(records(&format!("{CASES} -j {threads} --format json")), alone, "{threads}");
    }
    let (one, many) = (output(&format!("{CASES} -j 1")), output(&format!("{CASES} -j 5")));
    assert_eq!(one, many);
    assert!(one.ends_with(" pass, 0 differ from a published figure, 0 cannot reach one, 0 fail\n"), "{one}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_validation_with_what_is_done() {
    // The large one takes minutes; the small one comes after it in the list, and is told all the same.
    let mut child = Command::new(snapbox::cmd::cargo_bin!("hayase"))
        .args("validate --full random-over-regular measured-run -j 2 --progress always".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its progress shows that the small one is done.
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    let mut buffer = [0; 4096];
    while !said.contains("1 of 2 cases done") {
        let count = stderr.read(&mut buffer).unwrap();
        assert!(count > 0, "{said}");
        said += &String::from_utf8_lossy(&buffer[..count]);
    }
    assert!(said.contains("running: random-over-regular"), "{said}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    stderr.read_to_string(&mut said).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}\n{said}");
    assert!(text.contains("master-slave/measured-run"), "{text}");
    assert!(text.contains("interrupted paper/random-over-regular") && text.contains(", 1 not done\n"), "{text}");
}
