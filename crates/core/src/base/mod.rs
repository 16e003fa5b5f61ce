//! Small helpers for all rooms.

mod arrange;
pub(crate) mod choice;
pub mod divisor;
pub mod memory;
pub mod portable;
pub(crate) mod prefetch;
pub mod threads;
pub mod wall_clock;

pub use arrange::Arrange;
