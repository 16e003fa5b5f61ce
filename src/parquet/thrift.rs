//! Thrift's compact protocol, in which the descriptions of a Parquet file are written, as far as they need
//! it.
//!
//! Source: Apache Thrift, "Thrift compact protocol encoding" (thrift-compact-protocol.md).

/// Types as the headers of fields and lists encode them.
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure that is being written, field by field in ascending order of their numbers.
pub(super) struct Fields<'a> {
    bytes: &'a mut Vec<u8>,
    last: i16,
}

/// Appends a structure to `bytes`.
pub(super) fn structure(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Fields<'_>)) {
    write(&mut Fields { bytes, last: 0 });
    bytes.push(0);
}

impl Fields<'_> {
    /// Writes the header of a field: the distance of its number from the last one, and its type.
    fn header(&mut self, number: i16, kind: u8) {
        let step = number - self.last;
        debug_assert!((1..=15).contains(&step), "field {number} after {}", self.last);
        self.bytes.push((step as u8) << 4 | kind);
        self.last = number;
    }

    /// Writes a number of 8 bits, unchanged.
    pub fn i8(&mut self, number: i16, value: i8) {
        self.header(number, BYTE);
        self.bytes.push(value as u8);
    }

    /// Writes a flag, whose value is its type.
    pub fn flag(&mut self, number: i16, value: bool) {
        self.header(number, if value { 1 } else { 2 });
    }

    pub fn i16(&mut self, number: i16, value: i16) {
        self.header(number, I16);
        varint(self.bytes, zigzag(value.into()));
    }

    pub fn i32(&mut self, number: i16, value: i32) {
        self.header(number, I32);
        varint(self.bytes, zigzag(value.into()));
    }

    pub fn i64(&mut self, number: i16, value: i64) {
        self.header(number, I64);
        varint(self.bytes, zigzag(value));
    }

    pub fn text(&mut self, number: i16, text: &str) {
        self.header(number, BINARY);
        binary(self.bytes, text);
    }

    pub fn structure(&mut self, number: i16, write: impl FnOnce(&mut Fields<'_>)) {
        self.header(number, STRUCT);
        structure(self.bytes, write);
    }

    pub fn structures<T>(&mut self, number: i16, of: &[T], mut write: impl FnMut(&mut Fields<'_>, usize, &T)) {
        self.list(number, STRUCT, of.len());
        for (i, item) in of.iter().enumerate() {
            structure(self.bytes, |fields| write(fields, i, item));
        }
    }

    pub fn i32s(&mut self, number: i16, values: &[i32]) {
        self.list(number, I32, values.len());
        values.iter().for_each(|&value| varint(self.bytes, zigzag(value.into())));
    }

    pub fn texts(&mut self, number: i16, texts: &[&str]) {
        self.list(number, BINARY, texts.len());
        texts.iter().for_each(|text| binary(self.bytes, text));
    }

    fn list(&mut self, number: i16, kind: u8, len: usize) {
        self.header(number, LIST);
        if len < 15 {
            self.bytes.push((len as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            varint(self.bytes, len as u64);
        }
    }
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Maps small numbers of either sign to small numbers: 0, -1, 1, -2 ... to 0, 1, 2, 3 ...
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Appends a number with seven bits per byte, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let all = |values: &[u64]| {
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| varint(&mut bytes, value));
            bytes
        };
        // Examples of the specification.
        assert_eq!(all(&[50_399]), [0xDF, 0x89, 0x03]);
        assert_eq!(
            [0, -1, 1, -2, 2_147_483_647, -2_147_483_648].map(zigzag),
            [0, 1, 2, 3, 4_294_967_294, 4_294_967_295]
        );
        assert_eq!(all(&[u64::MAX]).len(), 10);
        // Field 1 of type i32, then field 4 of type list of 16 texts, then the end.
        let mut bytes = Vec::new();
        structure(&mut bytes, |fields| {
            fields.i32(1, 3);
            fields.texts(4, &["a"; 16]);
        });
        assert_eq!(bytes[..5], [0x15, 6, 0x39, 0xF8, 16]);
        assert_eq!(bytes[5..7], [1, b'a']);
        assert_eq!(bytes.last(), Some(&0));
        assert_eq!(bytes.len(), 5 + 32 + 1);
    }
}
