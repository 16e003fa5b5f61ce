//! Slots and routes of an exchange in which each link carries one message at a time.

mod attempt;
mod colour;
mod messages;
mod pack;

pub use colour::colour_round;
pub use messages::Messages;
pub use pack::{Effort, Slots, bytes_needed, pack};

#[cfg(test)]
mod tests;
