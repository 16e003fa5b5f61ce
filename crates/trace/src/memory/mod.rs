//! Memory accesses of a program between its MPI calls, as nests of affine runs: exact in address and in
//! order.
//!
//! An *interval* is the time of a rank between two recorded calls: interval `n` lies before the call with
//! index `n` of the rank's stream and after the previous call. Accesses are numbered from 0 within an
//! interval, in the order in which they happened: that number is the *position*. A *site* is an instruction
//! that accesses memory.
//!
//! A loop touches addresses and positions that are affine functions of its index. So one [`Nest`] holds all
//! accesses of a nest of loops at one site, with `count_d`, `stride_d` \[B\] and `step_d` of each level `d`:
//! ```text
//! address(i_0, i_1, ...)  = base  + sum_d i_d stride_d
//! position(i_0, i_1, ...) = first + sum_d i_d step_d        0 <= i_d < count_d
//! ```
//! where level 0 is the innermost. Accesses that are affine in position but not in address (`x[column[k]]`)
//! are a [`Gather`]. Expanded, nests and gathers of an interval give every access once and no other.
//!
//! **Loops.** The index `i` of a [`Run`] counts executions of one source line. So "iterations 1 to 500 of 1000 of line
//! 15" are the runs of the sites of that line from index 0 to 499.
//!
//! [`Folder`] makes nests from runs, [`Writer`] and [`Reader`] keep them in a file (`rank-00012.mem`,
//! `docs/internals/trace-format.md`).
//!
//! ```
//! use hayase_trace::memory::{Item, Level, Nest, Reader, Site, Sink, Writer};
//!
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&mut file, &[("program", "./a.out")])?;
//! let site = writer.site(&Site { address: 0x401136, write: true, ..Site::default() });
//! // A hundred doubles in a row, each the third access of its iteration.
//! writer.nest(&Nest::new(site, 8, 0x7f00_0000, 2, &[Level { count: 100, stride: 8, step: 3 }]))?;
//! writer.interval(1)?;
//! writer.finish(Default::default())?;
//!
//! let mut reader = Reader::new(file.as_slice());
//! while let Some(item) = reader.next()? {
//!     if let Item::Nest(nest) = item {
//!         let last = nest.runs().next().and_then(|run| run.access(99));
//!         assert_eq!(last, Some((0x7f00_0000 + 99 * 8, 2 + 99 * 3)));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fold;
mod interval;
mod nest;
mod read;
mod write;

pub use fold::{Folder, SHORT, Sink};
pub use interval::{Interval, Intervals};
pub use nest::{AccessKind, DEPTH, EXTENSION, Gather, Level, Nest, Run, SIGNATURE, Site, Totals};
pub use read::{Item, Reader};
pub use write::Writer;
