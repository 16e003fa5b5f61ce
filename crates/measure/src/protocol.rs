//! What rank 0 tells the process that started it: lines of JSON on standard output, each behind a mark.
//!
//! Launchers pass standard output on from any host and need no shared folder for it. Other lines (libraries say things
//! there too) are no part of it and are shown to the user.

use serde::{Deserialize, Serialize};

/// What a line of ours begins with.
const MARK: &str = "@hayase-measure ";

/// One line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// Who measures: first of all.
    Pair {
        /// Name and version of the MPI library.
        mpi: String,
        /// The host of each rank.
        hosts: Vec<String>,
        /// The processor of rank 0.
        processor: String,
        /// What reading the clock takes \[ns\].
        clock_ns: f64,
    },
    /// S: the largest message that does not wait for its receiver; none if every measured one goes without.
    Eager {
        /// S \[B\].
        limit: Option<u64>,
    },
    /// How far it is, from 0 to 1.
    Done(f64),
    /// Repetitions of one measurement.
    Times(Times),
    /// It cannot go on.
    Failed {
        /// Why.
        message: String,
        /// What to do.
        help: String,
    },
    /// All has been measured.
    End,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A message there and back.
    RoundTrip,
    /// A blocking send whose receive is posted.
    Send,
    /// A receive whose message, or above S its request, is there.
    Late,
}

/// Repetitions of one measurement, and those of several such lines belong together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    /// What is measured.
    pub kind: Kind,
    /// Size of the message \[B\].
    pub bytes: u64,
    /// Work between send and receive of a round trip \[ns\].
    pub work_ns: f64,
    /// How long each repetition took \[ns\].
    pub ns: Vec<f64>,
}

impl Message {
    /// As a line, with its end.
    pub fn to_line(&self) -> String {
        // Plain data: it has no keys that are no texts.
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{MARK}{json}\n")
    }

    /// Reads a line; none if it is none of ours.
    pub fn from_line(line: &str) -> Option<Self> {
        serde_json::from_str(line.trim_end().split_once(MARK)?.1).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_and_others_are_left_alone() {
        let times = Message::Times(Times { kind: Kind::Late, bytes: 8, work_ns: 0.0, ns: vec![1.5, 2.0] });
        for message in [times, Message::Eager { limit: None }, Message::End] {
            assert_eq!(Message::from_line(&message.to_line()), Some(message));
        }
        // Some launchers put the rank before each line.
        assert_eq!(Message::from_line(&format!("[0] {}", Message::End.to_line())), Some(Message::End));
        assert_eq!(Message::from_line("Warning: no InfiniBand"), None);
        assert_eq!(Message::from_line("@hayase-measure {"), None);
    }
}
