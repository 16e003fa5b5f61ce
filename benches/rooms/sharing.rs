//! The sharing policies alone: time of one change, the end of a flow and the start of the next.
//!
//! The changes are those of a run. Every node of a fabric has one message under way, and each turn replaces
//! one of them by the node's next. There is no clock, no queue and no workload.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use hayase::ids::{NodeId, RankId};
use hayase::rng::Stream;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::PatternWork;

/// Number of turns that are prepared. A benchmark repeats them.
const TURNS: usize = 8192;

/// Node whose message is replaced, and the links of the new message.
type Turn = (u32, Vec<u32>);

/// Returns the links of the first message of every node, and the turns after that.
fn turns(scenario: &Scenario<PatternWork>) -> (Vec<Vec<u32>>, Vec<Turn>) {
    let (pattern, network) = (&scenario.work().pattern, scenario.network().expect("a pattern has a network"));
    let ranks = pattern.ranks();
    let mut sent = vec![0u32; ranks as usize];
    let mut next = |rank: u32| {
        let index = sent[rank as usize];
        sent[rank as usize] = (index + 1) % (ranks - 1);
        let dst = pattern.message(RankId(rank), index).dst;
        let (from, to): (NodeId, NodeId) = (network.placement[RankId(rank)], network.placement[dst]);
        let mut route = Vec::new();
        network.router.route(from, to, &mut route);
        route.into_iter().map(|link| link.0).collect::<Vec<u32>>()
    };
    // Nodes are out of step, as after some time of a run.
    let mut random = Stream::new(1, "bench");
    let first = (0..ranks).map(|rank| (0..=random.below(8)).map(|_| next(rank)).last().unwrap_or_default()).collect();
    let turns = (0..TURNS).map(|_| {
        let rank = random.below(u64::from(ranks)) as u32;
        (rank, next(rank))
    });
    (first, turns.collect())
}

pub fn sharing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sharing");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for topology in ["fat-tree-54", "fat-tree-432", "fat-tree-3456", "torus-16x16", "torus-32x32"] {
        let base = Loader::new().topology(topology).pattern("all-to-all-simple-spread").placement("random");
        let (first, turns) = turns(&base.clone().load_pattern().expect("named things load"));
        for policy in ["equal-share", "max-min", "redistribute"] {
            let scenario = base.clone().sharing(policy).load_pattern().expect("named things load");
            let network = scenario.network().expect("a pattern has a network");
            let capacities = network.fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
            let mut sharing = network.sharing.build(capacities);
            for (flow, links) in first.iter().enumerate() {
                sharing.add(flow as u32, links);
            }
            let mut changes = Vec::new();
            sharing.solve(&mut changes);
            let mut turn = turns.iter().cycle();
            group.bench_function(BenchmarkId::new(policy, topology), |bencher| {
                bencher.iter(|| {
                    let Some((flow, links)) = turn.next() else { return };
                    sharing.remove(*flow);
                    sharing.add(*flow, links);
                    changes.clear();
                    sharing.solve(&mut changes);
                    black_box(&changes);
                });
            });
        }
    }
    group.finish();
}
