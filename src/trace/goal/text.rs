//! Reader of GOAL text, at the speed of the file.

use std::ops::{ControlFlow, Range};

use super::labels::Labels;
use super::write::PS_PER_UNIT;
use crate::diagnostic::Diagnostic;
use crate::program::{ANY_SOURCE, ANY_TAG, Envelope, GraphBuilder, Op, Program, ProgramBuilder};
use crate::reading::Input;
use crate::trace::MOST_RANKS;
use crate::trace::lines::{Line, each_line, whole};
use crate::units::Time;

/// Longest calculation \[ns\]. Beyond it, picoseconds are no longer exact.
const MAX_CALCULATION_NS: u64 = (1 << 53) / 1000;
/// Largest number of operations of a rank, which are counted in 31 bits.
const MOST_OPS: usize = (1 << 31) - 1;

/// Reads a schedule.
///
/// Cost: proportional to the file, some 100 MB per second; memory for the program, and for the labels of one
/// rank.
///
/// # Errors
/// All mistakes, with line and column: syntax, unknown labels, ranks that are missing, requirements that form
/// a cycle.
pub fn read_text(input: Input) -> Result<Program, Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let mut reader = Reader {
        ranks: None,
        at: Position::Outside,
        comment: None,
        labels: Labels::default(),
        done: Vec::new(),
        builder: ProgramBuilder::new(0),
    };
    each_line(input, |line| reader.line(&line))?;
    reader.finish(&file).map_err(|mut mistakes| {
        for mistake in &mut mistakes {
            if mistake.help.is_none() && mistake.code == "cyclic-requirement" {
                mistake.help = Some("`a requires b` lets b come first".into());
            }
        }
        mistakes
    })
}

struct Reader {
    ranks: Option<u32>,
    at: Position,
    /// Line of a `/*` that is still open.
    comment: Option<u64>,
    labels: Labels,
    done: Vec<GraphBuilder>,
    builder: ProgramBuilder,
}

/// Position of a line in the structure of the file.
enum Position {
    /// Line between blocks.
    Outside,
    /// Line in the block of a rank, which began on the given line.
    Rank(Box<GraphBuilder>, u32, u64),
}

/// Scanner of a line from left to right.
struct Scan<'a, 'l> {
    line: &'l Line<'a>,
    at: usize,
}

impl<'a> Scan<'a, '_> {
    #[inline]
    fn skip_blanks(&mut self) {
        while self.line.text.get(self.at).is_some_and(|&byte| byte == b' ' || byte == b'\t') {
            self.at += 1;
        }
    }

    fn is_over(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.line.text.len()
    }

    /// Reads the next word: letters, digits and underscores, or a single other character.
    #[inline]
    fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let rest = &self.line.text[self.at..];
        let length =
            rest.iter().position(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_')).unwrap_or(rest.len());
        let length = length.max(1).min(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns the next word without consuming it.
    fn peek(&mut self) -> &'a [u8] {
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    /// Returns the range of the next word, for messages.
    fn next_range(&mut self) -> Range<usize> {
        self.skip_blanks();
        let start = self.at;
        let length = self.peek().len();
        start..(start + length).max(start + 1)
    }

    #[cold]
    fn expected(&mut self, what: &str) -> Diagnostic {
        let range = self.next_range();
        let message = match self.is_over() {
            true => format!("the line ends where {what} is expected"),
            false => format!("`{}` where {what} is expected", self.line.show(range.clone())),
        };
        self.line.mistake(range, "bad-goal", message)
    }

    /// Reads a whole number up to `most`.
    #[inline]
    fn number(&mut self, what: &str, most: u64) -> Result<u64, Diagnostic> {
        self.skip_blanks();
        let rest = &self.line.text[self.at..];
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        match whole(&rest[..digits]) {
            Some(value) if value <= most => {
                self.at += digits;
                Ok(value)
            }
            Some(_) => {
                let message = format!("{what} is at most {most}");
                Err(self.line.mistake(self.at..self.at + digits, "too-large", message))
            }
            None if digits > 0 => {
                let range = self.at..self.at + digits;
                Err(self.line.mistake(range, "too-large", format!("{what} does not fit in 64 bits")))
            }
            None => Err(self.expected(what)),
        }
    }

    /// Reads a number, or -1 for any, which is stored as the largest number of 32 bits.
    #[inline]
    fn number_or_any(&mut self, what: &str, any: u32) -> Result<u32, Diagnostic> {
        self.skip_blanks();
        if self.line.text[self.at..].starts_with(b"-1") {
            self.at += 2;
            return Ok(any);
        }
        // The largest number itself means any as well, as every reader of this format stores it.
        Ok(self.number(what, u32::MAX.into())? as u32)
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), Diagnostic> {
        if self.peek() != keyword.as_bytes() {
            return Err(self.expected(&format!("`{keyword}`")));
        }
        self.word();
        Ok(())
    }
}

impl Reader {
    fn line(&mut self, line: &Line<'_>) -> Result<ControlFlow<()>, Diagnostic> {
        let mut scan = Scan { line, at: 0 };
        if self.skip_comments(&mut scan) {
            return Ok(ControlFlow::Continue(()));
        }
        match &mut self.at {
            Position::Rank(rank, number, _) => {
                if scan.peek() == b"}" {
                    scan.word();
                    if !scan.is_over() {
                        return Err(scan.expected("the end of the line"));
                    }
                    self.close();
                } else {
                    let ranks = self.ranks.unwrap_or(0);
                    statement(&mut scan, rank, &mut self.labels, *number, ranks)?;
                }
            }
            Position::Outside if self.ranks.is_none() => {
                scan.keyword("num_ranks").map_err(|mistake| mistake.help("a schedule starts with `num_ranks 2`"))?;
                let ranks = scan.number("a number of ranks", MOST_RANKS.into())? as u32;
                if !scan.is_over() {
                    return Err(scan.expected("the end of the line"));
                }
                self.ranks = Some(ranks);
            }
            Position::Outside => {
                if self.done.len() == self.ranks.unwrap_or(0) as usize {
                    // Text after the last rank is not part of the schedule.
                    return Ok(ControlFlow::Break(()));
                }
                self.open(&mut scan)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Skips comments and blanks, and returns true if nothing else is left in the line.
    fn skip_comments(&mut self, scan: &mut Scan<'_, '_>) -> bool {
        loop {
            if self.comment.is_some() {
                let rest = &scan.line.text[scan.at..];
                let Some(end) = rest.windows(2).position(|pair| pair == b"*/") else { return true };
                scan.at += end + 2;
                self.comment = None;
            }
            scan.skip_blanks();
            let rest = &scan.line.text[scan.at..];
            if rest.is_empty() || rest.starts_with(b"//") {
                return true;
            }
            if !rest.starts_with(b"/*") {
                return false;
            }
            scan.at += 2;
            self.comment = Some(scan.line.number);
        }
    }

    fn open(&mut self, scan: &mut Scan<'_, '_>) -> Result<(), Diagnostic> {
        scan.keyword("rank").map_err(|mistake| mistake.help("a block is `rank 0 {`, its operations, and `}`"))?;
        scan.skip_blanks();
        let start = scan.at;
        let number = scan.number("the number of a rank", u32::MAX.into())?;
        let ranks = self.ranks.unwrap_or(0);
        let next = self.done.len() as u64;
        if number != next {
            let message = match number >= ranks.into() {
                true => format!("there is no rank {number}; `num_ranks` says {ranks}"),
                false => format!("rank {number} where rank {next} is expected"),
            };
            return Err(scan
                .line
                .mistake(start..scan.at, "wrong-rank", message)
                .help("each rank has one block, in ascending order"));
        }
        scan.keyword("{")?;
        let rank = Box::new(self.builder.graph(number as u32));
        self.at = Position::Rank(rank, number as u32, scan.line.number);
        if scan.is_over() {
            return Ok(());
        }
        if scan.peek() == b"}" {
            self.close();
            return Ok(());
        }
        Err(scan.expected("the end of the line"))
    }

    fn close(&mut self) {
        if let Position::Rank(rank, ..) = std::mem::replace(&mut self.at, Position::Outside) {
            self.done.push(*rank);
            self.labels.clear();
        }
    }

    fn finish(self, file: &str) -> Result<Program, Vec<Diagnostic>> {
        let cut_off =
            |message: String| vec![Diagnostic::new("truncated-trace", message).help("the file seems to be cut off")];
        if let Some(line) = self.comment {
            return Err(cut_off(format!("{file}:{line}: a comment has no end")));
        }
        if let Position::Rank(_, number, line) = self.at {
            return Err(cut_off(format!("{file}:{line}: the block of rank {number} has no end")));
        }
        let Some(ranks) = self.ranks else {
            let message = format!("`{file}` is empty");
            return Err(vec![Diagnostic::new("empty-schedule", message).help("a schedule starts with `num_ranks 2`")]);
        };
        if ranks == 0 {
            return Err(vec![Diagnostic::new("missing-rank", format!("`{file}` is a schedule of no ranks"))]);
        }
        if self.done.len() < ranks as usize {
            let present = self.done.len();
            return Err(cut_off(format!(
                "{file}: rank {present} is missing; `num_ranks` says {ranks}, there are {present} blocks"
            )));
        }
        // The builder is made only now, so that a false number of ranks has cost nothing.
        let mut program = ProgramBuilder::new(ranks);
        let number = program.file(file);
        for mut rank in self.done {
            rank.from_file(number);
            program.finish_rank(rank);
        }
        program.build()
    }
}

/// Reads a line in the block of a rank.
fn statement(
    scan: &mut Scan<'_, '_>,
    rank: &mut GraphBuilder,
    labels: &mut Labels,
    number: u32,
    ranks: u32,
) -> Result<(), Diagnostic> {
    let start = {
        scan.skip_blanks();
        scan.at
    };
    let mut word = scan.word();
    let mut label = None;
    match scan.peek() {
        b":" => {
            if !word[0].is_ascii_alphabetic() {
                let message = "a label starts with a letter";
                return Err(scan.line.mistake(start..start + word.len(), "bad-label", message));
            }
            scan.word();
            label = Some(word);
            word = scan.word();
        }
        kind @ (b"requires" | b"irequires") => {
            scan.word();
            let op = known(scan, labels, start..start + word.len(), number)?;
            scan.skip_blanks();
            let other = scan.at;
            let length = scan.word().len();
            if length == 0 {
                return Err(scan.expected("a label"));
            }
            let required = known(scan, labels, other..other + length, number)?;
            if !scan.is_over() {
                return Err(scan.expected("the end of the line"));
            }
            if op == required {
                let message = "an operation requires itself";
                return Err(scan.line.mistake(start..scan.at, "cyclic-requirement", message));
            }
            match kind {
                b"requires" => rank.requires(op, required),
                _ => rank.irequires(op, required),
            }
            return Ok(());
        }
        _ => {}
    }
    let at = scan.at - word.len();
    let mut op = match word {
        b"calc" => {
            Op::calc(Time::from_ps(scan.number("a time in nanoseconds", MAX_CALCULATION_NS)? as f64 * PS_PER_UNIT))
        }
        b"send" | b"recv" => {
            let sends = word == b"send";
            let bytes = scan.number("a number of bytes", 1 << 53)?;
            scan.keyword("b")?;
            scan.keyword(if sends { "to" } else { "from" })?;
            scan.skip_blanks();
            let from = scan.at;
            let peer = match sends {
                true => scan.number("the number of a rank", u32::MAX.into())? as u32,
                false => scan.number_or_any("the number of a rank, or -1", ANY_SOURCE)?,
            };
            if peer >= ranks && (sends || peer != ANY_SOURCE) {
                let message = format!("there is no rank {peer}; `num_ranks` says {ranks}");
                return Err(scan.line.mistake(from..scan.at, "unknown-rank", message));
            }
            let mut tag = 0;
            if scan.peek() == b"tag" {
                scan.word();
                tag = scan.number_or_any("a tag, or -1", ANY_TAG)?;
            }
            let envelope = Envelope::world(peer, tag);
            if sends { Op::send(envelope, bytes) } else { Op::recv(envelope, bytes) }
        }
        _ => {
            let range = at..at + word.len().max(1);
            let message = match word.is_empty() {
                true => "the line ends where an operation is expected".to_owned(),
                false => format!("`{}` is not an operation", scan.line.show(at..at + word.len())),
            };
            let help =
                "operations are `send 8b to 1 tag 0`, `recv 8b from 1 tag 0`, `calc 100`; an order is `a requires b`";
            return Err(scan.line.mistake(range, "unknown-operation", message).help(help));
        }
    };
    let (mut cpu, mut nic) = (0, 0);
    if scan.peek() == b"cpu" {
        scan.word();
        cpu = scan.number("a processor", 255)? as u8;
    }
    if word != b"calc" && scan.peek() == b"nic" {
        scan.word();
        nic = scan.number("a network interface", 255)? as u8;
    }
    op = op.on(cpu, nic);
    if !scan.is_over() {
        let help = "after an operation come tag, cpu and nic, in this order, each if it is needed; a comment has a line of its own";
        return Err(scan.expected("the end of the line").help(help));
    }
    if rank.ops().len() >= MOST_OPS {
        let message = format!("a rank has at most {MOST_OPS} operations");
        return Err(scan.line.mistake(at..scan.at, "too-large", message));
    }
    let position = rank.push_at(op, u32::try_from(scan.line.number).unwrap_or(u32::MAX));
    if let Some(label) = label
        && !labels.insert(label, position)
    {
        return Err(scan.line.mistake(start..start + 1, "too-large", "the labels of a rank are longer than 4 GiB"));
    }
    Ok(())
}

/// Returns the operation that a label names.
fn known(scan: &Scan<'_, '_>, labels: &Labels, range: Range<usize>, rank: u32) -> Result<u32, Diagnostic> {
    labels.get(&scan.line.text[range.clone()]).ok_or_else(|| {
        let message = format!("no operation `{}` of rank {rank} above", scan.line.show(range.clone()));
        scan.line.mistake(range, "unknown-label", message).help("a label is known from its line on, within its rank")
    })
}
