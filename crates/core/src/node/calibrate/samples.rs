//! Measurements: reading them from a table, and reducing repetitions to one.

use serde::Serialize;

use crate::base::Arrange;
use crate::diagnostic::Diagnostic;
use crate::reading::Input;
use crate::reading::csv::{self, Column};
use crate::units::Time;

/// Kind of measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// A message there and back, with work between send and receive at the first rank.
    RoundTrip,
    /// A blocking send whose receive has been posted.
    Send,
    /// The time between two messages of a long train, from a rank that only sends to one that only receives.
    Interval,
    /// A send that finished before its receive was posted: S is at least this length. Without a time.
    Eager,
    /// A send that did not finish before its receive was posted, even after a long wait: S is below this
    /// length. Without a time.
    Rendezvous,
}

impl Measured {
    /// Returns true if this has no time and only tells on which side of S a length is.
    pub(super) fn has_no_time(self) -> bool {
        matches!(self, Self::Eager | Self::Rendezvous)
    }
}

/// One measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Kind of measurement.
    pub call: Measured,
    /// Length of the message \[B\].
    pub bytes: u64,
    /// Work between the send and the receive \[ps\].
    pub work: Time,
    /// Measured time \[ps\].
    pub time: Time,
}

/// Columns of a table of measured round trips.
pub const COLUMNS: [Column; 4] =
    [Column::required("bytes"), Column::required("time"), Column::optional("work"), Column::optional("call")];

/// Reads a table of measurements with the columns `bytes,work,time,call`. `work` (default 0) and `call`
/// (`round-trip`, `send`, `interval`, `eager`, `rendezvous`; default a round trip) may be missing. The last
/// two calls have no time.
///
/// # Errors
/// All mistakes, each with its place.
pub fn read(input: Input) -> Result<Vec<Sample>, Vec<Diagnostic>> {
    let mut samples = Vec::new();
    csv::read(input, &COLUMNS, |row| {
        let bytes = row.size(0);
        let work = if row.has(2) && !row.bytes(2).is_empty() { row.time(2) } else { Some(Time::ZERO) };
        let call = match row.bytes(3) {
            b"" | b"round-trip" => Some(Measured::RoundTrip),
            b"send" => Some(Measured::Send),
            b"interval" => Some(Measured::Interval),
            b"eager" => Some(Measured::Eager),
            b"rendezvous" => Some(Measured::Rendezvous),
            other => {
                let message = format!("unknown call \"{}\"", String::from_utf8_lossy(other));
                let diagnostic = Diagnostic::new("unknown-call", message);
                row.mistake(
                    3,
                    diagnostic
                        .label("`round-trip`, `send`, `interval`, `eager` or `rendezvous`")
                        .help("leave it empty for a round trip"),
                );
                None
            }
        };
        let told = call.is_some_and(Measured::has_no_time);
        let time = if told && row.bytes(1).is_empty() { Some(Time::ZERO) } else { row.time(1) };
        if time == Some(Time::ZERO) && !told {
            let diagnostic = Diagnostic::new("wrong-value", "a time of 0 cannot be a measurement");
            row.mistake(1, diagnostic.label("a time above 0").help("times are in seconds unless a unit follows"));
        }
        if let (Some(bytes), Some(time), Some(work), Some(call)) = (bytes, time, work, call) {
            if call == Measured::RoundTrip && time.ps() < 0.9 * work.ps() {
                let message = format!("a round trip of {time} with {work} of work in it");
                let diagnostic = Diagnostic::new("wrong-value", message).label("longer than the work is expected");
                row.mistake(1, diagnostic.help("the time is from the start of the send to the end of the receive"));
            }
            samples.push(Sample { call, bytes, work, time });
        }
    })?;
    Ok(samples)
}

/// Returns one measurement for each call, length and work: the one at this percentile of its repetitions.
pub(super) fn reduce(samples: &[Sample], percentile: f64) -> Vec<Sample> {
    let mut sorted = samples.to_vec();
    sorted.arrange_by_key(|sample| (sample.call, sample.bytes, sample.work, sample.time));
    let same = |a: &Sample, b: &Sample| (a.call, a.bytes, a.work) == (b.call, b.bytes, b.work);
    let pick = |group: &[Sample]| {
        let at = (group.len() - 1) as f64 * percentile.clamp(0.0, 100.0) / 100.0;
        let (below, above) = (group[at.floor() as usize], group[at.ceil() as usize]);
        // Interpolates between two repetitions.
        let part = at - at.floor();
        Sample { time: Time::from_ps(below.time.ps() * (1.0 - part) + above.time.ps() * part), ..below }
    };
    sorted.chunk_by(same).map(pick).collect()
}
