//! Runs in which ranks that do the same at the same time are played once.

use std::sync::Arc;

use crate::network::Network;
use crate::node::Costs;
use crate::player::exchanges_of;
use crate::program::{Expand, Program};
use crate::symmetry::{Exchanges, Folded, fold};

/// Least number of ranks of a program that is folded. The last bits of times of smaller programs stay as they are.
const FEWEST_RANKS: u32 = 512;

/// Least number of ranks that a rank that is played stands for, on average.
const LEAST_SAVING: u32 = 4;

/// Program and network of the ranks that are played.
pub(super) struct Quotient {
    /// Program with the operations of the ranks that are played.
    pub program: Program,
    pub network: Network,
    pub folded: Arc<Folded>,
}

impl Quotient {
    /// Folds a program on a network, if it pays, or if it is wanted and possible.
    pub fn of(
        program: &Program,
        expand: &dyn Expand,
        network: &Network,
        costs: &Costs,
        is_wanted: bool,
    ) -> Option<Self> {
        if !is_wanted && program.ranks() < FEWEST_RANKS || !network.can_fold() {
            return None;
        }
        let exchanges = exchanges_of(program, Some(expand))?;
        let most = if is_wanted { program.ranks().saturating_sub(1) } else { program.ranks() / LEAST_SAVING };
        let folded = Self::fold(exchanges, network, costs, most)?;
        Some(Self::new(program.only(|rank| folded.is_played(rank)), network, folded))
    }

    /// Finds the classes of ranks with these channels, if there are at most `most`.
    pub fn fold(exchanges: Exchanges, network: &Network, costs: &Costs, most: u32) -> Option<Arc<Folded>> {
        let (fabric, router) = (&network.fabric, &*network.router);
        // Requests and answers of a rendezvous travel in both directions.
        let exchanges = exchanges.with_routes(fabric, router, &network.placement, costs.control_travels)?;
        fold(&exchanges, most).map(Arc::new)
    }

    /// Creates the quotient for a program that has the operations of the ranks that are played.
    fn new(program: Program, network: &Network, folded: Arc<Folded>) -> Self {
        Self { program, network: network.folded(&folded), folded }
    }
}
