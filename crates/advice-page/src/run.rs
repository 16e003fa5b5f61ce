//! Run of the page: spans of ranks and messages between them, added one at a time and kept small.

use std::collections::{BTreeMap, BTreeSet};

use crate::regions::{self, Region};
use crate::span::{Activity, Message, PlaceId, Span};
use crate::totals::Totals;

/// Largest number of spans kept one by one, more than fit into a page.
const MOST_SPANS: usize = 500_000;
/// Largest number of messages kept one by one.
const MOST_MESSAGES: usize = 250_000;
/// Largest number of calls kept exactly because advice names them.
const MOST_NAMED: usize = 20_000;
/// Largest number of names of calls; all others share one.
const MOST_CALLS: usize = 1_000;
/// Largest number of places that stay apart when short spans are joined.
const MAX_PLACES_APART: usize = 16;

/// Piece of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PathPiece {
    /// Rank that is busy; for a message under way, its receiver.
    pub rank: u32,
    /// Sender of a message under way.
    pub from: Option<u32>,
    pub begin: u64,
    pub end: u64,
}

/// Stored span, or several spans of one kind that are close together, with the sum of their times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoredSpan {
    pub begin: u64,
    pub end: u64,
    pub event: Option<u64>,
    /// Payload \[B\]; if `several` is set, the number of spans.
    pub bytes: u64,
    pub place: PlaceId,
    pub peer: Option<u32>,
    pub tag: i32,
    pub call: u32,
    pub kind: Activity,
    pub several: bool,
    /// Set if advice names the call, so that the span stays exact.
    pub named: bool,
}

/// Run as the page shows it, made span by span and message by message, in the order of time on each rank.
///
/// Up to half a million spans and a quarter of a million messages are kept exactly. Above that, spans that
/// are close together are joined by kind, and the distance doubles whenever there are too many again. So the
/// shares of the kinds stay true everywhere. Of messages every second one is dropped. Calls that advice
/// [names](Self::name) are always kept. All sums are of the whole run.
///
/// Memory: at most some 60 MB, the critical path, and the sums: an entry for each pair of ranks and each line
/// of each rank.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) spans: Vec<Vec<StoredSpan>>,
    pub(crate) messages: Vec<Message>,
    /// Critical path, in the order of time.
    pub(crate) path: Vec<PathPiece>,
    pub(crate) regions: Vec<Region>,
    /// Region that is shown first.
    pub(crate) looked_at: Option<usize>,
    pub(crate) places: Vec<(String, u32)>,
    pub(crate) calls: Vec<String>,
    pub(crate) totals: Totals,
    /// Distance below which spans were joined by kind \[ns\]; 0 if none were.
    pub(crate) resolution: u64,
    /// Number of messages for each one that was kept.
    pub(crate) stride: u64,
    /// Messages of calls that advice names.
    pub(crate) named_messages: Vec<Message>,
    /// Calls that advice names, by rank and event.
    named: BTreeSet<(u32, u64)>,
    /// Begins and ends of these calls, by rank.
    named_times: BTreeSet<(u32, u64)>,
    place_numbers: BTreeMap<String, BTreeMap<u32, PlaceId>>,
    call_numbers: BTreeMap<String, u32>,
    kept: usize,
    offered: u64,
    most_spans: usize,
    most_messages: usize,
}

impl Run {
    /// Creates an empty run of `ranks` ranks.
    pub fn new(ranks: u32) -> Self {
        let mut run = Self {
            spans: Vec::new(),
            messages: Vec::new(),
            path: Vec::new(),
            regions: Vec::new(),
            looked_at: None,
            places: vec![(String::new(), 0)],
            calls: vec![String::new()],
            totals: Totals::default(),
            resolution: 0,
            stride: 1,
            named_messages: Vec::new(),
            named: BTreeSet::new(),
            named_times: BTreeSet::new(),
            place_numbers: BTreeMap::new(),
            call_numbers: BTreeMap::from([(String::new(), 0)]),
            kept: 0,
            offered: 0,
            most_spans: MOST_SPANS,
            most_messages: MOST_MESSAGES,
        };
        run.grow(ranks);
        run
    }

    /// Sets other limits for the spans and messages that are kept exactly.
    #[must_use]
    pub fn keeping(mut self, spans: usize, messages: usize) -> Self {
        (self.most_spans, self.most_messages) = (spans.max(1), messages.max(1));
        self
    }

    /// Marks calls that advice names, by rank and event, to keep them exactly in a run of any length.
    ///
    /// Call this before the spans are added; at most 20,000 calls are kept.
    pub fn name(&mut self, calls: impl IntoIterator<Item = (u32, u64)>) {
        let room = MOST_NAMED - self.named.len().min(MOST_NAMED);
        self.named.extend(calls.into_iter().take(room));
    }

    /// Returns the number of a place: a file and its line, from 1.
    pub fn place(&mut self, file: &str, line: u32) -> PlaceId {
        if file.is_empty() {
            return PlaceId::UNKNOWN;
        }
        if let Some(&place) = self.place_numbers.get(file).and_then(|lines| lines.get(&line)) {
            return place;
        }
        let place = PlaceId(self.places.len() as u32);
        self.places.push((file.to_owned(), line));
        self.place_numbers.entry(file.to_owned()).or_default().insert(line, place);
        place
    }

    /// Adds the next span of a rank.
    ///
    /// Spans of a rank follow each other: a span that begins before the end of the last one is moved to that
    /// end.
    pub fn span(&mut self, rank: u32, mut span: Span<'_>) {
        self.grow(rank.saturating_add(1));
        let last = self.spans[rank as usize].last();
        span.begin = span.begin.max(last.map_or(0, |last| last.end));
        span.end = span.end.max(span.begin);
        let first_piece = span.event.is_none() || self.totals.ranks[rank as usize].event != span.event;
        let call = self.call(span.call);
        self.totals.span(rank, &span, call, first_piece);
        let Span { kind, begin, end, place, event, peer, bytes, tag, .. } = span;
        let named = event.is_some_and(|event| self.named.contains(&(rank, event)));
        if named {
            self.named_times.extend([(rank, begin), (rank, end)]);
        }
        let several = false;
        self.spans[rank as usize].push(StoredSpan {
            begin,
            end,
            event,
            bytes,
            place,
            peer,
            tag,
            call,
            kind,
            several,
            named,
        });
        self.kept += 1;
        if self.kept > self.most_spans {
            self.coarsen();
        }
    }

    /// Adds a message.
    pub fn message(&mut self, message: &Message) {
        self.grow(message.from.max(message.to).saturating_add(1));
        self.totals.message(message);
        let named = |rank, time| self.named_times.contains(&(rank, time));
        if named(message.from, message.sent) || named(message.to, message.arrived) {
            self.named_messages.push(*message);
            return;
        }
        if self.offered.is_multiple_of(self.stride) {
            self.messages.push(*message);
        }
        self.offered += 1;
        if self.messages.len() > self.most_messages {
            self.thin();
        }
    }

    /// Drops every second message.
    pub(crate) fn thin(&mut self) {
        let mut number = 0;
        self.messages.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.stride *= 2;
    }

    /// Adds the next piece of the critical path \[ns\]: activity of a rank, or, if `from` is given, a message
    /// from that rank to it.
    ///
    /// Consecutive pieces of one rank are joined, so the path has one piece for each change of ranks.
    pub fn critical(&mut self, rank: u32, from: Option<u32>, begin: u64, end: u64) {
        self.grow(rank.max(from.unwrap_or(0)).saturating_add(1));
        let begin = self.path.last().map_or(begin, |last| last.end.max(begin));
        let end = end.max(begin);
        match self.path.last_mut() {
            Some(last) if last.rank == rank && last.from.is_none() && from.is_none() && last.end == begin => {
                last.end = end
            }
            _ => self.path.push(PathPiece { rank, from, begin, end }),
        }
    }

    /// Adds a region, with the begin and end of each execution \[ns\].
    pub fn region(&mut self, name: &str, spans: impl IntoIterator<Item = (u64, u64)>) {
        self.regions.push(Region::new(name, spans));
        regions::fit(&mut self.regions, regions::MAX_REGIONS);
    }

    /// Selects the region for which advice and times are given: the last one of this name.
    pub fn look_at(&mut self, name: &str) {
        self.looked_at = self.regions.iter().rposition(|region| region.name == name);
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.spans.len() as u32
    }

    /// Returns the end of the last rank \[ns\].
    pub fn end(&self) -> u64 {
        self.totals.ranks.iter().map(|rank| rank.end).max().unwrap_or(0)
    }

    fn grow(&mut self, ranks: u32) {
        if self.spans.len() < ranks as usize {
            self.spans.resize_with(ranks as usize, Vec::new);
            self.totals.ranks.resize_with(ranks as usize, Default::default);
        }
    }

    fn call(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.call_numbers.get(name) {
            return number;
        }
        if self.calls.len() > MOST_CALLS {
            return MOST_CALLS as u32;
        }
        let number = self.calls.len() as u32;
        let name = if self.calls.len() == MOST_CALLS { "other calls" } else { name };
        self.calls.push(name.to_owned());
        self.call_numbers.insert(name.to_owned(), number);
        number
    }

    /// Joins spans that are close together by kind, until at most three quarters of the limit are left.
    fn coarsen(&mut self) {
        let wanted = self.most_spans / 4 * 3;
        self.resolution = self.resolution.max(self.end() / (1 << 20)).max(1);
        loop {
            self.bundle();
            if self.kept <= wanted {
                return;
            }
            if self.resolution > self.end() {
                // A rank keeps a span of each kind even if the whole run is one window. If there are very many ranks,
                // the limit must rise.
                self.most_spans = self.kept * 2;
                return;
            }
            self.resolution *= 2;
        }
    }

    fn bundle(&mut self) {
        for spans in &mut self.spans {
            *spans = bundle(spans, self.resolution);
        }
        self.kept = self.spans.iter().map(Vec::len).sum();
    }

    /// Doubles the distance below which spans are joined, joins them, and returns true if that can be
    /// repeated.
    pub(crate) fn coarsen_once(&mut self) -> bool {
        self.resolution = self.resolution.saturating_mul(2).max(self.end() / (1 << 20)).max(1);
        self.bundle();
        self.resolution <= self.end()
    }

    /// Shortens the critical path to about `most` pieces.
    ///
    /// In each window of time, one piece is left for each rank on the path, and one for each rank to which a
    /// message is under way.
    pub(crate) fn shorten_path(&mut self, most: usize) {
        let mut window = (self.end() / most.max(1) as u64).max(1);
        while self.path.len() > most && window <= self.end() {
            let mut shorter: Vec<PathPiece> = Vec::new();
            for group in self.path.chunk_by(|a, b| a.begin / window == b.begin / window) {
                let mut at: BTreeMap<(u32, bool), (u64, Option<u32>)> = BTreeMap::new();
                for piece in group {
                    let known = at.entry((piece.rank, piece.from.is_some())).or_insert((0, piece.from));
                    known.0 += piece.end - piece.begin;
                }
                let mut begin = group[0].begin.max(shorter.last().map_or(0, |last| last.end));
                for ((rank, _), (time, from)) in at {
                    shorter.push(PathPiece { rank, from, begin, end: begin + time });
                    begin += time;
                }
            }
            (self.path, window) = (shorter, window * 2);
        }
    }
}

/// Joins the spans that begin in one window by kind and place, or by kind if there are many places.
///
/// The sum of the times of each kind stays; gaps between the spans move behind them. Spans as long as a
/// window stay unchanged, and so do those that advice names.
fn bundle(spans: &[StoredSpan], window: u64) -> Vec<StoredSpan> {
    let mut bundled = Vec::with_capacity(spans.len() / 2);
    let mut of: Vec<Bundle> = Vec::new();
    let small = |span: &StoredSpan| span.end - span.begin < window && !span.named;
    let together = |a: &StoredSpan, b: &StoredSpan| small(a) && small(b) && a.begin / window == b.begin / window;
    for group in spans.chunk_by(together) {
        if let [span] = group {
            bundled.push(*span);
            continue;
        }
        of.clear();
        if !group.iter().all(|span| add(&mut of, span, span.place)) {
            of.clear();
            for span in group {
                add(&mut of, span, PlaceId::UNKNOWN);
            }
        }
        if group.len() <= of.len() {
            bundled.extend_from_slice(group);
            continue;
        }
        of.sort_by_key(|one| (one.first.kind, one.first.place));
        let mut begin = group[0].begin;
        for Bundle { first, time, weight } in &of {
            // A joined span counts as several even if it is the only one of its kind.
            bundled.push(StoredSpan { begin, end: begin + time, bytes: *weight, ..*first });
            begin += time;
        }
    }
    bundled
}

/// Adds a span to those of its kind and place; returns false if there are too many places to keep them apart.
fn add(of: &mut Vec<Bundle>, span: &StoredSpan, place: PlaceId) -> bool {
    let at = of.iter().position(|one| (one.first.kind, one.first.place) == (span.kind, place)).unwrap_or_else(|| {
        of.push(Bundle::new(StoredSpan { place, ..*span }));
        of.len() - 1
    });
    of[at].add(span);
    of.len() <= MAX_PLACES_APART
}

/// Spans that are joined into one.
struct Bundle {
    first: StoredSpan,
    time: u64,
    weight: u64,
}

impl Bundle {
    fn new(first: StoredSpan) -> Self {
        let first = StoredSpan { event: None, peer: None, tag: 0, several: true, ..first };
        Self { first, time: 0, weight: 0 }
    }

    fn add(&mut self, span: &StoredSpan) {
        self.time += span.end - span.begin;
        self.weight += if span.several { span.bytes } else { 1 };
        if span.call != self.first.call {
            self.first.call = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::KINDS;

    fn sums(spans: &[StoredSpan]) -> [u64; KINDS] {
        let mut sums = [0; KINDS];
        for span in spans {
            sums[span.kind as usize] += span.end - span.begin;
        }
        sums
    }

    fn long_run(spans: u64, limit: usize) -> Run {
        let mut run = Run::new(2).keeping(limit, limit);
        for i in 0..spans {
            let (begin, kind) = (i * 100, Activity::ALL[(i % 3) as usize]);
            let event = (kind != Activity::Computation).then_some(i);
            run.span(0, Span { event, call: "Send", ..Span::new(kind, begin, begin + 10 + 20 * (i % 3)) });
            run.message(&Message { bytes: 8, ..Message::new(0, 1, begin, begin + 50) });
        }
        run
    }

    #[test]
    fn a_short_run_is_kept_as_it_is() {
        let run = long_run(900, 1000);
        assert_eq!((run.spans[0].len(), run.resolution), (900, 0));
        assert_eq!((run.messages.len(), run.stride), (900, 1));
        assert_eq!((run.spans[0][7].begin, run.spans[0][7].end, run.spans[0][7].event), (700, 730, Some(7)));
    }

    #[test]
    fn a_long_run_keeps_its_sums_and_loses_detail() {
        let run = long_run(100_000, 1000);
        assert!(run.spans[0].len() <= 1000 && run.resolution > 0, "{} {}", run.spans[0].len(), run.resolution);
        assert!(run.messages.len() <= 1000 && run.stride > 1);
        assert_eq!(sums(&run.spans[0]), run.totals.ranks[0].ns);
        assert_eq!(run.totals.ranks[0].ns, [333_340, 999_990, 1_666_650, 0, 0]);
        assert_eq!((run.totals.events, run.totals.all.messages, run.totals.all.bytes), (66_666, 100_000, 800_000));
        let counted: u64 = run.spans[0].iter().map(|span| if span.several { span.bytes } else { 1 }).sum();
        assert_eq!(counted, 100_000);
        for pair in run.spans[0].windows(2) {
            assert!(pair[0].end <= pair[1].begin, "{pair:?}");
        }
    }

    #[test]
    fn shares_stay_where_they_were() {
        // Computation first, then waiting: only the window at the border may mix the two.
        let mut run = Run::new(1).keeping(100, 1);
        for i in 0..5_000 {
            let kind = if i < 2_500 { Activity::Computation } else { Activity::Wait };
            run.span(0, Span::new(kind, i * 10, i * 10 + 10));
        }
        let middle = 25_000;
        let early: u64 =
            run.spans[0].iter().filter(|s| s.kind == Activity::Wait).map(|s| middle.max(s.begin) - s.begin).sum();
        assert!(early <= run.resolution, "{early} of waiting before its time");
    }

    #[test]
    fn the_critical_path_has_a_piece_for_each_time_it_changes_ranks() {
        let mut run = Run::new(2);
        for (rank, from, begin, end) in [(0, None, 0, 10), (0, None, 10, 30), (1, Some(0), 30, 45), (1, None, 45, 50)] {
            run.critical(rank, from, begin, end);
        }
        let pieces: Vec<_> = run.path.iter().map(|piece| (piece.rank, piece.from, piece.begin, piece.end)).collect();
        assert_eq!(pieces, [(0, None, 0, 30), (1, Some(0), 30, 45), (1, None, 45, 50)]);
    }

    #[test]
    fn more_ranks_than_spans_may_be_kept_is_no_endless_loop() {
        let mut run = Run::new(50).keeping(10, 10);
        for rank in 0..50 {
            run.span(rank, Span::new(Activity::Computation, 0, 5));
        }
        assert_eq!(run.spans.iter().map(Vec::len).sum::<usize>(), 50);
    }

    #[test]
    fn spans_that_overlap_are_put_behind_each_other() {
        let mut run = Run::new(1);
        run.span(0, Span::new(Activity::Send, 10, 30));
        run.span(0, Span::new(Activity::Wait, 20, 25));
        run.span(0, Span::new(Activity::Computation, 40, 35));
        let times: Vec<_> = run.spans[0].iter().map(|span| (span.begin, span.end)).collect();
        assert_eq!(times, [(10, 30), (30, 30), (40, 40)]);
    }

    #[test]
    fn pieces_of_a_call_are_one_call() {
        let mut run = Run::new(1);
        let place = run.place("a.c", 3);
        for kind in [Activity::Send, Activity::Wait] {
            run.span(0, Span { event: Some(4), call: "Send", bytes: 100, place, ..Span::new(kind, 0, 10) });
        }
        let line = run.totals.lines[&(place, 0)];
        assert_eq!((run.totals.events, line.calls, line.bytes), (1, 1, 100));
    }

    #[test]
    fn a_place_has_one_number() {
        let mut run = Run::new(1);
        assert_eq!(run.place("a.c", 3), run.place("a.c", 3));
        assert_ne!(run.place("a.c", 3), run.place("b.c", 3));
        assert_eq!(run.place("", 3), PlaceId::UNKNOWN);
    }
}
