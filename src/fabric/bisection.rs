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
}
