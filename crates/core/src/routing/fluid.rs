//! Fluid: shortest paths and detours in the best proportion, computed by counting loads.

use std::sync::Arc;

use super::choice::{Choice, ChoiceKind, Path, StartingMessage, UnderWay};
use super::counting::{LoadCount, count_ends, count_spread};
use super::demand::{Columns, Demand};
use super::detour::Detours;
use super::graph::Graph;
use super::on_graph::{GraphChoice, one_route};
use super::rule::{BuildContext, BuildResult, Rule};
use super::ugal::Via;
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{Id, IdVec, LinkId, NodeId};

/// `[routing.fluid]`: the best mix of minimal and Valiant, for `hayase throughput`.
///
/// A share s of all traffic goes over shortest paths in equal parts, and 1 - s over all intermediates in
/// equal parts (as `spray` and as `valiant-groups` or `valiant-switches` with all intermediates). s minimises
/// the largest of the loads
/// ```text
/// s minimal(l) + (1 - s) valiant(l)     of all links l
/// ```
/// An adaptive rule that treats all messages alike may reach this with steady traffic.
#[spec(partial, Default)]
pub struct FluidSpec {
    /// Intermediates of the other share (default: groups if the fabric has them, else switches).
    pub via: Option<Via>,
}

impl Rule for FluidSpec {
    fn build(&self, fabric: &Arc<Fabric>, _: &mut BuildContext<'_>) -> BuildResult {
        let to_groups = Via::or_default(self.via, fabric, "fluid")?;
        let graph = Graph::new(fabric)?;
        Ok(Arc::new(Fluid { detours: Detours::new(&graph, to_groups), graph }))
    }

    fn searches_the_graph(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Fluid {
    graph: Graph,
    detours: Detours,
}

impl GraphChoice for Fluid {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn count(&self, demand: &Demand, loads: &mut IdVec<LinkId, f64>) -> Result<LoadCount, Diagnostic> {
        self.detours.check_size(&self.graph)?;
        let columns = Columns::new(demand, &self.graph);
        let links = loads.len();
        let (mut minimal, mut detours) = (IdVec::filled(links, 0.0), IdVec::filled(links, 0.0));
        count_ends(&self.graph, demand, &mut minimal);
        count_ends(&self.graph, demand, &mut detours);
        count_spread(&self.graph, &columns, &mut minimal);
        self.detours.count_loads(&self.graph, &columns, &mut detours);
        // By link: its load if all traffic takes detours, and the difference if all traffic takes shortest paths.
        let line = |link: LinkId| {
            let capacity = self.graph.fabric.link(link).capacity.bytes_per_second();
            (detours[link] / capacity, (minimal[link] - detours[link]) / capacity)
        };
        let lines: Vec<(f64, f64)> = (0..links).map(|link| line(LinkId::from_index(link))).collect();
        let share = lowest(&lines);
        for link in (0..links).map(LinkId::from_index) {
            loads[link] += share * minimal[link] + (1.0 - share) * detours[link];
        }
        Ok(LoadCount { minimal_share: Some(share) })
    }
}

/// Returns the point in [0, 1] at which the largest of some lines, `(at 0, slope)`, is least.
///
/// The maximum of lines is convex. The search looks at the crossing of one falling and one rising line; the
/// line that is largest there replaces one of them, until none is larger.
fn lowest(lines: &[(f64, f64)]) -> f64 {
    let largest = |at: f64| {
        let value = |line: &&(f64, f64)| line.0 + line.1 * at;
        lines.iter().max_by(|a, b| value(a).total_cmp(&value(b))).copied().unwrap_or_default()
    };
    let (mut falls, mut rises) = (largest(0.0), largest(1.0));
    if falls.1 >= 0.0 {
        return 0.0;
    }
    if rises.1 <= 0.0 {
        return 1.0;
    }
    loop {
        let at = (falls.0 - rises.0) / (rises.1 - falls.1);
        let top = largest(at);
        let (new, old) = (top.0 + top.1 * at, rises.0 + rises.1 * at);
        if new <= old * (1.0 + 1e-14) || top == falls || top == rises {
            return at.clamp(0.0, 1.0);
        }
        if top.1 < 0.0 {
            falls = top;
        } else {
            rises = top;
        }
    }
}

impl Choice for Fluid {
    fn kind(&self) -> ChoiceKind {
        ChoiceKind::Bound
    }

    fn choose(&self, start: StartingMessage, _: &UnderWay, path: &mut Path) {
        one_route(&self.graph, start.src, start.dst, &mut path.links);
    }

    fn expected(&self, _: NodeId, _: NodeId, _: &mut Path) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_point_of_the_largest_line_is_found() {
        // 1 - s and s/2 cross at 2/3; a third line of 0.4 + s/10 lies above both there, and meets 1 - s at 6/11.
        assert_eq!(lowest(&[(1.0, -1.0), (0.0, 0.5)]), 2.0 / 3.0);
        let at = lowest(&[(1.0, -1.0), (0.0, 0.5), (0.4, 0.1)]);
        assert!((at - 6.0 / 11.0).abs() < 1e-15, "{at}");
        assert_eq!(lowest(&[(0.5, 0.0), (0.2, 0.1)]), 0.0);
        assert_eq!(lowest(&[(1.0, -0.5), (0.2, 0.1)]), 1.0);
        assert_eq!(lowest(&[]), 0.0);
    }
}
