//! Recordings of real programs under the MPIs of this machine.

mod common;

use std::collections::BTreeMap;

use common::{MPIS, RunOptions, Stream, TOKEN, run};
use hayase_trace::{Call, CallKind, Clock, Event, Flags};

/// Sends and receives of all ranks, by communicator, sender, receiver and tag: their sizes in order.
type Messages = BTreeMap<(u64, u32, u32, i32), Vec<u64>>;

fn messages(streams: &[Stream]) -> (Messages, Messages) {
    let (mut sent, mut received) = (Messages::new(), Messages::new());
    for (me, stream) in streams.iter().enumerate() {
        let me = me as u32;
        let mut persistent = BTreeMap::new();
        let mut send = |event: &Event| {
            if let Some(to) = stream.world(event, event.peer) {
                sent.entry((stream.id(event.comm), me, to, event.tag)).or_default().push(event.bytes);
            }
        };
        let mut receive = |event: &Event, peer, tag, bytes| {
            if let Some(from) = stream.world(event, peer) {
                received.entry((stream.id(event.comm), from, me, tag)).or_default().push(bytes);
            }
        };
        for event in &stream.events {
            match event.call.kind() {
                CallKind::Send | CallKind::Isend => send(event),
                CallKind::Recv | CallKind::Irecv => {
                    assert!(!event.flags.has(Flags::CAPACITY), "what came is known: {event:?}");
                    receive(event, event.peer, event.tag, event.bytes);
                }
                CallKind::Sendrecv => {
                    send(event);
                    receive(event, event.peer2, event.tag2, event.bytes2);
                }
                CallKind::SendInit | CallKind::RecvInit => drop(persistent.insert(event.requests[0], event.clone())),
                CallKind::Start => {
                    for number in &event.requests {
                        let made = &persistent[number];
                        match made.call.kind() {
                            CallKind::SendInit => send(made),
                            // The start has its own event, because the receive left its source open.
                            _ if event.peer >= 0 => receive(event, event.peer, event.tag, event.bytes),
                            _ => receive(made, made.peer, made.tag, made.bytes),
                        }
                    }
                }
                _ => {}
            }
        }
    }
    (sent, received)
}

/// Asserts that every request is made once, completed once, and has the next number.
fn requests_are_sound(stream: &Stream) {
    let mut last = 0;
    let mut open = Vec::new();
    let mut persistent = Vec::new();
    for event in &stream.events {
        if event.call.makes_request() {
            assert_eq!(event.requests, [last + 1], "{event:?}");
            last += 1;
            match event.call.kind() {
                CallKind::SendInit | CallKind::RecvInit => persistent.push(last),
                _ => open.push(last),
            }
        } else if matches!(event.call.kind(), CallKind::Wait | CallKind::WaitAny | CallKind::Test) {
            for number in &event.requests {
                if !persistent.contains(number) {
                    let at = open.iter().position(|open| open == number);
                    open.swap_remove(at.unwrap_or_else(|| panic!("request {number} is not open: {event:?}")));
                }
            }
        }
    }
    assert_eq!(open, [], "requests that are never complete");
}

fn streams(program: &str, mpi: &str, how: RunOptions) -> Option<(common::Run, Vec<Stream>)> {
    let run = run(mpi, program, how)?;
    run.assert_success(&format!("{program} under {mpi}"));
    let streams: Vec<Stream> = (0..how.ranks).map(|rank| run.stream(rank)).collect();
    for stream in &streams {
        assert!(stream.ended && stream.lost == 0);
        assert_eq!(stream.events.first().map(|event| event.call), Some(Call::Init));
        assert_eq!(stream.events.last().map(|event| event.call), Some(Call::Finalize));
        let mut last = 0;
        for event in &stream.events {
            assert!(event.begin >= last && event.end >= event.begin, "times go on: {event:?}");
            last = event.end;
        }
        requests_are_sound(stream);
    }
    Some((run, streams))
}

#[test]
fn every_message_is_recorded_at_both_ends_with_one_size() {
    for mpi in MPIS {
        for variables in [&[], TOKEN] {
            let Some((_run, streams)) = streams("messages", mpi, RunOptions { variables, ..RunOptions::default() })
            else {
                continue;
            };
            let (sent, received) = messages(&streams);
            assert_eq!(sent, received, "{mpi} {variables:?}");
            // From an even rank: 3 blocking, 4 + 2 not blocking, 3 to be probed for, 3 persistent; exchanges
            // in both directions: 2.
            assert_eq!(sent.values().map(Vec::len).sum::<usize>(), 2 * (3 + 4 + 2 + 3 + 3) + 4 * 2);
            let calls: Vec<Call> = streams[1].events.iter().map(|event| event.call).collect();
            for call in [Call::Mprobe, Call::Mrecv, Call::Improbe, Call::Imrecv, Call::Startall, Call::Cancel] {
                assert!(calls.contains(&call), "{mpi}: {}", call.name());
            }
            let clock = if variables.is_empty() { Clock::Wall } else { Clock::Cpu };
            assert_eq!(streams[0].header.as_ref().map(|header| header.clock), Some(clock));
        }
    }
}

#[test]
fn wildcards_and_cancelled_receives_say_what_came_of_them() {
    for mpi in MPIS {
        let Some((_run, streams)) = streams("messages", mpi, RunOptions::default()) else { continue };
        let first = streams[1].events.iter().find(|event| event.call == Call::Recv).unwrap();
        assert_eq!((first.peer, first.tag, first.bytes), (0, 1, 800), "{mpi}");
        assert!(first.flags.has(Flags::ANY_SOURCE) && first.flags.has(Flags::ANY_TAG));
        let cancelled = streams[1].events.iter().rfind(|event| event.call == Call::Irecv).unwrap();
        assert_eq!((cancelled.peer, cancelled.bytes), (Event::PROC_NULL, 0), "{mpi}");
    }
}

#[test]
fn a_persistent_receive_that_leaves_open_from_whom_says_at_each_start_who_it_was() {
    for mpi in MPIS {
        for variables in [&[], TOKEN] {
            let how = RunOptions { ranks: 4, variables, ..RunOptions::default() };
            let Some((_run, streams)) = streams("persistent", mpi, how) else { continue };
            let (sent, received) = messages(&streams);
            assert_eq!(sent, received, "{mpi} {variables:?}");
            // Three senders, five rounds; sizes and tags differ from round to round.
            assert_eq!(sent.values().map(Vec::len).sum::<usize>(), 3 * 5 + 3);
            let starts: Vec<&Event> =
                streams[0].events.iter().filter(|event| event.call.kind() == CallKind::Start).collect();
            let open: Vec<_> = starts.iter().filter(|event| event.flags.has(Flags::ANY_SOURCE)).collect();
            assert_eq!(open.len(), 3 * 5 + 1, "{mpi}");
            assert_eq!(
                open.iter().filter(|event| event.peer == Event::PROC_NULL).count(),
                1,
                "{mpi}: one is cancelled"
            );
            for event in open.iter().filter(|event| event.peer >= 0) {
                assert_eq!((event.requests.len(), event.flags.has(Flags::CAPACITY)), (1, false), "{mpi}: {event:?}");
                assert!(
                    (1..4).contains(&event.peer) && event.bytes == 8 * (event.tag as u64 + event.peer as u64),
                    "{event:?}"
                );
            }
            // Of those started together, only the ones that leave nothing open stay in one event.
            let together: Vec<usize> =
                starts.iter().map(|event| event.requests.len()).filter(|&count| count > 1).collect();
            assert_eq!(together, [2; 5], "{mpi}");
        }
    }
}

#[test]
fn members_of_a_communicator_agree_on_it_and_on_its_operations() {
    for mpi in MPIS {
        for (ranks, variables) in [(4, &[][..]), (5, &[]), (4, TOKEN)] {
            let how = RunOptions { ranks, variables, ..RunOptions::default() };
            let Some((_run, streams)) = streams("collectives", mpi, how) else { continue };
            let (sent, received) = messages(&streams);
            assert_eq!(sent, received, "{mpi}: messages of neighbours");
            let mut groups = BTreeMap::new();
            let mut operations: BTreeMap<u64, BTreeMap<usize, Vec<(Call, i32)>>> = BTreeMap::new();
            for (me, stream) in streams.iter().enumerate() {
                for (_, group) in &stream.communicators {
                    let mut sides = [group.members.clone(), group.remote.clone()];
                    assert!(group.members.contains(&(me as u32)));
                    sides.sort();
                    let known = groups.entry(group.id).or_insert_with(|| sides.clone());
                    assert_eq!(*known, sides, "{mpi}: two communicators have one id");
                }
                for event in &stream.events {
                    if matches!(
                        event.call.kind(),
                        CallKind::Collective | CallKind::Icollective | CallKind::Communicator
                    ) && event.call != Call::CommCreateGroup
                    {
                        let of = operations.entry(stream.id(event.comm)).or_default();
                        of.entry(me).or_default().push((event.call, event.peer));
                    }
                }
            }
            let distinct: std::collections::BTreeSet<_> = groups.keys().collect();
            // Two halves with a copy each, the world's copy, the grid, its rows, ...
            assert!(distinct.len() > 10, "{mpi}: {}", distinct.len());
            for (id, by_rank) in operations {
                let members: usize = groups.get(&id).map_or(ranks, |sides| sides.iter().map(Vec::len).sum());
                assert_eq!(by_rank.len(), members, "{mpi}: all members take part in communicator {id}");
                let first = by_rank.values().next().unwrap();
                assert!(by_rank.values().all(|calls| calls == first), "{mpi}: communicator {id}");
            }
        }
    }
}

#[test]
fn collective_operations_say_their_blocks() {
    for mpi in MPIS {
        let Some((_run, streams)) = streams("collectives", mpi, RunOptions::default()) else { continue };
        for (rank, stream) in streams.iter().enumerate() {
            let on_world = |call: Call| {
                stream
                    .events
                    .iter()
                    .find(|event| event.call == call && event.comm == 0)
                    .unwrap_or_else(|| panic!("{call:?}"))
            };
            let all = [8, 16, 24, 32];
            let own = 8 * (rank as u64 + 1);
            let root = rank == 3;
            assert_eq!((on_world(Call::Bcast).bytes, on_world(Call::Bcast).peer), (80, 3));
            let reduce = on_world(Call::Reduce);
            assert_eq!((reduce.bytes, reduce.op.name(), reduce.element), (80, "sum", 8), "{mpi}");
            assert_eq!(on_world(Call::Allreduce).op.name(), "max");
            assert_eq!(on_world(Call::Gather).bytes, 24);
            assert_eq!(on_world(Call::Scatter).bytes, 32);
            assert_eq!(on_world(Call::Allgather).bytes, 40);
            assert_eq!(on_world(Call::Alltoall).bytes, 48);
            let gatherv = on_world(Call::Gatherv);
            assert_eq!((gatherv.bytes, gatherv.counts2.as_slice()), (own, if root { &all[..] } else { &[] }));
            let scatterv = on_world(Call::Scatterv);
            assert_eq!((scatterv.bytes2, scatterv.counts.as_slice()), (own, if root { &all[..] } else { &[] }));
            let allgatherv = on_world(Call::Allgatherv);
            assert_eq!((allgatherv.bytes, allgatherv.counts2.as_slice()), (own, &all[..]));
            for call in [Call::Alltoallv, Call::Alltoallw] {
                assert_eq!(
                    (on_world(call).counts.as_slice(), on_world(call).counts2.as_slice()),
                    (&[own; 4][..], &all[..])
                );
            }
            assert_eq!(on_world(Call::ReduceScatter).counts, all);
            assert_eq!(on_world(Call::ReduceScatterBlock).bytes, 56);
            assert_eq!((on_world(Call::Scan).bytes, on_world(Call::Exscan).bytes), (64, 72));
            let in_place = stream.events.iter().find(|event| event.flags.has(Flags::IN_PLACE)).unwrap();
            assert_eq!((in_place.call, in_place.bytes, in_place.op.name()), (Call::Allreduce, 88, "min"));
        }
    }
}

#[test]
fn a_call_site_is_an_address_of_the_program() {
    for mpi in MPIS {
        let Some((run, streams)) = streams("messages", mpi, RunOptions { ranks: 2, ..RunOptions::default() }) else {
            continue;
        };
        let maps = std::fs::read_to_string(run.path().join("rank-00000.maps")).unwrap();
        let code: Vec<(u64, u64)> = maps
            .lines()
            .filter(|line| line.ends_with("/messages") && line.contains("r-xp"))
            .map(|line| {
                let (begin, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
                (u64::from_str_radix(begin, 16).unwrap(), u64::from_str_radix(end, 16).unwrap())
            })
            .collect();
        assert!(!code.is_empty() && maps.contains("build-id "), "{mpi}");
        assert!(streams[0].sites.len() > 15);
        for site in &streams[0].sites {
            assert!(code.iter().any(|(begin, end)| (begin..end).contains(&site)), "{mpi}: {site:#x}\n{maps}");
        }
    }
}

#[test]
fn a_recording_stops_when_it_is_asked_to_and_the_program_goes_on() {
    for mpi in MPIS {
        let variables = &[("HAYASE_CAPTURE_STOP_EVENTS", "5"), ("HAYASE_CAPTURE_CLOCK", "wall")];
        let Some(run) = run(mpi, "messages", RunOptions { ranks: 2, variables, ..RunOptions::default() }) else {
            continue;
        };
        run.assert_success(mpi);
        let stream = run.stream(1);
        assert!(stream.ended && stream.events.len() >= 5 && stream.events.len() < 12, "{}", stream.events.len());
        assert!(stream.events.iter().all(|event| event.cpu.is_none()), "{mpi}: real time alone");

        let variables = &[("HAYASE_CAPTURE_STOP_EVENTS", "5"), TOKEN[0]];
        let Some(run) = common::run(mpi, "collectives", RunOptions { variables, ..RunOptions::default() }) else {
            continue;
        };
        run.assert_success(mpi);
        assert!(run.stream(3).ended && run.stream(3).events.len() < 12, "{mpi}");
    }
}

#[test]
fn calls_of_one_thread_after_the_other_are_all_recorded() {
    for mpi in MPIS {
        let how = RunOptions { ranks: 2, arguments: &["serialized"], ..RunOptions::default() };
        let Some((_run, streams)) = streams("threads", mpi, how) else { continue };
        let sends = streams[0].events.iter().filter(|event| event.call == Call::Send).count();
        assert_eq!(sends, 4 * 100, "{mpi}");
    }
}

#[test]
fn a_process_that_the_program_starts_leaves_the_trace_of_the_program_alone() {
    // MPICH as some systems package it cannot start processes.
    let Some(run) = run("openmpi", "spawn", RunOptions { ranks: 1, ..RunOptions::default() }) else { return };
    run.assert_success("spawn");
    let stream = run.stream(0);
    assert_eq!(stream.events.last().map(|event| event.call), Some(Call::Finalize));
    assert!(String::from_utf8_lossy(&run.output.stderr).contains("MPI_Comm_spawn"));
}

#[test]
fn the_newest_of_mpi_is_time_and_is_named() {
    // Open MPI 4 has none of these calls: then the program is empty.
    for variables in [&[], TOKEN] {
        let how = RunOptions { ranks: 2, variables, ..RunOptions::default() };
        let Some((_run, streams)) = streams("newest", "mpich", how) else { continue };
        let said = |rank: usize| {
            let note = streams[rank].notes.iter().find(|(name, _)| name == "opaque");
            note.map_or_else(Vec::new, |(_, text)| text.lines().map(str::to_owned).collect())
        };
        assert_eq!(said(0), ["Psend_init 1", "Bcast_init 1", "Send_c 1"], "{variables:?}");
        // For any number of polls, one call found that the message had arrived.
        assert_eq!(said(1), ["Precv_init 1", "Parrived 1", "Bcast_init 1", "Recv_c 1"], "{variables:?}");
        assert!(streams[1].events.len() < 20, "{variables:?}: {}", streams[1].events.len());
    }
}

#[test]
fn one_sided_communication_and_files_are_time_and_are_named() {
    for mpi in MPIS {
        let Some((_run, streams)) = streams("opaque", mpi, RunOptions { ranks: 2, ..RunOptions::default() }) else {
            continue;
        };
        let note = streams[0].notes.iter().find(|(name, _)| name == "opaque").unwrap();
        for line in
            ["Win_create 1", "Win_fence 2", "Put 1", "Win_free 1", "File_open 1", "File_write_at 1", "File_close 1"]
        {
            assert!(note.1.lines().any(|said| said == line), "{mpi}: {line} in {}", note.1);
        }
        // Calls that the library makes inside of them are not the program's.
        assert_eq!(streams[0].events.iter().filter(|event| event.call == Call::Barrier).count(), 1, "{mpi}");
    }
}
