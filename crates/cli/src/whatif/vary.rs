//! `--vary L=1us..10us`: parameters and their values on the command line.

use serde_json::Value;

use crate::range::{self, ListItem, Stride};
use hayase::diagnostic::{Diagnostic, Invalid, Sources, Span, closest};
use hayase::scenario::{KEYS, Scenario, node_parameters};
use hayase::simulation::Work;
use hayase::sweep::whatif::{Amount, Change, Trial, Unit, Varied};

/// Largest number of values of a parameter.
const MOST: usize = 1000;

/// Number of values of a range without a step, except for sizes.
const POINTS: u32 = 7;

/// Name of the parameter that is not part of a scenario.
const CPU_SPEED: &str = "cpu-speed";

/// Parses all `--vary` options for the work. Keys of the workload are parameters only if it is `named` by the
/// texts of a scenario.
pub fn varied(texts: &[String], base: &Scenario, named: bool) -> Result<Vec<Varied>, Invalid> {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let mut all = Vec::new();
    for text in texts {
        let at = sources.add("--vary", text.as_str());
        let place = Typed { text, at, named };
        match place.varied(base) {
            Ok(varied) => all.push(varied),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(all) } else { Err(Invalid { diagnostics, sources }) }
}

/// One `--vary` option with its source.
struct Typed<'a> {
    text: &'a str,
    at: usize,
    /// True if keys of the workload are known.
    named: bool,
}

/// Place where a parameter is set.
enum Target {
    CpuSpeed,
    Key(String),
}

impl Typed<'_> {
    fn varied(&self, base: &Scenario) -> Result<Varied, Diagnostic> {
        let Some((name, values)) = self.text.split_once('=') else {
            return Err(Diagnostic::new("syntax", format!("`{}` has no values", self.text))
                .at(self.span(self.text))
                .label("no `=`")
                .help("write --vary L=1us..10us, or a list L=1us,2us,5us"));
        };
        let name = name.trim();
        let (target, unchanged) = self.target(name, base)?;
        let mut trials = Vec::new();
        for part in range::parts(values) {
            match part {
                ListItem::One(value) => trials.push(self.one(value, &target)?),
                ListItem::Range { first, last, step } => {
                    for amount in self.range(first, last, step)? {
                        trials.push(self.one(&amount.text(), &target).map_err(|mistake| mistake.at(self.span(first)))?);
                    }
                }
            }
            if trials.len() > MOST {
                let message = format!("`{name}` has more than {MOST} values");
                return Err(Diagnostic::new("bad-range", message).at(self.span(values)));
            }
        }
        Ok(Varied { parameter: name.to_owned(), base: unchanged, trials })
    }

    /// Returns the place of a piece of the text.
    fn span(&self, piece: &str) -> Span {
        // Pieces are slices of the text; for any other piece, the whole text is marked.
        let offset = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match offset.checked_add(piece.len()) {
            Some(end) if end <= self.text.len() => Span::new(self.at + offset, self.at + end),
            _ => Span::new(self.at, self.at + self.text.len()),
        }
    }

    /// Returns the parameter with this name, and its unchanged value.
    fn target(&self, name: &str, base: &Scenario) -> Result<(Target, Option<String>), Diagnostic> {
        if name == CPU_SPEED {
            let Work::Program(program) = base.work() else {
                let message = "only programs have processors whose speed can change";
                return Err(Diagnostic::new("wrong-choice", message).at(self.span(name)));
            };
            return Ok((Target::CpuSpeed, Some(program.cpu_speed.to_string())));
        }
        let model = base.system().node().name();
        let first = name.split('.').next().unwrap_or(name);
        let parameters = node_parameters(model);
        let key = if parameters.contains(&name) {
            format!("node.{model}.{name}")
        } else if (first != "workload" || self.named) && KEYS.contains(&first) {
            name.to_owned()
        } else {
            return Err(self.unknown(name, model, &parameters));
        };
        let scenario = base.to_json();
        let found = key.split('.').try_fold(&scenario, |value, key| value.get(key));
        let unchanged = found.and_then(|value| match value {
            Value::String(text) => Some(Amount::read(text).map_or_else(|| text.clone(), Amount::shown)),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            // `sharing = { max-min = {} }` is a choice by name.
            Value::Object(choice) if choice.len() == 1 => choice.keys().next().cloned(),
            _ => None,
        });
        Ok((Target::Key(key), unchanged))
    }

    fn unknown(&self, name: &str, model: &str, parameters: &[&str]) -> Diagnostic {
        let message = format!("the node model `{model}` has no parameter `{name}`");
        let diagnostic = Diagnostic::new("unknown-key", message).at(self.span(name));
        if parameters.is_empty() {
            return diagnostic
                .help("add a machine (-m, see `hayase list machines`) or a model with parameters (--node)");
        }
        let known = format!("{}, {CPU_SPEED}, or a key like topology.torus.bandwidth", parameters.join(", "));
        match closest(name, parameters.iter().copied().chain([CPU_SPEED])) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`? there are: {known}")),
            None => diagnostic.help(format!("there are: {known}")),
        }
    }

    /// Parses one value.
    fn one(&self, value: &str, target: &Target) -> Result<Trial, Diagnostic> {
        if value.is_empty() {
            return Err(Diagnostic::new("bad-range", format!("`{}` lacks a value", self.text)).at(self.span(self.text)));
        }
        let amount = Amount::read(value);
        let change = match (target, amount) {
            (Target::Key(key), _) => Change::Set(format!("{key}={value}")),
            (Target::CpuSpeed, Some(speed)) if speed.unit.is_none() && speed.value > 0.0 => {
                Change::CpuSpeed(speed.value)
            }
            (Target::CpuSpeed, _) => {
                let message = format!("`{value}` is not a processor speed");
                return Err(Diagnostic::new("wrong-value", message)
                    .at(self.span(value))
                    .help("write a number above 0, relative to the processors of the trace"));
            }
        };
        let value = amount.map_or_else(|| value.to_owned(), Amount::shown);
        Ok(Trial { value, number: amount.map(Amount::base), change })
    }

    /// Returns the values of a range, including both ends.
    #[expect(clippy::disallowed_methods, reason = "rounded to four digits, which are the same everywhere")]
    fn range(&self, first: &str, last: &str, step: Stride<'_>) -> Result<Vec<Amount>, Diagnostic> {
        let wrong = |piece: &str, message: String| {
            Diagnostic::new("bad-range", message).at(self.span(piece)).help(
                "write A..B, A..B:STEP or A..B:xFACTOR with units, A below B: 4KiB..256KiB, 1us..10us:1us, 1us..8us:x2",
            )
        };
        let read = |piece: &str| {
            Amount::read(piece).ok_or_else(|| wrong(piece, format!("`{piece}` is not a number or quantity")))
        };
        let (from, to) = (read(first)?, read(last)?);
        if !from.is_like(to) {
            return Err(wrong(last, format!("`{first}` and `{last}` are quantities of different kinds")));
        }
        let (a, b) = (from.value, to.value);
        if a > b {
            return Err(wrong(first, format!("`{first}` is above `{last}`")));
        }
        let mut all = match step {
            Stride::Add(text) => {
                let step = read(text)?;
                if !step.is_like(from) || step.value <= 0.0 {
                    return Err(wrong(text, format!("`{text}` is not a step from `{first}` to `{last}`")));
                }
                series(a, b, |i, _| a + f64::from(i) * step.value)
            }
            Stride::Times(text) => {
                let factor = text.parse::<f64>().ok().filter(|factor| *factor > 1.0 && factor.is_finite() && a > 0.0);
                let factor = factor.ok_or_else(|| wrong(text, format!("`{text}` is not a factor above 1")))?;
                series(a, b, |_, before| before * factor)
            }
            Stride::Default if from.unit == Unit::Bytes && a > 0.0 => series(a, b, |_, before| before * 2.0),
            Stride::Default => {
                let part = |i: u32| f64::from(i) / f64::from(POINTS - 1);
                let at = |i: u32| match a > 0.0 {
                    true => rounded(a * (b / a).powf(part(i))),
                    false => rounded(a + (b - a) * part(i)),
                };
                (0..POINTS - 1).map(|i| if i == 0 { a } else { at(i) }).collect()
            }
        };
        // The range includes its end even if no step meets it.
        if all.last().is_none_or(|last| b - last > 1e-9 * b.abs()) {
            all.push(b);
        }
        let mut all: Vec<Amount> = all.into_iter().map(|raw| from.with(raw)).collect();
        all.dedup();
        Ok(all)
    }
}

/// Returns values from `a` to `b` at most, each made from its position and its predecessor.
fn series(a: f64, b: f64, next: impl Fn(u32, f64) -> f64) -> Vec<f64> {
    let mut all = vec![a];
    for i in 1..=MOST as u32 {
        let value = next(i, all[all.len() - 1]);
        if value > b * (1.0 + 1e-12) {
            break;
        }
        all.push(value);
    }
    all
}

/// Rounds to four digits, because the last bits of a power differ between platforms.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        let typed = Typed { text, at: 0, named: false };
        let Some(ListItem::Range { first, last, step }) = range::parts(text).next() else { return Err("one".into()) };
        let all = typed.range(first, last, step).map_err(|mistake| mistake.message)?;
        Ok(all.into_iter().map(Amount::text).collect())
    }

    #[test]
    fn sizes_double_and_others_go_in_seven_steps_and_both_ends_are_met() {
        assert_eq!(values("1KiB..5KiB").unwrap(), ["1024 B", "2048 B", "4096 B", "5120 B"]);
        let seven = values("1us..64us").unwrap();
        assert_eq!(seven, ["1 us", "2 us", "4 us", "8 us", "16 us", "32 us", "64 us"]);
        assert_eq!(values("0us..6us").unwrap().len(), 7);
        assert_eq!(values("1us..2us").unwrap()[1], "1122 ns");
        assert_eq!(values("2..2").unwrap(), ["2"]);
    }

    #[test]
    fn steps_and_factors_are_taken() {
        assert_eq!(values("1us..3us:1us").unwrap(), ["1 us", "2 us", "3 us"]);
        assert_eq!(values("1..8:x2").unwrap(), ["1", "2", "4", "8"]);
        assert_eq!(values("1..7:x2").unwrap(), ["1", "2", "4", "7"]);
        assert_eq!(values("1 GB/s..3 GB/s:2 GB/s").unwrap(), ["1 GB/s", "3 GB/s"]);
    }

    #[test]
    fn what_is_no_range_says_why() {
        for text in ["3us..1us", "1us..2B", "a..b", "1us..3us:0us", "1us..3us:1B", "1..8:x1", "0..8:x2", "1..8:x", ".."]
        {
            assert!(values(text).is_err(), "{text}");
        }
    }
}
