//! What ranks have done, and the messages between them: kept for pictures and for the way back through a run.

use crate::ids::RankId;
use crate::player::{Activity, Transfer};

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
}

impl History {
    /// An empty one, that keeps at most so many activities and messages; of a longer run it keeps nothing.
    pub fn new(ranks: u32, most: usize) -> Self {
        Self { activities: vec![Vec::new(); ranks as usize], most, ..Self::default() }
    }

    /// Whether there was more than it may keep.
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

    /// Puts the activities of each rank into the order in which they begin.
    pub fn sort(&mut self) {
        for of_rank in &mut self.activities {
            of_rank.sort_by(|a, b| a.begin.cmp(&b.begin).then(a.end.cmp(&b.end)));
        }
    }

    /// What a rank has done.
    pub fn of(&self, rank: RankId) -> &[Activity] {
        self.activities.get(rank.0 as usize).map_or(&[], |activities| activities)
    }

    /// The messages that have been received, in order of sending.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().flatten()
    }

    /// A message, if it has been received.
    pub fn message(&self, number: u32) -> Option<&Transfer> {
        self.transfers.get(number as usize)?.as_ref()
    }
}
