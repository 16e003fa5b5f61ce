//! State that all threads of the program share: the stream, requests, communicators, call paths.

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use hayase_mpi::{Abi, Functions, Handle};
use hayase_trace::{Event, Mark, Writer};
use rustc_hash::FxHashMap;

use super::communicators::Communicators;
use super::outside::OutsideTime;
use super::queue::Queue;
use super::requests::Requests;
use super::{OFF, Recorder, STATE, peers, scheduling};
use crate::path::Paths;
use crate::token::Token;

pub(super) struct Slot(pub(super) UnsafeCell<Option<Process>>);

// SAFETY: used under the lock of `threads`.
unsafe impl Sync for Slot {}

pub(super) static PROCESS: Slot = Slot(UnsafeCell::new(None));

/// Runtime of instrumented programs, which records memory accesses beside the calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Notes that the call with this number begins, from this address.
    pub call: unsafe extern "C" fn(u64, u64),
    /// Notes that the call from this address returns.
    pub back: unsafe extern "C" fn(u64),
    pub stop: unsafe extern "C" fn(),
}

/// State that all threads share.
#[derive(Debug)]
pub struct Process {
    /// Layouts and constants of the MPI library.
    pub abi: &'static Abi,
    /// Functions of the MPI library.
    pub mpi: &'static Functions,
    /// Requests that are not complete.
    pub requests: Requests,
    /// Communicators by handle.
    pub communicators: Communicators,
    /// Token, if ranks run one at a time.
    pub token: Option<Token>,
    /// Messages that were matched and not yet received: communicator, sender, tag.
    pub messages: FxHashMap<Handle, (Handle, i32, i32)>,
    /// Communicators that are being duplicated: number of the request, original, address of the handle.
    pub duplicates: Vec<(u64, Handle, usize)>,
    /// Rank in the world.
    pub rank: u32,
    /// Number of ranks.
    pub ranks: u32,
    pub(crate) writer: Option<Writer<File>>,
    pub(super) queue: Queue,
    pub(super) paths: Paths,
    pub(super) memory: Option<Memory>,
    /// Consecutive tests and probes of each thread from one place that found nothing. They become one call.
    pub(super) polls: Vec<Option<Event>>,
    /// Number of each region, by name.
    pub(super) regions: FxHashMap<String, u32>,
    pub(super) directory: PathBuf,
    pub(super) peers: Option<peers::Peers>,
    /// Start of the stream on the common clock \[ns\].
    pub(super) start: u64,
    pub(super) reads_cpu: bool,
    /// Set if blocked time outside of calls counts as computation.
    pub(super) counts_blocked: bool,
    /// Time of the first thread outside of calls that is no computation, or may be none.
    pub(super) spent: OutsideTime,
    pub(super) empty_gap: u64,
    /// Processor time that counts since the start, with the token \[ns\].
    pub(super) counted: u64,
    pub(super) opaque: Vec<(&'static str, u64)>,
    pub(super) scheduling: scheduling::Scheduling,
    pub(super) stop_events: u64,
    pub(super) stop_after: u64,
    /// Recorders of the threads, by number.
    pub(super) threads: Vec<*mut Recorder>,
    /// Numbers of threads that have ended.
    pub(super) free: BTreeSet<usize>,
}

impl Process {
    /// Returns the number of the next call in the stream, if all calls under way come after it.
    pub(super) fn number(&self) -> u64 {
        let polls = self.polls.iter().flatten().count() as u64;
        self.writer.as_ref().map_or(0, Writer::events) + self.queue.len() + polls
    }

    /// Writes the polls of a thread as a call of their own.
    pub(super) fn end_poll(&mut self, thread: usize) {
        if let Some(poll) = self.polls[thread].take() {
            self.write(&poll);
        }
    }

    #[inline]
    pub(super) fn write(&mut self, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        let result = self.queue.add(event, writer);
        if let Err(error) = result {
            self.give_up(&error);
        }
    }

    /// Adds a border of a region after all events so far.
    pub(super) fn write_mark(&mut self, mark: Mark) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = self.queue.mark(mark, writer) {
            self.give_up(&error);
        }
    }

    /// Gives up the trace because it cannot be written any more.
    #[cold]
    pub(super) fn give_up(&mut self, error: &std::io::Error) {
        eprintln!("hayase: rank {}: the trace cannot be written and ends here: {error}", self.rank);
        self.writer = None;
        if self.token.is_none() {
            STATE.store(OFF, Ordering::Relaxed);
        }
    }

    /// Returns the index of a region.
    pub(super) fn region(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.regions.get(name) {
            return number;
        }
        let number = self.regions.len() as u32;
        self.regions.insert(name.to_owned(), number);
        if let Some(writer) = &mut self.writer {
            writer.new_region(number, name);
        }
        number
    }

    /// Closes the event at this place of the queue: its open fields stay unknown.
    pub(crate) fn close_event(&mut self, held: u64) {
        self.queue.resolve(held, |_| {});
    }

    /// Counts a call that is not understood, by name.
    pub fn opaque(&mut self, name: &'static str) {
        match self.opaque.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.opaque.push((name, 1)),
        }
    }
}
