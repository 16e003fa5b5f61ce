//! Tests of the search and its rules on handmade programs.

mod common;
mod overlap;
mod together;
mod unseen;
