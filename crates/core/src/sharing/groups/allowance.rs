//! Allowances: upper bounds of rates that show which links cannot be full and need no attention.

/// Upper bounds of the rates of flows that fit on the links.
#[derive(Clone, Debug)]
pub(super) struct Allowances {
    /// By link: the sum of the allowances of its flows, and its capacity, in units.
    pub(super) links: Vec<(u64, u64)>,
    /// Allowance of each flow, in units.
    pub(super) flows: Vec<u64>,
    /// Unit of allowances, a power of two, so that conversion is exact \[B/s\]; and its inverse.
    unit: f64,
    per: f64,
}

impl Allowances {
    /// Creates links of these capacities \[B/s\] without allowances.
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
    /// Returns the allowance of a flow, in units.
    #[inline(always)]
    pub fn of(&self, flow: u32) -> u64 {
        self.flows[flow as usize]
    }
    /// Returns the allowance of a flow \[B/s\].
    #[inline(always)]
    pub fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize] as f64 * self.unit
    }
    /// Returns the sum of the allowances on a link, in units.
    #[cfg(test)]
    pub fn granted(&self, link: u32) -> u64 {
        self.links[link as usize].0
    }
    /// True if the allowances on a link add up to no more than its capacity.
    pub fn fits(&self, link: u32) -> bool {
        let (granted, capacity) = self.links[link as usize];
        granted <= capacity & !UNBOUND
    }
    /// Returns the capacity of a link, in units.
    #[cfg(test)]
    pub fn capacity(&self, link: u32) -> u64 {
        self.links[link as usize].1 & !UNBOUND
    }
    /// Returns the part of a link's capacity without allowances, in units. An active link has more than any
    /// flow asks for.
    #[inline(always)]
    pub fn room(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        capacity.saturating_sub(granted)
    }

    /// Returns the excess of the allowances over the capacity of a link, in units.
    pub fn excess(&self, link: u32) -> u64 {
        let (granted, capacity) = self.links[link as usize];
        granted.saturating_sub(capacity & !UNBOUND)
    }

    /// Sets whether the capacity of a link bounds the sum of its allowances, as it does while the link is
    /// inactive.
    pub fn bound(&mut self, link: u32, is_bound: bool) {
        let (_, capacity) = &mut self.links[link as usize];
        *capacity = if is_bound { *capacity & !UNBOUND } else { *capacity | UNBOUND };
    }
    /// Returns the part of a link's capacity without allowances \[B/s\].
    #[inline(always)]
    pub fn slack(&self, link: u32) -> f64 {
        self.room(link) as f64 * self.unit
    }
    /// Converts a rate to units, rounding down.
    #[inline(always)]
    pub fn units(&self, rate: f64) -> u64 {
        (rate * self.per) as u64
    }
}

/// Smallest number of units in the largest capacity: sums of 2^24 allowances fit in 64 bits.
const FINEST: f64 = (1u64 << 39) as f64;

/// Bit added to the capacity of an active link; larger than any sum of allowances.
const UNBOUND: u64 = 1 << 63;
