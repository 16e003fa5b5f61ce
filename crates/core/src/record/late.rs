//! Late ranks and the ranks that they delay: waits traced back to their origin.
//!
//! Rank r waits from a to b for rank p, which sends its message at s <= b. Each of them was last in step with
//! the other at a time of its own: at the last wait of one for the other, at the last common operation of all
//! ranks, or at the start. Since then p has spent time on computing (C), on messages (M) and on waiting (W),
//! where M includes the time of its message under way. This is compared with the time that r has spent by a:
//!
//! ```text
//! e_x = max(0, x_p - x_r)              for x in C, M, W
//! part of the wait due to x = (b - a) * e_x / (e_C + e_M + e_W)
//! ```
//! The part of e_M that is the message's time under way is due to the network. The rest is due to p, which
//! spent more time on sending than r. The part of W is not due to p itself: it is handed on to the waits of p
//! in that time, in proportion to their lengths, and from there to their causes. So each wait is divided
//! without a remainder among the ranks that began it and the network.
//!
//! Source: the direct and indirect costs of delays in D. Böhme, M. Geimer, F. Wolf, L. Arnold: *Identifying
//! the root causes of wait states in large-scale parallel applications*, ICPP 2010, with whole waits, the
//! time of messages included.

use rustc_hash::FxHashMap;

use super::History;
use crate::ids::RankId;
use crate::player::{Activity, ActivityKind, Transfer};
use crate::units::Time;

/// Fraction of the time below which differences of times count as rounding.
const ROUNDING: f64 = 1e-12;

/// Waits traced back to their causes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lateness {
    /// Lateness of each rank.
    pub ranks: Vec<Late>,
    /// Part of all waits that only messages under way caused.
    pub network: Time,
    waits: Vec<Wait>,
    /// Index of the first wait of each rank, and one more entry.
    starts: Vec<usize>,
    order: Vec<usize>,
}

/// Waits that one rank caused.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Late {
    /// Time that other ranks waited for this one.
    pub waited_for: Time,
    /// Part of `waited_for` because it computed, or started late.
    pub as_it_computed: Time,
    /// Part of `waited_for` because it sent to other ranks.
    pub as_it_sent: Time,
    /// Part of `waited_for` because it waited itself.
    pub as_it_waited: Time,
    /// Time that other ranks waited, for any rank, because this one computed.
    pub by_computing: Time,
    /// Time that other ranks waited, for any rank, because this one sent.
    pub by_sending: Time,
}

impl Late {
    /// Returns the time that other ranks waited because of this one.
    pub fn caused(&self) -> Time {
        self.by_computing + self.by_sending
    }
}

/// A wait of one rank for another.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Wait {
    rank: u32,
    peer: u32,
    begin: Time,
    /// Time at which the peer came to the send or receive.
    sent: Time,
    end: Time,
    /// Fractions of the wait due to the peer's computing, sending and waiting.
    parts: [f64; 3],
    /// First of the peer's waits to which this one is handed on, as an index among all waits.
    from: usize,
    to: usize,
}

impl Wait {
    fn time(&self) -> f64 {
        (self.end - self.begin).ps()
    }
}

/// Returns the rank that an activity waits for, and the time at which that rank came to it; `None` if it
/// waits for no rank.
fn waited_for(history: &History, activity: &Activity) -> Option<(RankId, Time)> {
    let transfer: Option<&Transfer> = activity.message.and_then(|message| history.message(message));
    let peer = activity.peer.filter(|&peer| peer != activity.rank)?;
    match activity.kind {
        ActivityKind::RecvWait => {
            let called = transfer.filter(|transfer| transfer.src == peer).map_or(activity.end, |found| found.called);
            Some((peer, called.max(activity.begin).min(activity.end)))
        }
        // Waits for a late receiver; a message that has left, or of a pattern, is only under way.
        ActivityKind::SendWait => {
            let is_late = |found: &&Transfer| found.waited && found.dst == peer && activity.begin < found.leave;
            transfer.filter(is_late).map(|_| (peer, activity.end))
        }
        _ => None,
    }
}

/// Time that a rank has spent on computing and waiting, up to any time.
#[derive(Default)]
struct Spent {
    /// Times of changes, with the total times of computing and waiting by then \[ps\].
    points: Vec<(Time, f64, f64)>,
}

impl Spent {
    fn of(history: &History, rank: RankId) -> Self {
        let mut spent = Self::default();
        let (mut now, mut computed, mut waited) = (Time::ZERO, 0.0, 0.0);
        spent.points.push((now, computed, waited));
        for activity in history.of(rank) {
            let (begin, end) = (activity.begin.max(now), activity.end.max(now));
            // Unknown time counts as computing.
            computed += (begin - now).ps();
            spent.points.push((begin, computed, waited));
            let time = (end - begin).ps();
            match activity.kind {
                ActivityKind::Compute => computed += time,
                _ if waited_for(history, activity).is_some() => waited += time,
                _ => {}
            }
            spent.points.push((end, computed, waited));
            now = end;
        }
        spent
    }

    /// Returns the times of computing and waiting up to this time.
    fn by(&self, time: Time) -> [f64; 2] {
        let next = self.points.partition_point(|&(at, ..)| at <= time);
        let Some(&(at, computed, waited)) = next.checked_sub(1).and_then(|last| self.points.get(last)) else {
            return [0.0; 2];
        };
        match self.points.get(next) {
            Some(&(then, more, longer)) => {
                let part = (time - at).ps() / (then - at).ps();
                [computed + part * (more - computed), waited + part * (longer - waited)]
            }
            None => [computed, waited],
        }
    }

    /// Returns the times of computing, on messages, and of waiting between two times.
    fn between(&self, from: Time, to: Time) -> [f64; 3] {
        let ([computed_by, waited_by], [computed, waited]) = (self.by(from), self.by(to));
        let (computed, waited) = (computed - computed_by, waited - waited_by);
        [computed, (to - from).ps() - computed - waited, waited]
    }
}

/// Traces the waits of a run back to their causes. Cost: O(a log a) for a activities.
pub fn lateness(history: &History) -> Lateness {
    let ranks = history.ranks();
    let mut waits: Vec<Wait> = Vec::new();
    let mut starts = Vec::with_capacity(ranks as usize + 1);
    for rank in (0..ranks).map(RankId) {
        starts.push(waits.len());
        waits.extend(history.of(rank).iter().filter_map(|activity| {
            let (peer, sent) = waited_for(history, activity)?;
            let Activity { begin, end, .. } = *activity;
            Some(Wait { rank: rank.0, peer: peer.0, begin, sent, end, parts: [0.0; 3], from: 0, to: 0 })
        }));
        // Waits of a rank with several processors may overlap.
        waits[starts[rank.0 as usize]..].sort_by(|a, b| a.end.cmp(&b.end).then(a.begin.cmp(&b.begin)));
    }
    starts.push(waits.len());
    let mut late = Lateness { ranks: vec![Late::default(); ranks as usize], waits, starts, ..Lateness::default() };
    late.order = late.in_order();
    late.divide(history);
    late.propagate();
    late
}

impl Lateness {
    /// Returns the waits of a rank.
    fn of(&self, rank: u32) -> std::ops::Range<usize> {
        self.starts[rank as usize]..self.starts[rank as usize + 1]
    }

    /// Returns the index, among all waits, of the first wait of a rank that ends after this time.
    fn ended_by(&self, rank: u32, time: Time) -> usize {
        let of = self.of(rank);
        of.start + self.waits[of].partition_point(|wait| wait.end <= time)
    }

    /// Returns the waits in an order in which each comes after the waits of its rank and of its peer that
    /// ended before.
    fn in_order(&self) -> Vec<usize> {
        let mut by_end: Vec<usize> = (0..self.waits.len()).collect();
        by_end.sort_by(|&a, &b| self.waits[a].end.cmp(&self.waits[b].end).then(a.cmp(&b)));
        let mut order = Vec::with_capacity(by_end.len());
        // 0: not seen, 1: its predecessors are being searched, 2: in order.
        let mut seen = vec![0_u8; by_end.len()];
        let mut stack = Vec::new();
        for wait in by_end {
            stack.push(wait);
            while let Some(&at) = stack.last() {
                if seen[at] > 0 {
                    stack.pop();
                    if seen[at] == 1 {
                        // Waits of a rank stay in their order, even if waits that end at one instant form a cycle.
                        let of_rank = self.starts[self.waits[at].rank as usize];
                        let first = (of_rank..at).rev().take_while(|&before| seen[before] < 2).last().unwrap_or(at);
                        seen[first..=at].fill(2);
                        order.extend(first..=at);
                    }
                    continue;
                }
                seen[at] = 1;
                let Wait { rank, peer, sent, .. } = self.waits[at];
                let before = at.checked_sub(1).filter(|&before| before >= self.starts[rank as usize]);
                let of_peer =
                    self.ended_by(peer, sent).checked_sub(1).filter(|&last| last >= self.starts[peer as usize]);
                stack.extend([before, of_peer].into_iter().flatten().filter(|&before| seen[before] == 0));
            }
        }
        order
    }

    /// Divides each wait among its causes.
    fn divide(&mut self, history: &History) {
        let spent: Vec<Spent> = (0..history.ranks()).map(|rank| Spent::of(history, RankId(rank))).collect();
        // For each pair, the smaller rank first: the times at which both were last in step.
        let mut in_step: FxHashMap<(u32, u32), (Time, Time)> = FxHashMap::default();
        // Number of divided waits of each rank.
        let mut divided = vec![0; spent.len()];
        for at in self.order.clone() {
            let Wait { rank, peer, begin, sent, end, .. } = self.waits[at];
            divided[rank as usize] += 1;
            let key = (rank.min(peer), rank.max(peer));
            let ordered = |(first, second)| if rank < peer { (first, second) } else { (second, first) };
            let pair = ordered(in_step.get(&key).copied().unwrap_or_default());
            let all = history.last_common_times((RankId(rank), begin), (RankId(peer), sent));
            let (since, peer_since) = if all.0 >= pair.0 && all.1 >= pair.1 { all } else { pair };
            let (since, peer_since) = (since.min(begin), peer_since.min(sent));
            let [mine, others] =
                [spent[rank as usize].between(since, begin), spent[peer as usize].between(peer_since, sent)];
            // The time on messages is the remainder, so it includes a message that made one of the ranks later.
            let apart = (since - peer_since).ps();
            let least = ROUNDING * end.ps();
            let more = |x: f64| if x > least { x } else { 0.0 };
            let under_way = (end - sent).ps();
            let computed = more(others[0] - mine[0]);
            let on_messages = more(others[1] + under_way - mine[1] - apart);
            let mut waited = more(others[2] - mine[2]);
            let network = on_messages.min(under_way);
            let mut sending = on_messages - network;
            let from = self.ended_by(peer, peer_since);
            // Waits that end each other at one instant are not causes of each other.
            let to = self.ended_by(peer, sent).min(self.starts[peer as usize] + divided[peer as usize]);
            // Nor are waits of no length.
            if !(from..to).any(|at| self.waits[at].end > self.waits[at].begin) {
                sending += waited;
                waited = 0.0;
            }
            let sum = computed + sending + waited + network;
            let wait = &mut self.waits[at];
            (wait.from, wait.to) = (from, to.max(from));
            wait.parts = if sum > 0.0 { [computed, sending, waited].map(|part| part / sum) } else { [0.0; 3] };
            in_step.insert(key, ordered((end, sent)));
        }
    }

    /// Hands waits on to their causes, the last ones first.
    fn propagate(&mut self) {
        let mut lengths = vec![0.0; self.waits.len() + 1];
        for (at, wait) in self.waits.iter().enumerate() {
            lengths[at + 1] = lengths[at] + wait.time();
        }
        // Rate handed, per time of waiting, to each wait and to those before it; and where it ends.
        let (mut more, mut less) = (vec![0.0; self.waits.len()], vec![0.0; self.waits.len()]);
        let mut rates: Vec<f64> = vec![0.0; self.ranks.len()];
        let mut network = 0.0;
        for &at in self.order.iter().rev() {
            let wait = self.waits[at];
            let rate = &mut rates[wait.rank as usize];
            *rate += more[at];
            let time = wait.time();
            let all = time * (1.0 + rate.max(0.0));
            *rate -= less[at];
            let [computed, sending, waited] = wait.parts;
            let own = |whole: f64, part: f64| Time::from_ps(whole * part);
            let peer = &mut self.ranks[wait.peer as usize];
            peer.waited_for += Time::from_ps(time);
            peer.as_it_computed += own(time, computed);
            peer.as_it_sent += own(time, sending);
            peer.as_it_waited += own(time, waited);
            peer.by_computing += own(all, computed);
            peer.by_sending += own(all, sending);
            network += all * (1.0 - computed - sending - waited).max(0.0);
            if waited > 0.0 && wait.to > wait.from {
                let length = lengths[wait.to] - lengths[wait.from];
                let rate = if length > 0.0 { all * waited / length } else { 0.0 };
                more[wait.to - 1] += rate;
                less[wait.from] += rate;
            }
        }
        self.network = Time::from_ps(network);
    }

    /// Returns, for each rank, the time that it waited because of `culprit`.
    pub fn delayed_by(&self, culprit: RankId) -> Vec<Time> {
        let mut delayed = vec![Time::ZERO; self.ranks.len()];
        // Prefix sums over the waits: their lengths, and the time that goes back to the culprit.
        let mut lengths = vec![0.0; self.waits.len() + 1];
        let mut caused = vec![0.0; self.waits.len() + 1];
        for (at, wait) in self.waits.iter().enumerate() {
            lengths[at + 1] = lengths[at] + wait.time();
        }
        // The sums of a rank start at its first wait.
        for &at in &self.order {
            let wait = self.waits[at];
            let [computed, sending, waited] = wait.parts;
            let own = if wait.peer == culprit.0 { computed + sending } else { 0.0 };
            let length = lengths[wait.to] - lengths[wait.from];
            let before = |at: usize, of: u32| if at > self.starts[of as usize] { caused[at] } else { 0.0 };
            let handed = if length > 0.0 {
                waited * (before(wait.to, wait.peer) - before(wait.from, wait.peer)) / length
            } else {
                0.0
            };
            let time = wait.time() * (own + handed);
            delayed[wait.rank as usize] += Time::from_ps(time);
            caused[at + 1] = before(at, wait.rank) + time;
        }
        delayed
    }
}

#[cfg(test)]
mod tests;
