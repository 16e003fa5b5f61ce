//! Whether a trace is all of its run, and whether its ranks had the cores that they wanted: gathered while it is read.

use std::collections::BTreeMap;

use super::calls::{Calls, Header, Item, Wrong};
use crate::workload::caveats::Caveats;

/// From which share of the run on a lack of cores is said: predictions of programs that had their cores are right to 2
/// to 4 %, so that less could not be told from that.
const LEAST_SHARE: f64 = 0.05;
/// And from which time on \[ns\]: a rank that is put off once or twice, for a time slice of some milliseconds, lacks
/// nothing.
const LEAST_TIME: u64 = 10_000_000;

/// A moment at which a rank has noted how it was scheduled so far, in numbers that only grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Real time since the start of the stream \[ns\].
    pub wall: u64,
    /// Processor time \[ns\].
    pub cpu: u64,
    /// Time in which it could have run and had no core \[ns\].
    pub waited: u64,
    /// How often its core was taken away.
    pub involuntary: u64,
    /// The number of the next call.
    pub call: u64,
    /// `start`, `end`, or what the border of a region is called.
    pub place: String,
}

impl Moment {
    /// The moments of a note `scheduling`: a line each, numbers and then the place. Lines that make no sense are passed
    /// over.
    pub fn read(note: &str) -> Vec<Self> {
        let line = |line: &str| {
            let mut words = line.splitn(6, ' ');
            let mut number = || words.next()?.parse::<u64>().ok();
            let (wall, cpu, waited, involuntary, call) = (number()?, number()?, number()?, number()?, number()?);
            Some(Self { wall, cpu, waited, involuntary, call, place: words.next()?.to_owned() })
        };
        note.lines().filter_map(line).collect()
    }
}

/// How long a rank lacked a core between two moments.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Lack {
    /// \[ns\]
    waited: u64,
    /// Of the time between them.
    share: f64,
    involuntary: u64,
}

impl Lack {
    fn between(first: &Moment, last: &Moment) -> Self {
        let time = last.wall.saturating_sub(first.wall);
        let waited = last.waited.saturating_sub(first.waited).min(time);
        let share = if time > 0 { waited as f64 / time as f64 } else { 0.0 };
        Self { waited, share, involuntary: last.involuntary.saturating_sub(first.involuntary) }
    }

    fn matters(self) -> bool {
        self.share >= LEAST_SHARE && self.waited >= LEAST_TIME
    }
}

/// What is known of a stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// It has an end.
    whole: bool,
    /// Why it ended, if not as it should.
    ended: Option<String>,
    lost: u64,
    /// Computation is processor time.
    cpu: bool,
    token: bool,
    lack: Lack,
}

/// Gathers it from the items of a trace.
#[derive(Clone, Debug, Default)]
pub struct Integrity {
    claimed: u32,
    streams: BTreeMap<u32, Stream>,
}

/// Hands items on to another, and looks at them.
pub(super) struct Watched<'a, C> {
    pub calls: &'a mut C,
    pub integrity: &'a mut Integrity,
}

impl<C: Calls> Calls for Watched<'_, C> {
    fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), Wrong> {
        // Nearly all are events, and those say nothing here.
        match &item {
            Item::Event(_) => {}
            Item::Header(header) => self.integrity.begin(rank, header),
            Item::Note(name, content) => self.integrity.note(rank, name, content),
            Item::End { lost, .. } => self.integrity.end(rank, *lost),
            _ => {}
        }
        self.calls.item(rank, place, item)
    }
}

impl Integrity {
    /// The stream of a rank begins.
    pub fn begin(&mut self, rank: u32, header: &Header) {
        self.claimed = self.claimed.max(header.ranks);
        let cpu = header.find("clock-source").is_some_and(|clocks| clocks.contains("THREAD_CPUTIME"));
        let token = header.find("token") == Some("1");
        self.streams.insert(rank, Stream { cpu, token, ..Stream::default() });
    }

    /// It ends as a stream should, and says how many calls it lost.
    pub fn end(&mut self, rank: u32, lost: u64) {
        if let Some(stream) = self.streams.get_mut(&rank) {
            (stream.whole, stream.lost) = (true, lost);
        }
    }

    /// A note of its stream.
    pub fn note(&mut self, rank: u32, name: &str, content: &[u8]) {
        let Some(stream) = self.streams.get_mut(&rank) else { return };
        match name {
            "ended" => stream.ended = Some(one_line(&String::from_utf8_lossy(content))),
            "scheduling" => {
                let moments = Moment::read(&String::from_utf8_lossy(content));
                if let [first, .., last] = moments.as_slice() {
                    stream.lack = Lack::between(first, last);
                }
            }
            _ => {}
        }
    }

    /// What is wrong, in sentences.
    pub fn caveats(&self) -> Caveats {
        Caveats {
            incomplete: self.incomplete().into_iter().collect(),
            lack_of_cores: self.lack_of_cores().into_iter().collect(),
        }
    }

    /// What is missing and what follows: `300 calls of rank 0 were not recorded: ...`.
    fn incomplete(&self) -> Option<String> {
        let ranks_that = |holds: &dyn Fn(&Stream) -> bool| -> Vec<u32> {
            self.streams.iter().filter(|(_, stream)| holds(stream)).map(|(rank, _)| *rank).collect()
        };
        let mut facts = Vec::new();
        let present = self.streams.len() as u32;
        if present < self.claimed {
            let missing: Vec<u32> =
                (0..self.claimed).filter(|rank| !self.streams.contains_key(rank)).take(64).collect();
            facts.push(format!(
                "{} of {} ranks are missing ({})",
                self.claimed - present,
                self.claimed,
                named(&missing)
            ));
        }
        let lost: u64 = self.streams.values().map(|stream| stream.lost).fold(0, u64::saturating_add);
        if lost > 0 {
            let of = named(&ranks_that(&|stream| stream.lost > 0));
            facts.push(format!("{lost} calls of {of} were not recorded"));
        }
        let messages_lack = !facts.is_empty();
        let cut = ranks_that(&|stream| !stream.whole);
        if !cut.is_empty() {
            facts.push(format!("the calls of {} are cut off", named(&cut)));
        }
        let mut reasons: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (rank, stream) in &self.streams {
            if let Some(why) = &stream.ended {
                reasons.entry(why).or_default().push(*rank);
            }
        }
        for (why, ranks) in &reasons {
            facts.push(format!("the calls of {} end early ({why})", named(ranks)));
        }
        if facts.is_empty() {
            return None;
        }
        let follows = match messages_lack {
            true => "who waits for what is missing waits for ever, and times and sums leave it out",
            false => "times and sums are those of a part of the run, and who waits for the rest waits for ever",
        };
        Some(format!("{}: {follows}", facts.join(", ")))
    }

    /// The rank that lacked a core for the largest share of the run, how many others did, and what follows.
    fn lack_of_cores(&self) -> Option<String> {
        let mut lacking: Vec<(u32, &Stream)> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.lack.matters())
            .map(|(rank, stream)| (*rank, stream))
            .collect();
        lacking.sort_by(|(_, a), (_, b)| b.lack.share.total_cmp(&a.lack.share));
        let (rank, worst) = *lacking.first()?;
        let percent = (100.0 * worst.lack.share).round();
        let least = 100.0 * LEAST_SHARE;
        let ranks = match (lacking.len(), self.streams.len()) {
            (1, _) => String::new(),
            (some, all) => format!(" ({some} of {all} ranks for {least} % or more)"),
        };
        let follows = match (worst.cpu, worst.token) {
            (_, true) => "other programs had the cores; block times are processor time and hold, but for cold caches",
            (true, false) => {
                "the run and its calls took too long; block times are processor time and hold, but for cold caches; \
                 --token runs one rank at a time"
            }
            (false, _) => "block times are too long by as much; record with --token or with --clock cpu",
        };
        Some(format!("rank {rank} lacked a core for {percent} % of the run{ranks}: {follows}"))
    }
}

/// Text without control characters and at most so long that a line holds it.
fn one_line(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(100).collect()
}

/// `rank 2`, `ranks 0-3, 7`; of many pieces the first.
fn named(ranks: &[u32]) -> String {
    let mut pieces: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match pieces.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => pieces.push((rank, rank)),
        }
    }
    let piece = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    let shown: Vec<String> = pieces.iter().take(6).map(piece).collect();
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    let more = if pieces.len() > 6 { " and others" } else { "" };
    format!("{word} {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(ended: Option<&str>, whole: bool, lost: u64, share: f64) -> Stream {
        let lack = Lack { waited: 1_000_000_000, share, involuntary: 7 };
        Stream { whole, ended: ended.map(str::to_owned), lost, cpu: true, token: false, lack }
    }

    fn of(streams: &[Stream], claimed: u32) -> Caveats {
        Integrity { claimed, streams: (0..).zip(streams.iter().cloned()).collect() }.caveats()
    }

    #[test]
    fn what_is_missing_is_named_with_what_follows() {
        let fine = stream(None, true, 0, 0.0);
        assert!(of(&[fine.clone(), fine.clone()], 2).is_empty());
        let said = |streams: &[Stream], claimed| of(streams, claimed).incomplete.concat();
        let lost = [fine.clone(), stream(None, true, 300, 0.0)];
        assert!(said(&lost, 2).starts_with("300 calls of rank 1 were not recorded: who waits for what is missing"));
        assert!(said(&lost, 4).starts_with("2 of 4 ranks are missing (ranks 2-3), 300 calls of rank 1 were"));
        let killed = [stream(Some("killed by SIGTERM"), true, 0, 0.0), stream(None, false, 0, 0.0), fine];
        let text = said(&killed, 3);
        let expected =
            "the calls of rank 1 are cut off, the calls of rank 0 end early (killed by SIGTERM): times and sums";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_lack_of_cores_is_said_of_the_worst_rank_and_with_what_it_does_to_times() {
        let said = |streams: &[Stream]| of(streams, streams.len() as u32).lack_of_cores.concat();
        let [little, much, more] = [0.049, 0.06, 0.412].map(|share| stream(None, true, 0, share));
        assert_eq!(said(&[little.clone(), little.clone()]), "");
        let text = said(&[little.clone(), more.clone()]);
        assert!(
            text.starts_with("rank 1 lacked a core for 41 % of the run: the run and its calls took too long"),
            "{text}"
        );
        let text = said(&[much, little, more.clone()]);
        assert!(text.starts_with("rank 2 lacked a core for 41 % of the run (2 of 3 ranks for 5 % or more):"), "{text}");
        let text = said(&[Stream { cpu: false, ..more.clone() }]);
        assert!(text.contains("block times are too long by as much"), "{text}");
        assert!(!said(&[Stream { token: true, ..more.clone() }]).contains("--token"));
        let short = Lack { waited: 9_000_000, ..more.lack };
        assert_eq!(said(&[Stream { lack: short, ..more }]), "", "a time slice or two");
    }

    #[test]
    fn moments_are_read_and_what_makes_no_sense_is_passed_over() {
        let moments =
            Moment::read("100 50 10 1 1 start\nnonsense\n300 100 70 4 9 begin solve\n1100 400 420 9 30 end\n");
        assert_eq!(moments.len(), 3);
        assert_eq!((moments[1].call, moments[1].place.as_str()), (9, "begin solve"));
        let lack = Lack::between(&moments[0], &moments[2]);
        assert_eq!((lack.waited, lack.share, lack.involuntary), (410, 0.41, 8));
        assert_eq!(Lack::between(&moments[2], &moments[0]), Lack::default());
    }

    #[test]
    fn ranks_are_named_in_ranges() {
        assert_eq!(named(&[3]), "rank 3");
        assert_eq!(named(&[0, 1, 2, 5]), "ranks 0-2, 5");
        assert_eq!(named(&[0, 2, 4, 6, 8, 10, 12]), "ranks 0, 2, 4, 6, 8, 10 and others");
    }
}
