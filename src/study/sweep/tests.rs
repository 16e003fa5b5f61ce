//! Tests of sweeps: real runs on small fabrics.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::report::ComparisonRow;

const TREE: &str = "[topology.fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\n";

/// Pattern files with these algorithms of all-to-all, and a sweep over them on a tree of 16 nodes.
struct Bench {
    directory: tempfile::TempDir,
    sweep: Sweep,
}

impl Bench {
    fn new(algorithms: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let sweep = Sweep { base: Loader::new().text("tree.toml", TREE), ..Sweep::default() };
        let mut bench = Self { directory, sweep };
        for algorithm in algorithms {
            let text = format!("[workload.all-to-all]\nalgorithm = \"{algorithm}\"\nsize = \"20 KB\"\n");
            bench.pattern(&format!("{algorithm}.toml"), &text);
        }
        bench
    }

    /// Adds a value of an axis; placements change faster than fabrics, and patterns than placements.
    fn add(&mut self, axis: Axis, value: &str) {
        let at = |axis: &Axis| [Axis::Topology, Axis::Placement, Axis::Pattern].iter().position(|one| one == axis);
        match self.sweep.axes.iter_mut().find(|(known, _)| *known == axis) {
            Some((_, values)) => values.push(value.to_owned()),
            None => self.sweep.axes.push((axis, vec![value.to_owned()])),
        }
        self.sweep.axes.sort_by_key(|(axis, _)| at(axis));
    }

    fn placements(&mut self, names: &[&str]) {
        self.sweep.axes.retain(|(axis, _)| *axis != Axis::Placement);
        names.iter().for_each(|name| self.add(Axis::Placement, name));
    }

    fn pattern(&mut self, name: &str, text: &str) {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        self.add(Axis::Pattern, path.to_str().unwrap());
    }
}

/// Returns all results that must not depend on the machine.
fn fingerprints(comparison: &Comparison) -> Vec<(String, String, String)> {
    let row = |row: &ComparisonRow| (row.pattern.clone(), row.placement.clone(), row.fingerprint.clone());
    comparison.rows.iter().map(row).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut bench = Bench::new(&["simple-spread", "pairwise", "linear"]);
    bench.placements(&["regular", "random"]);
    bench.sweep.seeds = vec![1, 2, 3, 4];
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bench.sweep.run(Control::default()).unwrap())
    };
    let (one, four) = (on(1), on(4));
    assert_eq!(fingerprints(&one), fingerprints(&four));
    assert!(one.complete);
    let makespans =
        |comparison: &Comparison| comparison.rows.iter().map(|row| row.makespan.clone()).collect::<Vec<_>>();
    assert_eq!(makespans(&one), makespans(&four));
}

#[test]
fn all_that_do_the_same_are_in_order_best_first_whatever_they_differ_in() {
    let mut bench = Bench::new(&["linear", "simple-spread", "pairwise"]);
    bench.placements(&["random", "regular"]);
    let comparison = bench.sweep.run(Control::default()).unwrap();
    assert_eq!(comparison.jobs().count(), 1);
    let rows = &comparison.rows;
    assert!(rows.is_sorted_by(|a, b| a.makespan.mean_s <= b.makespan.mean_s && a.place <= b.place));
    for row in rows {
        assert_eq!(row.job, "all-to-all of 20 KB among 16 ranks");
        assert_eq!(row.ratio_to_best, row.makespan.mean_s / rows[0].makespan.mean_s);
        assert_eq!(row.is_best(), row.ratio_to_best == 1.0);
        assert!(row.ratio_to_bound >= 1.0 && row.messages == 240 && row.bytes == 240 * 20_000);
    }
    // The tree is free of contention for simple spread in its regular order.
    let regular: Vec<u32> = rows.iter().filter(|row| row.placement == "regular").map(|row| row.place).collect();
    assert_eq!((rows[0].makespan.mean_s, regular[0]), (300e-6, 1));
}

#[test]
fn one_pattern_is_ranked_by_placements_and_by_fabrics() {
    let mut bench = Bench::new(&["linear"]);
    bench.placements(&["random", "regular", "block"]);
    let comparison = bench.sweep.run(Control::default()).unwrap();
    let places: Vec<u32> = comparison.rows.iter().map(|row| row.place).collect();
    assert!(comparison.rows.is_sorted_by(|a, b| a.makespan.mean_s <= b.makespan.mean_s), "{places:?}");
    // Without contention all are equally fast and share the first place.
    let mean = |row: &ComparisonRow| row.makespan.mean_s;
    let expected: Vec<u32> = comparison
        .rows
        .iter()
        .map(|row| 1 + comparison.rows.iter().filter(|other| mean(other) < mean(row)).count() as u32)
        .collect();
    assert_eq!(places, expected);
    bench.placements(&[]);
    for (name, text) in [("slow.toml", TREE.replace("1 GB/s", "0.5 GB/s")), ("fast.toml", TREE.to_owned())] {
        let path = bench.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        bench.add(Axis::Topology, path.to_str().unwrap());
    }
    let comparison = bench.sweep.run(Control::default()).unwrap();
    assert!(comparison.rows[0].topology.ends_with("fast.toml"));
    assert_eq!(comparison.rows[1].ratio_to_best, 2.0);
}

#[test]
fn what_does_not_do_the_same_is_not_ranked() {
    let mut bench = Bench::new(&["linear"]);
    bench.pattern("bruck.toml", "[workload.all-to-all]\nalgorithm = \"bruck\"\nsize = \"20 KB\"\n");
    bench.pattern("larger.toml", "[workload.all-to-all]\nalgorithm = \"linear\"\nsize = \"40 KB\"\n");
    bench.pattern("ring.toml", "[workload.ring]\nsize = \"20 KB\"\n");
    let comparison = bench.sweep.run(Control::default()).unwrap();
    // Bruck sends more bytes for the same all-to-all.
    let jobs: Vec<(&str, usize)> = comparison.jobs().map(|rows| (rows[0].job.as_str(), rows.len())).collect();
    let expected = [
        ("all-to-all of 20 KB among 16 ranks", 2),
        ("all-to-all of 40 KB among 16 ranks", 1),
        ("320,000 B among 16 ranks", 1),
    ];
    assert_eq!(jobs, expected);
    assert!(comparison.jobs().all(|rows| rows[0].is_best() && rows[0].ratio_to_best == 1.0));
}

#[test]
fn only_what_is_random_runs_with_several_seeds() {
    let mut bench = Bench::new(&["simple-spread", "random-order"]);
    bench.placements(&["regular", "random"]);
    bench.sweep.seeds = vec![5, 6, 6, 7];
    let comparison = bench.sweep.run(Control::default()).unwrap();
    for row in &comparison.rows {
        let fixed = row.placement == "regular" && row.pattern.ends_with("simple-spread.toml");
        let seeds: &[u64] = if fixed { &[5] } else { &[5, 6, 7] };
        assert_eq!(row.makespan.seeds, seeds, "{} {}", row.pattern, row.placement);
        assert_eq!(row.makespan.sd_s == 0.0, fixed);
    }
}

#[test]
fn a_pattern_that_does_not_fit_is_named_before_anything_runs() {
    let mut bench = Bench::new(&["simple-spread", "2d-spread", "pairwise"]);
    let tree = bench.directory.path().join("fat-tree-54.toml");
    std::fs::write(&tree, TREE.replace("p = 2", "p = 3")).unwrap();
    bench.add(Axis::Topology, tree.to_str().unwrap());
    bench.placements(&["regular", "random"]);
    let told = AtomicBool::new(false);
    let progress = |_| told.store(true, Ordering::Relaxed);
    let error = bench.sweep.run(Control { progress: Some(&progress), cancel: None }).unwrap_err();
    let SweepError::Invalid(invalid) = error else { panic!("{error}") };
    assert_eq!(invalid.diagnostics.len(), 2);
    let text = invalid.lines().replace(bench.directory.path().to_str().unwrap(), "DIR");
    let beginning = "DIR/2d-spread.toml:2:13: DIR/2d-spread.toml, on DIR/fat-tree-54.toml, regular and 1 more: \
                     2d-spread is not defined for 54 ranks";
    assert!(text.starts_with(beginning), "{text}");
    assert!(text.contains("pairwise exchange is not defined for 54 ranks"), "{text}");
    assert!(!told.into_inner());
}

#[test]
fn progress_ends_with_everything_done() {
    let mut bench = Bench::new(&["simple-spread", "pairwise"]);
    bench.placements(&["random"]);
    bench.sweep.seeds = vec![1, 2, 3];
    let last = Mutex::new(None);
    let progress = |progress: SweepProgress| {
        let mut last = last.lock().unwrap();
        if last.is_none_or(|last: SweepProgress| last.runs < progress.runs) {
            *last = Some(progress);
        }
    };
    bench.sweep.run(Control { progress: Some(&progress), cancel: None }).unwrap();
    let last = last.into_inner().unwrap().unwrap();
    assert_eq!(last, SweepProgress { runs: 6, total_runs: 6, messages: 6 * 240, total_messages: 6 * 240 });
}

#[test]
fn what_is_complete_when_it_is_cancelled_is_reported() {
    let mut bench = Bench::new(&["simple-spread", "pairwise"]);
    bench.placements(&["random"]);
    bench.sweep.seeds = vec![1, 2, 3];
    let cancel = AtomicBool::new(true);
    let none = bench.sweep.run(Control { progress: None, cancel: Some(&cancel) }).unwrap();
    assert!(!none.complete && none.rows.is_empty());
    cancel.store(false, Ordering::Relaxed);
    let progress = |progress: SweepProgress| cancel.store(progress.runs >= 2, Ordering::Relaxed);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let control = Control { progress: Some(&progress), cancel: Some(&cancel) };
    let some = one_thread.install(|| bench.sweep.run(control)).unwrap();
    let runs: usize = some.rows.iter().map(|row| row.makespan.seeds.len()).sum();
    assert_eq!((some.complete, runs), (false, 2));
}

#[test]
fn a_run_that_never_ends_is_named() {
    let mut bench = Bench::new(&[]);
    std::fs::write(bench.directory.path().join("m.csv"), "src,dst,bytes,after\n0,1,5,1\n1,0,5,0\n").unwrap();
    bench.pattern("wait.toml", "[workload.file]\npath = \"m.csv\"\n");
    let error = bench.sweep.run(Control::default()).unwrap_err();
    let SweepError::Deadlocked { blocked, seed, .. } = &error else { panic!("{error}") };
    assert_eq!((blocked.len(), *seed), (2, 1));
    assert!(error.to_string().contains("2 ranks wait for messages that never come"), "{error}");
}
