use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Call, Communicator, Event, Flags, MessageEnd};

fn call(call: Call, requests: &[u64]) -> Event {
    Event { requests: requests.into(), ..Event::new(call, 0, 0) }
}

fn message(of: Call, peer: i32, requests: &[u64]) -> Event {
    Event { peer, tag: 7, bytes: 100, ..call(of, requests) }
}

/// Takes a call as every user does; keeps a number for each communication. Returns the communications begun
/// and those completed.
fn step(requests: &mut Requests<u64>, begun: &mut u64, event: &Event) -> (Vec<Event>, Vec<u64>) {
    let mut events = Vec::new();
    for event in requests.begun(event) {
        *begun += 1;
        if let Some(request) = event.request_made() {
            requests.keep(request, *begun);
        }
        events.push(event.into_owned());
    }
    let completed = match event.call.completes_requests() {
        true => event.requests.iter().filter_map(|&request| requests.complete(request)).collect(),
        false => Vec::new(),
    };
    if event.call == Call::RequestFree {
        for &request in &event.requests {
            requests.free(request);
        }
    }
    (events, completed)
}

/// Communications that a call begins, by call and peer, and those that it completes.
type Effect = (Vec<(Call, i32)>, Vec<u64>);

/// Returns the effects of calls, one after another.
fn walk(events: &[Event]) -> Vec<Effect> {
    let (mut requests, mut begun) = (Requests::default(), 0);
    let of = |event: &Event| {
        let (events, completed) = step(&mut requests, &mut begun, event);
        (events.iter().map(|event| (event.call, event.peer)).collect(), completed)
    };
    events.iter().map(of).collect()
}

#[test]
fn a_wait_completes_what_was_started_in_the_order_that_it_names() {
    let events = [
        message(Call::Isend, 1, &[1]),
        message(Call::Irecv, 2, &[2]),
        message(Call::Send, 3, &[]),
        call(Call::Iallreduce, &[3]),
        call(Call::Waitall, &[3, 1]),
        call(Call::Test, &[]),
        call(Call::Testsome, &[2]),
    ];
    let walked = walk(&events);
    let begun: Vec<_> = walked.iter().flat_map(|(begun, _)| begun.iter().map(|begun| begun.0)).collect();
    assert_eq!(begun, [Call::Isend, Call::Irecv, Call::Send, Call::Iallreduce]);
    assert_eq!([&walked[4].1, &walked[5].1, &walked[6].1], [&vec![4, 1], &vec![], &vec![2]]);
}

#[test]
fn a_message_to_nobody_and_a_cancelled_receive_are_nothing_and_their_requests_complete() {
    let nobody = Event::PROC_NULL;
    let events = [
        message(Call::Isend, nobody, &[1]),
        message(Call::Irecv, nobody, &[2]),
        message(Call::Recv, nobody, &[]),
        message(Call::SendInit, nobody, &[3]),
        message(Call::RecvInit, 4, &[4]),
        // The second communication is the fourth call's: `MPI_PROC_NULL` among them changes nothing.
        call(Call::Startall, &[3, 4]),
        call(Call::Waitall, &[1, 2, 3]),
        call(Call::Wait, &[4]),
    ];
    let walked = walk(&events);
    assert_eq!(walked[5].0, [(Call::RecvInit, 4)]);
    assert!(walked[..5].iter().all(|(begun, _)| begun.is_empty()));
    assert_eq!((&walked[6].1, &walked[7].1), (&vec![], &vec![1]));
    let both = Event { peer2: nobody, ..message(Call::Sendrecv, 1, &[]) };
    let ends: Vec<_> = both.message_ends().collect();
    assert_eq!(ends, [MessageEnd { sends: true, peer: 1, tag: 7, bytes: 100 }]);
    let mut requests = Requests::<u64>::default();
    step(&mut requests, &mut 0, &events[0]);
    assert_eq!(requests.unknown(&call(Call::Wait, &[1])), None, "it was made");
}

#[test]
fn a_persistent_request_starts_again_and_again_and_rests_in_between() {
    let events = [
        message(Call::SendInit, 1, &[1]),
        call(Call::Wait, &[1]),
        call(Call::Start, &[1]),
        call(Call::Wait, &[1]),
        call(Call::Wait, &[1]),
        call(Call::Startall, &[1]),
        // It is started while it is active: the wait before was not recorded.
        call(Call::Start, &[1]),
        call(Call::Testany, &[1]),
        call(Call::RequestFree, &[1]),
        call(Call::Start, &[1]),
    ];
    let walked = walk(&events);
    let completed: Vec<_> = walked.iter().flat_map(|(_, completed)| completed.clone()).collect();
    assert_eq!(completed, [1, 3]);
    let begun: Vec<usize> = walked.iter().map(|(begun, _)| begun.len()).collect();
    assert_eq!(begun, [0, 0, 1, 0, 0, 1, 1, 0, 0, 0]);
}

#[test]
fn a_start_is_the_call_that_made_its_request_at_its_own_time_with_what_it_brought() {
    let open = Flags::ANY_SOURCE.and(Flags::ANY_TAG);
    let made = Event {
        flags: open.and(Flags::CAPACITY),
        comm: 3,
        buffer: 40,
        tag: -1,
        ..message(Call::RecvInit, Event::NOBODY, &[1])
    };
    let start = |peer, tag, bytes| Event {
        begin: 5,
        end: 9,
        site: 2,
        flags: open,
        comm: 3,
        peer,
        tag,
        bytes,
        ..call(Call::Start, &[1])
    };
    let mut requests = Requests::default();
    let mut began = |event: &Event| step(&mut requests, &mut 0, event).0;
    began(&made);
    let known = Event { begin: 5, end: 9, site: 2, flags: open, peer: 2, tag: 7, bytes: 60, ..made.clone() };
    assert_eq!(began(&start(2, 7, 60)), [known]);
    // First it was cancelled; then its message is unknown; then the start records nothing.
    assert_eq!(began(&start(Event::PROC_NULL, 0, 0)), []);
    let unknown = Event { begin: 5, end: 9, site: 2, ..made };
    assert_eq!(began(&start(Event::NOBODY, -1, 100)), std::slice::from_ref(&unknown));
    let bare = Event { begin: 5, end: 9, site: 2, ..call(Call::Startall, &[1]) };
    assert_eq!(began(&bare), [unknown]);
}

#[test]
fn what_is_freed_while_it_is_active_is_never_complete_and_its_channel_goes_on() {
    let events = [
        message(Call::Isend, 1, &[1]),
        call(Call::RequestFree, &[1]),
        call(Call::Wait, &[1]),
        message(Call::Irecv, 1, &[2]),
        call(Call::Cancel, &[2]),
        call(Call::Wait, &[2]),
    ];
    let walked = walk(&events);
    assert_eq!(walked[0].0.len(), 1, "it is sent");
    assert_eq!((&walked[2].1, &walked[5].1), (&vec![], &vec![2]));
}

#[test]
fn a_request_that_no_call_has_made_is_told() {
    let mut requests = Requests::<u64>::default();
    step(&mut requests, &mut 0, &message(Call::Isend, 1, &[1]));
    step(&mut requests, &mut 0, &message(Call::RecvInit, 1, &[2]));
    let unknown = |of, names: &[u64]| requests.unknown(&call(of, names));
    assert_eq!(unknown(Call::Waitall, &[1, 2]), None);
    assert_eq!(unknown(Call::Waitall, &[1, 3]), Some(3));
    assert_eq!(unknown(Call::Start, &[2, 1]), Some(1), "it is not persistent");
    assert_eq!(unknown(Call::Cancel, &[9]), None, "nothing follows from it");
}

#[test]
fn calls_that_make_communicators_are_collective_but_for_one() {
    let of = |of, requests: &[u64]| walk(&[call(of, requests), call(Call::Wait, &[1])]);
    assert_eq!(of(Call::CommDup, &[])[0].0.len(), 1);
    assert_eq!(of(Call::CommCreateGroup, &[])[0].0.len(), 0);
    assert_eq!(of(Call::CommIdup, &[1])[1].1, [1], "it goes on until it is waited for");
}

#[test]
fn ranks_of_a_communicator_are_those_of_the_world() {
    let mut communicators = Communicators::new(2, 4);
    let group =
        |id, members: &[u32], remote: &[u32]| Communicator { id, members: members.to_vec(), remote: remote.to_vec() };
    communicators.insert(5, &group(77, &[2, 0], &[]));
    communicators.insert(6, &group(78, &[2], &[3, 9]));
    communicators.insert(u32::MAX, &group(79, &[1], &[]));
    let on = |comm, flags| Event { comm, flags, ..message(Call::Send, 1, &[]) };
    let plain = Flags::default();
    let world = |comm, flags, peer| communicators.world(&on(comm, flags), peer);
    assert_eq!([world(0, plain, 3), world(0, plain, 4), world(0, plain, -1)], [Some(3), None, None]);
    assert_eq!([world(5, plain, 1), world(5, plain, 2), world(9, plain, 0)], [Some(0), None, None]);
    assert_eq!([world(6, Flags::INTER, 0), world(6, Flags::INTER, 1), world(6, plain, 0)], [Some(3), None, Some(2)]);
    assert_eq!([0, 5, 9, u32::MAX].map(|index| communicators.size(index)), [4, 2, 4, 1]);
    assert_eq!([communicators.id(0), communicators.id(5)], [0, 77]);
    let end = |sends, tag| MessageEnd { sends, peer: 1, tag, bytes: 0 };
    let channel = |end| communicators.channel(&on(5, plain), &end);
    assert_eq!(channel(end(true, 7)), Some(Channel { from: 2, to: 0, comm: 77, tag: 7 }));
    assert_eq!(channel(end(false, 7)), Some(Channel { from: 0, to: 2, comm: 77, tag: 7 }));
    assert_eq!(channel(end(false, -1)), None, "with which tag is not known");
}

#[test]
fn communicators_without_an_id_are_told_apart_by_the_order_in_which_their_ranks_made_them() {
    let group = |members: &[u32]| Communicator { members: members.to_vec(), ..Communicator::default() };
    let (mut first, mut second) = (Communicators::new(0, 3), Communicators::new(1, 3));
    // Rank 0 is in a communicator that rank 1 is not in: their indices differ.
    for (index, members) in [(1, &[0, 2][..]), (2, &[0, 1]), (3, &[0, 1])] {
        first.insert(index, &group(members));
    }
    for (index, members) in [(1, &[0, 1][..]), (2, &[0, 1])] {
        second.insert(index, &group(members));
    }
    assert_eq!((first.id(2), first.id(3)), (second.id(1), second.id(2)));
    let all = [0, first.id(1), first.id(2), first.id(3)];
    assert!((1..4).all(|i| !all[..i].contains(&all[i])), "{all:?}");
}

proptest! {
    /// In any order of reading both sides, the n-th send of a channel meets the n-th receive.
    #[test]
    fn messages_of_a_channel_do_not_overtake_each_other(
        posts in prop::collection::vec((any::<bool>(), 0_u32..2, 0_i32..2), 0..80),
    ) {
        let mut channels = Channels::default();
        let mut posted: BTreeMap<Channel, [u32; 2]> = BTreeMap::new();
        let mut met: BTreeMap<Channel, u32> = BTreeMap::new();
        for (sends, from, tag) in posts {
            let channel = Channel { from, to: 5, comm: 0, tag };
            let counts = posted.entry(channel).or_default();
            let number = counts[usize::from(sends)];
            counts[usize::from(sends)] += 1;
            let pair = if sends { channels.send(channel, number) } else { channels.receive(channel, number) };
            if let Some((send, receive)) = pair {
                let next = met.entry(channel).or_default();
                prop_assert_eq!((send, receive), (*next, *next));
                *next += 1;
            }
        }
        for (channel, [receives, sends]) in posted {
            prop_assert_eq!(met.get(&channel).copied().unwrap_or(0), receives.min(sends));
        }
    }

    /// Compares with a plain list of all requests and their states.
    #[test]
    fn requests_are_those_of_a_plain_list(calls in prop::collection::vec((0_u8..7, 0_usize..6), 0..80)) {
        /// True if it can be started again; the communication under way.
        type Listed = Option<(bool, Option<u64>)>;
        let (mut requests, mut begun) = (Requests::default(), 0);
        let mut list: Vec<Listed> = Vec::new();
        for (what, which) in calls {
            let number = list.len() as u64 + 1;
            let old = (which < list.len()).then(|| list.len() - 1 - which);
            let names = old.map_or(99, |old| old as u64 + 1);
            let next = begun + 1;
            let (event, began, completes) = match what {
                0 | 1 => {
                    list.push(Some((false, Some(next))));
                    (message(if what == 0 { Call::Isend } else { Call::Irecv }, 1, &[number]), 1, None)
                }
                2 => {
                    list.push(Some((true, None)));
                    (message(Call::SendInit, 1, &[number]), 0, None)
                }
                3 | 4 => {
                    let mut began = 0;
                    if let Some(Some((true, active))) = old.map(|old| &mut list[old]) {
                        *active = Some(next);
                        began = 1;
                    }
                    (call(Call::Start, &[names]), began, None)
                }
                5 => {
                    let entry = old.and_then(|old| list[old].as_mut());
                    let active = entry.and_then(|(_, active)| active.take());
                    if let Some(old) = old && matches!(list[old], Some((false, _))) {
                        list[old] = None;
                    }
                    (call(Call::Wait, &[names]), 0, active)
                }
                _ => {
                    if let Some(old) = old {
                        list[old] = None;
                    }
                    (call(Call::RequestFree, &[names]), 0, None)
                }
            };
            let (events, completed) = step(&mut requests, &mut begun, &event);
            prop_assert_eq!((events.len(), completed), (began, completes.into_iter().collect::<Vec<_>>()));
            let mut active: Vec<u64> = requests.active().copied().collect();
            active.sort_unstable();
            let mut expected: Vec<u64> = list.iter().flatten().filter_map(|&(_, active)| active).collect();
            expected.sort_unstable();
            prop_assert_eq!(active, expected);
        }
    }
}
