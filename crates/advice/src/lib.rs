//! Where an MPI program can improve: found in what it did, said about its source.
//!
//! A run is a folder of streams (what each rank called, [`hayase_trace`]) and, if the program was instrumented, of
//! accesses (what it read and wrote in between, [`hayase_trace::memory`]). [`search::search`] reads it and returns
//! [`model::Advice`]: findings, each with its places in the source, what stands in the way, how sure it is, and the
//! change of the program's calls that follows from it. This crate knows no simulator; what a change is worth, a
//! simulation of the changed program says.
//!
//! Each rank goes by once as a sequence of [`stream::Step`]s, computation and then a call:
//! * [`accesses`], [`address`]: what was accessed, and questions about it that are answered without expanding loops;
//! * [`calls`]: what a call reads, writes, and must stay behind;
//! * [`watch`], [`past`], [`overlap`]: how far each communication could be spread, by the buffers in use;
//! * [`merge`], [`rounds`]: calls that could be one, messages that may be a pattern, as far as one rank can tell.
//!
//! Then all ranks are walked together ([`walk`]): which send met which receive, and who waited for whom ([`waits`]).
//! What the ranks say is put together by the rules ([`mod@rules`], one file each, with the text for users), and folded
//! by place ([`fold`]).
//!
//! `docs/concepts/advice.md` says what each rule finds and cannot see.

pub mod accesses;
pub mod address;
pub mod calls;
pub mod doubts;
pub mod fold;
pub mod lines;
pub mod merge;
pub mod model;
mod options;
pub mod overlap;
pub mod past;
pub mod rounds;
pub mod rules;
pub mod search;
pub mod stream;
pub mod unit;
pub mod waits;
pub mod walk;
pub mod watch;
pub mod within;
