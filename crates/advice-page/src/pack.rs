//! Packing of numbers into few bytes, and of bytes into text.
//!
//! The page holds the run as a sequence of whole numbers. Each has as many groups of seven bits as it needs,
//! lowest first (LEB128), and the sequence is in base64. HTML takes this text without escapes, and a browser
//! turns it into typed arrays in some ten milliseconds per million events.

/// Appends a number in groups of seven bits; the highest bit of a byte is set if more follow.
pub(crate) fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a number with a sign: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
pub(crate) fn signed(bytes: &mut Vec<u8>, value: i64) {
    number(bytes, (value.wrapping_shl(1) ^ (value >> 63)) as u64);
}

/// Encodes bytes as base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().enumerate().fold(0u32, |word, (i, &byte)| word | u32::from(byte) << (16 - 8 * i));
        for i in 0..4 {
            text.push(if i <= three.len() { LETTERS[(word >> (18 - 6 * i)) as usize & 63] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn small_numbers_take_one_byte_and_every_number_fits() {
        let packed = |value| {
            let mut bytes = Vec::new();
            number(&mut bytes, value);
            bytes
        };
        assert_eq!(packed(0), [0]);
        assert_eq!(packed(127), [127]);
        assert_eq!(packed(300), [0xac, 2]);
        assert_eq!(packed(u64::MAX).len(), 10);
    }

    #[test]
    fn signs_alternate() {
        for (value, code) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (63, 126)] {
            let mut bytes = Vec::new();
            signed(&mut bytes, value);
            assert_eq!(bytes, [code], "{value}");
        }
        let mut bytes = Vec::new();
        signed(&mut bytes, i64::MIN);
        assert_eq!(bytes.len(), 10);
    }
}
