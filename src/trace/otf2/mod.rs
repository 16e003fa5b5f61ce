//! OTF2 archives: the events of each location with their times, and the definitions that they refer to.
//!
//! ```text
//! NAME.otf2      anchor: "OTF2", version, sizes of chunks, numbers of locations and definitions
//! NAME.def       definitions: clock, strings, regions, locations, groups, communicators
//! NAME/N.evt     events of location N, in chunks of one size with the times in between
//! NAME/N.def     corrections of its clock, and its own numbers of regions and communicators
//! ```
//! A region of MPI is a call, with the records inside it. All time outside such regions is computation. The records of
//! a receive and of a non-blocking collective stand where it completes, so a file of events is read twice. All files
//! are read once before, for the sums of collectives whose blocks have different sizes.
//!
//! Source: the OTF2 library 3.0 (vi-hps.org), files `OTF2_Buffer.c`, `OTF2_AnchorFile.c`, `OTF2_EvtReader_inc.c`,
//! `OTF2_GlobalDefReader_inc.c` and `OTF2_DefReader_inc.c`; sizes of collectives as Score-P records them.

mod anchor;
mod call;
mod clock;
mod definitions;
mod file;
mod joint;
mod layout;
mod rank;
mod read;
mod sizes;
#[cfg(test)]
mod tests;
mod write;

pub(in crate::trace) use anchor::is_anchor;
pub use read::{files, read};
pub use write::{Archive, ToArchive};

/// Extension of the anchor file.
pub const EXTENSION: &str = "otf2";
