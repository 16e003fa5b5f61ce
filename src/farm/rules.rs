//! Rules for dealing tasks as they are written: orders, chunks, masters.

use std::fmt;

use super::deal::{Chunking, Order};
use super::play::Masters;
use crate::diagnostic::{Diagnostic, closest};
use crate::units::{count, range};

/// Order in which tasks are dealt.
#[spec(Copy, Eq, Default)]
pub enum OrderRule {
    /// Order of the list.
    #[default]
    Listed,
    /// Longest task first.
    #[serde(alias = "longest")]
    LongestFirst,
    /// Shortest task first.
    ShortestFirst,
    /// Random order.
    Random,
    /// Order of the list, in guided chunks.
    Guided,
    /// Order of the list, in factoring chunks.
    Factoring,
}

/// Number of tasks in a message.
#[spec(Copy, Eq, Default)]
pub enum ChunkingRule {
    /// Constant number of tasks.
    #[default]
    Fixed,
    /// Remaining tasks divided by the number of workers.
    Guided,
    /// Equal messages to all workers from half of the remaining tasks, then again from the rest.
    Factoring,
}

/// Rules for dealing tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rules {
    pub order: OrderRule,
    pub chunking: ChunkingRule,
    pub granularity: u32,
    pub prefetch: u32,
    pub masters: u32,
    pub batch: Option<u32>,
}

/// Parameters that can be varied.
const VARIABLE: [&str; 6] = ["granularity", "prefetch", "masters", "hierarchy", "order", "chunking"];

const ORDERS: [(&str, OrderRule); 7] = [
    ("listed", OrderRule::Listed),
    ("longest-first", OrderRule::LongestFirst),
    ("longest", OrderRule::LongestFirst),
    ("shortest-first", OrderRule::ShortestFirst),
    ("random", OrderRule::Random),
    ("guided", OrderRule::Guided),
    ("factoring", OrderRule::Factoring),
];

const CHUNKINGS: [(&str, ChunkingRule); 3] =
    [("fixed", ChunkingRule::Fixed), ("guided", ChunkingRule::Guided), ("factoring", ChunkingRule::Factoring)];

impl Rules {
    /// Reads a parameter and its values: `granularity=1..1024:x2`.
    pub fn varied(text: &str) -> Result<(String, Vec<String>), Diagnostic> {
        let Some((name, values)) = text.split_once('=') else {
            return Err(Diagnostic::new("bad-range", format!("\"{text}\" does not name a key and its values"))
                .help("write it like granularity=1..1024:x2"));
        };
        let name = name.trim();
        if !VARIABLE.contains(&name) {
            return Err(unknown("parameter", name, &VARIABLE));
        }
        let values = match name {
            "order" | "chunking" => values.split(',').map(|value| value.trim().to_owned()).collect(),
            _ => numbers(values)?,
        };
        Ok((name.to_owned(), values))
    }

    /// Sets a parameter by its name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Diagnostic> {
        let number = || {
            let wrong = |_| Diagnostic::new("bad-number", format!("{name}: \"{value}\" is not a whole number"));
            value.parse::<u32>().map_err(wrong)
        };
        let positive = || match number()? {
            0 => Err(Diagnostic::new("out-of-range", format!("{name}: 0 is too few"))),
            number => Ok(number),
        };
        match name {
            "granularity" => self.granularity = positive()?,
            "prefetch" => self.prefetch = number()?,
            "masters" => self.masters = positive()?,
            "hierarchy" => self.batch = Some(positive()?),
            "order" => self.order = known("order", value, &ORDERS)?,
            _ => self.chunking = known("chunking", value, &CHUNKINGS)?,
        }
        Ok(())
    }

    /// Returns the masters that deal the tasks.
    pub fn masters(&self) -> Masters {
        match (self.batch, self.masters) {
            (Some(batch), masters) => Masters::Hierarchy { masters, batch },
            (None, 1) => Masters::One,
            (None, masters) => Masters::Partition(masters),
        }
    }

    /// Returns the rule for the number of tasks in a message. An order that implies one takes precedence.
    fn chunking_rule(&self) -> ChunkingRule {
        match self.order {
            OrderRule::Guided => ChunkingRule::Guided,
            OrderRule::Factoring => ChunkingRule::Factoring,
            _ => self.chunking,
        }
    }

    pub fn chunking(&self) -> Chunking {
        match self.chunking_rule() {
            ChunkingRule::Fixed => Chunking::Fixed(self.granularity),
            ChunkingRule::Guided => Chunking::Guided(self.granularity),
            ChunkingRule::Factoring => Chunking::Factoring(self.granularity),
        }
    }

    /// Returns the order. A random one is drawn from this seed.
    pub fn order(&self, seed: u64) -> Order {
        match self.order {
            OrderRule::Listed | OrderRule::Guided | OrderRule::Factoring => Order::Listed,
            OrderRule::LongestFirst => Order::LongestFirst,
            OrderRule::ShortestFirst => Order::ShortestFirst,
            OrderRule::Random => Order::Random(seed),
        }
    }
}

/// Writes the rules for users.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chunking_rule() {
            ChunkingRule::Fixed if self.granularity == 1 => f.write_str("a task a message")?,
            ChunkingRule::Fixed => write!(f, "{} tasks a message", self.granularity)?,
            ChunkingRule::Guided => f.write_str("guided chunks")?,
            ChunkingRule::Factoring => f.write_str("factoring chunks")?,
        }
        f.write_str(match self.order {
            OrderRule::Listed | OrderRule::Guided | OrderRule::Factoring => "",
            OrderRule::LongestFirst => ", longest first",
            OrderRule::ShortestFirst => ", shortest first",
            OrderRule::Random => ", in random order",
        })?;
        match self.masters() {
            Masters::One => {}
            Masters::Partition(masters) => write!(f, ", {}", count(masters.into(), "master", "masters"))?,
            Masters::Hierarchy { masters, batch } => {
                let masters = count(masters.into(), "master", "masters");
                write!(f, ", {masters} under one that gives out batches of {batch}")?;
            }
        }
        if self.prefetch > 0 {
            write!(f, ", {} sent ahead", self.prefetch)?;
        }
        Ok(())
    }
}

fn numbers(values: &str) -> Result<Vec<String>, Diagnostic> {
    let numbers = range::numbers(values).map_err(|message| {
        let (message, help) = message.split_once("; ").map_or((message.as_str(), None), |(a, b)| (a, Some(b)));
        let diagnostic = Diagnostic::new("bad-range", message);
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    })?;
    Ok(numbers.into_iter().map(|number| number.to_string()).collect())
}

fn known<T: Copy>(what: &str, word: &str, all: &[(&str, T)]) -> Result<T, Diagnostic> {
    let found = all.iter().find(|(name, _)| *name == word);
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    found.map(|(_, value)| *value).ok_or_else(|| unknown(what, word, &names))
}

fn unknown(what: &str, word: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-choice", format!("unknown {what} `{word}`"));
    match closest(word, known.iter().copied()) {
        Some(name) => diagnostic.help(format!("did you mean `{name}`? there are: {}", known.join(", "))),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}
