//! A201: ranks on other nodes, so that messages take shorter paths and share fewer links.

use std::collections::BTreeSet;

use hayase::base::Arrange;
use hayase_advice::model::{Change, Finding, RuleId, ScenarioChange};
use rayon::prelude::*;

use super::Base;
use crate::Judge;
use hayase::diagnostic::Sources;
use hayase::fabric::Fabric;
use hayase::ids::{Id, IdVec, LinkId, NodeId};
use hayase::network::NetworkParts;
use hayase::placement::{BlockSpec, PlacementSpec, RoundRobinSpec};
use hayase::routing::{Path, Router};
use hayase::units::Bytes;

/// Largest number of routes that a search looks up.
const MOST_ROUTES: u64 = 400_000;

/// Largest number of links that the text names.
const LINKS: usize = 5;

/// Searches for a better placement.
pub(super) fn find(base: &Base, judge: &Judge<'_>) -> Vec<Finding> {
    let Some(NetworkParts { fabric, router, placement, .. }) = judge.replay.network().map(|network| &**network) else {
        return Vec::new();
    };
    let pairs: Vec<(u32, u32, f64)> = base
        .seen
        .matrix
        .iter()
        .filter(|&(&(from, to), &bytes)| from != to && bytes > 0)
        .map(|(&(from, to), &bytes)| (from, to, bytes as f64))
        .collect();
    let ranks = placement.len() as u32;
    if pairs.is_empty() || ranks < 2 {
        return Vec::new();
    }
    let until = judge.until(base, 1.0);
    let now: Vec<u32> = placement.iter().map(|node| node.0).collect();
    let mut starts = vec![now.clone()];
    for spec in [PlacementSpec::Block(BlockSpec::default()), PlacementSpec::RoundRobin(RoundRobinSpec::default())] {
        if let Ok(built) = spec.build((ranks, 1), fabric, 0, &mut Sources::default()) {
            starts.push(built.iter().map(|node| node.0).collect());
        }
    }
    let searched: Vec<Vec<u32>> = starts
        .par_iter()
        .map(|start| {
            let mut search = Search::new(fabric, &**router, &pairs, start.clone());
            search.improve(MOST_ROUTES);
            search.nodes
        })
        .collect();
    let candidates: BTreeSet<Vec<u32>> =
        starts.into_iter().skip(1).chain(searched).filter(|nodes| *nodes != now).collect();
    let candidates: Vec<Vec<u32>> = candidates.into_iter().collect();
    let times: Vec<Option<f64>> = candidates
        .par_iter()
        .map(|nodes| judge.makespan(&judge.replay.with_nodes(nodes)?, base.simulated.unreceived, until))
        .collect();
    let best = candidates
        .into_iter()
        .zip(times)
        .filter_map(|(nodes, time)| Some((time?, nodes)))
        .min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let Some((time, nodes)) = best.filter(|(time, _)| *time <= base.simulated.makespan_s * 0.999) else {
        return Vec::new();
    };
    let before = Search::new(fabric, &**router, &pairs, now.clone());
    let after = Search::new(fabric, &**router, &pairs, nodes.clone());
    let moved: Vec<u32> = (0..ranks).filter(|&rank| now[rank as usize] != nodes[rank as usize]).collect();
    let unit = super::unit(base, 0);
    let mut text = vec![
        format!(
            "the program takes {} as it is placed, {} as proposed",
            unit.write(base.simulated.makespan_s * 1e9),
            unit.write(time * 1e9)
        ),
        format!("links a byte crosses: {:.2} now, {:.2} then", before.mean_path_length(), after.mean_path_length()),
        "busiest links now: ".to_owned() + &before.busiest(fabric).join(", "),
        "busiest links then: ".to_owned() + &after.busiest(fabric).join(", "),
    ];
    if ranks <= 64 {
        let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
        text.push(format!("nodes of ranks 0 to {}: {}", ranks - 1, nodes.join(" ")));
    }
    vec![Finding {
        title: format!("place {} of {ranks} ranks on other nodes: less is sent over the same links", moved.len()),
        text,
        occurrences: moved.len() as u64,
        executions: moved.len() as u64,
        ranks: moved.into_iter().collect(),
        caveats: vec!["found by exchanging ranks two by two; a better placement may exist".into()],
        unit,
        change: Change::Scenario(ScenarioChange::Placement { nodes }),
        ..super::empty(RuleId::A201)
    }]
}

/// Number of links of a path that cost as much as the look-up of a route.
const LINKS_OF_A_ROUTE: u64 = 64;

/// Search for a placement that minimises `sum over links of (bytes over it)^2`.
struct Search<'a> {
    router: &'a dyn Router,
    pairs: &'a [(u32, u32, f64)],
    /// Pairs of each rank.
    of: Vec<Vec<u32>>,
    nodes: Vec<u32>,
    load: IdVec<LinkId, f64>,
    /// Path of the present pair, with the share of each link if the pair uses several paths.
    path: Path,
    routes: u64,
    all_nodes: u32,
}

impl<'a> Search<'a> {
    fn new(fabric: &Fabric, router: &'a dyn Router, pairs: &'a [(u32, u32, f64)], nodes: Vec<u32>) -> Self {
        let mut of = vec![Vec::new(); nodes.len()];
        for (number, &(from, to, _)) in (0..).zip(pairs) {
            of[from as usize].push(number);
            of[to as usize].push(number);
        }
        let load = vec![0.0; fabric.links().len()].into();
        let mut search =
            Self { router, pairs, of, nodes, load, path: Path::default(), routes: 0, all_nodes: fabric.nodes() };
        for pair in 0..pairs.len() as u32 {
            search.add_load(pair, 1.0);
        }
        search
    }

    /// Adds a pair's bytes times `sign` to its links, and returns the change of the sum of squares.
    fn add_load(&mut self, pair: u32, sign: f64) -> f64 {
        let (from, to, bytes) = self.pairs[pair as usize];
        let (from, to) = (NodeId(self.nodes[from as usize]), NodeId(self.nodes[to as usize]));
        self.path.clear();
        if from != to && self.router.reaches(from, to) {
            // For messages that are split or drawn anew each time, the expected share of each link.
            let expected = self.router.choice().is_some_and(|choice| choice.expected(from, to, &mut self.path));
            if !expected {
                self.path.clear();
                self.router.route(from, to, &mut self.path.links);
            }
        }
        self.routes += 1 + self.path.links.len() as u64 / LINKS_OF_A_ROUTE;
        let parts = self.path.parts.iter().copied().chain(std::iter::repeat(1.0));
        let mut change = 0.0;
        for (&link, part) in self.path.links.iter().zip(parts) {
            let load = &mut self.load[link];
            let before = *load;
            *load += sign * bytes * part;
            change += *load * *load - before * before;
        }
        change
    }

    /// Exchanges two ranks, or moves one to a free node, while that helps and at most `most` routes have been
    /// looked up.
    fn improve(&mut self, most: u64) {
        loop {
            let mut better = false;
            for a in 0..self.nodes.len() {
                for node in 0..self.all_nodes {
                    if node == self.nodes[a] {
                        continue;
                    }
                    let b = self.nodes.iter().position(|&other| other == node);
                    // Tries each exchange once.
                    if b.is_some_and(|b| b < a) {
                        continue;
                    }
                    if self.routes > most {
                        return;
                    }
                    better |= self.try_exchange(a, b, node);
                }
            }
            if !better {
                return;
            }
        }
    }

    fn try_exchange(&mut self, a: usize, b: Option<usize>, node: u32) -> bool {
        let mut pairs: Vec<u32> =
            self.of[a].iter().chain(b.map(|b| &self.of[b]).into_iter().flatten()).copied().collect();
        pairs.sort_unstable();
        pairs.dedup();
        let home = self.nodes[a];
        let mut change: f64 = pairs.iter().map(|&pair| self.add_load(pair, -1.0)).sum();
        self.go(a, b, node, home);
        change += pairs.iter().map(|&pair| self.add_load(pair, 1.0)).sum::<f64>();
        // Rounding errors are no progress.
        if change < -1e-9 * self.load.iter().map(|load| load * load).sum::<f64>() {
            return true;
        }
        for &pair in &pairs {
            self.add_load(pair, -1.0);
        }
        self.go(a, b, home, node);
        for &pair in &pairs {
            self.add_load(pair, 1.0);
        }
        false
    }

    fn go(&mut self, a: usize, b: Option<usize>, node: u32, other: u32) {
        self.nodes[a] = node;
        if let Some(b) = b {
            self.nodes[b] = other;
        }
    }

    /// Returns the mean number of links that a byte crosses.
    fn mean_path_length(&self) -> f64 {
        let bytes: f64 = self.pairs.iter().map(|pair| pair.2).sum();
        self.load.iter().sum::<f64>() / bytes
    }

    /// Returns the links with the most bytes, most first.
    fn busiest(&self, fabric: &Fabric) -> Vec<String> {
        let mut links: Vec<(f64, LinkId)> = self.load.iter_ids().map(|(link, &load)| (load, link)).collect();
        links.arrange_by(|a, b| b.0.total_cmp(&a.0).then(a.1.index().cmp(&b.1.index())));
        let name = |(load, link): (f64, LinkId)| format!("{} {}", fabric.link_name(link), Bytes(load as u64));
        links.into_iter().take(LINKS).filter(|link| link.0 > 0.0).map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::simulation::ProgramWork;

    #[test]
    fn ranks_that_talk_come_to_one_switch() {
        // Two switches with two nodes each; 0 talks to 2, and 1 to 3.
        let loader = hayase::scenario::Loader::new().text(
            "tree.toml",
            "[topology.fat-tree]\ndown = [2, 2]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n",
        );
        let mut program = hayase::program::ProgramBuilder::new(4);
        for rank in 0..4 {
            let ops = program.sequence(rank);
            program.finish_rank(ops);
        }
        let program = std::sync::Arc::new(program.build().unwrap());
        let replay = loader.load_program(ProgramWork::new(program, "none")).unwrap();
        let NetworkParts { fabric, router, .. } = &**replay.network().unwrap();
        let pairs = [(0, 2, 100.0), (1, 3, 100.0)];
        let mut search = Search::new(fabric, &**router, &pairs, vec![0, 1, 2, 3]);
        assert_eq!(search.mean_path_length(), 4.0);
        search.improve(1000);
        assert_eq!(search.mean_path_length(), 2.0);
        let leaf = |rank: usize| fabric.leaf_of(NodeId(search.nodes[rank]));
        assert_eq!((leaf(0), leaf(1)), (leaf(2), leaf(3)));
    }

    /// Two switches with one node each, joined by two cables: a message that is split puts half of its bytes on each.
    #[test]
    fn messages_that_are_split_load_every_way() {
        let loader = hayase::scenario::Loader::new().text(
            "tree.toml",
            "routing = \"spray\"\n[topology.fat-tree]\ndown = [1, 2]\nup = [1, 2]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n",
        );
        let routed = loader.load_topology().unwrap();
        let search = Search::new(&routed.fabric, &*routed.router, &[(0, 1, 100.0)], vec![0, 1]);
        let mut loads: Vec<f64> = search.load.as_slice().iter().copied().filter(|&load| load > 0.0).collect();
        loads.sort_by(f64::total_cmp);
        assert_eq!(loads, [50.0, 50.0, 50.0, 50.0, 100.0, 100.0]);
        assert_eq!(search.mean_path_length(), 4.0);
    }
}
