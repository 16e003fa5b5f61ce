//! Benchmarks of single rooms: sharing policies, queues, routes and best possible times.
//!
//! `cargo bench -p hayase-benches --bench rooms` runs all of them; `-- sharing/max-min` after it selects
//! those with this text in their names. Whole messages are in `messages.rs`. The purpose is to compare two
//! versions of the code (`-- --save-baseline before`, then `-- --baseline before`); figures to publish are
//! those of `hayase bench`.

mod optimum;
#[path = "../../crates/core/src/base/prefetch.rs"]
#[allow(dead_code, reason = "the queues do not use all of it")]
mod prefetch;
mod queues;
mod routing;
mod sharing;

// The queues are private to their rooms and included by `queues`. These modules have the items that they use of other
// rooms.
mod base {
    pub(crate) use super::prefetch;
}
use hayase::{ids, rng, units};

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, sharing::sharing, queues::queues, routing::routing, optimum::optimum);
criterion_main!(benches);
