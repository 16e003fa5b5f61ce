//! Protocol from rank 0 to the process that started it: lines of JSON on standard output, each after a mark.
//!
//! Launchers pass standard output on from any host and need no shared folder for it. Other lines (libraries
//! print there too) are not part of it and are shown to the user.

use serde::{Deserialize, Serialize};

/// Begin of each line of the protocol.
const MARK: &str = "@hayase-measure ";

/// A line of the protocol.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// Description of the pair, before everything else.
    Pair {
        /// Name and version of the MPI library.
        mpi: String,
        /// Host of each rank.
        hosts: Vec<String>,
        /// Processor of rank 0.
        processor: String,
        /// Cost of reading the clock \[ns\].
        clock_ns: f64,
    },
    /// S: the largest message that does not wait for its receiver; `None` if no measured one waits.
    Eager {
        /// S \[B\].
        limit: Option<u64>,
    },
    /// Progress, from 0 to 1.
    Done(f64),
    /// Repetitions of one measurement.
    Times(Times),
    /// The benchmark cannot continue.
    Failed {
        /// Reason.
        message: String,
        /// Remedy.
        help: String,
    },
    /// Everything has been measured.
    End,
}

/// Kind of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasurementKind {
    /// A message there and back.
    RoundTrip,
    /// A blocking send whose receive is posted.
    Send,
    /// A receive whose message, or above S its request, is there.
    Late,
}

/// Repetitions of one measurement. Lines of the same measurement belong together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    /// Kind of the measurement.
    pub kind: MeasurementKind,
    /// Size of the message \[B\].
    pub bytes: u64,
    /// Work between send and receive of a round trip \[ns\].
    pub work_ns: f64,
    /// Time of each repetition \[ns\].
    pub ns: Vec<f64>,
}

impl Message {
    /// Returns the message as a line, with its end.
    pub fn to_line(&self) -> String {
        // Plain data: all its keys are texts.
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{MARK}{json}\n")
    }

    /// Reads a line; `None` if it is not part of the protocol.
    pub fn from_line(line: &str) -> Option<Self> {
        serde_json::from_str(line.trim_end().split_once(MARK)?.1).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_and_others_are_left_alone() {
        let times = Message::Times(Times { kind: MeasurementKind::Late, bytes: 8, work_ns: 0.0, ns: vec![1.5, 2.0] });
        for message in [times, Message::Eager { limit: None }, Message::End] {
            assert_eq!(Message::from_line(&message.to_line()), Some(message));
        }
        // Some launchers put the rank before each line.
        assert_eq!(Message::from_line(&format!("[0] {}", Message::End.to_line())), Some(Message::End));
        assert_eq!(Message::from_line("Warning: no InfiniBand"), None);
        assert_eq!(Message::from_line("@hayase-measure {"), None);
    }
}
