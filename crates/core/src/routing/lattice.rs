//! Paths along the dimensions of a lattice, for rules on grids and HyperX.

use std::sync::Arc;

use super::counting::{LoadCount, in_parts};
use super::demand::{Columns, Demand};
use super::router::misfit;
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Family, Lattice, Step};
use crate::ids::{IdVec, LinkId, NodeId};
use crate::units::Time;

/// Largest number of dimensions longer than 1 for which all orders are counted: there are 2^n sets of them.
pub(super) const MOST_DIMENSIONS: usize = 12;

/// Fabric whose switches have coordinates.
#[derive(Debug)]
pub(super) struct Dimensions {
    pub fabric: Arc<Fabric>,
    family: Arc<dyn Family>,
    /// Dimensions of more than one point, in order.
    pub longer: Vec<usize>,
}

impl Dimensions {
    /// Returns the dimensions of a fabric.
    ///
    /// # Errors
    /// Fails if its switches have no coordinates.
    pub fn new(fabric: &Arc<Fabric>, rule: &str) -> Result<Self, Vec<Diagnostic>> {
        let family = fabric.shared_family();
        let Some(lattice) = family.lattice() else {
            return Err(vec![misfit(rule, "tori, meshes, hyper-crossbars and HyperX", fabric)]);
        };
        let longer = (0..lattice.sizes().len()).filter(|&dim| lattice.sizes()[dim] > 1).collect();
        Ok(Self { fabric: Arc::clone(fabric), longer, family })
    }

    /// Returns the lattice.
    #[inline]
    pub fn lattice(&self) -> &dyn Lattice {
        // Checked at construction.
        self.family.lattice().unwrap_or_else(|| unreachable!("a family does not lose its lattice"))
    }

    /// Returns the dimensions along which two points differ.
    pub fn between(&self, from: u32, to: u32) -> Vec<usize> {
        let lattice = self.lattice();
        let differs = |dim: &usize| lattice.coordinate(from, *dim) != lattice.coordinate(to, *dim);
        self.longer.iter().copied().filter(differs).collect()
    }

    /// Writes a path from one node to another; `go` adds the steps between their points.
    pub fn way(&self, src: NodeId, dst: NodeId, links: &mut Vec<LinkId>, go: impl FnOnce(u32, u32, &mut Vec<LinkId>)) {
        let lattice = self.lattice();
        links.extend(lattice.host_links(src)[0]);
        go(lattice.point_of(src), lattice.point_of(dst), links);
        links.extend(lattice.host_links(dst)[1]);
    }

    /// Moves along one dimension to a coordinate; `pick` chooses one of several steps.
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

    /// Spreads an amount along one dimension in equal parts over the steps that lead closer. Returns the
    /// latency of the longest path.
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

    /// Adds the loads of steady traffic that crosses the dimensions in this order, or in all orders with
    /// equal probability, in equal parts over equal steps.
    ///
    /// In all orders, traffic that has crossed a set of n dimensions continues along each remaining dimension
    /// in equal parts: so sets are counted, not orders.
    ///
    /// # Errors
    /// Fails if there are too many dimensions to count all orders.
    pub fn count(
        &self,
        order: Option<&[usize]>,
        demand: &Demand,
        loads: &mut IdVec<LinkId, f64>,
    ) -> Result<LoadCount, Diagnostic> {
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
        Ok(LoadCount::default())
    }

    /// Moves a part of the amount at each point along a dimension to the coordinate of the target. Returns
    /// the amounts after the move.
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
