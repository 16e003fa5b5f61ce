//! From files to values: bytes, compressed or not ([`Input`]), tables of CSV ([`csv`]), and TOML, each value with its
//! place (`tree`), of which the program's types are made (`typed`).
//!
//! What is wrong with them is a [`Diagnostic`](crate::diagnostic::Diagnostic) with its place.

pub mod csv;
mod input;
pub(crate) mod names;
pub(crate) mod tree;
pub(crate) mod typed;

pub use input::Input;
