//! Reader of computation data: the text that [`write`](super::write) writes.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use super::{ComputationData, MeasuredBlock, SIGNATURE, Times};
use crate::diagnostic::Diagnostic;
use crate::prediction::program::BlockName;
use crate::reading::Input;
use crate::trace::MOST_RANKS;
use crate::trace::lines::{Line, each_line};
use crate::units::Time;

/// Number of columns of a row without a line or eighths.
const WIDTH: usize = 7;
/// Picoseconds in a nanosecond.
const PS_PER_NS: f64 = 1000.0;

/// Reads computation data.
///
/// # Errors
/// All mistakes, with line and column.
pub fn read(input: Input) -> Result<ComputationData, Vec<Diagnostic>> {
    let name = input.name().to_owned();
    let mut data = ComputationData::default();
    let (mut begun, mut met) = (false, FxHashSet::default());
    let mut foreign = None;
    each_line(input, |line| {
        let text = std::str::from_utf8(line.text)
            .map_err(|_| line.mistake(0..line.text.len(), "not-text", "this line is not text (UTF-8)"))?;
        if !begun {
            if text.trim_end() != SIGNATURE {
                let message = format!("this is not computation data, which begins with the line `{SIGNATURE}`");
                let mistake = line.mistake(0..line.text.len(), "wrong-format", message);
                let help = "`hayase program fold TRACE -o x.comp` makes computation data from a trace";
                foreign = Some(mistake.help(help));
                return Ok(ControlFlow::Break(()));
            }
            begun = true;
        } else if !text.trim().is_empty() && !text.starts_with('#') {
            one_line(&line, text, &mut data, &mut met)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(mistake) = foreign {
        return Err(vec![mistake]);
    }
    let wrong = |message: &str| Err(vec![Diagnostic::new("incomplete", format!("{name}: {message}"))]);
    match () {
        () if !begun => wrong("the file is empty"),
        () if data.ranks == 0 => wrong("there is no line `ranks N`"),
        () if data.blocks.is_empty() => wrong("there are no blocks; is the file cut off?"),
        () => Ok(data),
    }
}

/// Reads a line. `met` has the ranks of the rows of this block so far.
fn one_line(
    line: &Line<'_>,
    text: &str,
    data: &mut ComputationData,
    met: &mut FxHashSet<u32>,
) -> Result<(), Diagnostic> {
    let wrong = |message: String| line.mistake(0..line.text.len(), "wrong-value", message);
    let (first, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    match first {
        "note" => {
            let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
            data.notes.push((name.to_owned(), value.trim_end().to_owned()));
        }
        "ranks" => {
            data.ranks = match rest.trim().parse() {
                Ok(ranks @ 1..=MOST_RANKS) => ranks,
                _ => return Err(wrong(format!("`{rest}` is not a number of ranks from 1 to {MOST_RANKS}"))),
            };
        }
        "structure" => data.structure = rest.trim().to_owned(),
        "block" => {
            let mut cells = rest.split('\t');
            let number = cells.next().and_then(|cell| cell.trim().parse::<u32>().ok()?.checked_sub(1));
            let (Some(block), Some(from), Some(to), None) = (number, cells.next(), cells.next(), cells.next()) else {
                return Err(wrong("a block has a number and two names, separated by tabs".to_owned()));
            };
            if data.blocks.last().is_some_and(|last| last.block >= block) {
                return Err(wrong(format!("block {} comes late", block + 1)));
            }
            let name = BlockName { from: from.to_owned(), to: to.trim_end().to_owned() };
            met.clear();
            data.blocks.push(MeasuredBlock { block, name, rows: Vec::new() });
        }
        _ => {
            let ranks = data.ranks;
            let Some(block) = data.blocks.last_mut() else {
                return Err(wrong("times stand here before any block".to_owned()));
            };
            let row = row(line, ranks)?;
            if let Some(rank) = row.ranks.iter().find(|rank| !met.insert(**rank)) {
                let message = format!("block {} has the times of rank {rank} already", block.block + 1);
                return Err(wrong(message).help("leave one of both rows out"));
            }
            block.rows.push(row);
        }
    }
    Ok(())
}

fn row(line: &Line<'_>, most: u32) -> Result<Times, Diagnostic> {
    let words: Vec<_> = line.words().map(|(at, word)| (at, std::str::from_utf8(word).unwrap_or_default())).collect();
    let with = words.get(WIDTH).map_or("", |(_, word)| *word);
    let more = match with {
        "" => 0,
        "line" => 2,
        "eighths" => 8,
        _ => return Err(line.mistake(words[WIDTH].0.clone(), "unknown-word", format!("unknown word `{with}`"))),
    };
    let width = if more > 0 { WIDTH + 1 + more } else { WIDTH };
    if words.len() != width {
        let message = format!("a row `{with}` has {width} columns; this one has {}", words.len());
        return Err(line.mistake(0..line.text.len(), "wrong-width", message.replace(" ``", "")));
    }
    let bad = |word: usize, what: &str| {
        let (at, text) = words[word].clone();
        line.mistake(at, "bad-number", format!("`{text}` is not {what}"))
    };
    let mut ranks = Vec::new();
    for part in words[0].1.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < most && ranks.last().is_none_or(|&last| last < from) => {
                ranks.extend(from..=to);
            }
            _ => return Err(bad(0, &format!("ranks below {most}, ascending: 0-3,7"))),
        }
    }
    let count = words[1].1.parse::<u64>().ok().filter(|&count| count > 0);
    let count = count.ok_or_else(|| bad(1, "a number of executions"))?;
    let time = |word: usize| {
        let ns = words[word].1.parse::<f64>().ok().filter(|ns| (ns * PS_PER_NS).is_finite() && *ns >= 0.0);
        ns.map(|ns| Time::from_ps(ns * PS_PER_NS)).ok_or_else(|| bad(word, "a number of nanoseconds"))
    };
    let mut eighths = [Time::ZERO; 8];
    if with == "eighths" {
        for (at, eighth) in eighths.iter_mut().enumerate() {
            *eighth = time(WIDTH + 1 + at)?;
        }
    }
    Ok(Times {
        ranks,
        count,
        mean: time(2)?,
        median: time(3)?,
        deviation: time(4)?,
        least: time(5)?,
        most: time(6)?,
        trend: if with == "line" { Some((time(WIDTH + 1)?, time(WIDTH + 2)?)) } else { None },
        eighths: (with == "eighths").then_some(eighths),
    })
}
