//! A record of the body: function, thread, times, arguments.
//!
//! ```text
//! function u16, mask u8
//! thread u16                                           mask bit 6
//! processor time at entry and exit: u16 s, u32 ns      mask bit 2
//! real time at entry and exit: u16 s, u32 ns           mask bit 3
//! counters: number u8, each u64 at entry and exit      mask bit 7
//! arguments of the function; statuses                  mask bits 0 and 1
//! ```
//! Source: sst-dumpi, `common/iodefs.h` (`STARTREAD`, `get_statuses`), `common/dumpiio.c`.

use super::functions::{ENTER_EXIT, Function, functions};
use super::wire::Cursor;
use crate::trace::fault::{Fault, fault};

const STATUS: u8 = 3;
const CPU_TIME: u8 = 1 << 2;
const WALL_TIME: u8 = 1 << 3;
const THREAD: u8 = 1 << 6;
const COUNTERS: u8 = 1 << 7;
/// Largest number of numbers among the arguments of a function.
const NUMBERS: usize = 12;
/// Largest number of arrays among the arguments of a function.
const ARRAYS: usize = 6;
/// Nanoseconds in a second.
pub(super) const NS_PER_S: u64 = 1_000_000_000;

/// Version of the writer: major, minor, patch.
pub(super) type Version = [u8; 3];

/// Result of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Status {
    /// Size \[B\].
    pub bytes: i32,
    /// Sender, a rank of the communicator.
    pub source: i32,
    pub tag: i32,
    pub cancelled: bool,
}

/// Time at entry and at exit of a call \[ns since the second that the body names\].
pub(super) type Span = (u64, u64);

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    /// Offset in the file \[B\].
    pub at: usize,
    pub function: Function,
    pub thread: u16,
    pub cpu: Option<Span>,
    pub wall: Option<Span>,
    /// Numbers among the arguments, in order; 0 for those of 8 bytes.
    pub numbers: [i32; NUMBERS],
    /// Arrays of numbers among the arguments, in order.
    pub arrays: [Vec<i32>; ARRAYS],
    pub statuses: Vec<Status>,
}

/// Reader of the records of a body. Memory: that of the largest record.
#[derive(Debug)]
pub(super) struct Records<'a> {
    pub cursor: Cursor<'a>,
    functions: Vec<Function>,
    version: Version,
    /// Number of the function that ends a stream, if it is known.
    end: Option<u16>,
    record: Record,
    /// Seconds at the last exit, of each clock: the 16 bits of a time wrap around.
    seconds: [u64; 2],
}

impl<'a> Records<'a> {
    /// Starts after the times of the body. `end`: number of the function that ends the stream.
    pub fn new(cursor: Cursor<'a>, version: Version, end: Option<u16>) -> Self {
        let record = Record {
            at: 0,
            function: ENTER_EXIT[0],
            thread: 0,
            cpu: None,
            wall: None,
            numbers: [0; NUMBERS],
            arrays: Default::default(),
            statuses: Vec::new(),
        };
        Self { cursor, functions: functions(), version, end, record, seconds: [0; 2] }
    }

    /// Returns the next record; `None` at the end of the stream.
    pub fn next(&mut self) -> Result<Option<&Record>, Fault> {
        let at = self.cursor.at;
        // A body with a known end has no mark there.
        if self.end.is_some() && self.cursor.left() == 0 {
            return Ok(None);
        }
        let number = self.cursor.u16()?;
        let first = self.end.map_or(self.functions.len() + 1, |end| usize::from(end.saturating_sub(2)));
        let function = match usize::from(number) {
            number if number == first + 2 => return Ok(None),
            number if number >= first && number < first + 2 => ENTER_EXIT[number - first],
            number => match self.functions.get(number) {
                Some(function) if function.arguments != "?" => *function,
                _ => return fault(at as u64, format!("function {number} is none of those that have records")),
            },
        };
        let mask = self.cursor.u8()?;
        self.record.at = at;
        self.record.function = function;
        self.record.thread = if mask & THREAD != 0 { self.cursor.u16()? } else { 0 };
        self.record.cpu = if mask & CPU_TIME != 0 { Some(self.span(0)?) } else { None };
        self.record.wall = if mask & WALL_TIME != 0 { Some(self.span(1)?) } else { None };
        if mask & COUNTERS != 0 {
            let count = usize::from(self.cursor.u8()?);
            self.cursor.take(16 * count, "the counters")?;
        }
        self.arguments(function.arguments, mask & STATUS != 0)?;
        Ok(Some(&self.record))
    }

    /// Takes the times at entry and exit on a clock.
    fn span(&mut self, clock: usize) -> Result<Span, Fault> {
        let begin = self.time(clock)?;
        Ok((begin, self.time(clock)?))
    }

    fn time(&mut self, clock: usize) -> Result<u64, Fault> {
        let low = u64::from(self.cursor.u16()?);
        let at = self.cursor.at;
        let ns = u64::from(self.cursor.u32()?);
        if ns >= NS_PER_S {
            return fault(at as u64, format!("a time has {ns} ns, and a second has fewer than {NS_PER_S}"));
        }
        // The second nearest to the last one.
        let last = &mut self.seconds[clock];
        let base = (*last & !0xffff) | low;
        let near = match base.abs_diff(*last) > 0x8000 {
            true if base < *last => base + 0x1_0000,
            true => base.saturating_sub(0x1_0000).max(low),
            false => base,
        };
        *last = near;
        Ok(near * NS_PER_S + ns)
    }

    fn arguments(&mut self, letters: &str, has_statuses: bool) -> Result<(), Fault> {
        let Self { cursor, record, version, .. } = self;
        let (mut number, mut array, mut ranks, mut skips) = (0, 0, [0; 2], false);
        record.numbers = [0; NUMBERS];
        record.arrays.iter_mut().for_each(Vec::clear);
        record.statuses.clear();
        for letter in letters.bytes() {
            if letter == b')' {
                skips = false;
            }
            if skips {
                continue;
            }
            // An array of these versions is a single number in older ones.
            let letter = match letter {
                b'v' if *version >= [0, 6, 9] => b'I',
                b'w' if *version >= [0, 6, 8] => b'I',
                b'v' | b'w' => b'i',
                b'x' if *version < [0, 6, 2] => b'e',
                letter => letter,
            };
            match letter {
                b'i' | b'h' | b'b' | b'l' | b'a' | b'r' => {
                    let value = match letter {
                        b'h' => i32::from(cursor.u16()?),
                        b'b' => i32::from(cursor.u8()?),
                        b'l' => cursor.u64().map(|_| 0)?,
                        _ => cursor.i32()?,
                    };
                    match letter {
                        b'a' => ranks[0] = value,
                        b'r' => ranks[1] = value,
                        _ => {}
                    }
                    record.numbers[number] = value;
                    number += 1;
                }
                b'(' => skips = ranks[0] != ranks[1],
                b'I' | b'H' => {
                    let width = if letter == b'I' { 4 } else { 2 };
                    let count = cursor.count(width)?;
                    record.arrays[array].reserve(count);
                    for _ in 0..count {
                        let value = if width == 4 { cursor.i32()? } else { cursor.u16()?.into() };
                        record.arrays[array].push(value);
                    }
                    array += 1;
                }
                b'J' => {
                    for _ in 0..cursor.count(4)? {
                        for _ in 0..cursor.count(4)? {
                            record.arrays[array].push(cursor.i32()?);
                        }
                    }
                    array += 1;
                }
                b'B' => text(cursor)?,
                b'S' => texts(cursor)?,
                b'Z' => {
                    for _ in 0..cursor.count(4)? {
                        texts(cursor)?;
                    }
                }
                b'A' => {
                    for _ in 0..record.numbers[0].max(0) {
                        text(cursor)?;
                    }
                }
                b'e' => drop(cursor.i32()?),
                b's' if has_statuses => {
                    // The tag was added in version 0.6.3.
                    let has_tag = *version >= [0, 6, 3];
                    for _ in 0..cursor.count(if has_tag { 14 } else { 10 })? {
                        let (bytes, source) = (cursor.i32()?, cursor.i32()?);
                        let cancelled = cursor.u8()? != 0;
                        cursor.u8()?;
                        let tag = if has_tag { cursor.i32()? } else { -1 };
                        record.statuses.push(Status { bytes, source, tag, cancelled });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Skips an array of bytes.
fn text(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let count = cursor.count(1)?;
    cursor.take(count, "a text").map(drop)
}

/// Skips an array of arrays of bytes.
fn texts(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    for _ in 0..cursor.count(4)? {
        text(cursor)?;
    }
    Ok(())
}
