//! Transports by concrete type.

use super::Flows;
use super::delays::Delays;
use crate::sharing::{EqualShare, MaxMin};
use crate::transport::Transport;

/// Built transport. The transports that play most messages have variants of their own, so that the engine can
/// be compiled for them.
pub enum Built {
    /// Flows under equal share.
    EqualShare(Flows<(), EqualShare>),
    /// Flows under equal share, with the time that is lost on each link.
    EqualShareDelays(Flows<Delays, EqualShare>),
    /// Flows under exact max-min fairness.
    MaxMin(Flows<(), MaxMin>),
    /// Flows under exact max-min fairness, with the time that is lost on each link.
    MaxMinDelays(Flows<Delays, MaxMin>),
    /// Any other transport.
    Other(Box<dyn Transport>),
}

impl Built {
    /// Returns the transport as a trait object.
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
