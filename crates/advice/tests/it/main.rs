//! The search and its rules, against programs made by hand.

mod common;
mod overlap;
mod together;
mod unseen;
