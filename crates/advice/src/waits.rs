//! Waits and their causes, folded to lines, for the rules from A101 on.

use std::collections::BTreeMap;

use hayase_trace::{Call, CallKind};
use rustc_hash::FxHashMap;

use crate::fold::Folded;
use crate::model::{Change, Finding, Location, Role, RuleId, ScenarioChange};
use crate::options::Options;
use crate::walk::{CallEnd, Cause, Wait};

/// Largest message that costs its latency, not its length \[B\].
const MAX_LATENCY_BOUND_BYTES: u64 = 4096;
/// Smallest number of dependent messages that form a chain.
const MIN_CHAIN: u32 = 16;
/// Smallest number of senders waiting for one receiver that counts as incast.
const MIN_SENDERS: usize = 4;
/// Largest number of causes named for the waits at one place.
const MOST_CAUSES: usize = 5;

/// Sum of the waits of one kind at one place for one cause.
#[derive(Clone, Copy, Debug, Default)]
struct WaitSum {
    times: u64,
    time: u64,
    bytes: u64,
    largest: u64,
}

impl WaitSum {
    fn add(&mut self, time: u64, bytes: u64) {
        self.times += 1;
        self.time += time;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
    }
}

/// Rank and one of its lines.
type RankLine = (u32, u32);

/// Messages that a rank received without computation in between.
#[derive(Clone, Debug, Default)]
struct Burst {
    computed: u64,
    began: u64,
    /// Senders of the messages.
    senders: Vec<u32>,
    bytes: u64,
    line: u32,
}

/// Rule, place and call of a wait; rank that causes it, and the lines around that rank's computation.
type WaitKey = (RuleId, RankLine, &'static str, (u32, u32, u32));

/// Cause of waits at one place: computation between two lines, on some ranks.
#[derive(Debug, Default)]
struct Causes {
    times: u64,
    /// Time for which each rank is the cause \[ns\].
    ranks: BTreeMap<u32, u64>,
}

impl Causes {
    fn time(&self) -> u64 {
        self.ranks.values().sum()
    }
}

/// Sum of the waits at one place.
#[derive(Debug, Default)]
struct PlaceWaits {
    folded: Folded<Location>,
    /// Causes by the lines around the computation.
    causes: BTreeMap<(Location, Location), Causes>,
    /// Size of the largest message \[B\].
    largest: u64,
}

/// Sums of all waits, chains and bursts.
#[derive(Debug, Default)]
pub struct Waits {
    /// Waits by rule, place, call and cause.
    sums: FxHashMap<WaitKey, WaitSum>,
    /// Chains, by the lines of the send and of the receive.
    chains: FxHashMap<(RankLine, RankLine), WaitSum>,
    longest_chain: u32,
    bursts: Vec<Burst>,
    crowds: FxHashMap<RankLine, WaitSum>,
    largest_crowd: usize,
    least: u64,
}

impl Waits {
    /// Creates empty sums; computation below `least` \[ns\] for each message does not end a burst.
    pub fn new(ranks: usize, least: u64) -> Self {
        Self { bursts: vec![Burst::default(); ranks], least, ..Self::default() }
    }

    /// Adds a wait of a rank.
    pub fn waited(&mut self, waited: &Wait) {
        let Wait { name, line, rank, time, cause, message, .. } = *waited;
        let Cause { rank: who, from, to, .. } = cause;
        let cause = (who, from, to);
        let at = (rank, line);
        match message {
            None => self.sums.entry((RuleId::A103, at, name, cause)).or_default().add(time, 0),
            Some((mine, other)) if is_send(mine.call) => {
                self.sums.entry((RuleId::A102, at, name, cause)).or_default().add(time, mine.bytes);
                if !matches!(mine.call, Call::Ssend | Call::Issend | Call::SsendInit) {
                    let partner = (other.rank, other.line, other.line);
                    self.sums
                        .entry((RuleId::A106, (mine.rank, mine.line), mine.name, partner))
                        .or_default()
                        .add(time, mine.bytes);
                }
            }
            Some((mine, _)) => self.sums.entry((RuleId::A101, at, name, cause)).or_default().add(time, mine.bytes),
        }
    }

    /// Adds a message that a rank has received.
    pub fn taken(&mut self, rank: u32, computed: u64, send: &CallEnd, receive: &CallEnd) {
        let chain = send.chain + 1;
        if chain >= MIN_CHAIN && send.bytes <= MAX_LATENCY_BOUND_BYTES && send.time >= receive.time {
            self.chains.entry(((send.rank, send.line), (rank, receive.line))).or_default().add(0, send.bytes);
            self.longest_chain = self.longest_chain.max(chain);
        }
        let least = self.least;
        let Some(burst) = self.bursts.get_mut(rank as usize) else { return };
        if computed > burst.computed + least * (burst.senders.len() as u64).max(1) || burst.senders.is_empty() {
            self.end_burst(rank);
            let burst = &mut self.bursts[rank as usize];
            (burst.computed, burst.began, burst.line) = (computed, receive.time, receive.line);
        }
        let burst = &mut self.bursts[rank as usize];
        if !burst.senders.contains(&send.rank) {
            burst.senders.push(send.rank);
        }
        burst.bytes += send.bytes;
    }

    fn end_burst(&mut self, rank: u32) {
        let burst = std::mem::take(&mut self.bursts[rank as usize]);
        if burst.senders.len() >= MIN_SENDERS {
            self.crowds.entry((rank, burst.line)).or_default().add(0, burst.bytes);
            self.largest_crowd = self.largest_crowd.max(burst.senders.len());
        }
    }

    /// Returns the findings: waits above the given share of all ranks' time, incast and chains. `line` gives
    /// the location of a rank's line.
    pub fn findings(mut self, clocks: &[u64], options: &Options, line: impl Fn(u32, u32) -> Location) -> Vec<Finding> {
        for rank in 0..self.bursts.len() as u32 {
            self.end_burst(rank);
        }
        let ranks = clocks.len() as u32;
        let least = (clocks.iter().sum::<u64>() as f64 * options.share) as u64;
        let mut findings = self.waits(ranks, least, options, &line);
        findings.extend(self.crowded(ranks, &line));
        findings.extend(self.chained(ranks, &line));
        findings
    }

    fn waits(&self, ranks: u32, least: u64, options: &Options, line: &impl Fn(u32, u32) -> Location) -> Vec<Finding> {
        // One finding for each place, with all its causes.
        let mut folded: BTreeMap<(RuleId, Location, &'static str), PlaceWaits> = BTreeMap::new();
        for (&(rule, (rank, at), name, (who, from, to)), sum) in &self.sums {
            let late = folded.entry((rule, line(rank, at), name)).or_default();
            late.folded.found += sum.times;
            late.folded.time += sum.time;
            late.folded.bytes += sum.bytes;
            late.folded.ranks.insert(rank);
            late.largest = sum.largest.max(late.largest);
            let cause = late.causes.entry((line(who, from), line(who, to))).or_default();
            cause.times += sum.times;
            *cause.ranks.entry(who).or_default() += sum.time;
        }
        let mut findings = Vec::new();
        for ((rule, at, name), PlaceWaits { mut folded, causes, largest }) in folded {
            if folded.time < least.max(1) {
                continue;
            }
            let (times, time, (waiting, s)) = (folded.found, folded.time, folded.ranks.in_words());
            folded.places(Role::Communication, at.clone(), name, times, None);
            let role = if rule == RuleId::A106 { Role::Partner } else { Role::Cause };
            let mut who: BTreeMap<u32, u64> = BTreeMap::new();
            for (&rank, &time) in causes.values().flat_map(|cause| &cause.ranks) {
                *who.entry(rank).or_default() += time;
            }
            let mut causes: Vec<((Location, Location), Causes)> = causes.into_iter().collect();
            causes.sort_by(|a, b| b.1.time().cmp(&a.1.time()).then_with(|| a.0.cmp(&b.0)));
            for ((from, to), cause) in causes.iter().take(MOST_CAUSES) {
                folded.places(role, from.clone(), "", cause.times, None);
                if from != to {
                    folded.places(role, to.clone(), "", cause.times, None);
                }
            }
            let worst =
                who.iter().max_by_key(|&(&rank, &time)| (time, std::cmp::Reverse(rank))).map_or(0, |(&rank, _)| rank);
            let between = |(from, to): &(Location, Location)| match from == to {
                true => format!("at {from}"),
                false => format!("between {from} and {to}"),
            };
            let most = if causes.len() > 1 { ", most" } else { "" };
            let longest = causes.first().map_or_else(String::new, |(place, _)| between(place));
            let unit = options.unit(time);
            let waited = unit.write(time as f64);
            let title = match rule {
                RuleId::A101 => format!("{name} at {at} waits for senders that compute{most} {longest}"),
                RuleId::A102 => format!("{name} at {at} waits for receivers that compute{most} {longest}"),
                RuleId::A103 => {
                    format!("{name} at {at}: ranks come at different times, the last computes{most} {longest}")
                }
                _ => {
                    format!("{name} at {at} waits for its receiver: messages of up to {largest} B are above the limit")
                }
            };
            let who: crate::model::Ranks = who.keys().copied().collect();
            let most = if who.len() > 1 { format!(", most for rank {worst}") } else { String::new() };
            let (who, _) = who.in_words();
            let calls = if times == 1 { "call" } else { "calls" };
            let mut text = vec![format!("{waiting} wait{s} {waited} in {times} {calls}, for {who}{most}")];
            if let (RuleId::A106, Some(eager)) = (rule, options.eager) {
                text.push(format!("messages above {eager} B wait for their receivers"));
            } else if causes.len() > 1 {
                let named = causes.iter().take(MOST_CAUSES);
                text.extend(named.map(|(place, cause)| {
                    let of: crate::model::Ranks = cause.ranks.keys().copied().collect();
                    let (of, s) = of.in_words();
                    format!("{} of it while {of} compute{s} {}", unit.write(cause.time() as f64), between(place))
                }));
                let more = causes.len().saturating_sub(MOST_CAUSES);
                text.extend((more > 0).then(|| format!("and {more} other places")));
            }
            let Some(mut finding) = folded.finding(rule, title, text, ranks) else { continue };
            finding.change = match rule {
                RuleId::A106 => Change::Scenario(ScenarioChange::RaiseEager { to: largest }),
                _ => Change::None,
            };
            // The note "seen on some ranks only" would repeat the finding.
            finding.notes.clear();
            findings.push(finding);
        }
        findings
    }

    fn crowded(&self, ranks: u32, line: &impl Fn(u32, u32) -> Location) -> Vec<Finding> {
        let mut folded: BTreeMap<Location, Folded<Location>> = BTreeMap::new();
        for (&(rank, at), sum) in &self.crowds {
            let at = line(rank, at);
            let folded = folded.entry(at.clone()).or_default();
            folded.found += sum.times;
            folded.bytes += sum.bytes;
            folded.ranks.insert(rank);
            folded.places(Role::Communication, at, "Recv", sum.times, None);
        }
        // If most ranks receive from many at once, no receiver is a bottleneck.
        let few = |folded: &Folded<Location>| 2 * folded.ranks.len() <= u64::from(ranks);
        folded
            .into_iter()
            .filter(|(_, folded)| few(folded))
            .filter_map(|(at, folded)| {
                let title = format!("many ranks send to one at once: receives at {at} are served one after the other");
                let text = vec![format!("up to {} senders without computation in between", self.largest_crowd)];
                let mut finding = folded.finding(RuleId::A104, title, text, ranks)?;
                finding.notes.clear();
                finding.change = Change::None;
                Some(finding)
            })
            .collect()
    }

    /// Returns one finding for all chains: chains at several lines are most likely parts of one chain.
    fn chained(&self, ranks: u32, line: &impl Fn(u32, u32) -> Location) -> Option<Finding> {
        let mut pairs: BTreeMap<(Location, Location), u64> = BTreeMap::new();
        let mut folded = Folded::default();
        for (&((from, send), (to, receive)), sum) in &self.chains {
            let (send, receive) = (line(from, send), line(to, receive));
            folded.found += sum.times;
            folded.bytes += sum.bytes;
            folded.ranks.insert(from);
            folded.ranks.insert(to);
            folded.places(Role::Communication, send.clone(), "Send", sum.times, None);
            folded.places(Role::Partner, receive.clone(), "Recv", sum.times, None);
            *pairs.entry((send, receive)).or_default() += sum.times;
        }
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let ((from, to), _) = pairs.first()?;
        let others = match pairs.len() {
            1 => String::new(),
            n => format!(" and at {} other pairs of lines", n - 1),
        };
        let title = format!("small messages from {from} to {to}{others} hang on each other: their latencies add up");
        let mut text = vec![format!(
            "the longest chain has {} messages, each of {MAX_LATENCY_BOUND_BYTES} B at most",
            self.longest_chain
        )];
        text.extend(pairs.iter().skip(1).take(MOST_CAUSES).map(|((from, to), n)| format!("from {from} to {to}: {n}")));
        let mut finding = folded.finding(RuleId::A105, title, text, ranks)?;
        finding.notes.clear();
        finding.change = Change::None;
        Some(finding)
    }
}

fn is_send(call: Call) -> bool {
    matches!(call.kind(), CallKind::Send | CallKind::Isend | CallKind::SendInit)
}
