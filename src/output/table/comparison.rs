//! The tables of a comparison: one for each block, best first, and a sentence that sums them up.

use std::fmt::Write;

use super::figures::{Scale, fixed, percent};
use super::{Grid, printable};
use crate::report::{Comparison, ComparisonRow};

/// A comparison for a terminal.
pub fn comparison(comparison: &Comparison) -> String {
    render(comparison, |title| format!("{title}\n"), Grid::to_text)
}

/// The same as Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    render(comparison, |title| format!("**{title}**\n\n"), Grid::to_markdown)
}

fn render(comparison: &Comparison, title: impl Fn(&str) -> String, table: impl Fn(&Grid) -> String) -> String {
    let blocks = blocks(&comparison.rows);
    let mut text = format!("{}\n\n", printable(&comparison.title));
    for block in &blocks {
        text.push_str(&title(&printable(&heading(&block[0]))));
        text.push_str(&table(&grid(block)));
        text.push('\n');
    }
    if !comparison.complete {
        text.push_str("INTERRUPTED: runs are missing.\n");
    }
    if let Some(sentence) = verdict(&blocks) {
        let _ = writeln!(text, "{}", printable(&sentence));
    }
    text
}

/// Runs of rows with the same block.
fn blocks(rows: &[ComparisonRow]) -> Vec<&[ComparisonRow]> {
    rows.chunk_by(|a, b| a.block() == b.block()).collect()
}

fn heading(row: &ComparisonRow) -> String {
    format!(
        "{}, placement {}, sharing {}, routing {}, injection {}{}",
        row.topology,
        row.placement,
        row.sharing,
        row.routing,
        row.injection,
        match row.makespan.seeds.len() {
            0 | 1 => String::new(),
            n => format!(", {n} seeds"),
        }
    )
}

fn grid(rows: &[ComparisonRow]) -> Grid {
    let time = Scale::time(rows.iter().map(|row| row.makespan.mean_s));
    let per_second = |row: &ComparisonRow| row.bytes as f64 / row.makespan.mean_s;
    let bandwidth = Scale::bandwidth(rows.iter().map(per_second));
    let spread = rows.iter().any(|row| row.makespan.seeds.len() > 1);
    let bisection = rows.iter().any(|row| row.bounds.bisection_s.is_some());
    let mut grid = Grid::new().text("pattern").number(format!("mean [{}]", time.unit));
    if spread {
        grid = grid.number(format!("sd [{}]", time.unit));
    }
    grid = grid
        .number("to best")
        .number("to bound")
        .number(format!("bandwidth [{}]", bandwidth.unit))
        .number(format!("injection [{}]", time.unit))
        .number(format!("busiest link [{}]", time.unit));
    if bisection {
        grid = grid.number(format!("bisection [{}]", time.unit));
    }
    grid = grid.number("run time [s]");
    for row in rows {
        let mut cells = vec![row.pattern.clone(), time.show(row.makespan.mean_s)];
        if spread {
            cells.push(time.show(row.makespan.sd_s));
        }
        cells.extend([
            fixed(row.ratio_to_best, 3),
            fixed(row.ratio_to_bound, 3),
            bandwidth.show(per_second(row)),
            time.show(row.bounds.injection_s),
            time.show(row.bounds.busiest_link_s),
        ]);
        if bisection {
            cells.push(row.bounds.bisection_s.map_or_else(|| "-".into(), |bound| time.show(bound)));
        }
        cells.push(fixed(row.wall_s, 2));
        grid.row(cells);
    }
    grid
}

/// Which pattern is the fastest in each block and by how much.
fn verdict(blocks: &[&[ComparisonRow]]) -> Option<String> {
    let contested: Vec<&[ComparisonRow]> = blocks.iter().copied().filter(|rows| rows.len() > 1).collect();
    let first = contested.first()?;
    let winner = &first[0].pattern;
    if contested.len() > 1 && contested.iter().all(|rows| rows[0].pattern == *winner && lead(rows) > 0.0) {
        let leads = || contested.iter().map(|rows| lead(rows));
        let (least, most) = (leads().fold(f64::INFINITY, f64::min), leads().fold(0.0, f64::max));
        let noise =
            if contested.iter().any(|rows| within_spread(rows)) { ", partly within the spread over seeds" } else { "" };
        return Some(format!(
            "{winner} is the fastest in all {} blocks, by {} to {} over the next{noise}.",
            contested.len(),
            percent(least),
            percent(most)
        ));
    }
    let sentences: Vec<String> = contested
        .iter()
        .map(|rows| {
            let place = distinction(&rows[0], blocks);
            let lead = lead(rows);
            let next = &rows[1].pattern;
            if lead <= 0.0 {
                let equal = rows.iter().take_while(|row| row.makespan.mean_s == rows[0].makespan.mean_s);
                let names: Vec<&str> = equal.map(|row| row.pattern.as_str()).collect();
                format!("{} are equally fast{place}", names.join(" and "))
            } else {
                let noise = if within_spread(rows) { ", within the spread over seeds" } else { "" };
                format!("{} is the fastest{place}, by {} over {next}{noise}", rows[0].pattern, percent(lead))
            }
        })
        .collect();
    Some(format!("{}.", sentences.join("; ")))
}

/// By which part of its own time the best is faster than the next.
fn lead(rows: &[ComparisonRow]) -> f64 {
    let lead = rows[1].makespan.mean_s / rows[0].makespan.mean_s - 1.0;
    if lead.is_finite() { lead } else { 0.0 }
}

/// Whether the best and the next are less apart than one of them spreads over seeds.
fn within_spread(rows: &[ComparisonRow]) -> bool {
    let (best, next) = (&rows[0].makespan, &rows[1].makespan);
    next.mean_s - best.mean_s < best.sd_s.max(next.sd_s)
}

/// What tells this block from the others: ` with placement random`; nothing where there is only one.
fn distinction(row: &ComparisonRow, blocks: &[&[ComparisonRow]]) -> String {
    let fields: [(&str, fn(&ComparisonRow) -> &str); 5] = [
        (" on ", |row| &row.topology),
        ("placement ", |row| &row.placement),
        ("sharing ", |row| &row.sharing),
        ("routing ", |row| &row.routing),
        ("injection ", |row| &row.injection),
    ];
    let mut text = String::new();
    let mut with = " with ";
    for (name, field) in fields {
        if blocks.iter().all(|rows| field(&rows[0]) == field(row)) {
            continue;
        }
        if name.starts_with(' ') {
            let _ = write!(text, "{name}{}", field(row));
        } else {
            let _ = write!(text, "{with}{name}{}", field(row));
            with = ", ";
        }
    }
    text
}
