//! Columns of many runs side by side: comparisons, errors of models, predictions, benchmarks.

use hayase::columns::{Blank, Columns, Quantity};
use hayase::report::whatif::WhatIfReport;
use hayase::report::{
    Accuracy, AccuracyRow, Benchmark, BenchmarkRow, CHOICES, Comparison, ComparisonRow, Estimate, Estimated,
    FarmReport, MeasuredReport, MeasuredRow, NcclReport, NcclRow, OperationComparison, OperationRow, OtherValue,
    PATTERN, PlanReport, Prediction,
};
use serde_json::Value;

/// Returns the columns of the algorithms of a collective operation.
pub fn operation(comparison: &OperationComparison) -> Columns<'_, OperationRow> {
    let any = |has: fn(&OperationRow) -> bool| comparison.rows.iter().any(has);
    Columns::<OperationRow>::new()
        .text("algorithm", |row| &row.of.name)
        .when(any(|row| !row.topology.is_empty()), |columns| columns.text("topology", |row| &row.topology))
        .when(any(|row| !row.placement.is_empty()), |columns| columns.text("placement", |row| &row.placement))
        .when(any(|row| !row.transport.is_empty()), |columns| columns.text("transport", |row| &row.transport))
        .quantity("size_bytes", Quantity::Bytes, |row| row.size_bytes)
        .time("optimum_s", |row| row.optimum_s)
        .time("jitter_s", |row| row.jitter_s)
        .time("makespan_jitter_s", |row| row.of.makespan_jitter_s)
        .ratio("ratio_to_optimum", 3, |row| row.of.ratio_to_optimum)
        .time("makespan_s", |row| row.of.makespan_s)
        .ratio("ratio_in_step", 3, |row| row.of.ratio_in_step)
}

/// Returns the columns of NCCL's choices.
pub fn nccl(report: &NcclReport) -> Columns<'_, NcclRow> {
    let has_times = report.rows.iter().any(|row| row.simulated_s.is_some());
    Columns::<NcclRow>::new()
        .text("op", |row| &row.op)
        .id("ranks", |row| row.ranks)
        .id("nodes", |row| row.nodes)
        .quantity("size_B", Quantity::Bytes, |row| row.size_bytes)
        .text("algorithm", |row| &row.algorithm)
        .text("protocol", |row| &row.protocol)
        .time("model_s", |row| row.model_s)
        .text("runner_up_algorithm", |row| row.runner_up.as_ref().map_or("", |of| &of.algorithm))
        .text("runner_up_protocol", |row| row.runner_up.as_ref().map_or("", |of| &of.protocol))
        .time("runner_up_s", |row| Blank(row.runner_up.as_ref().map(|of| of.model_s)))
        .ratio("margin", 3, |row| Blank(row.margin))
        .when(has_times, |columns| {
            columns
                .time("simulated_s", |row| Blank(row.simulated_s))
                .time("bound_s", |row| Blank(row.bound_s))
                .quantity("bus_bandwidth_Bps", Quantity::Bandwidth, |row| Blank(row.bus_bandwidth_bps))
        })
}

/// Returns the columns of keys with other values in two reports.
pub fn other_values() -> Columns<'static, OtherValue> {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    Columns::new()
        .text("key", |row: &OtherValue| &row.key)
        .words("first", move |row| text(&row.first))
        .words("second", move |row| text(&row.second))
        .ratio("relative_change", 4, |row| Blank(row.change))
}

/// Returns the columns of a comparison.
pub fn comparison(comparison: &Comparison) -> Columns<'_, ComparisonRow> {
    let any = |has: fn(&ComparisonRow) -> bool| comparison.rows.iter().any(has);
    let keys = comparison.rows.first().into_iter().flat_map(|row| row.varied.keys());
    let choices = CHOICES[..=PATTERN]
        .iter()
        .enumerate()
        .fold(Columns::<ComparisonRow>::new(), |columns, (at, name)| columns.text(*name, move |row| row.choices()[at]));
    let fixed = choices
        .count("seeds", |row| row.makespan.seeds.len())
        .time("mean_s", |row| row.makespan.mean_s)
        .time("sd_s", |row| row.makespan.sd_s)
        .time("min_s", |row| row.makespan.min_s)
        .time("max_s", |row| row.makespan.max_s)
        .count("messages", |row| row.messages)
        .quantity("bytes", Quantity::Bytes, |row| row.bytes)
        .time("injection_bound_s", |row| row.bounds.injection_s)
        .time("busiest_link_bound_s", |row| row.bounds.busiest_link_s)
        .time("bisection_bound_s", |row| row.bounds.bisection_s)
        // Without a known bound the ratio is empty.
        .ratio("ratio_to_bound", 3, |row| Blank(Some(row.ratio_to_bound).filter(|ratio| ratio.is_finite())))
        .when(any(|row| row.bounds.optimum_reached_s.is_some()), |columns| {
            columns
                .time("optimum_at_least_s", |row| row.bounds.optimum_at_least_s)
                .time("optimum_reached_s", |row| row.bounds.optimum_reached_s)
                .ratio("ratio_to_optimum", 3, |row| row.ratio_to_optimum)
        })
        .when(any(|row| row.ratio_in_step.is_some()), |columns| {
            columns.ratio("ratio_in_step", 3, |row| row.ratio_in_step)
        })
        .ratio("ratio_to_best", 3, |row| row.ratio_to_best)
        .quantity("wall_s", Quantity::RunTime, |row| row.wall_s)
        .count("packet_hops", |row| row.packet_hops)
        .text("fingerprint", |row| &row.fingerprint)
        .text("job", |row| &row.job)
        .id("place", |row| row.place)
        .id("tied", |row| row.tied)
        .text("machine", |row| &row.machine);
    keys.fold(fixed, |columns, key| {
        columns.text(key.as_str(), move |row| row.varied.get(key).map_or("", String::as_str))
    })
    .when(any(|row| row.faults.is_some()), |columns| {
        columns
            .ratio("slowdown", 3, |row| Blank(row.slowdown.map(|slowdown| slowdown.mean)))
            .ratio("slowdown_low", 3, |row| row.slowdown.map(|slowdown| slowdown.low))
            .ratio("slowdown_high", 3, |row| row.slowdown.map(|slowdown| slowdown.high))
            .count("cut_off_seeds", |row| row.cut_off)
    })
    .when(any(|row| row.worst_slowdown.is_some()), |columns| {
        columns
            .ratio("worst_slowdown", 3, |row| Blank(row.worst_slowdown.as_ref().map(|worst| worst.mean)))
            .text("worst_job", |row| row.worst_slowdown.as_ref().map_or("", |worst| &worst.job))
    })
    .when(any(|row| row.estimated.is_some()), |columns| {
        columns
            .id("estimate", |row| estimate(row).is_some())
            .time("estimate_low_s", |row| estimate(row).map(|estimate| estimate.low_s))
            .time("estimate_high_s", |row| estimate(row).map(|estimate| estimate.high_s))
            .part("simulated_part", |row| estimate(row).map_or(1.0, |estimate| estimate.simulated_part))
    })
}

fn estimate(row: &ComparisonRow) -> Option<&Estimate> {
    row.estimated.as_ref().and_then(Estimated::estimate)
}

/// Returns the columns of the errors of models. Errors are fractions (0.1 is 10 %); varied keys are the last
/// columns.
pub fn accuracy(accuracy: &Accuracy) -> Columns<'_, AccuracyRow> {
    let keys = accuracy.rows.first().into_iter().flat_map(|row| row.case.varied.keys());
    let fixed = Columns::<AccuracyRow>::new()
        .text("topology", |row| &row.case.topology)
        .text("family", |row| &row.case.family)
        .count("nodes", |row| row.case.nodes)
        .text("pattern", |row| &row.case.pattern)
        .text("kind", |row| &row.case.kind)
        .text("placement", |row| &row.case.placement)
        .text("routing", |row| &row.case.routing)
        .text("injection", |row| &row.case.injection)
        .count("size_B", |row| row.case.size_bytes)
        .count("messages", |row| row.case.messages)
        .text("model", |row| &row.model)
        .text("channels", |row| row.channels.as_deref().unwrap_or_default())
        .text("reference", |row| &row.reference)
        .count("buffer", |row| row.buffer)
        .count("packets_per_message", |row| row.packets_per_message)
        .count("seeds", |row| row.seeds.len())
        .part("makespan_error", |row| row.makespan_error)
        .part("makespan_error_min", |row| row.makespan_error_min)
        .part("makespan_error_max", |row| row.makespan_error_max)
        .part("mean_finish_error", |row| row.mean_finish_error)
        .part("time_error_q05", |row| row.time_error_q05)
        .part("time_error_q50", |row| row.time_error_q50)
        .part("time_error_q95", |row| row.time_error_q95)
        .time("model_makespan_s", |row| row.model_makespan_s)
        .time("reference_makespan_s", |row| row.reference_makespan_s)
        .part("reference_spread", |row| row.reference_spread)
        .quantity("model_cpu_s", Quantity::RunTime, |row| row.model_cpu_s)
        .quantity("reference_cpu_s", Quantity::RunTime, |row| row.reference_cpu_s)
        .ratio("speed_ratio", 1, |row| row.speed_ratio);
    keys.fold(fixed, |columns, key| {
        columns.text(key.as_str(), move |row| row.case.varied.get(key).map_or("", String::as_str))
    })
}

/// Returns the columns of measured collectives: those of their files, then those of the first model's prediction.
pub fn measured(report: &MeasuredReport) -> Columns<'_, MeasuredRow> {
    let of_files: Vec<(&str, &'static str)> = report.columns.iter().map(|name| (name.as_str(), "")).collect();
    Columns::<MeasuredRow>::new()
        .text("system", |row| &row.system)
        .text("operation", |row| &row.operation)
        .text("algorithm", |row| &row.algorithm)
        .text("library", |row| &row.library)
        .count("nodes", |row| row.nodes)
        .text("shape", |row| &row.shape)
        .count("ranks", |row| row.ranks)
        .count("size_B", |row| row.size_bytes)
        .time("time_s", |row| row.time_s)
        .text("statistic", |row| &row.statistic)
        .time("p10_s", |row| row.p10_s)
        .time("p90_s", |row| row.p90_s)
        .count("repetitions", |row| row.repetitions)
        .text("placement", |row| &row.placement)
        .text("note", |row| &row.note)
        .text("source", |row| &row.source)
        .only(&of_files)
        .time("predicted_s", |row| row.predicted_s.first().copied().flatten())
        .time("low_s", |row| row.low_s)
        .time("high_s", |row| row.high_s)
        .ratio("ratio", 3, |row| row.ratio)
        .id("scored", |row| u32::from(row.scored))
        .text("reason", |row| &row.reason)
}

/// Returns the columns of a benchmark; every row names the machine.
pub fn benchmark(benchmark: &Benchmark) -> Columns<'_, BenchmarkRow> {
    let machine = &benchmark.machine;
    Columns::<BenchmarkRow>::new()
        .text("load", |row| &row.load)
        .count("nodes", |row| row.nodes)
        .count("messages", |row| row.messages)
        .count("repeats", |row| row.cpu_ns.all.len())
        .count("threads", |_| benchmark.threads)
        .ratio("cpu_ns", 1, |row| row.cpu_ns.median)
        .ratio("cpu_min_ns", 1, |row| row.cpu_ns.min)
        .ratio("cpu_max_ns", 1, |row| row.cpu_ns.max)
        .ratio("wall_ns", 1, |row| row.wall_ns.median)
        .ratio("wall_min_ns", 1, |row| row.wall_ns.min)
        .ratio("wall_max_ns", 1, |row| row.wall_ns.max)
        .quantity("messages_per_s", Quantity::Rate, |row| row.messages_per_s)
        .quantity("peak_rss_bytes", Quantity::Bytes, |row| row.peak_rss_bytes)
        .ratio("other_cpu_ns", 1, |row| Blank(row.against.as_ref().map(|other| other.cpu_ns.median)))
        .ratio("ratio", 4, |row| Blank(row.against.as_ref().map(|other| other.ratio)))
        .ratio("ratio_low", 4, |row| Blank(row.against.as_ref().and_then(|other| other.interval).map(|ends| ends.0)))
        .ratio("ratio_high", 4, |row| Blank(row.against.as_ref().and_then(|other| other.interval).map(|ends| ends.1)))
        .words("cpu", |_| machine.cpu.clone())
        .words("compiler", |_| machine.compiler.clone())
        .words("build", |_| machine.build.clone())
        .words("version", |_| machine.version.clone())
}

/// Returns the columns of predictions of a master/slave program. If a parameter is varied, it is the first
/// column.
pub fn predictions(report: &FarmReport) -> Columns<'_, Prediction> {
    let varied = report
        .varied
        .iter()
        .fold(Columns::<Prediction>::new(), |columns, varied| columns.id(varied.as_str(), |row| row.value.clone()));
    varied
        .id("workers", |row| row.workers)
        .id("processors", |row| row.processors)
        .time("time_s", |row| row.time_s)
        .part("efficiency", |row| row.efficiency)
        .part("master_utilisation", |row| row.master_utilisation)
        .part("worker_utilisation", |row| row.worker_utilisation.mean)
        .ratio("waiting_mean", 2, |row| row.waiting.mean)
        .id("waiting_max", |row| row.waiting.max)
        .part("imbalance", |row| row.imbalance)
        .time("tail_s", |row| row.tail_s)
        .count("messages", |row| row.messages)
        .id("repeated", |row| row.repeated)
        .id("undone", |row| row.undone)
        .time("bound_s", |row| row.bound_s)
        .when(report.predictions.iter().any(|row| row.seeds.is_some()), |columns| {
            columns
                .count("seeds", |row| row.seeds.as_ref().map(|seeds| seeds.seeds.len() as u64))
                .time("mean_s", |row| Blank(row.seeds.as_ref().map(|seeds| seeds.mean_s)))
                .time("sd_s", |row| Blank(row.seeds.as_ref().map(|seeds| seeds.sd_s)))
                .time("min_s", |row| row.seeds.as_ref().map(|seeds| seeds.min_s))
                .time("max_s", |row| row.seeds.as_ref().map(|seeds| seeds.max_s))
        })
        .without_exponents()
}

/// Returns the columns of the tasks that a plan proposes: `i1,i2,...`.
pub fn points<'a>(plan: &PlanReport) -> Columns<'a, Vec<i64>> {
    let dimensions = plan.grid.split('x').count();
    (0..dimensions).fold(Columns::<Vec<i64>>::new(), |columns, at| {
        columns.id(format!("i{}", at + 1), move |point| point.get(at).copied())
    })
}

/// Predicted time of a program after one change.
pub struct Changed<'a> {
    parameter: &'a str,
    value: &'a str,
    number: Option<f64>,
    time_s: Option<f64>,
    change: Option<f64>,
    failed: &'a str,
}

/// Returns the columns and rows of the predicted time over each parameter. The unchanged run and the limits
/// come first.
pub fn whatif(report: &WhatIfReport) -> (Columns<'_, Changed<'_>>, Vec<Changed<'_>>) {
    let columns = Columns::<Changed<'_>>::new()
        .text("parameter", |row| row.parameter)
        .text("value", |row| row.value)
        .ratio("number", 3, |row| row.number)
        .time("time_s", |row| row.time_s)
        .quantity("change", Quantity::Change, |row| row.change)
        .text("failed", |row| row.failed)
        .without_exponents();
    let (number, failed, makespan_s) = (None, "", report.head.makespan_s);
    let row =
        |parameter, value, time_s, change| Changed { parameter, value, number, time_s: Some(time_s), change, failed };
    let unchanged = row("unchanged", "", makespan_s, Some(0.0));
    let limits = report
        .limits
        .named()
        .map(|(name, time_s, _)| row("limit", name, time_s, (makespan_s > 0.0).then(|| time_s / makespan_s - 1.0)));
    let points = report.varied.iter().flat_map(|varied| {
        varied.points.iter().map(|point| Changed {
            parameter: &varied.parameter,
            value: &point.value,
            number: point.number,
            time_s: point.time_s,
            change: point.change,
            failed: point.failed.as_deref().unwrap_or_default(),
        })
    });
    (columns, std::iter::once(unchanged).chain(limits).chain(points).collect())
}
