//! Measured against predicted times, and the errors of predictions by size.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::chart::{Chart, Series};
use super::picture::{Picture, Tiles};
use super::sign::{Fill, Mark, PENS, Pen, Sign};
use crate::distinct::distinct;
use hayase::report::{MeasuredReport, MeasuredRow};

/// Width and height of a chart \[px\].
const INSIDE: (f64, f64) = (430.0, 430.0);
/// Colour of the band of small errors.
const BAND: Fill = Fill("#e6ece2", "");
const AREA: &str = r##"fill="#e6ece2""##;
/// Largest factor of an error that the axis tells apart.
const MOST: f64 = 10.0;

/// Returns the pen of an operation: its colour, and a mark that no other of eight operations has.
fn pen(number: usize) -> Pen {
    let more = [Mark::Diamond, Mark::Cross, Mark::Plus, Mark::Frame];
    let pen = PENS[number % PENS.len()];
    if number % PENS.len() < more.len() { pen } else { pen.marked(more[number % more.len()]) }
}

/// Draws the scored rows of the first model: one mark a row, with the form and colour of its operation.
pub fn measured(report: &MeasuredReport) -> String {
    let rows: Vec<(&MeasuredRow, f64)> =
        report.rows.iter().filter(|row| row.scored).filter_map(|row| Some((row, row.ratio? * row.time_s))).collect();
    let operations = distinct(rows.iter().map(|(row, _)| row.operation.as_str()));
    let of = |operation: &str, point: &dyn Fn(&MeasuredRow, f64) -> (f64, f64)| -> Vec<(f64, f64)> {
        let here = rows.iter().filter(|(row, _)| row.operation == operation);
        here.map(|(row, predicted)| point(row, *predicted)).collect()
    };
    let marks = |point: &dyn Fn(&MeasuredRow, f64) -> (f64, f64)| {
        operations
            .iter()
            .enumerate()
            .map(|(at, operation)| Series::Marks(pen(at), of(operation, point)))
            .collect::<Vec<_>>()
    };
    let times = || rows.iter().flat_map(|(row, predicted)| [row.time_s, *predicted]);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let axis = Axis::logarithmic(least, most, SECONDS);
    let (start, end) = (axis.start, axis.end);
    let width = 1.0 + MeasuredRow::BAND;
    let mut series = vec![
        Series::Area(
            AREA,
            vec![
                (start, start * width),
                (end / width, end),
                (end, end),
                (end, end / width),
                (start * width, start),
                (start, start),
            ],
        ),
        Series::Line(Pen::new(INK, 1.0), vec![(start, start), (end, end)]),
    ];
    series.extend(marks(&|row, predicted| (row.time_s, predicted)));
    let times = Chart::new(INSIDE, (axis.clone(), "measured time"), (axis, "predicted time"), series);
    let largest = rows.iter().map(|(row, _)| row.size_bytes).max().unwrap_or(1);
    let sizes = Axis::lengths(largest);
    let ratios: [(f64, &str); 7] =
        [(0.1, "0.1"), (0.2, "0.2"), (0.5, "0.5"), (1.0, "1"), (2.0, "2"), (5.0, "5"), (MOST, "10")];
    let mut factors = Axis::logarithmic(1.0 / MOST, MOST, &[("", 1.0)]);
    factors.ticks = ratios.map(|(value, text)| (value, text.to_owned())).to_vec();
    let (first, last) = (0.0, largest as f64);
    let mut series = vec![
        Series::Area(AREA, vec![(first, 1.0 / width), (first, width), (last, width), (last, 1.0 / width)]),
        Series::Line(Pen::new(INK, 1.0), vec![(first, 1.0), (last, 1.0)]),
    ];
    series.extend(marks(&|row, predicted| (row.size_bytes as f64, (predicted / row.time_s).clamp(1.0 / MOST, MOST))));
    let errors = Chart::new(INSIDE, (sizes, "size of the vector"), (factors, "predicted / measured"), series);
    let legend = operations.iter().enumerate().map(|(at, operation)| (Sign::Mark(pen(at)), (*operation).to_owned()));
    let band = (Sign::Box(BAND, 0.1, 0.9), "within 25 %".to_owned());
    let mut notes = vec![format!("Errors beyond a factor of {MOST} are at the edge.")];
    if !report.complete {
        notes.push(format!("interrupted: {} runs are missing", report.missing_runs));
    }
    let subtitle = format!("{}, {} scored rows; hayase {}", report.models[0], rows.len(), report.version);
    Picture::new(format!("{}: measured and predicted times", report.title), subtitle)
        .legend(legend.chain([band]))
        .with(Tiles(vec![times, errors], 2))
        .notes(notes)
        .draw()
}
