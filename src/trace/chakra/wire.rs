//! The wire format of protocol buffers: messages with their lengths in front, and the fields of a message.
//!
//! Nothing is reserved because a length claims it: a message is read in steps, and everything in it is a part of the
//! bytes that are there. All offsets count from the start of the file, after decompression.

use std::io::Read;

use crate::reading::Input;
use crate::trace::fault::{Fault, fault};

/// Longest message \[B\]. The first message of some files holds the description of a whole algorithm.
const LONGEST: u64 = 256 << 20;
/// Bytes that are read at once \[B\].
const STEP: usize = 1 << 18;

/// Messages of a file, one after the other.
pub(super) struct Frames {
    input: Input,
    buffer: Vec<u8>,
    /// Begin of the next message in the buffer, and end of the bytes read.
    next: usize,
    filled: usize,
    /// Offset of the buffer in the file.
    base: u64,
}

impl Frames {
    pub fn new(input: Input) -> Self {
        Self { input, buffer: vec![0; STEP], next: 0, filled: 0, base: 0 }
    }

    /// Returns the next message; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Message<'_>>, Fault> {
        self.fill(10)?;
        let at = self.base + self.next as u64;
        let head = &self.buffer[self.next..self.filled];
        if head.is_empty() {
            return Ok(None);
        }
        let mut length = Message { bytes: head, next: 0, base: at };
        let count = length.varint()?;
        let begin = self.next + length.next;
        if count > LONGEST {
            return fault(at, format!("a message claims {count} bytes, and at most {LONGEST} are possible"));
        }
        self.next = begin;
        self.fill(count as usize)?;
        let there = self.filled - self.next;
        if (there as u64) < count {
            let what = format!("the file ends within a message of {count} bytes, of which {there} are there");
            return fault(self.base + self.filled as u64, what);
        }
        let begin = self.next;
        self.next += count as usize;
        let base = self.base + begin as u64;
        Ok(Some(Message { bytes: &self.buffer[begin..self.next], next: 0, base }))
    }

    /// Reads until `count` bytes are there, or the file ends.
    fn fill(&mut self, count: usize) -> Result<(), Fault> {
        if self.filled - self.next >= count {
            return Ok(());
        }
        self.buffer.copy_within(self.next..self.filled, 0);
        self.base += self.next as u64;
        self.filled -= self.next;
        self.next = 0;
        while self.filled < count {
            if self.buffer.len() < self.filled + STEP {
                self.buffer.resize(self.filled + STEP, 0);
            }
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => break,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return fault(self.base + self.filled as u64, format!("cannot be read: {error}")),
            }
        }
        Ok(())
    }
}

/// Fields of a message.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub bytes: &'a [u8],
    next: usize,
    /// Offset of the message in the file.
    base: u64,
}

/// Field of a message.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub number: u32,
    /// Offset in the file.
    pub at: u64,
    pub value: Value<'a>,
}

/// Value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// A text, a message, or packed numbers.
    Bytes(Message<'a>),
}

impl<'a> Message<'a> {
    /// Offset of the next field in the file.
    pub fn at(&self) -> u64 {
        self.base + self.next as u64
    }

    /// Calls `with` for each field.
    #[inline]
    pub fn each(mut self, mut with: impl FnMut(Field<'a>) -> Result<(), Fault>) -> Result<(), Fault> {
        while let Some(field) = self.field()? {
            with(field)?;
        }
        Ok(())
    }

    /// Returns the next field; `None` at the end.
    #[inline]
    fn field(&mut self) -> Result<Option<Field<'a>>, Fault> {
        if self.next >= self.bytes.len() {
            return Ok(None);
        }
        let at = self.at();
        let key = self.varint()?;
        let Some(number) = u32::try_from(key >> 3).ok().filter(|&number| number > 0) else {
            return fault(at, format!("{} is no number of a field", key >> 3));
        };
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let count = self.varint()?;
                Value::Bytes(self.part(count)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            kind => return fault(at, format!("field {number} has wire type {kind}, and 0, 1, 2 or 5 is expected")),
        };
        Ok(Some(Field { number, at, value }))
    }

    /// Returns the next `count` bytes.
    #[inline]
    fn part(&mut self, count: u64) -> Result<Message<'a>, Fault> {
        let rest = &self.bytes[self.next..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(bytes) => {
                let part = Message { bytes, next: 0, base: self.at() };
                self.next += bytes.len();
                Ok(part)
            }
            None => fault(self.at(), format!("{count} bytes are expected, and {} are there", rest.len())),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        Ok(self.part(N as u64)?.bytes.try_into().unwrap_or([0; N]))
    }

    /// Reads a number of at most ten bytes.
    #[inline]
    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for (i, &byte) in self.bytes[self.next..].iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                if i == 9 && byte > 1 {
                    return fault(self.at(), "a number does not fit in 64 bits");
                }
                self.next += i + 1;
                return Ok(value);
            }
        }
        match self.bytes.len() - self.next < 10 {
            true => fault(self.base + self.bytes.len() as u64, "a number ends in its middle"),
            false => fault(self.at(), "a number has more than ten bytes"),
        }
    }
}

impl<'a> Field<'a> {
    /// Adds the numbers of a repeated field, packed or not.
    #[inline]
    pub fn numbers(self, into: &mut Vec<u64>) -> Result<(), Fault> {
        let Value::Bytes(mut packed) = self.value else {
            into.push(self.integer()?);
            return Ok(());
        };
        while packed.next < packed.bytes.len() {
            into.push(packed.varint()?);
        }
        Ok(())
    }

    /// Returns a number of variable length.
    #[inline]
    pub fn integer(self) -> Result<u64, Fault> {
        let Value::Varint(number) = self.value else {
            return fault(self.at, format!("field {} is no number of variable length, as expected", self.number));
        };
        Ok(number)
    }

    /// Returns a text or a message.
    #[inline]
    pub fn message(self) -> Result<Message<'a>, Fault> {
        let Value::Bytes(message) = self.value else {
            return fault(self.at, format!("field {} is no text or message, as expected", self.number));
        };
        Ok(message)
    }
}
