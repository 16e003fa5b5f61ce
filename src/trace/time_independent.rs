//! SimGrid's time-independent traces: the actions of each rank, with amounts of work and bytes instead of
//! times.
//!
//! ```text
//! 0 init
//! 0 compute 1e9
//! 0 isend 1 7 1000 6
//! 0 wait 0 1 7
//! 0 finalize
//! ```
//! A trace is one file with the actions of all ranks, or a file that lists one file per rank (as `smpirun
//! -trace-ti` leaves it). There are two dialects, which differ in the number of words of their actions. The
//! present one gives a tag before the size of a message, and the request of a wait. The one of the papers has
//! no tags, and a wait is for the last request. The names of actions may be in any case (`allReduce`,
//! `allreduce`).
//!
//! Only `MPI_COMM_WORLD` appears in such traces. Computation is in operations; a rate converts it to time.
//!
//! Source: F. Desprez, G. S. Markomanolis, M. Quinson, F. Suter, Assessing the Performance of MPI
//! Applications through Time-Independent Trace Replay, PSTI 2011; H. Casanova, F. Desprez, G. S.
//! Markomanolis, F. Suter, Simulation of MPI applications with time-independent traces, CCPE 27(5), 2015; the
//! documentation of SMPI (simgrid.org, "Off-line Simulation").

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use super::calls::{Call, Calls, Clock, Event, Header, Item, ItemError};
use super::lines::{Line, each_line, signed, whole};
use crate::diagnostic::{At, Diagnostic, closest, file_names};
use crate::reading::Input;

/// Function that opens a file of a trace by its name. The name of the trace itself is asked for first.
pub type Open<'a> = dyn Fn(&str) -> Result<Input, Diagnostic> + 'a;

/// Reads a trace.
///
/// `path` is the file with the actions or with the list. Files of a list are searched next to it. `flop_rate`
/// converts operations into time \[1/s\].
///
/// # Errors
/// All mistakes, with file, line and column.
pub fn read(path: &str, open: &Open<'_>, flop_rate: f64, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    let one = |diagnostic| vec![diagnostic];
    let files = files(path, open)?;
    let mut dialect = Dialect::default();
    for (file, at) in &files {
        let input = open(file).map_err(|mistake| one(Diagnostic { at: at.clone(), ..mistake }))?;
        each_line(input, |line| dialect.look(&line))?;
    }
    let Some(ranks) = dialect.ranks() else {
        return Err(one(Diagnostic::new("no-calls", format!("`{path}` holds no actions"))));
    };
    let mut replay = Replay { ranks: BTreeMap::new(), world: ranks, old: dialect.is_old(), flop_rate };
    for (file, _) in &files {
        each_line(open(file).map_err(one)?, |line| replay.line(&line, calls).map(ControlFlow::Continue))?;
    }
    Ok(())
}

/// Returns the files with the actions, each with the place that names it. They are the files of a list,
/// searched next to it, or the one file itself.
///
/// # Errors
/// A file that cannot be read, and a line that is neither an action nor a file.
pub fn files(path: &str, open: &Open<'_>) -> Result<Vec<(String, At)>, Vec<Diagnostic>> {
    let one = |diagnostic| vec![diagnostic];
    let mut files = Vec::new();
    let mut is_list = None;
    each_line(open(path).map_err(one)?, |line| {
        let words: Vec<_> = line.words().take(2).collect();
        match words.as_slice() {
            [] => {}
            _ if line.text.starts_with(b"#") => {}
            [(_, _)] if is_list != Some(false) => {
                is_list = Some(true);
                let name = line.trimmed();
                let beside = file_names::path(path)
                    .parent()
                    .map_or_else(|| file_names::path(&name), |folder| folder.join(file_names::path(&name)));
                let at = line.mistake(0..line.text.len(), "missing-file", "").at;
                files.push((file_names::text_of(&beside), at));
            }
            [(range, word), ..] if is_list == Some(true) || rank_of(word).is_none() => {
                let message = "neither an action of a rank nor the name of a file with actions";
                return Err(line.mistake(range.clone(), "bad-action", message).help("an action is `0 compute 1e9`"));
            }
            _ => {
                is_list = Some(false);
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if is_list != Some(true) {
        files = vec![(path.to_owned(), At::Nowhere)];
    }
    Ok(files)
}

/// Returns the rank that a line starts with: `3`, `p3`, `rank-3`.
fn rank_of(word: &[u8]) -> Option<u32> {
    let digits = word.strip_prefix(b"rank-").or_else(|| word.strip_prefix(b"p")).unwrap_or(word);
    whole(digits).and_then(|rank| u32::try_from(rank).ok()).filter(|&rank| rank < super::calls::MOST_RANKS)
}

/// Features that distinguish the two dialects, and the number of ranks.
#[derive(Default)]
struct Dialect {
    largest: Option<u32>,
    old: bool,
    new: bool,
}

impl Dialect {
    fn look(&mut self, line: &Line<'_>) -> Result<ControlFlow<()>, Diagnostic> {
        let mut words = line.words();
        let (Some((_, rank)), Some((_, action))) = (words.next(), words.next()) else {
            return Ok(ControlFlow::Continue(()));
        };
        if let Some(rank) = rank_of(rank) {
            self.largest = self.largest.max(Some(rank));
        }
        let rest = words.count();
        match action.to_ascii_lowercase().as_slice() {
            b"send" | b"isend" | b"recv" | b"irecv" | b"ssend" | b"issend" => {
                self.old |= rest == 2;
                self.new |= rest == 4;
            }
            b"wait" | b"test" => {
                self.old |= rest == 0;
                self.new |= rest == 3;
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn ranks(&self) -> Option<u32> {
        self.largest.map(|largest| largest + 1)
    }

    fn is_old(&self) -> bool {
        self.old && !self.new
    }
}

/// State of a rank while its actions are read.
#[derive(Default)]
struct RankState {
    /// Computation since the last call \[ns\].
    computed: f64,
    clock: u64,
    /// Open requests in the order in which they were made: number, source, destination, tag.
    open: Vec<(u64, i64, i64, i64)>,
    made: u64,
    /// Source, destination and tag of the requests that were tested. A test may have found one complete.
    tested: Vec<(i64, i64, i64)>,
    /// Size of an element if no type is named \[B\].
    default_element: u64,
}

struct Replay {
    ranks: BTreeMap<u32, RankState>,
    world: u32,
    old: bool,
    flop_rate: f64,
}

const ACTIONS: &str = "init finalize compute sleep location comm_size comm_split comm_dup migrate send ssend isend \
    issend recv irecv sendrecv wait waitall test barrier bcast reduce allreduce alltoall alltoallv gather gatherv \
    scatter scatterv allgather allgatherv reducescatter scan";

/// Words of an action after its name.
struct Words<'a, 'l> {
    line: &'l Line<'a>,
    words: Vec<(Range<usize>, &'a [u8])>,
    next: usize,
}

impl Words<'_, '_> {
    fn left(&self) -> usize {
        self.words.len() - self.next
    }

    fn bad(&self, what: &str) -> Diagnostic {
        match self.words.get(self.next) {
            Some((range, _)) => {
                let message = format!("`{}` is not {what}", self.line.show(range.clone()));
                self.line.mistake(range.clone(), "bad-number", message)
            }
            None => {
                let end = self.line.text.len();
                self.line.mistake(end..end + 1, "truncated-action", format!("the line ends where {what} is expected"))
            }
        }
    }

    /// Reads an amount of work or data: any number that is not negative, like `1e6`.
    fn amount(&mut self, what: &str) -> Result<f64, Diagnostic> {
        let value = self.words.get(self.next).and_then(|(_, word)| std::str::from_utf8(word).ok()?.parse::<f64>().ok());
        let value = value.filter(|value| (0.0..=9.0e15).contains(value)).ok_or_else(|| self.bad(what))?;
        self.next += 1;
        Ok(value)
    }

    fn number(&mut self, what: &str) -> Result<i64, Diagnostic> {
        let value = self.words.get(self.next).and_then(|(_, word)| signed(word)).ok_or_else(|| self.bad(what))?;
        self.next += 1;
        Ok(value)
    }

    /// Reads a rank.
    fn rank(&mut self, ranks: u32) -> Result<i32, Diagnostic> {
        let value = self.words.get(self.next).and_then(|(_, word)| signed(word));
        let value = value.filter(|&value| (-1..i64::from(ranks)).contains(&value));
        let value = value.ok_or_else(|| self.bad(&format!("a rank (there are {ranks})")))?;
        self.next += 1;
        Ok(value as i32)
    }

    /// Returns the bytes of an element of the type that is named next, or the default if none is named.
    fn element(&mut self, default: u64) -> Result<u64, Diagnostic> {
        let Some((_, word)) = self.words.get(self.next) else { return Ok(default) };
        let element = match signed(word).ok_or_else(|| self.bad("the number of a type"))? {
            // double, int, char, short, long, float, byte
            code @ 0..=6 => [8, 4, 1, 2, 8, 4, 1][code as usize],
            // For every other type a trace has bytes already.
            _ => 1,
        };
        self.next += 1;
        Ok(element)
    }

    /// Skips up to `most` words.
    fn skip(&mut self, most: usize) {
        self.next += most.min(self.left());
    }

    /// Refuses further words after those of the action.
    fn ended(&self, action: &str) -> Result<(), Diagnostic> {
        let Some((first, _)) = self.words.get(self.next) else { return Ok(()) };
        let last = self.words.last().map_or(first.end, |(range, _)| range.end);
        let message = format!("`{action}` has no more words than those before `{}`", self.line.show(first.clone()));
        Err(self.line.mistake(first.start..last, "bad-action", message).help("leave out the surplus words"))
    }
}

impl Replay {
    fn line(&mut self, line: &Line<'_>, calls: &mut impl Calls) -> Result<(), Diagnostic> {
        let mut words = line.words();
        let Some((place, rank)) = words.next() else { return Ok(()) };
        if rank.starts_with(b"#") {
            return Ok(());
        }
        let Some((name_at, name)) = words.next() else {
            // Published traces have stray characters on lines of their own.
            return match rank_of(rank) {
                None => Ok(()),
                Some(_) => Err(line.mistake(place, "truncated-action", "the line ends where an action is expected")),
            };
        };
        let Some(me) = rank_of(rank) else {
            return Err(line.mistake(place, "bad-action", "a line starts with the number of a rank"));
        };
        let wrong = |wrong: ItemError| line.mistake(0..line.text.len(), wrong.code, wrong.message);
        if !self.ranks.contains_key(&me) {
            let header = Header { clock: Clock::None, ..Header::new(me, self.world) };
            calls.item(me, line.number, Item::Header(&header)).map_err(wrong)?;
        }
        let rank = self.ranks.entry(me).or_insert_with(|| RankState { default_element: 1, ..RankState::default() });
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let words = Words { line, words: words.collect(), next: 0 };
        let mut action = Action { me, world: self.world, old: self.old, name: &name, name_at, rank, words, work: 0.0 };
        let event = action.event(self.flop_rate)?;
        action.words.ended(&name)?;
        let work = action.work;
        if let Some(mut event) = event {
            let computed = rank.computed.round();
            event.cpu = Some(computed as u64);
            rank.computed -= computed;
            rank.clock += computed as u64;
            (event.begin, event.end) = (rank.clock, rank.clock);
            calls.item(me, line.number, Item::Event(&event)).map_err(wrong)?;
        }
        rank.computed += work / self.flop_rate * NS_PER_S;
        Ok(())
    }
}

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// An action on its way to a call.
struct Action<'a, 'l> {
    me: u32,
    world: u32,
    old: bool,
    name: &'a str,
    name_at: Range<usize>,
    rank: &'a mut RankState,
    words: Words<'a, 'l>,
    /// Operations done after the call.
    work: f64,
}

impl Action<'_, '_> {
    /// Returns the call; `None` for actions that only compute or inform.
    fn event(&mut self, flop_rate: f64) -> Result<Option<Event>, Diagnostic> {
        let mut event = Event::new(Call::Init, 0, 0);
        match self.name {
            "init" => {
                self.rank.default_element = if self.words.left() > 0 { 8 } else { 1 };
                self.words.skip(1);
                return Ok(Some(event));
            }
            "finalize" => event.call = Call::Finalize,
            "compute" => {
                self.work = self.words.amount("a number of operations")?;
                return Ok(None);
            }
            "sleep" => {
                self.work = self.words.amount("a number of seconds")? * flop_rate;
                return Ok(None);
            }
            "location" | "comm_size" | "comm_split" | "comm_dup" | "migrate" => {
                self.words.skip(usize::MAX);
                return Ok(None);
            }
            "sendrecv" => {
                event.call = Call::Sendrecv;
                let sent = self.words.amount("an amount of data")?;
                event.peer = self.words.rank(self.world)?;
                let received = self.words.amount("an amount of data")?;
                event.peer2 = self.words.rank(self.world)?;
                let element = self.words.element(self.rank.default_element)?;
                event.bytes = bytes(sent, element);
                event.bytes2 = bytes(received, self.words.element(element)?);
            }
            "wait" | "test" | "waitall" => {
                event.call = if self.name == "waitall" { Call::Waitall } else { Call::Wait };
                event.requests = self.awaited()?;
                // A test does not tell its result. A request that is not waited for later was complete by then.
                if self.name == "test" {
                    let tested = self.rank.open.iter().filter(|open| event.requests.contains(&open.0));
                    let tested: Vec<_> = tested.map(|&(_, src, dst, tag)| (src, dst, tag)).collect();
                    let new = tested.into_iter().filter(|key| !self.rank.tested.contains(key)).collect::<Vec<_>>();
                    self.rank.tested.extend(new);
                    return Ok(None);
                }
                if event.requests.is_empty() {
                    return Ok(None);
                }
                let requests = &event.requests;
                self.rank.open.retain(|open| !requests.contains(&open.0));
            }
            _ => {
                event.call = call_named(self.name).ok_or_else(|| self.unknown())?;
                match event.call {
                    Call::Send | Call::Ssend | Call::Isend | Call::Issend | Call::Recv | Call::Irecv => {
                        self.message(&mut event)?;
                    }
                    _ => self.collective(&mut event)?,
                }
            }
        }
        Ok(Some(event))
    }

    fn message(&mut self, event: &mut Event) -> Result<(), Diagnostic> {
        let receives = matches!(event.call, Call::Recv | Call::Irecv);
        event.peer = self.words.rank(self.world)?;
        if event.peer < 0 {
            if !receives {
                self.words.next -= 1;
                return Err(self.words.bad("a rank"));
            }
            event.flags = event.flags.and(super::calls::Flags::ANY_SOURCE);
        }
        if !self.old {
            event.tag = self.words.number("a tag")? as i32;
            if event.tag < 0 {
                if !receives {
                    self.words.next -= 1;
                    return Err(self.words.bad("a tag"));
                }
                event.flags = event.flags.and(super::calls::Flags::ANY_TAG);
            }
        }
        let count = self.words.amount("an amount of data")?;
        event.bytes = bytes(count, self.words.element(self.rank.default_element)?);
        if event.call.makes_request() {
            self.rank.made += 1;
            event.requests.push(self.rank.made);
            let (me, peer) = (i64::from(self.me), i64::from(event.peer));
            let (src, dst) = if receives { (peer, me) } else { (me, peer) };
            self.rank.open.push((self.rank.made, src, dst, event.tag.into()));
        }
        Ok(())
    }

    /// Returns the requests that a wait is for.
    fn awaited(&mut self) -> Result<Vec<u64>, Diagnostic> {
        let open = &self.rank.open;
        if self.name == "waitall" {
            // (SMPI writes their number.)
            self.words.skip(1);
            return Ok(open.iter().map(|open| open.0).collect());
        }
        if self.words.left() == 0 {
            return match open.last() {
                Some(last) => Ok(vec![last.0]),
                None if self.name == "test" => Ok(Vec::new()),
                None => {
                    let message = "a wait, and nothing to wait for";
                    Err(self.words.line.mistake(self.name_at.clone(), "unknown-request", message))
                }
            };
        }
        let at = self.words.next;
        let key = (self.words.number("a rank")?, self.words.number("a rank")?, self.words.number("a tag")?);
        let found = open.iter().find(|&&(_, src, dst, tag)| {
            let fits = |open: i64, asked: i64| open == asked || open < 0;
            fits(src, key.0) && fits(dst, key.1) && fits(tag, key.2)
        });
        match found {
            Some(open) => Ok(vec![open.0]),
            None if self.name == "test" || self.rank.tested.contains(&key) => Ok(Vec::new()),
            None => {
                let (src, dst, tag) = key;
                let message = format!("no request from rank {src} to rank {dst} with tag {tag} is under way");
                let range = self.words.words[at].0.start..self.words.words[self.words.next - 1].0.end;
                Err(self.words.line.mistake(range, "unknown-request", message))
            }
        }
    }

    fn collective(&mut self, event: &mut Event) -> Result<(), Diagnostic> {
        const DATA: &str = "an amount of data";
        const WORK: &str = "a number of operations";
        let default = self.rank.default_element;
        let words = &mut self.words;
        let ranks = self.world;
        let root = |words: &mut Words<'_, '_>| if words.left() > 0 { words.rank(ranks) } else { Ok(0) };
        let each = |words: &mut Words<'_, '_>| {
            (0..ranks).map(|_| words.amount("a count for each rank")).collect::<Result<Vec<_>, _>>()
        };
        let scaled =
            |counts: &[f64], element: u64| counts.iter().map(|&count| bytes(count, element)).collect::<Vec<_>>();
        event.call = event.call.blocking();
        match event.call {
            Call::Barrier => {}
            Call::Bcast | Call::Reduce | Call::Allreduce | Call::Scan | Call::Exscan => {
                let count = words.amount(DATA)?;
                if event.call != Call::Bcast {
                    self.work = words.amount(WORK)?;
                }
                if matches!(event.call, Call::Bcast | Call::Reduce) {
                    event.peer = root(words)?;
                }
                event.bytes = bytes(count, words.element(default)?);
            }
            Call::Alltoall | Call::Allgather | Call::Gather | Call::Scatter => {
                let (sent, received) = (words.amount(DATA)?, words.amount(DATA)?);
                if matches!(event.call, Call::Gather | Call::Scatter) {
                    event.peer = root(words)?;
                }
                let element = words.element(default)?;
                event.bytes = match event.call {
                    Call::Scatter => bytes(received, words.element(element)?),
                    _ => bytes(sent, element),
                };
                // (Skips the other type, if it was not needed.)
                words.skip(usize::from(event.call != Call::Scatter));
            }
            Call::Gatherv | Call::Allgatherv => {
                let own = words.amount(DATA)?;
                let counts = each(words)?;
                let is_all = event.call == Call::Allgatherv;
                if !is_all {
                    event.peer = root(words)?;
                }
                // Types and places of the parts are optional, independently of each other.
                let without_types = is_all && (3..=ranks as usize).contains(&words.left());
                let element = if without_types { default } else { words.element(default)? };
                words.skip(usize::from(!without_types));
                if is_all && words.left() > 0 {
                    each(words)?;
                }
                event.bytes = bytes(own, element);
                // Only the root of a gatherv knows them.
                if is_all || event.peer == self.me as i32 {
                    event.counts2 = scaled(&counts, element);
                }
            }
            Call::Scatterv => {
                let counts = each(words)?;
                let own = words.amount(DATA)?;
                event.peer = root(words)?;
                let element = words.element(default)?;
                words.skip(1);
                event.bytes2 = bytes(own, element);
                if event.peer == self.me as i32 {
                    event.counts = scaled(&counts, element);
                }
            }
            Call::Alltoallv => {
                words.amount(DATA)?;
                let sent = each(words)?;
                words.amount(DATA)?;
                let received = each(words)?;
                let element = words.element(default)?;
                event.counts = scaled(&sent, element);
                event.counts2 = scaled(&received, words.element(element)?);
            }
            Call::ReduceScatter => {
                let counts = each(words)?;
                self.work = words.amount(WORK)?;
                event.counts = scaled(&counts, words.element(default)?);
            }
            _ => return Err(self.unknown()),
        }
        Ok(())
    }

    /// Returns the error for an unknown action.
    fn unknown(&self) -> Diagnostic {
        let message = format!("unknown action `{}`", self.name);
        let mistake = self.words.line.mistake(self.name_at.clone(), "unknown-action", message);
        match closest(self.name, ACTIONS.split(' ')) {
            Some(known) => mistake.help(format!("write `{known}`")),
            None => mistake,
        }
    }
}

/// Returns the call that an action is named after: `reducescatter` is `Reduce_scatter`.
fn call_named(action: &str) -> Option<Call> {
    let letters = |call: Call| call.name().bytes().filter(|&byte| byte != b'_').map(|byte| byte.to_ascii_lowercase());
    Call::ALL.iter().copied().find(|&call| letters(call).eq(action.bytes()))
}

/// Returns the bytes of `count` elements.
fn bytes(count: f64, element: u64) -> u64 {
    (count * element as f64).round() as u64
}
