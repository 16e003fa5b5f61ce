//! A203: chains of small messages on the critical path.

use std::collections::{BTreeMap, BTreeSet};

use hayase::base::Arrange;
use hayase_advice::model::{Finding, Location, Role, RuleId};

use super::{Base, place};
use crate::Judge;
use hayase::ids::RankId;
use hayase::player::ActivityKind;
use hayase::record::PathKind;
use hayase::units::Bytes;

/// Largest message that takes little more time than an empty one on every known network \[B\].
const MAX_LATENCY_BOUND_BYTES: u64 = 1024;

/// Smallest share of the critical path that is reported.
const MIN_PATH_SHARE: f64 = 0.05;

/// Searches the critical path for small messages.
pub(super) fn find(base: &Base, judge: &Judge<'_>) -> Vec<Finding> {
    let (Some(path), Some(history)) = (&base.replayed.path, &base.replayed.history) else { return Vec::new() };
    let mut sites: BTreeMap<Location, (BTreeSet<_>, f64)> = BTreeMap::new();
    let mut ranks = BTreeSet::new();
    let (mut all, mut small, mut messages, mut largest) = (0.0, 0.0, BTreeMap::new(), 0);
    for step in path.iter().filter(|step| base.is_at(step.begin, step.end, judge)) {
        let time = (step.end - step.begin).ps();
        all += time;
        let Some(message) = step.message else { continue };
        let Some(transfer) = history.message(message) else { continue };
        let counts = !matches!(step.kind, PathKind::Idle | PathKind::Rank(ActivityKind::Compute));
        if !counts || transfer.bytes > MAX_LATENCY_BOUND_BYTES {
            continue;
        }
        small += time;
        messages.insert(message, transfer.bytes);
        largest = largest.max(transfer.bytes);
        ranks.insert(step.rank.0);
        if let Some(op) = step.op {
            let entry = sites.entry(place(&base.program, step.rank.0, op)).or_default();
            entry.0.insert(message);
            entry.1 += time;
        }
    }
    if messages.is_empty() || small < MIN_PATH_SHARE * all {
        return Vec::new();
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.arrange_by(|a, b| b.1.1.total_cmp(&a.1.1).then_with(|| a.0.cmp(&b.0)));
    let share = |time: f64| 100.0 * time / all;
    let text = sites
        .iter()
        .take(8)
        .map(|(site, (sent, time))| {
            let count = super::messages(sent.len() as u64);
            format!("{}{count}, {:.1} % of the critical path", super::at(site), share(*time))
        })
        .collect();
    let ns = (small / 1000.0) as u64;
    let unit = super::unit(base, ns);
    vec![Finding {
        title: format!(
            "{:.0} % of the critical path is latency: {} of at most {} one after another",
            share(small),
            super::messages(messages.len() as u64),
            Bytes(largest)
        ),
        text,
        places: sites
            .iter()
            .map(|(site, (sent, _))| super::a_place(site, Role::Communication, sent.len() as u64))
            .collect(),
        ranks: ranks.into_iter().map(|rank: u32| RankId(rank).0).collect(),
        occurrences: messages.len() as u64,
        executions: messages.len() as u64,
        bytes: messages.values().sum(),
        time_ns: ns,
        caveats: vec![format!(
            "{} of the path could be shortened at most, and another path may be nearly as long",
            unit.write(ns as f64)
        )],
        unit,
        ..super::empty(RuleId::A203)
    }]
}
