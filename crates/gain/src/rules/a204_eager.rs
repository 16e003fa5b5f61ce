//! A204: messages that wait for their receivers because they are longer than S.

use std::collections::BTreeMap;

use hayase::base::Arrange;
use hayase_advice::model::{Change, Finding, Location, Role, RuleId, ScenarioChange};
use hayase_advice::rules::Rule;

use super::{Base, place};
use hayase::units::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A204,
    name: "rendezvous",
    summary: "messages that wait for their receivers because they are longer than the eager limit",
    explanation: "\
A message up to the length S is sent whether its receiver is ready or not. A longer one asks first, and its sender waits for the
answer: for a round trip at least, and until the receiver calls its receive.

What is reported. Messages of the simulated run that waited, by the line that sends them, if S can be raised so that none of them
waits. The gain is that of the whole program with S raised to the longest of them.

How to change it. The limit is a setting of the MPI library, not of the source, and of the transport in use. Open MPI 4.1:
`--mca btl_vader_eager_limit N` within a node (`btl_sm_eager_limit` from 5.0 on), `--mca btl_tcp_eager_limit N` over TCP (of both a
header is a part). Open MPI and MPICH over UCX: the environment variable `UCX_RNDV_THRESH=N`. MPICH 4 over libfabric:
`MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=N`. `hayase measure communication` shows whether it had an effect. In the source: post the
receive earlier (A001), or send the message in pieces.

When it is wrong. Eager messages take room at receivers that are late, and are copied once more there; a library has its limit for that.
`node.loggps.eager-buffer` simulates the room: a message that finds none waits for its receiver like one above S. Where it is given, such
messages are among those reported, and more room helps them, not a higher limit. Overheads a byte are those of short messages beyond
the old limit; that they hold for longer ones is an assumption.

Source: LogGPS, section 3 (S and synchronous messages).
",
};

/// Looks for them.
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
            "raise the eager limit to {}: {} above it wait {} for their receivers",
            Bytes(largest),
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
