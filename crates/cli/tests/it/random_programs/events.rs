//! Recorded calls as executions of items.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use hayase_advice::model::Location;
use hayase_trace::{Item, Reader};

use super::program::Program;
use super::source::Source;

/// Execution of an item: its number and the iteration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Execution {
    pub item: usize,
    pub iteration: usize,
}

/// Calls of all ranks; calls outside the loop have no item.
pub struct Events(Vec<Vec<Option<Execution>>>);

impl Events {
    /// Reads a run. Calls come in the order of items, and one that goes back begins another iteration.
    /// Returns `None` if that gives other iterations than the program has.
    pub fn read(run: &Path, program: &Program, source: &Source) -> Option<Self> {
        let ranks = (0..program.ranks).map(|rank| {
            let mut reader = Reader::new(File::open(run.join(format!("rank-{rank:05}.hyt"))).unwrap());
            let mut sites: BTreeMap<u32, Option<usize>> = BTreeMap::new();
            let mut events: Vec<Option<Execution>> = Vec::new();
            let mut last: Option<Execution> = None;
            while let Some(item) = reader.next().unwrap() {
                match item {
                    Item::Site(index, site) => {
                        let line = Location::parse(&site.name).line;
                        let item = source.lines.get(&line).filter(|&&(of, _)| of == rank).map(|&(_, item)| item);
                        sites.insert(index, item);
                    }
                    Item::Event(event) => {
                        let item = event.site.checked_sub(1).and_then(|site| *sites.get(&site)?);
                        let execution = item.map(|item| match last {
                            None => Execution { item, iteration: 0 },
                            Some(last) if item < last.item => Execution { item, iteration: last.iteration + 1 },
                            Some(last) => Execution { item, ..last },
                        });
                        last = execution.or(last);
                        events.push(execution);
                    }
                    _ => {}
                }
            }
            let iterations = last.map_or(0, |last| last.iteration + 1);
            (iterations == program.iterations).then_some(events)
        });
        ranks.collect::<Option<_>>().map(Self)
    }

    /// Returns the item that a call executes.
    pub fn at(&self, rank: usize, event: u64) -> Option<Execution> {
        self.0[rank].get(event as usize).copied().flatten()
    }

    /// Returns the gap between items before a call, if it is in `iteration`.
    pub fn between(&self, rank: usize, event: u64, iteration: usize) -> Gap {
        let after = |at: Option<Execution>| at.filter(|at| at.iteration >= iteration);
        let before = self.0[rank][..event as usize].iter().rev().find_map(|at| *at);
        let next = self.0[rank].get(event as usize..).unwrap_or_default().iter().find_map(|at| *at);
        Gap {
            low: match before {
                Some(before) if before.iteration > iteration => Border::Behind,
                Some(before) if before.iteration == iteration => Border::At(before.item),
                _ => Border::InFront,
            },
            high: match after(next) {
                Some(next) if next.iteration == iteration => Border::At(next.item),
                None if next.is_some() => Border::InFront,
                _ => Border::Behind,
            },
            other: next.filter(|next| next.iteration == iteration + 1).map(|next| next.item),
        }
    }
}

/// Items before and after a point in an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    pub low: Border,
    pub high: Border,
    /// Item of the call after it, if that is in the next iteration.
    pub other: Option<usize>,
}

/// Item of this iteration, or of another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Border {
    InFront,
    At(usize),
    Behind,
}
