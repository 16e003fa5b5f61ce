//! Chakra execution traces: the nodes of each rank with their dependences, in protocol buffers.
//!
//! ```text
//! file     { varint length, GlobalMetadata } { varint length, Node }*      one a rank, PREFIX.RANK.et, maybe gzipped
//! Node     id 1, name 2, type 3, ctrl_deps 4*, data_deps 5*, duration_micros 7, inputs 8, attr 10*
//! ```
//! A node becomes one operation of a graph: computation and memory a calculation, by recorded time or by rates;
//! collectives calls of their process groups; sends and receives messages. Device, host and communication are
//! processors of their own, and so is each further stream and thread.
//!
//! The wire format is read by hand, since only ten fields of two messages have a meaning here.
//!
//! Source: `et_def.proto` of Chakra (MLCommons); S. Sridharan et al., "Chakra: advancing performance benchmarking and
//! co-design using standardized execution traces", 2023.

mod dependences;
pub(super) mod files;
mod groups;
mod ignored;
mod kinds;
mod node;
mod rank;
mod read;
mod wire;
mod write;

pub use files::is_prefix;
pub use kinds::Rules;
pub use read::read;
pub use write::write;
