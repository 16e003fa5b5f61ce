//! From files to values: bytes, compressed or not ([`Input`]), tables of CSV ([`csv`]), and TOML, each value with its
//! place (`tree`), of which the program's types are made (`typed`).
//!
//! What is wrong with them is a [`Diagnostic`](crate::diagnostic::Diagnostic) with its place.

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

/// The name under which a type asks for one value or a list of them: a list comes to its `visit_seq`, anything else to
/// its `visit_some`. Other readers come to `visit_newtype_struct`.
pub(crate) const ONE_OR_LIST: &str = "hayase::OneOrList";

/// Reads a value from a TOML text as scenarios are read.
#[cfg(all(test, feature = "simulator"))]
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, typed::Mismatch> {
    let (table, mistakes) = tree::parse(text, 0);
    assert!(mistakes.is_empty(), "{text}");
    typed::typed(&tree::Tree { kind: tree::Kind::Table(table), span: crate::diagnostic::Span::new(0, text.len()) })
}
