//! Errors that are known beforehand, and cases that are awkward.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::report::AccuracyRow;
use crate::study::sweep::{Axis, SweepProgress};

fn sweep(topology: &str, pattern: &str) -> AccuracySweep {
    let grid = Sweep {
        base: Loader::new().jitter("1.5 us"),
        axes: vec![(Axis::Topology, vec![topology.to_owned()]), (Axis::Pattern, vec![pattern.to_owned()])],
        seeds: vec![1, 2],
        ..Sweep::default()
    };
    AccuracySweep { grid, sizes: vec!["20 KB".to_owned()], ..AccuracySweep::default() }
}

fn run(sweep: &AccuracySweep) -> Accuracy {
    sweep.cases().unwrap().run(Control::default(), &|| 1.0)
}

fn rows(accuracy: &Accuracy, model: &str, reference: &str) -> Vec<AccuracyRow> {
    let is_it = |row: &&AccuracyRow| row.model == model && row.reference == reference;
    accuracy.rows.iter().filter(is_it).cloned().collect()
}

#[test]
fn the_makespan_of_a_row_is_that_of_the_run_with_the_same_words() {
    let found = run(&AccuracySweep {
        references: vec!["packet:iq:turn".to_owned()],
        ..sweep("torus-4x4", "all-to-all-pairwise")
    });
    let alone = |transport: &str, keys: &[&str], seed: u64| {
        let loader = Loader::new().topology("torus-4x4").pattern("all-to-all-pairwise").size("20 KB").jitter("1.5 us");
        let loader = keys.iter().fold(loader.transport(transport), |loader, key| loader.set("--set", key));
        loader.seed(seed).load().unwrap().measured(None, false).makespan_s
    };
    let mean = |transport: &str, keys: &[&str]| (alone(transport, keys, 1) + alone(transport, keys, 2)) / 2.0;
    let packets = mean("packet:iq", &["transport.packet.deadlock-avoidance=turn"]);
    for (model, transport, keys) in [
        ("max-min", "flow:max-min", &[][..]),
        ("equal-share", "flow:equal-share", &[]),
        ("redistribute", "flow:redistribute", &[]),
        ("blocking", "flow:blocking", &["sharing.blocking.channels=turn"]),
    ] {
        let [row] = &rows(&found, model, "packet:iq:turn")[..] else { panic!("{model}") };
        let flows = mean(transport, keys);
        assert_eq!((row.model_makespan_s, row.reference_makespan_s), (flows, packets), "{model}");
        assert_eq!(row.makespan_error, flows / packets - 1.0);
        assert!(row.makespan_error_min <= row.makespan_error && row.makespan_error <= row.makespan_error_max);
        assert!(row.time_error_q05 <= row.time_error_q50 && row.time_error_q50 <= row.time_error_q95);
        assert_eq!(
            (&row.seeds[..], row.buffer, row.case.size_bytes, row.case.messages),
            (&[1, 2][..], Some(8), 20_000, 240)
        );
        assert_eq!(row.channels.as_deref(), (model == "blocking").then_some("turn"));
    }
    assert_eq!((found.rows.len(), found.complete, found.left_out.len()), (4, true, 0));
}

#[test]
fn messages_that_are_alone_are_off_by_what_it_takes_to_store_and_forward_them() {
    // Each rank of a crossbar sends one message to the next: no links are shared. 30,000 B are 20 packets of 1,500 B.
    // The flow takes 20 packet times, and the last packet crosses one more link. Only `blocking` models that.
    let sweep = AccuracySweep {
        sizes: vec!["30 KB".to_owned()],
        references: vec!["packet:oq".to_owned(), "packet:fq".to_owned()],
        ..sweep("crossbar-64", "shift")
    };
    let found = run(&sweep);
    assert_eq!(found.rows.len(), 8);
    for row in &found.rows {
        let short = if row.model == "blocking" { 0.0 } else { 20.0 / 21.0 - 1.0 };
        for figure in [row.time_error_q05, row.time_error_q50, row.time_error_q95] {
            assert!((figure - short).abs() < 1e-6, "{}: {figure}", row.model);
        }
        let finish = row.mean_finish_error;
        let is_near = if row.model == "blocking" { finish.abs() < 1e-6 } else { (short..0.0).contains(&finish) };
        assert!(is_near, "{}: {finish}", row.model);
    }
}

#[test]
fn each_fabric_has_its_own_switches_and_buffers_belong_to_input_queues() {
    let names = |topology: &str| {
        let sweep = AccuracySweep {
            models: vec!["max-min".to_owned(), "few-packets".to_owned()],
            buffers: vec!["4".to_owned(), "\"unlimited\"".to_owned()],
            ..sweep(topology, "ring")
        };
        let found = run(&sweep);
        let flows = found.rows.iter().filter(|row| row.model == "max-min");
        let rows: Vec<(String, Option<u32>)> = flows.map(|row| (row.reference.clone(), row.buffer)).collect();
        assert_eq!(found.rows.len(), 2 * rows.len());
        rows
    };
    let both = |name: &str| [(name.to_owned(), Some(4)), (name.to_owned(), None)];
    let ends = [("packet:oq".to_owned(), None), ("packet:fq".to_owned(), Some(2))];
    let with =
        |inner: &[&str]| -> Vec<_> { ends.iter().cloned().chain(inner.iter().flat_map(|name| both(name))).collect() };
    let rings = ["packet:iq:dateline", "packet:iq:turn", "packet:iq:bubble", "packet:iq:voq"];
    assert_eq!(names("torus-4x4"), with(&rings));
    assert_eq!(names("fat-tree-54"), with(&["packet:iq:classes", "packet:iq:voq"]));
}

#[test]
fn what_is_random_in_nothing_is_run_once_and_nothing_takes_no_time() {
    let mut sweep = sweep("torus-4x4", "all-to-all-pairwise");
    sweep.grid.base = Loader::new();
    sweep.sizes = vec!["0 B".to_owned()];
    let found = run(&sweep);
    assert!(!found.rows.is_empty());
    for row in &found.rows {
        assert_eq!((&row.seeds[..], row.case.size_bytes), (&[1][..], 0));
        assert!(row.makespan_error.is_finite() && row.time_error_q95.is_finite() && row.speed_ratio.is_finite());
    }
}

#[test]
fn what_is_ended_before_it_began_has_no_rows_and_says_so() {
    let cancel = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancel), ..Control::default() };
    let cases = sweep("torus-4x4", "ring").cases().unwrap();
    let found = cases.run(control, &|| 0.0);
    assert!(found.rows.is_empty() && !found.complete);
    assert_eq!(found.missing_runs, cases.outlook().runs as u64);
}

#[test]
fn progress_ends_where_all_is_done_and_the_work_was_guessed_before() {
    let seen = Mutex::new(Vec::new());
    let tell = |progress: SweepProgress| lock(&seen).push(progress);
    let cases = sweep("torus-4x4", "all-to-all-pairwise").cases().unwrap();
    let outlook = cases.outlook();
    // 240 messages of 14 packets over 2 host links and 4 * 16 / 15 others on average.
    let hops = 240.0 * 14.0 * (2.0 + 2.0 * 16.0 / 15.0);
    assert_eq!((outlook.cases, outlook.runs), (1, 2 * (6 + 3 + 4)));
    assert!((outlook.packet_hops - 2.0 * 6.0 * hops).abs() < 1e-6 * hops, "{} {hops}", outlook.packet_hops);
    cases.run(Control { progress: Some(&tell), cancel: None }, &|| 0.0);
    let seen = lock(&seen);
    let last = seen.iter().max_by_key(|progress| progress.runs).unwrap();
    assert_eq!((last.runs, last.total_runs), (outlook.runs, outlook.runs));
    assert!(seen.iter().all(|progress| progress.messages <= progress.total_messages));
}

#[test]
fn packets_that_are_kept_are_not_played_again_and_flows_are() {
    let folder = tempfile::tempdir().unwrap();
    let kept = || AccuracySweep {
        keep: Some(folder.path().join("packets")),
        models: vec!["max-min".to_owned(), "few-packets".to_owned()],
        references: vec!["packet:oq".to_owned(), "packet:iq:turn".to_owned()],
        ..sweep("torus-4x4", "all-to-all-pairwise")
    };
    let played = |sweep: &AccuracySweep, seconds: f64| {
        // Each run takes this long: the clock is read before and after it.
        let now = Mutex::new(0.0);
        let clock = || {
            let mut now = lock(&now);
            *now += seconds;
            *now
        };
        let cases = sweep.cases().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let found = pool.install(|| cases.run(Control::default(), &clock));
        assert!(cases.unkept().is_none());
        found
    };
    let runs = |sweep: &AccuracySweep| sweep.cases().unwrap().outlook().runs;
    // Two seeds each of max-min, of two references, and of both references in few packets.
    assert_eq!(runs(&kept()), 2 * 5);
    let first = played(&kept(), 1.0);
    assert_eq!((runs(&kept()), sweep("torus-4x4", "ring").cases().unwrap().outlook().runs), (2, 2 * 13));
    let second = played(&kept(), 8.0);
    let costs = |row: &AccuracyRow| (row.model.clone(), row.model_cpu_s, row.reference_cpu_s);
    for (first, second) in first.rows.iter().zip(&second.rows) {
        let expected = if first.model == "max-min" { 8.0 } else { 1.0 };
        assert_eq!(costs(second), (first.model.clone(), expected, 1.0));
        let (model_cpu_s, speed_ratio) = (second.model_cpu_s, second.speed_ratio);
        assert_eq!(AccuracyRow { model_cpu_s, speed_ratio, ..first.clone() }, *second);
    }
    // A different run is not cached. Another model against the same packets is, whatever its settings.
    let mut tolerant = kept();
    tolerant.grid.base = tolerant.grid.base.set("--set", "sharing.blocking.tolerance=0.05");
    tolerant.models = vec!["blocking".to_owned()];
    // With the channels of either reference.
    assert_eq!(runs(&tolerant), 2 * 2);
    let mut jittered = kept();
    jittered.grid.base = Loader::new().jitter("2 us");
    assert_eq!(runs(&jittered), 2 * 5);
    let mut others = kept();
    others.grid.seeds = vec![2, 3];
    assert_eq!(runs(&others), 2 + 4);
    assert_eq!(runs(&AccuracySweep { models: vec!["equal-share".to_owned()], ..kept() }), 2);
    assert_eq!(runs(&AccuracySweep { buffers: vec!["4".to_owned()], ..kept() }), 2 + 2);
}

#[test]
fn mistakes_are_said_before_anything_is_run() {
    let codes = |sweep: AccuracySweep| -> Vec<&'static str> {
        sweep.cases().unwrap_err().diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    };
    let ring = || sweep("torus-4x4", "ring");
    assert_eq!(codes(AccuracySweep { models: vec!["fast".into(), "max-min".into()], ..ring() }), ["unknown-choice"]);
    assert_eq!(codes(AccuracySweep { references: vec!["packet:i".into()], ..ring() }), ["unknown-choice"]);
    assert_eq!(codes(AccuracySweep { references: vec!["packet:iq:classes".into()], ..ring() }), ["wrong-choice"]);
    assert_eq!(codes(sweep("torus-4x4", "linear:ranks=4,size=1KB")), ["wrong-choice"]);
    assert!(!codes(sweep("torus-5", "ring")).is_empty());
}

#[test]
fn fabrics_on_which_models_fail_in_other_ways_are_of_other_kinds() {
    for (topology, kind) in [
        ("crossbar-64", "crossbar"),
        ("fat-tree-54", "tree"),
        ("fat-tree-3456-4to1", "tapered tree"),
        ("torus-4x4", "torus 2d"),
        ("mesh-16x16", "mesh 2d"),
        ("red-storm", "half-closed mesh 3d"),
        ("dragonfly-72", "dragonfly"),
    ] {
        let scenario = Loader::new().topology(topology).pattern("ring").load_pattern().unwrap();
        assert_eq!(case::case_of(&scenario, scenario.work()).family, kind, "{topology}");
    }
}
