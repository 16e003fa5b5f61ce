//! Small helpers of all rooms.

pub(crate) mod choice;
pub mod divisor;
pub mod memory;
pub mod portable;
pub(crate) mod prefetch;
pub mod threads;
pub mod wall_clock;
