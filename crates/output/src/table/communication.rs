//! The tables of communication data: times by size, limits, lines, parameters.

use std::fmt::Write;

use super::figures::percent;
use super::{Answer, Cell, Grid, Quantity, fixed, grouped, printable};
use hayase::node::calibrate::Calibration;
use hayase::prediction::communication::{Communication, Line};
use hayase::units::Time;

/// Sizes shown: about so many, and those on both sides of a limit.
const SHOWN: usize = 16;

/// What was measured between two processes, and how well the parameters fit it.
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
    let mut grid = Grid::new().number("size [B]").time("message").time("median").time("95 %");
    grid = grid.time("send").time("late receive").number("repetitions");
    let edge = |size: u64| {
        [data.limits.s, data.limits.sync].iter().flatten().any(|limit| limit.0 == size || limit.0 + 1 == size)
    };
    let show = |time: Option<Time>| Cell::from(time.map(Time::seconds));
    let step = data.times.len().div_ceil(SHOWN).max(1);
    let last = data.times.len().saturating_sub(1);
    for (_, row) in data.times.iter().enumerate().filter(|(i, row)| i % step == 0 || *i == last || edge(row.size.0)) {
        grid.row([
            row.size.0.into(),
            show(Some(row.receive)),
            show(Some(row.median)),
            show(Some(row.high)),
            show(row.send),
            show(row.late),
            row.repetitions.into(),
        ]);
    }
    grid
}

fn lines(data: &Communication) -> Grid {
    let mut grid = Grid::new()
        .text("sizes [B]")
        .number("of no bytes [ns]")
        .text("95 % [ns]")
        .number("each byte [ns]")
        .text("95 % [ns]")
        .quantity("bandwidth", Quantity::Bandwidth);
    for line in &data.lines {
        let Line { from, to, start_ns, slope_ns, start_interval, slope_interval } = line;
        let between = |[low, high]: [f64; 2], digits| format!("{} .. {}", fixed(low, digits), fixed(high, digits));
        let bandwidth = (*slope_ns > 0.0).then(|| 1e9 / slope_ns);
        grid.row([
            Cell::from(format!("{} to {}", grouped(from.0), grouped(to.0))),
            fixed(*start_ns, 0).into(),
            between(*start_interval, 0).into(),
            fixed(*slope_ns, 4).into(),
            between(*slope_interval, 4).into(),
            bandwidth.into(),
        ]);
    }
    grid
}

fn parameters(data: &Communication) -> Grid {
    let mut grid = Grid::new().text("parameter").number("value").text("95 %").text("unit").text("");
    for parameter in &data.parameters {
        let digits = if parameter.unit == "ns" { 1 } else { 4 };
        let interval = parameter
            .interval
            .map_or_else(String::new, |[low, high]| format!("{} .. {}", fixed(low, digits), fixed(high, digits)));
        let (value, remark) = match parameter.value {
            Some(value) => (fixed(value, digits), ""),
            None => ("-".into(), "not identifiable"),
        };
        grid.row([printable(&parameter.name), value, interval, parameter.unit.clone(), remark.into()]);
    }
    grid
}
