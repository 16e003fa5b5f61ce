//! Tables of measured collectives beside predictions.

use std::fmt::Write;

use super::figures::{Quantity, count, fixed, grouped, percent};
use super::{Answer, Grid, printable};
use crate::distinct::distinct;
use hayase::columns::Columns;
use hayase::report::{MeasuredErrors, MeasuredReport, MeasuredRow, ReasonCount};
use hayase::units::Bytes;

/// Returns errors by machine, operation and size, the worst rows, and the reasons of rows that do not count.
pub fn measured(report: &MeasuredReport) -> Answer {
    let mut text = Answer::new();
    let scored = report.rows.iter().filter(|row| row.scored).count() as u64;
    let predicted = report.rows.iter().filter(|row| row.ratio.is_some()).count() as u64;
    let rows = count(report.rows.len() as u64, "row", "rows");
    let _ = writeln!(
        text,
        "{}: {rows}, {} predicted, {} scored\n",
        printable(&report.title),
        grouped(predicted),
        grouped(scored)
    );
    for (title, by_size) in [("Errors by machine and operation", false), ("Errors by size of the vector", true)] {
        let here: Vec<_> = report.errors.iter().filter(|errors| errors.size.is_some() == by_size).collect();
        if !here.is_empty() {
            text.title(format!("{title}: median factor, 90 % quantile, part within 25 %"));
            text.table(errors(&here, &report.models));
            text.push_str("\n");
        }
    }
    if !report.worst.is_empty() {
        text.title(format!("Rows that {} predicts worst", report.models[0]));
        text.table(worst(report.worst.iter().map(|&at| &report.rows[at]).collect()));
        text.push_str("\n");
    }
    if !report.reasons.is_empty() {
        text.title("Rows that are not scored".to_owned());
        let columns =
            Columns::<ReasonCount>::new().text("reason", |count| &count.reason).count("rows", |count| count.rows);
        text.table(Grid::of(&columns, &report.reasons).keys(1));
        text.push_str("\n");
    }
    if let Some(coverage) = report.coverage {
        let _ = writeln!(
            text,
            "Intervals from the errors of other rows: made for {} of measured times, {} are inside.",
            percent(report.nominal_coverage),
            percent(coverage)
        );
    }
    text.push_str(
        "A factor is the larger of predicted / measured and measured / predicted; within 25 % is up to 1.25.\n",
    );
    if !report.complete {
        let _ = writeln!(text, "INTERRUPTED: {} runs are missing.", grouped(report.missing_runs));
    }
    text
}

/// Returns a line for each group, with the errors of all models side by side.
fn errors(here: &[&MeasuredErrors], models: &[String]) -> Grid {
    type Group<'a> = Vec<&'a MeasuredErrors>;
    let all = |name: &Option<String>| name.clone().unwrap_or_else(|| "all".to_owned());
    let has_size = here.iter().any(|errors| errors.size.is_some());
    let keys = Columns::<Group<'_>>::new()
        .words("system", move |group| all(&group[0].system))
        .words(if has_size { "size" } else { "operation" }, move |group| {
            all(if has_size { &group[0].size } else { &group[0].operation })
        })
        .count("rows", |group| group.iter().map(|errors| errors.rows as u64).max());
    let columns = models.iter().fold(keys, |columns, model| {
        columns.id(model.as_str(), move |group: &Group<'_>| {
            let of = group.iter().find(|errors| errors.model == *model)?;
            Some(format!("{} {} {}", fixed(of.median, 2), fixed(of.p90, 2), percent(of.within_25)))
        })
    });
    let groups = distinct(here.iter().map(|errors| (&errors.system, &errors.operation, &errors.size)));
    let of =
        |group| here.iter().filter(|e| (&e.system, &e.operation, &e.size) == group).copied().collect::<Group<'_>>();
    Grid::of(&columns, groups.into_iter().map(of)).keys(2)
}

fn worst(rows: Vec<&MeasuredRow>) -> Grid {
    let columns = Columns::<&MeasuredRow>::new()
        .words("row", |row| row.name())
        .words("size", |row| Bytes(row.size_bytes).to_string())
        .quantity("measured", Quantity::Time, |row| row.time_s)
        .quantity("predicted", Quantity::Time, |row| row.predicted_s.first().copied().flatten())
        .ratio("predicted / measured", 2, |row| row.ratio);
    Grid::of(&columns, rows).keys(2)
}
