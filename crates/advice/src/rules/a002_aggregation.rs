//! A002: messages to one rank that could be one message.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::doubts::Doubts;
use crate::fold::Folded;
use crate::merge::{EarlierData, Join, needs_of};
use crate::model::{Action, Finding, Location, Place, Role, RuleId};
use crate::overlap::needed;
use crate::walk::CallEnd;
use crate::watch::Completion;

/// Sent message and its receive.
#[derive(Clone, Copy, Debug)]
struct SentMessage {
    /// Event that sends it.
    sent: u32,
    /// Rank and event that receive it.
    to: u32,
    received: u32,
    bytes: u64,
    /// Lines of the send and of the receive.
    send_line: u32,
    receive_line: u32,
}

/// Messages by sending rank and event.
type Partners = FxHashMap<(u32, u32), SentMessage>;

/// Messages that could be one, from the joins of senders and receivers.
#[derive(Debug, Default)]
pub struct Aggregation {
    /// Joins of sends and of receives by rank, in the order of events.
    joins: Vec<Vec<Join>>,
    /// Events that are the head of a group, by rank, in ascending order.
    heads: Vec<Vec<u32>>,
    partners: Partners,
}

impl Aggregation {
    /// Creates the rule from the joins of each rank, in the order of events.
    pub fn new(joins: Vec<Vec<Join>>) -> Self {
        let heads = joins
            .iter()
            .map(|joins| {
                let mut heads: Vec<u32> = joins.iter().map(|join| join.head).collect();
                heads.sort_unstable();
                heads.dedup();
                heads
            })
            .collect();
        Self { joins, heads, partners: Partners::default() }
    }

    fn join(&self, rank: u32, event: u32) -> Option<&Join> {
        let joins = self.joins.get(rank as usize)?;
        joins.binary_search_by_key(&event, |join| join.event).ok().map(|at| &joins[at])
    }

    fn belongs(&self, rank: u32, event: u32) -> bool {
        self.join(rank, event).is_some()
            || self.heads.get(rank as usize).is_some_and(|heads| heads.binary_search(&event).is_ok())
    }

    /// Adds a message that met its receive.
    pub fn matched(&mut self, send: &CallEnd, receive: &CallEnd) {
        let (s, r) = (send.event as u32, receive.event as u32);
        if self.belongs(send.rank, s) && self.belongs(receive.rank, r) {
            let (to, bytes, send_line, receive_line) = (receive.rank, send.bytes, send.line, receive.line);
            self.partners
                .insert((send.rank, s), SentMessage { sent: s, to, received: r, bytes, send_line, receive_line });
        }
    }

    /// Returns the findings. `of_several_sizes` holds the lines whose calls have different sizes; `line`
    /// gives the location of a rank's line.
    pub fn findings(
        self,
        ranks: u32,
        of_several_sizes: &BTreeSet<Location>,
        line: impl Fn(u32, u32) -> Location,
    ) -> Vec<Finding> {
        let mut folded: BTreeMap<Vec<Location>, Folded<Location>> = BTreeMap::new();
        for (rank, joins) in (0_u32..).zip(&self.joins) {
            // Members of a group in the order of events, split where the receiver does not agree.
            let mut groups: BTreeMap<u32, Vec<Join>> = BTreeMap::new();
            for join in joins.iter().filter(|join| self.partners.contains_key(&(rank, join.event))) {
                groups.entry(join.head).or_default().push(join.clone());
            }
            for members in groups.values() {
                let mut open: Vec<SentMessage> = Vec::new();
                let mut joined: Vec<Join> = Vec::new();
                for join in members {
                    let (Some(before), Some(this)) =
                        (self.partners.get(&(rank, join.before)), self.partners.get(&(rank, join.event)))
                    else {
                        continue;
                    };
                    let there = self.join(this.to, this.received);
                    let length = there.is_some_and(|other| other.content == EarlierData::Length);
                    let sizes = of_several_sizes.contains(&line(rank, this.send_line));
                    let agreed = !(length && sizes) && there.is_some_and(|other| other.before == before.received);
                    if !agreed || open.last().is_some_and(|last| last.sent != join.before) {
                        self.fold(rank, &open, &joined, of_several_sizes, &mut folded, &line);
                        (open, joined) = (Vec::new(), Vec::new());
                    }
                    if agreed {
                        if open.is_empty() {
                            open.push(*before);
                        }
                        open.push(*this);
                        joined.push(join.clone());
                    }
                }
                self.fold(rank, &open, &joined, of_several_sizes, &mut folded, &line);
            }
        }
        let title = |at: &[Location]| match at {
            [one] => format!("messages sent to one rank at {one} could be one message"),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(Location::to_string).collect();
                format!("messages sent to one rank at {} and {last} could be one message", first.join(", "))
            }
            [] => "messages to one rank could be one message".into(),
        };
        with_their_parts(folded)
            .into_iter()
            .filter_map(|(at, folded)| {
                let mut finding = folded.finding(RuleId::A002, title(&at), Vec::new(), ranks)?;
                lead_with(&mut finding, &at[0]);
                Some(finding)
            })
            .collect()
    }

    fn fold(
        &self,
        rank: u32,
        group: &[SentMessage],
        joins: &[Join],
        of_several_sizes: &BTreeSet<Location>,
        folded: &mut BTreeMap<Vec<Location>, Folded<Location>>,
        line: &impl Fn(u32, u32) -> Location,
    ) {
        let [SentMessage { sent: head, to, received, .. }, rest @ ..] = group else { return };
        if rest.is_empty() {
            return;
        }
        let several = rest.iter().any(|message| of_several_sizes.contains(&line(rank, message.send_line)));
        let mut lines: Vec<Location> = group.iter().map(|message| line(rank, message.send_line)).collect();
        let first = lines[0].clone();
        lines.sort();
        lines.dedup();
        let receives: Vec<Location> = group.iter().map(|message| line(*to, message.receive_line)).collect();
        let bytes = group.iter().map(|message| message.bytes).sum::<u64>();
        let there = |message: &SentMessage| self.join(*to, message.received);
        let adjacent = joins.iter().all(|join| join.adjacent);
        let adjacent_there = rest.iter().all(|message| there(message).is_some_and(|join| join.adjacent));
        let merge = |with, adjacent, needs: &[Completion], head: u32| {
            let needs = needed(needs, u64::from(head));
            Action::Merge { with, bytes, copy: if adjacent { 0 } else { bytes }, needs }
        };
        let folded = folded.entry(lines.clone()).or_default();
        folded.found += 1;
        folded.bytes += bytes;
        folded.ranks.insert(rank);
        folded.ranks.insert(*to);
        for join in joins.iter().chain(rest.iter().filter_map(there)) {
            folded.doubts.and(join.doubts);
            if join.content != EarlierData::Nothing && several {
                folded.doubts.and(Doubts::CONTENT);
            }
        }
        for at in lines {
            let role = if at == first { Role::Communication } else { Role::Companion };
            folded.place(role, at, "Send", None);
        }
        for at in receives {
            folded.place(Role::Partner, at, "Recv", None);
        }
        let with = rest.iter().map(|message| u64::from(message.sent - head)).collect();
        folded.edits.push(rank, u64::from(*head), merge(with, adjacent, &needs_of(&mut joins.iter()), *head));
        // The edits of a rank in two groups of one place are in the order of senders; they are sorted at the end.
        let with: Vec<u64> = rest.iter().map(|message| u64::from(message.received - received)).collect();
        folded.edits.push(
            *to,
            u64::from(*received),
            merge(with, adjacent_there, &needs_of(&mut rest.iter().filter_map(there)), *received),
        );
    }
}

/// Merges a group whose lines are all in a larger group into that one: in some rounds, a message could not
/// join.
fn with_their_parts(folded: BTreeMap<Vec<Location>, Folded<Location>>) -> BTreeMap<Vec<Location>, Folded<Location>> {
    let mut groups: Vec<(Vec<Location>, Folded<Location>)> = folded.into_iter().collect();
    // Longest groups first; groups of one length in the order of their lines.
    groups.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
    let mut whole: Vec<(Vec<Location>, Folded<Location>)> = Vec::new();
    for (lines, group) in groups {
        let holds = |of: &&mut (Vec<Location>, Folded<Location>)| {
            of.0.len() > lines.len() && lines.len() > 1 && lines.iter().all(|line| of.0.contains(line))
        };
        match whole.iter_mut().find(holds) {
            Some((_, of)) => of.merge(group),
            None => whole.push((lines, group)),
        }
    }
    whole.into_iter().collect()
}

/// Makes `first` the communication of a finding; the other lines that send become its companions.
fn lead_with(finding: &mut Finding, first: &Location) {
    let mut places: Vec<Place> = Vec::new();
    for mut place in std::mem::take(&mut finding.places) {
        if matches!(place.role, Role::Communication | Role::Companion) {
            place.role = if place.location == *first { Role::Communication } else { Role::Companion };
        }
        match places.iter_mut().find(|other| other.role == place.role && other.location == place.location) {
            Some(other) => {
                other.occurrences += place.occurrences;
                other.whole += place.whole;
            }
            None => places.push(place),
        }
    }
    places.sort_by_key(|place| place.role);
    finding.places = places;
}
