//! Files that are written during a run.

use std::io;

use hayase::atomic_file::AtomicFile;
use hayase::ids::RankId;
use hayase::player::{Activity, Transfer};
use hayase::program::Mark;
use hayase::report::MessageRecord;
use hayase::units::Time;
use hayase_output::csv::{Activities, JobMessages, MessagesBeside, Transfers};
use hayase_output::trace::Trace;

/// File that receives the events of a run piece by piece.
pub trait Stream {
    /// Receives a delivered message.
    fn message(&mut self, _message: &MessageRecord) {}

    /// Receives an activity of a rank.
    fn activity(&mut self, _activity: &Activity) {}

    /// Receives a received message of a program.
    fn transfer(&mut self, _transfer: &Transfer) {}

    /// Receives a border of a region.
    fn mark(&mut self, _rank: RankId, _mark: &Mark, _time: Time) {}

    /// True if the file cannot be written.
    fn failed(&self) -> bool {
        false
    }

    /// Writes the rest and returns the file.
    fn finish(self: Box<Self>) -> io::Result<AtomicFile>;
}

/// Implements [`Stream`] by the methods of a type.
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
