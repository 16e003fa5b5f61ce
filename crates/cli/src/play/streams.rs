//! Files that are written while a run goes on.

use std::io;

use hayase::atomic_file::AtomicFile;
use hayase::ids::RankId;
use hayase::player::{Activity, Transfer};
use hayase::program::Mark;
use hayase::report::MessageRecord;
use hayase::units::Time;
use hayase_output::csv::{Activities, JobMessages, MessagesBeside, Transfers};
use hayase_output::trace::Trace;

/// File that takes what happens, piece by piece.
pub trait Stream {
    /// Takes a delivered message.
    fn message(&mut self, _message: &MessageRecord) {}

    /// Takes what a rank did.
    fn activity(&mut self, _activity: &Activity) {}

    /// Takes a received message of a program.
    fn transfer(&mut self, _transfer: &Transfer) {}

    /// Takes a border of a region.
    fn mark(&mut self, _rank: RankId, _mark: &Mark, _time: Time) {}

    /// True if the file cannot be written.
    fn failed(&self) -> bool {
        false
    }

    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<AtomicFile>;
}

/// Implements [`Stream`] by the methods of a type: what it takes, and whether it tells of failure.
macro_rules! stream {
    ($stream:ty: $($takes:ident($($what:ident: $of:ty),*) by $write:ident),* $(=> $failed:ident)?) => {
        impl Stream for $stream {
            $(fn $takes(&mut self, $($what: $of),*) {
                self.$write($($what),*);
            })*

            $(fn $failed(&self) -> bool {
                self.$failed()
            })?

            fn finish(self: Box<Self>) -> io::Result<AtomicFile> {
                (*self).finish()
            }
        }
    };
}

stream!(MessagesBeside<AtomicFile>: message(message: &MessageRecord) by write => failed);
stream!(JobMessages<'_, AtomicFile>: message(message: &MessageRecord) by write => failed);
stream!(Transfers<AtomicFile>: transfer(transfer: &Transfer) by write);
stream!(Activities<AtomicFile>: activity(activity: &Activity) by write);
stream!(
    Trace<AtomicFile>: activity(activity: &Activity) by activity,
    transfer(transfer: &Transfer) by transfer,
    mark(rank: RankId, mark: &Mark, time: Time) by mark
);
