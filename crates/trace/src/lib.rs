//! The trace of an MPI program: what each rank called, when, with whom and how much.
//!
//! A trace is a sequence of *streams*, one a rank: one file with all of them, or a folder with a file a rank (so that
//! `cat folder/* > file` makes the one from the other). A stream is a signature and *chunks*: a header, tables of
//! call sites and communicators as they become known, events in blocks compressed with zstd, and an end.
//!
//! [`Writer`] writes a stream to anything that can be written to; [`Reader`] reads streams one item at a time and
//! holds no more than a chunk. `docs/internals/trace-format.md` describes every byte.
//!
//! Borders of regions ([`Mark`]) stand between events, in a column of their own.
//!
//! [`walk`] follows recorded calls as MPI has them: requests from start to wait, persistent ones, which send meets
//! which receive.
//!
//! [`replace_sites`] gives the call sites of a stream their names when it has long been written.
//!
//! How an event gets below four bytes: most events repeat an earlier one at the same call site but for the time. What
//! seldom changes there (call, site, communicator, flags, which fields there are) is the *shape*, stored once and
//! then named by a number; the other fields are differences to the last event of that shape, nearly always zero.
//! Each field has a column of its own, so that zstd sees like next to like, and in the end times are all that takes
//! room.
//!
//! ```
//! use hayase_trace::{Call, Event, Header, Item, Reader, Writer};
//!
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&mut file, &Header::new(0, 2))?;
//! writer.event(&Event { peer: 1, tag: 7, bytes: 4096, ..Event::new(Call::Send, 1_000, 3_500) })?;
//! writer.finish()?;
//!
//! let mut reader = Reader::new(file.as_slice());
//! while let Some(item) = reader.next()? {
//!     if let Item::Event(event) = item {
//!         assert_eq!((event.call, event.peer, event.bytes, event.end), (Call::Send, 1, 4096, 3_500));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
pub mod callers;
mod chunk;
mod code;
mod error;
mod event;
mod header;
mod marks;
pub mod memory;
pub mod names;
mod read;
mod shape;
mod sites;
mod turns;
pub mod walk;
mod write;

pub use call::{Call, Kind};
pub use error::ReadError;
pub use event::{Communicator, Event, Flags, Frame, Mark, MessageEnd, Op, Site};
pub use header::{Clock, EXTENSION, Header, SIGNATURE};
pub use read::{Item, Reader};
pub use sites::replace_sites;
pub use write::Writer;
