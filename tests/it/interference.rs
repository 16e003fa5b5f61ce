//! Interference: closed forms for the delay of one job by another, and properties of any mix.

use std::fmt::Write;

use hayase::report::JobsReport;
use hayase::rng::Mix;
use hayase::simulation::Outcome;
use hayase::{Loader, RunOptions};

/// Runs the jobs of a text; returns the report.
fn run(text: &str, interference: bool) -> JobsReport {
    let scenario = match Loader::new().text("jobs.toml", text).load() {
        Ok(scenario) => scenario,
        Err(invalid) => panic!("{invalid}"),
    };
    match scenario.run(RunOptions { interference, ..RunOptions::default() }) {
        Outcome::Jobs(outcome) => outcome.report,
        other => panic!("{other:?}"),
    }
}

/// Returns the matrix \[ms\].
fn matrix(report: &JobsReport) -> Vec<Vec<f64>> {
    let pairs = report.interference.as_ref().expect("it was asked for");
    let names: Vec<&str> = report.jobs.iter().map(|job| job.name.as_str()).collect();
    let rows: Vec<_> = pairs.chunks(names.len()).collect();
    for (row, victim) in rows.iter().zip(&names) {
        assert!(row.iter().zip(&names).all(|(pair, culprit)| pair.victim == *victim && pair.culprit == *culprit));
    }
    rows.into_iter().map(|row| row.iter().map(|pair| pair.delay_s * 1e3).collect()).collect()
}

fn close(found: &[Vec<f64>], expected: &[&[f64]]) {
    let same = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * 10.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(a, b)), "{found:?}");
}

/// Two switches with six nodes each and one cable between them.
const BELL: &str = "[topology.fat-tree]\ndown = [6, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";

/// Returns a job of one message from node to node.
fn one(name: &str, nodes: &str, size: &str, start: &str) -> String {
    format!(
        "[[job]]\nname = \"{name}\"\nplacement.nodes.list = \"{nodes}\"\nstart = \"{start}\"\n\
         [job.workload.broadcast]\nalgorithm = \"binomial\"\nsize = \"{size}\"\nranks = 2\n"
    )
}

/// Returns a job of messages from a file, with ranks on these nodes.
fn listed(name: &str, nodes: &str, file: &str) -> String {
    format!("[[job]]\nname = \"{name}\"\nplacement.nodes.list = \"{nodes}\"\n[job.workload.file]\npath = \"{file}\"\n")
}

#[test]
fn two_staggered_messages_lose_half_of_the_time_in_which_they_share() {
    // They share from 3 ms to 11 ms, each at half its rate: each loses 4 ms to the other, and nothing to itself.
    let text = format!("{BELL}{}{}", one("a", "0,6", "10 MB", "0 s"), one("b", "1,7", "4 MB", "3 ms"));
    for sharing in ["max-min", "equal-share"] {
        close(&matrix(&run(&format!("sharing = \"{sharing}\"\n{text}"), true)), &[&[0.0, 4.0], &[4.0, 0.0]]);
    }
    let weighted = format!("[transport.flow]\nwindow = \"1 GB\"\n{text}");
    close(&matrix(&run(&weighted, true)), &[&[0.0, 4.0], &[4.0, 0.0]]);
    assert!(run(&text, false).interference.is_none());
}

#[test]
fn of_three_jobs_each_pays_by_the_messages_of_the_others() {
    // n messages of 1 MB in all, each at 1 / n of the cable for n ms: one loses 1 ms to each of the others.
    let folder = tempfile::tempdir().unwrap();
    let mut text = BELL.to_owned();
    let mut first = 0;
    for count in [1, 2, 3] {
        let mut list = "src,dst,bytes\n".to_owned();
        (0..count).for_each(|rank| writeln!(list, "{rank},{},1000000", count + rank).unwrap());
        let path = folder.path().join(format!("{count}.csv"));
        std::fs::write(&path, list).unwrap();
        let last = first + count - 1;
        let nodes = format!("{first}-{last},{}-{}", 6 + first, 6 + last);
        text += &listed(&format!("j{count}"), &nodes, &path.display().to_string().replace('\\', "/"));
        first += count;
    }
    close(&matrix(&run(&text, true)), &[&[0.0, 2.0, 3.0], &[2.0, 2.0, 6.0], &[3.0, 6.0, 6.0]]);
}

#[test]
fn what_a_narrower_link_of_the_own_job_causes_is_no_fault_of_others() {
    // a sends two messages from node 0 at once. Its host link holds them at 0.5 GB/s each; with b, a cable of
    // 1.5 GB/s holds all three there. Without b they were no faster: each loses half of 2 ms to the other; b
    // loses half of 1 ms to both of them.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.csv");
    std::fs::write(&path, "src,dst,bytes\n0,1,1000000\n0,2,1000000\n").unwrap();
    let bell = "[topology.fat-tree]\ndown = [6, 2]\nup = [1, 1]\nbandwidth = [\"1 GB/s\", \"1.5 GB/s\"]\n";
    let two = listed("a", "0,6,7", &path.display().to_string().replace('\\', "/")) + "injection = \"all\"\n";
    let b = one("b", "1,8", "0.5 MB", "0 s");
    close(&matrix(&run(&format!("{bell}{two}{b}"), true)), &[&[2.0, 0.0], &[0.5, 0.0]]);
}

#[test]
fn a_lone_job_delays_only_itself_and_one_without_messages_nobody() {
    let text = format!(
        "{BELL}{}",
        "[[job]]\nname = \"a\"\nranks = 12\n[job.workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"100 KB\"\n"
    );
    let report = run(&text, true);
    let longer = matrix(&report)[0][0];
    // All messages are 100 KB, 0.1 ms alone.
    let alone = 0.1 * report.head.messages as f64;
    assert!((longer - alone * (report.jobs[0].contention - 1.0)).abs() <= 1e-9 * alone && longer > 0.0);
    let none = "[[job]]\nname = \"b\"\nranks = 1\n[job.workload.ring]\nsize = \"1 KB\"\n";
    let of_none = format!("topology = \"fat-tree-54\"\n{}{none}", &text[BELL.len()..]);
    let matrix = matrix(&run(&of_none, true));
    assert_eq!((matrix[0][1], matrix[1][0], matrix[1][1]), (0.0, 0.0, 0.0));
}

#[test]
fn rows_add_up_and_asking_changes_no_time() {
    let topologies = [
        "[topology.fat-tree]\np = 3\nbandwidth = \"1 GB/s\"",
        "[topology.torus]\ndims = [7, 7]\nbandwidth = \"1 GB/s\"",
        "[topology.fat-tree]\ndown = [4, 4, 3]\nup = [1, 2, 2]\nbandwidth = \"1 GB/s\"",
    ];
    let more = ["", "sharing = \"equal-share\"\n", "faults.links = \"10 %\"\n"];
    let kinds = [
        "[job.workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n",
        "[job.workload.ring]\nsize = \"300 KB\"\n",
        "[job.workload.permutation]\nkind = \"random\"\nsize = \"1 MB\"\n",
    ];
    for mix in 0..9u64 {
        let random = Mix::new(mix, "interference");
        let mut text = format!("{}{}\n", more[mix as usize % 3], topologies[(mix / 3) as usize]);
        if mix % 3 == 2 {
            text = format!("{}{}\n", more[2], topologies[1]);
        }
        let count = 2 + random.two_below(0, 0, 3);
        for job in 0..count {
            let kind = kinds[random.two_below(job, 1, kinds.len() as u64) as usize];
            let (ranks, start) = (2 + random.two_below(job, 2, 5), random.two_below(job, 3, 300));
            let _ = write!(
                text,
                "[[job]]\nname = \"j{job}\"\nranks = {ranks}\nplacement = \"random\"\nstart = \"{start} us\"\n{kind}"
            );
        }
        let (asked, not) = (run(&text, true), run(&text, false));
        assert_eq!(asked.head.fingerprint, not.head.fingerprint, "{text}");
        assert_eq!(asked.head.makespan_s.to_bits(), not.head.makespan_s.to_bits());
        for (job, row) in asked.jobs.iter().zip(matrix(&asked)) {
            // Alone a message takes its bytes at 1 GB/s [ms].
            let alone = job.bytes as f64 * 1e-6;
            let longer = alone * (job.contention - 1.0);
            assert!((row.iter().sum::<f64>() - longer).abs() <= 1e-9 * alone.max(1.0), "{text}");
            assert!(row.iter().all(|&lost| lost >= -1e-9 * alone), "{row:?}\n{text}");
        }
    }
}

#[test]
fn what_cannot_be_told_is_refused_and_left_out() {
    let text = format!("{BELL}{}{}", one("a", "0,6", "10 MB", "0 s"), one("b", "1,7", "4 MB", "3 ms"));
    for (more, refused) in [
        ("transport = \"packet\"\n", true),
        ("sharing = \"redistribute\"\n", true),
        ("transport = \"contention-free\"\n", false),
    ] {
        let text = format!("{more}{text}");
        let scenario = Loader::new().text("jobs.toml", &text).load().unwrap();
        let hayase::simulation::Work::Jobs(work) = scenario.work() else { panic!("jobs are expected") };
        let told = work.tells_interference(scenario.system());
        assert_eq!(told.is_err(), refused, "{more}");
        let report = run(&text, true);
        match refused {
            true => assert!(report.interference.is_none()),
            false => close(&matrix(&report), &[&[0.0, 0.0], &[0.0, 0.0]]),
        }
    }
}
