//! A004: point-to-point messages that form a collective operation.

use std::collections::BTreeMap;

use crate::doubts::Doubts;
use crate::fold::Folded;
use crate::model::{Action, CallPart, Finding, Location, Role, RuleId};
use crate::rounds::Round;
use crate::walk::CallEnd;
use crate::watch::{AT_EVENT, Completion};

/// Smallest share of the messages of a line that must be in its rounds.
const NEARLY_ALL: f64 = 0.9;
/// Smallest number of partners of a round among a subset of the ranks.
const FEWEST_OF_A_PART: usize = 3;

/// Rank and event of the other end of each message of a round.
type Ends = Vec<Option<(u32, u32)>>;
/// Subset of each rank; `None` if the rank is in two subsets.
type Sets = BTreeMap<u32, Option<Vec<u32>>>;

/// Rounds of all ranks, and the other ends of their messages.
#[derive(Debug, Default)]
pub struct Patterns {
    rounds: Vec<Vec<Round>>,
    /// Event, round and index in the round of each message by rank, in ascending order.
    index: Vec<Vec<(u32, u32, u32)>>,
    /// Other ends of the messages, by rank and round.
    partners: Vec<Vec<Ends>>,
    executions: Vec<BTreeMap<(CallPart, u32), u64>>,
    /// Rank and line of the other end of a message, by rank and round.
    lines: Vec<Vec<(u32, u32)>>,
}

impl Patterns {
    /// Creates the rule from the rounds of each rank and the number of executions of its lines.
    pub fn new(rounds: Vec<Vec<Round>>, executions: Vec<BTreeMap<(CallPart, u32), u64>>) -> Self {
        let index = rounds
            .iter()
            .map(|rounds| {
                let mut index: Vec<(u32, u32, u32)> = (0..)
                    .zip(rounds)
                    .flat_map(|(i, round)| (0..).zip(&round.events).map(move |(j, &event)| (event, i, j)))
                    .collect();
                index.sort_unstable();
                index
            })
            .collect();
        let partners =
            rounds.iter().map(|rounds| rounds.iter().map(|round| vec![None; round.events.len()]).collect()).collect();
        let lines = rounds.iter().map(|rounds| vec![(0, 0); rounds.len()]).collect();
        Self { rounds, index, partners, executions, lines }
    }

    fn find(&self, rank: u32, event: u64, part: CallPart) -> Option<(u32, u32)> {
        let index = self.index.get(rank as usize)?;
        let from = index.partition_point(|&(other, ..)| u64::from(other) < event);
        index[from..]
            .iter()
            .take_while(|&&(other, ..)| u64::from(other) == event)
            .map(|&(_, round, at)| (round, at))
            .find(|&(round, _)| self.rounds[rank as usize][round as usize].part == part)
    }

    /// Adds a message that met its receive.
    pub fn matched(&mut self, send: &CallEnd, receive: &CallEnd) {
        for (mine, other, part) in [(send, receive, CallPart::Send), (receive, send, CallPart::Receive)] {
            if let Some((round, at)) = self.find(mine.rank, mine.event, part) {
                let rank = mine.rank as usize;
                self.partners[rank][round as usize][at as usize] = Some((other.rank, other.event as u32));
                self.lines[rank][round as usize] = (other.rank, other.line);
            }
        }
    }

    /// Returns the findings. `line` gives the location of a round's line, `partner` that of a message's other
    /// end.
    pub fn findings(
        mut self,
        ranks: u32,
        line: impl Fn(u32, u32) -> Location,
        partner: impl Fn(u32, u32) -> Location,
    ) -> Vec<Finding> {
        self.drop_incomplete();
        let mut folded = BTreeMap::new();
        self.exchanges(&mut folded, &line);
        self.rooted(&mut folded, &line, &partner);
        folded
            .into_iter()
            .filter_map(|((at, call), folded): ((Location, &'static str), Folded<Location>)| {
                let title = match call {
                    "Reduce" => format!("messages at {at} look like a reduction: MPI_Reduce could do it"),
                    _ => format!("messages at {at} are a collective operation: MPI_{call} could do it"),
                };
                folded.finding(RuleId::A004, title, Vec::new(), ranks)
            })
            .collect()
    }

    /// Drops lines with too many messages outside rounds, and rounds with unmatched messages.
    fn drop_incomplete(&mut self) {
        for (rank, rounds) in self.rounds.iter().enumerate() {
            let mut inside: BTreeMap<(CallPart, u32), u64> = BTreeMap::new();
            for round in rounds {
                *inside.entry((round.part, round.line)).or_default() += round.events.len() as u64;
            }
            for (round, partners) in rounds.iter().zip(&mut self.partners[rank]) {
                let key = (round.part, round.line);
                let all = self.executions[rank].get(&key).copied().unwrap_or(0);
                let most = inside.get(&key).is_some_and(|&inside| inside as f64 >= NEARLY_ALL * all as f64);
                if !most || partners.contains(&None) {
                    partners.clear();
                }
            }
        }
    }

    fn is_full(round: &Round) -> bool {
        round.peers.len() + 1 == round.comm.1 as usize
    }

    /// Finds exchanges in which all ranks of a communicator send to all others and receive from all others.
    fn exchanges(
        &mut self,
        folded: &mut BTreeMap<(Location, &'static str), Folded<Location>>,
        line: &impl Fn(u32, u32) -> Location,
    ) {
        // Full rounds of sends by communicator, line and rank. Rounds of a rank at other lines do not count.
        type Full = BTreeMap<u32, Vec<u32>>;
        let mut full: BTreeMap<(u64, u32, Location), Full> = BTreeMap::new();
        for (rank, rounds) in (0_u32..).zip(&self.rounds) {
            for (i, round) in (0_u32..).zip(rounds) {
                let whole = Self::is_full(round) && !self.partners[rank as usize][i as usize].is_empty();
                if whole && round.part == CallPart::Send {
                    let key = (round.comm.0, round.comm.1, line(rank, round.line));
                    full.entry(key).or_default().entry(rank).or_default().push(i);
                }
            }
        }
        for ((_, size, _), of_ranks) in full {
            let count = of_ranks.values().next().map_or(0, Vec::len);
            let even = of_ranks.values().all(|rounds| rounds.len() == count);
            if of_ranks.len() != size as usize || !even {
                continue;
            }
            // The rounds of a rank at one line are in the order of events.
            for k in 0..count {
                let sends: Vec<(u32, u32)> = of_ranks.iter().map(|(&rank, rounds)| (rank, rounds[k])).collect();
                let Some(receives) = self.receives_of(&sends) else { continue };
                let round = |&(rank, i): &(u32, u32)| &self.rounds[rank as usize][i as usize];
                let bytes = round(&sends[0]).bytes;
                if sends.iter().any(|send| round(send).bytes != bytes) {
                    continue;
                }
                let call = if sends.iter().all(|send| round(send).one_buffer) {
                    "Allgather"
                } else if sends.iter().all(|send| round(send).apart) {
                    "Alltoall"
                } else {
                    continue;
                };
                let mut calls: Vec<(u32, u64)> = Vec::new();
                let mut doubts = Doubts::default();
                let mut needs = Vec::new();
                for &(rank, i) in &sends {
                    let both = [i, receives[&rank]].map(|i| &self.rounds[rank as usize][i as usize]);
                    doubts.and(Self::exchange(rank, both, &mut calls, &mut needs));
                }
                let (rank, i) = sends[0];
                let at = line(rank, self.rounds[rank as usize][i as usize].line);
                let entry = folded.entry((at.clone(), call)).or_default();
                entry.place(Role::Communication, at, "Send", None);
                let (receiver, i) = (rank, receives[&rank]);
                entry.place(Role::Partner, line(receiver, self.rounds[rank as usize][i as usize].line), "Recv", None);
                note(entry, call, None, bytes, sends.iter().map(|&(rank, _)| rank).collect(), calls, needs, doubts);
                for (rank, i) in sends.into_iter().chain(receives) {
                    self.partners[rank as usize][i as usize].clear();
                }
            }
        }
    }

    /// Adds the calls of a rank that sends a round and receives one, with the communications that must be
    /// complete.
    ///
    /// The place of the collective operation comes first in `calls`. It is the first of all calls if the data
    /// is ready there and the buffers are free. If receives are posted before the data is ready, it is the
    /// first send. Returns the doubts.
    fn exchange(
        rank: u32,
        [sends, receives]: [&Round; 2],
        calls: &mut Vec<(u32, u64)>,
        needs: &mut Vec<(u32, u64, CallPart)>,
    ) -> Doubts {
        let mut doubts = sends.doubts;
        doubts.and(receives.doubts);
        let mut events: Vec<u32> = sends.events.iter().chain(&receives.events).copied().collect();
        events.sort_unstable();
        events.dedup();
        let mut place = u64::from(events[0]);
        if sends.behind.max(receives.behind) >= (place, AT_EVENT) {
            place = u64::from(sends.events[0].max(receives.events[0]));
            doubts.and(Doubts::PLACE);
        }
        for round in [sends, receives] {
            needs.extend(later(&round.needs, rank, place, &events));
        }
        calls.push((rank, place));
        calls.extend(events.into_iter().map(|event| (rank, event.into())).filter(|&(_, event)| event != place));
        doubts
    }

    /// Returns the round of each rank that receives all messages of these rounds; `None` if a message ends
    /// elsewhere.
    fn receives_of(&self, sends: &[(u32, u32)]) -> Option<BTreeMap<u32, u32>> {
        let mut receives: BTreeMap<u32, u32> = BTreeMap::new();
        for &(rank, i) in sends {
            for &(peer, event) in self.partners[rank as usize][i as usize].iter().flatten() {
                let (round, _) = self.find(peer, event.into(), CallPart::Receive)?;
                if *receives.entry(peer).or_insert(round) != round {
                    return None;
                }
            }
        }
        let whole = |(&rank, &i): (&u32, &u32)| {
            Self::is_full(&self.rounds[rank as usize][i as usize])
                && !self.partners[rank as usize][i as usize].is_empty()
        };
        (receives.len() == sends.len() && receives.iter().all(whole)).then_some(receives)
    }

    /// Finds rounds in which one rank sends to all others or receives from them.
    fn rooted(
        &self,
        folded: &mut BTreeMap<(Location, &'static str), Folded<Location>>,
        line: &impl Fn(u32, u32) -> Location,
        partner: &impl Fn(u32, u32) -> Location,
    ) {
        let members = |rank: u32, round: &Round| {
            let mut members = round.peers.clone();
            members.push(rank);
            members.sort_unstable();
            members
        };
        // Subset of each rank by line; `None` if the rank is in two subsets.
        let mut parts: BTreeMap<(CallPart, Location), Sets> = BTreeMap::new();
        for (rank, rounds) in (0_u32..).zip(&self.rounds) {
            for round in rounds.iter().filter(|round| !Self::is_full(round)) {
                let set = members(rank, round);
                let sets = parts.entry((round.part, line(rank, round.line))).or_default();
                for member in &set {
                    let known = sets.entry(*member).or_insert_with(|| Some(set.clone()));
                    if known.as_ref() != Some(&set) {
                        *known = None;
                    }
                }
            }
        }
        for (rank, rounds) in (0_u32..).zip(&self.rounds) {
            for (i, round) in rounds.iter().enumerate() {
                let partners = &self.partners[rank as usize][i];
                if partners.is_empty() {
                    continue;
                }
                let set = members(rank, round);
                let at = line(rank, round.line);
                if !Self::is_full(round) {
                    let sets = parts.get(&(round.part, at.clone()));
                    let steady = |member| sets.and_then(|sets| sets.get(member)).is_some_and(Option::is_some);
                    if round.peers.len() < FEWEST_OF_A_PART || !set.iter().all(steady) {
                        continue;
                    }
                }
                // If a sender of this round sends rounds itself, the pattern is the sender's, even if that is
                // incomplete.
                let given = |&(peer, event): &(u32, u32)| self.find(peer, event.into(), CallPart::Send).is_some();
                if round.part == CallPart::Receive && partners.iter().flatten().any(given) {
                    continue;
                }
                let mut doubts = round.doubts;
                let call = match round.part {
                    CallPart::Send if round.one_buffer => "Bcast",
                    CallPart::Send if round.apart => "Scatter",
                    CallPart::Receive if round.apart => "Gather",
                    CallPart::Receive if round.one_buffer => {
                        // The operation on the messages was not recorded.
                        doubts.and(Doubts::OPERATION);
                        "Reduce"
                    }
                    _ => continue,
                };
                let mut calls: Vec<(u32, u64)> = round.events.iter().map(|&event| (rank, u64::from(event))).collect();
                calls.extend(partners.iter().flatten().map(|&(peer, event)| (peer, u64::from(event))));
                calls.sort_unstable();
                let entry = folded.entry((at.clone(), call)).or_default();
                let (mine, other) = if round.part == CallPart::Send { ("Send", "Recv") } else { ("Recv", "Send") };
                entry.place(Role::Communication, at, mine, None);
                let (peer, at) = self.lines[rank as usize][i];
                entry.place(Role::Partner, partner(peer, at), other, None);
                let first = u64::from(round.events[0]);
                let needs = later(&round.needs, rank, first, &round.events);
                note(entry, call, Some(rank), round.bytes, set, calls, needs, doubts);
            }
        }
    }
}

/// Returns the communications that could end after `place`, the event of the collective operation, as rank,
/// event and part. Replaced events are left out.
fn later(needs: &[Completion], rank: u32, place: u64, replaced: &[u32]) -> Vec<(u32, u64, CallPart)> {
    let mut needs: Vec<(u32, u64, CallPart)> = needs
        .iter()
        .filter(|need| need.until > (place, AT_EVENT))
        .filter(|need| !replaced.iter().any(|&event| u64::from(event) == need.event))
        .map(|need| (rank, need.event, need.part))
        .collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

#[allow(clippy::too_many_arguments, reason = "each is something else of one finding")]
fn note(
    folded: &mut Folded<Location>,
    call: &str,
    root: Option<u32>,
    bytes: u64,
    members: Vec<u32>,
    calls: Vec<(u32, u64)>,
    needs: Vec<(u32, u64, CallPart)>,
    doubts: Doubts,
) {
    folded.found += 1;
    folded.bytes += bytes * (members.len() as u64 - 1);
    folded.doubts.and(doubts);
    for &member in &members {
        folded.ranks.insert(member);
    }
    let Some(&(rank, event)) = calls.iter().min() else { return };
    folded.edits.push(rank, event, Action::Replace { collective: call.into(), members, root, bytes, calls, needs });
}
