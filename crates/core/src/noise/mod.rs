//! Slow processors: noise, which stops processors now and then, and stragglers, which compute more slowly.
//!
//! Tables describe both ([`NoiseSpec`], [`StragglerSpec`]). [`Slow`] is their effect on a number of ranks.
//! [`Processors`] answers the only question asked during a run: when does a rank end work that it begins now?
//! Players of ranks ask it, or add the time of the work if no processor is slow.
//!
//! The random numbers of a stop depend only on the seed, the rank and the number of the stop, so not on other
//! events. Work never ends earlier for a later beginning or for more work.

mod numbers;
mod processors;
mod slow;
mod spec;
#[cfg(test)]
mod tests;

pub use numbers::Numbers;
pub use processors::{Added, Processors, Work};
pub use slow::{NoiseContext, Slow};
pub use spec::{Distribution, NoiseSpec, NoiseTables, Phase, Speed, StragglerSpec};
