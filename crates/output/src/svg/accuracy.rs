//! A map of errors: models beside references across, cases downwards, the error of the makespan as colour and figure.

use super::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point, fit, text_width};
use crate::distinct::distinct;
use hayase::report::{Accuracy, AccuracyRow};
use hayase::units::Bytes;

/// Width and height of a cell.
const CELL: (f64, f64) = (54.0, 17.0);
/// Room for the name of a case at most.
const NAMES: f64 = 460.0;
/// The error that has the darkest colour.
const LIMIT: f64 = 0.5;
/// From too fast over right to too slow; both ends are dark, and figures have their sign.
const COLOURS: [(u8, u8, u8); 5] =
    [(0x1d, 0x4e, 0x89), (0x8f, 0xb8, 0xde), (0xfb, 0xfa, 0xf5), (0xf2, 0xb0, 0x7c), (0xa2, 0x3b, 0x12)];

/// Draws the errors of makespans.
pub fn accuracy(accuracy: &Accuracy) -> String {
    let references = distinct(accuracy.rows.iter().map(reference));
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    for name in references {
        let models = distinct(accuracy.rows.iter().filter(|row| reference(row) == name).map(|row| row.model.clone()));
        columns.push((name, models));
    }
    let lines = distinct(accuracy.rows.iter().map(|row| (row.case.name(), row.case.size_bytes)));
    let label = |(name, size): &(String, u64)| format!("{name}, {}", Bytes(*size));
    let widest = lines.iter().map(|line| text_width(&label(line), 10.0)).fold(80.0, f64::max).min(NAMES);
    let left = MARGIN + widest + 8.0;
    let across: usize = columns.iter().map(|(_, models)| models.len()).sum();
    // References are set apart from each other.
    let width = (left + CELL.0 * across as f64 + GAP * columns.len() as f64 + MARGIN).max(560.0);
    let mut canvas = Canvas::new();
    let title = format!("{}: error of the makespan [%]", accuracy.title);
    let y = canvas.heading(&title, &subtitle(accuracy), width);
    let y = legend(&mut canvas, y);
    let top = y + 74.0;
    let mut x = left;
    let mut places: Vec<(&str, &str, f64)> = Vec::new();
    for (name, models) in &columns {
        let wide = CELL.0 * models.len() as f64;
        let text = fit(name, 10.0, wide.max(CELL.0 * 2.0) - 4.0);
        canvas.text(x, y + 12.0, 10.0, Anchor::Start, &text, r#"font-weight="bold""#);
        let line = format!(r#"stroke="{GREY}" stroke-width="0.8""#);
        canvas.line(Point::new(x, y + 17.0), Point::new(x + wide - 2.0, y + 17.0), &line);
        for model in models {
            // Upright, so that a column is no wider than its figures.
            let (at, base) = (x + CELL.0 / 2.0 + 3.0, top - 5.0);
            let turned = format!(r#"transform="rotate(-40 {at:.1} {base:.1})""#);
            canvas.text(at, base, 9.0, Anchor::Start, &fit(model, 9.0, 68.0), &turned);
            places.push((name, model, x));
            x += CELL.0;
        }
        x += GAP;
    }
    for (row, line) in lines.iter().enumerate() {
        let y = top + CELL.1 * row as f64;
        let text = fit(&label(line), 10.0, widest);
        canvas.text(left - 8.0, y + CELL.1 - 5.0, 10.0, Anchor::End, &text, "");
        for (name, model, x) in &places {
            let of_cell = |found: &&AccuracyRow| {
                found.model == *model
                    && found.case.size_bytes == line.1
                    && reference(found) == *name
                    && found.case.name() == line.0
            };
            match accuracy.rows.iter().find(of_cell) {
                Some(found) => cell(&mut canvas, Point::new(*x, y), found),
                None => canvas.text(x + CELL.0 / 2.0, y + CELL.1 - 5.0, 9.0, Anchor::Middle, "·", ""),
            }
        }
    }
    let bottom = top + CELL.1 * lines.len() as f64;
    let mut remarks =
        vec!["Below 0 the model is too fast, above it too slow. Bold: beyond 10 %. A dot: not there.".to_owned()];
    if !accuracy.complete {
        remarks.push(format!("interrupted: {} runs are missing", accuracy.missing_runs));
    }
    let bottom = canvas.remarks(&remarks, bottom + 6.0, width);
    canvas.finish(width, bottom + MARGIN, &title)
}

/// Between references.
const GAP: f64 = 10.0;

fn cell(canvas: &mut Canvas, at: Point, row: &AccuracyRow) {
    let percent = (100.0 * row.makespan_error).round();
    let text = if percent == 0.0 { "0".to_owned() } else { format!("{percent:+.0}") };
    let error = row.makespan_error;
    let ink = if error.abs() > 0.6 * LIMIT { "#ffffff" } else { INK };
    let weight = if error.abs() > AccuracyRow::MARKED { r#" font-weight="bold""# } else { "" };
    let tooltip = format!(
        "{}, {}: {} against {}, {text} % ({} seeds)",
        row.case.name(),
        Bytes(row.case.size_bytes),
        row.model,
        reference(row),
        row.seeds.len()
    );
    canvas.open(&tooltip);
    canvas.rect(at.x, at.y, CELL.0 - 1.0, CELL.1 - 1.0, &format!(r#"fill="{}""#, colour(error)));
    let attributes = format!(r#"fill="{ink}"{weight}"#);
    canvas.text(at.x + CELL.0 / 2.0, at.y + CELL.1 - 5.0, 9.0, Anchor::Middle, &text, &attributes);
    canvas.close();
}

fn reference(row: &AccuracyRow) -> String {
    let buffer = row.buffer.filter(|_| row.reference.starts_with("packet:iq"));
    let buffer = buffer.map_or_else(String::new, |buffer| format!(", buffer {buffer}"));
    let packets = row.packets_per_message.map_or_else(String::new, |packets| format!(", {packets} a message"));
    format!("{}{buffer}{packets}", row.reference)
}

fn subtitle(accuracy: &Accuracy) -> String {
    let seeds = accuracy.rows.iter().map(|row| row.seeds.len());
    let of = match (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0)) {
        (_, 0 | 1) => "one run each".to_owned(),
        (least, most) if least == most => format!("means of {most} seeds"),
        (least, most) => format!("means of {least} to {most} seeds"),
    };
    format!("model / reference - 1, {of}; hayase {}", accuracy.version)
}

/// The colours; returns where they end.
fn legend(canvas: &mut Canvas, y: f64) -> f64 {
    let width = 320.0;
    for step in 0..64 {
        let error = LIMIT * (2.0 * (f64::from(step) + 0.5) / 64.0 - 1.0);
        let x = MARGIN + width * f64::from(step) / 64.0;
        canvas.rect(x, y, width / 64.0 + 0.3, 12.0, &format!(r#"fill="{}""#, colour(error)));
    }
    for (part, text) in [(0.0, "-50 % and less"), (0.5, "0 %"), (1.0, "+50 % and more")] {
        let anchor = [Anchor::Start, Anchor::Middle, Anchor::End][(part * 2.0) as usize];
        canvas.text(MARGIN + width * part, y + 26.0, 10.0, anchor, text, "");
    }
    y + 42.0
}

/// The colour of an error, in 64 steps.
fn colour(error: f64) -> String {
    let part = if error.is_finite() { (error / LIMIT).clamp(-1.0, 1.0) } else { 1.0 };
    let position = (32.0 * part).round() / 32.0 + 1.0;
    let position = position / 2.0 * (COLOURS.len() - 1) as f64;
    let below = (position as usize).min(COLOURS.len() - 2);
    let rest = position - below as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * rest).round() as u8;
    let (a, b) = (COLOURS[below], COLOURS[below + 1]);
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
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
