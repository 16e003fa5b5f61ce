//! Reduction of a run to a page of five megabytes.
//!
//! Each part has a share of the page. The recorded run (spans, messages, critical path) becomes coarser until
//! it fits. Sources keep the lines around those of advice and those that took most time. Lists (advice,
//! lines, pairs of ranks) become shorter, and one entry holds the rest. Sums are of the whole run, and the
//! page says which parts it leaves out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::data::{Finding, PageData, Source};
use crate::pack;
use crate::run::{Run, StoredSpan};
use crate::span::PlaceId;
use crate::tables::{self, Tables};

/// Largest size of a page \[B\].
#[cfg(test)]
pub(crate) const MAX_PAGE_BYTES: usize = 5_000_000;

/// Largest size of the packed spans and their classes \[B\].
const MAX_SPANS_BYTES: usize = 1_300_000;
/// Largest size of the messages \[B\].
const MAX_MESSAGES_BYTES: usize = 550_000;
/// Largest size of the critical path \[B\].
const MAX_PATH_BYTES: usize = 350_000;
/// Largest size of the text of sources \[B\].
const MAX_SOURCES_BYTES: usize = 1_000_000;
/// Largest size of all other data, such as advice, sums and names \[B\].
pub(crate) const MAX_HEAD_BYTES: usize = 1_250_000;

/// Largest number of ranks with a row; no screen shows more.
const ROWS: usize = 2048;
/// Largest number of places.
const PLACES: usize = 6000;
/// Largest size of the names of their files \[B\].
const NAMES: usize = 250_000;
/// Largest size of the name of a file \[B\]; longer names are those of templates.
const NAME: usize = 400;
/// Numbers of lines to keep on either side of named lines; the largest that fits is used.
const CONTEXT_LINES: [usize; 6] = [400, 120, 40, 12, 4, 1];
/// Number of hot lines around which text is kept.
const MAX_HOT_LINES: usize = 400;
/// Largest length of a line if the file is cut \[B\].
const LINE: usize = 500;

/// Packed run that fits into the page.
pub(crate) struct Packed {
    pub run: Run,
    pub tables: Tables,
    /// Packed spans of each rank with a row.
    pub spans: Vec<String>,
    pub messages: Vec<String>,
    /// Number of messages of each sender in the page.
    pub sent: Vec<usize>,
    pub path: String,
    /// Sources, with or without text.
    pub files: Vec<File>,
    /// Remarks on parts that were left out, a sentence each.
    pub cuts: Vec<String>,
}

/// Makes a run coarser until it fits.
pub(crate) fn pack(data: &PageData) -> Packed {
    let mut run = data.run.clone();
    let mut cuts = Vec::new();
    few_places(&mut run, &data.findings, &mut cuts);
    let files = sources(data, &run, &mut cuts);
    // Spans and messages get the space that sources do not need.
    let room = MAX_SOURCES_BYTES - files.iter().map(File::size).sum::<usize>().min(MAX_SOURCES_BYTES);
    let (most_spans, most_messages) = (MAX_SPANS_BYTES + room / 3 * 2, MAX_MESSAGES_BYTES + room / 3);
    let ranks = run.spans.len();
    let rows = ranks.min(ROWS);
    if rows < ranks {
        cuts.push(format!("the timeline has the first {rows} of {ranks} ranks; all sums are of all ranks"));
        run.spans.truncate(rows);
        run.messages.retain(|message| message.from.max(message.to) < rows as u32);
        run.named_messages.retain(|message| message.from.max(message.to) < rows as u32);
        run.path.retain(|piece| piece.rank.max(piece.from.unwrap_or(0)) < rows as u32);
    }
    let all = run.spans.iter().map(Vec::len).sum::<usize>();
    let (mut tables, mut spans) = packed_spans(&run);
    let mut named = "calls that advice names are there one by one";
    while tables.classes_size() + spans.iter().map(String::len).sum::<usize>() > most_spans {
        let goes_on = run.coarsen_once();
        (tables, spans) = packed_spans(&run);
        if !goes_on {
            // Only calls that advice names are left, and they are too many.
            run.spans.iter_mut().flatten().for_each(|span: &mut StoredSpan| span.named = false);
            named = "calls that advice names are too many to be there one by one";
        }
    }
    if run.resolution > 0 {
        let left = run.spans.iter().map(Vec::len).sum::<usize>();
        cuts.push(format!(
            "spans closer than {} are one of each kind and line ({left} spans stand for {}); {named}",
            time(run.resolution),
            spans_of(&run).max(all as u64),
        ));
    }
    let kept = |run: &Run| run.messages.len() + run.named_messages.len();
    let (mut sent, mut messages) = tables.messages(&run);
    while tables.links_size() + messages.iter().map(String::len).sum::<usize>() > most_messages && kept(&run) > 0 {
        if run.messages.is_empty() {
            run.named_messages.truncate(run.named_messages.len() / 2);
        }
        run.thin();
        tables.forget_links();
        (sent, messages) = tables.messages(&run);
    }
    if run.stride > 1 {
        cuts.push(format!(
            "one message of {} is drawn, {} of {}; those that advice names are all there",
            run.stride,
            kept(&run),
            run.totals.all.messages
        ));
    }
    let mut path = pack::base64(&tables::path(&run));
    let pieces = run.path.len();
    while path.len() > MAX_PATH_BYTES {
        run.shorten_path(run.path.len() * 2 / 3);
        path = pack::base64(&tables::path(&run));
    }
    if run.path.len() < pieces {
        cuts.push(format!(
            "the critical path has {} of its {pieces} pieces: those of a rank that are close together are one",
            run.path.len()
        ));
    }
    Packed { run, tables, spans, messages, sent, path, files, cuts }
}

/// Counts the original spans.
fn spans_of(run: &Run) -> u64 {
    run.spans.iter().flatten().map(|span| if span.several { span.bytes } else { 1 }).sum()
}

fn packed_spans(run: &Run) -> (Tables, Vec<String>) {
    let mut tables = Tables::default();
    let spans = run.spans.iter().map(|spans| pack::base64(&tables.spans(spans))).collect();
    (tables, spans)
}

fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.3} us", ns as f64 * 1e-3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", ns as f64 * 1e-6),
        _ => format!("{:.3} s", ns as f64 * 1e-9),
    }
}

/// Shortens a very long name to its two ends.
pub(crate) fn name(name: &str) -> String {
    if name.len() <= NAME {
        return name.to_owned();
    }
    let begin = name.floor_char_boundary(NAME / 2);
    let end = name.ceil_char_boundary(name.len() - NAME / 2);
    format!("{}...{}", &name[..begin], &name[end..])
}

/// Keeps the places of advice and those where most time was spent; joins all other places into one.
fn few_places(run: &mut Run, findings: &[Finding], cuts: &mut Vec<String>) {
    run.places.iter_mut().for_each(|(file, _)| *file = name(file));
    let files: BTreeSet<&str> = run.places.iter().map(|(file, _)| file.as_str()).collect();
    if run.places.len() <= PLACES && files.iter().map(|file| file.len() + 30).sum::<usize>() <= NAMES {
        return;
    }
    let marks = findings.iter().flat_map(|finding| &finding.marks);
    let marked: BTreeSet<(&str, u32)> = marks.map(|mark| (mark.file.as_str(), mark.line)).collect();
    let mut spent = vec![0u64; run.places.len()];
    for (&(place, _), line) in &run.totals.lines {
        spent[place.0 as usize] += line.ns.iter().sum::<u64>();
    }
    let mut order: Vec<usize> = (1..run.places.len()).collect();
    order.sort_by_key(|&at| {
        let (file, line) = &run.places[at];
        (!marked.contains(&(file.as_str(), *line)), std::cmp::Reverse(spent[at]), at)
    });
    order.truncate(PLACES - 2);
    let (mut size, mut names) = (0, BTreeSet::new());
    order.retain(|&at| {
        let file = run.places[at].0.as_str();
        if !names.contains(file) && size + file.len() + 30 <= NAMES {
            size += file.len() + 30;
            names.insert(file);
        }
        names.contains(file)
    });
    order.sort_unstable();
    let others = PlaceId(order.len() as u32 + 1);
    let mut numbers = vec![others; run.places.len()];
    numbers[0] = PlaceId::UNKNOWN;
    let mut places = vec![run.places[0].clone()];
    for at in order {
        numbers[at] = PlaceId(places.len() as u32);
        places.push(run.places[at].clone());
    }
    let rest = run.places.len() - places.len();
    places.push((format!("{rest} other lines"), 0));
    cuts.push(format!("{rest} lines on which little time was spent are one"));
    run.places = places;
    let new = |place: &mut PlaceId| *place = numbers.get(place.0 as usize).copied().unwrap_or(others);
    run.spans.iter_mut().flatten().for_each(|span| new(&mut span.place));
    run.messages.iter_mut().chain(&mut run.named_messages).for_each(|message| {
        new(&mut message.from_place);
        new(&mut message.to_place);
    });
    for ((mut place, rank), line) in std::mem::take(&mut run.totals.lines) {
        new(&mut place);
        run.totals.lines.entry((place, rank)).or_default().join(&line);
    }
}

/// Largest lengths of the lists of the page, halved until all lists fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lengths {
    /// Pieces of advice.
    pub findings: usize,
    /// Lines, paragraphs and figures of each piece.
    pub parts: usize,
    /// Single calls of each piece.
    pub details: usize,
    /// Length of a paragraph \[B\].
    pub text: usize,
    /// Lines and calls by rank; if there are more, sums over all ranks.
    pub sums: usize,
    /// Pairs of ranks.
    pub pairs: usize,
    /// Ranks in the table of time by kind.
    pub uses: usize,
    /// Notes and figures of the run.
    pub notes: usize,
}

impl Lengths {
    /// First lengths, more than most pages need.
    pub const FIRST: Self = Self {
        findings: 1000,
        parts: 400,
        details: 300,
        text: 20_000,
        sums: 12_000,
        pairs: 20_000,
        uses: ROWS,
        notes: 200,
    };

    /// Returns half of each length, or a minimum that every page needs.
    pub fn halved(self) -> Self {
        Self {
            findings: (self.findings / 2).max(8),
            parts: (self.parts / 2).max(8),
            details: self.details / 2,
            text: (self.text / 2).max(200),
            sums: self.sums / 2,
            pairs: (self.pairs / 2).max(64),
            uses: (self.uses / 2).max(64),
            notes: (self.notes / 2).max(16),
        }
    }
}

/// Cuts a text off after `most` bytes.
pub(crate) fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("...");
    }
}

/// File in the page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct File {
    pub path: String,
    pub text: Option<String>,
    /// Groups of lines in the text, as first line and length; empty for the whole file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(usize, usize)>,
    /// Set if the text was left out because the page would be too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

impl File {
    /// Creates a file without text.
    pub fn unread(path: &str) -> Self {
        Self { path: name(path), text: None, lines: Vec::new(), left_out: false }
    }

    fn whole(source: &Source) -> Self {
        Self { text: source.text.clone(), ..Self::unread(&source.path) }
    }

    /// Keeps `around` lines on either side of the named lines.
    fn around(source: &Source, named: &BTreeSet<u32>, around: usize) -> Self {
        let lines: Vec<&str> = source.text.as_deref().unwrap_or("").lines().collect();
        let mut groups: Vec<(usize, usize)> = Vec::new();
        for line in named.iter().map(|&line| line as usize).filter(|&line| line >= 1 && line <= lines.len()) {
            let (first, last) = (line.saturating_sub(around).max(1), (line + around).min(lines.len()));
            match groups.last_mut() {
                Some((_, end)) if *end + 1 >= first => *end = last.max(*end),
                _ => groups.push((first, last)),
            }
        }
        let mut text = String::new();
        for &(first, last) in &groups {
            for line in &lines[first - 1..last] {
                let mut line = (*line).to_owned();
                cut(&mut line, LINE);
                text.push_str(&line);
                text.push('\n');
            }
        }
        let lines = groups.into_iter().map(|(first, last)| (first, last + 1 - first)).collect();
        Self { text: Some(text), lines, ..Self::unread(&source.path) }
    }

    /// Returns its size in the page \[B\].
    pub fn size(&self) -> usize {
        serde_json::to_string(self).map_or(0, |text| text.len() + 5 * text.matches('<').count())
    }
}

/// Returns the sources: whole if all fit, else the lines around those of advice and those that took most
/// time.
fn sources(data: &PageData, run: &Run, cuts: &mut Vec<String>) -> Vec<File> {
    let mut once = BTreeSet::new();
    let marks = || data.findings.iter().flat_map(|finding| &finding.marks);
    let files = marks().map(|mark| name(&mark.file)).chain(run.places.iter().map(|(file, _)| file.clone()));
    let files: BTreeSet<String> = files.collect();
    let is_named = |source: &&Source| files.contains(&name(&source.path)) || data.sources.len() < 100;
    let sources: Vec<&Source> =
        data.sources.iter().filter(is_named).filter(|source| once.insert(source.path.as_str())).collect();
    let whole: Vec<File> = sources.iter().map(|source| File::whole(source)).collect();
    if whole.iter().map(File::size).sum::<usize>() <= MAX_SOURCES_BYTES {
        return whole;
    }
    let mut named: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for mark in marks().filter(|mark| mark.line > 0) {
        named.entry(name(&mark.file)).or_default().extend([mark.line, mark.last_line.max(mark.line)]);
    }
    let mut spent: BTreeMap<PlaceId, u64> = BTreeMap::new();
    for (&(place, _), line) in &run.totals.lines {
        *spent.entry(place).or_default() += line.ns.iter().sum::<u64>();
    }
    let mut hot: Vec<(u64, PlaceId)> = spent.into_iter().map(|(place, ns)| (ns, place)).collect();
    hot.sort_by_key(|&(ns, place)| (std::cmp::Reverse(ns), place));
    for (_, place) in hot.into_iter().take(MAX_HOT_LINES) {
        let (file, line) = &run.places[place.0 as usize];
        named.entry(file.clone()).or_default().insert(*line);
    }
    let none = BTreeSet::new();
    let mut files = Vec::new();
    for around in CONTEXT_LINES {
        let part = |source: &&Source| match (&source.text, named.get(&name(&source.path)).unwrap_or(&none)) {
            (None, _) => File::unread(&source.path),
            (Some(_), lines) if lines.is_empty() => File { left_out: true, ..File::unread(&source.path) },
            (Some(_), lines) => File::around(source, lines, around),
        };
        files = sources.iter().map(part).collect();
        if files.iter().map(File::size).sum::<usize>() <= MAX_SOURCES_BYTES {
            break;
        }
    }
    let mut size = 0;
    for file in &mut files {
        size += file.size();
        if size > MAX_SOURCES_BYTES && file.text.is_some() {
            size -= file.size();
            *file = File { left_out: true, ..File::unread(&file.path) };
        }
    }
    cuts.push(
        "of the sources, only what is around lines that advice names, and around those that took most time".into(),
    );
    files
}

#[cfg(test)]
mod tests;
