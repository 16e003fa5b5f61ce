//! Rounds compared with the order of actions: the messages of a [`Schedule`], given by formulas, are those of
//! the ranks.

use std::collections::{BTreeMap, BTreeSet};

use super::execution::Sent;
use crate::collective::phase::Phase;
use crate::collective::rounds::Action;
use crate::collective::{Call, Operation, Plan, Schedule, Sizes};

/// An event of a rank: it sends, posts a receive, or has received a message, each with its round.
enum Event {
    Sends { to: u32, bytes: u64, round: u64 },
    Posts { from: u32, round: u64 },
    HasReceived { round: u64 },
}

fn events(phases: &[Phase], rank: u32) -> Vec<Event> {
    let mut events = Vec::new();
    let mut before = 0;
    for phase in phases {
        let mut started = Vec::new();
        for (index, action) in (0..).map_while(|index| Some((index, phase.action(rank, index)?))) {
            let round = before + phase.round(rank, index);
            let bytes = |data| phase.bytes(rank, data);
            match action {
                Action::Nothing => {}
                Action::Send { to, data } | Action::StartSend { to, data } => {
                    events.push(Event::Sends { to, bytes: bytes(data), round });
                }
                Action::Receive { from, .. } => {
                    events.extend([Event::Posts { from, round }, Event::HasReceived { round }]);
                }
                Action::Exchange { to, sent, from, .. } => {
                    let sends = Event::Sends { to, bytes: bytes(sent), round };
                    events.extend([Event::Posts { from, round }, sends, Event::HasReceived { round }]);
                }
                Action::StartReceive { from, .. } => {
                    events.push(Event::Posts { from, round });
                    started.push(round);
                }
                Action::WaitAll => events.extend(started.drain(..).map(|round| Event::HasReceived { round })),
            }
        }
        before += phase.rounds();
    }
    events
}

/// Compares the schedule of a call with the actions of its ranks.
///
/// * The messages are those of the actions, in their order; their number, bytes and rounds are those of the formulas.
/// * Both ends of each message assign it to the same round.
/// * The messages that a rank has received when it sends are exactly those sent to it in earlier rounds.
pub fn check(call: &Call, plan: Plan) {
    let schedule = Schedule::of(call, plan);
    let name = format!("{call:?} by {plan:?}");
    let mut sent: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    let mut posted: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    let mut arrivals: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let (mut rounds, mut all) = (0, 0);
    for rank in 0..call.ranks {
        let mut number = 0;
        let mut last = 0;
        let events = events(&schedule.expansion.phases, rank);
        // Earliest round of the messages that have not been received by then.
        let mut missing = vec![u64::MAX; events.len() + 1];
        for (at, event) in events.iter().enumerate().rev() {
            let round = if let Event::HasReceived { round } = event { *round } else { u64::MAX };
            missing[at] = missing[at + 1].min(round);
        }
        let mut received = None;
        for (at, event) in events.iter().enumerate() {
            match *event {
                Event::Sends { to, bytes, round } => {
                    let message = schedule.message(rank, number).expect("it sends as many");
                    assert_eq!((message.to, message.bytes, message.round), (to, bytes, round), "{name}: rank {rank}");
                    number += 1;
                    assert!(round >= last, "{name}: rank {rank} goes back to round {round}");
                    last = round;
                    match schedule.waits() {
                        true => {
                            let known = received.is_none_or(|received| received < round) && round <= missing[at];
                            let has = (received, missing[at]);
                            assert!(known, "{name}: rank {rank} sends in round {round} and has {has:?}");
                        }
                        false => assert_eq!(received, None, "{name}: rank {rank}"),
                    }
                    rounds = rounds.max(round + 1);
                    all += u128::from(bytes);
                    sent.entry((rank, to)).or_default().push(round);
                    *arrivals.entry((to, round)).or_default() += 1;
                }
                Event::Posts { from, round } => posted.entry((from, rank)).or_default().push(round),
                Event::HasReceived { round } => received = received.max(Some(round)),
            }
        }
        assert_eq!((schedule.sends(rank), schedule.message(rank, number)), (number, None), "{name}: rank {rank}");
    }
    assert_eq!(sent, posted, "{name}");
    assert_eq!((schedule.rounds(), schedule.bytes()), (rounds, all), "{name}");
    for rank in 0..call.ranks {
        for round in (0..rounds + 2).chain([u64::MAX]) {
            let expected = arrivals.get(&(rank, round)).copied().unwrap_or(0);
            assert_eq!(schedule.receives(rank, round), expected, "{name}: rank {rank}, round {round}");
        }
    }
}

/// Checks that messages carry what they held when they were sent. The messages of each rank come in order, those of
/// different ranks in any order.
pub fn check_carries(call: &Call, plan: Plan, sent: &[Sent]) {
    use Operation as O;
    let schedule = Schedule::of(call, plan);
    let mut next = vec![0; call.ranks as usize];
    for message in sent {
        let number = &mut next[message.from as usize];
        let carried = schedule.carries(message.from, *number);
        *number += 1;
        let name = format!("{call:?} by {plan:?}: message {number} of rank {}", message.from);
        let parts = carried.iter().collect::<BTreeSet<_>>().len();
        assert_eq!(parts, carried.len(), "{name} carries something twice");
        if matches!(call.collective, O::Alltoall | O::Alltoallv) {
            let slots = carried.iter().map(|(src, dst)| (src * call.ranks + dst) as usize);
            assert!(slots.eq(message.cargo.slots.iter().copied()), "{name}: {carried:?}");
        } else if !message.content.is_empty() && matches!(call.sizes, Sizes::Equal(_)) {
            let origins: BTreeSet<u8> = carried.iter().map(|(origin, _)| *origin as u8).collect();
            let held: BTreeSet<u8> = message.content.iter().flat_map(|who| who.iter().copied()).collect();
            assert_eq!(origins, held, "{name}: {carried:?}");
        }
    }
}
