//! A204: messages that wait for their receivers because they are longer than S.

use std::collections::BTreeMap;

use hayase::base::Arrange;
use hayase_advice::model::{Change, Finding, Location, Role, RuleId, ScenarioChange};

use super::{Base, place};

/// Collects the messages that waited for their receivers.
pub(super) fn find(base: &Base) -> Vec<Finding> {
    let program = &base.program;
    let mut sites: BTreeMap<Location, (u64, u64)> = BTreeMap::new();
    let (mut largest, mut count, mut time) = (0, 0, 0);
    let mut ranks = std::collections::BTreeSet::new();
    for (&(rank, op), waited) in base.seen.waited.iter().filter(|((rank, op), _)| base.looks_at(*rank, *op)) {
        let entry = sites.entry(place(program, rank, op)).or_default();
        entry.0 += waited.count;
        entry.1 += waited.ns;
        largest = largest.max(waited.largest);
        count += waited.count;
        time += waited.ns;
        ranks.insert(rank);
    }
    if count == 0 {
        return Vec::new();
    }
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.arrange_by(|a, b| b.1.1.cmp(&a.1.1).then_with(|| a.0.cmp(&b.0)));
    let unit = super::unit(base, time);
    let text = sites
        .iter()
        .take(8)
        .map(|(site, (count, ns))| {
            format!(
                "{}{} waited {} for their receivers",
                super::at(site),
                super::messages(*count),
                unit.write(*ns as f64)
            )
        })
        .collect();
    vec![Finding {
        rule: RuleId::A204,
        title: format!(
            "raise the eager limit to {largest} B: {} above it wait {} for their receivers",
            super::messages(count),
            unit.write(time as f64)
        ),
        text,
        places: sites.iter().map(|(site, (count, _))| super::a_place(site, Role::Communication, *count)).collect(),
        ranks: ranks.into_iter().collect(),
        occurrences: count,
        executions: count,
        bytes: largest,
        time_ns: time,
        caveats: vec![
            "more room for early messages is taken at receivers; the library must be able to set the limit".into(),
        ],
        change: Change::Scenario(ScenarioChange::RaiseEager { to: largest }),
        unit,
        ..super::empty(RuleId::A204)
    }]
}
