//! Activities of ranks and messages between them, kept for pictures and for the walk back through a run.

use crate::ids::RankId;
use crate::player::{Activity, Transfer};
use crate::units::Time;

/// Activities and messages of a replay, by rank and by number.
///
/// Memory: 48 bytes an activity, 80 a message.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct History {
    activities: Vec<Vec<Activity>>,
    transfers: Vec<Option<Transfer>>,
    kept: usize,
    most: usize,
    full: bool,
    of_pattern: bool,
    common: Vec<Time>,
    aligned: Vec<Vec<Time>>,
}

impl History {
    /// Creates an empty history that keeps at most `most` activities and messages together. If there are
    /// more, it keeps none.
    pub fn new(ranks: u32, most: usize) -> Self {
        Self { activities: vec![Vec::new(); ranks as usize], most, ..Self::default() }
    }

    /// Creates an empty history of a pattern, where a rank that waits for a message of its own waits for its
    /// arrival.
    pub fn of_pattern(ranks: u32, most: usize) -> Self {
        Self { of_pattern: true, ..Self::new(ranks, most) }
    }

    /// Returns true if this is the history of a pattern.
    pub fn is_of_pattern(&self) -> bool {
        self.of_pattern
    }

    /// Sets the times, ascending, at which all ranks were released together.
    pub fn set_common_releases(&mut self, times: Vec<Time>) {
        self.common = times;
    }

    /// Sets, for each rank, the ascending times at which it finished operations of all ranks. The k-th times
    /// of all ranks belong to the same operation.
    pub fn set_common_operations(&mut self, times: Vec<Vec<Time>>) {
        self.aligned = times;
    }

    /// Returns the times at which two ranks finished their last common operation of all ranks, up to the
    /// given times; 0 if there is none.
    pub fn last_common_times(&self, (a, until_a): (RankId, Time), (b, until_b): (RankId, Time)) -> (Time, Time) {
        let passed = self.common.partition_point(|&time| time <= until_a.min(until_b));
        if let Some(last) = passed.checked_sub(1) {
            return (self.common[last], self.common[last]);
        }
        let (Some(of_a), Some(of_b)) = (self.aligned.get(a.0 as usize), self.aligned.get(b.0 as usize)) else {
            return (Time::ZERO, Time::ZERO);
        };
        let passed = |of: &[Time], until: Time| of.partition_point(|&time| time <= until);
        match passed(of_a, until_a).min(passed(of_b, until_b)).checked_sub(1) {
            Some(last) => (of_a[last], of_b[last]),
            None => (Time::ZERO, Time::ZERO),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.activities.len() as u32
    }

    /// Returns true if there was more than the history may keep.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Keeps an activity.
    #[inline]
    pub fn activity(&mut self, activity: &Activity) {
        if self.has_room()
            && let Some(of_rank) = self.activities.get_mut(activity.rank.0 as usize)
        {
            of_rank.push(*activity);
        }
    }

    /// Keeps a message.
    #[inline]
    pub fn transfer(&mut self, transfer: &Transfer) {
        if self.has_room() {
            let at = transfer.message as usize;
            if at >= self.transfers.len() {
                self.transfers.resize(at + 1, None);
            }
            self.transfers[at] = Some(*transfer);
        }
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        if self.full {
            return false;
        }
        self.kept += 1;
        if self.kept > self.most {
            self.full = true;
            self.activities = Vec::new();
            self.transfers = Vec::new();
        }
        !self.full
    }

    /// Sorts the activities of each rank by their beginning.
    pub fn sort(&mut self) {
        for of_rank in &mut self.activities {
            of_rank.sort_by(|a, b| a.begin.cmp(&b.begin).then(a.end.cmp(&b.end)));
        }
    }

    /// Returns the activities of a rank.
    pub fn of(&self, rank: RankId) -> &[Activity] {
        self.activities.get(rank.0 as usize).map_or(&[], |activities| activities)
    }

    /// Returns the received messages, in order of sending.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().flatten()
    }

    /// Returns a message, if it has been received.
    pub fn message(&self, number: u32) -> Option<&Transfer> {
        self.transfers.get(number as usize)?.as_ref()
    }
}
