//! Traces of MPI programs: the calls of each rank, with their times, partners and sizes.
//!
//! A trace is a sequence of *streams*, one for each rank: one file with all of them, or a folder with a file
//! for each rank (so that `cat folder/* > file` makes the one from the other). A stream is a signature and
//! *chunks*: a header, tables of call sites and communicators as they become known, events in blocks
//! compressed with zstd, and an end.
//!
//! [`Writer`] writes a stream to any output; [`Reader`] reads streams one item at a time and holds no more
//! than a chunk. `docs/internals/trace-format.md` describes every byte.
//!
//! Borders of regions ([`Mark`]) stand between events, in a column of their own.
//!
//! [`walk`] follows recorded calls by the rules of MPI: requests from start to wait, persistent requests, and
//! the matching of sends and receives.
//!
//! [`replace_sites`] gives the call sites of a finished stream their names.
//!
//! An event takes less than four bytes, because most events repeat an earlier one at the same call site
//! except for the time. The fields that seldom change there (call, site, communicator, flags, the set of
//! fields) are the *shape*, stored once and then named by a number. The other fields are differences to the
//! last event of that shape, nearly always zero. Each field has a column of its own, so that zstd sees
//! similar values side by side. In the end only times take space.
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

#[cfg(target_family = "wasm")]
extern crate hayase_zstd as zstd;

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

pub use call::{Call, CallKind};
pub use error::ReadError;
pub use event::{Communicator, Event, Flags, Frame, Mark, MessageEnd, Op, Site};
pub use header::{Clock, EXTENSION, Header, SIGNATURE};
pub use read::{Item, Reader};
pub use sites::replace_sites;
pub use write::Writer;
