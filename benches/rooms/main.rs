//! Benchmarks by room: sharing policies, queues and routes alone.
//!
//! `cargo bench -p hayase-benches --bench rooms` runs all, with `-- sharing/max-min` behind it those with this in their
//! names; whole messages are in `messages.rs`. They are for comparing two versions of the code (`-- --save-baseline
//! before`, then `-- --baseline before`); figures to show are those of `hayase bench`.

#[path = "../../crates/core/src/base/prefetch.rs"]
mod prefetch;
mod queues;
mod routing;
mod sharing;

// The queues are private to their rooms and included by `queues`; what they use of other rooms is found here.
mod base {
    pub(crate) use super::prefetch;
}
use hayase::{ids, rng, units};

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, sharing::sharing, queues::queues, routing::routing);
criterion_main!(benches);
