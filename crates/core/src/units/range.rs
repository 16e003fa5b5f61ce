//! Lists and ranges of values as they are written: `4,8,16`, `8..128:8`, `1..1024:x2`.

/// Most values of a range.
const MOST: usize = 10_000;

/// One part of a list of values, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListItem<'a> {
    /// A value.
    One(&'a str),
    /// `FIRST..LAST`, and how it goes on.
    Range {
        /// The first value.
        first: &'a str,
        /// The last value, or what is not exceeded.
        last: &'a str,
        /// How it goes on.
        step: Stride<'a>,
    },
}

/// How a range goes on, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride<'a> {
    /// Nothing is said.
    Default,
    /// `:8`.
    Add(&'a str),
    /// `:x2`.
    Times(&'a str),
}

/// The parts of `4,8,16`, `8..128:8`, `1..1024:x2`.
pub fn parts(text: &str) -> impl Iterator<Item = ListItem<'_>> {
    text.split(',').map(|part| {
        let Some((first, rest)) = part.split_once("..") else { return ListItem::One(part.trim()) };
        let (last, step) = match rest.split_once(':') {
            None => (rest, Stride::Default),
            Some((last, step)) => match step.trim().strip_prefix('x') {
                Some(factor) => (last, Stride::Times(factor.trim())),
                None => (last, Stride::Add(step.trim())),
            },
        };
        ListItem::Range { first: first.trim(), last: last.trim(), step }
    })
}

/// `64`, `8..128:8`, `1..1024:x2`, `4,8,16`, ascending or not.
///
/// # Errors
/// A text that is none of these: what it is, and after a semicolon what to write instead.
///
/// ```
/// # use hayase_core as hayase;
/// use hayase::units::range::numbers;
///
/// assert_eq!(numbers("8..32:8").unwrap(), [8, 16, 24, 32]);
/// assert_eq!(numbers("1..10:x3").unwrap(), [1, 3, 9]);
/// assert!(numbers("8..4").is_err());
/// ```
pub fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let wrong = || {
        format!("\"{text}\" is not a range of numbers; write 64, a list 4,8,16, steps 8..128:8 or factors 1..1024:x2")
    };
    let mut all = Vec::new();
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    for part in parts(text) {
        let (first, last, step) = match part {
            ListItem::One(value) => {
                all.push(number(value)?);
                continue;
            }
            ListItem::Range { first, last, step } => (number(first)?, number(last)?, step),
        };
        let (factor, step) = match step {
            Stride::Default => (None, 1),
            Stride::Add(step) => (None, number(step)?),
            Stride::Times(factor) => (Some(number(factor)?), 0),
        };
        if first > last || factor.is_some_and(|factor| factor < 2 || first == 0) || factor.is_none() && step == 0 {
            return Err(wrong());
        }
        let mut at = Some(first);
        while let Some(value) = at.filter(|value| *value <= last) {
            if all.len() == MOST {
                return Err(format!("\"{text}\" has more than {MOST} values"));
            }
            all.push(value);
            at = match factor {
                Some(factor) => value.checked_mul(factor),
                None => value.checked_add(step),
            };
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_in_steps_or_by_factors() {
        assert_eq!(numbers("8..32:8").unwrap(), [8, 16, 24, 32]);
        assert_eq!(numbers("1..10:x3").unwrap(), [1, 3, 9]);
        assert_eq!(numbers("5,1..3").unwrap(), [5, 1, 2, 3]);
        assert_eq!(numbers("4294967295..4294967295:7").unwrap(), [u32::MAX]);
        for text in ["", "a", "8..4", "1..9:0", "0..8:x2", "1..8:x1", "1..99999999", "-3", "1..2..3"] {
            assert!(numbers(text).is_err(), "{text}");
        }
    }
}
