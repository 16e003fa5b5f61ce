//! The format of traces: what is written is read again.

mod memory;
mod regions;
mod stream;
