//! Ranks in a report, for any work: how they spent their time, waits between them, and late ranks.

use super::program_path;
use super::waits::Waits;
use crate::base::Arrange;
use crate::ids::RankId;
use crate::pattern::Pattern;
use crate::player::{ActivityKind, RankTimes};
use crate::record::{History, Lateness, PathKind, PathStep, lateness};
use crate::report::RanksReport;
use crate::report::replay::{Delayed, LateRank, RankReport, Spread};
use crate::units::{Bytes, Time};

/// Number of late ranks for which a report lists the ranks that they delay.
const MAX_RANKS_WITH_DELAYS: usize = 5;

pub(super) fn rank_report(rank: u32, times: &RankTimes) -> RankReport {
    let of = |kind| times.of(kind).seconds();
    RankReport {
        rank,
        end_s: times.end.seconds(),
        compute_s: of(ActivityKind::Compute),
        send_overhead_s: of(ActivityKind::SendOverhead),
        recv_overhead_s: of(ActivityKind::RecvOverhead),
        send_wait_s: of(ActivityKind::SendWait),
        recv_wait_s: of(ActivityKind::RecvWait),
        sync_s: of(ActivityKind::Sync),
    }
}

/// Returns how ranks spent their time. `stopped` is the time at which the run stopped, if it did so before
/// ranks had ended.
pub(super) fn breakdown(ranks: &[RankTimes], stopped: Option<Time>) -> Vec<Spread> {
    let all: f64 = ranks.iter().map(|rank| stopped.unwrap_or(rank.end).seconds()).sum();
    let spread = |kind: ActivityKind| {
        let mut times = (0..).zip(ranks).map(|(rank, times): (u32, &RankTimes)| (times.of(kind), rank));
        let first = times.next().unwrap_or_default();
        // The first of equal ranks is taken.
        let ((mut least, mut least_rank), (mut most, mut most_rank)) = (first, first);
        let mut sum = first.0.seconds();
        for (time, rank) in times {
            if time < least {
                (least, least_rank) = (time, rank);
            }
            if time > most {
                (most, most_rank) = (time, rank);
            }
            sum += time.seconds();
        }
        Spread {
            kind: kind.name(),
            least_s: least.seconds(),
            least_rank,
            mean_s: sum / ranks.len().max(1) as f64,
            most_s: most.seconds(),
            most_rank,
            part: if all > 0.0 { sum / all } else { 0.0 },
        }
    };
    ActivityKind::ALL.into_iter().map(spread).collect()
}

/// Returns the ranks that others waited for, those that caused the most waiting first.
pub(super) fn late_ranks(history: &History) -> Vec<LateRank> {
    let lateness = lateness(history);
    let named = (0..).zip(&lateness.ranks).filter(|(_, late)| late.waited_for > Time::ZERO);
    let mut order: Vec<u32> = named.map(|(rank, _)| rank).collect();
    let of = |rank: u32| &lateness.ranks[rank as usize];
    order.arrange_by(|&a, &b| {
        let (first, second) = (of(a), of(b));
        second.caused().cmp(&first.caused()).then(second.waited_for.cmp(&first.waited_for)).then(a.cmp(&b))
    });
    let row = |(place, &rank): (usize, &u32)| {
        let late = of(rank);
        LateRank {
            rank,
            caused_s: late.caused().seconds(),
            by_computing_s: late.by_computing.seconds(),
            by_sending_s: late.by_sending.seconds(),
            delays: if place < MAX_RANKS_WITH_DELAYS { delays(&lateness, RankId(rank)) } else { Vec::new() },
            waited_for_s: late.waited_for.seconds(),
            as_it_computed_s: late.as_it_computed.seconds(),
            as_it_sent_s: late.as_it_sent.seconds(),
            as_it_waited_s: late.as_it_waited.seconds(),
        }
    };
    order.iter().enumerate().map(row).collect()
}

/// Returns the ranks that `culprit` delays, the most delayed first.
fn delays(lateness: &Lateness, culprit: RankId) -> Vec<Delayed> {
    let mut delayed: Vec<(Time, u32)> = lateness.delayed_by(culprit).into_iter().zip(0..).collect();
    delayed.retain(|&(time, _)| time > Time::ZERO);
    delayed.arrange_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    delayed.into_iter().map(|(time, rank)| Delayed { rank, time_s: time.seconds() }).collect()
}

/// Returns the report on the ranks of a pattern.
pub(super) fn of_pattern(
    pattern: &dyn Pattern,
    times: &[RankTimes],
    waits: Waits,
    history: Option<&History>,
    path: Option<&[PathStep]>,
) -> RanksReport {
    let operation = |step: &PathStep| match (step.kind, step.message) {
        (PathKind::Network, Some(message)) => {
            let transfer = history?.message(message)?;
            Some((transfer.src.0, transfer.op?))
        }
        (PathKind::Network, None) => None,
        _ => Some((step.rank.0, step.op?)),
    };
    let described = |rank: u32, index: u32| {
        let rank = RankId(rank);
        (index < pattern.sends(rank)).then(|| {
            let message = pattern.message(rank, index);
            format!("message {index} to rank {}, {}", message.dst, Bytes(message.bytes))
        })
    };
    RanksReport {
        breakdown: breakdown(times, None),
        waits: waits.longest(),
        critical_path: path.map(|path| program_path::summary(path, &operation, &described, None)),
        late: history.map(late_ranks).unwrap_or_default(),
        ranks: (0..).zip(times).map(|(rank, times)| rank_report(rank, times)).collect(),
    }
}
