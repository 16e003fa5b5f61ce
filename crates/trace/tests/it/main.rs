//! The format of traces: everything written is read back.

mod memory;
mod regions;
mod stream;
