//! Tables of the errors of models against packet simulation: one for each case, and a summary.

use std::fmt::Write;

use super::figures::{Quantity, fixed, grouped};
use super::{Answer, Grid, printable};
use crate::distinct::distinct;
use hayase::columns::Columns;
use hayase::report::{Accuracy, AccuracyRow};
use hayase::units::Bytes;

/// Largest number of omitted cases that are listed with their reasons.
const LEFT_OUT: usize = 8;

/// Returns the errors of all rows. Errors beyond 10 % stand between asterisks, which Markdown shows bold.
pub fn accuracy(accuracy: &Accuracy) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(&accuracy.title));
    let mut rest = &accuracy.rows[..];
    while let Some(first) = rest.first() {
        // Cases that differ only in the size of messages share a table.
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

/// Returns the name of a reference, with the buffer and the packets of a message if they are given.
fn reference(row: &AccuracyRow) -> String {
    let buffer = row.buffer.map_or_else(String::new, |buffer| format!(", buffer {buffer}"));
    let packets = row.packets_per_message.map_or_else(String::new, |packets| format!(", {packets} a message"));
    format!("{}{buffer}{packets}", row.reference)
}

/// Formats an error in percent with its sign, between asterisks if it is beyond 10 %.
fn marked(error: f64) -> String {
    let text = signed(error);
    if error.abs() > AccuracyRow::MARKED { format!("**{text}**") } else { text }
}

/// Formats an error in percent with its sign.
fn signed(error: f64) -> String {
    let percent = 100.0 * error;
    let text = fixed(percent, 1);
    match text.trim_start_matches('-') {
        "0.0" => "0.0".to_owned(),
        _ if percent > 0.0 => format!("+{text}"),
        _ => text,
    }
}

/// Returns the errors of the makespan of all models, by size and reference.
fn makespans(rows: &[AccuracyRow]) -> Grid {
    type Here<'a> = Vec<&'a AccuracyRow>;
    let references = Columns::<Here<'_>>::new()
        .words("size", |here| Bytes(here[0].case.size_bytes).to_string())
        .words("reference", |here| reference(here[0]))
        .time("makespan", |here| here[0].reference_makespan_s)
        .ratio("spread [%]", 1, |here| 100.0 * here[0].reference_spread);
    let models = distinct(rows.iter().map(|row| row.model.as_str()));
    let columns = models.into_iter().fold(references, |columns, model| {
        let error = move |here: &Here<'_>| here.iter().find(|row| row.model == model).map(|row| row.makespan_error);
        columns.id(format!("{model} [%]"), move |here| error(here).map(marked))
    });
    let kinds = distinct(rows.iter().map(|row| (row.case.size_bytes, reference(row))));
    let alike = |kind| rows.iter().filter(|row| (row.case.size_bytes, reference(row)) == kind).collect::<Here<'_>>();
    Grid::of(&columns, kinds.into_iter().map(alike)).keys(2)
}

/// Returns the other figures of each row: errors of ranks and messages, and speed.
fn details(rows: &[AccuracyRow]) -> Grid {
    let columns = Columns::<AccuracyRow>::new()
        .words("size", |row| Bytes(row.case.size_bytes).to_string())
        .words("reference", reference)
        .words("model", |row| {
            let channels = row.channels.as_deref().map_or_else(String::new, |channels| format!(" ({channels})"));
            format!("{}{channels}", row.model)
        })
        .id("finish [%]", |row| marked(row.mean_finish_error))
        .id("5 of 100 [%]", |row| signed(row.time_error_q05))
        .id("50 of 100 [%]", |row| signed(row.time_error_q50))
        .id("95 of 100 [%]", |row| signed(row.time_error_q95))
        .quantity("run time", Quantity::RunTime, |row| row.model_cpu_s)
        .id("speed-up", |row| fixed(row.speed_ratio, if row.speed_ratio < 9.95 { 1 } else { 0 }));
    Grid::of(&columns, rows).keys(3)
}

/// Summarises the errors over all cases, by model and reference.
fn in_short(rows: &[AccuracyRow]) -> Grid {
    type Errors<'a> = (&'a str, &'a str, Vec<f64>);
    let columns = Columns::<Errors<'_>>::new()
        .text("model", |(model, ..)| model)
        .text("reference", |(_, reference, _)| reference)
        .count("rows", |(.., errors)| errors.len())
        .count("within 10 %", |(.., errors)| errors.iter().filter(|error| error.abs() <= AccuracyRow::MARKED).count())
        .id("least [%]", |(.., errors)| marked(errors.iter().copied().fold(f64::INFINITY, f64::min)))
        .id("mean [%]", |(.., errors)| marked(errors.iter().sum::<f64>() / errors.len() as f64))
        .id("largest [%]", |(.., errors)| marked(errors.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
    let models = distinct(rows.iter().map(|row| row.model.as_str()));
    let references = distinct(rows.iter().map(|row| row.reference.as_str()));
    let pairs = models.iter().flat_map(|model| references.iter().map(move |reference| (*model, *reference)));
    let errors = pairs.map(|(model, reference)| -> Errors<'_> {
        let here = rows.iter().filter(|row| row.model == model && row.reference == reference);
        (model, reference, here.map(|row| row.makespan_error).collect())
    });
    Grid::of(&columns, errors.filter(|(.., errors)| !errors.is_empty())).keys(2)
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
