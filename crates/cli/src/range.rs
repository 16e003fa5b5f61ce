//! Numbers, ranges and quantities from what was typed.

use std::str::FromStr;

use hayase::diagnostic::{Diagnostic, closest};
use hayase::units::{QuantityError, Time};

/// Most values of a range.
const MOST: usize = 10_000;

/// A quantity with its unit.
pub fn quantity<T: FromStr<Err = QuantityError>>(flag: &str, text: &str) -> Result<T, Diagnostic> {
    text.parse().map_err(|error: QuantityError| Diagnostic::new("bad-quantity", format!("{flag}: {error}")))
}

/// A whole number.
pub fn whole(what: &str, text: &str) -> Result<u32, Diagnostic> {
    text.trim().parse().map_err(|_| {
        Diagnostic::new("bad-number", format!("{what}: \"{text}\" is not a whole number from 0 to {}", u32::MAX))
    })
}

/// A whole number above 0.
pub fn positive(what: &str, text: &str) -> Result<u32, Diagnostic> {
    let number = whole(what, text)?;
    if number > 0 { Ok(number) } else { Err(Diagnostic::new("out-of-range", format!("{what}: 0 is too few"))) }
}

/// A word that is none of those known.
pub fn unknown_word(what: &str, word: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-choice", format!("{what}: there is no `{word}`"));
    match closest(word, known.iter().copied()) {
        Some(name) => diagnostic.help(format!("write `{name}`; known are {}", known.join(", "))),
        None => diagnostic.help(format!("known are {}", known.join(", "))),
    }
}

/// One part of a list of values, as typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// A value.
    One(&'a str),
    /// `FIRST..LAST`, and how it goes on.
    Range { first: &'a str, last: &'a str, step: Step<'a> },
}

/// How a range goes on, as typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// Nothing is said.
    Default,
    /// `:8`.
    Add(&'a str),
    /// `:x2`.
    Times(&'a str),
}

/// The parts of `4,8,16`, `8..128:8`, `1..1024:x2`.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    text.split(',').map(|part| {
        let Some((first, rest)) = part.split_once("..") else { return Part::One(part.trim()) };
        let (last, step) = match rest.split_once(':') {
            None => (rest, Step::Default),
            Some((last, step)) => match step.trim().strip_prefix('x') {
                Some(factor) => (last, Step::Times(factor.trim())),
                None => (last, Step::Add(step.trim())),
            },
        };
        Part::Range { first: first.trim(), last: last.trim(), step }
    })
}

/// `64`, `8..128:8`, `1..1024:x2`, `4,8,16`, ascending or not.
pub fn numbers(flag: &str, text: &str) -> Result<Vec<u32>, Diagnostic> {
    let wrong = || {
        Diagnostic::new("bad-range", format!("{flag}: \"{text}\" is not a range of numbers"))
            .help("write 64, a list 4,8,16, steps 8..128:8 or factors 1..1024:x2")
    };
    let mut all = Vec::new();
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    for part in parts(text) {
        let (first, last, step) = match part {
            Part::One(value) => {
                all.push(number(value)?);
                continue;
            }
            Part::Range { first, last, step } => (number(first)?, number(last)?, step),
        };
        let (factor, step) = match step {
            Step::Default => (None, 1),
            Step::Add(step) => (None, number(step)?),
            Step::Times(factor) => (Some(number(factor)?), 0),
        };
        if first > last || factor.is_some_and(|factor| factor < 2 || first == 0) || factor.is_none() && step == 0 {
            return Err(wrong());
        }
        let mut at = Some(first);
        while let Some(value) = at.filter(|value| *value <= last) {
            if all.len() == MOST {
                return Err(Diagnostic::new("bad-range", format!("{flag}: \"{text}\" has more than {MOST} values")));
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

/// `3@1.5s`: workers and when they are lost.
pub fn losses(texts: &[String]) -> Result<Vec<(u32, Time)>, Diagnostic> {
    let mut losses: Vec<(u32, Time)> = Vec::new();
    for text in texts {
        let Some((worker, at)) = text.split_once('@') else {
            return Err(Diagnostic::new(
                "bad-loss",
                format!("--lose: \"{text}\" does not say which worker is lost when"),
            )
            .help("write the number of the worker (from 0) and the time: --lose 3@1.5s"));
        };
        let loss = (whole("--lose", worker)?, quantity("--lose", at)?);
        if losses.iter().any(|(worker, _)| *worker == loss.0) {
            return Err(Diagnostic::new("bad-loss", format!("--lose: worker {} is lost twice", loss.0)));
        }
        losses.push(loss);
    }
    losses.sort_by_key(|loss| loss.0);
    Ok(losses)
}

/// `2%`, `0.02`.
pub fn part(flag: &str, text: &str) -> Result<f64, Diagnostic> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value / unit),
        _ => Err(Diagnostic::new("bad-number", format!("{flag}: \"{text}\" is not a part; write 2% or 0.02"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_in_steps_or_by_factors() {
        assert_eq!(numbers("-w", "8..32:8").unwrap(), [8, 16, 24, 32]);
        assert_eq!(numbers("-w", "1..10:x3").unwrap(), [1, 3, 9]);
        assert_eq!(numbers("-w", "5,1..3").unwrap(), [5, 1, 2, 3]);
        assert_eq!(numbers("-w", "4294967295..4294967295:7").unwrap(), [u32::MAX]);
        for text in ["", "a", "8..4", "1..9:0", "0..8:x2", "1..8:x1", "1..99999999", "-3", "1..2..3"] {
            assert!(numbers("-w", text).is_err(), "{text}");
        }
    }

    #[test]
    fn losses_and_parts_are_read() {
        let texts = ["3@1 s".to_owned(), "0@5ms".to_owned()];
        assert_eq!(losses(&texts).unwrap(), [(0, Time::from_ps(5e9)), (3, Time::from_ps(1e12))]);
        assert!(losses(&["3".to_owned()]).is_err());
        assert!(losses(&["1@1s".to_owned(), "1@2s".to_owned()]).is_err());
        assert_eq!((part("-a", "2%").unwrap(), part("-a", "0.05").unwrap()), (0.02, 0.05));
        assert!(part("-a", "-1%").is_err() && part("-a", "inf").is_err());
    }
}
