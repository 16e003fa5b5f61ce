//! `hayase pattern`: the named workloads, and who sends what to whom in one of them.

use std::num::NonZeroU32;

use super::args::{PatternShowArgs, PatternVerb};
use super::{End, Failure, Voice, progress};
use hayase::diagnostic::Diagnostic;
use hayase::ids::{MessageId, RankId};
use hayase::scenario::Loader;
use hayase::scenario::library::Shelf;
use hayase::units::{Bytes, Time};
use hayase::workload::pattern::{After, Block, Pattern};
use hayase_output::table::{Answer, Cell, Grid, grouped, printable};

/// Ranks where nothing is said of them.
const RANKS: u32 = 16;
/// Rows of a table at most.
const ROWS: usize = 64;
/// Steps shown where nothing is said of them.
const STEPS: u32 = 4;
/// Messages counted one by one at most; of larger patterns the bytes are not summed up.
const COUNTED: u64 = 20_000_000;

/// Lists the named ones or shows one.
pub fn pattern(verb: &PatternVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        PatternVerb::List => list(voice),
        PatternVerb::Show(args) => show(args, voice),
    }
}

fn list(voice: Voice) -> Result<End, Failure> {
    let mut grid = Grid::new().text("name").text("what it is");
    for named in Shelf::Patterns.all() {
        grid.row_with_sentence([named.name.to_owned()], &named.description());
    }
    super::show(&grid.into())?;
    voice.hint("`hayase pattern show NAME` lists its first messages");
    Ok(End::Done)
}

fn show(args: &PatternShowArgs, voice: Voice) -> Result<End, Failure> {
    let nodes = match &args.topology {
        Some(topology) => Loader::new().topology(topology).load_topology()?.fabric.nodes(),
        None => args.ranks.map_or(RANKS, NonZeroU32::get),
    };
    let mut loader = Loader::new().pattern(&args.name).on_read(progress::reading(voice.show));
    for assignment in &args.set {
        loader = loader.set("--set", assignment);
    }
    let work = loader.load_workload(nodes)?;
    let pattern = &*work.pattern;
    if let Some(rank) = args.rank.filter(|rank| *rank >= pattern.ranks()) {
        let message = format!("there is no rank {rank}: {} has {}", work.workload.title(), ranks(pattern));
        return Err(Diagnostic::new("unknown-rank", message).help("ranks count from 0").into());
    }
    let mut text = Answer::new();
    text.push_str(&format!("{}, {}\n", printable(&work.workload.title()), ranks(pattern)));
    if let Some(named) = Shelf::Patterns.get(&args.name) {
        text.push_str(&format!("{}\n", named.description()));
    }
    text.push_str(&format!("{}, injection {}\n\n", totals(pattern), *work.workload.traffic().injection));
    let (grid, cut) = messages(pattern, args.rank, args.steps);
    text.table(grid);
    if cut {
        text.push_str("...\n");
    }
    super::show(&text)?;
    if cut {
        voice.hint("--rank R shows the messages of one rank, --steps K those of the first K steps");
    }
    Ok(End::Done)
}

/// The first messages, and whether there are more.
fn messages(pattern: &dyn Pattern, rank: Option<u32>, steps: Option<u32>) -> (Grid, bool) {
    let last = steps.unwrap_or(if rank.is_some() { u32::MAX } else { STEPS });
    let mut grid = Grid::new()
        .number("rank")
        .number("index")
        .number("step")
        .number("dst")
        .number("size [B]")
        .time("delay")
        .text("after")
        .text("carries")
        .keys(2);
    let mut rows = 0;
    // Only what is not shown although it was asked for counts as cut.
    let mut cut = false;
    for rank in rank.map_or(0..pattern.ranks(), |rank| rank..rank + 1).map(RankId) {
        for index in 0..pattern.sends(rank) {
            let message = pattern.message(rank, index);
            if message.step >= last {
                cut |= steps.is_none();
                break;
            }
            if rows == ROWS {
                return (grid, true);
            }
            rows += 1;
            let delay = if message.delay == Time::ZERO { Cell::default() } else { message.delay.seconds().into() };
            grid.row([
                Cell::from(rank.0),
                index.into(),
                message.step.into(),
                message.dst.0.into(),
                message.bytes.into(),
                delay,
                after(&message.after).into(),
                carries(&pattern.carries(rank, index)).into(),
            ]);
        }
    }
    (grid, cut)
}

fn after(after: &After) -> String {
    match after {
        After::Nothing => String::new(),
        After::EarlierSteps => "what earlier steps send it".into(),
        After::Messages(messages) => some(messages, |MessageId { src, index }| format!("{index} of rank {src}")),
    }
}

fn carries(blocks: &[Block]) -> String {
    some(blocks, |block| format!("({}, {})", block.origin, block.part))
}

/// The first few of a list.
fn some<T>(items: &[T], name: impl Fn(&T) -> String) -> String {
    let mut names: Vec<String> = items.iter().take(3).map(name).collect();
    if items.len() > 3 {
        names.push(format!("... {} in all", items.len()));
    }
    names.join(" ")
}

/// `54 ranks`.
pub fn ranks(pattern: &dyn Pattern) -> String {
    count(pattern.ranks().into(), "rank", "ranks")
}

/// `2,862 messages, 57.24 MB, 53 steps`.
pub fn totals(pattern: &dyn Pattern) -> String {
    let messages = pattern.messages();
    let bytes = (messages <= COUNTED).then(|| {
        let all = (0..pattern.ranks()).map(RankId);
        let bytes = all.flat_map(|rank| (0..pattern.sends(rank)).map(move |index| pattern.message(rank, index).bytes));
        bytes.fold(0_u64, u64::saturating_add)
    });
    let bytes = bytes.map(|bytes| format!(", {}", Bytes(bytes))).unwrap_or_default();
    let steps = count(pattern.steps().into(), "step", "steps");
    format!("{}{bytes}, {steps}", count(messages, "message", "messages"))
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}
