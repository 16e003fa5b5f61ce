//! Several jobs on one fabric: closed forms, and the times of one merged list of messages.

use std::fmt::Write;

use hayase::report::{JobsReport, MessageRecord};
use hayase::rng::Mix;
use hayase::scenario::Loaded;
use hayase::simulation::Outcome;
use hayase::steady::groups_of_nodes;
use hayase::{Loader, RunOptions};

fn report(text: &str) -> JobsReport {
    let scenario = match Loader::new().text("jobs.toml", text).load() {
        Ok(scenario) => scenario,
        Err(invalid) => panic!("{invalid}"),
    };
    match scenario.run(RunOptions { alone: true, ..RunOptions::default() }) {
        Outcome::Jobs(outcome) => outcome.report,
        other => panic!("{other:?}"),
    }
}

/// Returns the mistakes of a text, in lines.
fn mistakes(text: &str) -> String {
    match Loader::new().text("jobs.toml", text).load_all() {
        Err(invalid) => invalid.lines(),
        Ok(Loaded::Jobs(_)) => "jobs".to_owned(),
        Ok(_) => "something else".to_owned(),
    }
}

/// Two switches with three nodes each and one cable between them.
const BELL: &str = "[topology.fat-tree]\ndown = [3, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";

/// Returns a job of one message from the first switch to the second.
fn one(name: &str, nodes: &str, size: &str, start: &str) -> String {
    format!(
        "[[job]]\nname = \"{name}\"\nplacement.nodes.list = \"{nodes}\"\nstart = \"{start}\"\n\
         [job.workload.broadcast]\nalgorithm = \"binomial\"\nsize = \"{size}\"\nranks = 2\n"
    )
}

#[test]
fn two_jobs_share_a_link_while_both_have_something_to_send() {
    // Alone 10 ms and 4 ms. From 3 ms on both have half: b ends at 3 + 8 ms, a has sent 3 + 4 MB by then and ends at
    // 14.
    let text = format!("{BELL}{}{}", one("a", "0,3", "10 MB", "0 s"), one("b", "1,4", "4 MB", "3 ms"));
    let report = report(&text);
    let close = |value: f64, expected: f64| assert!((value - expected).abs() <= 1e-9 * expected, "{value} {expected}");
    let (a, b) = (&report.jobs[0], &report.jobs[1]);
    close(a.makespan_s.unwrap(), 14e-3);
    close(b.makespan_s.unwrap(), 8e-3);
    close(b.end_s.unwrap(), 11e-3);
    close(a.alone_s.unwrap(), 10e-3);
    close(b.alone_s.unwrap(), 4e-3);
    close(a.slowdown.unwrap(), 1.4);
    close(b.slowdown.unwrap(), 2.0);
    close(report.head.makespan_s, 14e-3);
    // They meet only on the cable between the switches, which carries all their messages.
    let meetings: Vec<(f64, usize)> = report.meetings.iter().map(|link| (link.utilisation, link.jobs.len())).collect();
    assert_eq!(meetings, [(1.0, 2), (1.0, 2)][..meetings.len()]);
    assert!(!meetings.is_empty());
    close(report.bounds.busiest_link_s.unwrap(), 14e-3);
}

#[test]
fn jobs_that_never_meet_are_as_fast_as_alone_to_the_last_bit() {
    let text = format!(
        "topology = \"fat-tree-54\"\n{}{}",
        "[[job]]\nname = \"a\"\nranks = 9\nstart = \"1 us\"\n[job.workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n",
        "[[job]]\nname = \"b\"\nranks = 9\nstart = \"0.7 us\"\nrepeat = 3\n[job.workload.ring]\nsize = \"20 KB\"\n"
    );
    let report = report(&text);
    assert!(report.meetings.is_empty());
    for job in &report.jobs {
        assert_eq!(job.slowdown.map(|slowdown| (slowdown - 1.0).abs() < 1e-12), Some(true), "{job:?}");
    }
    assert_eq!(report.jobs[0].makespan_s, report.jobs[0].alone_s);
    assert_eq!(report.jobs[1].repetitions, 3);
}

/// Returns a random list of messages of one job, and adds it to a list of all jobs. There its ranks count
/// from `first`, and the first message of each rank waits for the start of the job.
fn random_job(random: Mix, job: u64, first: u32, start_ns: u64, merged: &mut String) -> (u32, String) {
    let draw = |key: u64, bound: u64| random.two_below(job, key, bound);
    let ranks = 2 + draw(0, 9) as u32;
    let mut own = "src,dst,bytes,delay\n".to_owned();
    for rank in 0..ranks {
        for message in 0..1 + draw(100 + u64::from(rank), 12) {
            let key = 1_000 * u64::from(rank + 1) + 10 * message;
            let dst = draw(key, u64::from(ranks)) as u32;
            let bytes = draw(key + 1, 100_000);
            let delay = if draw(key + 2, 3) == 0 { draw(key + 3, 20_000) } else { 0 };
            let wait = if message == 0 { start_ns + delay } else { delay };
            let _ = writeln!(own, "{rank},{dst},{bytes},{delay} ns");
            let _ = writeln!(merged, "{},{},{bytes},{wait} ns", first + rank, first + dst);
        }
    }
    (ranks, own)
}

#[test]
fn jobs_take_the_same_time_as_one_merged_list_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name).display().to_string().replace('\\', "/");
    let torus = "[topology.torus]\ndims = [7, 7]\nbandwidth = \"1 GB/s\"\nlatency = \"200 ns\"";
    let topologies = [
        "[topology.fat-tree]\np = 3\nbandwidth = \"1 GB/s\"",
        torus,
        "[topology.fat-tree]\ndown = [4, 4, 3]\nup = [1, 2, 2]\nbandwidth = [\"2 GB/s\", \"1 GB/s\", \"1.5 GB/s\"]",
    ];
    // The same with packets, and on a torus where cables fail, from the start or at a time.
    let more = [
        "transport = \"packet\"\n",
        "faults.links = \"10 %\"\n",
        "faults = { links = \"10 %\", at = \"30 us\", rerouting-delay = \"5 us\" }\n",
    ];
    for mix in 0..16 {
        let random = Mix::new(mix, "mixes of jobs");
        let mut merged = "src,dst,bytes,delay\n".to_owned();
        let mut jobs = String::new();
        let mut first = 0;
        let count = 2 + mix % 4;
        for job in 0..count {
            let start = if job == 0 { 0 } else { random.two_below(job, 7, 200_000) };
            let (ranks, own) = random_job(random, job, first, start, &mut merged);
            let own_path = path(format!("{mix}-{job}.csv"));
            std::fs::write(&own_path, own).unwrap();
            let _ = writeln!(jobs, "[[job]]\nname = \"job-{job}\"\nranks = {ranks}\nstart = \"{start} ns\"");
            let _ = writeln!(jobs, "[job.workload.file]\npath = \"{own_path}\"\nranks = {ranks}");
            first += ranks;
        }
        let merged_path = path(format!("{mix}-merged.csv"));
        std::fs::write(&merged_path, merged).unwrap();
        let more = if mix < 10 { "" } else { more[mix as usize % more.len()] };
        let topology = if mix < 10 { topologies[mix as usize % topologies.len()] } else { torus };
        let sharing = ["max-min", "equal-share"][mix as usize % 2];
        let deliveries = |text: &str| {
            let mut all: Vec<(u32, u32, u32, u64, u64)> = Vec::new();
            let mut see = |message: &MessageRecord| {
                all.push((message.src, message.index, message.dst, message.bytes, message.end_s.to_bits()));
            };
            let scenario = Loader::new().text("mix.toml", text).load().unwrap_or_else(|invalid| panic!("{invalid}"));
            let outcome = scenario.run(RunOptions { on_message: Some(&mut see), ..RunOptions::default() });
            let summary = outcome.summary();
            all.sort_unstable();
            (all, summary.makespan_s.to_bits())
        };
        let head = |body: &str| match more.contains("packet") {
            true => format!("{more}{topology}\n{body}"),
            false => format!("{more}sharing = \"{sharing}\"\n{topology}\n{body}"),
        };
        let of_jobs = deliveries(&head(&jobs));
        let of_all = deliveries(&head(&format!("[workload.file]\npath = \"{merged_path}\"\nranks = {first}\n")));
        assert!(of_jobs.0.len() > 10);
        assert_eq!(of_jobs, of_all, "mix {mix}");
    }
}

#[test]
fn programs_and_farms_are_jobs_as_well() {
    let text = "topology = \"fat-tree-54\"\n\
        [[job]]\nname = \"p\"\n[job.workload.program]\nrule = \"linear:ranks=8\"\n\
        [[job]]\nname = \"m\"\nstart = \"1 ms\"\n[job.workload.master-slave]\nworkers = 5\n\
        tasks = \"constant:count=40,time=1ms\"\n\
        [[job]]\nname = \"x\"\nbackground = true\nranks = 10\n[job.workload.ring]\nsize = \"1 MB\"\n\
        [[job]]\nname = \"y\"\nload = \"10 %\"\nranks = 12\n";
    let report = report(text);
    assert_eq!(report.jobs.iter().map(|job| job.ranks).collect::<Vec<_>>(), [8, 6, 10, 12]);
    let (program, farm, ring, load) = (&report.jobs[0], &report.jobs[1], &report.jobs[2], &report.jobs[3]);
    assert!(program.makespan_s.unwrap() > 0.0 && farm.makespan_s.unwrap() >= 8e-3);
    assert!((farm.start_s.unwrap() - 1e-3).abs() < 1e-15);
    assert_eq!(report.head.makespan_s, program.end_s.unwrap().max(farm.end_s.unwrap()));
    // The ring takes a millisecond and repeats until the other jobs have ended; 20 KB at a tenth of the host
    // link leave every 200 us on average.
    assert!(ring.makespan_s.is_none() && ring.repetitions >= 8, "{ring:?}");
    let capacity = 1e9;
    let offered = load.bytes as f64 / 12.0 / (capacity * report.head.makespan_s);
    assert!((offered - 0.1).abs() < 0.02, "{offered}");
}

#[test]
fn what_is_wrong_with_jobs_is_said_where_it_is() {
    let ring = "workload.ring.size = \"20 KB\"\n";
    let of = |body: &str| mistakes(&format!("topology = \"fat-tree-54\"\n{body}"));
    let job = |name: &str, more: &str| format!("[[job]]\nname = \"{name}\"\n{more}\n{ring}");
    let cases = [
        (job("a", "ranks = 8") + &job("a", "ranks = 8"), "jobs.toml:7:8", "two jobs `a`"),
        (job("a", "ranks = 50") + &job("b", "ranks = 8"), "jobs.toml:8:", "job `b` has 8 ranks, and 4 of the 54 nodes"),
        (
            job("a", "placement.nodes.list = \"0-7\"\nranks = 8")
                + &job("b", "placement.nodes.list = \"7-9\"\nranks = 3"),
            "jobs.toml:9:",
            "node 7 is given to job `b`, and job `a` has it",
        ),
        (job("a", "background = true"), "jobs.toml:4:", "never ends"),
        (job("a", "start = \"-1 us\""), "jobs.toml:4:", "negative"),
        (job("a", "think-time = \"-1 us\""), "jobs.toml:4:", "negative"),
        (job("a", "repeat = 0"), "jobs.toml:4:", "0 times"),
        (job("a", "start = \"2 us\"\nuntil = \"1 us\""), "jobs.toml:5:", "begins at"),
        (job("a", "repeat = 2\nbackground = true"), "jobs.toml:4:", "leave"),
        (job("a", "ranks = 0"), "jobs.toml:4:", "no ranks"),
        (job("a", "size = \"1 KB\""), "jobs.toml:4:", "size"),
        ("[[job]]\nname = \"a\"\n".to_owned(), "jobs.toml:3:", "does nothing"),
        ("[[job]]\nname = \"a\"\nload = \"0 %\"\n".to_owned(), "jobs.toml:4:", "not a fraction"),
        ("[[job]]\nname = \"a\"\nload = \"5 %\"\n".to_owned(), "jobs.toml:4:", "never ends"),
        ("[[job]]\nname = \"a\"\nload = \"5 %\"\nranks = 1\n".to_owned(), "jobs.toml:5:", "two ranks"),
        ("[[job]]\nranks = 3\n[job.workload.ring]\n".to_owned(), "jobs.toml:2:", "name"),
        (job("a", "rank = 3"), "jobs.toml:4:", "did you mean `ranks`"),
        (job("a", "ranks = 3") + "[workload.ring]\n", "jobs.toml:", "a workload beside them"),
        ("job = 3\n".to_owned(), "jobs.toml:2:", "a list of tables is expected"),
        (
            "faults.links = \"2 %\"\nfaults.at = \"1 us\"\n".to_owned()
                + &job("a", "ranks = 3")
                + &job("b", "ranks = 3\nbackground = true"),
            "jobs.toml:11:",
            "runs until the others end",
        ),
        (
            job("a", "ranks = 3") + "[[job]]\nname = \"b\"\n[job.workload.worst-case]\nsize = \"1 KB\"\n",
            "jobs.toml:",
            "one of all 54 nodes, and 51 of them",
        ),
        (job("a", "placement.nodes.list = \"9-3\""), "jobs.toml:4:", "empty"),
        (job("a", "placement.nodes.list = \"0-99\""), "jobs.toml:4:", "there is no node 99"),
    ];
    for (text, place, words) in cases {
        let said = of(&text);
        assert!(said.contains(place) && said.contains(words), "{text}\n{said}");
    }
    assert!(mistakes("[[job]]\nname = \"a\"\n[job.workload.ring]\n").contains("topology"));
}

#[test]
fn a_report_of_jobs_is_run_again_to_the_same_report() {
    let text = "topology = \"fat-tree-54\"\nseed = 5\n\
        [[job]]\nname = \"a\"\nranks = 16\nplacement = \"random\"\n[job.workload.permutation]\nkind = \"random\"\nsize = \"20 KB\"\n\
        [[job]]\nname = \"b\"\nranks = 7\nstart = \"3 us\"\nrepeat = 2\nthink-time = \"1 us\"\nplacement = \"block\"\n\
        [job.workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"20 KB\"\n\
        [[job]]\nname = \"c\"\nload = \"20 %\"\nplacement = \"random\"\n";
    let first = report(text);
    let again = report(&{
        let scenario = serde_json::json!({ "schema": "hayase-jobs-1", "scenario": first.head.scenario });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, scenario.to_string()).unwrap();
        let scenario = Loader::new().file(&path).load().unwrap_or_else(|invalid| panic!("{invalid}"));
        let Outcome::Jobs(outcome) = scenario.run(RunOptions { alone: true, ..RunOptions::default() }) else {
            panic!()
        };
        assert_eq!((&outcome.report.head, &outcome.report.jobs), (&first.head, &first.jobs));
        text.to_owned()
    });
    assert_eq!(again.head.fingerprint, first.head.fingerprint);
    // Another seed gives another placement and another permutation.
    let scenario = Loader::new().text("jobs.toml", text).load().unwrap();
    let other = scenario.with_seed(6).unwrap().run(RunOptions::default()).summary();
    let directly = Loader::new().text("jobs.toml", text.replace("seed = 5", "seed = 6")).load().unwrap();
    assert_eq!(other.fingerprint, directly.run(RunOptions::default()).summary().fingerprint);
    assert_ne!(other.fingerprint, first.head.fingerprint);
}

#[test]
fn a_pattern_against_groups_is_about_those_of_its_job() {
    let adv = |messages: u32| format!("[job.workload.adv]\nk = 1\nsize = \"20 KB\"\nmessages = {messages}\n");
    // By itself it is the same as without jobs.
    let whole = format!("topology = \"dragonfly-72\"\n{}", adv(3).replace("job.", ""));
    let alone = Loader::new().text("plain.toml", whole).load().unwrap().run(RunOptions::default()).summary();
    let single = report(&format!("topology = \"dragonfly-72\"\n[[job]]\nname = \"a\"\n{}", adv(3)));
    assert_eq!(single.head.fingerprint, alone.fingerprint);
    // After 21 ranks of another job, its first group is one that it only partly has.
    for (first, placement) in [(21, "ranks = 38"), (30, "placement.nodes.list = \"30-67\"\nranks = 38")] {
        let text = format!(
            "topology = \"dragonfly-72\"\n[[job]]\nname = \"r\"\nranks = 21\n[job.workload.ring]\nsize = \"1 KB\"\n\
             [[job]]\nname = \"a\"\n{placement}\n{}",
            adv(20)
        );
        let scenario =
            Loader::new().text("jobs.toml", text.clone()).load().unwrap_or_else(|invalid| panic!("{invalid}"));
        let groups = groups_of_nodes(&scenario.network().unwrap().fabric);
        let (low, high) = (groups[first], groups[first + 37]);
        let mut count = 0;
        let mut see = |message: &MessageRecord| {
            if message.src >= 21 {
                let group = |rank: u32| groups[rank as usize - 21 + first];
                let from = group(message.src);
                assert_eq!(group(message.dst), if from == high { low } else { from + 1 });
                count += 1;
            }
        };
        scenario.run(RunOptions { on_message: Some(&mut see), ..RunOptions::default() });
        assert_eq!(count, 38 * 20);
        // Another seed draws another one, with the same groups.
        let again = scenario.with_seed(9).unwrap().run(RunOptions::default()).summary();
        let directly = Loader::new().text("jobs.toml", text).set("--set", "seed=9");
        let directly = directly.load().unwrap_or_else(|invalid| panic!("{invalid}"));
        assert_eq!(again.fingerprint, directly.run(RunOptions::default()).summary().fingerprint);
    }
}

#[test]
fn what_fails_is_in_the_report_of_jobs_and_slows_them_alone_as_well() {
    // Two cables between the switches, one of which fails when half of each message has been sent.
    let bell = BELL.replace("up = [1, 1]", "up = [1, 2]");
    let jobs = one("a", "0,3", "4 MB", "0 s") + &one("b", "1,4", "4 MB", "0 s");
    let whole = report(&format!("{bell}{jobs}"));
    let cut = report(&format!("faults.links = \"50 %\"\n{bell}{jobs}"));
    let faults = cut.head.faults.as_ref().unwrap();
    assert!(whole.head.faults.is_none());
    assert!(faults.failed_links.count > 0 && !faults.events, "{faults:?}");
    // Both cross the remaining cable, one of them alone.
    assert!((cut.head.makespan_s - 8e-3).abs() < 1e-9, "{}", cut.head.makespan_s);
    for job in &cut.jobs {
        assert!((job.alone_s.unwrap() - 4e-3).abs() < 1e-9 && (job.slowdown.unwrap() - 2.0).abs() < 1e-9, "{job:?}");
    }
    // Receivers wait in vain for lost messages, and that is reported.
    let lost = format!("faults = {{ links = \"100 %\", at = \"1 ms\", on-failure = \"lost\" }}\n{bell}{jobs}");
    let lost = report(&lost);
    assert_eq!(lost.head.status, hayase::report::Status::Deadlocked);
    assert_eq!(lost.head.faults.unwrap().lost, 2);
    assert!(lost.jobs.iter().all(|job| job.makespan_s.is_none() && job.alone_s.is_none()));
}

#[test]
fn equal_jobs_draw_something_else_and_the_first_what_it_draws_alone() {
    let job = |name: &str, nodes: &str, work: &str| {
        format!("[[job]]\nname = \"{name}\"\nplacement.nodes.list = \"{nodes}\"\n{work}")
    };
    let uniform = "[job.workload.uniform-random]\nsize = \"20 KB\"\nmessages = 5\nranks = 13\n";
    let farm = "[job.workload.master-slave]\nworkers = 12\ntasks = \"exponential:count=100,mean=1ms\"\n";
    // Each has a switch of its own, and the switches are alike: only the drawn values differ.
    let tree = "[topology.fat-tree]\ndown = [13, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\n";
    for work in [uniform, farm] {
        let both = format!("{tree}{}{}", job("a", "0-12", work), job("b", "13-25", work));
        let one = report(&format!("{tree}{}", job("a", "0-12", work)));
        let scenario = Loader::new().text("jobs.toml", &both).load().unwrap();
        let messages = |scenario: &hayase::scenario::Scenario| {
            let mut of: [Vec<(u32, u32, f64)>; 2] = Default::default();
            let mut on_message = |message: &MessageRecord| {
                let job = (message.src / 13) as usize;
                of[job].push((message.src % 13, message.dst % 13, message.end_s));
            };
            let options = RunOptions { on_message: Some(&mut on_message), ..RunOptions::default() };
            let outcome = scenario.run(options);
            (of, outcome.summary())
        };
        let ([first, second], summary) = messages(&scenario);
        assert!(first != second && !first.is_empty(), "{work}");
        assert_eq!(summary.jobs[0].end_s, one.jobs[0].end_s);
        // Another seed has the same effect whether it is given at once or afterwards.
        let at_once = Loader::new().text("jobs.toml", &both).seed(5).load().unwrap();
        assert_eq!(messages(&scenario.with_seed(5).unwrap()).0, messages(&at_once).0);
    }
}
