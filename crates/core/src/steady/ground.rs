//! A fabric with its routes, in the form that patterns need.

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};
use crate::pattern::FabricInfo;
use crate::routing::Router;

/// A fabric with its routes, as patterns see it.
#[derive(Clone, Copy, Debug)]
pub struct OnFabric<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The routes.
    pub router: &'a dyn Router,
}

impl FabricInfo for OnFabric<'_> {
    fn nodes(&self) -> u32 {
        self.fabric.nodes()
    }

    fn groups(&self) -> Option<Vec<u32>> {
        self.fabric.groups().map(|_| super::traffic::groups(self.fabric))
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
