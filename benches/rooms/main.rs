//! Benchmarks by room: sharing policies, queues and routes alone.
//!
//! `cargo bench` runs all, `cargo bench -- sharing/max-min` those with this in their names; whole messages are in
//! `crates/bench/benches`. They
//! are for comparing two versions of the code (`-- --save-baseline before`, then `-- --baseline before`); figures to
//! show are those of `hayase bench`.

mod queues;
mod routing;
mod sharing;

// The queues are private to their rooms and included by `queues`; what they use of other rooms is found here.
use hayase::{ids, rng, units};

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, sharing::sharing, queues::queues, routing::routing);
criterion_main!(benches);
