//! Account of the time of ranks, which also tells the observers.

use super::activity::{Activity, ActivityKind, Observers, OnActivity, OnDone, OnMark, OnTransfer, RankTimes, Transfer};
use crate::ids::{IdVec, RankId};
use crate::program::Mark;
use crate::units::Time;

/// Time of each rank by kind of activity. Spans of one rank are booked in the order of time.
pub(super) struct Ledger<'a> {
    times: IdVec<RankId, RankTimes>,
    on_activity: Option<OnActivity<'a>>,
    on_transfer: Option<OnTransfer<'a>>,
    on_mark: Option<OnMark<'a>>,
    on_done: Option<OnDone<'a>>,
}

impl<'a> Ledger<'a> {
    pub fn new(ranks: usize, observers: Observers<'a>) -> Self {
        let Observers { on_activity, on_transfer, on_mark, on_done } = observers;
        Self { times: IdVec::filled(ranks, RankTimes::default()), on_activity, on_transfer, on_mark, on_done }
    }

    /// Books a span of a rank's time for an operation of its program, with the message and its other end.
    pub fn spent(
        &mut self,
        rank: RankId,
        kind: ActivityKind,
        (begin, end): (Time, Time),
        op: u32,
        other: Option<(u32, RankId)>,
    ) {
        if end <= begin {
            return;
        }
        self.times[rank].add(kind, end - begin);
        if let Some(on_activity) = &mut self.on_activity {
            let (message, peer) = other.unzip();
            on_activity(&Activity { rank, kind, begin, end, op, message, peer });
        }
    }

    /// Tells of the end of an operation of a graph.
    #[inline]
    pub fn done(&mut self, rank: RankId, op: u32, now: Time) {
        if let Some(on_done) = &mut self.on_done {
            on_done(rank, op, now);
        }
    }

    /// Notes the end of a rank.
    pub fn ended(&mut self, rank: RankId, end: Time) {
        self.times[rank].end = end;
    }

    /// Tells of a received message; `transfer` is called only if there is an observer.
    #[inline]
    pub fn transfer(&mut self, transfer: impl FnOnce() -> Transfer) {
        if let Some(on_transfer) = &mut self.on_transfer {
            on_transfer(&transfer());
        }
    }

    /// Returns true if an observer wants the borders of regions.
    #[inline]
    pub fn watches_marks(&self) -> bool {
        self.on_mark.is_some()
    }

    /// Tells of a rank that comes to a border.
    pub fn mark(&mut self, rank: RankId, mark: &Mark, now: Time) {
        if let Some(on_mark) = &mut self.on_mark {
            on_mark(rank, mark, now);
        }
    }

    /// Returns the times of all ranks so far.
    pub fn times(&self) -> Vec<RankTimes> {
        self.times.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_booked_by_what_it_is_spent_on_and_nothing_is_told_of_no_time() {
        let mut seen = Vec::new();
        let mut see = |activity: &Activity| seen.push((activity.rank.0, activity.kind, activity.op, activity.peer));
        let observers = Observers { on_activity: Some(&mut see), ..Observers::default() };
        let mut ledger = Ledger::new(2, observers);
        let at = |begin, end| (Time::from_ps(begin), Time::from_ps(end));
        ledger.spent(RankId(1), ActivityKind::Compute, at(0.0, 4.0), 0, None);
        ledger.spent(RankId(1), ActivityKind::RecvWait, at(4.0, 4.0), 1, None);
        ledger.spent(RankId(1), ActivityKind::RecvWait, at(4.0, 3.0), 1, None);
        ledger.spent(RankId(1), ActivityKind::Compute, at(4.0, 5.0), 2, Some((7, RankId(0))));
        ledger.ended(RankId(1), Time::from_ps(5.0));
        let times = ledger.times();
        assert_eq!((times[1].of(ActivityKind::Compute).ps(), times[1].end.ps()), (5.0, 5.0));
        assert_eq!((times[0], times[1].of(ActivityKind::RecvWait)), (RankTimes::default(), Time::ZERO));
        let compute = ActivityKind::Compute;
        assert_eq!(seen, [(1, compute, 0, None), (1, compute, 2, Some(RankId(0)))]);
    }
}
