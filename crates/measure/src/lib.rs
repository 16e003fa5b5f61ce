//! Measuring a network: how long messages take between two processes of a real MPI.
//!
//! The benchmark is Hayase itself. It is started twice by the launcher that the user names (`mpirun -np 2 hayase
//! measure-agent`), loads the MPI library of that launcher at run time ([`hayase_mpi`]) and needs neither a compiler
//! nor the header of that MPI. Rank 0 leads: it tells rank 1 what to do, measures, and writes what it measured as lines
//! on its standard output ([`protocol`]), which the launcher brings back to the process that started it all.
//!
//! What is measured ([`agent`]):
//! * **S without a clock.** Rank 0 starts a send for which no receive is posted, exchanges words with rank 1 and asks
//!   whether it is done: it is if the message is eager, and never if it waits for its receiver. A binary search finds S
//!   to the byte.
//! * **Round trips** without work and with work that hides the message, for sizes of an interval ([`sizes`]) and on
//!   both sides of S; half a round trip is the time of a message, T_comm. **Sends** whose receive is posted, and **late
//!   receives** whose message is there already.
//! * Each size in several rounds, in another order each time, so that a disturbance hits few repetitions of many sizes
//!   and not all of one; then a low percentile counts.
//!
//! What is made of it ([`analysis`]): the table, straight lines through it, and the parameters of LogGPS with
//! intervals. Where the processor copies the message (between processes of one host), it cannot be hidden behind work,
//! and L and G cannot be told from the overheads: that is then said instead of a number.
//!
//! Source: Ino, Fujimoto, Hagihara: LogGPS, section 4.2; Horii, Iwabuchi, Yamana: MPIETE, section 3.1.2.

#[cfg(unix)]
pub mod agent;
pub mod analysis;
pub mod launcher;
#[cfg(unix)]
mod pair;
pub mod protocol;
pub mod sizes;

use serde::{Deserialize, Serialize};

pub use sizes::{Increment, Sizes};

/// What is to be measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Messages of these sizes.
    pub sizes: Sizes,
    /// About how long measuring may take \[s\].
    pub seconds: f64,
}

impl Default for Plan {
    fn default() -> Self {
        Self { sizes: Sizes::default(), seconds: 10.0 }
    }
}
