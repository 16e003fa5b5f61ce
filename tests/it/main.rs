//! Tests of the program and the library as their users see them, a module for each concern.

#![allow(missing_docs)]

mod cli;
