//! What a pattern may know of where its ranks are.

use crate::diagnostic::Diagnostic;

/// What a pattern may ask of the fabric it is made for: numbers, no links.
///
/// A rank is thought to be on the node of its number, as a regular placement has it. So a pattern against groups is
/// what it says under that placement, and another placement mixes it.
pub trait Ground {
    /// Number of nodes.
    fn nodes(&self) -> u32;

    /// By node: its group, from 0 without gaps; nothing where groups are not known.
    fn groups(&self) -> Option<Vec<u32>> {
        None
    }

    /// By node: whom it sends to in the permutation that loads a link most.
    ///
    /// # Errors
    /// Where that is not known.
    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        let message = "which permutation is worst depends on links and routes, and no fabric is known here";
        Err(Diagnostic::new("no-fabric", message).help("name the fabric: `-t dragonfly-72`"))
    }
}

/// So many nodes, of which nothing else is known.
impl Ground for u32 {
    fn nodes(&self) -> u32 {
        *self
    }
}
