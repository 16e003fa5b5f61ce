//! Time that ranks waited for each other.
//!
//! Each rank has a linked list of sums by partner, newest first, which is searched while it is short. For a
//! rank with many partners waits are only appended, and summed up once there are several times as many
//! entries as partners. So a wait needs no look-up in a table of all pairs, which would be the largest object
//! in memory for an all-to-all. The sums equal those of adding the waits one by one, to the last bit. Memory:
//! 20 bytes per pair, and up to three times as much for a rank with more than a few partners.

use crate::player::{Activity, ActivityKind};
use crate::report::replay::Wait;
use crate::units::Time;

/// Number of waits between two ranks that a report lists.
const WAITS: usize = 20;
/// Largest number of partners of a rank that are searched one by one.
const MAX_SEARCHED: u32 = 8;
/// Number of entries of a rank at which they are summed up for the first time.
const FIRST_COMPACTION: u32 = 128;
/// The end of a list.
const NIL: u32 = u32::MAX;

/// Waits of one rank.
#[derive(Clone, Copy, Debug)]
struct RankWaits {
    /// Index of the newest entry.
    youngest: u32,
    sums: u32,
    /// Number of entries at which they are summed up.
    most: u32,
    /// Set while there is exactly one entry for each partner.
    is_added_up: bool,
}

/// A sum of waits for one partner.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// Partner and kind, in this order of significance.
    key: u32,
    count: u32,
    /// Index of the previous entry.
    older: u32,
}

/// Waits of all ranks.
#[derive(Debug)]
pub(super) struct Waits {
    ranks: Vec<RankWaits>,
    sums: Vec<Sum>,
    /// Time of each entry of `sums`.
    times: Vec<Time>,
    free: u32,
}

impl Default for Waits {
    fn default() -> Self {
        Self { ranks: Vec::new(), sums: Vec::new(), times: Vec::new(), free: NIL }
    }
}

fn kind_of(key: u32) -> ActivityKind {
    if key & 1 == 0 { ActivityKind::SendWait } else { ActivityKind::RecvWait }
}

impl Waits {
    #[inline]
    pub fn record(&mut self, activity: &Activity) {
        if let (ActivityKind::SendWait | ActivityKind::RecvWait, Some(peer)) = (activity.kind, activity.peer) {
            let key = peer.0 << 1 | u32::from(activity.kind == ActivityKind::RecvWait);
            self.add(activity.rank.0 as usize, key, activity.end - activity.begin);
        }
    }

    fn add(&mut self, rank: usize, key: u32, time: Time) {
        if rank >= self.ranks.len() {
            let empty = RankWaits { youngest: NIL, sums: 0, most: FIRST_COMPACTION, is_added_up: true };
            self.ranks.resize(rank + 1, empty);
        }
        let of = self.ranks[rank];
        if of.is_added_up && of.sums <= MAX_SEARCHED {
            let mut at = of.youngest;
            while at != NIL {
                let sum = &mut self.sums[at as usize];
                if sum.key == key {
                    sum.count = sum.count.saturating_add(1);
                    self.times[at as usize] += time;
                    return;
                }
                at = sum.older;
            }
        }
        let at = self.note(Sum { key, count: 1, older: of.youngest }, time);
        let of = &mut self.ranks[rank];
        (of.youngest, of.sums) = (at, of.sums + 1);
        of.is_added_up &= of.sums <= MAX_SEARCHED;
        if of.sums >= of.most {
            self.add_up(rank);
        }
    }

    fn note(&mut self, sum: Sum, time: Time) -> u32 {
        match self.free {
            NIL => {
                self.sums.push(sum);
                self.times.push(time);
                (self.sums.len() - 1) as u32
            }
            at => {
                self.free = std::mem::replace(&mut self.sums[at as usize], sum).older;
                self.times[at as usize] = time;
                at
            }
        }
    }

    /// Removes the sums of a rank and returns them, one for each partner and kind, in ascending order.
    fn take_sums(&mut self, rank: usize) -> Vec<(u32, Time, u32)> {
        let of = &mut self.ranks[rank];
        let mut found = Vec::with_capacity(of.sums as usize);
        let mut at = std::mem::replace(&mut of.youngest, NIL);
        of.sums = 0;
        while at != NIL {
            let Sum { key, count, older } = self.sums[at as usize];
            found.push((key, self.times[at as usize], count));
            self.sums[at as usize].older = self.free;
            self.free = at;
            at = older;
        }
        // In order of arrival within each partner.
        found.reverse();
        found.sort_by_key(|&(key, ..)| key);
        found.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            if same {
                sum.1 += next.1;
                sum.2 = sum.2.saturating_add(next.2);
            }
            same
        });
        found
    }

    fn add_up(&mut self, rank: usize) {
        let found = self.take_sums(rank);
        let mut youngest = NIL;
        for &(key, time, count) in &found {
            youngest = self.note(Sum { key, count, older: youngest }, time);
        }
        let sums = found.len() as u32;
        let most = FIRST_COMPACTION.max(sums.saturating_mul(4));
        self.ranks[rank] = RankWaits { youngest, sums, most, is_added_up: sums <= MAX_SEARCHED };
    }

    /// Returns the longest waits, longest first.
    pub fn longest(mut self) -> Vec<Wait> {
        let mut longest: Vec<(u32, (u32, Time, u32))> = Vec::new();
        let shorten = |waits: &mut Vec<(u32, (u32, Time, u32))>| {
            waits.sort_unstable_by(|(a, (key_a, time_a, _)), (b, (key_b, time_b, _))| {
                time_b.cmp(time_a).then((a, key_a).cmp(&(b, key_b)))
            });
            waits.truncate(WAITS);
        };
        for rank in 0..self.ranks.len() {
            longest.extend(self.take_sums(rank).into_iter().map(|found| (rank as u32, found)));
            if longest.len() > 100 * WAITS {
                shorten(&mut longest);
            }
        }
        shorten(&mut longest);
        let wait = |(rank, (key, time, count)): (u32, (u32, Time, u32))| Wait {
            rank,
            peer: key >> 1,
            kind: kind_of(key).name(),
            time_s: time.seconds(),
            count: count.into(),
        };
        longest.into_iter().map(wait).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::RankId;

    fn wait(rank: u32, peer: u32, kind: ActivityKind, ps: f64) -> Activity {
        let (begin, end) = (Time::ZERO, Time::from_ps(ps));
        Activity { rank: RankId(rank), kind, begin, end, op: 0, message: None, peer: Some(RankId(peer)) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Uses times that do not add up exactly, and enough of them that some ranks append, sum up and
        /// append again.
        #[test]
        fn sums_are_those_of_adding_one_after_the_other(
            seen in prop::collection::vec((0_u32..3, 0_u32..40, any::<bool>(), 0.0_f64..1.0), 0..2000),
            few in 1_u32..40,
        ) {
            let mut waits = Waits::default();
            let mut plain: BTreeMap<(u32, u32, ActivityKind), (Time, u64)> = BTreeMap::new();
            for (rank, peer, receives, ps) in seen {
                let kind = if receives { ActivityKind::RecvWait } else { ActivityKind::SendWait };
                waits.record(&wait(rank, peer % few, kind, ps));
                let sum = plain.entry((rank, peer % few, kind)).or_default();
                sum.0 += Time::from_ps(ps);
                sum.1 += 1;
            }
            let mut expected: Vec<_> = plain.into_iter().collect();
            expected.sort_by(|(a, (time_a, _)), (b, (time_b, _))| time_b.cmp(time_a).then(a.cmp(b)));
            let expected: Vec<_> = expected
                .into_iter()
                .take(WAITS)
                .map(|((rank, peer, kind), (time, count))| (rank, peer, kind.name(), time.seconds(), count))
                .collect();
            let found: Vec<_> =
                waits.longest().into_iter().map(|w| (w.rank, w.peer, w.kind, w.time_s, w.count)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_nobody_waits_in_and_for_is_no_wait() {
        let mut waits = Waits::default();
        waits.record(&wait(0, 1, ActivityKind::Compute, 5.0));
        waits.record(&Activity { peer: None, ..wait(0, 1, ActivityKind::RecvWait, 5.0) });
        assert!(waits.longest().is_empty());
    }

    #[test]
    fn many_waits_for_few_partners_take_no_room() {
        let mut waits = Waits::default();
        for at in 0..100_000 {
            waits.record(&wait(0, at % 20, ActivityKind::RecvWait, 1.0));
        }
        assert!(waits.sums.len() < 200, "{}", waits.sums.len());
        assert_eq!(waits.longest()[0].count, 5000);
    }
}
