//! Text traces of the NAS Parallel Benchmarks: one event per line, the ranks one after another.
//!
//! ```text
//! #hxtrace-text 1
//! #title NPB3.4-MPI lu class S np 4
//! #ranks 4
//! #gap_overhead_ns 400
//! #columns op cpu_gap_ns peer tag bytes comm reqs site
//! #site 0 bcast_inputs.f:29
//! #rank 0
//! Bcast  305265  0  0  4  0  -  0
//! ```
//! Columns are separated by tabs. Peers are ranks of the world, -1 nobody, -2 `MPI_PROC_NULL`. A `*` before
//! peer or tag marks a wildcard of the program. `reqs` are the requests made or completed, separated by
//! commas.
//!
//! Such traces have no time inside calls, and do not list the members of a communicator. Its members are
//! assumed to be all ranks that make the same collective calls, of the same sizes, on one of their
//! communicators.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::calls::{Call, CallKind, Calls, Clock, Communicator, Event, Flags, Header, Item, ItemError, Site};
use super::lines::{Line, each_line, signed, whole};
use crate::diagnostic::{Diagnostic, closest};
use crate::reading::Input;

/// First bytes of such a file.
pub const SIGNATURE: &[u8] = b"#hxtrace-text";

const COLUMNS: usize = 8;

/// Reads a trace. `open` opens it, and is called twice.
///
/// # Errors
/// All mistakes, with line and column.
pub fn read(open: &dyn Fn() -> Result<Input, Diagnostic>, calls: &mut impl Calls) -> Result<(), Vec<Diagnostic>> {
    let opened = || open().map_err(|diagnostic| vec![diagnostic]);
    let mut members = MemberFinder::default();
    let mut top = HeaderState::default();
    each_line(opened()?, |line| members.line(&line, &mut top))?;
    let communicators = members.communicators();

    let mut top = HeaderState::default();
    let mut event = Event::new(Call::Init, 0, 0);
    let mut clock = 0;
    let rank_of = |known: &Option<u32>| known.unwrap_or(0);
    each_line(opened()?, |line| {
        let wrong = |wrong: ItemError| line.mistake(0..line.text.len(), wrong.code, wrong.message);
        match top.line(&line)? {
            LineKind::Nothing => {}
            LineKind::Rank(rank) => {
                clock = 0;
                let header = Header { clock: Clock::Cpu, empty_gap: top.overhead, ..Header::new(rank, top.ranks) }
                    .note("title", &top.title);
                calls.item(rank, line.number, Item::Header(&header)).map_err(wrong)?;
                for (&index, site) in &top.sites {
                    calls.item(rank, line.number, Item::Site(index, site)).map_err(wrong)?;
                }
                for (&(_, index), communicator) in communicators.range((rank, 0)..=(rank, u32::MAX)) {
                    let item = Item::Communicator(index, communicator);
                    calls.item(rank, line.number, item).map_err(wrong)?;
                }
            }
            LineKind::Event => {
                let rank = rank_of(&top.rank);
                top.event(&line, &mut event)?;
                clock += event.cpu.unwrap_or(0);
                (event.begin, event.end) = (clock, clock);
                if event.comm > 0 && event.peer >= 0 {
                    // Peers in the file are ranks of the world.
                    let members = communicators.get(&(rank, event.comm)).map(|known| known.members.as_slice());
                    let at = members.and_then(|members| members.binary_search(&(event.peer as u32)).ok());
                    event.peer = at.map_or(Event::NOBODY, |at| at as i32);
                }
                calls.item(rank, line.number, Item::Event(&event)).map_err(wrong)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if top.ranks == 0 {
        return Err(vec![Diagnostic::new("no-header", "the file does not say how many ranks there are (`#ranks`)")]);
    }
    Ok(())
}

/// State from the lines that start with `#`.
#[derive(Default)]
struct HeaderState {
    title: String,
    ranks: u32,
    overhead: u64,
    sites: BTreeMap<u32, Site>,
    /// Rank of the events that follow.
    rank: Option<u32>,
}

/// Kind of a line.
enum LineKind {
    Nothing,
    Rank(u32),
    Event,
}

impl HeaderState {
    fn line(&mut self, line: &Line<'_>) -> Result<LineKind, Diagnostic> {
        let Some(comment) = line.text.strip_prefix(b"#") else {
            return match line.text.iter().all(u8::is_ascii_whitespace) {
                true => Ok(LineKind::Nothing),
                false if self.rank.is_none() => Err(line
                    .mistake(0..line.text.len(), "no-header", "an event before it is said whose it is")
                    .help("a line `#rank 0` comes first")),
                false => Ok(LineKind::Event),
            };
        };
        let mut words = line.words();
        let name = words.next().map_or(&[][..], |(_, name)| name);
        let number = |word: Option<(Range<usize>, &[u8])>, end: u64| match word {
            Some((range, word)) => match whole(word) {
                Some(value) if value < end => Ok(value),
                _ => Err(line.mistake(range, "bad-number", format!("not a whole number below {end}"))),
            },
            None => Err(line.mistake(0..line.text.len(), "bad-number", "a number is missing")),
        };
        match name {
            b"#title" => self.title = String::from_utf8_lossy(&comment[b"title".len()..]).trim().to_owned(),
            b"#ranks" => self.ranks = number(words.next(), u64::from(super::calls::MOST_RANKS) + 1)? as u32,
            b"#gap_overhead_ns" => self.overhead = number(words.next(), 1 << 40)?,
            b"#site" => {
                let index = number(words.next(), 1 << 24)? as u32;
                let name: Vec<_> = words.map(|(_, word)| String::from_utf8_lossy(word)).collect();
                self.sites.insert(index, Site { name: name.join(" "), ..Site::default() });
            }
            b"#rank" => {
                let rank = number(words.next(), u64::from(self.ranks))? as u32;
                self.rank = Some(rank);
                return Ok(LineKind::Rank(rank));
            }
            b"#columns" => {
                let columns: Vec<_> = words.map(|(_, word)| word).collect();
                let expected: [&[u8]; COLUMNS] =
                    [b"op", b"cpu_gap_ns", b"peer", b"tag", b"bytes", b"comm", b"reqs", b"site"];
                if columns != expected {
                    let help = "op cpu_gap_ns peer tag bytes comm reqs site are understood, in this order";
                    return Err(line.mistake(0..line.text.len(), "unknown-columns", "other columns").help(help));
                }
            }
            // Other comments are ignored.
            _ => {}
        }
        Ok(LineKind::Nothing)
    }

    fn event(&self, line: &Line<'_>, event: &mut Event) -> Result<(), Diagnostic> {
        let cells = cells(line)?;
        let text = |i: usize| &line.text[cells[i].clone()];
        let bad = |i: usize, what: &str| line.mistake(cells[i].clone(), "bad-number", format!("not {what}"));
        let call = call(line, &cells[0])?;
        let cpu = whole(text(1)).ok_or_else(|| bad(1, "a number of nanoseconds"))?;
        let open = |i: usize| match text(i).strip_prefix(b"*") {
            Some(number) => (signed(number), true),
            None => (signed(text(i)), false),
        };
        let (peer, any_source) = open(2);
        let peer = peer.and_then(|peer| i32::try_from(peer).ok());
        let peer = peer.filter(|&peer| (Event::PROC_NULL..self.ranks as i32).contains(&peer));
        let (tag, any_tag) = open(3);
        let tag = tag.and_then(|tag| i32::try_from(tag).ok());
        *event = Event {
            cpu: Some(cpu),
            peer: peer.ok_or_else(|| bad(2, &format!("a rank below {}, -1 or -2", self.ranks)))?,
            tag: tag.ok_or_else(|| bad(3, "a tag"))?,
            bytes: whole(text(4)).ok_or_else(|| bad(4, "a number of bytes"))?,
            comm: whole(text(5)).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| bad(5, "a communicator"))?,
            site: signed(text(7))
                .filter(|site| (-1..1 << 24).contains(site))
                .ok_or_else(|| bad(7, "a call site, or -1"))? as u32,
            ..Event::new(call, 0, 0)
        };
        event.site = event.site.wrapping_add(1);
        for (given, flag) in [(any_source, Flags::ANY_SOURCE), (any_tag, Flags::ANY_TAG)] {
            if given {
                event.flags = event.flags.and(flag);
            }
        }
        if call == Call::Irecv {
            event.flags = event.flags.and(Flags::CAPACITY);
        }
        // For an alltoallv the file has the total that the rank receives.
        if matches!(call, Call::Alltoallv | Call::Ialltoallv) {
            event.bytes2 = std::mem::take(&mut event.bytes);
        }
        if matches!(call, Call::Init | Call::Finalize) {
            event.peer = Event::NOBODY;
        }
        if text(6) != b"-" {
            for number in text(6).split(|&byte| byte == b',') {
                event.requests.push(whole(number).ok_or_else(|| bad(6, "the numbers of requests, or -"))?);
            }
        }
        Ok(())
    }
}

fn cells(line: &Line<'_>) -> Result<[Range<usize>; COLUMNS], Diagnostic> {
    let mut cells: [Range<usize>; COLUMNS] = Default::default();
    let (mut count, mut start) = (0, 0);
    for cell in line.text.split(|&byte| byte == b'\t') {
        if let Some(place) = cells.get_mut(count) {
            *place = start..start + cell.len();
        }
        count += 1;
        start += cell.len() + 1;
    }
    if count != COLUMNS {
        let message = format!("this line has {count} columns, not {COLUMNS}");
        return Err(line
            .mistake(0..line.text.len(), "wrong-width", message)
            .help("is the file cut off here? columns are separated by tabs"));
    }
    Ok(cells)
}

fn call(line: &Line<'_>, cell: &Range<usize>) -> Result<Call, Diagnostic> {
    let name = String::from_utf8_lossy(&line.text[cell.clone()]);
    Call::from_name(&name).ok_or_else(|| {
        let message = format!("unknown call `{}`", line.show(cell.clone()));
        let mistake = line.mistake(cell.clone(), "unknown-call", message);
        match closest(&name, Call::ALL.iter().map(|call| call.name())) {
            Some(known) => mistake.help(format!("write `{known}`")),
            None => mistake,
        }
    })
}

/// Members of communicators, derived from the collective calls.
#[derive(Default)]
struct MemberFinder {
    /// Hash of the collective calls by rank and communicator.
    calls: BTreeMap<(u32, u32), u64>,
}

impl MemberFinder {
    fn line(&mut self, line: &Line<'_>, top: &mut HeaderState) -> Result<ControlFlow<()>, Diagnostic> {
        if let LineKind::Event = top.line(line)?
            && let Some(rank) = top.rank
        {
            let cells = cells(line)?;
            let comm = whole(&line.text[cells[5].clone()]).and_then(|comm| u32::try_from(comm).ok());
            if let Some(comm @ 1..) = comm {
                let hash = self.calls.entry((rank, comm)).or_default();
                let call = call(line, &cells[0])?;
                if matches!(call.kind(), CallKind::Collective | CallKind::Icollective | CallKind::Communicator) {
                    // Blocks of these calls differ from rank to rank.
                    let bytes = match call.blocking() {
                        Call::Alltoallv | Call::Alltoallw | Call::Gatherv | Call::Scatterv | Call::Allgatherv => 0,
                        _ => whole(&line.text[cells[4].clone()]).unwrap_or(0),
                    };
                    use std::hash::Hasher;
                    let mut hasher = rustc_hash::FxHasher::default();
                    hasher.write_u64(*hash);
                    hasher.write_u8(call.code());
                    hasher.write_u64(bytes);
                    *hash = hasher.finish();
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns each communicator with its members, by rank and index.
    fn communicators(&self) -> BTreeMap<(u32, u32), Communicator> {
        let mut groups: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (&(rank, _), &hash) in &self.calls {
            let group = groups.entry(hash).or_default();
            if group.last() != Some(&rank) {
                group.push(rank);
            }
        }
        self.calls
            .iter()
            .map(|(&key, &hash)| {
                let members = groups.get(&hash).cloned().unwrap_or_default();
                (key, Communicator { id: hash | 1, members, remote: Vec::new() })
            })
            .collect()
    }
}
