//! Several jobs on one fabric: those that name their nodes have them, then each other is placed on nodes that are left.

use std::sync::Arc;

use super::{Place, Placement, PlacementSpec};
use crate::diagnostic::{At, Diagnostic, Sources, Span};
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};

/// The places of several jobs, in the order in which they choose: those that name their nodes, then the others.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Joint {
    /// The jobs.
    pub parts: Vec<JointPart>,
}

/// What is placed of one job.
#[derive(Clone, PartialEq, Debug)]
pub struct JointPart {
    /// Its name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// By which rule.
    pub placement: PlacementSpec,
    /// Where that is said.
    pub at: Option<Span>,
}

impl Joint {
    /// Whether another seed can give other places.
    pub fn depends_on_seed(&self) -> bool {
        self.parts.iter().any(|part| part.placement.depends_on_seed())
    }

    /// The nodes on which a job is in order: those that it names, whole leaf switches or groups that it has, or the
    /// first that are left when it chooses. What a pattern knows of the fabric is of these.
    ///
    /// # Errors
    /// As of [`build`](Self::build).
    pub fn in_order(
        &self,
        job: usize,
        fabric: &Arc<Fabric>,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Vec<NodeId>, Vec<Diagnostic>> {
        let mut joint = self.clone();
        let Some(part) = joint.parts.get_mut(job) else { return Ok(Vec::new()) };
        if !part.placement.keeps_order() {
            part.placement = PlacementSpec::default();
        }
        let before = joint.parts[..job].iter().map(|part| part.ranks as usize).sum();
        let placement = joint.build(fabric, seed, sources)?;
        Ok(placement.iter().skip(before).take(self.parts[job].ranks as usize).copied().collect())
    }

    /// The nodes of all ranks, job by job.
    ///
    /// # Errors
    /// More ranks than nodes are left, and a node that a file or a list names and another job has.
    pub fn build(&self, fabric: &Arc<Fabric>, seed: u64, sources: &mut Sources) -> Result<Placement, Vec<Diagnostic>> {
        let mut job_on: Vec<Option<usize>> = vec![None; fabric.nodes() as usize];
        let mut places: Vec<Placement> = vec![Placement::new(); self.parts.len()];
        let mut taken = 0;
        let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        let names_nodes = |index: &usize| self.parts[*index].placement.names_nodes();
        let choosing = (0..self.parts.len()).filter(|index| !names_nodes(index));
        for index in (0..self.parts.len()).filter(names_nodes).chain(choosing) {
            let part = &self.parts[index];
            let JointPart { name, ranks, placement, at } = part;
            let placed = |mistake: Diagnostic| match (mistake.at == At::Nowhere, at) {
                (true, Some(at)) => mistake.at(*at),
                _ => mistake,
            };
            let left = fabric.nodes() as usize - taken;
            if *ranks as usize > left {
                let (nodes, fabric) = (fabric.nodes(), fabric.name());
                let message = match taken {
                    0 => format!("the {ranks} ranks of job `{name}` do not fit on the {nodes} nodes of `{fabric}`"),
                    _ => format!(
                        "job `{name}` has {ranks} ranks, and {left} of the {nodes} nodes of `{fabric}` are left"
                    ),
                };
                let help = "take a larger fabric or fewer ranks; each rank needs a node of its own";
                return Err(vec![placed(Diagnostic::new("too-many-ranks", message).help(help))]);
            }
            // The first job of several is where it would be alone.
            let stream = if index == 0 { "placement".to_owned() } else { format!("placement of job {index}") };
            let is_free = |node: NodeId| job_on[node.index()].is_none();
            let place =
                Place { ranks: *ranks, fabric, is_free: &is_free, stream: &stream, seed, job: Some((index, &names)) };
            let nodes = placement.among(place, sources);
            let nodes = nodes.map_err(|mistakes| mistakes.into_iter().map(placed).collect::<Vec<_>>())?;
            if nodes.len() < *ranks as usize {
                let message = format!("only {} of the {ranks} ranks of job `{name}` find a node", nodes.len());
                return Err(vec![placed(Diagnostic::new("too-many-ranks", message))]);
            }
            for &node in nodes.iter() {
                if let Some(other) = job_on[node.index()].replace(index) {
                    let other = &self.parts[other].name;
                    let message = format!("node {node} is given to job `{name}`, and job `{other}` has it");
                    return Err(vec![placed(Diagnostic::new("duplicate-node", message))]);
                }
            }
            taken += nodes.len();
            places[index] = nodes;
        }
        Ok(places.iter().flat_map(|nodes| nodes.iter().copied()).collect())
    }
}
