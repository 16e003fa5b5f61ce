//! Benchmarks: the cost of a simulated message on this machine.
//!
//! [`loads`] lists all loads, each under a name such as `fat-tree-3456/random/max-min`. [`Load::measure`]
//! runs one once, to its end or over a window of messages. [`growth`] fits the growth of costs with the
//! number of nodes. The figures are plain data ([`hayase::report::Benchmark`]).
//!
//! ```
//! use hayase_bench::{Length, loads};
//!
//! let load = loads().into_iter().find(|load| load.name() == "fat-tree-54/random/max-min").unwrap();
//! let run = load.measure(Length::Usual, None).unwrap().unwrap();
//! assert_eq!(run.messages, 54 * 53);
//! ```

mod clock;
mod growth;
mod loads;
mod machine;
mod measure;
#[cfg(test)]
mod tests;

pub use growth::growth;
pub use loads::{Load, Tier, loads};
pub use machine::machine;
pub use measure::Length;
