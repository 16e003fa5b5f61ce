//! Slow processors: from flags to tables, and the check that tables fit the ranks.

use super::loader::Texts;
use super::notes::Notes;
use super::overlay::one;
use super::read::Sections;
use crate::diagnostic::{Diagnostic, Span};
use crate::noise::NoiseTables;
use crate::reading::tree::{Entry, Kind, Table, Tree};
use crate::system::System;

impl Sections {
    /// Adds the slow processors of the scenario to a system with `ranks` ranks. `jobs` are the names and
    /// numbers of ranks of several jobs.
    pub fn slowed(&self, system: System, ranks: u32, jobs: &[(&str, u32)], notes: &mut Notes) -> System {
        let stragglers = self.stragglers.get().cloned().unwrap_or_default();
        let system = system.with_noise(NoiseTables { noise: self.noise.get().cloned(), stragglers });
        notes.taken(system.slow(ranks, jobs).map(drop), self.noise.span().or(self.stragglers.span()));
        system
    }
}

impl Texts {
    /// Returns the table that a flag about slow processors stands for.
    pub(super) fn slow(&mut self, flag: &str, text: &str) -> Option<Table> {
        let at = self.flag(flag.to_owned(), text);
        let (key, table) = match flag {
            "--noise" => {
                self.table.remove("noise");
                ("noise", noise(text, at))
            }
            _ => ("straggler", straggler(text, at).map_err(|mistake| vec![mistake])),
        };
        let tree = |kind| Tree { span: at, kind };
        match table {
            Ok(table) if key == "straggler" => {
                Some(one(key.to_owned(), at, tree(Kind::List(vec![tree(Kind::Table(table))]))))
            }
            Ok(table) => Some(one(key.to_owned(), at, tree(Kind::Table(table)))),
            Err(mistakes) => {
                self.incomplete = true;
                self.diagnostics.extend(mistakes);
                None
            }
        }
    }
}

/// A part of the text of a flag, with its place.
struct TextPart<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> TextPart<'a> {
    /// Returns the part `text` of `whole`, which begins at `base`.
    fn of(whole: &'a str, text: &'a str, base: usize) -> Self {
        let trimmed = text.trim();
        Self { text: trimmed, at: base + (trimmed.as_ptr() as usize - whole.as_ptr() as usize) }
    }

    fn span(&self) -> Span {
        Span::new(self.at, self.at + self.text.len())
    }

    fn entry(&self, kind: fn(String) -> Kind) -> Entry {
        let span = self.span();
        Entry { key: span, value: Tree { span, kind: kind(self.text.to_owned()) } }
    }

    fn wrong(&self, message: &str) -> Diagnostic {
        Diagnostic::new("syntax", format!("`{}` {message}", self.text)).at(self.span())
    }
}

/// Reads a table `[noise]` from `25us/1ms`, `25us`, `25us/1ms,exponential,synchronised` or `25us/1ms,seed=7`.
///
/// # Errors
/// Parts without a meaning.
pub(super) fn noise(text: &str, at: Span) -> Result<Table, Vec<Diagnostic>> {
    let (mut table, mut mistakes) = (Table::new(), Vec::new());
    let mut put = |key: &str, entry: Entry| match table.contains_key(key) {
        true => Err(Diagnostic::new("syntax", format!("`{key}` is set twice")).at(entry.key)),
        false => {
            table.insert(key.to_owned(), entry);
            Ok(())
        }
    };
    for (number, written) in text.split(',').enumerate() {
        let part = TextPart::of(text, written, at.start);
        let done = match (part.text.split_once('='), part.text) {
            (Some((key, value)), _) => {
                let kind = if key.trim() == "seed" { Kind::Whole } else { Kind::Text };
                put(key.trim(), TextPart::of(text, value, at.start).entry(kind))
            }
            (None, "fixed" | "uniform" | "exponential") => put("distribution", part.entry(Kind::Text)),
            (None, "random" | "synchronised") => put("phase", part.entry(Kind::Text)),
            (None, lengths) if number == 0 => match lengths.split_once('/') {
                Some((length, period)) => put("length", TextPart::of(text, length, at.start).entry(Kind::Text))
                    .and_then(|()| put("period", TextPart::of(text, period, at.start).entry(Kind::Text))),
                None => put("length", part.entry(Kind::Text)),
            },
            _ => Err(part
                .wrong("is nothing that noise has")
                .help("write LENGTH/PERIOD, then fixed, uniform or exponential, and random or synchronised")),
        };
        mistakes.extend(done.err());
    }
    if mistakes.is_empty() { Ok(table) } else { Err(mistakes) }
}

/// Reads a table `[[straggler]]` from `3=50%`, `0-7=50%`, `nodes:3=50%`, `count:2=50%`, `JOB:3=50%` or
/// `3=50%@1ms..2ms`.
///
/// # Errors
/// The text is none of these.
pub(super) fn straggler(text: &str, at: Span) -> Result<Table, Diagnostic> {
    let part = |of| TextPart::of(text, of, at.start);
    let help = "write RANKS=SPEED, as in 3=50% or 0-7=0.5; or nodes:0-7=50%, count:2=50%, JOB:3=50%, 3=50%@1ms..2ms";
    let Some((who, how)) = text.split_once('=') else {
        return Err(part(text).wrong("is not a straggler").help(help));
    };
    let mut table = Table::new();
    let mut put = |key: &str, entry: Entry| drop(table.insert(key.to_owned(), entry));
    match who.split_once(':') {
        None => put("ranks", part(who).entry(Kind::Text)),
        Some((kind, nodes)) if kind.trim() == "nodes" => put("nodes", part(nodes).entry(Kind::Text)),
        Some((kind, count)) if kind.trim() == "count" => put("count", part(count).entry(Kind::Whole)),
        Some((job, ranks)) => {
            put("job", part(job).entry(Kind::Text));
            put("ranks", part(ranks).entry(Kind::Text));
        }
    }
    match how.split_once('@') {
        None => put("speed", part(how).entry(Kind::Text)),
        Some((speed, when)) => {
            put("speed", part(speed).entry(Kind::Text));
            let Some((start, until)) = when.split_once("..") else {
                return Err(part(when).wrong("is not a span of time").help("write @1ms..2ms, @1ms.. or @..2ms"));
            };
            for (key, time) in [("start", start), ("until", until)] {
                if !time.trim().is_empty() {
                    put(key, part(time).entry(Kind::Text));
                }
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::At;

    fn said(table: Table) -> Vec<String> {
        let text = |(key, entry): (String, Entry)| match entry.value.kind {
            Kind::Text(text) | Kind::Whole(text) => format!("{key}={text}"),
            _ => key,
        };
        table.into_iter().map(text).collect()
    }

    #[test]
    fn flags_are_short_for_tables() {
        let noise = |text: &str| said(noise(text, Span::new(0, text.len())).unwrap());
        assert_eq!(noise("25us"), ["length=25us"]);
        assert_eq!(
            noise("25us/1ms, exponential,seed=7"),
            ["distribution=exponential", "length=25us", "period=1ms", "seed=7"]
        );
        assert_eq!(
            noise("1us/1ms,synchronised,ranks=0-3"),
            ["length=1us", "period=1ms", "phase=synchronised", "ranks=0-3"]
        );
        let straggler = |text: &str| said(straggler(text, Span::new(0, text.len())).unwrap());
        assert_eq!(straggler("0-7,9=50%"), ["ranks=0-7,9", "speed=50%"]);
        assert_eq!(straggler("count:2=0.5"), ["count=2", "speed=0.5"]);
        assert_eq!(straggler("a:3=50%@1ms.."), ["job=a", "ranks=3", "speed=50%", "start=1ms"]);
    }

    #[test]
    fn what_a_flag_does_not_say_is_marked() {
        let at = |text: &str| Span::new(100, 100 + text.len());
        assert_eq!(noise("1us/1ms,loud", at("1us/1ms,loud")).unwrap_err()[0].at, At::Span(Span::new(108, 112)));
        assert!(noise("1us,length=2us", at("1us,length=2us")).is_err());
        assert!(straggler("3", at("3")).is_err() && straggler("3=50%@1ms", at("3=50%@1ms")).is_err());
    }
}
