//! Ways along the dimensions of a lattice: what rules for grids and HyperX have in common.

use std::sync::Arc;

use super::counting::{Counted, in_parts};
use super::demand::{Columns, Demand};
use super::router::misfit;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Family, Lattice, Step};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::units::Time;

/// Most dimensions longer than 1 of which all orders are counted: their sets are 2^n.
pub(super) const MOST_DIMENSIONS: usize = 12;

/// A fabric whose switches have coordinates.
#[derive(Debug)]
pub(super) struct Dimensions {
    pub fabric: Arc<Fabric>,
    family: Arc<dyn Family>,
    /// Those along which there is anywhere to go, in order.
    pub longer: Vec<usize>,
}

impl Dimensions {
    /// The dimensions of a fabric.
    ///
    /// # Errors
    /// Where its switches have no coordinates.
    pub fn new(fabric: &Arc<Fabric>, rule: &str) -> Result<Self, Vec<Diagnostic>> {
        let family = fabric.shared_family();
        let Some(lattice) = family.lattice() else {
            return Err(vec![misfit(rule, "tori, meshes, hyper-crossbars and HyperX", fabric)]);
        };
        let longer = (0..lattice.sizes().len()).filter(|&dim| lattice.sizes()[dim] > 1).collect();
        Ok(Self { fabric: Arc::clone(fabric), longer, family })
    }

    /// The lattice.
    #[inline]
    pub fn lattice(&self) -> &dyn Lattice {
        // Asked for when this was made.
        self.family.lattice().unwrap_or_else(|| unreachable!("a family does not lose its lattice"))
    }

    /// The dimensions along which two points differ.
    pub fn between(&self, from: u32, to: u32) -> Vec<usize> {
        let lattice = self.lattice();
        let differs = |dim: &usize| lattice.coordinate(from, *dim) != lattice.coordinate(to, *dim);
        self.longer.iter().copied().filter(differs).collect()
    }

    /// Writes a way from one node to another: `go` adds the steps from the first one's point to the other's.
    pub fn way(&self, src: NodeId, dst: NodeId, links: &mut Vec<LinkId>, go: impl FnOnce(u32, u32, &mut Vec<LinkId>)) {
        let lattice = self.lattice();
        links.extend(lattice.host_links(src)[0]);
        go(lattice.point_of(src), lattice.point_of(dst), links);
        links.extend(lattice.host_links(dst)[1]);
    }

    /// Goes along one dimension to a coordinate; `pick` says which of several steps is taken.
    pub fn cross(
        &self,
        mut point: u32,
        dim: usize,
        to: u32,
        links: &mut Vec<LinkId>,
        mut pick: impl FnMut(&[Step]) -> usize,
    ) -> u32 {
        let mut steps = Vec::new();
        loop {
            steps.clear();
            self.lattice().steps(point, dim, to, &mut steps);
            let Some(&first) = steps.first() else { return point };
            let step = if steps.len() == 1 { first } else { steps[pick(&steps)] };
            links.push(step.link);
            links.extend(step.then);
            point = step.point;
        }
    }

    /// Spreads what goes along one dimension in equal parts over the steps that come closer; returns the latency of the
    /// longest way.
    pub fn split(&self, point: u32, dim: usize, to: u32, amount: f64, visit: &mut dyn FnMut(LinkId, f64)) -> Time {
        let mut steps = Vec::new();
        self.lattice().steps(point, dim, to, &mut steps);
        let part = amount / steps.len() as f64;
        let mut longest = Time::ZERO;
        for step in &steps {
            let mut latency = Time::ZERO;
            for link in std::iter::once(step.link).chain(step.then) {
                visit(link, part);
                latency += self.fabric.link(link).latency;
            }
            longest = longest.max(latency + self.split(step.point, dim, to, part, visit));
        }
        longest
    }

    /// Adds what steady traffic puts on links that crosses the dimensions in this order, or in all orders alike, in
    /// equal parts over equal steps.
    ///
    /// In all orders alike, what has crossed a set of n dimensions goes on along each of the others in equal parts: so
    /// sets are counted, not orders.
    ///
    /// # Errors
    /// More dimensions than can be counted in all orders.
    pub fn count(
        &self,
        order: Option<&[usize]>,
        demand: &Demand,
        loads: &mut IdVec<LinkId, f64>,
    ) -> Result<Counted, Diagnostic> {
        let lattice = self.lattice();
        let order: Option<Vec<usize>> =
            order.map(|order| order.iter().copied().filter(|dim| self.longer.contains(dim)).collect());
        let dims = order.as_ref().unwrap_or(&self.longer);
        if order.is_none() && dims.len() > MOST_DIMENSIONS {
            let message = format!("all orders of {} dimensions are too many to be counted", dims.len());
            return Err(Diagnostic::new("too-large", message)
                .help(format!("at most {MOST_DIMENSIONS}; `--routing dimension-order` counts one order")));
        }
        for (node, (sent, got)) in self.fabric.node_ids().zip(demand.totals(self.fabric.nodes())) {
            for (link, much) in lattice.host_links(node).into_iter().zip([sent, got]) {
                if let Some(link) = link {
                    loads[link] += much;
                }
            }
        }
        let columns = Columns::by(demand, lattice.points(), |node| lattice.point_of(node));
        in_parts(lattice.points(), loads, |to, part| {
            let mut column = vec![0.0; lattice.points() as usize];
            if !columns.column(to, &mut column) {
                return;
            }
            if order.is_some() {
                dims.iter().for_each(|&dim| column = self.advance(&column, dim, to, 1.0, &mut part.loads));
                return;
            }
            let mut crossed: Vec<Vec<f64>> = vec![Vec::new(); 1 << dims.len()];
            crossed[0] = column;
            for set in 0..crossed.len() {
                let amounts = std::mem::take(&mut crossed[set]);
                let left = dims.len() as u32 - set.count_ones();
                for (bit, &dim) in dims.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 0) {
                    let more = self.advance(&amounts, dim, to, 1.0 / f64::from(left), &mut part.loads);
                    let sum = &mut crossed[set | 1 << bit];
                    match sum.is_empty() {
                        true => *sum = more,
                        false => sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more),
                    }
                }
            }
        });
        Ok(Counted::default())
    }

    /// Moves a part of what is at each point along a dimension to the coordinate of the target; returns what is where
    /// then.
    fn advance(&self, amounts: &[f64], dim: usize, target: u32, part: f64, loads: &mut [f64]) -> Vec<f64> {
        let lattice = self.lattice();
        let to = lattice.coordinate(target, dim);
        let mut after = vec![0.0; amounts.len()];
        for (point, &amount) in (0..).zip(amounts).filter(|(_, amount)| **amount > 0.0) {
            self.split(point, dim, to, amount * part, &mut |link, much| loads[link.0 as usize] += much);
            after[lattice.moved(point, dim, to) as usize] += amount * part;
        }
        after
    }
}
