//! The tables of a comparison: one for each block, best first, and a sentence that sums them up.

use std::fmt::Write;

use super::figures::{Scale, fixed, percent, seconds};
use super::{Grid, models, printable};
use crate::report::{Bounds, Comparison, ComparisonRow};

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
        text.push_str(&title(&printable(&heading(block))));
        text.push_str(&table(&grid(block)));
        if let Some(bounds) = common_bounds(block) {
            let _ = writeln!(text, "\nbounds: {}", bounds_of(bounds));
        }
        text.push('\n');
    }
    for (heading, models) in models::models(&comparison.rows) {
        text.push_str(&title(&printable(&heading)));
        text.push_str(&table(&models));
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

fn heading(rows: &[ComparisonRow]) -> String {
    let row = &rows[0];
    let seeds = match rows.iter().map(|row| row.makespan.seeds.len()).max() {
        None | Some(0 | 1) => String::new(),
        Some(n) => format!(", {n} seeds"),
    };
    let mut heading = format!("{}, placement {}", row.topology, row.placement);
    if row.transport != "flow" {
        let _ = write!(heading, ", transport {}", row.transport);
    }
    if !row.sharing.is_empty() {
        let _ = write!(heading, ", sharing {}", row.sharing);
    }
    let _ = write!(heading, ", routing {}, injection {}{seeds}", row.routing, row.injection);
    heading
}

/// The bounds, where they are the same for all rows.
fn common_bounds(rows: &[ComparisonRow]) -> Option<Bounds> {
    rows.iter().all(|row| row.bounds == rows[0].bounds).then_some(rows[0].bounds)
}

fn bounds_of(bounds: Bounds) -> String {
    let bisection = bounds.bisection_s.map(|bound| format!(", bisection {}", seconds(bound))).unwrap_or_default();
    let path = bounds.path_s.map(|bound| format!(", critical path {}", seconds(bound))).unwrap_or_default();
    let (injection, busiest) = (seconds(bounds.injection_s), seconds(bounds.busiest_link_s));
    format!("injection {injection}, busiest link {busiest}{bisection}{path}")
}

fn grid(rows: &[ComparisonRow]) -> Grid {
    let time = Scale::time(rows.iter().map(|row| row.makespan.mean_s));
    let wall = Scale::time(rows.iter().map(|row| row.wall_s));
    let per_second = |row: &ComparisonRow| row.bytes as f64 / row.makespan.mean_s;
    let bandwidth = Scale::bandwidth(rows.iter().map(per_second));
    let spread = rows.iter().any(|row| row.makespan.seeds.len() > 1);
    let own_bounds = common_bounds(rows).is_none();
    let mut grid = Grid::new().text("pattern").number(format!("mean [{}]", time.unit));
    if spread {
        grid = grid.number(format!("sd [{}]", time.unit));
    }
    grid = grid.number("to best").number("to bound");
    if own_bounds {
        grid = grid.number(format!("bound [{}]", time.unit));
    }
    grid = grid.number(format!("bandwidth [{}]", bandwidth.unit)).number(format!("run time [{}]", wall.unit));
    for row in rows {
        let mut cells = vec![row.pattern.clone(), time.show(row.makespan.mean_s)];
        if spread {
            let one = row.makespan.seeds.len() < 2;
            cells.push(if one { "-".into() } else { time.show(row.makespan.sd_s) });
        }
        cells.extend([fixed(row.ratio_to_best, 3), fixed(row.ratio_to_bound, 3)]);
        if own_bounds {
            cells.push(time.show(row.bounds.largest()));
        }
        cells.extend([bandwidth.show(per_second(row)), wall.show(row.wall_s)]);
        grid.row(cells);
    }
    grid
}

/// Who is best in a block, and by how much.
struct Best<'a> {
    /// All that are equally fast.
    patterns: Vec<&'a str>,
    /// By which part of the best time the next is slower; nothing where there is no next.
    lead: Option<f64>,
    next: Option<&'a str>,
    /// Whether that is less than one of the two spreads over seeds.
    noise: bool,
}

impl<'a> Best<'a> {
    fn of(rows: &'a [ComparisonRow]) -> Self {
        let best = &rows[0].makespan;
        let equal = rows.iter().take_while(|row| row.makespan.mean_s == best.mean_s).count();
        let next = rows.get(equal);
        Self {
            patterns: rows[..equal].iter().map(|row| row.pattern.as_str()).collect(),
            lead: next.map(|row| row.makespan.mean_s / best.mean_s - 1.0).filter(|lead| lead.is_finite()),
            next: next.map(|row| row.pattern.as_str()),
            noise: next.is_some_and(|row| row.makespan.mean_s - best.mean_s < best.sd_s.max(row.makespan.sd_s)),
        }
    }

    fn names(&self) -> String {
        let (last, first) = match self.patterns.split_last() {
            Some((last, [])) => return (*last).to_owned(),
            Some((last, first)) => (last, first),
            None => return String::new(),
        };
        format!("{} and {last}", first.join(", "))
    }

    /// `a is the fastest`, `a and b are equally fast`.
    fn claim(&self) -> String {
        match (self.patterns.len(), self.next) {
            (1, _) => format!("{} is the fastest", self.names()),
            (_, None) => format!("{} are equally fast", self.names()),
            (_, Some(_)) => format!("{} are the fastest, and equally fast", self.names()),
        }
    }
}

/// Which pattern is the fastest in each block and by how much.
fn verdict(blocks: &[&[ComparisonRow]]) -> Option<String> {
    let contested: Vec<&[ComparisonRow]> = blocks.iter().copied().filter(|rows| rows.len() > 1).collect();
    let bests: Vec<Best> = contested.iter().map(|rows| Best::of(rows)).collect();
    let first = bests.first()?;
    if bests.len() > 1 && bests.iter().all(|best| best.patterns == first.patterns) {
        let leads = || bests.iter().filter_map(|best| best.lead);
        let (least, most) = (leads().fold(f64::INFINITY, f64::min), leads().fold(0.0, f64::max));
        let by = match (percent(least), percent(most)) {
            _ if leads().next().is_none() => String::new(),
            (least, most) if least == most => format!(", the next takes {least} longer"),
            (least, most) => format!(", the next takes {least} to {most} longer"),
        };
        let noise = if bests.iter().any(|best| best.noise) { " (partly within the spread over seeds)" } else { "" };
        return Some(format!("{} in all {} blocks{by}{noise}.", first.claim(), bests.len()));
    }
    let sentences: Vec<String> = bests
        .iter()
        .zip(&contested)
        .map(|(best, rows)| {
            let by = match (best.lead, best.next) {
                (Some(lead), Some(next)) => format!(", {next} takes {} longer", percent(lead)),
                _ => String::new(),
            };
            let noise = if best.noise { " (within the spread over seeds)" } else { "" };
            format!("{}{}{by}{noise}", best.claim(), distinction(&rows[0], blocks))
        })
        .collect();
    Some(format!("{}.", sentences.join("; ")))
}

/// What tells this block from the others: ` with placement random`; nothing where there is only one.
fn distinction(row: &ComparisonRow, blocks: &[&[ComparisonRow]]) -> String {
    type Field = fn(&ComparisonRow) -> &str;
    let fields: [(&str, Field); 6] = [
        (" on ", |row| &row.topology),
        ("placement ", |row| &row.placement),
        ("transport ", |row| &row.transport),
        ("sharing ", |row| &row.sharing),
        ("routing ", |row| &row.routing),
        ("injection ", |row| &row.injection),
    ];
    let mut text = String::new();
    let mut with = " with ";
    for (name, field) in fields {
        if field(row).is_empty() || blocks.iter().all(|rows| field(&rows[0]) == field(row)) {
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
