//! Integrity of a trace, gathered while it is read: completeness of the run, and cores that its ranks lacked.

use std::collections::BTreeMap;

use super::calls::{Call, Calls, Header, Item, ItemError};
use crate::program::caveats::Caveats;

/// Smallest share of the run at which a lack of cores is reported. Predictions of programs that had their
/// cores are right to 2 to 4 %, so a smaller lack could not be distinguished from that.
const LEAST_SHARE: f64 = 0.05;
/// Smallest time at which a lack of cores is reported \[ns\]. A rank that is preempted once or twice, for a
/// time slice of some milliseconds, lacks nothing.
const LEAST_TIME: u64 = 10_000_000;

/// Scheduling of a rank up to one moment, in counters that only grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Real time since the start of the stream \[ns\].
    pub wall: u64,
    /// Processor time \[ns\].
    pub cpu: u64,
    /// Time in which the rank was runnable and had no core \[ns\].
    pub waited: u64,
    /// Number of times that its core was taken away.
    pub involuntary: u64,
    /// Number of the next call.
    pub call: u64,
    /// Place of the moment: `start`, `end`, or the name of the border of a region.
    pub place: String,
}

impl Moment {
    /// Reads the moments of a note `scheduling`. Each line has numbers and then the place. Invalid lines are
    /// skipped.
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

/// A part of the run of a rank.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Share {
    /// Time \[ns\].
    time: u64,
    /// Time relative to the run.
    share: f64,
}

impl Share {
    fn of(time: u64, run: u64) -> Self {
        let time = time.min(run);
        Self { time, share: if run > 0 { time as f64 / run as f64 } else { 0.0 } }
    }

    /// Returns the time without a core between two moments.
    fn lack(first: &Moment, last: &Moment) -> Self {
        Self::of(last.waited.saturating_sub(first.waited), last.wall.saturating_sub(first.wall))
    }

    fn matters(self) -> bool {
        self.share >= LEAST_SHARE && self.time >= LEAST_TIME
    }
}

/// Time of a rank outside of calls that is no computation, or may be none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct TimeOutsideCalls {
    /// Time blocked, and the number of times.
    blocked: Share,
    times: u64,
    /// Time in which files or pages of memory were read, or files written.
    files: Share,
    /// Work between polls that found nothing, and the whole time of polling.
    polled: Share,
    polling: Share,
}

impl TimeOutsideCalls {
    /// Reads a note `outside`. Each line has a name and a number.
    fn read(note: &str) -> Self {
        let number = |name: &str| {
            let mut lines = note.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(known, _)| *known == name).and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
        };
        let share = |name: &str| Share::of(number(name), number("run"));
        let [blocked, files, polled, polling] = ["blocked", "files", "polled", "polling"].map(share);
        Self { blocked, times: number("times"), files, polled, polling }
    }
}

/// Facts about one stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Set when the stream has an end.
    whole: bool,
    /// Reason why it ended early.
    ended: Option<String>,
    lost: u64,
    /// Set if computation is processor time.
    cpu: bool,
    /// Set if computation includes the time blocked outside of calls.
    blocked: bool,
    token: bool,
    lack: Share,
    outside: TimeOutsideCalls,
}

/// Integrity of a trace, gathered from its items.
#[derive(Clone, Debug, Default)]
pub struct Integrity {
    claimed: u32,
    streams: BTreeMap<u32, Stream>,
    /// Synchronous and buffered sends.
    synchronous: u64,
    buffered: u64,
}

/// A consumer that passes items on and gathers their integrity.
pub(super) struct IntegrityObserver<'a, C> {
    pub calls: &'a mut C,
    pub integrity: &'a mut Integrity,
    /// Set if whole streams have ends.
    pub has_ends: bool,
}

impl<C: Calls> Calls for IntegrityObserver<'_, C> {
    fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), ItemError> {
        match &item {
            Item::Event(event) => self.integrity.count(event.call),
            Item::Header(header) if self.has_ends => self.integrity.begin(rank, header),
            Item::Note(name, content) => self.integrity.note(rank, name, content),
            Item::End { lost, .. } => self.integrity.end(rank, *lost),
            _ => {}
        }
        self.calls.item(rank, place, item)
    }
}

impl Integrity {
    /// Notes the beginning of a rank's stream.
    pub fn begin(&mut self, rank: u32, header: &Header) {
        self.claimed = self.claimed.max(header.ranks);
        let clocks = header.find("clock-source").unwrap_or_default();
        let (cpu, blocked) = (clocks.contains("THREAD_CPUTIME"), clocks.contains("schedstat"));
        let token = header.find("token") == Some("1");
        self.streams.insert(rank, Stream { cpu, blocked, token, ..Stream::default() });
    }

    /// Notes the regular end of a stream, with the number of calls that it lost.
    pub fn end(&mut self, rank: u32, lost: u64) {
        if let Some(stream) = self.streams.get_mut(&rank) {
            (stream.whole, stream.lost) = (true, lost);
        }
    }

    /// Counts a send whose mode is left out.
    fn count(&mut self, call: Call) {
        match call {
            Call::Ssend | Call::Issend | Call::SsendInit => self.synchronous += 1,
            Call::Bsend | Call::Ibsend | Call::BsendInit => self.buffered += 1,
            _ => {}
        }
    }

    /// Takes a note of a stream.
    pub fn note(&mut self, rank: u32, name: &str, content: &[u8]) {
        let Some(stream) = self.streams.get_mut(&rank) else { return };
        match name {
            "ended" => stream.ended = Some(one_line(&String::from_utf8_lossy(content))),
            "scheduling" => {
                let moments = Moment::read(&String::from_utf8_lossy(content));
                if let [first, .., last] = moments.as_slice() {
                    stream.lack = Share::lack(first, last);
                }
            }
            "outside" => stream.outside = TimeOutsideCalls::read(&String::from_utf8_lossy(content)),
            _ => {}
        }
    }

    /// Returns the caveats, in sentences.
    pub fn caveats(&self) -> Caveats {
        Caveats {
            incomplete: self.incomplete().into_iter().collect(),
            lack_of_cores: self.lack_of_cores().into_iter().collect(),
            ignored: self.modes().into_iter().collect(),
            outside: self.blocked().into_iter().chain(self.polled()).collect(),
        }
    }

    /// Describes sends of other modes than the standard one, and the consequence.
    fn modes(&self) -> Option<String> {
        let modes = [
            (self.synchronous, "synchronous", "a small synchronous send waits for no receiver"),
            (self.buffered, "buffered", "a large buffered send waits for its receiver"),
        ];
        let modes = || modes.iter().filter(|(count, ..)| *count > 0);
        let counts: Vec<String> = modes().map(|(count, name, _)| format!("{count} {name}")).collect();
        let follows: Vec<&str> = modes().map(|(.., follows)| *follows).collect();
        let (counts, follows) = (counts.join(" and "), follows.join(", and "));
        (!counts.is_empty())
            .then(|| format!("ignored: the modes of {counts} sends, played as standard ones: {follows}"))
    }

    /// Describes missing parts and their consequence: `300 calls of rank 0 were not recorded: ...`.
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
                name_ranks(&missing)
            ));
        }
        let lost: u64 = self.streams.values().map(|stream| stream.lost).fold(0, u64::saturating_add);
        if lost > 0 {
            let of = name_ranks(&ranks_that(&|stream| stream.lost > 0));
            facts.push(format!("{lost} calls of {of} were not recorded"));
        }
        let messages_lack = !facts.is_empty();
        let cut = ranks_that(&|stream| !stream.whole);
        if !cut.is_empty() {
            facts.push(format!("the calls of {} are cut off", name_ranks(&cut)));
        }
        let mut reasons: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (rank, stream) in &self.streams {
            if let Some(why) = &stream.ended {
                reasons.entry(why).or_default().push(*rank);
            }
        }
        for (why, ranks) in &reasons {
            facts.push(format!("the calls of {} end early ({why})", name_ranks(ranks)));
        }
        if facts.is_empty() {
            return None;
        }
        let follows = match messages_lack {
            true => "ranks that wait for missing calls never end, and times and sums lack them",
            false => "times and sums cover a part of the run only, and ranks that wait for the rest never end",
        };
        Some(format!("{}: {follows}", facts.join(", ")))
    }

    /// Returns the rank with the largest share of something, if that matters, and a text with the share and
    /// the number of ranks concerned: `41 % of the run (2 of 3 ranks for 5 % or more)`.
    fn worst(&self, of: impl Fn(&Stream) -> Share) -> Option<(u32, &Stream, String)> {
        let some = self.streams.values().filter(|stream| of(stream).matters()).count();
        // The first of equal ones is taken.
        let (rank, worst) = self
            .streams
            .iter()
            .rev()
            .max_by(|(_, a), (_, b)| of(a).share.total_cmp(&of(b).share))
            .filter(|_| some > 0)?;
        let ranks = match (some, self.streams.len()) {
            (1, _) => String::new(),
            (some, all) => format!(" ({some} of {all} ranks for {} % or more)", 100.0 * LEAST_SHARE),
        };
        Some((*rank, worst, format!("{} % of the run{ranks}", (100.0 * of(worst).share).round())))
    }

    /// Describes the rank that was blocked longest outside of calls, and the consequence.
    fn blocked(&self) -> Option<String> {
        let (rank, worst, share) = self.worst(|stream| stream.outside.blocked)?;
        let TimeOutsideCalls { blocked, times, files, .. } = worst.outside;
        let why = match (100.0 * files.time as f64 / blocked.time as f64).round() {
            0.0 => "asleep, or waiting for other threads or processes".to_owned(),
            100.0 => "while files or pages of memory were read or written".to_owned(),
            part => {
                format!("{part} % of it while files or pages of memory were read or written, else asleep or waiting")
            }
        };
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let follows = match worst.blocked {
            true => "block times include it, and --scale and --cpu-speed change it as if it were computation",
            false => "block times leave it out, and predictions are too short by as much; record with --clock auto",
        };
        Some(format!("rank {rank} was blocked outside of MPI for {share}, {times} ({why}): {follows}"))
    }

    /// Describes the rank that polled most, whose work and waiting cannot be distinguished.
    fn polled(&self) -> Option<String> {
        let (rank, worst, share) = self.worst(|stream| stream.outside.polled)?;
        let polling = (100.0 * worst.outside.polling.share).round();
        Some(format!(
            "rank {rank} polled for {polling} % of the run, by tests and probes without success, and block times \
             count {share} of it as work; waiting cannot be told from work there and the recorder slows polls down, \
             so predictions are too short by up to the rest if a rank polls until a time has passed"
        ))
    }

    /// Describes the rank that lacked a core for the largest share of the run, the number of such ranks, and
    /// the consequence.
    fn lack_of_cores(&self) -> Option<String> {
        let (rank, worst, share) = self.worst(|stream| stream.lack)?;
        let follows = match (worst.cpu, worst.token) {
            (_, true) => "other programs had the cores; block times leave it out and hold, but for cold caches",
            (true, false) => {
                "the run and its calls took too long; block times leave it out and hold, but for cold caches; \
                 --token runs one rank at a time where one thread of each calls MPI"
            }
            (false, _) => {
                "block times are too long by as much; record with --clock cpu or, where one thread of each rank calls MPI, with --token"
            }
        };
        Some(format!("rank {rank} lacked a core for {share}: {follows}"))
    }
}

/// Returns the text without control characters, cut to fit in a line.
fn one_line(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(100).collect()
}

/// Names ranks: `rank 2`, `ranks 0-3, 7`; only the first of many ranges.
fn name_ranks(ranks: &[u32]) -> String {
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    let runs: Vec<String> = ranks.chunk_by(|a, b| *a + 1 == *b).map(run).collect();
    let (shown, rest) = runs.split_at(runs.len().min(6));
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    let more = if rest.is_empty() { "" } else { " and others" };
    format!("{word} {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(ended: Option<&str>, whole: bool, lost: u64, share: f64) -> Stream {
        let lack = Share { time: 1_000_000_000, share };
        Stream { whole, ended: ended.map(str::to_owned), lost, cpu: true, lack, ..Stream::default() }
    }

    fn of(streams: &[Stream], claimed: u32) -> Caveats {
        Integrity { claimed, streams: (0..).zip(streams.iter().cloned()).collect(), ..Integrity::default() }.caveats()
    }

    #[test]
    fn what_is_missing_is_named_with_what_follows() {
        let fine = stream(None, true, 0, 0.0);
        assert!(of(&[fine.clone(), fine.clone()], 2).is_empty());
        let said = |streams: &[Stream], claimed| of(streams, claimed).incomplete.concat();
        let lost = [fine.clone(), stream(None, true, 300, 0.0)];
        assert!(said(&lost, 2).starts_with("300 calls of rank 1 were not recorded: ranks that wait for missing calls"));
        assert!(said(&lost, 4).starts_with("2 of 4 ranks are missing (ranks 2-3), 300 calls of rank 1 were"));
        let killed = [stream(Some("killed by SIGTERM"), true, 0, 0.0), stream(None, false, 0, 0.0), fine];
        let text = said(&killed, 3);
        let expected =
            "the calls of rank 1 are cut off, the calls of rank 0 end early (killed by SIGTERM): times and sums";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn modes_of_sends_that_are_left_out_are_counted() {
        let mut integrity = Integrity::default();
        [Call::Send, Call::Isend, Call::Rsend].into_iter().for_each(|call| integrity.count(call));
        assert!(integrity.caveats().ignored.is_empty());
        [Call::Ssend, Call::Issend, Call::Bsend].into_iter().for_each(|call| integrity.count(call));
        let text = integrity.caveats().ignored.concat();
        assert!(text.starts_with("ignored: the modes of 2 synchronous and 1 buffered sends, played as"), "{text}");
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
        let short = Share { time: 9_000_000, ..more.lack };
        assert_eq!(said(&[Stream { lack: short, ..more }]), "", "a time slice or two");
    }

    #[test]
    fn time_blocked_outside_of_calls_is_said_with_its_cause_and_what_it_does_to_times() {
        let said = |notes: [&str; 2], blocked| {
            let outside =
                notes.map(TimeOutsideCalls::read).map(|outside| Stream { outside, blocked, ..Stream::default() });
            of(&outside, 2).outside
        };
        let (idle, asleep) =
            ("run 1000000000\nblocked 9000000\n", "run 1000000000\nblocked 980000000\ntimes 10\nfiles 0\n");
        assert_eq!(said([idle, idle], false), [""; 0]);
        assert_eq!(
            said([idle, asleep], false),
            [
                "rank 1 was blocked outside of MPI for 98 % of the run, 10 times (asleep, or waiting for other threads or \
              processes): block times leave it out, and predictions are too short by as much; record with --clock auto"
            ]
        );
        let files = "run 1000000000\nblocked 200000000\ntimes 1\nfiles 50000000\npolled 300000000\npolling 500000000\n";
        let [blocked, polled] = said([files, asleep], true).try_into().unwrap_or_else(|said| panic!("{said:?}"));
        assert!(
            blocked.starts_with("rank 1 was blocked outside of MPI for 98 % of the run (2 of 2 ranks"),
            "{blocked}"
        );
        assert!(blocked.contains("block times include it"), "{blocked}");
        assert!(polled.starts_with("rank 0 polled for 50 % of the run, by tests and"), "{polled}");
        assert!(polled.contains("block times count 30 % of the run of it as work"), "{polled}");
        assert!(said([files, idle], true)[0].contains(", once (25 % of it while files"));
    }

    #[test]
    fn moments_are_read_and_what_makes_no_sense_is_passed_over() {
        let moments =
            Moment::read("100 50 10 1 1 start\nnonsense\n300 100 70 4 9 begin solve\n1100 400 420 9 30 end\n");
        assert_eq!(moments.len(), 3);
        assert_eq!((moments[1].call, moments[1].place.as_str()), (9, "begin solve"));
        assert_eq!(Share::lack(&moments[0], &moments[2]), Share { time: 410, share: 0.41 });
        assert_eq!(Share::lack(&moments[2], &moments[0]), Share::default());
    }

    #[test]
    fn ranks_are_named_in_ranges() {
        assert_eq!(name_ranks(&[3]), "rank 3");
        assert_eq!(name_ranks(&[0, 1, 2, 5]), "ranks 0-2, 5");
        assert_eq!(name_ranks(&[0, 2, 4, 6, 8, 10, 12]), "ranks 0, 2, 4, 6, 8, 10 and others");
    }
}
