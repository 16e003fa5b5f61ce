//! Header of a stream: lines of text, so that people can read it and new lines can be added.

use std::fmt::Write;

/// First bytes of every stream. The fourth byte from the end is the version of the format.
///
/// Like PNG's, it has a byte that no text starts with and both line ends, so that a file that was copied as
/// text is recognised as damaged.
pub const SIGNATURE: [u8; 8] = *b"\x89HYT1\r\n\x1a";

/// Extension of a trace file: `rank-00012.hyt` in a folder, `lu.hyt` for all ranks at once.
pub const EXTENSION: &str = "hyt";

/// Meaning of the times of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// `begin` and `end` of every call are real time.
    #[default]
    Wall,
    /// Only the processor time between calls is known; `begin` and `end` count only that.
    Cpu,
    /// There are no times.
    None,
}

impl Clock {
    const NAMES: [(&str, Self); 3] = [("wall", Self::Wall), ("cpu", Self::Cpu), ("none", Self::None)];

    /// Returns its name in the header.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, clock)| *clock == self).map_or("none", |(name, _)| name)
    }
}

/// The header of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Rank that makes the calls, in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Meaning of the times.
    pub clock: Clock,
    /// Resolution of times \[ns\]: times are written as integer multiples of it.
    pub tick: u32,
    /// Start of the stream \[ns\] on a clock that all ranks of a machine share; 0 if unknown.
    pub start: u64,
    /// `cpu` measured for nothing \[ns\]: to be subtracted from every `cpu`.
    pub empty_gap: u64,
    /// Notes by name: `title`, `program`, `host`, `mpi`, `clock-source`.
    pub notes: Vec<(String, String)>,
}

impl Header {
    /// Creates a header with a tick of 1 ns and nothing else known.
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self { rank, ranks, clock: Clock::Wall, tick: 1, start: 0, empty_gap: 0, notes: Vec::new() }
    }

    /// Adds a note; line ends in it become blanks.
    #[must_use]
    pub fn note(mut self, name: &str, value: &str) -> Self {
        self.notes.push((name.into(), value.into()));
        self
    }

    /// Returns the note of this name.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, value) in [
            ("rank", u64::from(self.rank)),
            ("ranks", self.ranks.into()),
            ("tick_ns", self.tick.into()),
            ("start_ns", self.start),
            ("empty_gap_ns", self.empty_gap),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name} {value}");
        }
        let _ = writeln!(text, "clock {}", self.clock.name());
        for (name, value) in &self.notes {
            let name: String = name.chars().map(|c| if c.is_whitespace() { '-' } else { c }).collect();
            let value: String = value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }

    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let mut header = Self { ranks: 0, ..Self::new(u32::MAX, 0) };
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let number = || value.parse::<u64>().map_err(|_| format!("the header has {name} {value:?}, not a number"));
            let small = || u32::try_from(number()?).map_err(|_| format!("the header has {name} {value}, too large"));
            match name {
                "rank" => header.rank = small()?,
                "ranks" => header.ranks = small()?,
                "tick_ns" => header.tick = small()?,
                "start_ns" => header.start = number()?,
                "empty_gap_ns" => header.empty_gap = number()?,
                "clock" => {
                    header.clock =
                        Clock::NAMES.iter().find(|(name, _)| *name == value).map(|(_, clock)| *clock).ok_or_else(
                            || format!("the header names a clock {value:?}; there are wall, cpu and none"),
                        )?;
                }
                _ => header.notes.push((name.into(), value.into())),
            }
        }
        if header.rank >= header.ranks {
            return Err(match header.ranks {
                0 => "the header does not say how many ranks there are".into(),
                ranks if header.rank == u32::MAX => format!("the header does not say which of {ranks} ranks this is"),
                ranks => format!("the header names rank {} of {ranks}", header.rank),
            });
        }
        if header.tick == 0 {
            return Err("the header gives times a resolution of 0".into());
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_from_its_text() {
        let header = Header { tick: 8, start: 5, empty_gap: 400, clock: Clock::Cpu, ..Header::new(3, 16) }
            .note("title", "NPB lu class S")
            .note("mpi", "");
        assert_eq!(Header::from_text(&header.to_text()).as_ref(), Ok(&header));
        assert_eq!(header.find("title"), Some("NPB lu class S"));
    }

    #[test]
    fn a_header_without_its_rank_is_refused() {
        for (text, what) in [
            ("", "how many ranks"),
            ("ranks 4\n", "which of 4"),
            ("rank 4\nranks 4\n", "rank 4 of 4"),
            ("rank x\nranks 4\n", "not a number"),
            ("rank 0\nranks 99999999999\n", "too large"),
            ("rank 0\nranks 1\ntick_ns 0\n", "resolution of 0"),
            ("rank 0\nranks 1\nclock moon\n", "moon"),
        ] {
            let error = Header::from_text(text).unwrap_err();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
