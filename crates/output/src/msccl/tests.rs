//! Tests of exported plans: MSCCL algorithms are executed by an interpreter, schedules are matched.

use std::collections::BTreeMap;

use super::interpreter::{Algorithm, execute, read};
use super::write as msccl;
use crate::goal::write as goal;
use hayase::study::schedule::{Plan, PlanMessage, PlanOperation, check};

fn message(src: u32, dst: u32, data: (u32, u32), after: Vec<u32>) -> PlanMessage {
    let bytes = u64::from(data.1) * 1000;
    PlanMessage { src, dst, bytes, slot: None, path: Vec::new(), weight: 1.0, after, data, reduces: false }
}

fn plan(operation: PlanOperation, ranks: u32, root: u32, units: u32, messages: Vec<PlanMessage>) -> Plan {
    Plan { operation, ranks, root, units, messages }
}

/// Messages, with the arrivals of each unit at each rank that count.
#[derive(Default)]
struct Builder {
    messages: Vec<PlanMessage>,
    arrived: BTreeMap<(u32, u32), Vec<u32>>,
    sent: BTreeMap<(u32, u32, u32), u32>,
}

impl Builder {
    /// Adds a message of one unit, which waits for its data and for the message before of the same tree and pair.
    fn add(&mut self, src: u32, dst: u32, unit: u32, tree: u32, reduces: bool) {
        let mut after = self.arrived.get(&(src, unit)).cloned().unwrap_or_default();
        let i = self.messages.len() as u32;
        after.extend(self.sent.insert((src, dst, tree), i));
        let arrived = self.arrived.entry((dst, unit)).or_default();
        if !reduces {
            arrived.clear();
        }
        arrived.push(i);
        self.messages.push(PlanMessage { reduces, ..message(src, dst, (unit, 1), after) });
    }

    /// Adds binomial trees of all roots, a chunk after the other, or the same trees from the leaves to the roots.
    fn trees(&mut self, ranks: u32, roots: &[u32], chunks: u32, is_reversed: bool) {
        let mut edges = Vec::new();
        for &root in roots {
            for child in 1..ranks {
                let parent = child & (child - 1);
                let depth = child.count_ones() - 1;
                let (x, y) = ((root + parent) % ranks, (root + child) % ranks);
                for chunk in 0..chunks {
                    let time = if is_reversed { ranks - depth + chunk } else { depth + chunk };
                    let (x, y) = if is_reversed { (y, x) } else { (x, y) };
                    let first = if roots.len() == 1 { 0 } else { root * chunks };
                    edges.push((time, root, x, y, first + chunk));
                }
            }
        }
        edges.sort_unstable();
        for (_, root, x, y, unit) in edges {
            self.add(x, y, unit, root, is_reversed);
        }
    }
}

fn of_trees(operation: PlanOperation, ranks: u32, chunks: u32) -> Plan {
    let roots: Vec<u32> = (0..ranks).collect();
    let mut builder = Builder::default();
    if operation != PlanOperation::AllGather {
        builder.trees(ranks, &roots, chunks, true);
    }
    if operation != PlanOperation::ReduceScatter {
        builder.trees(ranks, &roots, chunks, false);
    }
    plan(operation, ranks, 0, ranks * chunks, builder.messages)
}

fn ring(ranks: u32) -> Plan {
    let mut builder = Builder::default();
    for round in 0..ranks - 1 {
        for rank in 0..ranks {
            builder.add(rank, (rank + 1) % ranks, (rank + ranks - round) % ranks, 0, false);
        }
    }
    plan(PlanOperation::AllGather, ranks, 0, ranks, builder.messages)
}

/// All-to-all in rounds, `block` units from each rank to each.
fn rounds(ranks: u32, block: u32) -> Plan {
    let mut messages = Vec::new();
    for round in 1..ranks {
        for rank in 0..ranks {
            let to = (rank + round) % ranks;
            let sent = message(rank, to, ((rank * ranks + to) * block, block), Vec::new());
            messages.push(PlanMessage { slot: Some(round - 1), ..sent });
        }
    }
    plan(PlanOperation::AllToAll, ranks, 0, ranks * ranks * block, messages)
}

/// Blocks from or to a root, on a binary tree.
fn blocks(operation: PlanOperation, ranks: u32, root: u32, block: u32) -> Plan {
    let mut builder = Builder::default();
    for owner in (0..ranks).filter(|&owner| owner != root) {
        let mut hops = Vec::new();
        let mut at = (owner + ranks - root) % ranks;
        while at > 0 {
            let up = (at - 1) / 2;
            hops.push(((up + root) % ranks, (at + root) % ranks));
            at = up;
        }
        if operation == PlanOperation::Scatter {
            hops.reverse();
        }
        for (upper, lower) in hops {
            let (src, dst) = if operation == PlanOperation::Scatter { (upper, lower) } else { (lower, upper) };
            for part in 0..block {
                builder.add(src, dst, owner * block + part, owner, false);
            }
        }
    }
    plan(operation, ranks, root, ranks * block, builder.messages)
}

fn broadcast(ranks: u32, root: u32, chunks: u32) -> Plan {
    let mut builder = Builder::default();
    builder.trees(ranks, &[root], chunks, false);
    plan(PlanOperation::Broadcast, ranks, root, chunks, builder.messages)
}

/// All-to-all of ranks on a line, which pass on what is not for them.
fn line(ranks: u32) -> Plan {
    let mut builder = Builder::default();
    for (s, d) in (0..ranks).flat_map(|s| (0..ranks).map(move |d| (s, d))) {
        let mut at = s;
        while at != d {
            let next = if d > at { at + 1 } else { at - 1 };
            builder.add(at, next, s * ranks + d, s * ranks + d, false);
            at = next;
        }
    }
    plan(PlanOperation::AllToAll, ranks, 0, ranks * ranks, builder.messages)
}

fn all_plans() -> Vec<Plan> {
    use PlanOperation as Op;
    vec![
        ring(4),
        of_trees(Op::AllGather, 8, 3),
        of_trees(Op::ReduceScatter, 8, 3),
        of_trees(Op::AllReduce, 8, 2),
        of_trees(Op::AllReduce, 3, 5),
        rounds(5, 1),
        rounds(3, 100),
        line(5),
        broadcast(7, 2, 4),
        blocks(Op::Scatter, 6, 1, 2),
        blocks(Op::Gather, 6, 5, 2),
    ]
}

fn xml(plan: &Plan) -> String {
    let mut text = Vec::new();
    msccl(plan, "a plan", &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn run(algorithm: &Algorithm, plan: &Plan) -> Result<(), String> {
    (0..40).try_for_each(|seed| execute(algorithm, plan, 1 + seed as usize % 3, seed))
}

#[test]
fn algorithms_leave_every_rank_with_all_data() {
    for plan in all_plans() {
        check(&plan).unwrap();
        let algorithm = read(&xml(&plan));
        assert_eq!(algorithm.head["name"], "a_plan");
        run(&algorithm, &plan).unwrap_or_else(|error| panic!("{:?}: {error}", plan.operation));
    }
}

#[test]
fn a_ring_passes_on_the_block_that_it_has_received() {
    let algorithm = read(&xml(&ring(4)));
    assert_eq!(algorithm.head["nchunksperloop"], "4");
    assert_eq!(algorithm.head["nchannels"], "1");
    for (g, (blocks, sizes)) in (0..).zip(&algorithm.gpus) {
        let before = |k: i64| (g - k).rem_euclid(4);
        assert_eq!(*sizes, [1, 4, 0]);
        assert_eq!((blocks[0].recv, blocks[0].offsets("r")), (before(1), vec![before(1), before(2), before(3)]));
        assert_eq!((blocks[1].send, blocks[1].offsets("s")), (before(3), vec![before(0), before(1), before(2)]));
        assert_eq!(blocks.len(), 2);
    }
}

#[test]
fn consecutive_chunks_go_in_one_step() {
    let algorithm = read(&xml(&rounds(3, 100)));
    let steps = &algorithm.gpus[0].0[0].steps;
    assert_eq!(steps.iter().map(|step| step.count).collect::<Vec<_>>(), [71, 29]);
}

#[test]
fn long_pairs_use_several_channels() {
    let plan = broadcast(4, 0, 1000);
    let algorithm = read(&xml(&plan));
    assert_eq!(algorithm.head["nchannels"], "4");
    execute(&algorithm, &plan, 2, 7).unwrap();
}

#[test]
fn many_peers_use_several_channels() {
    let plan = rounds(40, 1);
    let algorithm = read(&xml(&plan));
    assert_eq!(algorithm.head["nchannels"], "2");
    execute(&algorithm, &plan, 1, 3).unwrap();
}

#[test]
fn limits_of_the_runtimes_are_errors() {
    let error = |plan: Plan| msccl(&plan, "x", &mut Vec::new()).unwrap_err().to_string();
    let wide = "131 thread blocks on a GPU, and MSCCL has at most 128; use fewer chunks, trees or ranks";
    assert_eq!(error(rounds(66, 1)), wide);
    assert!(error(broadcast(2, 0, 9000)).starts_with("33 channels"));
    assert!(error(rounds(3, 20_000)).starts_with("60000 chunks"));
    assert!(error(of_trees(PlanOperation::AllGather, 32, 80)).contains("thread blocks and steps"));
}

#[test]
fn a_step_that_does_not_wait_is_found() {
    let mut direct = Builder::default();
    (0..12).for_each(|i| direct.add(i / 3, (i / 3 + i % 3 + 1) % 4, (i / 3 + i % 3 + 1) % 4, i, true));
    let direct = plan(PlanOperation::ReduceScatter, 4, 0, 4, direct.messages);
    for (plan, waits) in [(ring(4), 8), (direct, 8)] {
        let mut algorithm = read(&xml(&plan));
        run(&algorithm, &plan).unwrap();
        let mut dropped = 0;
        for (gpu, block, step) in places(&algorithm) {
            let wait = std::mem::replace(&mut algorithm.gpus[gpu].0[block].steps[step].wait, (-1, -1));
            if wait.0 >= 0 {
                assert!(run(&algorithm, &plan).is_err());
                dropped += 1;
            }
            algorithm.gpus[gpu].0[block].steps[step].wait = wait;
        }
        assert_eq!(dropped, waits);
    }
    for operation in [PlanOperation::AllGather, PlanOperation::ReduceScatter, PlanOperation::AllReduce] {
        let plan = of_trees(operation, 4, 2);
        let mut algorithm = read(&xml(&plan));
        for (gpu, block, step) in places(&algorithm) {
            algorithm.gpus[gpu].0[block].steps[step].wait = (-1, -1);
        }
        assert!(run(&algorithm, &plan).is_err());
    }
}

#[test]
fn a_circle_of_waits_is_a_deadlock() {
    let plan = ring(4);
    let mut algorithm = read(&xml(&plan));
    for (blocks, _) in &mut algorithm.gpus {
        blocks[1].steps[0].wait = (0, 1);
    }
    assert_eq!(run(&algorithm, &plan), Err("deadlock".into()));
}

/// Returns GPU, block and number of all steps.
fn places(algorithm: &Algorithm) -> Vec<(usize, usize, usize)> {
    let mut places = Vec::new();
    for (gpu, (blocks, _)) in algorithm.gpus.iter().enumerate() {
        for (b, block) in blocks.iter().enumerate() {
            places.extend((0..block.steps.len()).map(|step| (gpu, b, step)));
        }
    }
    places
}

#[test]
fn wrong_plans_are_found() {
    // The data is not there yet.
    let mut early = ring(4);
    early.messages[0].data.0 = 3;
    assert!(
        check(&early).unwrap_err().contains("message 5 from rank 1 to 2 carries data that its sender does not have")
    );
    assert!(run(&read(&xml(&early)), &early).is_err());
    // Nothing is waited for.
    let mut free = ring(4);
    free.messages[6].after.clear();
    assert!(check(&free).unwrap_err().contains("message 6 from rank 2 to 3 does not wait"));
    // A message is missing.
    let mut short = of_trees(PlanOperation::AllReduce, 8, 1);
    short.messages.pop();
    assert!(check(&short).unwrap_err().contains("ends without all of unit"));
    assert!(run(&read(&xml(&short)), &short).is_err());
    // A contribution is added twice, or replaced.
    let mut sum = of_trees(PlanOperation::ReduceScatter, 4, 1);
    assert_eq!(check(&sum), Ok(()));
    let again = sum.messages.last().unwrap().clone();
    sum.messages.push(again);
    assert!(check(&sum).is_err());
    assert!(run(&read(&xml(&sum)), &sum).is_err());
    sum.messages.pop();
    sum.messages[0].reduces = false;
    assert!(check(&sum).unwrap_err().contains("replaces"));
    // Numbers out of range.
    let mut wide = ring(4);
    wide.messages[0].data.1 = 5;
    assert!(check(&wide).is_err());
    assert!(check(&Plan { units: 7, ..ring(4) }).is_err());
    assert!(check(&Plan { root: 4, ..ring(4) }).is_err());
    let mut later = ring(4);
    later.messages[0].after.push(3);
    assert!(check(&later).is_err());
}

#[test]
fn an_exchange_of_partial_sums_needs_two_phases() {
    // Recursive doubling: both send what they had before, which two buffers can and one cannot.
    let both = |src| PlanMessage { reduces: true, ..message(src, 1 - src, (0, 1), Vec::new()) };
    let plan = plan(PlanOperation::AllReduce, 2, 0, 1, vec![both(0), both(1)]);
    assert!(check(&plan).unwrap_err().contains("does not wait"));
}

#[test]
fn a_wait_through_other_messages_counts() {
    let second = message(1, 0, (1, 1), vec![0]);
    let third = message(1, 2, (0, 1), vec![1]);
    let fourth = message(1, 2, (1, 1), Vec::new());
    let fifth = message(2, 0, (2, 1), Vec::new());
    let sixth = message(0, 1, (2, 1), vec![4]);
    let messages = vec![message(0, 1, (0, 1), Vec::new()), second, third, fourth, fifth, sixth];
    let plan = plan(PlanOperation::AllGather, 3, 0, 3, messages);
    assert_eq!(check(&plan), Ok(()));
}

/// Checks a schedule: each send has its receive, and requirements are known and have no cycle.
fn check_goal(plan: &Plan) -> String {
    let mut text = Vec::new();
    goal(plan, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("num_ranks {}", plan.ranks).as_str()));
    let mut ends: [BTreeMap<(u32, u32, String, String), u32>; 2] = Default::default();
    let mut rank = 0;
    let mut labels: Vec<String> = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["rank", number, "{"] => assert_eq!(number, rank.to_string()),
            ["}"] => {
                rank += 1;
                labels.clear();
            }
            [label, side, bytes, word, peer, "tag", tag] => {
                let label = label.strip_suffix(':').unwrap();
                assert!(!labels.iter().any(|known| known == label));
                labels.push(label.to_owned());
                bytes.strip_suffix('b').unwrap().parse::<u64>().unwrap();
                let peer = peer.parse().unwrap();
                assert_eq!(word, if side == "send" { "to" } else { "from" });
                let pair = if side == "send" { (rank, peer) } else { (peer, rank) };
                *ends[usize::from(side == "recv")].entry((pair.0, pair.1, bytes.into(), tag.into())).or_default() += 1;
            }
            // Both are known and the awaited one is earlier: no cycle within a rank.
            [label, "requires", other] => {
                let at = |label: &str| labels.iter().position(|known| known == label).unwrap();
                assert!(at(other) < at(label));
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(rank, plan.ranks);
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0].values().all(|&count| count == 1));
    assert_eq!(ends[0].len(), plan.messages.len());
    text
}

#[test]
fn schedules_match_each_send_with_one_receive() {
    all_plans().iter().for_each(|plan| assert!(!check_goal(plan).is_empty()));
    let text = check_goal(&plan(
        PlanOperation::Broadcast,
        3,
        0,
        1,
        vec![message(0, 1, (0, 1), Vec::new()), message(1, 2, (0, 1), vec![0])],
    ));
    let expected = "num_ranks 3\nrank 0 {\nl0: send 1000b to 1 tag 0\n}\nrank 1 {\nl0: recv 1000b from 0 tag 0\n\
                    l1: send 1000b to 2 tag 1\nl1 requires l0\n}\nrank 2 {\nl1: recv 1000b from 1 tag 1\n}\n";
    assert_eq!(text, expected);
}

#[test]
fn a_send_follows_the_sends_of_the_slot_before() {
    let slots = [0, 0, 2, 2];
    let sent = |slot| PlanMessage { slot: Some(slot), bytes: 0, ..message(0, 1, (0, 1), Vec::new()) };
    let text = check_goal(&plan(PlanOperation::Broadcast, 2, 0, 1, slots.map(sent).to_vec()));
    let requirements: Vec<&str> = text.lines().filter(|line| line.contains("requires")).collect();
    assert_eq!(requirements, ["l2 requires l0", "l2 requires l1", "l3 requires l0", "l3 requires l1"]);
    assert!(text.contains("l0: send 0b to 1 tag 0"));
}
