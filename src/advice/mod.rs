//! Where a program can improve: what may change places without changing what is computed.
//!
//! [`dependence`] answers which accesses of a loop touch the bytes of a message or those of another loop.
//!
//! Source: Gordini, section 4 (output, flow and anti dependence between events).

pub mod dependence;
