//! Paths of single messages on a network.

use std::borrow::Cow;
use std::sync::Arc;

use super::parts::NetworkParts;
use super::whole::{ChangingRoutes, Network};
use crate::diagnostic::Diagnostic;
use crate::fabric::LinkRole;
use crate::ids::{LinkId, VertexId};
use crate::pattern::Pattern;

/// Largest number of mistakes that are reported.
const MOST_MISTAKES: usize = 20;

impl Network {
    /// Returns the same network with the paths that a pattern gives for single messages.
    pub fn with_paths_of(&self, pattern: &dyn Pattern) -> Cow<'_, Self> {
        let Some(plan) = pattern.plan().filter(|plan| plan.has_paths) else { return Cow::Borrowed(self) };
        // Properties of all routes do not hold for these paths.
        let router = Arc::new(ChangingRoutes(Arc::clone(&self.router)));
        Cow::Owned(NetworkParts { router, plan: Some(Arc::clone(plan)), ..self.parts() }.unchecked())
    }

    /// Returns the mistakes in the paths that a pattern gives for single messages, each with the line of the message
    /// in its file. All ranks must have a place. Cost: proportional to the links of all paths.
    pub fn misplaced_paths(&self, pattern: &dyn Pattern) -> Vec<(u64, Diagnostic)> {
        let Some(plan) = pattern.plan().filter(|plan| plan.has_paths) else { return Vec::new() };
        if plan.links.is_empty() || self.events().is_some() {
            let text = "the column `path` needs links that are known and neither fail nor change during the run";
            return vec![(0, Diagnostic::new("wrong-choice", text).help("leave the column out"))];
        }
        let misplaced = plan.with_paths().filter_map(|(message, line)| {
            let dst = pattern.message(message.src, message.index).dst;
            let ends = [message.src, dst].map(|rank| VertexId::from(self.placement[rank]));
            if ends[0] != ends[1] && self.leads(plan.path(message), ends) {
                return None;
            }
            let [from, to] = ends.map(|end| self.fabric.vertex_name(end));
            let text = format!("the path does not lead from the node of rank {} to that of rank {dst}", message.src);
            let label = format!("rank {} is on `{from}`, and rank {dst} on `{to}`", message.src);
            Some((line, Diagnostic::new("bad-path", text).label(label)))
        });
        misplaced.take(MOST_MISTAKES).collect()
    }

    /// Returns true if these links lead from one vertex to the other, and through no node that only sends and
    /// receives.
    fn leads(&self, links: &[LinkId], [src, dst]: [VertexId; 2]) -> bool {
        let over = |at: VertexId, &id: &LinkId| {
            let link = self.fabric.links().get(id).filter(|_| !self.fabric.has_failed(id))?;
            let (from, to) = link.ends?;
            (from == at && (from == src || link.role != LinkRole::Injection)).then_some(to)
        };
        links.iter().try_fold(src, over) == Some(dst)
    }
}
