//! Communication matrix: bytes by sender and receiver.

use super::axis::{Axis, BYTES};
use super::cells::{Cell, Cells, Ramp, shade};
use super::picture::Picture;
use hayase::record::Matrix;
use hayase::units::Bytes;

/// Largest number of rows of a picture.
const MOST: u32 = 64;
/// Width and height of all cells \[px\].
pub(super) const SIDE: f64 = 680.0;

/// Draws the bytes sent between each pair of ranks: senders down, receivers across, darker is more. More than
/// 64 ranks are combined in groups of neighbours, with a remark.
pub fn matrix(matrix: &Matrix, ranks: u32, title: &str, subtitle: &str) -> String {
    let group = ranks.div_ceil(MOST).max(1);
    let count = ranks.div_ceil(group).max(1) as usize;
    let mut sent = vec![0_u64; count * count];
    for (src, dst, _, bytes) in matrix.iter() {
        sent[(src / group) as usize * count + (dst / group) as usize] += bytes;
    }
    let axis = Axis::new(sent.iter().copied().max().unwrap_or(0) as f64, 4, BYTES);
    let cells = sent
        .iter()
        .enumerate()
        .filter(|(_, bytes)| **bytes > 0)
        .map(|(at, &bytes)| cell(at / count, at % count, bytes as f64 / axis.end, Bytes(bytes).to_string()));
    let names: Vec<String> = (0..count).map(|i| (i as u32 * group).to_string()).collect();
    let side = (SIDE / count as f64).clamp(9.0, 56.0);
    let remark =
        || format!("Too many ranks for one picture: a cell is {group} by {group} ranks, named by the first of them.");
    let cells = Cells {
        rows: names.clone(),
        columns: names,
        captions: ("sending rank".to_owned(), "receiving rank".to_owned()),
        cell: (side, side),
        cells: cells.collect(),
        ..Cells::default()
    };
    Picture::new(title, subtitle).remarks((group > 1).then(remark)).with(ramp(&axis, "sent")).with(cells).draw()
}

/// Returns a cell that is darker for a larger fraction of the maximum.
pub(super) fn cell(row: usize, column: usize, part: f64, text: String) -> Cell {
    let (colour, is_dark) = (shade(part), part > 0.45);
    Cell { row, column, colour, is_dark, text, is_strong: false, tooltip: String::new(), point: None }
}

/// Returns the colours of such cells.
pub(super) fn ramp(axis: &Axis, what: &str) -> Ramp {
    Ramp { caption: format!("{what} [{}]; white: nothing", axis.unit), colour: shade, ticks: axis.places() }
}
