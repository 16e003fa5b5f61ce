//! Tests of the whole: one binary, one module a concern.

mod documents;
mod layers;
