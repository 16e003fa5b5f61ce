//! Allowances: which links are certain not to be full, and need not be looked at.

/// Upper bounds of rates that fit on the links.
#[derive(Clone, Debug)]
pub(super) struct Allowances {
    /// By link: the sum of the allowances of its flows, and its capacity, in units.
    pub(super) links: Vec<(u64, u64)>,
    /// By flow, in units.
    pub(super) flows: Vec<u64>,
    /// A power of two, so that conversion is exact \[B/s\], and what one is divided by it.
    unit: f64,
    per: f64,
}

impl Allowances {
    /// None, on links of these capacities \[B/s\].
    pub fn new(capacities: &[f64]) -> Self {
        let widest = capacities.iter().copied().fold(0.0, f64::max);
        let mut unit = 1.0;
        while unit * FINEST < widest {
            unit *= 2.0;
        }
        while widest > 0.0 && unit * FINEST > 2.0 * widest {
            unit *= 0.5;
        }
        Self {
            links: capacities.iter().map(|&c| (0, (c / unit) as u64)).collect(),
            flows: Vec::new(),
            unit,
            per: 1.0 / unit,
        }
    }
    /// The allowance of a flow, in units.
    #[inline(always)]
    pub fn of(&self, flow: u32) -> u64 {
        self.flows[flow as usize]
    }
    /// The allowance of a flow \[B/s\].
    #[inline(always)]
    pub fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize] as f64 * self.unit
    }
    /// Sum of the allowances on a link, in units.
    #[cfg(test)]
    pub fn granted(&self, link: u32) -> u64 {
        self.links[link as usize].0
    }
    /// Whether the allowances on a link are no more than its capacity.
    pub fn fits(&self, link: u32) -> bool {
        let (granted, capacity) = self.links[link as usize];
        granted <= capacity & !UNBOUND
    }
    /// The capacity of a link, in units.
    #[cfg(test)]
    pub fn capacity(&self, link: u32) -> u64 {
        self.links[link as usize].1 & !UNBOUND
    }
    /// What is left on a link, in units; more than anyone asks for on an active one.
    #[inline(always)]
    pub fn room(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        capacity.saturating_sub(granted)
    }

    /// By how much allowances are more than the capacity of a link, in units.
    pub fn excess(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        granted.saturating_sub(capacity & !UNBOUND)
    }

    /// Whether sums of allowances are bounded by the capacity of a link, as they are while it is inactive.
    pub fn bound(&mut self, link: u32, is_bound: bool) {
        let (_, capacity) = &mut self.links[link as usize];
        *capacity = if is_bound { *capacity & !UNBOUND } else { *capacity | UNBOUND };
    }
    /// What is left on a link \[B/s\].
    #[inline(always)]
    pub fn slack(&self, link: u32) -> f64 {
        self.room(link) as f64 * self.unit
    }
    /// A rate in units, rounded down.
    #[inline(always)]
    pub fn units(&self, rate: f64) -> u64 {
        (rate * self.per) as u64
    }
}

/// Units in the largest capacity, at least: sums of 2^24 allowances fit in 64 bits.
const FINEST: f64 = (1u64 << 39) as f64;

/// What is added to the capacity of an active link: more than any sum of allowances.
const UNBOUND: u64 = 1 << 63;
