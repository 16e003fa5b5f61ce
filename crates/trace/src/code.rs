//! Codes of whole numbers in few bytes, and a checksum.

use std::borrow::Cow;

/// Encodes a number as [`put`] does, without allocating memory; returns the bytes and their number.
pub(crate) fn digits(mut value: u64) -> ([u8; 10], usize) {
    let (mut bytes, mut last) = ([0; 10], 0);
    while value >= 0x80 {
        bytes[last] = value as u8 | 0x80;
        (value, last) = (value >> 7, last + 1);
    }
    bytes[last] = value as u8;
    (bytes, last + 1)
}

/// Appends `value` in groups of 7 bits, the lowest first; the top bit of a byte is set if another one
/// follows.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Maps small numbers of either sign to small numbers: 0, -1, 1, -2 ... to 0, 1, 2, 3 ...
#[inline]
pub(crate) fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Inverts [`fold`].
#[inline]
pub(crate) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Position in a range of bytes being read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// Next byte.
    pub(crate) at: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Cursor {
    pub(crate) fn left(self) -> usize {
        self.end - self.at
    }

    /// Reads the next number; `None` if the range ends or the number has more than 64 bits.
    #[inline]
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            if self.at >= self.end {
                return None;
            }
            let byte = *bytes.get(self.at)?;
            self.at += 1;
            if shift == 63 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads the next text, which follows its length.
    pub(crate) fn text<'a>(&mut self, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
        let length = self.take(bytes)?;
        self.slice(bytes, length).map(String::from_utf8_lossy)
    }

    /// Reads the next `length` bytes.
    pub(crate) fn slice<'a>(&mut self, bytes: &'a [u8], length: u64) -> Option<&'a [u8]> {
        let length = usize::try_from(length).ok().filter(|&length| length <= self.left())?;
        let slice = bytes.get(self.at..self.at + length)?;
        self.at += length;
        Some(slice)
    }
}

/// CRC-32 as in Ethernet, gzip and PNG (polynomial 0x04C11DB7, reflected), of several pieces one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) fn new() -> Self {
        Self(!0)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let mut state = self.0;
        let mut words = bytes.chunks_exact(4);
        for word in &mut words {
            state ^= u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            state = TABLES[3][(state & 0xff) as usize]
                ^ TABLES[2][(state >> 8 & 0xff) as usize]
                ^ TABLES[1][(state >> 16 & 0xff) as usize]
                ^ TABLES[0][(state >> 24) as usize];
        }
        for &byte in words.remainder() {
            state = TABLES[0][((state ^ u32::from(byte)) & 0xff) as usize] ^ (state >> 8);
        }
        self.0 = state;
    }

    pub(crate) fn value(self) -> u32 {
        !self.0
    }
}

/// `TABLES[k][b]`: effect of byte `b` on the remainder `k` bytes later.
static TABLES: [[u32; 256]; 4] = tables();

const fn tables() -> [[u32; 256]; 4] {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut k = 1;
    while k < 4 {
        let mut byte = 0;
        while byte < 256 {
            let value = tables[k - 1][byte];
            tables[k][byte] = tables[0][(value & 0xff) as usize] ^ (value >> 8);
            byte += 1;
        }
        k += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_take_a_byte() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!(out.len(), (64 - (value | 1).leading_zeros() as usize).div_ceil(7));
            let mut cursor = Cursor { at: 0, end: out.len() };
            assert_eq!(cursor.take(&out), Some(value));
            assert_eq!(cursor.take(&out), None);
            let mut short = Cursor { at: 0, end: out.len() - 1 };
            assert_eq!(short.take(&out), None, "a number that is cut off");
        }
        let mut long = Cursor { at: 0, end: 11 };
        assert_eq!(long.take(&[0xff; 11]), None, "a number of more than 64 bits");
    }

    #[test]
    fn folding_keeps_small_numbers_small() {
        for (value, folded) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MIN, u64::MAX), (i64::MAX, u64::MAX - 1)] {
            assert_eq!((fold(value), unfold(folded)), (folded, value));
        }
    }

    #[test]
    fn the_checksum_is_the_common_one() {
        // Check value given by every description of this CRC.
        let mut crc = Crc::new();
        crc.add(b"1234");
        crc.add(b"56789");
        assert_eq!(crc.value(), 0xcbf4_3926);
    }
}
