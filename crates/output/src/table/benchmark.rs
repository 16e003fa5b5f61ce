//! Tables of a benchmark and of the loads that can be measured.

use std::fmt::Write;

use super::figures::{fixed, grouped};
use super::{Answer, Grid, printable};
use crate::columns;
use hayase::columns::{Blank, Columns};
use hayase::report::{Benchmark, Growth};

/// Returns the table of a benchmark.
pub fn benchmark(benchmark: &Benchmark) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(&heading(benchmark)));
    text.table(rows(benchmark));
    text.push_str(&compared(benchmark));
    if !benchmark.growth.is_empty() {
        let columns = Columns::<Growth>::new()
            .text("growth", |growth| &growth.loads)
            .words("nodes", |growth| {
                let (from, to) = growth.nodes;
                format!("{} to {}", grouped(from.into()), grouped(to.into()))
            })
            .id("a message costs", |growth| format!("N^{}", fixed(growth.exponent, 2)))
            .id("an all-to-all", |growth| format!("N^{}", fixed(growth.exponent + 2.0, 2)));
        text.push_str("\n");
        text.table(Grid::of(&columns, &benchmark.growth));
    }
    if !benchmark.complete {
        text.push_str("\nINTERRUPTED: runs are missing.\n");
    }
    text
}

/// Returns the machine, the program, and the number of runs and threads.
fn heading(benchmark: &Benchmark) -> String {
    let machine = &benchmark.machine;
    let cores = if machine.cores == 1 { "1 core".to_owned() } else { format!("{} cores", machine.cores) };
    let runs =
        if benchmark.repeats == 1 { "1 run".to_owned() } else { format!("median of {} runs", benchmark.repeats) };
    let threads =
        if benchmark.threads == 1 { "one thread".to_owned() } else { format!("{} threads", benchmark.threads) };
    format!(
        "hayase {} ({}, {}) on {}, {cores}, {}; {runs}, {threads}",
        machine.version, machine.compiler, machine.build, machine.cpu, machine.system
    )
}

fn rows(benchmark: &Benchmark) -> Grid {
    let mut shown = vec![("load", ""), ("messages", ""), ("message [ns]", ""), ("range [ns]", ""), ("spread", "")];
    if benchmark.threads > 1 {
        shown.push(("message, wall [ns]", ""));
    }
    shown.extend([("messages_per_s", "messages"), ("peak_rss_bytes", "memory")]);
    if benchmark.against.is_some() {
        shown.extend([("other [ns]", ""), ("ratio", ""), ("95 % interval", "")]);
    }
    let columns = columns::benchmark(benchmark)
        .id("other [ns]", |row| Blank(row.against.as_ref().map(|other| nanoseconds(other.cpu_ns.median))))
        .id("95 % interval", |row| Blank(row.against.as_ref().and_then(|other| other.interval).map(ends)))
        .id("message [ns]", |row| nanoseconds(row.cpu_ns.median))
        .id("range [ns]", |row| format!("{} to {}", nanoseconds(row.cpu_ns.min), nanoseconds(row.cpu_ns.max)))
        .part("spread", |row| (row.cpu_ns.all.len() > 1).then(|| row.cpu_ns.relative()))
        .id("message, wall [ns]", |row| nanoseconds(row.wall_ns.median));
    Grid::of(&columns.only(&shown), &benchmark.rows)
}

fn ends((low, high): (f64, f64)) -> String {
    format!("{} to {}", fixed(low, 3), fixed(high, 3))
}

/// Names the loads that cost more or less than with the other build, by their intervals.
fn compared(benchmark: &Benchmark) -> String {
    let Some(other) = &benchmark.against else { return String::new() };
    let rows = || benchmark.rows.iter().filter_map(|row| Some((row, row.against.as_ref()?)));
    let known = rows().filter_map(|(row, cost)| Some((&row.load, cost.ratio, cost.interval?)));
    let known: Vec<(&String, f64, (f64, f64))> = known.collect();
    let named = |verb: &str, is: fn((f64, f64)) -> bool| {
        let of = known.iter().filter(|(_, _, interval)| is(*interval));
        let lines: String = of
            .clone()
            .map(|(load, ratio, interval)| format!("  {load}: x {} ({})\n", fixed(*ratio, 3), ends(*interval)))
            .collect();
        format!("{} of {} loads cost {verb} than with {}\n{lines}", of.count(), known.len(), printable(&other.file))
    };
    let mut text = "\n".to_owned();
    if known.len() < rows().count() {
        text += "These repeats are too few for an interval; 4 of both builds are enough.\n";
    }
    let left = benchmark.rows.len() - rows().count();
    if left > 0 {
        let _ = writeln!(text, "{left} loads were not measured there, or over another number of messages");
    }
    if !known.is_empty() {
        text += &named("more", |interval| interval.0 > 1.0);
        text += &named("less", |interval| interval.1 < 1.0);
        let chance = fixed(0.05 * known.len() as f64, 1);
        let _ =
            writeln!(text, "The confidence level is 95 %: of equal builds, {chance} of these loads seem to differ.");
    }
    match &other.machine {
        Some(machine) if machine.cpu != benchmark.machine.cpu => {
            let _ = writeln!(text, "The other figures are of another processor: {}", printable(&machine.cpu));
        }
        Some(machine) if machine.build != benchmark.machine.build => {
            let _ = writeln!(text, "The other build is {}", printable(&machine.build));
        }
        Some(_) => text += "The intervals do not cover what else changed on the machine since then.\n",
        None => {}
    }
    text
}

/// Formats a time in nanoseconds with three digits, the precision of such figures; small ones have a decimal.
fn nanoseconds(value: f64) -> String {
    if value >= 100.0 { grouped(value.round() as u64) } else { fixed(value, 1) }
}

/// Returns the table of loads and of their measured sizes.
pub fn loads(loads: &[(String, String)]) -> Answer {
    let mut grid = Grid::new().text("load").text("measured");
    for (name, extent) in loads {
        grid.row([name.clone(), extent.clone()]);
    }
    grid.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::report::{BENCHMARK_SCHEMA, BenchmarkRow, Growth, Machine, Measurement};

    fn sample(threads: u32) -> Benchmark {
        let run = |cpu_ns, rss| Measurement {
            nodes: 54,
            messages: 2862,
            cpu_ns: cpu_ns * 2862.0,
            wall_ns: cpu_ns * 2862.0,
            peak_rss_bytes: rss,
        };
        let row = |load, runs: &[Measurement]| BenchmarkRow::new(load, runs).unwrap();
        Benchmark {
            schema: BENCHMARK_SCHEMA.into(),
            machine: Machine {
                cpu: "Some Processor".into(),
                cores: 2,
                system: "linux x86_64".into(),
                compiler: "rustc 1.95.0".into(),
                build: "optimised".into(),
                version: "0.1.0".into(),
            },
            repeats: 2,
            threads,
            complete: true,
            rows: vec![
                row("fat-tree-54/random/max-min", &[run(1250.0, Some(5_300_000)), run(1350.0, Some(5_200_000))]),
                row("fat-tree-54/regular/equal-share", &[run(26.25, None), run(26.25, None)]),
            ],
            against: None,
            growth: vec![Growth { loads: "fat-tree, random/max-min".into(), nodes: (54, 3456), exponent: 0.137 }],
        }
    }

    #[test]
    fn a_benchmark_names_the_machine_and_the_growth() {
        insta::assert_snapshot!(benchmark(&sample(1)), @"
        hayase 0.1.0 (rustc 1.95.0, optimised) on Some Processor, 2 cores, linux x86_64; median of 2 runs, one thread

        load                             messages  message [ns]      range [ns]  spread [%]  messages [M/s]  memory [MB]
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        fat-tree-54/random/max-min          2,862         1,300  1,250 to 1,350         7.7           0.769        5.300
        fat-tree-54/regular/equal-share     2,862          26.2    26.2 to 26.2         0.0          38.095            -

        growth                    nodes        a message costs  an all-to-all
        ─────────────────────────────────────────────────────────────────────
        fat-tree, random/max-min  54 to 3,456           N^0.14         N^2.14
        ");
    }

    #[test]
    fn with_several_threads_the_wall_time_is_shown() {
        let text = benchmark(&Benchmark { complete: false, growth: Vec::new(), ..sample(2) }).to_markdown();
        insta::assert_snapshot!(text, @"
        hayase 0.1.0 (rustc 1.95.0, optimised) on Some Processor, 2 cores, linux x86_64; median of 2 runs, 2 threads

        | load | messages | message [ns] | range [ns] | spread [%] | message, wall [ns] | messages [M/s] | memory [MB] |
        | :-- | --: | --: | --: | --: | --: | --: | --: |
        | fat-tree-54/random/max-min | 2,862 | 1,300 | 1,250 to 1,350 | 7.7 | 1,300 | 0.769 | 5.300 |
        | fat-tree-54/regular/equal-share | 2,862 | 26.2 | 26.2 to 26.2 | 0.0 | 26.2 | 38.095 | - |

        INTERRUPTED: runs are missing.
        ");
    }
}
