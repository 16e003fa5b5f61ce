//! What slows the processors of ranks: noise, which stops them now and then, and stragglers, which are slower.
//!
//! A table says it ([`NoiseSpec`], [`StragglerSpec`]), [`Slow`] is what that comes to for so many ranks, and
//! [`Processors`] answers the only question that is asked while a run goes on: when does this rank end, if it begins so
//! much work now? Whoever plays ranks asks it, or adds the work to the time where nothing is slow.
//!
//! What is drawn for a stop depends on the seed, the rank and the number of the stop alone, so not on what else
//! happens. The end of work never comes earlier for a later beginning or for more work.

mod numbers;
mod processors;
mod slow;
mod spec;
#[cfg(test)]
mod tests;

pub use numbers::Numbers;
pub use processors::{Added, Processors, Work};
pub use slow::{Ground, Slow};
pub use spec::{Distribution, NoiseSpec, NoiseTables, Phase, Speed, StragglerSpec};
