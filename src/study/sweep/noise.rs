//! Cost of slow processors: a run compared with the same run without slow processors.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Control, over_seeds};
use crate::base::Arrange;
use crate::diagnostic::Invalid;
use crate::ids::NodeId;
use crate::noise::{Added, NoiseTables};
use crate::player::Transfer;
use crate::report::{
    CostOverSeeds, Delayed, MessageRecord, NoiseReport, RankDelay, Reached, SeedStatistics, SlowedRanks, Status,
};
use crate::scenario::Scenario;
use crate::simulation::{RunOptions, Simulated, Summary};
use crate::system::System;

/// Largest number of messages of a run that are kept for comparison.
const MOST_MESSAGES: u64 = 4_000_000;

/// Smallest delay that counts as reaching a rank, as a part of the extra time of the slowest rank.
const MIN_REACHED_PART: f64 = 0.01;

/// Times of one message.
#[derive(Clone, Copy, PartialEq, Debug)]
struct MessageTimes {
    src: u32,
    dst: u32,
    /// Number among the messages of its sender, or among all messages.
    number: u32,
    start_s: f64,
    end_s: f64,
}

/// Observations of one run.
struct ObservedRun {
    summary: Summary,
    /// Messages by sender, receiver and number; empty if there are too many.
    messages: Vec<MessageTimes>,
    /// End of each rank \[s\].
    ends: Vec<f64>,
    added: Vec<f64>,
}

/// Computes the cost of slow processors in this scenario: runs it once more, and once without slow
/// processors, with each of the seeds if there are several. Returns `None` if there are no slow processors,
/// or if a run does not complete.
///
/// # Errors
/// Scenarios that cannot be built with one of the seeds.
pub fn cost_of_noise<W: Simulated>(
    scenario: &Scenario<W>,
    seeds: Option<&SeedStatistics>,
    control: Control<'_>,
) -> Result<Option<NoiseReport>, Invalid> {
    if scenario.system().noise().is_empty() {
        return Ok(None);
    }
    let system = scenario.system().clone().with_noise(NoiseTables::default());
    let without = scenario.with_system(system)?;
    let (slow, fast) = rayon::join(|| observe(scenario, control), || observe(&without, control));
    if [&slow, &fast].iter().any(|seen| seen.summary.status != Status::Complete) {
        return Ok(None);
    }
    let over = match seeds {
        Some(seeds) => {
            // If nothing else is random, one run stands for all seeds.
            let all = if without.depends_on_seed() { &seeds.seeds[..] } else { &seeds.seeds[..1] };
            CostOverSeeds::new(seeds, &over_seeds(&without, all, &fast.summary, control)?)
        }
        None => None,
    };
    Ok(Some(NoiseReport { seeds: over, ..compared(scenario.system(), &slow, &fast) }))
}

/// Runs a scenario and records its ranks and messages.
fn observe<W: Simulated>(scenario: &Scenario<W>, control: Control<'_>) -> ObservedRun {
    let ranks = scenario.work().ranks();
    let added = Arc::new(Added::new(ranks));
    let keeps = scenario.work().messages() <= MOST_MESSAGES;
    let mut messages = Vec::new();
    let mut transfers = Vec::new();
    let mut on_message = |message: &MessageRecord| {
        let &MessageRecord { src, dst, index, start_s, end_s, .. } = message;
        messages.push(MessageTimes { src, dst, number: index, start_s, end_s });
    };
    let mut on_transfer = |transfer: &Transfer| {
        // Messages of collectives are not counted in advance.
        if transfers.len() as u64 <= MOST_MESSAGES {
            let &Transfer { src, dst, message, called, end, .. } = transfer;
            let (start_s, end_s) = (called.seconds(), end.seconds());
            transfers.push(MessageTimes { src: src.0, dst: dst.0, number: message, start_s, end_s });
        }
    };
    let outcome = scenario.run(RunOptions {
        on_message: if keeps { Some(&mut on_message) } else { None },
        on_transfer: if keeps { Some(&mut on_transfer) } else { None },
        room: Some(0),
        added: Some(Arc::clone(&added)),
        watch: Some(&control),
        ..RunOptions::default()
    });
    messages.append(&mut transfers);
    if messages.len() as u64 > MOST_MESSAGES {
        messages = Vec::new();
    }
    messages.arrange_by_key(|message| (message.src, message.dst, message.number));
    let mut ends = W::ends(&outcome);
    // A farm reports neither ranks nor messages.
    if ends.is_empty() && !messages.is_empty() {
        ends = vec![0.0; ranks as usize];
        for message in &messages {
            for rank in [message.src, message.dst] {
                ends[rank as usize] = message.end_s.max(ends[rank as usize]);
            }
        }
    }
    let added = added.times().into_iter().map(|time| time.seconds()).collect();
    ObservedRun { summary: W::summary(&outcome), messages, ends, added }
}

/// Compares the run with slow processors and the run without.
fn compared(system: &System, slow: &ObservedRun, fast: &ObservedRun) -> NoiseReport {
    let (with_s, without_s) = (slow.summary.makespan_s, fast.summary.makespan_s);
    let cost_s = with_s - without_s;
    let most = (0..).zip(&slow.added).fold(
        (0, 0.0),
        |most: (u32, f64), (rank, &added)| {
            if added > most.1 { (rank, added) } else { most }
        },
    );
    // A difference by rounding is not a delay.
    let felt = (MIN_REACHED_PART * most.1).max(1e-9 * with_s);
    let ranks = slow.ends.len();
    let mut all: Vec<RankDelay> = (0..ranks)
        .map(|rank| {
            let (end_s, without_s) = (slow.ends[rank], fast.ends[rank]);
            let slowed_s = slow.added.get(rank).copied();
            let delay_s = end_s - without_s;
            RankDelay { rank: rank as u32, end_s, without_s, delay_s, slowed_s, ..RankDelay::default() }
        })
        .collect();
    for (late, early) in pairs(&slow.messages, &fast.messages) {
        let [start, end] = [late.start_s - early.start_s, late.end_s - early.end_s].map(|delay| delay > felt);
        // A message of a slow rank may be sent in time and arrive late.
        let is_source = slow.added[late.src as usize] > 0.0;
        let reached =
            [(late.src, late.start_s, start), (late.src, late.end_s, end && is_source), (late.dst, late.end_s, end)];
        for (rank, time, _) in reached.into_iter().filter(|(.., is_late)| *is_late) {
            let first = &mut all[rank as usize].reached_s;
            *first = Some(first.map_or(time, |first| first.min(time)));
        }
    }
    // Sources of the delay. If all ranks are slow, there are no distances.
    let sources: Vec<u32> = (0..).zip(&slow.added).filter(|(_, added)| **added > 0.0).map(|(rank, _)| rank).collect();
    if (1..ranks).contains(&sources.len()) && !slow.messages.is_empty() {
        distances(&mut all, &sources, &slow.messages, system);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let delayed = [MIN_REACHED_PART, 0.1, 0.5, 0.9].map(|part| {
        let more_than_s = (part * most.1).max(1e-9 * with_s);
        Delayed { more_than_s, ranks: all.iter().filter(|rank| rank.delay_s > more_than_s).count() as u32 }
    });
    let slowed = SlowedRanks {
        ranks: sources.len() as u32,
        mean_s: mean(&slow.added),
        most_s: most.1,
        most_rank: most.0,
        // A difference by rounding counts as 0.
        absorbed_s: Some(most.1 - cost_s).filter(|absorbed| *absorbed > 1e-9 * with_s).unwrap_or(0.0),
    };
    NoiseReport {
        without_s,
        cost_s,
        slowdown: if without_s > 0.0 { with_s / without_s } else { 1.0 },
        seeds: None,
        // A closed form adds up no extra times.
        slowed: (cost_s == 0.0 || most.1 > 0.0).then_some(slowed),
        delayed: if most.1 > 0.0 && ranks > 0 { delayed.to_vec() } else { Vec::new() },
        by_distance: by_distance(&all),
        ranks: all,
    }
}

/// Pairs the same messages of both runs: the n-th that one sender sent to one receiver.
fn pairs<'a>(
    slow: &'a [MessageTimes],
    fast: &'a [MessageTimes],
) -> impl Iterator<Item = (&'a MessageTimes, &'a MessageTimes)> {
    let between = |a: &MessageTimes, b: &MessageTimes| (a.src, a.dst) == (b.src, b.dst);
    let mut others = fast.chunk_by(between).peekable();
    slow.chunk_by(between).flat_map(move |these| {
        let key = |chunk: &[MessageTimes]| (chunk[0].src, chunk[0].dst);
        while others.next_if(|other| key(other) < key(these)).is_some() {}
        let same = others.next_if(|other| key(other) == key(these)).unwrap_or(&[]);
        these.iter().zip(same)
    })
}

/// Computes the distance of each rank from the sources, in consecutive messages and in links.
fn distances(all: &mut [RankDelay], sources: &[u32], messages: &[MessageTimes], system: &System) {
    let mut to: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    for chunk in messages.chunk_by(|a, b| (a.src, a.dst) == (b.src, b.dst)) {
        to[chunk[0].src as usize].push(chunk[0].dst);
    }
    let mut nearest: Vec<Option<u32>> = vec![None; all.len()];
    let mut queue: VecDeque<u32> = VecDeque::new();
    for &source in sources {
        (all[source as usize].messages, nearest[source as usize]) = (Some(0), Some(source));
        queue.push_back(source);
    }
    while let Some(rank) = queue.pop_front() {
        let next = all[rank as usize].messages.map(|messages| messages + 1);
        for &dst in &to[rank as usize] {
            if all[dst as usize].messages.is_none() {
                (all[dst as usize].messages, nearest[dst as usize]) = (next, nearest[rank as usize]);
                queue.push_back(dst);
            }
        }
    }
    let Some(network) = system.network() else { return };
    let mut route = Vec::new();
    for (rank, from) in nearest.into_iter().enumerate() {
        let node = |rank: u32| network.placement.as_slice().get(rank as usize).copied();
        let ends: Option<(NodeId, NodeId)> = from.and_then(|from| node(from).zip(node(rank as u32)));
        let Some((from, to)) = ends else { continue };
        route.clear();
        if from != to && network.router.reaches(from, to) {
            network.router.route(from, to, &mut route);
        }
        all[rank].hops = Some(route.len() as u32);
    }
}

/// Groups ranks by their distance in messages.
fn by_distance(all: &[RankDelay]) -> Vec<Reached> {
    let most = all.iter().filter_map(|rank| rank.messages).max();
    let none = Reached { messages: 0, hops: Some(0.0), ranks: 0, reached: 0, first_s: None, delay_s: 0.0 };
    let mut rows: Vec<Reached> =
        (0..most.map_or(0, |most| most + 1)).map(|messages| Reached { messages, ..none }).collect();
    for rank in all {
        let Some(row) = rank.messages.and_then(|messages| rows.get_mut(messages as usize)) else { continue };
        row.ranks += 1;
        row.reached += u32::from(rank.reached_s.is_some());
        row.hops = row.hops.zip(rank.hops).map(|(sum, hops)| sum + f64::from(hops));
        row.first_s =
            rank.reached_s.map_or(row.first_s, |time| Some(row.first_s.map_or(time, |first| first.min(time))));
        row.delay_s += rank.delay_s;
    }
    for row in &mut rows {
        let n = f64::from(row.ranks.max(1));
        (row.hops, row.delay_s) = (row.hops.map(|hops| hops / n), row.delay_s / n);
    }
    rows
}
