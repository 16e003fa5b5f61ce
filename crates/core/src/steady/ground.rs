//! A fabric with its routes, in the form that patterns need.

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};
use crate::pattern::FabricInfo;
use crate::routing::{Path, Router};

/// A fabric with its routes, as patterns see it.
#[derive(Clone, Copy, Debug)]
pub struct OnFabric<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The routes.
    pub router: &'a dyn Router,
    /// Node of each rank; `None` if each rank is on the node of its number.
    pub places: Option<&'a [NodeId]>,
    /// Largest number of ranks on a node.
    pub per_node: u32,
}

impl FabricInfo for OnFabric<'_> {
    fn nodes(&self) -> u32 {
        self.fabric.nodes()
    }

    fn most_ranks(&self) -> u32 {
        self.fabric.nodes().saturating_mul(self.per_node)
    }

    fn groups(&self) -> Option<Vec<u32>> {
        self.fabric.groups().map(|_| super::traffic::groups(self.fabric))
    }

    fn places(&self) -> Option<&[NodeId]> {
        self.places
    }

    fn time_of_rounds(&self, rounds: u32, partner: &dyn Fn(u32, u32) -> Option<u32>) -> Option<f64> {
        let all: Vec<NodeId> = self.fabric.node_ids().collect();
        let nodes = self.places.unwrap_or(&all);
        let capacity = self.fabric.shared_capacities();
        let mut loads = vec![0.0; capacity.len()];
        let (mut path, mut used, mut time) = (Path::default(), Vec::new(), 0.0);
        for round in 1..=rounds {
            for (rank, &from) in (0..).zip(nodes) {
                let Some(to) = partner(rank, round).map(|other| nodes[other as usize]).filter(|&to| to != from) else {
                    continue;
                };
                path.clear();
                match self.router.choice() {
                    None => self.router.route(from, to, &mut path.links),
                    Some(choice) if choice.expected(from, to, &mut path) => {}
                    Some(_) => return None,
                }
                for (at, link) in path.links.iter().map(|link| link.index()).enumerate() {
                    if loads[link] == 0.0 {
                        used.push(link);
                    }
                    loads[link] += path.parts.get(at).copied().unwrap_or(1.0);
                }
            }
            let load = |link: usize| std::mem::take(&mut loads[link]) / capacity[link];
            time += used.drain(..).map(load).fold(0.0, f64::max);
        }
        Some(time)
    }

    fn fabric(&self) -> Option<&Fabric> {
        Some(self.fabric)
    }

    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        super::worst::worst_case(self.fabric, self.router)
    }
}

/// Some nodes of a fabric with its routes, as seen by a pattern whose ranks are on them in this order.
#[derive(Clone, Copy, Debug)]
pub struct OnNodes<'a> {
    /// The whole fabric.
    pub fabric: OnFabric<'a>,
    /// The nodes.
    pub nodes: &'a [NodeId],
}

impl FabricInfo for OnNodes<'_> {
    fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn places(&self) -> Option<&[NodeId]> {
        Some(self.nodes)
    }

    fn fabric(&self) -> Option<&Fabric> {
        Some(self.fabric.fabric)
    }

    fn time_of_rounds(&self, rounds: u32, partner: &dyn Fn(u32, u32) -> Option<u32>) -> Option<f64> {
        OnFabric { places: Some(self.nodes), ..self.fabric }.time_of_rounds(rounds, partner)
    }

    fn groups(&self) -> Option<Vec<u32>> {
        let all = self.fabric.groups()?;
        let of: Vec<u32> = self.nodes.iter().map(|node| all[node.index()]).collect();
        let mut present = of.clone();
        present.sort_unstable();
        present.dedup();
        Some(of.iter().map(|group| present.partition_point(|other| other < group) as u32).collect())
    }

    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        let all = self.fabric.nodes();
        if self.nodes.iter().copied().eq(self.fabric.fabric.node_ids()) {
            return self.fabric.worst_case();
        }
        let message = format!("the worst permutation is one of all {all} nodes, and {} of them are here", self.nodes());
        let help = "take a permutation of ranks (`permutation`, `group-permutation`), or all nodes in order";
        Err(Diagnostic::new("bad-ranks", message).help(help))
    }
}
