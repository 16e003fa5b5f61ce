//! Tables of communication data: times by size, protocol limits, lines, parameters.

use std::fmt::Write;

use super::figures::percent;
use super::{Answer, Grid, Quantity, fixed, grouped, printable};
use hayase::columns::Columns;
use hayase::node::calibrate::Calibration;
use hayase::prediction::communication::{Communication, Line, Parameter, Row};
use hayase::units::Time;

/// Approximate number of sizes shown; sizes on both sides of a limit are always shown.
const SHOWN: usize = 16;

/// Returns the times measured between two processes, and the parameters that fit them.
pub fn communication(data: &Communication, fit: &Calibration) -> Answer {
    let origin = &data.origin;
    let mut text = Answer::new();
    let _ = writeln!(
        text,
        "{}\n{}, measured {} in {} s\n",
        printable(&format!("{}: `{}` on {}", origin.mpi, origin.launcher, origin.hosts.join(" and "))),
        printable(&origin.processor),
        printable(&origin.measured),
        origin.seconds,
    );
    text.table(times(data));
    let last = data.times.last().map_or(0, |row| row.size.0);
    text.push_str(&match data.limits.sync {
        Some(sync) => format!("\neager limit S: {} B; a longer message waits for its receiver\n", grouped(sync.0)),
        None => format!("\neager limit S: none up to {} B, the largest measured\n", grouped(last)),
    });
    if let Some(short) = data.limits.s {
        let _ = writeln!(text, "packet limit s: about {} B, where the line bends", grouped(short.0));
    }
    if !data.lines.is_empty() {
        text.push_str("\ntime of a message of k bytes, a line for each protocol\n\n");
        text.table(lines(data));
    }
    text.push_str("\nLogGPS\n\n");
    text.table(parameters(data));
    let (median, largest) = (percent(fit.median_residual), percent(fit.largest_residual));
    let _ = writeln!(
        text,
        "\nthe model is off by {median} (median), {largest} at most, of {} measurements",
        fit.points.len()
    );
    text
}

fn times(data: &Communication) -> Grid {
    let columns = Columns::<Row>::new()
        .count("size [B]", |row| row.size.0)
        .time("message", |row| row.receive.seconds())
        .time("median", |row| row.median.seconds())
        .time("95 %", |row| row.high.seconds())
        .time("send", |row| row.send.map(Time::seconds))
        .time("late receive", |row| row.late.map(Time::seconds))
        .count("repetitions", |row| row.repetitions);
    let edge = |size: u64| {
        [data.limits.s, data.limits.sync].iter().flatten().any(|limit| limit.0 == size || limit.0 + 1 == size)
    };
    let step = data.times.len().div_ceil(SHOWN).max(1);
    let last = data.times.len().saturating_sub(1);
    let rows = data.times.iter().enumerate().filter(|(i, row)| i % step == 0 || *i == last || edge(row.size.0));
    Grid::of(&columns, rows.map(|(_, row)| row))
}

fn lines(data: &Communication) -> Grid {
    let between = |[low, high]: [f64; 2], digits| format!("{} .. {}", fixed(low, digits), fixed(high, digits));
    let columns = Columns::<Line>::new()
        .words("sizes [B]", |line| format!("{} to {}", grouped(line.from.0), grouped(line.to.0)))
        .ratio("of no bytes [ns]", 0, |line| line.start_ns)
        .words("95 % [ns]", move |line| between(line.start_interval, 0))
        .ratio("each byte [ns]", 4, |line| line.slope_ns)
        .words("95 % [ns]", move |line| between(line.slope_interval, 4))
        .quantity("bandwidth", Quantity::Bandwidth, |line| (line.slope_ns > 0.0).then(|| 1e9 / line.slope_ns));
    Grid::of(&columns, &data.lines)
}

fn parameters(data: &Communication) -> Grid {
    let digits = |parameter: &Parameter| if parameter.unit == "ns" { 1 } else { 4 };
    let columns = Columns::<Parameter>::new()
        .text("parameter", |parameter| &parameter.name)
        .id("value", move |parameter| parameter.value.map(|value| fixed(value, digits(parameter))))
        .words("95 %", move |parameter| {
            let show = |end| fixed(end, digits(parameter));
            parameter.interval.map_or_else(String::new, |[low, high]| format!("{} .. {}", show(low), show(high)))
        })
        .text("unit", |parameter| &parameter.unit)
        .text("", |parameter| if parameter.value.is_some() { "" } else { "not identifiable" });
    Grid::of(&columns, &data.parameters)
}
