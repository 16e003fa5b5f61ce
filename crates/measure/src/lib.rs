//! Measurement of a network: the time of messages between two processes of a real MPI.
//!
//! The benchmark is Hayase itself. The user's launcher starts it twice (`mpirun -np 2 hayase measure-agent`).
//! It loads the MPI library of that launcher at run time ([`hayase_mpi`]) and needs neither a compiler nor
//! the header of that MPI. Rank 0 leads: it gives rank 1 its orders, measures, and writes the measurements as
//! lines on its standard output ([`protocol`]). The launcher brings them back to the process that started it
//! all.
//!
//! Measurements ([`agent`]):
//! * **S without a clock.** Rank 0 starts a send for which no receive is posted, exchanges words with rank 1 and tests
//!   the send. It is complete if the message is eager, and never if it waits for its receiver. A binary search finds S
//!   to the byte.
//! * **Round trips** without work and with work that hides the message, for sizes of an interval ([`sizes`]) and on
//!   both sides of S; half a round trip is the time of a message, T_comm. **Sends** whose receive is posted, and **late
//!   receives** whose message is there already.
//! * Each size in several rounds, in another order each time, so that a disturbance hits few repetitions of many sizes
//!   and not all of one; then a low percentile counts.
//!
//! Results ([`analysis`]): the table, straight lines through it, and the parameters of LogGPS with intervals.
//! If the processor copies the message (between processes of one host), the copy cannot be hidden behind
//! work, and L and G cannot be separated from the overheads: the results then say so instead of giving a
//! number.
//!
//! Source: Ino, Fujimoto, Hagihara: LogGPS, section 4.2; Horii, Iwabuchi, Yamana: MPIETE, section 3.1.2.

#![cfg(target_os = "linux")]

pub mod agent;
pub mod analysis;
pub mod launcher;
mod pair;
pub mod protocol;
pub mod sizes;

use serde::{Deserialize, Serialize};

pub use sizes::{Increment, Sizes};

/// Plan of the measurements.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Sizes of the messages.
    pub sizes: Sizes,
    /// Approximate duration of the measurements \[s\].
    pub seconds: f64,
}

impl Default for Plan {
    fn default() -> Self {
        Self { sizes: Sizes::default(), seconds: 10.0 }
    }
}
