//! Writer of the page: one HTML file with everything in it.
//!
//! The parts of `assets/` are put together, and the data follows as JSON and packed numbers; the scripts
//! build the whole page from these. Data from outside (names, paths, sources) always stays data: neither this
//! code nor the scripts make HTML of it, and the page forbids its browser to load anything.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;

use crate::data::{Finding, PageData, Role, Rule, Together};
use crate::fit::{self, File, Lengths, Packed};
use crate::regions::Region;
use crate::run::Run;
use crate::tables::{Class, Link};
use crate::totals::ByKind;

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

/// Largest number of ranks with costs of lines and calls by rank, and single pairs. Above it the page has
/// sums over all ranks, and pairs in blocks.
const MOST_RANKS: u32 = 256;

/// Largest size of the names of files without text \[B\].
const UNREAD: usize = 300_000;

/// Writes the page, of five megabytes at most for any run.
///
/// Parts that do not fit are left out or become coarser, and the page names them. Sums are of the whole run,
/// and calls of advice stay exact.
///
/// # Errors
///
/// `out` cannot be written to.
pub fn page(data: &PageData, out: &mut impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("<!--{") {
        let (name, after) = after.split_once("}-->").unwrap_or((after, ""));
        out.write_all(before.as_bytes())?;
        match name {
            "title" => {
                let mut title = data.program.clone();
                fit::cut(&mut title, 200);
                out.write_all(escape(&title).as_bytes())?;
            }
            "style" => out.write_all(STYLE.as_bytes())?,
            "scripts" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            _ => packed_data(data, out)?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Writes the data of the page, as `script` elements that are not scripts.
fn packed_data(data: &PageData, out: &mut impl Write) -> io::Result<()> {
    let packed = fit::pack(data);
    let files = files(packed.files.clone(), &packed.run, data);
    let mut lengths = Lengths::FIRST;
    let mut head = text(&head(data, &packed, files.clone(), lengths))?;
    let sources: usize = files.iter().filter(|file| file.text.is_some()).map(File::size).sum();
    let apart = sources + packed.tables.classes_size() + packed.tables.links_size();
    while head.len() > fit::MAX_HEAD_BYTES + apart && lengths != lengths.halved() {
        lengths = lengths.halved();
        head = text(&self::head(data, &packed, files.clone(), lengths))?;
    }
    writeln!(out, "<script type=\"application/json\" id=\"data\">{head}</script>")?;
    writeln!(out, "<script type=\"text/plain\" id=\"path\">{}</script>", packed.path)?;
    for (kind, ranks) in [("spans", &packed.spans), ("messages", &packed.messages)] {
        for (rank, text) in ranks.iter().enumerate() {
            writeln!(out, "<script type=\"text/plain\" id=\"{kind}-{rank}\">{text}</script>")?;
        }
    }
    Ok(())
}

/// Converts data to JSON, with each `<` escaped so that no string ends the element; `<` stands in strings
/// only.
fn text(head: &Head<'_>) -> io::Result<String> {
    Ok(serde_json::to_string(head).map_err(io::Error::other)?.replace('<', "\\u003c"))
}

/// Escapes text for HTML.
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

/// All data of the page except the packed numbers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    program: String,
    facts: Vec<(String, String)>,
    run_is: &'a str,
    findings: Vec<Advised>,
    rules: &'a [Rule],
    together: Option<Together>,
    notes: Vec<String>,
    /// Remarks on parts that were left out because the page would be too long.
    cuts: Vec<String>,
    roles: BTreeMap<Role, &'static str>,
    files: Vec<File>,
    /// File (an index of `files`, -1 if none) and line of each place; the first is the unknown place.
    places: Vec<(i64, u32)>,
    calls: &'a [String],
    classes: Vec<Class>,
    links: Vec<Link>,
    /// Number of messages of each sender in the page.
    sent: Vec<usize>,
    /// Number of spans of each rank in the page.
    spans: Vec<usize>,
    /// Name, executions and times of each region; begins and ends \[ns\] are distances from the one before.
    regions: Vec<(String, u64, Vec<u64>)>,
    /// Region that is shown first.
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<usize>,
    /// Number of pieces of the critical path.
    path: usize,
    ranks: u32,
    end: u64,
    resolution: u64,
    stride: u64,
    events: u64,
    messages: u64,
    bytes: u64,
    /// Time by kind and end of the first ranks.
    uses: Vec<(ByKind, u64)>,
    /// Time by kind of all other ranks.
    other_uses: ByKind,
    /// Place, rank (-1 for all), time by kind, calls, bytes, longest span.
    lines: Vec<(u32, i64, ByKind, u64, u64, u64)>,
    /// Call, rank (-1 for all), number, time, longest call, bytes.
    call_sums: Vec<(u32, i64, u64, u64, u64, u64)>,
    /// Number of ranks in one row of `pairs`.
    block: u32,
    /// Sender, receiver (or blocks of them), messages, bytes.
    pairs: Vec<(u32, u32, u64, u64)>,
    /// Size in bits, messages, bytes.
    sizes: Vec<(u32, u64, u64)>,
}

/// Piece of advice in the page: ranks as ranges, and lists cut to fit.
#[derive(Serialize)]
struct Advised {
    #[serde(flatten)]
    finding: Finding,
    /// First and last of each group of ranks; empty for all ranks.
    ranges: Vec<(u32, u32)>,
}

impl Advised {
    fn of(finding: &Finding, lengths: Lengths) -> Self {
        let mut finding = finding.clone();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for rank in std::mem::take(&mut finding.ranks) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == rank => *last = rank,
                _ => ranges.push((rank, rank)),
            }
        }
        ranges.truncate(lengths.sums.max(16));
        finding.details.truncate(lengths.details);
        finding.marks.truncate(lengths.parts);
        finding.text.truncate(lengths.parts);
        finding.caveats.truncate(lengths.parts);
        finding.notes.truncate(lengths.parts);
        finding.facts.truncate(lengths.parts);
        let texts = finding.text.iter_mut().chain(&mut finding.caveats).chain(&mut finding.notes);
        let texts = texts.chain([&mut finding.title, &mut finding.id]);
        let facts = finding.facts.iter_mut().flat_map(|(name, value)| [name, value]);
        let details = finding.details.iter_mut().map(|detail| &mut detail.text);
        let marks = finding.marks.iter_mut().map(|mark| {
            mark.file = fit::name(&mark.file);
            &mut mark.text
        });
        texts.chain(facts).chain(details).chain(marks).for_each(|text| fit::cut(text, lengths.text));
        Self { finding, ranges }
    }
}

fn head<'a>(data: &'a PageData, packed: &Packed, files: Vec<File>, lengths: Lengths) -> Head<'a> {
    let Packed { run, tables, sent, .. } = packed;
    let totals = &run.totals;
    let mut cuts = packed.cuts.clone();
    let numbers: BTreeMap<&str, i64> = files.iter().zip(0..).map(|(file, i)| (file.path.as_str(), i)).collect();
    let places = run.places.iter().map(|(file, line)| (numbers.get(file.as_str()).copied().unwrap_or(-1), *line));
    let places: Vec<(i64, u32)> = places.collect();
    let ranks = totals.ranks.len() as u32;
    let by_rank = ranks <= MOST_RANKS && totals.lines.len() + totals.calls.len() <= lengths.sums;
    if !by_rank && ranks <= MOST_RANKS {
        cuts.push("what lines and calls cost is there in sum, not rank by rank".into());
    }
    let rank_of = |rank: u32| if by_rank { i64::from(rank) } else { -1 };

    let mut lines = BTreeMap::new();
    for (&(place, rank), line) in &totals.lines {
        lines.entry((place.0, rank_of(rank))).or_insert_with(crate::totals::LineCost::default).join(line);
    }
    let mut calls = BTreeMap::new();
    for (&(call, rank), of_rank) in &totals.calls {
        let (count, ns, longest, bytes): &mut (u64, u64, u64, u64) = calls.entry((call, rank_of(rank))).or_default();
        *count += of_rank.count;
        *ns += of_rank.ns;
        *longest = of_rank.longest.max(*longest);
        *bytes = bytes.saturating_add(of_rank.bytes);
    }
    let mut block = ranks.div_ceil(MOST_RANKS).max(1);
    let pairs = loop {
        let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
        for (&(from, to), traffic) in &totals.pairs {
            let (messages, bytes) = pairs.entry((from / block, to / block)).or_default();
            *messages += traffic.messages;
            *bytes = bytes.saturating_add(traffic.bytes);
        }
        if pairs.len() <= lengths.pairs || block >= ranks {
            break pairs;
        }
        block *= 2;
    };
    let mut findings: Vec<Advised> = Vec::new();
    findings.extend(data.findings.iter().take(lengths.findings).map(|finding| Advised::of(finding, lengths)));
    if findings.len() < data.findings.len() {
        cuts.push(format!("{} of {} pieces of advice, the best", findings.len(), data.findings.len()));
    }
    let shorter = |advised: &Advised, all: &Finding| {
        advised.finding.marks.len() < all.marks.len() || advised.finding.details.len() < all.details.len()
    };
    if findings.iter().zip(&data.findings).any(|(advised, all)| shorter(advised, all)) {
        cuts.push(format!("of a piece of advice, {} lines and {} calls at most", lengths.parts, lengths.details));
    }
    let mut other_uses = ByKind::default();
    for rank in totals.ranks.iter().skip(lengths.uses) {
        other_uses.iter_mut().zip(rank.ns).for_each(|(sum, more)| *sum += more);
    }
    let short = |text: &str, most: usize| {
        let mut text = text.to_owned();
        fit::cut(&mut text, most);
        text
    };
    let together = data.together.clone().map(|mut together| {
        together.left_out.truncate(lengths.sums.max(16));
        together.why.truncate(lengths.parts);
        together.why.iter_mut().for_each(|why| fit::cut(why, lengths.text.min(2000)));
        together
    });
    let mut regions = data.run.regions.clone();
    crate::regions::fit(&mut regions, lengths.sums.max(64));
    let short_fact = |(name, value): &(String, String)| (short(name, 200), short(value, lengths.text.min(1000)));

    Head {
        program: short(&data.program, 1000),
        facts: data.facts.iter().take(lengths.notes).map(short_fact).collect(),
        run_is: &data.run_is,
        findings,
        rules: &data.rules,
        together,
        notes: data.notes.iter().take(lengths.notes).map(|note| short(note, lengths.text.min(2000))).collect(),
        cuts,
        roles: ROLES.map(|role| (role, role.name())).into(),
        places,
        files,
        calls: &data.run.calls,
        classes: tables.classes(),
        links: tables.links(),
        sent: sent.clone(),
        spans: run.spans.iter().map(Vec::len).collect(),
        regions: regions.iter().map(|region| (fit::name(&region.name), region.executions, distances(region))).collect(),
        region: data.run.looked_at,
        path: run.path.len(),
        ranks,
        end: run.end(),
        resolution: run.resolution,
        stride: run.stride,
        events: totals.events,
        messages: totals.all.messages,
        bytes: totals.all.bytes,
        uses: totals.ranks.iter().take(lengths.uses).map(|rank| (rank.ns, rank.end)).collect(),
        other_uses,
        lines: lines
            .into_iter()
            .map(|((place, rank), line)| (place, rank, line.ns, line.calls, line.bytes, line.longest))
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

/// Converts the begins and ends of a region to distances from the one before.
fn distances(region: &Region) -> Vec<u64> {
    let mut last = 0;
    let moments = region.spans.iter().flat_map(|&(begin, end)| [begin, end]);
    moments.map(|moment| moment - std::mem::replace(&mut last, moment)).collect()
}

const ROLES: [Role; 7] =
    [Role::Communication, Role::Completion, Role::Overlap, Role::Forbids, Role::Companion, Role::Partner, Role::Cause];

/// Returns the sources, and the named files without text.
fn files(sources: Vec<File>, run: &Run, data: &PageData) -> Vec<File> {
    let mut files = sources;
    let mut size = 0;
    let mut known: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    let marks = data.findings.iter().take(Lengths::FIRST.findings).flat_map(|finding| &finding.marks);
    for path in marks.map(|mark| fit::name(&mark.file)).chain(run.places.iter().map(|(file, _)| file.clone())) {
        if !path.is_empty() && size + path.len() < UNREAD && known.insert(path.clone()) {
            size += path.len() + 30;
            files.push(File::unread(&path));
        }
    }
    files
}

#[cfg(test)]
mod tests;
