//! Placement of several jobs on one fabric: jobs that name their nodes come first, then each other job gets
//! free nodes.

use std::sync::Arc;

use super::{Placement, PlacementRequest, PlacementSpec};
use crate::diagnostic::{At, Diagnostic, Sources, Span};
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};

/// Placement of several jobs. Jobs that name their nodes choose first, then the other jobs in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Joint {
    /// The jobs.
    pub parts: Vec<JointPart>,
}

/// Ranks and placement of one job.
#[derive(Clone, PartialEq, Debug)]
pub struct JointPart {
    /// Name of the job.
    pub name: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Placement rule.
    pub placement: PlacementSpec,
    /// Place of the rule in the scenario.
    pub at: Option<Span>,
}

impl Joint {
    /// Returns true if another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        self.parts.iter().any(|part| part.placement.depends_on_seed())
    }

    /// Returns the nodes of a job in order: those that it names, its whole leaf switches or groups, or the
    /// first free nodes when it chooses. A pattern sees the fabric as made of these nodes.
    ///
    /// # Errors
    /// As [`build`](Self::build).
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

    /// Returns the nodes of all ranks, job by job.
    ///
    /// # Errors
    /// Fails if a job has more ranks than nodes are left, or if a file or a list names a node that another
    /// job has.
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
            // The first of several jobs is placed as it would be alone.
            let stream = if index == 0 { "placement".to_owned() } else { format!("placement of job {index}") };
            let is_free = |node: NodeId| job_on[node.index()].is_none();
            let place = PlacementRequest {
                ranks: *ranks,
                fabric,
                is_free: &is_free,
                stream: &stream,
                seed,
                job: Some((index, &names)),
            };
            let nodes = placement.place_on_free_nodes(place, sources);
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
