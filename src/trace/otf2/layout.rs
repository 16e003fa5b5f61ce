//! Records: their fields by kind, and the coding of numbers.
//!
//! A number is a byte with the count of its bytes and these bytes without leading zeros; 255 stands for the undefined
//! number, whose bits are all set.

use crate::trace::fault::{Fault, fault};

/// Undefined number of a string, communicator, rank or other item.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// Fields of a record: `b` a byte, `n` a number, `s` a text, `f` eight bytes, `m` a count and that many numbers. Fields
/// after `?` are missing in old archives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub kind: u8,
    /// Set if the length of the record stands before its fields.
    pub length: bool,
    pub fields: &'static str,
}

macro_rules! layouts {
    ($(#[$text:meta])* $name:ident { $($kind:literal $record:ident $length:literal $fields:literal)* }) => {
        $(#[$text])*
        pub(super) mod $name {
            use super::Layout;
            $(pub const $record: Layout = Layout { kind: $kind, length: $length, fields: $fields };)*

            /// Returns the layout of a kind that has a meaning here, or no length.
            pub fn of(kind: u8) -> Option<Layout> {
                match kind { $($kind => Some($record),)* _ => None }
            }
        }
    };
}

layouts! {
    /// Records of events, with the fields that have a meaning here.
    events {
        6  ATTRIBUTES true "n?nb"
        12 ENTER false "n"
        13 LEAVE false "n"
        14 SEND true "nnnn"
        15 ISEND true "nnnnn"
        16 ISEND_COMPLETE false "n"
        17 IRECV_REQUEST false "n"
        18 RECV true "nnnn"
        19 IRECV true "nnnnn"
        20 REQUEST_TEST false "n"
        21 CANCELLED false "n"
        22 COLLECTIVE_BEGIN true ""
        23 COLLECTIVE_END true "bnnnn"
        24 OMP_FORK false "n"
        28 OMP_TASK_CREATE false "n"
        29 OMP_TASK_SWITCH false "n"
        30 OMP_TASK_COMPLETE false "n"
        66 CONTEXT_ENTER true "n"
        67 CONTEXT_LEAVE true "n"
        85 NBC_REQUEST true "n"
        86 NBC_COMPLETE true "bnnnnn"
        88 COMM_DESTROY true "n"
    }
}

layouts! {
    /// Records of global definitions.
    definitions {
        5  CLOCK true "nnn?n"
        10 STRING true "ns"
        11 ATTRIBUTE true "nnbn"
        12 SYSTEM_TREE_NODE true "nnnn"
        13 LOCATION_GROUP true "nnbn?n"
        14 LOCATION true "nnbnn"
        15 REGION true "nnnbnnn?nbbn"
        18 GROUP true "nnbm?bbn"
        22 COMM true "nnnn?n"
        33 SOURCE_LOCATION true "nnn"
        34 CALLING_CONTEXT true "nnnn"
        43 INTER_COMM true "nnnn"
    }
}

layouts! {
    /// Records of the definitions of a location.
    local {
        5 MAPPING true "bnb"
        6 CLOCK_OFFSET true "fn"
    }
}

/// Bytes of a record or file, read from the front.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub bytes: &'a [u8],
    pub next: usize,
    /// Offset of the bytes in the file.
    pub base: u64,
    pub is_big: bool,
}

impl<'a> Fields<'a> {
    /// Offset of the next byte in the file.
    pub fn at(&self) -> u64 {
        self.base + self.next as u64
    }

    pub fn is_empty(&self) -> bool {
        self.next >= self.bytes.len()
    }

    /// Returns the next `count` bytes.
    #[inline]
    pub fn part(&mut self, count: u64) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.next.min(self.bytes.len())..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(part) => {
                self.next += part.len();
                Ok(part)
            }
            None => fault(self.at(), format!("{count} bytes are expected, and {} are there", rest.len())),
        }
    }

    pub fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.part(1)?[0])
    }

    /// Reads an integer of fixed size.
    pub fn whole(&mut self, bytes: u64) -> Result<u64, Fault> {
        let part = self.part(bytes)?;
        let add = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        Ok(if self.is_big { part.iter().fold(0, add) } else { part.iter().rev().fold(0, add) })
    }

    #[inline]
    pub fn number(&mut self) -> Result<u64, Fault> {
        let at = self.at();
        match self.byte()? {
            255 => Ok(UNDEFINED),
            size @ 0..=8 => self.whole(size.into()),
            size => fault(at, format!("a number has {size} bytes, and at most 8 are expected")),
        }
    }

    pub fn text(&mut self) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.next.min(self.bytes.len())..];
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return fault(self.at(), "a text has no end, and a byte 0 is expected");
        };
        self.next += length + 1;
        Ok(&rest[..length])
    }

    /// Reads the length of a record, and returns its fields.
    #[inline]
    pub fn record(&mut self) -> Result<Self, Fault> {
        let length = match self.byte()? {
            255 => self.whole(8)?,
            length => length.into(),
        };
        let base = self.at();
        Ok(Self { bytes: self.part(length)?, next: 0, base, is_big: self.is_big })
    }
}

/// Values of the fields of a record.
#[derive(Default)]
pub(super) struct Values<'a> {
    pub numbers: [u64; 11],
    pub text: &'a [u8],
    pub list: Vec<u64>,
    /// Number of fields that are there, without texts and lists.
    pub count: usize,
}

impl Layout {
    /// Reads the fields of a record.
    #[inline]
    pub fn read<'a>(self, from: &mut Fields<'a>) -> Result<Values<'a>, Fault> {
        let mut values = Values { numbers: [UNDEFINED; 11], ..Values::default() };
        let mut is_optional = false;
        for field in self.fields.bytes() {
            if field == b'?' {
                is_optional = true;
                continue;
            }
            if is_optional && from.is_empty() {
                break;
            }
            let number = match field {
                b'b' => from.byte()?.into(),
                b'f' => from.whole(8)?,
                b's' => {
                    values.text = from.text()?;
                    continue;
                }
                b'm' => {
                    let count = from.number()?;
                    // Every number has at least a byte.
                    if count > (from.bytes.len() - from.next) as u64 {
                        return fault(from.at(), format!("{count} members do not fit into the record"));
                    }
                    values.list = (0..count).map(|_| from.number()).collect::<Result<_, _>>()?;
                    continue;
                }
                _ => from.number()?,
            };
            values.numbers[values.count] = number;
            values.count += 1;
        }
        Ok(values)
    }

    /// Adds a record with these fields to `out`, its kind first.
    pub fn write(self, numbers: &[u64], text: &[u8], list: &[u64], out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        let mut numbers = numbers.iter().copied();
        for field in self.fields.bytes().filter(|&field| field != b'?') {
            match field {
                b's' => {
                    // A byte 0 would end the text.
                    fields.extend(text.iter().copied().filter(|&byte| byte != 0));
                    fields.push(0);
                }
                b'm' => {
                    put_number(list.len() as u64, &mut fields);
                    list.iter().for_each(|&member| put_number(member, &mut fields));
                }
                _ => {
                    let number = numbers.next().unwrap_or(UNDEFINED);
                    match field {
                        b'b' => fields.push(number as u8),
                        b'f' => fields.extend(number.to_le_bytes()),
                        _ => put_number(number, &mut fields),
                    }
                }
            }
        }
        out.push(self.kind);
        if self.length {
            match fields.len() {
                short @ 0..=254 => out.push(short as u8),
                long => {
                    out.push(255);
                    out.extend((long as u64).to_le_bytes());
                }
            }
        }
        out.extend(fields);
    }
}

/// Adds a number.
fn put_number(number: u64, out: &mut Vec<u8>) {
    if number == UNDEFINED {
        out.push(255);
        return;
    }
    let bytes = number.to_le_bytes();
    let count = 8 - number.leading_zeros() as usize / 8;
    out.push(count as u8);
    out.extend(&bytes[..count]);
}
