//! From files to values: bytes, compressed or not ([`Input`]), tables of CSV ([`csv`]), and TOML, each value with its
//! place (`tree`), of which the program's types are made (`typed`).
//!
//! What is wrong with them is a [`Diagnostic`](crate::diagnostic::Diagnostic) with its place.

mod columns;
pub mod csv;
mod input;
#[cfg(feature = "simulator")]
pub mod json;
#[cfg(feature = "simulator")]
pub mod names;
#[cfg(feature = "simulator")]
pub mod nulls;
#[cfg(feature = "simulator")]
pub mod tree;
#[cfg(feature = "simulator")]
pub mod typed;

pub use input::Input;

/// The name under which a type asks for one value or a list of them: a list comes to its `visit_seq`, anything else to
/// its `visit_some`. Other readers come to `visit_newtype_struct`.
pub(crate) const ONE_OR_LIST: &str = "hayase::OneOrList";
