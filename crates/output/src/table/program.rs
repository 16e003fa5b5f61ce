//! Table of program data: loops as a tree, each operation with the block before it and its call site.

use std::fmt::Write;

use super::figures::{count, seconds};
use super::{Answer, Cell, Grid, printable};
use hayase::columns::Columns;
use hayase::prediction::computation::{ComputationData, Times};
use hayase::prediction::program::{Blocks, Group, ProgramData, Statement, ranges, short};
use hayase::report::variation::{BlockVariation, Variation};
use hayase::units::Time;

/// Longest note \[characters\]; longer notes are cut, since they are complete in the file.
const NOTE: usize = 100;

/// Returns program data as a tree, with the `times` of its blocks; with `rank`, only the operations of that
/// rank.
pub fn program(
    data: &ProgramData,
    blocks: &Blocks,
    times: Option<&ComputationData>,
    rank: Option<u32>,
    name: &str,
) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(
        text,
        "{}: {}, {}",
        printable(name),
        count(data.ranks.into(), "rank", "ranks"),
        count(data.steps() as u64, "step", "steps")
    );
    for (name, value) in &data.notes {
        let value: String = printable(value).chars().take(NOTE).collect();
        let _ = writeln!(text, "{}: {value}", printable(name));
    }
    for (number, group) in data.groups.iter().enumerate() {
        if rank.is_some_and(|rank| group.ranks.binary_search(&rank).is_err()) {
            continue;
        }
        let _ = writeln!(text, "\nranks {}", ranges(&group.ranks));
        let mut grid = Grid::new().number("block").text("operation").text("called at").keys(2);
        if times.is_some() {
            grid = grid.number("runs").time("mean").time("+-");
        }
        let ranks = rank.map_or_else(|| group.ranks.clone(), |rank| vec![rank]);
        let mut tree = Tree { data, times, group, ranks, block: blocks.of_group(number).start, grid };
        tree.steps(&group.body, &mut Vec::new(), 0);
        let end = vec![Cell::from(tree.block + 1), "end".into(), Cell::default()];
        let block = tree.block;
        tree.row(end, block);
        text.table(tree.grid);
    }
    text
}

struct Tree<'a> {
    data: &'a ProgramData,
    times: Option<&'a ComputationData>,
    group: &'a Group,
    /// Ranks whose times are shown, combined.
    ranks: Vec<u32>,
    /// Next block.
    block: u32,
    grid: Grid,
}

impl Tree<'_> {
    /// Adds the rows of these statements. `entered` is the number of loops that begin with the next
    /// operation.
    fn steps(&mut self, steps: &[Statement], around: &mut Vec<u32>, entered: u32) {
        let mut entered = entered;
        for step in steps {
            let indent = "  ".repeat(around.len());
            match step {
                Statement::Op(op) => {
                    let mut operation = op.text(around);
                    if op.site != 0
                        && let Some(at) = operation.rfind(" @")
                    {
                        operation.truncate(at);
                    }
                    let site = self.data.site(op.site).map_or(String::new(), |site| short(site).to_owned());
                    // Blocks before the operation: from the end of each loop that begins with it, and from before all
                    // of these loops.
                    let block = self.block;
                    for level in 0..=entered {
                        let cells = match level {
                            0 => {
                                let operation = format!("{indent}{operation}");
                                vec![Cell::from(block + 1), operation.into(), site.as_str().into()]
                            }
                            _ => {
                                let entered = format!("{indent}  when entered");
                                vec![Cell::from(block + level + 1), entered.into(), Cell::default()]
                            }
                        };
                        self.row(cells, block + level);
                    }
                    self.block += entered + 1;
                }
                Statement::Loop(inner) => {
                    let title = format!("{indent}loop L{}: {} times", inner.name + 1, inner.count.text(around));
                    let blank = if self.times.is_some() { 4 } else { 1 };
                    let cells = [String::new(), title].into_iter().chain((0..blank).map(|_| String::new()));
                    self.grid.row(cells);
                    around.push(inner.name);
                    self.steps(&inner.body, around, entered + 1);
                    around.pop();
                }
            }
            entered = 0;
        }
    }

    /// Adds a row, with times if there are any.
    fn row(&mut self, mut cells: Vec<Cell>, block: u32) {
        if let Some(times) = self.times {
            let found = times.blocks.binary_search_by_key(&block, |found| found.block).ok();
            let rows: Vec<&Times> = found
                .map(|at| &times.blocks[at].rows)
                .into_iter()
                .flatten()
                .filter(|row| row.ranks.iter().any(|rank| self.ranks.contains(rank)))
                .collect();
            let count: u64 = rows.iter().map(|row| row.count).sum();
            if count == 0 || self.group.ranks.is_empty() {
                cells.extend([Cell::default(), Cell::default(), Cell::default()]);
            } else {
                let all = |of: fn(&Times) -> f64| -> f64 { rows.iter().map(|row| row.count as f64 * of(row)).sum() };
                let n = count as f64;
                let mean = all(|row| row.mean.ps()) / n;
                let square = all(|row| row.deviation.ps() * row.deviation.ps()) / n;
                cells.push(count.into());
                cells.extend([mean, square.sqrt()].map(|ps| Cell::from(Time::from_ps(ps).seconds())));
            }
        }
        self.grid.row(cells);
    }
}

/// Returns the error that predictions make by using mean times of blocks.
pub fn variation(variation: &Variation) -> Answer {
    let of = |value: f64| match variation.recorded_s {
        recorded if recorded > 0.0 => format!("{} ({:+.1} %)", seconds(value), (value / recorded - 1.0) * 100.0),
        _ => seconds(value),
    };
    let mut text = Answer::new();
    let _ = writeln!(
        text,
        "\nPredicted without a network: {} with every time as it was recorded,\n{} with means, {} with lines, {} with \
         drawn times",
        seconds(variation.recorded_s),
        of(variation.means_s),
        of(variation.lines_s),
        of(variation.drawn_s)
    );
    if variation.blocks.is_empty() {
        return text;
    }
    let columns = Columns::<BlockVariation>::new()
        .id("block", |block| block.block)
        .text("from", |block| &block.from)
        .text("to", |block| &block.to)
        .count("runs", |block| block.executions)
        .time("mean", |block| block.mean_s)
        .time("+-", |block| block.deviation_s)
        .text("", |block| if block.line { "a line" } else { "" })
        .part("cost", |block| block.cost);
    text.push_str(
        "\nBlocks whose times vary most (cost: what the block's mean or line alone changes the prediction by)\n",
    );
    text.table(Grid::of(&columns, &variation.blocks));
    text
}
