//! How far models are off packets, for a terminal or as Markdown: a table for each case, and all of them in short.

use std::fmt::Write;

use super::figures::{Quantity, fixed, grouped};
use super::{Answer, Cell, Grid, printable};
use crate::distinct::distinct;
use hayase::report::{Accuracy, AccuracyRow};
use hayase::units::Bytes;

/// What was not played, at most in words.
const LEFT_OUT: usize = 8;

/// Errors of all rows; those beyond 10 % stand between asterisks, which are bold in Markdown.
pub fn accuracy(accuracy: &Accuracy) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(&accuracy.title));
    let mut rest = &accuracy.rows[..];
    while let Some(first) = rest.first() {
        // Cases that differ in the size of messages alone share a table.
        let name = first.case.name();
        let count = rest.iter().take_while(|row| row.case.name() == name).count();
        let (rows, others) = rest.split_at(count);
        rest = others;
        let seeds = rows.iter().map(|row| row.seeds.len()).max().unwrap_or(0);
        let of = if seeds > 1 { format!("means of {seeds} seeds") } else { "one run each".to_owned() };
        text.title(printable(&format!("{name}: errors of the makespan, {of}")));
        text.table(makespans(rows));
        text.push_str("\n");
        text.title("Mean finish of ranks, times of messages (5, 50 and 95 of 100 are below), and speed".to_owned());
        text.table(details(rows));
        text.push_str("\n");
    }
    if accuracy.rows.len() > 1 {
        text.title("In short: errors of the makespan by model".to_owned());
        text.table(in_short(&accuracy.rows));
        text.push_str("\n");
    }
    if !accuracy.complete {
        let missing = grouped(accuracy.missing_runs);
        let _ = writeln!(text, "INTERRUPTED: {missing} runs are missing; rows of those that were made:");
    }
    if !accuracy.rows.is_empty() {
        text.push_str(
            "An error is model / reference - 1: below 0 the model is too fast. Beyond 10 % it is **marked**.\n",
        );
    }
    for left_out in accuracy.left_out.iter().take(LEFT_OUT) {
        let line = format!("left out: {}, {}: {}", left_out.model, left_out.case, left_out.reason);
        let _ = writeln!(text, "{}", printable(&line));
    }
    if accuracy.left_out.len() > LEFT_OUT {
        let _ = writeln!(text, "left out: {} more", accuracy.left_out.len() - LEFT_OUT);
    }
    text
}

/// A model with its channels, where it has a choice of them that does not follow from the reference.
fn reference(row: &AccuracyRow) -> String {
    let buffer = row.buffer.map_or_else(String::new, |buffer| format!(", buffer {buffer}"));
    let packets = row.packets_per_message.map_or_else(String::new, |packets| format!(", {packets} a message"));
    format!("{}{buffer}{packets}", row.reference)
}

/// In per cent with its sign, between asterisks where it is beyond 10 %.
fn marked(error: f64) -> String {
    let text = signed(error);
    if error.abs() > AccuracyRow::MARKED { format!("**{text}**") } else { text }
}

/// In per cent with its sign.
fn signed(error: f64) -> String {
    let percent = 100.0 * error;
    let text = fixed(percent, 1);
    match text.trim_start_matches('-') {
        "0.0" => "0.0".to_owned(),
        _ if percent > 0.0 => format!("+{text}"),
        _ => text,
    }
}

/// By size and reference: the errors of all models.
fn makespans(rows: &[AccuracyRow]) -> Grid {
    let models = distinct(rows.iter().map(|row| row.model.as_str()));
    let mut grid = Grid::new().text("size").text("reference").time("makespan").number("spread [%]").keys(2);
    for model in &models {
        grid = grid.number(format!("{model} [%]"));
    }
    for (size, name) in distinct(rows.iter().map(|row| (row.case.size_bytes, reference(row)))) {
        let here: Vec<&AccuracyRow> =
            rows.iter().filter(|row| row.case.size_bytes == size && reference(row) == name).collect();
        let Some(first) = here.first() else { continue };
        let mut cells: Vec<Cell> = vec![
            Bytes(size).to_string().into(),
            name.clone().into(),
            first.reference_makespan_s.into(),
            fixed(100.0 * first.reference_spread, 1).into(),
        ];
        for model in &models {
            let row = here.iter().find(|row| row.model == *model);
            cells.push(row.map_or_else(|| "-".to_owned(), |row| marked(row.makespan_error)).into());
        }
        grid.row(cells);
    }
    grid
}

/// What else is known of each row.
fn details(rows: &[AccuracyRow]) -> Grid {
    let mut grid = Grid::new().text("size").text("reference").text("model").number("finish [%]").keys(3);
    for quantile in ["5 of 100 [%]", "50 of 100 [%]", "95 of 100 [%]"] {
        grid = grid.number(quantile);
    }
    grid = grid.quantity("run time", Quantity::RunTime).number("speed-up");
    for row in rows {
        let channels = row.channels.as_deref().map_or_else(String::new, |channels| format!(" ({channels})"));
        let cells: [Cell; 9] = [
            Bytes(row.case.size_bytes).to_string().into(),
            reference(row).into(),
            format!("{}{channels}", row.model).into(),
            marked(row.mean_finish_error).into(),
            signed(row.time_error_q05).into(),
            signed(row.time_error_q50).into(),
            signed(row.time_error_q95).into(),
            row.model_cpu_s.into(),
            fixed(row.speed_ratio, if row.speed_ratio < 9.95 { 1 } else { 0 }).into(),
        ];
        grid.row(cells);
    }
    grid
}

/// By model and reference: over all cases.
fn in_short(rows: &[AccuracyRow]) -> Grid {
    let mut grid = Grid::new().text("model").text("reference").number("rows").number("within 10 %").keys(2);
    grid = grid.number("least [%]").number("mean [%]").number("largest [%]");
    for model in distinct(rows.iter().map(|row| row.model.as_str())) {
        for name in distinct(rows.iter().map(|row| row.reference.as_str())) {
            let here = rows.iter().filter(|row| row.model == model && row.reference == name);
            let errors: Vec<f64> = here.map(|row| row.makespan_error).collect();
            if errors.is_empty() {
                continue;
            }
            let within = errors.iter().filter(|error| error.abs() <= AccuracyRow::MARKED).count();
            let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
            let most = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let cells: [Cell; 7] = [
                model.into(),
                name.into(),
                (errors.len() as u64).into(),
                (within as u64).into(),
                marked(least).into(),
                marked(mean).into(),
                marked(most).into(),
            ];
            grid.row(cells);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_a_tenth_is_marked_and_what_is_nothing_has_no_sign() {
        assert_eq!([0.1, -0.1, 0.1001, -0.42].map(marked), ["+10.0", "-10.0", "**+10.0**", "**-42.0**"]);
        assert_eq!([0.0, 0.0004, -0.0004].map(signed), ["0.0"; 3]);
    }
}
