//! Cut of a fabric into two halves.

use crate::units::Bandwidth;

/// Cut of the fabric into two halves of the nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Bisection {
    /// Bandwidth of all links from the first half to the second \[B/s\].
    pub bandwidth: Bandwidth,
    /// Bandwidth of all links from the second half to the first \[B/s\]; differs only if the halves or links
    /// do.
    pub back: Bandwidth,
    /// By node: true if it is in the first half.
    pub first_half: Vec<bool>,
    /// True if a closed form shows that no other halves carry less.
    pub is_least: bool,
}

impl Bisection {
    /// Returns the bandwidth in the direction that carries less \[B/s\].
    pub fn least(&self) -> Bandwidth {
        self.bandwidth.min(self.back)
    }

    /// Number of nodes in the first half, which is the smaller one if the halves differ; at least 1.
    pub fn senders(&self) -> u32 {
        self.first_half.iter().filter(|&&first| first).count().max(1) as u32
    }
}
