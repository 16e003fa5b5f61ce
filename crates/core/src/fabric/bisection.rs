//! A cut of a fabric into two halves.

use crate::units::Bandwidth;

/// A cut of the fabric into two halves of the nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Bisection {
    /// What all links from the first half to the second carry together \[B/s\].
    pub bandwidth: Bandwidth,
    /// What all links from the second half to the first carry together \[B/s\]; differs only where halves or links do.
    pub back: Bandwidth,
    /// By node: whether it is in the first half.
    pub first_half: Vec<bool>,
    /// True if no other halves carry less, by a closed form; else some may.
    pub is_least: bool,
}

impl Bisection {
    /// What it carries in the direction that carries less \[B/s\].
    pub fn least(&self) -> Bandwidth {
        self.bandwidth.min(self.back)
    }

    /// How many nodes are in the first half, which is the smaller one where halves differ; at least 1.
    pub fn senders(&self) -> u32 {
        self.first_half.iter().filter(|&&first| first).count().max(1) as u32
    }
}
