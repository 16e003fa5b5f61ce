//! Networks of which one rank of each class is played.

use std::sync::Arc;

use super::parts::NetworkParts;
use super::whole::Network;
use crate::sharing::SharingSpec;
use crate::symmetry::{Folded, FoldedRoutes};

impl Network {
    /// Returns true if ranks that do the same may be played once: each pair has one route that never changes, and
    /// messages are flows under max-min or equal share without terms of their own.
    pub fn can_fold(&self) -> bool {
        let shares = matches!(self.sharing, SharingSpec::MaxMin(_) | SharingSpec::EqualShare(_));
        shares
            && self.transport.is_plain_flow()
            && self.transport.takes_splits(&self.sharing)
            && !self.fabric.limits_messages()
            && self.router.choice().is_none()
            && self.plan.is_none()
            && self.events().is_none()
            && !self.faults_concern_runs()
    }

    /// Returns the same network for the ranks that are played: messages take more of links that stand for fewer others
    /// than their senders do.
    #[must_use]
    pub fn folded(&self, folded: &Arc<Folded>) -> Self {
        let router = Arc::new(FoldedRoutes::new(&self.fabric, Arc::clone(&self.router), Arc::clone(folded)));
        NetworkParts { router, ..self.parts() }.unchecked()
    }
}
