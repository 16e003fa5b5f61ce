//! `hayase pattern`: lists the named patterns or shows the messages of one.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::listing::{self, ListArgs, Listing};
use super::options::OutputArgs;
use super::scenario::TextArgs;
use super::typed;
use super::{End, Failure, Voice, progress};
use hayase::diagnostic::Diagnostic;
use hayase::ids::{MessageId, RankId};
use hayase::pattern::{After, Block, Pattern};
use hayase::scenario::Loader;
use hayase::scenario::library::Shelf;
use hayase::units::{Bytes, Time};
use hayase_output::table::{Answer, Cell, Grid, count, printable};

/// `hayase pattern`.
#[derive(Subcommand, Debug)]
pub enum PatternVerb {
    /// List the named patterns.
    List(ListArgs),
    /// Show one pattern: who sends how much to whom, in which order.
    #[command(after_help = "\
Examples:
  hayase pattern show all-to-all-pairwise --ranks 8
  hayase pattern show all-to-all-2d-spread -t torus-8x8 --rank 5 --steps 10
  hayase pattern show messages.csv

You supply: messages.csv (src,dst,bytes)

Files (-o), by name:
  x.csv    a line for each message
  x.json   an object for each")]
    Show(PatternShowArgs),
}

/// `hayase pattern show`.
#[derive(Args, Debug)]
pub struct PatternShowArgs {
    /// A name (`hayase list patterns`), a TOML file with a [workload.*] table, or a CSV of messages.
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
    /// Use one rank for each node of this fabric.
    #[arg(short, long, value_name = "NAME|FILE", conflicts_with = "ranks")]
    pub topology: Option<String>,
    /// Use this number of ranks (default 16).
    #[arg(long, value_name = "N")]
    pub ranks: Option<NonZeroU32>,
    /// Show the messages of this rank only (default: those of the first ranks).
    #[arg(value_parser = typed::whole::<u32>, long, value_name = "R")]
    pub rank: Option<u32>,
    /// Show the messages of this number of steps (default: 4 in the table of several ranks, else all).
    #[arg(value_parser = typed::whole::<u32>, long, value_name = "K")]
    pub steps: Option<u32>,
    /// The seed of a random pattern.
    #[arg(value_parser = typed::whole::<u64>, long, value_name = "N")]
    pub seed: Option<u64>,
    /// Preset and single keys.
    #[command(flatten)]
    pub texts: TextArgs,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Default number of ranks.
const RANKS: u32 = 16;
/// Largest number of rows of a table.
const ROWS: usize = 64;
/// Largest number of list items in a cell of a table.
const SHOWN: usize = 3;
/// Default number of steps shown.
const STEPS: u32 = 4;
/// Largest number of messages whose bytes are summed.
const COUNTED: u64 = 20_000_000;

/// Lists the names or shows one of them.
pub fn pattern(verb: &PatternVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        PatternVerb::List(args) => {
            let all = Shelf::Patterns.all().iter().map(|named| (named.name, named.description()));
            listing::names(&args.out, "pattern list", all)?;
            voice.hint("`hayase show NAME` lists the first messages of a pattern");
            Ok(End::Done)
        }
        PatternVerb::Show(args) => show(args, voice),
    }
}

fn show(args: &PatternShowArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&Listing::offer("pattern show"))?;
    let fabric = match &args.topology {
        Some(topology) => Some(Loader::new().topology(topology).load_topology()?),
        None => None,
    };
    let loader = Loader::new().pattern(&args.name).on_read(progress::reading(voice.show));
    let loader = match args.seed {
        Some(seed) => loader.seed(seed),
        None => loader,
    };
    let loader = args.texts.on(loader);
    let work = match &fabric {
        Some(fabric) => loader.load_workload(&fabric.ground())?,
        None => loader.load_workload(&args.ranks.map_or(RANKS, NonZeroU32::get))?,
    };
    let pattern = &*work.pattern;
    if let Some(rank) = args.rank.filter(|rank| *rank >= pattern.ranks()) {
        let message = format!("there is no rank {rank}: {} has {}", work.workload.title(), ranks(pattern));
        return Err(Diagnostic::new("unknown-rank", message).help("ranks count from 0").into());
    }
    let rows = || rows(pattern, args.rank, args.steps);
    let mut cut = false;
    Listing::new(&COLUMNS, rows).answer(&args.out, || {
        let mut text = Answer::new();
        text.push_str(&format!("{}, {}\n", printable(&work.workload.title()), ranks(pattern)));
        if let Some(named) = Shelf::Patterns.get(&args.name) {
            text.push_str(&format!("{}\n", named.description()));
        }
        text.push_str(&format!("{}, injection {}\n\n", totals(pattern), *work.workload.traffic().injection));
        let grid;
        (grid, cut) = messages(pattern, args.rank, args.steps);
        text.table(grid);
        if cut {
            text.push_str("...\n");
        }
        text
    })?;
    if cut {
        voice.hint("--rank R shows the messages of one rank, --steps K those of the first K steps");
    }
    Ok(End::Done)
}

/// Columns of a message as data.
const COLUMNS: [&str; 8] = ["rank", "index", "step", "dst", "bytes", "delay_s", "after", "carries"];

/// Returns the messages of one rank or of all ranks in the first steps.
fn rows(pattern: &dyn Pattern, rank: Option<u32>, steps: Option<u32>) -> Box<dyn Iterator<Item = Vec<Value>> + '_> {
    let of_rank = move |rank: RankId| {
        let messages = (0..pattern.sends(rank)).map(move |index| (index, pattern.message(rank, index)));
        messages.take_while(move |(_, message)| steps.is_none_or(|steps| message.step < steps)).map(
            move |(index, message)| {
                vec![
                    rank.0.into(),
                    index.into(),
                    message.step.into(),
                    message.dst.0.into(),
                    message.bytes.into(),
                    message.delay.seconds().into(),
                    after(&message.after, usize::MAX).into(),
                    carries(&pattern.carries(rank, index), usize::MAX).into(),
                ]
            },
        )
    };
    Box::new(rank.map_or(0..pattern.ranks(), |rank| rank..rank + 1).map(RankId).flat_map(of_rank))
}

/// Returns the first messages, and true if there are more.
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
    // Only requested messages that are not shown count as cut.
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
                after(&message.after, SHOWN).into(),
                carries(&pattern.carries(rank, index), SHOWN).into(),
            ]);
        }
    }
    (grid, cut)
}

fn after(after: &After, most: usize) -> String {
    match after {
        After::Nothing => String::new(),
        After::EarlierSteps => "messages of earlier steps".into(),
        After::Messages(messages) => some(messages, most, |MessageId { src, index }| format!("{index} of rank {src}")),
    }
}

fn carries(blocks: &[Block], most: usize) -> String {
    some(blocks, most, |block| format!("({}, {})", block.origin, block.part))
}

/// Returns the first items of a list, at most `most`.
fn some<T>(items: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let mut names: Vec<String> = items.iter().take(most).map(name).collect();
    if items.len() > most {
        names.push(format!("... {} in all", items.len()));
    }
    names.join(" ")
}

/// Returns text such as `54 ranks`.
pub fn ranks(pattern: &dyn Pattern) -> String {
    count(pattern.ranks().into(), "rank", "ranks")
}

/// Returns text such as `2,862 messages, 57.24 MB, 53 steps`.
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
