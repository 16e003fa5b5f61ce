//! Recorded calls on their way: from a reader to whoever wants them.

use std::borrow::Cow;

pub use hayase_trace::{Call, Clock, Communicator, Event, Flags, Frame, Header, Item, Kind, Mark, Op, Site};

use crate::diagnostic::Diagnostic;
use crate::reading::Input;

/// Most ranks of a trace: tables by rank are made before it is known how many of them there are.
pub const MOST_RANKS: u32 = 1 << 24;

/// Who takes what a trace says, rank by rank; those of different ranks may come in turns.
pub trait Calls {
    /// The next item of a rank, and where it stands: the line of a text, the number of the event (from 1) elsewhere.
    ///
    /// # Errors
    /// The item makes no sense; the reader adds the file and the place.
    fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), Wrong>;
}

/// What is wrong with an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// A short, stable name of the kind of mistake.
    pub code: &'static str,
    /// What is wrong: a lowercase sentence without a full stop.
    pub message: Cow<'static, str>,
}

impl Wrong {
    pub(super) fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    /// The mistake at an event of a rank.
    pub(super) fn at_event(self, file: &str, rank: u32, place: u64) -> Diagnostic {
        Diagnostic::new(self.code, format!("{file}, rank {rank}, event {place}: {}", self.message))
    }
}

/// Reads a trace in Hayase's own format: all streams of one file.
///
/// # Errors
/// The trace is damaged or ends early: where. Everything before has been handed on, so that whoever wants it can use
/// it.
pub fn read(input: Input, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let mut reader = hayase_trace::Reader::new(input);
    let (mut rank, mut place) = (0, 0);
    loop {
        let item = match reader.next() {
            Ok(Some(item)) => item,
            Ok(None) => return Ok(()),
            Err(error) => {
                let code = match error {
                    hayase_trace::ReadError::Io { .. } => "unreadable-file",
                    hayase_trace::ReadError::Truncated { .. } => "truncated-trace",
                    hayase_trace::ReadError::Damaged { .. } => "damaged-trace",
                };
                let at = error.offset().map_or(String::new(), |offset| format!(", byte {offset}"));
                let mut diagnostic = Diagnostic::new(code, format!("{file}{at}: {error}"));
                if code == "truncated-trace" {
                    diagnostic = diagnostic.help(format!(
                        "{place} calls of rank {rank} come before; --truncated uses them, as far as all ranks go"
                    ));
                }
                return Err(vec![diagnostic]);
            }
        };
        match item {
            Item::Header(header) => (rank, place) = (header.rank, 0),
            Item::Event(_) => place += 1,
            _ => {}
        }
        calls.item(rank, place, item).map_err(|wrong| vec![wrong.at_event(&file, rank, place)])?;
    }
}
