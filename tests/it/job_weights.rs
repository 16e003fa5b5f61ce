//! Jobs with weights: closed forms, and cases in which weights have no effect.

use hayase::report::JobsReport;
use hayase::simulation::Outcome;
use hayase::{Loader, RunOptions};

fn report(text: &str) -> JobsReport {
    let scenario = Loader::new().text("jobs.toml", text).load().unwrap_or_else(|invalid| panic!("{invalid}"));
    match scenario.run(RunOptions { alone: true, ..RunOptions::default() }) {
        Outcome::Jobs(outcome) => outcome.report,
        other => panic!("{other:?}"),
    }
}

/// Two switches with three nodes each and one cable between them.
const BELL: &str = "[topology.fat-tree]\ndown = [3, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";

/// Returns a job of one message from the first switch to the second.
fn one(name: &str, nodes: &str, size: &str, weight: &str) -> String {
    format!(
        "[[job]]\nname = \"{name}\"\nplacement.nodes.list = \"{nodes}\"\nweight = {weight}\n\
         [job.workload.broadcast]\nalgorithm = \"binomial\"\nsize = \"{size}\"\nranks = 2\n"
    )
}

fn makespans(report: &JobsReport) -> Vec<f64> {
    report.jobs.iter().map(|job| job.makespan_s.unwrap()).collect()
}

#[test]
fn rates_on_a_full_link_are_in_proportion_to_weights() {
    let close = |text: &str, expected: &[f64]| {
        let report = report(text);
        for (value, expected) in makespans(&report).iter().zip(expected) {
            assert!((value - expected).abs() <= 1e-9 * expected, "{text}\n{value} {expected}");
        }
        report
    };
    // a has 3/4 of 1 GB/s until its 6 MB are through at 8 ms; b has sent 2 of its 4 MB by then and ends at 10.
    let text = format!("{BELL}{}{}", one("a", "0,3", "6 MB", "3"), one("b", "1,4", "4 MB", "1"));
    let weighted = close(&text, &[8e-3, 10e-3]);
    assert_eq!(weighted.jobs.iter().map(|job| job.alone_s.unwrap()).collect::<Vec<_>>(), [6e-3, 4e-3]);
    // Three of them: 1/2, 1/3 and 1/6; 6, 4 and 2 MB end together.
    let three = [("a", "0,3", "6 MB", "3"), ("b", "1,4", "4 MB", "2"), ("c", "2,5", "2 MB", "1")];
    let text = three.iter().fold(BELL.to_owned(), |text, (a, b, c, d)| text + &one(a, b, c, d));
    close(&text, &[12e-3, 12e-3, 12e-3]);
    // With a weight of 1e6 it has nearly the whole link, except for a millionth.
    let text = format!("{BELL}{}{}", one("a", "0,3", "6 MB", "1e6"), one("b", "1,4", "4 MB", "1"));
    close(&text, &[6e-3 * (1.0 + 1e-6), 10e-3]);
    // So does equal share, which also divides by weights.
    let text =
        format!("sharing = \"equal-share\"\n{BELL}{}{}", one("a", "0,3", "6 MB", "3"), one("b", "1,4", "4 MB", "1"));
    close(&text, &[8e-3, 10e-3]);
}

#[test]
fn jobs_of_one_weight_run_as_without() {
    let jobs = |weight: &str| {
        let both = [("a", "all-to-all-mpich", 13), ("b", "ring", 20), ("c", "all-to-all-simple-spread", 17)];
        let job = |(name, pattern, ranks): (&str, &str, u32)| {
            format!(
                "[[job]]\nname = \"{name}\"\nranks = {ranks}\nplacement = \"random\"\nworkload = \"{pattern}\"\n{weight}"
            )
        };
        format!("topology = \"fat-tree-54\"\n{}", both.map(job).concat())
    };
    let without = report(&jobs(""));
    assert_eq!(report(&jobs("weight = 7\n")).head.fingerprint, without.head.fingerprint);
    let one = jobs("").replacen("name = \"b\"", "name = \"b\"\nweight = 2", 1);
    let weighted = report(&one);
    assert_ne!(weighted.head.fingerprint, without.head.fingerprint);
    // The job with the larger weight is not slower for it, and a job alone is unchanged, up to rounding.
    assert!(weighted.jobs[1].makespan_s <= without.jobs[1].makespan_s);
    for (job, known) in weighted.jobs.iter().zip(&without.jobs) {
        let (alone, known) = (job.alone_s.unwrap(), known.alone_s.unwrap());
        assert!((alone - known).abs() <= 1e-9 * known, "{alone} {known}");
    }
}

#[test]
fn weights_are_checked_and_refused_where_nothing_knows_them() {
    let says = |more: &str, weight: &str, said: &str| {
        let text = format!("{more}{BELL}{}{}", one("a", "0,3", "6 MB", weight), one("b", "1,4", "4 MB", "1"));
        let mistakes = Loader::new().text("jobs.toml", &text).load().unwrap_err().lines();
        assert!(mistakes.contains(said) && mistakes.starts_with("jobs.toml:"), "{mistakes}");
    };
    for wrong in ["0", "-1", "0.0000001", "1e7", "inf", "nan"] {
        says("", wrong, "is not a weight of a job");
    }
    says("", "\"heavy\"", "weight");
    says("transport = \"packet\"\n", "2", "has no weights");
    says("transport = \"contention-free\"\n", "2", "has no weights");
    says("sharing = \"redistribute\"\n", "2", "its rounds hand out left-over evenly");
}
