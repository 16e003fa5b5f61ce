//! What patterns may know of a fabric with its routes.

use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::routing::Router;
use crate::workload::pattern::Ground;

/// A fabric with its routes, as patterns see it.
#[derive(Clone, Copy, Debug)]
pub struct OnFabric<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The routes.
    pub router: &'a dyn Router,
}

impl Ground for OnFabric<'_> {
    fn nodes(&self) -> u32 {
        self.fabric.nodes()
    }

    fn groups(&self) -> Option<Vec<u32>> {
        self.fabric.groups().map(|_| super::traffic::groups(self.fabric))
    }

    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        super::worst::worst_case(self.fabric, self.router)
    }
}
