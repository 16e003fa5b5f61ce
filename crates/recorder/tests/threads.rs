//! Programs of several threads that call MPI at the same time.

mod common;

use std::collections::BTreeMap;

use common::{MPIS, Run, RunOptions, Stream, TOKEN, run, run_compiled};
use hayase_trace::{Call, Event, Flags};

const OPTIONS: &str = "gcc -g -O1 -fopenmp";

/// Runs `threads.c` in one of its modes; `None` if the MPI is missing or does not support such threads.
fn ran(mpi: &str, arguments: &[&str]) -> Option<Run> {
    let run = run_compiled(mpi, "threads", OPTIONS, RunOptions { ranks: 2, arguments, ..RunOptions::default() })?;
    String::from_utf8_lossy(&run.output.stdout).contains(arguments[0]).then_some(run)
}

/// Returns the streams of its two ranks after a successful run.
fn streams(mpi: &str, arguments: &[&str]) -> Option<[Stream; 2]> {
    let run = ran(mpi, arguments)?;
    run.assert_success(mpi);
    let streams = [0, 1].map(|rank| run.stream(rank));
    for stream in &streams {
        assert!(stream.ended && stream.lost == 0, "{mpi} {arguments:?}");
        assert_each_in_its_own_order(stream);
    }
    Some(streams)
}

/// Asserts that calls of a thread follow each other, and that calls of different threads end in order.
fn assert_each_in_its_own_order(stream: &Stream) {
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    for event in &stream.events {
        let end = ends.entry(event.thread).or_default();
        assert!(*end <= event.begin && event.begin <= event.end, "{event:?} begins before {end}");
        *end = event.end;
    }
}

fn by_thread(stream: &Stream, calls: impl Fn(&Event) -> bool) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for event in stream.events.iter().filter(|event| calls(event)) {
        *counts.entry(event.thread).or_default() += 1;
    }
    counts
}

#[test]
fn calls_of_all_threads_are_recorded_each_with_its_thread() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["multiple"]) else { continue };
        let sends = by_thread(&streams[0], |event| event.call == Call::Send);
        // A thread that has ended before the next has called leaves its number to that one.
        assert_eq!((sends[&0], sends.values().sum::<usize>()), (100, 400), "{mpi}");
        let tags = |tag| streams[0].events.iter().filter(|event| event.call == Call::Send && event.tag == tag).count();
        assert_eq!([0, 1, 2, 3].map(tags), [100; 4], "{mpi}");
        assert_eq!(streams[0].events.first().map(|event| (event.call, event.thread)), Some((Call::Init, 0)));
        assert_eq!(streams[0].events.last().map(|event| (event.call, event.thread)), Some((Call::Finalize, 0)));
    }
}

#[test]
fn a_thread_that_waits_in_mpi_does_not_hold_up_the_others_and_each_tag_is_of_one_thread() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["pingpong", "200"]) else { continue };
        for stream in &streams {
            let messages = |event: &Event| matches!(event.call, Call::Send | Call::Recv);
            assert_eq!(by_thread(stream, messages), [(0, 400), (1, 400)].into(), "{mpi}");
            let tags: Vec<i32> = (0..2)
                .map(|thread| stream.events.iter().find(|e| messages(e) && e.thread == thread).map_or(-1, |e| e.tag))
                .collect();
            assert_eq!(tags, [0, 1], "{mpi}");
            let all = stream.events.iter().filter(|event| messages(event));
            assert!(all.clone().all(|event| tags[event.thread as usize] == event.tag && event.bytes == 1024), "{mpi}");
        }
    }
}

#[test]
fn a_request_of_one_thread_is_completed_by_another_and_says_what_came() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["requests"]) else { continue };
        for (rank, stream) in streams.iter().enumerate() {
            let other = 1 - rank as i32;
            let receives: Vec<&Event> = stream.events.iter().filter(|event| event.call == Call::Irecv).collect();
            assert_eq!(receives.len(), 20);
            // Known only through the wait of another thread.
            assert!(receives.iter().all(|event| event.thread == 0 && event.peer == other && event.bytes == 4), "{mpi}");
            let waits: Vec<&Event> = stream.events.iter().filter(|event| event.call == Call::Waitall).collect();
            assert!(waits.iter().all(|wait| wait.thread != 0 && wait.requests.len() == 2), "{mpi}");
            let mut waited: Vec<u64> = waits.iter().flat_map(|wait| wait.requests.clone()).collect();
            waited.sort_unstable();
            assert_eq!(waited, (1..=40).collect::<Vec<u64>>(), "{mpi}");
            let any = stream.events.iter().find(|event| event.call == Call::Recv).unwrap();
            assert_eq!((any.peer, any.tag, any.thread != 0), (other, 9, true), "{mpi}");
        }
    }
}

#[test]
fn threads_that_have_ended_leave_their_numbers_to_others() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["many"]) else { continue };
        let sends = by_thread(&streams[0], |event| event.call == Call::Send);
        // Fifty threads one after another share one number; the last four, at once, have four.
        assert_eq!(sends.values().sum::<usize>(), 55 * 100, "{mpi}");
        assert_eq!(sends.get(&0), Some(&100));
        assert!(sends[&1] >= 50 * 100 && sends.keys().all(|&thread| thread <= 4), "{mpi}: {sends:?}");
    }
}

#[test]
fn regions_of_openmp_are_recorded() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["openmp"]) else { continue };
        for stream in &streams {
            let exchanges = by_thread(stream, |event| event.call == Call::SendrecvReplace);
            assert_eq!(exchanges, (0..4).map(|thread| (thread, 10)).collect(), "{mpi}");
            assert_eq!(by_thread(stream, |event| event.call == Call::Barrier), [(0, 10)].into(), "{mpi}");
        }
    }
}

#[test]
fn a_thread_that_waited_outside_of_mpi_says_so() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["requests"]) else { continue };
        let blocked = |event: &&Event| event.flags.has(Flags::BLOCKED);
        // The first thread waits for the one that waits for its requests: once before each receive but the
        // first.
        let joins = streams[0].events.iter().filter(|event| event.call == Call::Irecv).skip(1).filter(blocked).count();
        assert!(joins >= 5, "{mpi}: {joins}");
        // A call that follows another at once did not wait.
        let sends = streams[0].events.iter().filter(|event| event.call == Call::Isend).filter(blocked).count();
        assert!(sends < joins, "{mpi}: {sends}");
    }
}

#[test]
fn a_thread_that_outlives_mpi_does_no_harm() {
    for mpi in MPIS {
        let Some(streams) = streams(mpi, &["outlives"]) else { continue };
        assert_eq!(by_thread(&streams[1], |event| event.call == Call::Send), [(1, 1)].into(), "{mpi}");
    }
}

#[test]
fn whichever_thread_ends_the_program_nothing_is_lost() {
    for mpi in MPIS {
        for (how, why) in
            [("abort", "MPI_Abort(5)"), ("kill", "killed by SIGTERM"), ("exit", "exit without MPI_Finalize")]
        {
            let Some(run) = ran(mpi, &[how]) else { continue };
            let stream = run.stream(0);
            assert!(stream.ended, "{mpi} {how}");
            let ended = stream.notes.iter().find(|(name, _)| name == "ended").map(|(_, why)| why.as_str());
            assert_eq!(ended, Some(why), "{mpi} {how}");
            let sends = by_thread(&stream, |event| event.call == Call::Send);
            assert_eq!(sends.get(&1).copied(), (how == "kill").then_some(1), "{mpi} {how}");
        }
    }
}

#[test]
fn several_threads_are_refused_where_one_rank_runs_at_a_time_and_one_is_not() {
    for mpi in MPIS {
        let how = |arguments| RunOptions { ranks: 2, arguments, variables: TOKEN };
        let Some(refused) = run(mpi, "threads", how(&["pingpong"])) else { continue };
        let known = String::from_utf8_lossy(&refused.output.stdout).contains("pingpong");
        if known {
            assert!(!refused.output.status.success(), "{mpi}");
            let said = |rank| {
                let stream: Stream = refused.stream(rank);
                stream.notes.iter().any(|(name, why)| name == "ended" && why == "several threads and --token")
            };
            assert!((0..2).any(said), "{mpi}");
        }
    }
}
