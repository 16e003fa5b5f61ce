//! Properties of a fabric that a pattern may ask for.

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::NodeId;

/// Properties of a fabric that a pattern may ask for.
///
/// A pattern assumes that each rank is on the node of its number, as with a regular placement. So a pattern
/// against groups has its intended effect under that placement, and other placements scramble it. Only the
/// order of an all-to-all knows the nodes of the ranks ([`FabricInfo::places`]).
pub trait FabricInfo {
    /// Number of nodes.
    fn nodes(&self) -> u32;

    /// Number of ranks with which each node has as many as it can.
    fn most_ranks(&self) -> u32 {
        self.nodes()
    }

    /// Returns the group of each node, from 0 without gaps; `None` if groups are unknown.
    fn groups(&self) -> Option<Vec<u32>> {
        None
    }

    /// Returns the node of each rank; `None` if each rank is on the node of its number.
    fn places(&self) -> Option<&[NodeId]> {
        None
    }

    /// Returns the time of messages of one byte in rounds with a barrier after each \[s\]: the sum over rounds of
    /// the largest `messages / capacity` of a link. `partner` gives the receiver of a rank's message in a round,
    /// from 1. Returns `None` if loads depend on the messages under way.
    fn time_of_rounds(&self, rounds: u32, partner: &dyn Fn(u32, u32) -> Option<u32>) -> Option<f64> {
        let _ = (rounds, partner);
        None
    }

    /// Returns the fabric itself, for paths that name its links; `None` if it is unknown.
    fn fabric(&self) -> Option<&Fabric> {
        None
    }

    /// Returns the destination of each node in the permutation that loads a link most.
    ///
    /// # Errors
    /// That permutation is unknown.
    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        let message = "which permutation is worst depends on links and routes, and no fabric is known here";
        Err(Diagnostic::new("no-fabric", message).help("name the fabric: `-t dragonfly-72`"))
    }
}

/// A number of nodes without further properties.
impl FabricInfo for u32 {
    fn nodes(&self) -> u32 {
        *self
    }
}
