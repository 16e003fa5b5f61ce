//! Policies for flows on several paths, with weights and limits, solved from scratch.

use super::policy::Terms;

/// Capacities of links and, for each flow, its terms and the links that it crosses with the part of its rate
/// on each.
#[derive(Clone, Debug)]
pub(crate) struct WeightedProblem {
    pub(crate) capacities: Vec<f64>,
    /// By link: set for a pipe; empty where there are none.
    pub(crate) pipes: Vec<bool>,
    pub(crate) flows: Vec<(Vec<(u32, f64)>, Terms)>,
}

impl WeightedProblem {
    /// Returns the bandwidth that a flow takes of a link at level 1.
    fn part(&self, flow: usize, link: usize) -> f64 {
        let (links, terms) = &self.flows[flow];
        links.iter().filter(|&&(l, _)| l as usize == link).map(|&(_, part)| part * terms.weight).sum()
    }

    /// Solves max-min fairness by progressive filling: raise all levels together; a flow stops at its limit,
    /// and the flows of a link stop when it is full. A pipe is full when one of its rising flows takes all of
    /// it.
    pub(crate) fn max_min(&self) -> Vec<f64> {
        let count = self.flows.len();
        let parts: Vec<Vec<f64>> =
            (0..self.capacities.len()).map(|link| (0..count).map(|f| self.part(f, link)).collect()).collect();
        let limit = |f: usize| self.flows[f].1.limit / self.flows[f].1.weight;
        let mut levels = vec![f64::INFINITY; count];
        loop {
            let full_at = |link: usize| {
                if self.pipes.get(link) == Some(&true) {
                    let rising = (0..count).filter(|&f| levels[f] == f64::INFINITY);
                    return self.capacities[link] / rising.map(|f| parts[link][f]).fold(0.0, f64::max);
                }
                let free: f64 = (0..count).filter(|&f| levels[f] == f64::INFINITY).map(|f| parts[link][f]).sum();
                let is_fixed = |f: &usize| levels[*f] < f64::INFINITY;
                let used: f64 = (0..count).filter(is_fixed).map(|f| parts[link][f] * levels[f]).sum();
                if free > 0.0 { (self.capacities[link] - used) / free } else { f64::INFINITY }
            };
            let links: Vec<f64> = (0..self.capacities.len()).map(full_at).collect();
            let lowest = links.iter().copied().fold(f64::INFINITY, f64::min);
            let rising: Vec<usize> = (0..count).filter(|&f| levels[f] == f64::INFINITY).collect();
            if rising.is_empty() {
                return levels.iter().zip(&self.flows).map(|(level, (_, terms))| level * terms.weight).collect();
            }
            match rising.iter().copied().min_by(|&a, &b| limit(a).total_cmp(&limit(b))) {
                Some(first) if limit(first) < lowest * (1.0 - 1e-12) => levels[first] = limit(first),
                // Links that are full at the same level stop their flows at once: a pipe counts a flow that
                // another link stops there.
                _ => {
                    let full = |link: &usize| links[*link] <= lowest * (1.0 + 1e-12);
                    let is_held = |f: usize| (0..links.len()).filter(full).any(|link| parts[link][f] > 0.0);
                    rising.iter().filter(|&&f| is_held(f)).for_each(|&f| levels[f] = lowest);
                }
            }
        }
    }

    /// Returns for each flow the least share of its links, and at most its limit.
    pub(crate) fn equal_share(&self) -> Vec<f64> {
        let share = |link: u32| {
            self.capacities[link as usize] / (0..self.flows.len()).map(|f| self.part(f, link as usize)).sum::<f64>()
        };
        let rate = |(links, terms): &(Vec<(u32, f64)>, Terms)| {
            links.iter().map(|&(link, _)| share(link) * terms.weight).fold(terms.limit, f64::min)
        };
        self.flows.iter().map(rate).collect()
    }
}
