//! The page: one HTML file with everything in it.
//!
//! The parts of `assets/` are put into each other, and the data behind them as JSON and packed numbers; the scripts build
//! all of the page from these. What comes from outside (names, paths, sources) is data to the last: it is never made HTML,
//! here or by the scripts, and the page forbids its browser to load anything.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::regions::Region;
use crate::run::{Kept, Message};
use crate::totals::ByKind;
use crate::{Finding, PageData, Role, Rule, Run, Source, Together, pack};

const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
const SCRIPTS: [&str; 8] = [
    include_str!("assets/basics.js"),
    include_str!("assets/data.js"),
    include_str!("assets/advice.js"),
    include_str!("assets/source.js"),
    include_str!("assets/regions.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/panels.js"),
    include_str!("assets/main.js"),
];

/// Above so many ranks, the page has what lines and calls cost in sum only, and pairs of ranks in blocks.
const MOST_RANKS: u32 = 256;

/// Writes the page.
///
/// # Errors
///
/// Where `out` cannot be written to.
pub fn page(data: &PageData, out: &mut impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("<!--{") {
        let (name, after) = after.split_once("}-->").unwrap_or((after, ""));
        out.write_all(before.as_bytes())?;
        match name {
            "title" => out.write_all(escape(&data.program).as_bytes())?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "scripts" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            _ => packed_data(data, out)?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// The data of the page, as `script` elements that are not scripts.
fn packed_data(data: &PageData, out: &mut impl Write) -> io::Result<()> {
    let mut tables = Tables::default();
    let spans: Vec<String> = data.run.spans.iter().map(|spans| pack::base64(&tables.spans(spans))).collect();
    let (sent, messages) = tables.messages(&data.run);
    let head = serde_json::to_string(&head(data, &tables, sent)).map_err(io::Error::other)?;
    // In JSON `<` stands in strings only; written like this, nothing in them ends the element.
    writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", head.replace('<', "\\u003c"))?;
    writeln!(out, "<script type=\"text/plain\" id=\"path\">{}</script>", pack::base64(&path(&data.run)))?;
    for (kind, ranks) in [("spans", &spans), ("messages", &messages)] {
        for (rank, text) in ranks.iter().enumerate() {
            writeln!(out, "<script type=\"text/plain\" id=\"{kind}-{rank}\">{text}</script>")?;
        }
    }
    Ok(())
}

/// The critical path: of each piece its rank and whether it is a message in one number, the sender of a message, its distance from the
/// piece before, its length.
fn path(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.path.len() * 5);
    let mut end = 0;
    for piece in &run.path {
        pack::number(&mut bytes, u64::from(piece.rank) * 2 + u64::from(piece.from.is_some()));
        if let Some(from) = piece.from {
            pack::number(&mut bytes, from.into());
        }
        pack::number(&mut bytes, piece.begin - end);
        pack::number(&mut bytes, piece.end - piece.begin);
        end = piece.end;
    }
    bytes
}

/// Text as HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// All but the packed numbers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    program: &'a str,
    facts: &'a [(String, String)],
    run_is: &'a str,
    findings: &'a [Finding],
    rules: &'a [Rule],
    together: &'a Option<Together>,
    notes: &'a [String],
    roles: BTreeMap<Role, &'static str>,
    files: Vec<Source>,
    /// File (an index of `files`, -1: none) and line of each place; the first is the unknown one.
    places: Vec<(i64, u32)>,
    calls: &'a [String],
    classes: Vec<Class>,
    links: Vec<Link>,
    /// Messages in the page of each sender.
    sent: Vec<usize>,
    /// Spans in the page of each rank.
    spans: Vec<usize>,
    /// Regions of the program: name, executions, from when to when \[ns\], each as a distance from the one before.
    regions: Vec<(&'a str, u64, Vec<u64>)>,
    /// The region that is looked at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<usize>,
    /// Pieces of the critical path.
    path: usize,
    ranks: u32,
    end: u64,
    resolution: u64,
    stride: u64,
    events: u64,
    messages: u64,
    bytes: u64,
    /// Time by kind, and the end.
    uses: Vec<(ByKind, u64)>,
    /// Place, rank (-1: all), time by kind, calls, bytes, longest.
    lines: Vec<(u32, i64, ByKind, u64, u64, u64)>,
    /// Call, rank (-1: all), how many, time, longest, bytes.
    call_sums: Vec<(u32, i64, u64, u64, u64, u64)>,
    /// Ranks in one row of `pairs`.
    block: u32,
    /// Sender, receiver (or block of them), messages, bytes.
    pairs: Vec<(u32, u32, u64, u64)>,
    /// Bits of the size, messages, bytes.
    sizes: Vec<(u32, u64, u64)>,
}

fn head<'a>(data: &'a PageData, tables: &Tables, sent: Vec<usize>) -> Head<'a> {
    let (run, totals) = (&data.run, &data.run.totals);
    let files = files(data);
    let numbers: BTreeMap<&str, i64> = files.iter().zip(0..).map(|(file, i)| (file.path.as_str(), i)).collect();
    let places = run.places.iter().map(|(file, line)| (numbers.get(file.as_str()).copied().unwrap_or(-1), *line));
    let by_rank = run.ranks() <= MOST_RANKS;
    let rank_of = |rank: u32| if by_rank { i64::from(rank) } else { -1 };

    let mut lines = BTreeMap::new();
    for (&(place, rank), line) in &totals.lines {
        let (ns, calls, bytes, longest): &mut (ByKind, u64, u64, u64) =
            lines.entry((place.0, rank_of(rank))).or_default();
        ns.iter_mut().zip(line.ns).for_each(|(sum, more)| *sum += more);
        *calls += line.calls;
        *bytes = bytes.saturating_add(line.bytes);
        *longest = line.longest.max(*longest);
    }
    let mut calls = BTreeMap::new();
    for (&(call, rank), of_rank) in &totals.calls {
        let (count, ns, longest, bytes): &mut (u64, u64, u64, u64) = calls.entry((call, rank_of(rank))).or_default();
        *count += of_rank.count;
        *ns += of_rank.ns;
        *longest = of_rank.longest.max(*longest);
        *bytes = bytes.saturating_add(of_rank.bytes);
    }
    let block = run.ranks().div_ceil(MOST_RANKS).max(1);
    let mut pairs = BTreeMap::new();
    for (&(from, to), traffic) in &totals.pairs {
        let (messages, bytes): &mut (u64, u64) = pairs.entry((from / block, to / block)).or_default();
        *messages += traffic.messages;
        *bytes = bytes.saturating_add(traffic.bytes);
    }

    Head {
        program: &data.program,
        facts: &data.facts,
        run_is: &data.run_is,
        findings: &data.findings,
        rules: &data.rules,
        together: &data.together,
        notes: &data.notes,
        roles: ROLES.map(|role| (role, role.name())).into(),
        places: places.collect(),
        files,
        calls: &run.calls,
        classes: in_order(&tables.classes),
        links: in_order(&tables.links),
        sent,
        spans: run.spans.iter().map(Vec::len).collect(),
        regions: run
            .regions
            .iter()
            .map(|region| (region.name.as_str(), region.executions, distances(region)))
            .collect(),
        region: run.looked_at,
        path: run.path.len(),
        ranks: run.ranks(),
        end: run.end(),
        resolution: run.resolution,
        stride: run.stride,
        events: totals.events,
        messages: totals.all.messages,
        bytes: totals.all.bytes,
        uses: totals.ranks.iter().map(|rank| (rank.ns, rank.end)).collect(),
        lines: lines
            .into_iter()
            .map(|((place, rank), (ns, n, bytes, most))| (place, rank, ns, n, bytes, most))
            .collect(),
        call_sums: calls
            .into_iter()
            .map(|((call, rank), (n, ns, most, bytes))| (call, rank, n, ns, most, bytes))
            .collect(),
        block,
        pairs: pairs.into_iter().map(|((from, to), (messages, bytes))| (from, to, messages, bytes)).collect(),
        sizes: totals.sizes.iter().map(|(&bits, traffic)| (bits, traffic.messages, traffic.bytes)).collect(),
    }
}

/// Begins and ends of a region, each as a distance from what is before it.
fn distances(region: &Region) -> Vec<u64> {
    let mut last = 0;
    let moments = region.spans.iter().flat_map(|&(begin, end)| [begin, end]);
    moments.map(|moment| moment - std::mem::replace(&mut last, moment)).collect()
}

const ROLES: [Role; 7] =
    [Role::Communication, Role::Completion, Role::Overlap, Role::Forbids, Role::Companion, Role::Partner, Role::Cause];

/// The sources, and the files that are named but have none.
fn files(data: &PageData) -> Vec<Source> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: Vec<Source> = Vec::new();
    for source in &data.sources {
        if known.insert(&source.path, files.len()).is_none() {
            files.push(source.clone());
        }
    }
    let of_marks = data.findings.iter().flat_map(|finding| finding.marks.iter().map(|mark| mark.file.as_str()));
    for path in of_marks.chain(data.run.places.iter().map(|(file, _)| file.as_str())) {
        if !path.is_empty() && !known.contains_key(path) {
            known.insert(path, files.len());
            files.push(Source { path: path.to_owned(), text: None });
        }
    }
    files
}

/// What many spans have in common: kind, call, place, peer (-1: none), whether it is several.
type Class = (Kind8, u32, u32, i64, u8);
/// The number of a kind in `Kind::ALL`.
type Kind8 = u8;
/// What many messages have in common: receiver, where sent, where received.
type Link = (u32, u32, u32);

/// What spans and messages have in common, numbered as it turns up.
#[derive(Default)]
struct Tables {
    classes: BTreeMap<Class, usize>,
    links: BTreeMap<Link, usize>,
}

/// Keys in the order of their numbers.
fn in_order<K: Copy>(table: &BTreeMap<K, usize>) -> Vec<K> {
    let mut keys: Vec<(usize, K)> = table.iter().map(|(&key, &number)| (number, key)).collect();
    keys.sort_unstable_by_key(|&(number, _)| number);
    keys.into_iter().map(|(_, key)| key).collect()
}

fn number_of<K: Ord>(table: &mut BTreeMap<K, usize>, key: K) -> u64 {
    let next = table.len();
    *table.entry(key).or_insert(next) as u64
}

impl Tables {
    /// The spans of a rank. Each is: its class, whether bytes or tag differ from those of the span before, and how its
    /// event follows from the one before, in one number; its distance from the span before; its length; what differs.
    fn spans(&mut self, spans: &[Kept]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(spans.len() * 6);
        let (mut end, mut event, mut last) = (0, u64::MAX, (0, 0));
        for span in spans {
            let peer = span.peer.map_or(-1, i64::from);
            let class = (span.kind as u8, span.call, span.place.0, peer, u8::from(span.several));
            let class = number_of(&mut self.classes, class);
            let changed = (span.bytes, span.tag) != last;
            let step = match span.event {
                None => 0,
                Some(number) if number == event.wrapping_add(1) => 1,
                Some(number) if number == event => 2,
                Some(_) => 3,
            };
            pack::number(&mut bytes, class * 8 + u64::from(changed) * 4 + step);
            pack::number(&mut bytes, span.begin - end);
            pack::number(&mut bytes, span.end - span.begin);
            if changed {
                last = (span.bytes, span.tag);
                pack::number(&mut bytes, span.bytes);
                pack::signed(&mut bytes, span.tag.into());
            }
            if let Some(number) = span.event {
                event = number;
                if step == 3 {
                    pack::number(&mut bytes, number);
                }
            }
            end = span.end;
        }
        bytes
    }

    /// How many messages each rank sends, and they: in the order of sending, each as its link and whether bytes or tag
    /// differ in one number; its distance from the message before; how long it was under way; what differs.
    fn messages(&mut self, run: &Run) -> (Vec<usize>, Vec<String>) {
        let mut by_sender: Vec<Vec<&Message>> = vec![Vec::new(); run.spans.len()];
        for message in &run.messages {
            by_sender[message.from as usize].push(message);
        }
        let sent = by_sender.iter().map(Vec::len).collect();
        let mut packed = Vec::with_capacity(by_sender.len());
        for mut messages in by_sender {
            messages.sort_by_key(|message| (message.sent, message.arrived, message.to));
            let mut bytes = Vec::with_capacity(messages.len() * 7);
            let (mut sent, mut last) = (0, (0, 0));
            for message in messages {
                let link = (message.to, message.from_place.0, message.to_place.0);
                let changed = (message.bytes, message.tag) != last;
                pack::number(&mut bytes, number_of(&mut self.links, link) * 2 + u64::from(changed));
                pack::number(&mut bytes, message.sent - sent);
                // Clocks of different nodes can differ by more than a message takes.
                pack::signed(&mut bytes, message.arrived.wrapping_sub(message.sent) as i64);
                if changed {
                    last = (message.bytes, message.tag);
                    pack::number(&mut bytes, message.bytes);
                    pack::signed(&mut bytes, message.tag.into());
                }
                sent = message.sent;
            }
            packed.push(pack::base64(&bytes));
        }
        (sent, packed)
    }
}

#[cfg(test)]
mod tests;
