//! Conversion of the rows of a pattern file to messages by sender.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::{FilePattern, FileSpec, starts_of};
use crate::diagnostic::{Diagnostic, Sources};
use crate::fabric::named_links::{read_path, vertices_by_name};
use crate::fabric::{Fabric, MessagePlan};
use crate::ids::{MessageId, RankId, VertexId};
use crate::pattern::rule::BuildContext;
use crate::reading::csv::{self, Column, Row};

/// Columns of a list of messages.
pub(crate) const COLUMNS: [Column; 10] = [
    Column::required("src"),
    Column::required("dst"),
    Column::required("bytes"),
    Column::optional("order"),
    Column::optional("delay"),
    Column::optional("after"),
    Column::optional("id"),
    Column::optional("slot"),
    Column::optional("path"),
    Column::optional("flow_weight"),
];
const SRC: usize = 0;
const DST: usize = 1;
const BYTES: usize = 2;
const ORDER: usize = 3;
const DELAY: usize = 4;
const AFTER: usize = 5;
const ID: usize = 6;
const SLOT: usize = 7;
const PATH: usize = 8;
const WEIGHT: usize = 9;

/// Largest number of ranks: tables by rank are made before it is known how many of them send.
const MOST_RANKS: u32 = 1 << 24;
/// Largest number of rows and of references, which are counted in 32 bits.
const MOST_ROWS: u32 = u32::MAX - 1;
/// Largest number of slots: a rank goes through all of them.
const MOST_SLOTS: u32 = 1 << 24;
/// Smallest and largest weight of a message.
const WEIGHTS: RangeInclusive<f64> = 1e-100..=1e100;
/// Largest number of mistakes that are reported once all rows are read.
const MOST_MISTAKES: usize = 20;

/// The rows in the order of the file, with a vector for each column.
#[derive(Default)]
struct Rows {
    src: Vec<u32>,
    dst: Vec<u32>,
    bytes: Vec<u64>,
    order: Vec<f64>,
    delays: Vec<f64>,
    waits: Vec<Wait>,
    references: Vec<Reference>,
    /// Last message of another rank that a sender's rows have named, by sender and that rank.
    named: FxHashMap<(u32, u32), u32>,
    ids: Ids,
    slots: Vec<u32>,
    /// Paths and weights, in the order of the file.
    plan: MessagePlan,
    /// Nodes and switches by name, once a path has been read.
    by_name: Option<FxHashMap<String, VertexId>>,
    total: u64,
}

/// A row whose message depends on other messages.
struct Wait {
    row: u32,
    line: u64,
    /// End of its references in `references`.
    end: u32,
}

/// A reference in the column `after`.
#[derive(Clone, Copy)]
enum Reference {
    Row(u32),
    Id(u32),
    Sent(MessageId),
}

/// Names of messages. A name may be used before the row that has it.
#[derive(Default)]
struct Ids {
    numbers: FxHashMap<Box<str>, u32>,
    /// Row and line that have each name.
    rows: Vec<Option<(u32, u64)>>,
}

impl Ids {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.rows.len() as u32;
        self.numbers.insert(name.into(), number);
        self.rows.push(None);
        number
    }
}

/// Reads the file that the specification names.
pub(super) fn read(spec: &FileSpec, context: &BuildContext<'_>) -> Result<FilePattern, Vec<Diagnostic>> {
    let (fabric, sources) = (context.fabric.fabric(), &*context.sources);
    if let Some(ranks) = &spec.ranks
        && !(1..=MOST_RANKS).contains(&**ranks)
    {
        let message = format!("a pattern has 1 to {MOST_RANKS} ranks, not {}", **ranks);
        return Err(vec![Diagnostic::new("out-of-range", message).at_value(ranks)]);
    }
    let most_ranks = spec.ranks.as_ref().map_or(MOST_RANKS, |ranks| **ranks);
    let input = sources.open(&spec.path).map_err(|diagnostic| vec![diagnostic])?;
    let name = input.name().to_owned();
    let mut rows = Rows::default();
    let mut planned_for = None;
    let head = |text: &str| planned_for = text.trim().strip_prefix("fabric:").map(str::to_owned).or(planned_for.take());
    csv::read_with_head(input, &COLUMNS, head, |row| rows.add(row, most_ranks, fabric))?;
    rows.plan.fabric = planned_for.map(|text| text.trim().to_owned());
    if rows.src.is_empty() {
        let diagnostic = Diagnostic::new("no-messages", format!("`{name}` lists no messages"));
        return Err(vec![diagnostic.at_value(&spec.path).label("a table with at least one message is expected")]);
    }
    let largest = rows.src.iter().chain(&rows.dst).copied().max().unwrap_or(0);
    let ranks = spec.ranks.as_ref().map_or(largest + 1, |ranks| **ranks);
    rows.by_sender(ranks).map_err(|wrong| located(spec, sources, wrong))
}

/// A mistake that is found once all rows are read: its line, its column, the number of the word in the cell if it is
/// one word, and the mistake.
type LateMistake = (u64, usize, Option<usize>, Diagnostic);

impl FileSpec {
    /// Adds the places of their paths to mistakes, each given with the line of its message.
    pub fn in_paths(&self, mistakes: Vec<(u64, Diagnostic)>, sources: &Sources) -> Vec<Diagnostic> {
        located(self, sources, mistakes.into_iter().map(|(line, mistake)| (line, PATH, None, mistake)).collect())
    }
}

/// Adds the places to the mistakes, for which it reads the file a second time.
fn located(spec: &FileSpec, sources: &Sources, mut wrong: Vec<LateMistake>) -> Vec<Diagnostic> {
    wrong.sort_by_key(|&(line, column, word, _)| (line, column, word));
    let without_place = |wrong: Vec<LateMistake>| wrong.into_iter().map(|(.., diagnostic)| diagnostic).collect();
    let Ok(input) = sources.open(&spec.path) else {
        return without_place(wrong);
    };
    let mut left = wrong.iter().peekable();
    let placed = csv::read(input, &COLUMNS, |row| {
        while let Some((_, column, word, diagnostic)) = left.next_if(|(line, ..)| *line == row.line()) {
            match word.map(|word| row.words(*column).into_iter().nth(word)) {
                Some(Some((range, _))) => row.mistake_in(*column, range, diagnostic.clone()),
                _ => row.mistake(*column, diagnostic.clone()),
            }
        }
        if left.peek().is_none() {
            row.stop();
        }
    });
    match placed {
        Err(diagnostics) => diagnostics,
        Ok(_) => without_place(wrong),
    }
}

impl Rows {
    fn add(&mut self, row: &mut Row<'_>, most_ranks: u32, fabric: Option<&Fabric>) {
        let src = row.number(SRC, "rank", most_ranks);
        let dst = row.number(DST, "rank", most_ranks);
        let bytes = row.size(BYTES);
        let order = if row.has(ORDER) { row.decimal(ORDER) } else { Some(0.0) };
        let delay = if row.has(DELAY) && !row.bytes(DELAY).is_empty() {
            row.time(DELAY).map(|delay| delay.ps())
        } else {
            Some(0.0)
        };
        let number = self.src.len() as u32;
        let id = !row.has(ID) || self.add_id(row, number);
        let after = row.bytes(AFTER).is_empty() || self.add_wait(row, number, src, most_ranks);
        let plan = self.planned(row, fabric);
        let (Some(src), Some(dst), Some(bytes), Some(order), Some(delay), Some((slot, weight, path)), true, true) =
            (src, dst, bytes, order, delay, plan, id, after)
        else {
            return;
        };
        let Some(total) = self.total.checked_add(bytes).filter(|&total| total <= 1 << 62) else {
            row.mistake(BYTES, Diagnostic::new("too-large", "all messages together are more than 2^62 bytes"));
            return row.stop();
        };
        if number >= MOST_ROWS || self.references.len() >= MOST_ROWS as usize {
            row.mistake(SRC, Diagnostic::new("too-large", format!("a pattern file has at most {MOST_ROWS} messages")));
            return row.stop();
        }
        self.total = total;
        self.src.push(src);
        self.dst.push(dst);
        self.bytes.push(bytes);
        if row.has(ORDER) {
            self.order.push(order);
        }
        if row.has(DELAY) {
            self.delays.push(delay);
        }
        if row.has(SLOT) {
            self.slots.push(slot);
        }
        if row.has(WEIGHT) {
            self.plan.weights.push(weight);
        }
        if row.has(SLOT) || row.has(PATH) {
            self.plan.lines.push(row.line());
            self.plan.paths.push(path);
        }
    }

    /// Returns slot, weight and path of a row; `None` if any of them is not allowed.
    fn planned(&mut self, row: &mut Row<'_>, fabric: Option<&Fabric>) -> Option<(u32, f64, (u32, u32))> {
        let slot = if row.has(SLOT) { row.number(SLOT, "slot", MOST_SLOTS) } else { Some(0) };
        let path = if row.bytes(PATH).is_empty() { Some((0, 0)) } else { self.add_path(row, fabric) };
        let weight = if row.bytes(WEIGHT).is_empty() { 1.0 } else { row.decimal(WEIGHT)? };
        if !WEIGHTS.contains(&weight) {
            let mistake = Diagnostic::new("wrong-value", format!("{weight:?} is not a weight of a message"));
            row.mistake(WEIGHT, mistake.label("a number above 0, up to 1e100, is expected"));
            return None;
        }
        Some((slot?, weight, path?))
    }

    /// Adds the path of a row. Returns its range among all links; `None` if it is not a path on the fabric.
    fn add_path(&mut self, row: &mut Row<'_>, fabric: Option<&Fabric>) -> Option<(u32, u32)> {
        self.plan.has_paths = true;
        let Some(fabric) = fabric else { return Some((0, 0)) };
        let (text, links) = (row.text(PATH)?.into_owned(), &mut self.plan.links);
        let by_name = self.by_name.get_or_insert_with(|| vertices_by_name(fabric));
        let mistake = |message: String| (0..text.len(), Diagnostic::new("bad-path", message));
        let (range, mistake) = match read_path(fabric, by_name, &text, (None, None)) {
            Ok(path) if path.is_empty() => mistake("the path has no links; leave the cell empty".to_owned()),
            Ok(path) if links.len() + path.len() < MOST_ROWS as usize => {
                let start = links.len() as u32;
                links.extend(path);
                return Some((start, links.len() as u32));
            }
            Ok(_) => mistake(format!("all paths have at most {MOST_ROWS} links")),
            Err(found) => *found,
        };
        row.mistake_in(PATH, range, mistake);
        None
    }

    /// Adds the name of a row; returns `false` if the name is not allowed.
    fn add_id(&mut self, row: &mut Row<'_>, number: u32) -> bool {
        let Some(name) = row.text(ID) else { return false };
        if name.is_empty() {
            return true;
        }
        if name.contains(|c: char| c.is_ascii_whitespace() || c == ':') {
            let diagnostic = Diagnostic::new("bad-name", format!("\"{name}\" cannot be the name of a message"))
                .label("a name without blanks and colons");
            row.mistake(ID, diagnostic);
            return false;
        }
        let id = self.ids.number(&name) as usize;
        if let Some((_, line)) = self.ids.rows[id] {
            let diagnostic = Diagnostic::new("duplicate-name", format!("a message `{name}` is listed already"))
                .label(format!("also the name of the message of line {line}"));
            row.mistake(ID, diagnostic);
            return false;
        }
        self.ids.rows[id] = Some((number, row.line()));
        true
    }

    /// Adds the dependencies of a row; returns `false` if a reference cannot be read.
    fn add_wait(&mut self, row: &mut Row<'_>, number: u32, sender: Option<u32>, most_ranks: u32) -> bool {
        let mut right = true;
        for (range, word) in row.words(AFTER) {
            let reference = match word.split_once(':') {
                Some((src, index)) => {
                    let src = src.parse().ok().filter(|&src| src < most_ranks);
                    src.and_then(|src| self.sent(sender.unwrap_or_default(), src, index)).map(Reference::Sent)
                }
                None if row.has(ID) => Some(Reference::Id(self.ids.number(word))),
                None => word.parse().ok().map(Reference::Row),
            };
            match reference {
                Some(reference) => self.references.push(reference),
                None => {
                    right = false;
                    let (label, help) = if row.has(ID) {
                        (
                            "an id of this file is expected",
                            "or write `src:index`, like `3:0` for rank 3's first message",
                        )
                    } else {
                        (
                            "the row of a message is expected, counted from 0",
                            "or write `src:index`, like `3:0` for rank 3's first message; names need a column `id`",
                        )
                    };
                    let diagnostic = Diagnostic::new("bad-reference", format!("\"{word}\" is not a message"));
                    row.mistake_in(AFTER, range, diagnostic.label(label).help(help));
                }
            }
        }
        right &= std::str::from_utf8(row.bytes(AFTER)).is_ok();
        self.waits.push(Wait { row: number, line: row.line(), end: self.references.len() as u32 });
        right
    }

    /// Returns the message that a sender names as `src:index`, or as `src:+n`: n after the last one of `src`
    /// that it named.
    fn sent(&mut self, sender: u32, src: u32, index: &str) -> Option<MessageId> {
        let last = self.named.get(&(sender, src)).copied();
        let index = match index.strip_prefix('+') {
            // The first `+1` names the first message.
            Some(further) => {
                // The number may have a sign of its own, but two are wrong.
                let further = Some(further).filter(|further| !further.starts_with('+'))?;
                let further = further.parse::<u32>().ok()?.checked_sub(1)?;
                last.map_or(Some(0), |last| last.checked_add(1))?.checked_add(further)?
            }
            None => index.parse().ok()?,
        };
        self.named.insert((sender, src), index);
        Some(MessageId { src: RankId(src), index })
    }

    /// Sorts the messages by sender, and each sender's by `order` and then by row.
    fn by_sender(mut self, ranks: u32) -> Result<FilePattern, Vec<LateMistake>> {
        let starts = starts_of(ranks as usize, &self.src);
        let row_at = self.sending_order(&starts);
        let slots = reordered(std::mem::take(&mut self.slots), row_at.as_deref());
        self.check_slots(&starts, row_at.as_deref(), &slots)?;
        let after = self.after(&starts, row_at.as_deref())?;
        let plan = self.take_plan(&starts, row_at.as_deref());
        let Self { dst, bytes, delays, .. } = self;
        let (after_starts, after) = after;
        let most = starts.windows(2).map(|range| range[1] - range[0]).max().unwrap_or(0);
        let steps = slots.iter().max().map_or(most, |last| last + 1);
        Ok(FilePattern {
            starts,
            dst: reordered(dst, row_at.as_deref()),
            bytes: reordered(bytes, row_at.as_deref()),
            delays: reordered(delays, row_at.as_deref()),
            after_starts,
            after,
            slots,
            plan: plan.map(Arc::new),
            steps,
            arrivals: OnceLock::new(),
        })
    }

    /// Succeeds if the slots of each sender, in its sending order, never go back.
    fn check_slots(&self, starts: &[u32], row_at: Option<&[u32]>, slots: &[u32]) -> Result<(), Vec<LateMistake>> {
        let ranges = starts.windows(2).filter(|range| !slots.is_empty() && range[0] < range[1]);
        let wrong = ranges.flat_map(|range| range[0] as usize + 1..range[1] as usize).filter_map(|position| {
            let (before, slot) = (slots[position - 1], slots[position]);
            let line = self.plan.lines[row_at.map_or(position, |row_at| row_at[position] as usize)];
            let message = || format!("slot {slot} after slot {before} of the same sender");
            (slot < before).then(|| (line, SLOT, None, Diagnostic::new("slot-order", message())))
        });
        let wrong: Vec<LateMistake> = wrong.take(MOST_MISTAKES).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Takes the plan out, in sending order; `None` if the file has none.
    fn take_plan(&mut self, first: &[u32], row_at: Option<&[u32]>) -> Option<MessagePlan> {
        let mut plan = std::mem::take(&mut self.plan);
        if plan.weights.iter().all(|&weight| weight == 1.0) {
            plan.weights.clear();
        }
        if !plan.has_paths {
            (plan.paths, plan.lines) = Default::default();
        }
        plan.first = first.to_vec();
        plan.weights = reordered(plan.weights, row_at);
        plan.paths = reordered(plan.paths, row_at);
        plan.lines = reordered(plan.lines, row_at);
        (plan.has_paths || plan.is_weighted() || plan.fabric.is_some()).then_some(plan)
    }

    /// Returns the row of each message in sending order; `None` if the file is in that order already.
    fn sending_order(&self, starts: &[u32]) -> Option<Vec<u32>> {
        if self.order.is_empty() && self.src.is_sorted() {
            return None;
        }
        let mut next = starts.to_vec();
        let mut row_at = vec![0; self.src.len()];
        for (row, &src) in self.src.iter().enumerate() {
            let slot = &mut next[src as usize];
            row_at[*slot as usize] = row as u32;
            *slot += 1;
        }
        if !self.order.is_empty() {
            let order = |row: u32| self.order[row as usize];
            for range in starts.windows(2) {
                row_at[range[0] as usize..range[1] as usize].sort_by(|&a, &b| order(a).total_cmp(&order(b)));
            }
        }
        Some(row_at)
    }

    /// Returns the dependencies of each message in sending order: the start of each list, and the lists.
    fn after(&self, starts: &[u32], row_at: Option<&[u32]>) -> Result<(Vec<u32>, Vec<MessageId>), Vec<LateMistake>> {
        if self.waits.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let position_of = row_at.map(|row_at| {
            let mut position_of = vec![0; row_at.len()];
            for (position, &row) in row_at.iter().enumerate() {
                position_of[row as usize] = position as u32;
            }
            position_of
        });
        let position = |row: u32| position_of.as_ref().map_or(row, |position_of| position_of[row as usize]);
        let message = |row: u32| {
            let src = self.src[row as usize];
            MessageId { src: RankId(src), index: position(row) - starts[src as usize] }
        };
        let mut wrong = Vec::new();
        let mut found = Vec::with_capacity(self.references.len());
        let mut lists = Vec::with_capacity(self.waits.len());
        let mut start = 0;
        for wait in &self.waits {
            let own = message(wait.row);
            for (word, &reference) in self.references[start as usize..wait.end as usize].iter().enumerate() {
                let id = match reference {
                    Reference::Row(row) if (row as usize) < self.src.len() => Ok(message(row)),
                    Reference::Row(row) => {
                        Err(format!("there is no row {row}; the last one is {}", self.src.len() - 1))
                    }
                    Reference::Id(id) => match self.ids.rows[id as usize] {
                        Some((row, _)) => Ok(message(row)),
                        None => Err("no message has this id".into()),
                    },
                    Reference::Sent(id) => match starts.get(id.src.0 as usize..id.src.0 as usize + 2) {
                        Some(range) if id.index < range[1] - range[0] => Ok(id),
                        Some(range) => Err(format!("rank {} sends {} messages", id.src, range[1] - range[0])),
                        None => Err(format!("there is no rank {}; the last one is {}", id.src, starts.len() - 2)),
                    },
                };
                let diagnostic = match id {
                    Ok(id) if id != own => {
                        found.push(id);
                        continue;
                    }
                    Ok(_) => {
                        Diagnostic::new("waits-for-itself", "a message waits for itself").label("this very message")
                    }
                    Err(why) => {
                        Diagnostic::new("unknown-message", "a message waits for one that is not there").label(why)
                    }
                };
                wrong.push((wait.line, AFTER, Some(word), diagnostic));
            }
            if wrong.len() >= MOST_MISTAKES {
                return Err(wrong);
            }
            lists.push((position(wait.row), start, wait.end));
            start = wait.end;
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        lists.sort_unstable();
        let mut after_starts = vec![0; self.src.len() + 1];
        let mut after = Vec::with_capacity(found.len());
        for (position, start, end) in lists {
            after.extend_from_slice(&found[start as usize..end as usize]);
            after_starts[position as usize + 1] = end - start;
        }
        for i in 1..after_starts.len() {
            after_starts[i] += after_starts[i - 1];
        }
        Ok((after_starts, after))
    }
}

/// Returns a column in sending order.
fn reordered<T: Copy>(mut column: Vec<T>, row_at: Option<&[u32]>) -> Vec<T> {
    match row_at {
        Some(row_at) if !column.is_empty() => row_at.iter().map(|&row| column[row as usize]).collect(),
        _ => {
            column.shrink_to_fit();
            column
        }
    }
}
