//! Folded runs against full ones: times of ranks and bytes on links are the same.

use std::sync::Arc;

use proptest::prelude::*;

use super::{LinkMeasures, LinkSeries, LinkTimes, Recorder};
use crate::collective::CollectivesSpec;
use crate::diagnostic::Sources;
use crate::engine::Stop;
use crate::ids::{IdVec, LinkId, RankId};
use crate::network::{Network, NetworkParts};
use crate::node::{Costs, NodeSpec};
use crate::player::{Observers, Play, Played, Player, exchanges_of};
use crate::program::collectives::Expander;
use crate::program::{Collective, CollectiveCall, Communicator, Counts, Envelope, Expand, Op, Program, ProgramBuilder};
use crate::sharing::SharingSpec;
use crate::symmetry::{Classes, Folded, fold};
use crate::topology::TopologySpec;
use crate::transport::Metered;
use crate::units::{Bandwidth, Time};

/// Fabrics of 16 nodes or more.
const FABRICS: &[&str] = &[
    "[torus]\ndims = [4, 4]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"",
    "[torus]\ndims = [16]\nbandwidth = \"1 GB/s\"",
    "[fat-tree]\np = 2\nbandwidth = \"1 GB/s\"\nlatency = \"200 ns\"",
    "[dragonfly]\np = 2\nbandwidth = \"1 GB/s\"\nlatency = \"300 ns\"",
    "[crossbar]\nnodes = 16\nbandwidth = \"1 GB/s\"",
    "[rails]\nservers = 4\ngpus = 4\nsegment = 2\nspines = 2\nbandwidth = \"1 GB/s\"\nlatency = \"500 ns\"\n\
     nvlink-bandwidth = \"7 GB/s\"\nnvlink-latency = \"25 ns\"",
    "[hyperx]\nshape = [4, 4]\nnodes = 1\nbandwidth = \"1 GB/s\"",
];

/// Number of ranks of the random programs.
const RANKS: u32 = 16;

fn network(topology: &str, sharing: &str) -> Network {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    let fabric = spec.build(&mut Sources::default()).unwrap();
    let parts = NetworkParts::new(fabric).unwrap();
    let placement = parts.placement.iter().take(RANKS as usize).copied().collect();
    let sharing: SharingSpec = crate::reading::from_toml(sharing).unwrap();
    NetworkParts { sharing, placement, ..parts }.build().unwrap()
}

/// Step of a random program, the same for all ranks.
#[derive(Clone, Debug)]
enum Step {
    Calc(u32),
    /// Each rank sends to the rank this far ahead.
    Shift(u32, u64),
    /// Ranks exchange with the rank whose number differs in these bits.
    Swap(u32, u64),
    /// Two shifts at once, ahead and back.
    Both(u32, u64),
    /// Blocks of ranks send from each to the next, without the last to the first.
    Pipeline(u32, u64),
    /// All-reduce within blocks of ranks (`false`), or among equal places of blocks.
    Sum(u32, bool, u64),
    /// All-to-all within blocks.
    Alltoall(u32, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![Just(0_u64), Just(1000), Just(20_000), Just(160_000)];
    let block = prop_oneof![Just(2_u32), Just(4), Just(8)];
    let step = prop_oneof![
        (1_u32..50).prop_map(Step::Calc),
        (1..RANKS, bytes.clone()).prop_map(|(by, bytes)| Step::Shift(by, bytes)),
        (1..RANKS, bytes.clone()).prop_map(|(bits, bytes)| Step::Swap(bits, bytes)),
        (1..RANKS / 2, bytes.clone()).prop_map(|(by, bytes)| Step::Both(by, bytes)),
        (block.clone(), bytes.clone()).prop_map(|(block, bytes)| Step::Pipeline(block, bytes)),
        (block.clone(), any::<bool>(), bytes.clone())
            .prop_map(|(block, across, bytes)| Step::Sum(block, across, bytes)),
        (block, bytes).prop_map(|(block, bytes)| Step::Alltoall(block, bytes / 16)),
    ];
    prop::collection::vec(step, 1..7)
}

/// Returns the program of these steps; `odd` is a rank that computes longer at the start.
fn program(steps: &[Step], odd: Option<u32>) -> Program {
    let mut program = ProgramBuilder::new(RANKS);
    if steps.len().is_multiple_of(2) {
        program.prefer_rings();
    }
    let mut groups = Vec::new();
    for step in steps {
        let mut calls = vec![0; RANKS as usize];
        if let &(Step::Sum(block, ..) | Step::Alltoall(block, _)) = step {
            let across = matches!(step, Step::Sum(_, true, _));
            for group in 0..if across { block } else { RANKS / block } {
                let ranks: Vec<u32> = match across {
                    true => (group..RANKS).step_by(block as usize).collect(),
                    false => (group * block..(group + 1) * block).collect(),
                };
                let comm = program.communicator(ranks.clone());
                let (call, bytes) = match *step {
                    Step::Sum(_, _, bytes) => (CollectiveCall::Allreduce, bytes),
                    Step::Alltoall(_, bytes) => (CollectiveCall::Alltoall, bytes),
                    _ => continue,
                };
                let call = Collective { call, comm, root: 0, counts: Counts::Same(bytes), plan: None };
                let call = program.collective(call);
                ranks.iter().for_each(|&rank| calls[rank as usize] = call);
            }
        }
        groups.push(calls);
    }
    for me in 0..RANKS {
        let mut rank = program.sequence(me);
        rank.push(Op::calc(Time::from_ps(if odd == Some(me) { 7e6 } else { 1e6 })));
        for (tag, step) in (0..).zip(steps) {
            let at = |peer: u32| Envelope::world(peer % RANKS, tag);
            match *step {
                Step::Calc(us) => {
                    rank.push(Op::calc(Time::from_ps(f64::from(us) * 1e6)));
                }
                Step::Shift(by, bytes) => {
                    rank.sendrecv(at(me + by), bytes, at(me + RANKS - by), bytes);
                }
                Step::Swap(bits, bytes) => {
                    rank.sendrecv(at(me ^ bits), bytes, at(me ^ bits), bytes);
                }
                Step::Both(by, bytes) => {
                    let there = rank.push(Op::irecv(at(me + RANKS - by), bytes));
                    let back = rank.push(Op::irecv(at(me + by), bytes));
                    let ahead = rank.push(Op::isend(at(me + by), bytes));
                    let behind = rank.push(Op::isend(at(me + RANKS - by), bytes));
                    for request in [ahead, there, behind, back] {
                        rank.push(Op::wait(request));
                    }
                }
                Step::Pipeline(block, bytes) => {
                    if me % block > 0 {
                        rank.push(Op::recv(at(me - 1), bytes));
                    }
                    if me % block < block - 1 {
                        rank.push(Op::send(at(me + 1), bytes));
                    }
                }
                Step::Sum(..) | Step::Alltoall(..) => {
                    rank.push(Op::collective(groups[tag as usize][me as usize]));
                }
            }
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

fn costs(overheads: bool) -> Costs {
    let loggps = "[loggps]\nL = \"1 us\"\no = \"2 us\"\nOss = \"0.1 ns/B\"\nOrs = \"0.2 ns/B\"\nGs = \"1 ns/B\"\n\
                  S = \"16 KiB\"";
    let spec: NodeSpec = crate::reading::from_toml(if overheads { loggps } else { "[ideal]" }).unwrap();
    spec.costs().unwrap()
}

/// Measurements of links.
struct Links {
    bytes: IdVec<LinkId, u64>,
    times: LinkTimes,
    series: LinkSeries,
    /// Time lost on all links \[s\].
    lost: f64,
}

/// Plays a program on a network; returns times of ranks and measurements of links.
fn play(network: &Network, program: &Program, costs: &Costs, folded: Option<&Arc<Folded>>) -> (Played, Links) {
    let expander = Expander::new(CollectivesSpec::default()).of(program);
    let only = folded.map(|folded| program.only(|rank| folded.is_played(rank)));
    let program = only.as_ref().unwrap_or(program);
    let play = Play { program, costs: costs.clone(), expand: Some(&expander), cpu_speed: 1.0, on_fabric: true };
    let mut player = Player::new(play, Observers::default());
    let quotient = folded.map(|folded| network.folded(folded));
    if let Some(folded) = folded {
        player = player.folded(folded);
    }
    let network = quotient.as_ref().unwrap_or(network);
    let measures = LinkMeasures { times: true, series: true };
    let mut recorder = Recorder::new(&network.fabric, &network.placement, None, measures);
    let times = folded.map(|folded| folded.all_times());
    let metered = times.as_deref().map_or(Metered::Links, Metered::Classes);
    let outcome = network.record(&mut player, metered, &mut recorder, None);
    assert_eq!(outcome.stop, Stop::Done);
    let links = Links {
        bytes: recorder.take_bytes(&network.fabric),
        times: recorder.times.take().unwrap(),
        series: recorder.series.take().unwrap(),
        lost: outcome.facts.delays.map_or(0.0, |delays| delays.iter().sum()),
    };
    let links = match folded {
        Some(folded) => Links {
            bytes: folded.expand_links(&links.bytes),
            times: links.times.expanded(folded),
            series: links.series.expanded(folded),
            ..links
        },
        None => links,
    };
    (player.ended(false), links)
}

/// An expander that follows every rank through cyclic collectives, too.
struct RankByRank(Expander);

impl Expand for RankByRank {
    fn steps(&self, collective: &Collective, group: &Communicator, me: u32, steps: &mut Vec<Op>) {
        self.0.steps(collective, group, me, steps);
    }
}

/// Folds a program on a network, however little that saves.
fn folded(network: &Network, program: &Program, costs: &Costs) -> Arc<Folded> {
    assert!(network.can_fold());
    let expander = || Expander::new(CollectivesSpec::default()).of(program);
    let NetworkParts { fabric, router, placement, .. } = &**network;
    let [exchanges, each] = [&expander() as &dyn Expand, &RankByRank(expander())].map(|expand| {
        let exchanges = exchanges_of(program, Some(expand)).unwrap();
        exchanges.with_routes(fabric, &**router, placement, costs.control_travels).unwrap()
    });
    let classes = Classes::coarsest(&exchanges, RANKS).unwrap();
    assert!(classes.is_equitable(&exchanges));
    assert_eq!(classes, Classes::coarsest(&each, RANKS).unwrap());
    Arc::new(fold(&exchanges, RANKS).unwrap())
}

/// Compares the folded run with the full one; returns the number of classes.
fn compare(network: &Network, program: &Program, costs: &Costs) -> u32 {
    let folded = folded(network, program, costs);
    let (full, full_links) = play(network, program, costs, None);
    let (short, short_links) = play(network, program, costs, Some(&folded));
    for (rank, (a, b)) in full.ranks.iter().zip(&short.ranks).enumerate() {
        assert!((a.end - b.end).ps().abs() < 1.0, "rank {rank}: {} ps, folded {} ps", a.end.ps(), b.end.ps());
    }
    assert_eq!(full_links.bytes, short_links.bytes);
    for link in full_links.bytes.ids() {
        let [a, b] = [&full_links, &short_links].map(|links| links.times.of(link, full.last));
        assert!(
            (a.busy - b.busy).ps().abs() < 10.0,
            "{link:?} is busy for {} ps, folded {} ps",
            a.busy.ps(),
            b.busy.ps()
        );
        assert!((a.flow_time - b.flow_time).abs() < 1e-9 * a.flow_time + 10.0, "{} and {}", a.flow_time, b.flow_time);
        let [a, b] = [&full_links, &short_links].map(|links| links.series.of(link, full.last).to_vec());
        assert!(
            a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-3 * a.max(1.0)),
            "{link:?} carries {a:?}, folded {b:?}"
        );
    }
    // Messages that are held back equally by several links may count on different ones.
    let (a, b) = (full_links.lost, short_links.lost);
    assert!((a - b).abs() <= 1e-6 * a.max(b) + 1e-12, "messages lose {a} s, folded {b} s");
    assert_eq!((full.messages, full.bytes), (short.messages, short.bytes));
    assert_eq!(full.stuck, []);
    folded.classes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_folded_run_has_the_times_and_loads_of_the_full_one(
        fabric in 0..FABRICS.len(),
        steps in steps(),
        odd in prop::option::weighted(0.2, 0..RANKS),
        equal_share in any::<bool>(),
        overheads in any::<bool>(),
    ) {
        let network = network(FABRICS[fabric], if equal_share { "[equal-share]" } else { "[max-min]" });
        compare(&network, &program(&steps, odd), &costs(overheads));
    }
}

#[test]
fn ranks_of_a_ring_on_a_torus_are_one_class() {
    let network = network(FABRICS[1], "[max-min]");
    let steps = [Step::Shift(1, 20_000), Step::Both(3, 160_000), Step::Sum(2, true, 1000)];
    assert_eq!(compare(&network, &program(&steps[..2], None), &costs(true)), 1);
    // Partners of recursive doubling differ by where they are.
    assert!((2..=RANKS).contains(&compare(&network, &program(&steps, None), &costs(false))));
    // A rank that computes longer is alone, and others differ by their distance from it.
    assert_eq!(compare(&network, &program(&steps[..1], Some(5)), &costs(false)), RANKS);
}

#[test]
fn a_slow_link_splits_the_classes_of_those_that_meet_it() {
    let base = network(FABRICS[1], "[max-min]");
    let half = Bandwidth::from_bytes_per_second(0.5e9);
    let fabric = base.fabric.altered(&[], &[(LinkId(40), half)]);
    let parts = NetworkParts { fabric: Arc::new(fabric), ..base.parts() };
    let slowed = parts.build().unwrap();
    let program = program(&[Step::Both(1, 160_000), Step::Shift(2, 20_000)], None);
    assert_eq!(compare(&base, &program, &costs(false)), 1);
    assert!(compare(&slowed, &program, &costs(false)) > 1);
}

#[test]
fn ranks_keep_their_ends_in_a_class_of_one() {
    let network = network(FABRICS[5], "[max-min]");
    let program = program(&[Step::Pipeline(8, 20_000)], None);
    let folded = folded(&network, &program, &costs(true));
    assert!(folded.classes() < RANKS);
    assert!((0..RANKS).all(|rank| folded.is_played(folded.representative(RankId(rank)))));
}
