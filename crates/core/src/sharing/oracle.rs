//! Policies solved from scratch, as plainly as possible: references for the incremental ones.

/// Capacities of links and, for each flow, the links it crosses.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) capacities: Vec<f64>,
    pub(crate) flows: Vec<Vec<u32>>,
}

impl Problem {
    fn flows_on(&self, link: usize) -> impl Iterator<Item = usize> {
        (0..self.flows.len()).filter(move |&f| self.flows[f].contains(&(link as u32)))
    }

    /// Solves max-min fairness by water-filling: raise all rates together; when a link is full, its flows
    /// stop.
    pub(crate) fn max_min(&self) -> Vec<f64> {
        let mut rates = vec![f64::INFINITY; self.flows.len()];
        loop {
            let level = |link: usize| {
                let free = self.flows_on(link).filter(|&f| rates[f] == f64::INFINITY).count();
                let used: f64 = self.flows_on(link).map(|f| rates[f]).filter(|r| r.is_finite()).sum();
                if free > 0 { (self.capacities[link] - used) / free as f64 } else { f64::INFINITY }
            };
            let levels: Vec<f64> = (0..self.capacities.len()).map(level).collect();
            let lowest = levels.iter().copied().fold(f64::INFINITY, f64::min);
            if lowest == f64::INFINITY {
                return rates;
            }
            let full = levels.iter().position(|&l| l == lowest).expect("one of them is the lowest");
            for f in self.flows_on(full).collect::<Vec<_>>() {
                if rates[f] == f64::INFINITY {
                    rates[f] = lowest;
                }
            }
        }
    }

    /// Returns the least even share of each flow's links.
    pub(crate) fn equal_share(&self) -> Vec<f64> {
        let share = |&link: &u32| self.capacities[link as usize] / self.flows_on(link as usize).count() as f64;
        self.flows.iter().map(|links| links.iter().map(share).fold(f64::INFINITY, f64::min)).collect()
    }

    /// Plays rounds of redistribution, each over all flows.
    pub(crate) fn redistribute(&self, threshold: f64) -> Vec<f64> {
        let mut rates = self.equal_share();
        let mut going: Vec<bool> = vec![true; rates.len()];
        while going.contains(&true) {
            let offer = |&link: &u32| {
                let used: f64 = self.flows_on(link as usize).map(|f| rates[f]).sum();
                (self.capacities[link as usize] - used).max(0.0) / self.flows_on(link as usize).count() as f64
            };
            let gains: Vec<f64> =
                self.flows.iter().map(|links| links.iter().map(offer).fold(f64::INFINITY, f64::min)).collect();
            for f in 0..rates.len() {
                going[f] &= gains[f] >= threshold * rates[f];
                if going[f] {
                    rates[f] += gains[f];
                }
            }
        }
        rates
    }
}
