//! Transports by their own types.

use super::Flows;
use super::delays::Delays;
use crate::sharing::{EqualShare, MaxMin};
use crate::transport::Transport;

/// A transport that was built: those that play most messages by their own type, so that whoever runs them can be
/// compiled for them.
pub enum Built {
    /// Flows under equal share.
    EqualShare(Flows<(), EqualShare>),
    /// The same, with the time that is lost on each link.
    EqualShareDelays(Flows<Delays, EqualShare>),
    /// Flows under exact max-min fairness.
    MaxMin(Flows<(), MaxMin>),
    /// The same, with the time that is lost on each link.
    MaxMinDelays(Flows<Delays, MaxMin>),
    /// Any other.
    Other(Box<dyn Transport>),
}

impl Built {
    /// The same, whichever it is.
    pub fn boxed(self) -> Box<dyn Transport> {
        match self {
            Self::EqualShare(flows) => Box::new(flows),
            Self::EqualShareDelays(flows) => Box::new(flows),
            Self::MaxMin(flows) => Box::new(flows),
            Self::MaxMinDelays(flows) => Box::new(flows),
            Self::Other(transport) => transport,
        }
    }
}
