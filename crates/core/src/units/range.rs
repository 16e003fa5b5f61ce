//! Lists and ranges of values as users write them: `4,8,16`, `8..128:8`, `1..1024:x2`.

/// Largest number of values in a range.
const MOST: usize = 10_000;

/// One part of a list of values, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListItem<'a> {
    /// A single value.
    One(&'a str),
    /// `FIRST..LAST`, with an optional step.
    Range {
        /// First value.
        first: &'a str,
        /// Upper limit of the values.
        last: &'a str,
        /// Step from one value to the next.
        step: Stride<'a>,
    },
}

/// Step of a range, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride<'a> {
    /// No step is written.
    Default,
    /// Adds a number: `:8`.
    Add(&'a str),
    /// Multiplies by a number: `:x2`.
    Times(&'a str),
}

/// Returns the parts of a list such as `4,8,16`, `8..128:8` or `1..1024:x2`.
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

/// Returns the numbers of a list such as `64`, `8..128:8`, `1..1024:x2` or `4,8,16`, in the order in which
/// they are written.
///
/// # Errors
/// The text is none of these. The message says what is wrong and, after a semicolon, what to write instead.
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
