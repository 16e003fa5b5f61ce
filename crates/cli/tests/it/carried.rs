//! Program inside a host process, as in the wheel for Python.

use std::ffi::OsString;

use crate::Desk;

/// Runs these arguments in this process and returns the exit code.
fn inside(words: &[&str]) -> u8 {
    let program = ["/opt/my python/bin/python", "-m", "hayase"].map(OsString::from).to_vec();
    hayase_cli::main_of_another(words.iter().map(OsString::from), program)
}

#[test]
fn a_verb_ends_and_the_process_goes_on() {
    assert_eq!(inside(&["--version"]), 0);
    assert_eq!(inside(&["--nothing-of-that-name"]), 2);
    assert_eq!(inside(&["run", "-t", "no-such-fabric", "-p", "ring", "--quiet"]), 2);
    let desk = Desk::new();
    let report = desk.path().join("report.json").display().to_string();
    assert_eq!(inside(&["run", "-t", "torus-4x4", "-p", "ring", "--quiet", "-o", &report]), 0);
    assert!(desk.read("report.json").contains("\"fingerprint\""));
}

#[test]
fn scripts_for_clusters_start_what_carries_the_program() {
    let plan = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = [\"1 KB\", \"2 KB\"]\n";
    let desk = Desk::new().file("plan.toml", plan);
    let [plan, folder] = ["plan.toml", "out"].map(|name| desk.path().join(name).display().to_string());
    for (engine, script) in [("slurm", "out/submit.slurm"), ("hq", "out/submit.hq.sh")] {
        assert_eq!(inside(&["sweep", &plan, "-o", &folder, "--submit", engine, "--quiet"]), 0);
        let script = desk.read(script).replace("'\\''", "'");
        assert!(script.contains(&format!("exec '/opt/my python/bin/python' -m hayase sweep {plan} ")), "{script}");
    }
}
