//! Trace of a rank as a sequence of steps: computation, then a call.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use hayase_trace::callers::Callers;
use hayase_trace::memory::Intervals;
use hayase_trace::walk::Communicators;
use hayase_trace::{Clock, Event, Header, Item, ReadError, Reader};

use crate::accesses::{AccessSite, Accesses, foreign_file};
use crate::lines::{Lines, Names};

/// Error that prevents the search of a run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        error: ReadError,
    },
    /// The folder holds no run.
    #[error("{what}")]
    NoRun {
        /// Problem with the folder.
        what: String,
    },
}

/// State of a rank's trace so far, apart from the calls.
#[derive(Debug, Default)]
pub struct TraceState {
    /// Number of the rank.
    pub rank: u32,
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Source lines.
    pub lines: Lines,
    /// Line of each call site; the index is the number of the site less one.
    pub call_lines: Vec<u32>,
    /// Address of each call site, with the same index.
    pub call_addresses: Vec<u64>,
    /// Members of each communicator.
    pub communicators: Communicators,
    /// Memory sites.
    pub sites: Vec<AccessSite>,
    /// True if memory accesses were recorded.
    pub memory: bool,
    /// Address range of the stack.
    pub stack: std::ops::Range<u64>,
    /// Files of code without instrumentation that ran, with their lines.
    pub foreign: BTreeMap<String, BTreeSet<String>>,
    /// Reason for an early end of the stream.
    pub cut_off: Option<String>,
    /// Number of accesses of other threads, and of lost accesses.
    pub unseen: (u64, u64),
    clock: Clock,
    empty_gap: u64,
}

impl TraceState {
    /// Returns the line of a call.
    pub fn line(&mut self, event: &Event) -> u32 {
        match event.site.checked_sub(1).and_then(|site| self.call_lines.get(site as usize)) {
            Some(&line) if line != u32::MAX => line,
            _ => self.lines.number(""),
        }
    }
}

/// Reader of a rank's stream and its accesses, side by side.
pub struct Steps<'a, R: Read, M: Read> {
    reader: Reader<R>,
    memory: Option<Intervals<M>>,
    /// Next interval, if it has been read.
    ahead: Option<hayase_trace::memory::Interval>,
    /// Accesses recorded as before `Init`. Recording began in `Init`, so they belong after it.
    first: Option<hayase_trace::memory::Interval>,
    names: Names<'a>,
    /// Callers that distinguish call sites of one place.
    callers: Option<&'a Callers>,
    known: TraceState,
    header: bool,
    number: u64,
    last_end: u64,
    paths: (PathBuf, PathBuf),
}

/// Computation, then a call.
#[derive(Debug)]
pub struct Step<'s> {
    /// Number of the event and of the interval before it.
    pub number: u64,
    /// Computation before the call \[ns\].
    pub gap: u64,
    /// Accesses of the computation.
    pub accesses: Accesses,
    /// Event of the call.
    pub event: &'s Event,
    /// State of the rank.
    pub known: &'s mut TraceState,
}

impl<'a> Steps<'a, BufReader<File>, BufReader<File>> {
    /// Opens the files of a rank.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn open(stream: &Path, memory: Option<&Path>, names: Names<'a>) -> Result<Self, Error> {
        let open = |path: &Path| {
            let file = File::open(path).map_err(|error| Error::File { path: path.into(), error: error.into() })?;
            Ok(BufReader::with_capacity(1 << 16, file))
        };
        let mut steps = Self::new(open(stream)?, memory.map(open).transpose()?, names);
        steps.paths = (stream.into(), memory.unwrap_or(stream).into());
        Ok(steps)
    }
}

impl<'a, R: Read, M: Read> Steps<'a, R, M> {
    /// Creates a reader of any two sources.
    pub fn new(stream: R, memory: Option<M>, names: Names<'a>) -> Self {
        Self {
            reader: Reader::new(stream),
            known: TraceState { memory: memory.is_some(), ..TraceState::default() },
            memory: memory.map(Intervals::new),
            ahead: None,
            first: None,
            names,
            callers: None,
            header: false,
            number: 0,
            last_end: 0,
            paths: Default::default(),
        }
    }

    /// Distinguishes call sites of one line by their callers.
    #[must_use]
    pub fn with_callers(mut self, callers: &'a Callers) -> Self {
        self.callers = Some(callers);
        self
    }

    /// Returns the next step, or `None` at the end. A truncated file ends there, and [`TraceState::cut_off`] holds
    /// the reason.
    ///
    /// # Errors
    /// A file is damaged, or holds more than one stream.
    #[allow(clippy::should_implement_trait, reason = "the step borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Step<'_>>, Error> {
        loop {
            let item = match self.reader.next() {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(None),
                Err(error @ ReadError::Truncated { .. }) if self.header => {
                    self.known.cut_off = Some(error.to_string());
                    return Ok(None);
                }
                Err(error) => return Err(Error::File { path: self.paths.0.clone(), error }),
            };
            match item {
                Item::Header(_) if self.header => return Ok(None),
                Item::Header(&Header { rank, ranks, clock, empty_gap, .. }) => {
                    self.header = true;
                    (self.known.rank, self.known.ranks) = (rank, ranks);
                    self.known.communicators = Communicators::new(rank, ranks);
                    (self.known.clock, self.known.empty_gap) = (clock, empty_gap);
                }
                Item::Site(index, site) => {
                    let name = match site.name.as_str() {
                        "" => (self.names)(self.known.rank, site.address)
                            .unwrap_or_else(|| format!("{:#x}", site.address)),
                        name => name.to_owned(),
                    };
                    let name = self
                        .callers
                        .map_or_else(|| name.clone(), |callers| callers.name(self.known.rank, index, &name));
                    let index = index as usize;
                    if index < 1 << 24 {
                        if self.known.call_lines.len() <= index {
                            self.known.call_lines.resize(index + 1, u32::MAX);
                            self.known.call_addresses.resize(index + 1, 0);
                        }
                        self.known.call_addresses[index] = site.address;
                        self.known.call_lines[index] = self.known.lines.number(&name);
                    }
                }
                Item::Communicator(index, communicator) => self.known.communicators.insert(index, communicator),
                Item::Event(_) => break,
                Item::Region(..) | Item::Mark(_) | Item::Note(..) | Item::End { .. } => {}
            }
        }
        let number = self.number;
        self.number += 1;
        let first = number == 0 && self.reader.event().is_some_and(|event| event.call == hayase_trace::Call::Init);
        let accesses = self.accesses(number, first)?;
        let Some(event) = self.reader.event() else { return Ok(None) };
        let gap = match event.cpu {
            Some(cpu) => cpu.saturating_sub(self.known.empty_gap),
            None if self.known.clock == Clock::None => 0,
            None => event.begin.saturating_sub(self.last_end),
        };
        self.last_end = event.end;
        Ok(Some(Step { number, gap, accesses, event, known: &mut self.known }))
    }

    /// Returns the state at the end.
    pub fn finish(self) -> TraceState {
        self.known
    }

    /// Returns the accesses of interval `number`; `first` is true for the interval before `Init`.
    fn accesses(&mut self, number: u64, first: bool) -> Result<Accesses, Error> {
        let site = self.reader.event().and_then(|event| event.site.checked_sub(1));
        let call = site.and_then(|site| self.known.call_addresses.get(site as usize)).map_or(0, |&address| address);
        let Some(memory) = &mut self.memory else { return Ok(Accesses::default()) };
        while self.ahead.as_ref().is_none_or(|ahead| ahead.number < number) {
            match memory.next() {
                Ok(Some(interval)) => self.ahead = Some(interval),
                Ok(None) => break,
                Err(error @ ReadError::Truncated { .. }) => {
                    self.known.cut_off = Some(error.to_string());
                    // No accesses are known from here on.
                    (self.memory, self.ahead, self.known.memory) = (None, None, false);
                    return Ok(Accesses::default());
                }
                Err(error) => return Err(Error::File { path: self.paths.1.clone(), error }),
            }
        }
        if self.known.stack.is_empty()
            && let Some((_, bounds)) = memory.notes().iter().find(|(name, _)| name == "stack")
        {
            let mut bounds = bounds.split('-').map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
            if let (Some(Some(low)), Some(Some(high))) = (bounds.next(), bounds.next()) {
                self.known.stack = low..high;
            }
        }
        for site in &memory.sites()[self.known.sites.len()..] {
            let name = match (self.names)(self.known.rank, site.address) {
                Some(name) => name,
                None if site.name.is_empty() => format!("{:#x}", site.address),
                None => site.name.clone(),
            };
            let line = self.known.lines.number(&name);
            let known = AccessSite::new(site, line);
            if let Some(file) = foreign_file(site) {
                self.known.foreign.entry(file.to_owned()).or_default().insert(name);
            }
            self.known.sites.push(known);
        }
        if let Some(totals) = memory.totals() {
            self.known.unseen = (totals.elsewhere, totals.lost);
        }
        if first {
            self.first = self.ahead.take_if(|ahead| ahead.number == 0);
            return Ok(Accesses::default());
        }
        match (&mut self.ahead, self.first.take()) {
            (Some(ahead), _) if ahead.number == number => {
                Ok(Accesses::new(std::mem::take(ahead), &self.known.sites, call))
            }
            (_, Some(first)) => Ok(Accesses::new(first, &self.known.sites, call)),
            _ => Ok(Accesses::default()),
        }
    }
}
