//! From files to values: bytes, compressed or not ([`Input`]); tables in CSV ([`csv`]); and TOML, as trees in
//! which each value has its place (`tree`), from which the program's types are read (`typed`).
//!
//! Mistakes are [`Diagnostic`](crate::diagnostic::Diagnostic)s with their places.

mod columns;
pub mod csv;
mod input;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod json;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod names;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod nulls;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod tree;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod typed;
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod whole;

pub use input::Input;

/// Name of the newtype struct under which a type asks for one value or a list of values. A list goes to its
/// `visit_seq`, any other value to its `visit_some`. Other readers call `visit_newtype_struct`.
pub(crate) const ONE_OR_LIST: &str = "hayase::OneOrList";

/// Reads a value from a TOML text in the same way as scenarios.
#[cfg(all(test, feature = "simulator"))]
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, typed::Mismatch> {
    let (table, mistakes) = tree::parse(text, 0);
    assert!(mistakes.is_empty(), "{text}");
    typed::typed(&tree::Tree { kind: tree::Kind::Table(table), span: crate::diagnostic::Span::new(0, text.len()) })
}
