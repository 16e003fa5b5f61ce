//! Reports of advice on an MPI program: one self-contained web page, and SARIF for editors.
//!
//! Advice is only worth as much as its reader can check. So the page shows each piece on its source lines,
//! with the computation that it can overlap and the obstacles to more. Beside it the page shows the run: the
//! timeline of every rank, every message, and the cost of each line. [`PageData`] holds the contents of the
//! page; [`page`] writes it into one HTML file that loads nothing else. [`sarif`] writes the same findings as
//! a log that editors and code hosts show on the lines.
//!
//! The search for advice has a model of its own, made for programs that change and simulate; [`Finding::of`]
//! and [`Rule::of`] put it into words for the page. A run comes from a simulation, span by span, or is
//! [`recorded`].
//!
//! **How a million events stay fluid.** [`Run`] takes spans and messages one at a time and keeps a few bytes
//! of each. The page holds them packed (seven bits a byte, in base64). It draws spans smaller than a pixel as
//! the shares of a column, from running sums. Longer runs are thinned while they are read, and again until
//! the page has five megabytes at most. The statistics stay complete, and so do calls that advice
//! [names](Run::name). So memory and page are bounded for runs of any length.
//!
//! ```
//! use hayase_advice_page::{Activity, Message, PageData, Run, Span};
//!
//! let mut run = Run::new(2);
//! let line = run.place("ring.c", 12);
//! run.span(0, Span { place: line, event: Some(0), call: "Send".into(), ..Span::new(Activity::Send, 0, 900) });
//! run.span(1, Span { place: line, event: Some(0), call: "Recv".into(), ..Span::new(Activity::Receive, 0, 1_500) });
//! run.message(&Message { bytes: 4096, from_place: line, to_place: line, ..Message::new(0, 1, 0, 1_500) });
//!
//! let mut html = Vec::new();
//! hayase_advice_page::page(&PageData { program: "ring".into(), ..PageData::new(run) }, &mut html)?;
//! assert!(html.starts_with(b"<!doctype html>"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod advice;
mod data;
mod fit;
mod html;
mod pack;
mod recorded;
mod regions;
mod run;
mod sarif;
mod sources;
mod span;
mod tables;
mod totals;

pub use hayase_advice::unit::Unit;

pub use data::{Certainty, Detail, Finding, Gain, Mark, PageData, Role, Rule, Source, Together};
pub use html::page;
pub use recorded::recorded;
pub use run::Run;
pub use sarif::{Level, sarif};
pub use span::{Activity, Message, PlaceId, Span};
