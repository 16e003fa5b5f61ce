//! Map of errors: models and references across, cases downwards, the error of the makespan as colour and
//! figure.

use super::cells::{Cell, Cells, Ramp};
use super::picture::Picture;
use super::scale::mixed;
use super::sweep::means_of;
use crate::distinct::distinct;
use hayase::report::{Accuracy, AccuracyRow};
use hayase::units::Bytes;

/// Error that has the darkest colour.
const LIMIT: f64 = 0.5;
/// Colours from too fast over exact to too slow. Both ends are dark, and figures have their sign.
const COLOURS: [(u8, u8, u8); 5] =
    [(0x1d, 0x4e, 0x89), (0x8f, 0xb8, 0xde), (0xfb, 0xfa, 0xf5), (0xf2, 0xb0, 0x7c), (0xa2, 0x3b, 0x12)];

/// Draws the errors of makespans.
pub fn accuracy(accuracy: &Accuracy) -> String {
    let references = distinct(accuracy.rows.iter().map(reference));
    let mut columns: Vec<(&str, String)> = Vec::new();
    let mut groups: Vec<(String, usize)> = Vec::new();
    for name in &references {
        let models = distinct(accuracy.rows.iter().filter(|row| reference(row) == *name).map(|row| row.model.clone()));
        groups.push((name.clone(), models.len()));
        columns.extend(models.into_iter().map(|model| (name.as_str(), model)));
    }
    let lines = distinct(accuracy.rows.iter().map(|row| (row.case.name(), row.case.size_bytes)));
    let mut cells = Vec::new();
    for (row, (case, size)) in lines.iter().enumerate() {
        for (column, (name, model)) in columns.iter().enumerate() {
            let is_here = |found: &&AccuracyRow| {
                found.model == *model
                    && found.case.size_bytes == *size
                    && reference(found) == *name
                    && found.case.name() == *case
            };
            cells.push(cell(row, column, accuracy.rows.iter().find(is_here)));
        }
    }
    let mut notes =
        vec!["Below 0 the model is too fast, above it too slow. Bold: beyond 10 %. A dot: not there.".to_owned()];
    if !accuracy.complete {
        notes.push(format!("interrupted: {} runs are missing", accuracy.missing_runs));
    }
    let ticks = [(0.0, "-50 % and less"), (0.5, "0 %"), (1.0, "+50 % and more")];
    let ramp = Ramp {
        caption: String::new(),
        colour: |place| colour(LIMIT * (2.0 * place - 1.0)),
        ticks: ticks.map(|(place, text)| (place, text.to_owned())).into(),
    };
    let rows = lines.iter().map(|(name, size)| format!("{name}, {}", Bytes(*size))).collect();
    let columns = columns.into_iter().map(|(_, model)| model).collect();
    Picture::new(format!("{}: error of the makespan [%]", accuracy.title), subtitle(accuracy))
        .with(ramp)
        .with(Cells { rows, columns, cell: (54.0, 17.0), cells, groups, ..Cells::default() })
        .notes(notes)
        .draw()
}

fn cell(row: usize, column: usize, found: Option<&AccuracyRow>) -> Cell {
    let Some(found) = found else {
        let (colour, text, tooltip) = ("none".to_owned(), "·".to_owned(), String::new());
        return Cell { row, column, colour, is_dark: false, text, is_strong: false, tooltip, point: None };
    };
    let error = found.makespan_error;
    let percent = (100.0 * error).round();
    let text = if percent == 0.0 { "0".to_owned() } else { format!("{percent:+.0}") };
    let tooltip = format!(
        "{}, {}: {} against {}, {text} % ({} seeds)",
        found.case.name(),
        Bytes(found.case.size_bytes),
        found.model,
        reference(found),
        found.seeds.len()
    );
    let (is_dark, is_strong) = (error.abs() > 0.6 * LIMIT, error.abs() > AccuracyRow::MARKED);
    Cell { row, column, colour: colour(error), is_dark, text, is_strong, tooltip, point: None }
}

fn reference(row: &AccuracyRow) -> String {
    let buffer = row.buffer.filter(|_| row.reference.starts_with("packet:iq"));
    let buffer = buffer.map_or_else(String::new, |buffer| format!(", buffer {buffer}"));
    let packets = row.packets_per_message.map_or_else(String::new, |packets| format!(", {packets} a message"));
    format!("{}{buffer}{packets}", row.reference)
}

fn subtitle(accuracy: &Accuracy) -> String {
    let of = means_of(accuracy.rows.iter().map(|row| row.seeds.len()));
    format!("model / reference - 1, {of}; hayase {}", accuracy.version)
}

/// Returns the colour of an error, in 64 steps.
fn colour(error: f64) -> String {
    let part = if error.is_finite() { (error / LIMIT).clamp(-1.0, 1.0) } else { 1.0 };
    mixed(&COLOURS, ((32.0 * part).round() / 32.0 + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_right_is_light_and_both_ends_are_dark() {
        assert_eq!(
            (colour(0.0).as_str(), colour(-0.5).as_str(), colour(0.5).as_str()),
            ("#fbfaf5", "#1d4e89", "#a23b12")
        );
        assert_eq!((colour(-3.0), colour(9.0)), (colour(-0.5), colour(0.5)));
        assert_eq!(colour(f64::INFINITY), colour(0.5));
    }
}
