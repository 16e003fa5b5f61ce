//! A cut of a fabric into two halves.

use crate::ids::NodeId;
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
}

impl Bisection {
    /// Whether a message between these nodes crosses the cut, and in which direction (`Some(true)`: first to second).
    pub fn crossing(&self, src: NodeId, dst: NodeId) -> Option<bool> {
        let (from, to) = (self.first_half[src.0 as usize], self.first_half[dst.0 as usize]);
        (from != to).then_some(from)
    }
}
