//! Recorded calls on their way from a reader to a consumer.

use std::borrow::Cow;

pub use hayase_trace::{Call, CallKind, Clock, Communicator, Event, Flags, Frame, Header, Item, Mark, Op, Site};

use crate::diagnostic::Diagnostic;
use crate::reading::Input;

/// Largest number of ranks of a trace. Tables by rank are made before the actual number is known.
pub const MOST_RANKS: u32 = 1 << 24;

/// Consumer of the items of a trace, rank by rank. Items of different ranks may be interleaved.
pub trait Calls {
    /// Takes the next item of a rank. `place` is the line of a text, or the number of the event (from 1)
    /// elsewhere.
    ///
    /// # Errors
    /// The item makes no sense. The reader adds the file and the place.
    fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), ItemError>;
}

/// Mistake in an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemError {
    /// Short, stable name of the kind of mistake.
    pub code: &'static str,
    /// Description of the mistake: a lower-case sentence without a full stop.
    pub message: Cow<'static, str>,
}

impl ItemError {
    pub(super) fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    /// Returns the mistake with the event of a rank as its place.
    pub(super) fn at_event(self, file: &str, rank: u32, place: u64) -> Diagnostic {
        Diagnostic::new(self.code, format!("{file}, rank {rank}, event {place}: {}", self.message))
    }
}

/// Reads a trace in Hayase's own format: all streams of one file.
///
/// # Errors
/// The trace is damaged or ends early, with the place. All items before it have been passed on and can be
/// used.
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
                        "{place} calls of rank {rank} come before; --truncated uses them, up to where all ranks have \
                         calls"
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
