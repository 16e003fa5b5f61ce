//! Files that are opened and read: bytes, compressed or not ([`Input`]), and tables of them ([`csv`]).
//!
//! What is wrong with them is a [`Diagnostic`](crate::diagnostic::Diagnostic) with its place.

pub mod csv;
mod input;

pub use input::Input;
