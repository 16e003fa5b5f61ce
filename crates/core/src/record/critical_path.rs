//! The critical path of a replay: the chain of activities and messages that determines its makespan.
//!
//! The path is followed from the end. At rank r and time t, the activity of r that ends at t is examined:
//!
//! ```text
//! computation, overhead, synchronisation   on the path; continue with the previous activity of r
//! wait for a message                       on the path from the departure of the message; continue with its sender
//! wait for a receiver                      not on the path: the receiver was late; continue with its activity until t
//! wait for a message of its own (patterns) on the path from the send; continue with the previous activity of r
//! ```
//! So the steps follow each other without a gap from 0 to the end, and their times add up to the makespan. A
//! wait stays on the path if its cause is unknown.
//!
//! For a rank of several processors one activity is examined, the one that began last.

use super::History;
use crate::ids::RankId;
use crate::player::{Activity, ActivityKind, Transfer};
use crate::units::Time;

/// Kind of a step of the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathKind {
    /// An activity of a rank.
    Rank(ActivityKind),
    /// A message between sender and receiver.
    Network,
    /// A rank without a known activity.
    Idle,
}

impl PathKind {
    /// Returns all kinds, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        ActivityKind::ALL.into_iter().map(Self::Rank).chain([Self::Network, Self::Idle])
    }

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rank(kind) => kind.name(),
            Self::Network => "network",
            Self::Idle => "idle",
        }
    }
}

/// A step of the path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathStep {
    /// Rank of the step; for `network`, the receiver.
    pub rank: RankId,
    /// Kind of the step.
    pub kind: PathKind,
    /// Begin of the step.
    pub begin: Time,
    /// End of the step.
    pub end: Time,
    /// Operation of that rank; `None` inside a collective that ran in the background, and if the rank was
    /// idle.
    pub op: Option<u32>,
    /// Message of the step.
    pub message: Option<u32>,
    /// Rank at the other end of that message.
    pub peer: Option<RankId>,
}

/// Returns the steps from 0 to the end of this rank, in order of time.
///
/// Cost: O(s log a) for s steps and a activities a rank.
pub fn critical_path(history: &History, last: RankId, end: Time) -> Vec<PathStep> {
    let mut walk = Walk { history, steps: Vec::new(), rank: last, time: end, hops: 0 };
    while walk.time > Time::ZERO {
        walk.back();
    }
    walk.steps.reverse();
    walk.steps
}

struct Walk<'a> {
    history: &'a History,
    steps: Vec<PathStep>,
    rank: RankId,
    time: Time,
    /// Number of changes of the rank since time last decreased. Causes at one instant do not form a cycle,
    /// but the walk does not rely on that.
    hops: u32,
}

/// Largest number of changes of the rank at one instant.
const MOST_HOPS: u32 = 1000;

impl Walk<'_> {
    fn back(&mut self) {
        let activities = self.history.of(self.rank);
        let before = activities.partition_point(|activity| activity.begin < self.time);
        let Some(activity) = before.checked_sub(1).map(|at| activities[at]) else {
            self.step_over_idle(Time::ZERO);
            return;
        };
        if activity.end < self.time {
            self.step_over_idle(activity.end);
            return;
        }
        let message = activity.message.and_then(|message| self.history.message(message));
        match (activity.kind, message) {
            (ActivityKind::RecvWait, Some(transfer)) if self.hops < MOST_HOPS => {
                self.step_over_recv_wait(&activity, transfer)
            }
            (ActivityKind::SendWait, Some(transfer))
                if self.history.is_of_pattern() || activity.begin >= transfer.leave =>
            {
                self.step_over_send_wait(&activity, transfer)
            }
            // The rank waited at a barrier for a rank that had nothing to send.
            (ActivityKind::RecvWait, None) if self.history.is_of_pattern() && self.hops < MOST_HOPS => {
                match activity.peer {
                    Some(peer) => self.go(peer, self.time),
                    None => self.step_over_activity(&activity),
                }
            }
            (ActivityKind::SendWait, Some(transfer)) if self.hops < MOST_HOPS && transfer.dst != self.rank => {
                self.go(transfer.dst, self.time);
            }
            _ => self.step_over_activity(&activity),
        }
    }

    /// Steps back over a wait for a message that has just arrived.
    fn step_over_recv_wait(&mut self, activity: &Activity, transfer: &Transfer) {
        let now = self.time;
        let sender = transfer.src;
        if transfer.called > now {
            self.step_over_activity(activity);
            return;
        }
        if transfer.waited && now <= transfer.begin {
            // Its request was under way.
            self.step(PathKind::Rank(ActivityKind::Sync), self.rank, transfer.called, activity);
            self.go(sender, transfer.called);
            return;
        }
        let leave = transfer.leave.min(now);
        self.step(PathKind::Network, self.rank, leave, activity);
        let activities = self.history.of(sender);
        let before = activities.partition_point(|activity| activity.begin < leave);
        let sending = before.checked_sub(1).map(|at| activities[at]);
        if leave <= transfer.called || sending.is_some_and(|sending| sending.message == Some(transfer.message)) {
            self.go(sender, leave);
            return;
        }
        // The sender was busy with another activity meanwhile.
        let since = if transfer.waited { transfer.begin } else { transfer.called };
        let kind = PathKind::Rank(ActivityKind::SendOverhead);
        let (message, peer) = (Some(transfer.message), Some(self.rank));
        if since < leave {
            self.steps.push(PathStep { rank: sender, kind, begin: since, end: leave, op: transfer.op, message, peer });
        }
        // A message that waited for the receiver began when both ranks were ready.
        let to = if transfer.waited { self.rank } else { sender };
        self.go(to, since);
    }

    /// Steps back over a wait for a message of the rank's own that was under way until now.
    fn step_over_send_wait(&mut self, activity: &Activity, transfer: &Transfer) {
        let activity = Activity { op: transfer.op.unwrap_or(activity.op), ..*activity };
        let since = if self.history.is_of_pattern() { transfer.called } else { transfer.leave };
        self.step(PathKind::Rank(ActivityKind::SendWait), self.rank, since, &activity);
        self.go(self.rank, since);
    }

    fn step_over_activity(&mut self, activity: &Activity) {
        self.step(PathKind::Rank(activity.kind), self.rank, activity.begin, activity);
        self.go(self.rank, activity.begin);
        self.hops = 0;
    }

    /// Steps back over the time since `begin`, in which the rank was idle.
    fn step_over_idle(&mut self, begin: Time) {
        let (rank, end) = (self.rank, self.time);
        self.steps.push(PathStep { rank, kind: PathKind::Idle, begin, end, op: None, message: None, peer: None });
        self.go(rank, begin);
    }

    fn step(&mut self, kind: PathKind, rank: RankId, begin: Time, activity: &Activity) {
        if begin < self.time {
            let Activity { op, message, peer, .. } = *activity;
            self.steps.push(PathStep { rank, kind, begin, end: self.time, op: Some(op), message, peer });
        }
    }

    fn go(&mut self, rank: RankId, time: Time) {
        self.hops = if time < self.time { 0 } else { self.hops + 1 };
        (self.rank, self.time) = (rank, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(rank: u32, kind: ActivityKind, span: (f64, f64), other: Option<(u32, u32)>) -> Activity {
        let (message, peer) = other.unzip();
        let (begin, end) = (Time::from_ps(span.0), Time::from_ps(span.1));
        Activity { rank: RankId(rank), kind, begin, end, op: 0, message, peer: peer.map(RankId) }
    }

    #[test]
    fn a_late_message_leads_to_its_sender() {
        let mut history = History::new(2, 100);
        history.activity(&activity(0, ActivityKind::Compute, (0.0, 10.0), None));
        history.activity(&activity(0, ActivityKind::SendOverhead, (10.0, 12.0), Some((0, 1))));
        history.activity(&activity(1, ActivityKind::Compute, (0.0, 3.0), None));
        history.activity(&activity(1, ActivityKind::RecvWait, (3.0, 20.0), Some((0, 0))));
        history.activity(&activity(1, ActivityKind::RecvOverhead, (20.0, 21.0), Some((0, 0))));
        let time = Time::from_ps;
        history.transfer(&Transfer {
            message: 0,
            src: RankId(0),
            dst: RankId(1),
            bytes: 8,
            op: Some(1),
            received_by: Some(0),
            called: time(10.0),
            begin: time(10.0),
            waited: false,
            leave: time(12.0),
            arrive: time(20.0),
            end: time(21.0),
        });
        let path = critical_path(&history, RankId(1), time(21.0));
        let seen: Vec<_> = path.iter().map(|step| (step.rank.0, step.kind.name(), step.end.ps())).collect();
        let expected =
            [(0, "compute", 10.0), (0, "send overhead", 12.0), (1, "network", 20.0), (1, "receive overhead", 21.0)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn ranks_that_wait_for_each_other_at_one_instant_end_the_walk_all_the_same() {
        let mut history = History::new(2, 100);
        history.activity(&activity(0, ActivityKind::SendWait, (0.0, 5.0), Some((0, 1))));
        history.activity(&activity(1, ActivityKind::SendWait, (0.0, 5.0), Some((1, 0))));
        for (message, src) in [(0, 0), (1, 1)] {
            let [called, end] = [0.0, 5.0].map(Time::from_ps);
            let (src, dst) = (RankId(src), RankId(1 - src));
            let (begin, leave, arrive) = (end, end, end);
            history.transfer(&Transfer {
                message,
                src,
                dst,
                bytes: 8,
                op: None,
                received_by: None,
                called,
                begin,
                waited: true,
                leave,
                arrive,
                end,
            });
        }
        let path = critical_path(&history, RankId(0), Time::from_ps(5.0));
        assert_eq!(path.len(), 1);
        assert_eq!(path[0].kind, PathKind::Rank(ActivityKind::SendWait));
    }

    #[test]
    fn a_run_that_is_too_long_is_not_kept() {
        let mut history = History::new(1, 2);
        for i in 0..3 {
            assert!(!history.is_full());
            history.activity(&activity(0, ActivityKind::Compute, (f64::from(i), f64::from(i + 1)), None));
        }
        assert!(history.is_full() && history.of(RankId(0)).is_empty());
    }
}
