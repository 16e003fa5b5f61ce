//! Fast readers for the common forms of numbers in large files, directly from bytes.

use crate::units::Time;

/// Reads a number of up to 18 decimal digits.
#[inline]
pub(super) fn whole_number(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 18 {
        return None;
    }
    let mut number = 0;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// Reads a time that is a whole number of seconds or of a common unit. Gives the same as [`Time::from_cell`],
/// faster.
#[inline]
pub(super) fn whole_time(bytes: &[u8]) -> Option<Time> {
    let (number, factor) = match bytes {
        [number @ .., b'n', b's'] => (number, 1e3),
        [number @ .., b'u', b's'] => (number, 1e6),
        [number @ .., b'p', b's'] => (number, 1.0),
        _ => (bytes, 1e12),
    };
    whole_number(number).filter(|&number| number <= 1 << 53).map(|number| Time::from_ps(number as f64 * factor))
}

/// Powers of ten that a double represents exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Reads a number like `0.000123` or `1.23e-4`. Gives the same as `str::parse`, faster.
///
/// A whole number up to 2^53 and a power of ten up to 10^22 are both exact. One multiplication or division of
/// them rounds as the standard demands (Clinger, How to read floating point numbers accurately, 1990). Any
/// other number gives `None` and is read the slow way.
#[inline]
pub(super) fn plain_decimal(bytes: &[u8]) -> Option<f64> {
    let (mut digits, mut count, mut power, mut point) = (0u64, 0, 0i32, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            // Nineteen digits fit in 64 bits.
            b'0'..=b'9' if count < 19 => {
                digits = digits * 10 + u64::from(byte - b'0');
                count += 1;
                power -= i32::from(point);
            }
            b'.' if !point => point = true,
            b'e' | b'E' => break,
            _ => return None,
        }
        at += 1;
    }
    if count == 0 || digits > 1 << 53 {
        return None;
    }
    if at < bytes.len() {
        let (negative, exponent) = match &bytes[at + 1..] {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let exponent = whole_number(exponent).filter(|&exponent| exponent < 100)? as i32;
        power += if negative { -exponent } else { exponent };
    }
    let ten = *TENS.get(power.unsigned_abs() as usize)?;
    Some(if power < 0 { digits as f64 / ten } else { digits as f64 * ten })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_fast_way_gives_the_same_bits_as_the_slow_one() {
        let mut random = Stream::new(1, "decimals");
        let mut fast = 0;
        for _ in 0..20_000 {
            let digits = random.bits() >> random.below(60);
            let mut text = digits.to_string();
            if random.below(2) == 0 {
                text.insert(random.below(text.len() as u64 + 1) as usize, '.');
            }
            if random.below(2) == 0 {
                text += &format!("e{}", random.below(50) as i64 - 25);
            }
            if let Some(number) = plain_decimal(text.as_bytes()) {
                fast += 1;
                assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
        assert!(fast > 10_000, "{fast}");
        for text in ["", ".", "1.2.3", "e5", "1e", "1e+", "-1", "inf", "1 s", "0x1", "1e400", "99999999999999999999"] {
            assert_eq!(plain_decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(plain_decimal(b".5"), Some(0.5));
        assert_eq!(plain_decimal(b"5."), Some(5.0));
    }
}
