//! Time of NCCL's algorithms by size, with its choices.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::chart::{Chart, Series};
use super::picture::Picture;
use super::sign::{Mark, PENS, Pen, Sign};
use hayase::nccl::Tuning;
use hayase::report::NcclReport;

/// Width and height of the chart \[px\].
const INSIDE: (f64, f64) = (640.0, 400.0);

/// Draws the time of the model by size: a line for each algorithm and protocol, the choices marked.
pub fn nccl(report: &NcclReport, tuning: &Tuning<'_>) -> String {
    let sizes = || report.rows.iter().map(|row| row.size_bytes);
    let (mut series, mut legend) = (Vec::new(), Vec::new());
    let mut all = Vec::new();
    for (at, entry) in tuning.entries().iter().enumerate() {
        // Lines beyond the number of colours are dashed.
        let pen = PENS[at % PENS.len()];
        let pen = if at < PENS.len() { pen } else { pen.dashed("4 3") };
        let line: Vec<(f64, f64)> = sizes().map(|size| (size as f64, tuning.time_us(entry, size) * 1e-6)).collect();
        all.extend(line.iter().map(|point| point.1));
        series.push(Series::Line(pen, line));
        legend.push((Sign::Line(pen), format!("{} {}", entry.algorithm.name(), entry.protocol.name())));
    }
    let chosen = Pen::new(INK, 1.5).marked(Mark::Frame);
    series.push(Series::Marks(chosen, report.rows.iter().map(|row| (row.size_bytes as f64, row.model_s)).collect()));
    legend.push((Sign::Mark(chosen), "choice".to_owned()));
    let simulated: Vec<(f64, f64)> =
        report.rows.iter().filter_map(|row| Some((row.size_bytes as f64, row.simulated_s?))).collect();
    if !simulated.is_empty() {
        let pen = Pen::new(INK, 2.0).marked(Mark::Cross);
        all.extend(simulated.iter().map(|point| point.1));
        legend.push((Sign::Mark(pen), "simulated, with launch".to_owned()));
        series.push(Series::Line(Pen::new(INK, 2.0), simulated.clone()));
        series.push(Series::Marks(pen, simulated));
    }
    let (least, most) = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
    let across = Axis::lengths_from(sizes().min().unwrap_or(1), sizes().max().unwrap_or(1));
    let chart = Chart::new(INSIDE, (across, "size"), (Axis::logarithmic(least, most, SECONDS), "time"), series);
    let title = report.rows.first().map_or_else(String::new, |row| {
        let nodes = if row.nodes == 1 { "node" } else { "nodes" };
        format!("{} by NCCL, {} ranks on {} {nodes}: {}", row.op, row.ranks, row.nodes, report.system)
    });
    let fabric = report.fabric.as_deref().map_or_else(String::new, |fabric| format!("; simulated on {fabric}"));
    Picture::new(title, format!("time of the cost model{fabric}")).legend(legend).with(chart).draw()
}
