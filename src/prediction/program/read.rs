//! Reader of program data: the text that [`write`](super::write) writes.

use std::ops::{ControlFlow, Range};

use smallvec::SmallVec;

use super::write::meaning_name;
use super::{Base, Group, Loop, Meaning, Number, Operation, OperationKind, Peer, ProgramData, SIGNATURE, Statement};
use crate::diagnostic::Diagnostic;
use crate::program::{CollectiveCall, Communicator, Op, OpKind, Threads};
use crate::reading::Input;
use crate::trace::MOST_RANKS;
use crate::trace::lines::{Line, each_line};

/// Largest depth of nested loops.
const DEEPEST: usize = 64;
/// Largest number of entries of a list.
const LONGEST_LIST: usize = 1 << 26;

/// Reads program data.
///
/// # Errors
/// All mistakes, with line and column.
pub fn read(input: Input) -> Result<ProgramData, Vec<Diagnostic>> {
    let name = input.name().to_owned();
    let mut reader = Reader::default();
    let mut foreign = None;
    each_line(input, |line| match reader.line(&line) {
        Err(mistake) if !reader.begun => {
            foreign = Some(mistake);
            Ok(ControlFlow::Break(()))
        }
        read => read.map(|()| ControlFlow::Continue(())),
    })?;
    if let Some(mistake) = foreign {
        return Err(vec![mistake]);
    }
    let last = reader.last;
    reader.finish(&format!("{name}:{last}")).map_err(|mistake| vec![mistake])
}

#[derive(Default)]
struct Reader {
    data: ProgramData,
    begun: bool,
    /// Group that is being read.
    group: Option<Group>,
    /// Open loops, the outermost first.
    open: Vec<Loop>,
    /// For each rank, true if it belongs to a group.
    taken: Vec<bool>,
    /// Number of the last line that was read.
    last: u64,
}

/// Word and its place.
type Word<'a> = (Range<usize>, &'a str);

impl Reader {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Diagnostic> {
        self.last = line.number;
        let text = std::str::from_utf8(line.text)
            .map_err(|_| line.mistake(0..line.text.len(), "not-text", "this line is not text (UTF-8)"))?;
        if !self.begun {
            if text.trim_end() != SIGNATURE {
                let message = format!("this is not program data, which begins with the line `{SIGNATURE}`");
                return Err(line
                    .mistake(0..line.text.len(), "wrong-format", message)
                    .help("`hayase program fold TRACE -o x.prog` makes program data from a trace"));
            }
            self.begun = true;
            return Ok(());
        }
        let words: Vec<Word<'_>> =
            line.words().map(|(at, word)| (at, std::str::from_utf8(word).unwrap_or_default())).collect();
        let Some((first, rest)) = words.split_first() else { return Ok(()) };
        let words = Words { line, words: rest, at: first.0.clone() };
        match first.1 {
            "note" => {
                let (name, value) = text["note".len()..].trim().split_once(' ').unwrap_or((text[4..].trim(), ""));
                self.data.notes.push((name.to_owned(), value.to_owned()));
                Ok(())
            }
            "ranks" => {
                let ranks = words.one(0, "a number of ranks")?;
                self.data.ranks = match u32::try_from(ranks) {
                    Ok(ranks @ 1..=MOST_RANKS) => ranks,
                    _ => return Err(words.wrong(0, format!("a program of {ranks} ranks; 1 to {MOST_RANKS} are read"))),
                };
                self.taken = vec![false; self.data.ranks as usize];
                Ok(())
            }
            kind @ ("site" | "region") => {
                let names = if kind == "site" { &mut self.data.sites } else { &mut self.data.regions };
                words.number_is(names.len() as i64 + 1)?;
                let at = words.get(1).map_or(line.text.len(), |(at, _)| at.start);
                names.push(text[at..].trim_end().into());
                Ok(())
            }
            "comm" => {
                words.number_is(self.data.communicators.len() as i64 + 1)?;
                let ranks = self.ranks(&words, 1)?;
                self.data.communicators.push(Communicator::Group(ranks.into()));
                Ok(())
            }
            "counts" => {
                words.number_is(self.data.counts.len() as i64)?;
                let (at, text) = words.need(1, "counts: 8*16,4")?;
                let counts = list(text).ok_or_else(|| line.mistake(at, "bad-number", "not a list of counts"))?;
                self.data.counts.push(counts.into_iter().map(|count| count as u64).collect());
                Ok(())
            }
            "group" => self.group(&words),
            _ if self.group.is_none() => {
                Err(line.mistake(first.0.clone(), "unknown-line", format!("unknown line `{}`", first.1)))
            }
            "loop" => self.a_loop(&words),
            "end" => match self.open.pop() {
                Some(done) if done.body.is_empty() => Err(words.wrong_here("this loop has no operations".to_owned())),
                Some(done) => {
                    self.add(Statement::Loop(done));
                    Ok(())
                }
                None => Err(words.wrong_here("no loop is open here".to_owned())),
            },
            name => {
                let op = self.operation(name, &words)?;
                if let Some(lines) = self.data.lines.0.last_mut() {
                    lines.push(self.last);
                }
                self.add(Statement::Op(op));
                Ok(())
            }
        }
    }

    fn finish(mut self, file: &str) -> Result<ProgramData, Diagnostic> {
        let wrong = |message: String| Err(Diagnostic::new("incomplete", format!("{file}: {message}")));
        if !self.begun {
            return wrong("the file is empty".to_owned());
        }
        if let Some(open) = self.open.last() {
            return wrong(format!("the file ends inside loop L{}; is it cut off?", open.name + 1));
        }
        self.data.groups.extend(self.group.take());
        if let Some(rank) = self.taken.iter().position(|taken| !taken) {
            return wrong(format!("there is no group with rank {rank}; is the file cut off?"));
        }
        if self.data.ranks == 0 {
            return wrong("there is no line `ranks N`".to_owned());
        }
        Ok(self.data)
    }

    fn add(&mut self, step: Statement) {
        let body = match (self.open.last_mut(), &mut self.group) {
            (Some(open), _) => &mut open.body,
            (None, Some(group)) => &mut group.body,
            (None, None) => return,
        };
        body.push(step);
    }

    /// Parses ranks as ranges.
    fn ranks(&self, words: &Words<'_, '_>, word: usize) -> Result<Vec<u32>, Diagnostic> {
        let (at, text) = words.need(word, "ranks: 0-3,7")?;
        let mut ranks = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (from.parse::<u32>(), to.parse::<u32>()) {
                (Ok(from), Ok(to)) if from <= to && to < self.data.ranks => ranks.extend(from..=to),
                _ => {
                    let message = format!("`{part}` are not ranks below {}", self.data.ranks);
                    return Err(words.line.mistake(at, "bad-ranks", message));
                }
            }
        }
        Ok(ranks)
    }

    fn group(&mut self, words: &Words<'_, '_>) -> Result<(), Diagnostic> {
        if let Some(open) = self.open.last() {
            return Err(words.wrong_here(format!("loop L{} is still open here", open.name + 1)));
        }
        let ranks = self.ranks(words, 0)?;
        if ranks.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(words.wrong(0, "ranks of a group are not in ascending order".to_owned()));
        }
        for &rank in &ranks {
            if std::mem::replace(&mut self.taken[rank as usize], true) {
                return Err(words.wrong(0, format!("rank {rank} is in two groups")));
            }
        }
        self.data.lines.0.push(Vec::new());
        self.data.groups.extend(self.group.replace(Group { ranks, body: Vec::new() }));
        Ok(())
    }

    fn a_loop(&mut self, words: &Words<'_, '_>) -> Result<(), Diagnostic> {
        let (at, text) = words.need(0, "the name of a loop: L1")?;
        let number = text.strip_prefix('L').and_then(|number| number.parse::<u32>().ok());
        let name = match number.and_then(|number| number.checked_sub(1)) {
            Some(name) if self.open.iter().all(|open| open.name != name) && name < 1 << 30 => name,
            _ => {
                return Err(words.line.mistake(
                    at,
                    "bad-name",
                    format!("`{text}` is not a name of a loop here; write L1"),
                ));
            }
        };
        if self.open.len() >= DEEPEST {
            return Err(words.wrong_here(format!("more than {DEEPEST} loops are in each other")));
        }
        let count = self.number(words, 1, "how often")?;
        if let (Base::Same(..=0), true) = (&count.base, count.steps.is_empty()) {
            return Err(words.wrong(1, "a loop runs at least once".to_owned()));
        }
        if words.get(2).is_some() {
            return Err(words.wrong(2, "nothing more is expected".to_owned()));
        }
        self.data.loops = self.data.loops.max(name + 1);
        self.open.push(Loop { name, count, body: Vec::new() });
        Ok(())
    }

    fn operation(&self, name: &str, words: &Words<'_, '_>) -> Result<Operation, Diagnostic> {
        let (mut site, mut comm, mut within, mut root, mut counts) = (0, 0, false, None, None);
        let mut plain = 0;
        for (i, (at, word)) in words.words.iter().enumerate() {
            let numbered = |prefix: &str, most: usize| -> Option<Result<u32, Diagnostic>> {
                let text = word.strip_prefix(prefix)?;
                let number = text.parse::<u32>().ok().filter(|&number| (number as usize) < most);
                Some(number.ok_or_else(|| {
                    words.line.mistake(
                        at.clone(),
                        "unknown-number",
                        format!("there is no {}{text}", prefix.trim_end_matches('=')),
                    )
                }))
            };
            if let Some(number) = numbered("@", self.data.sites.len() + 1) {
                site = number?;
            } else if let Some(number) = numbered("comm=", self.data.communicators.len() + 1) {
                comm = number?;
            } else if let Some(number) = numbered("counts=", self.data.counts.len()) {
                counts = Some(number?);
            } else if let Some(text) = word.strip_prefix("root=") {
                let number = self.parse(text).ok_or_else(|| words.wrong(i, "not a root".to_owned()))?;
                root = Some(number);
            } else if *word == "within" {
                within = true;
            } else {
                plain += 1;
            }
        }
        let mut marks = if within { Op::WITHIN_CALL } else { 0 };
        let mut peer = Peer::Relative;
        let mut numbers: SmallVec<[Number; 3]> = SmallVec::new();
        let kind = KINDS.into_iter().find(|kind| kind.name() == name);
        let (what, expected) = match kind {
            None if matches!(name, "enter" | "leave") => {
                let (_, text) = words.need(0, "the number of a region")?;
                let region = text.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
                let region = region.filter(|&region| (region as usize) < self.data.regions.len());
                let region = region.ok_or_else(|| words.wrong(0, format!("there is no region {text}")))?;
                (OperationKind::Border { region, begins: name == "enter" }, 1)
            }
            None if name == "thread" => {
                let (_, text) = words.need(0, "the number of a thread")?;
                let thread = text.parse::<u32>().ok().filter(|&thread| thread < Threads::MOST);
                (OperationKind::Thread(thread.ok_or_else(|| words.wrong(0, format!("there is no thread {text}")))?), 1)
            }
            None if name == "after" => {
                numbers.push(self.number(words, 0, meaning_name(Meaning::Back))?);
                (OperationKind::After, 1)
            }
            Some(kind @ (OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe)) => {
                let receives = !matches!(kind, OpKind::Send | OpKind::Isend);
                let (at, text) = words.need(0, "the other side: rank+1, rank^2, 3 or any")?;
                let any_source = receives && text == "any";
                let text = match text.strip_prefix("any=") {
                    Some(known) if receives => {
                        marks |= Op::OPEN_SOURCE;
                        known
                    }
                    _ => text,
                };
                if !any_source {
                    let (form, number) = match text.strip_prefix("rank") {
                        None => (Peer::Absolute, text),
                        Some(rest) if rest.starts_with('^') => (Peer::Xor, &rest[1..]),
                        Some(rest) => (Peer::Relative, rest.strip_prefix('+').unwrap_or(rest)),
                    };
                    peer = form;
                    let number = self.parse(number);
                    let number = number.filter(|number| self.is_rank(form, number));
                    numbers.push(number.ok_or_else(|| {
                        let message = format!("`{text}` is not a rank; write rank+1, rank^2, 3 or any");
                        words.line.mistake(at, "bad-rank", message)
                    })?);
                }
                let any_tag = receives && words.get(1).is_some_and(|(_, word)| *word == "any");
                if let Some((at, word)) = words.get(1).filter(|(_, word)| receives && word.starts_with("any=")) {
                    marks |= Op::OPEN_TAG;
                    let number = self.parse(&word[4..]);
                    numbers.push(number.ok_or_else(|| {
                        words.line.mistake(
                            at.clone(),
                            "bad-number",
                            format!("`{word}` is not a tag; write 7, any or any=7"),
                        )
                    })?);
                } else if !any_tag {
                    numbers.push(self.number(words, 1, meaning_name(Meaning::Tag))?);
                }
                let expected = if kind == OpKind::Probe {
                    numbers.push(Number::same(0));
                    2
                } else {
                    numbers.push(self.number(words, 2, meaning_name(Meaning::Bytes))?);
                    3
                };
                (OperationKind::Message { kind, marks, comm, any_source, any_tag }, expected)
            }
            Some(kind @ (OpKind::Wait | OpKind::Test)) => {
                numbers.push(self.number(words, 0, meaning_name(Meaning::Age))?);
                (OperationKind::Wait { kind, marks }, 1)
            }
            Some(kind) => {
                let (at, text) = words.need(0, "ages of requests: 4..1 or [4,2]")?;
                let wrong = || words.line.mistake(at.clone(), "bad-ages", format!("`{text}` are not ages of requests"));
                let what = if let Some((first, last)) = text.split_once("..") {
                    numbers.push(self.parse(first).ok_or_else(wrong)?);
                    numbers.push(self.parse(last).ok_or_else(wrong)?);
                    OperationKind::WaitRange { kind }
                } else {
                    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(wrong)?;
                    let ages = inner.split(',').filter(|age| !age.is_empty()).map(str::parse::<u32>);
                    OperationKind::WaitList { kind, ages: ages.collect::<Result<_, _>>().map_err(|_| wrong())? }
                };
                (what, 1)
            }
            None => {
                let found = CollectiveCall::ALL.into_iter().find_map(|call| {
                    [(call.name(), false), (call.background_name(), true)]
                        .into_iter()
                        .find_map(|(known, background)| (known == name).then_some((call, background)))
                });
                let Some((call, background)) = found else {
                    return Err(words.wrong_here(format!("unknown operation `{name}`")));
                };
                let root = root.take().unwrap_or(Number::same(0));
                let size = self.data.comm_size(comm);
                // A root that grows with a loop wraps around to 0, so only constant roots are checked.
                if let (Base::Same(number), true) = (&root.base, root.steps.is_empty())
                    && !(0..i64::from(size)).contains(number)
                {
                    let at = words.words.iter().position(|(_, word)| word.starts_with("root=")).unwrap_or_default();
                    return Err(
                        words.wrong(at, format!("not a root among {size} ranks, from 0 to {}", size.max(1) - 1))
                    );
                }
                numbers.push(root);
                let expected = usize::from(counts.is_none());
                if counts.is_none() {
                    numbers.push(self.number(words, 0, meaning_name(Meaning::Bytes))?);
                }
                (OperationKind::Collective { call, comm, counts, background }, expected)
            }
        };
        if plain > expected {
            return Err(words.wrong_here(format!("`{name}` has {plain} words after it, not {expected}")));
        }
        Ok(Operation { site, what, peer, numbers })
    }

    /// Returns true if a number names an existing rank in all iterations.
    fn is_rank(&self, form: Peer, number: &Number) -> bool {
        let ranks = i64::from(self.data.ranks);
        let Some(group) = &self.group else { return false };
        let fits = |rank: u32, value: i64| match form {
            Peer::Relative => value.abs() <= ranks,
            Peer::Absolute => (0..ranks).contains(&value),
            Peer::Xor => value >= 0 && (i64::from(rank) ^ value) < ranks && number.steps.is_empty(),
        };
        group.ranks.iter().enumerate().all(|(position, &rank)| fits(rank, number.value(position, &[])))
    }

    fn number(&self, words: &Words<'_, '_>, word: usize, what: &str) -> Result<Number, Diagnostic> {
        let (at, text) = words.need(word, what)?;
        self.parse(text).ok_or_else(|| words.line.mistake(at, "bad-number", format!("`{text}` is not {what}")))
    }

    /// Parses a number: `8192-8*L1`, `[1,2*3]+4*L2`.
    fn parse(&self, text: &str) -> Option<Number> {
        let (base, mut rest) = match text.strip_prefix('[') {
            Some(inner) => {
                let (inner, rest) = inner.split_once(']')?;
                let values = list(inner)?;
                if values.len() != self.group.as_ref()?.ranks.len() {
                    return None;
                }
                (Base::Each(values.into()), rest)
            }
            None => {
                let end = text[1.min(text.len())..].find(['+', '-']).map_or(text.len(), |at| at + 1);
                (Base::Same(text.get(..end)?.parse().ok()?), text.get(end..)?)
            }
        };
        let mut steps: SmallVec<[(u8, i64); 2]> = SmallVec::new();
        while !rest.is_empty() {
            let end = rest[1..].find(['+', '-']).map_or(rest.len(), |at| at + 1);
            let (step, name) = rest[..end].split_once("*L")?;
            let step: i64 = step.strip_prefix('+').unwrap_or(step).parse().ok()?;
            let name = name.parse::<u32>().ok()?.checked_sub(1)?;
            let depth = self.open.iter().position(|open| open.name == name)? as u8;
            if steps.last().is_some_and(|&(before, _)| before >= depth) {
                return None;
            }
            steps.push((depth, step));
            rest = &rest[end..];
        }
        Some(Number { base, steps })
    }
}

/// Operations that are not collectives.
const KINDS: [OpKind; 10] = [
    OpKind::Send,
    OpKind::Isend,
    OpKind::Recv,
    OpKind::Irecv,
    OpKind::Probe,
    OpKind::Wait,
    OpKind::Test,
    OpKind::Waitall,
    OpKind::Waitany,
    OpKind::Waitsome,
];

/// Parses a list: `8*16,4` is 16 eights and a four.
fn list(text: &str) -> Option<Vec<i64>> {
    let mut values = Vec::new();
    for part in text.split(',') {
        let (value, count) = part.split_once('*').unwrap_or((part, "1"));
        let (value, count) = (value.parse::<i64>().ok()?, count.parse::<usize>().ok()?);
        if values.len().checked_add(count)? > LONGEST_LIST {
            return None;
        }
        values.resize(values.len() + count, value);
    }
    Some(values)
}

/// Words of a line after the first one.
struct Words<'l, 'a> {
    line: &'l Line<'a>,
    words: &'l [Word<'a>],
    /// Place of the first word.
    at: Range<usize>,
}

impl<'a> Words<'_, 'a> {
    fn get(&self, word: usize) -> Option<&Word<'a>> {
        self.words.get(word)
    }

    fn need(&self, word: usize, what: &str) -> Result<Word<'a>, Diagnostic> {
        self.words.get(word).cloned().ok_or_else(|| {
            let end = self.line.text.len();
            self.line.mistake(end..end, "missing-word", format!("{what} is missing"))
        })
    }

    fn one(&self, word: usize, what: &str) -> Result<i64, Diagnostic> {
        let (at, text) = self.need(word, what)?;
        text.parse().map_err(|_| self.line.mistake(at, "bad-number", format!("`{text}` is not {what}")))
    }

    /// Checks the number of an entry: tables are numbered without gaps.
    fn number_is(&self, expected: i64) -> Result<(), Diagnostic> {
        match self.one(0, "a number")? {
            number if number == expected => Ok(()),
            number => Err(self.wrong(0, format!("number {number} where {expected} is expected"))),
        }
    }

    fn wrong(&self, word: usize, message: String) -> Diagnostic {
        let at = self.words.get(word).map_or(self.at.clone(), |(at, _)| at.clone());
        self.line.mistake(at, "wrong-value", message)
    }

    fn wrong_here(&self, message: String) -> Diagnostic {
        self.line.mistake(self.at.clone(), "wrong-value", message)
    }
}
