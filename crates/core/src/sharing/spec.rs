//! Sharing policy of a scenario: `[sharing.max-min]` and so on.

use super::{
    Blocking, Channels, EqualShare, Groups, MaxMin, Redistribute, Sharing, VirtualOutput, WeightedEqualShare,
    WeightedMaxMin,
};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

/// Sharing policy: how flows divide the bandwidth of links.
#[spec(Named)]
pub enum SharingSpec {
    /// Each link is divided evenly; a flow gets the least of its links.
    EqualShare(EqualShareSpec),
    /// Equal share, then rounds that hand out bandwidth that flows throttled elsewhere leave unused.
    Redistribute(RedistributeSpec),
    /// Exact max-min fairness (the default).
    MaxMin(MaxMinSpec),
    /// Rates that queues at the inputs of switches let through, with finite buffers: head-of-line blocking
    /// and backpressure.
    Blocking(BlockingSpec),
}

/// `[sharing.blocking]`.
#[spec(partial)]
pub struct BlockingSpec {
    /// Queues of a link. On tori under dimension-order: its virtual channels (default dateline). On other
    /// fabrics: classes that keep routes from waiting in a circle. `voq` has a queue for each output on any
    /// fabric.
    pub channels: Option<BlockingChannels>,
    /// Relative tolerance of the rate that a queue lets through (default 0.2).
    pub tolerance: Located<f64>,
    /// Delay of new rates after a message comes or goes, as a part of the time that the message takes alone
    /// (default 0.2).
    pub renewal: Located<f64>,
    /// Bytes of the last packet of a message, which is stored and forwarded at each link behind the rest
    /// (default 1500 B; 0 B for none).
    pub packet_size: Located<Bytes>,
    /// Number of queues of a source, for nodes with several interfaces: as many of its messages are under way at once,
    /// in the order in which they are posted (default 1).
    pub source_queues: Located<u32>,
}

/// Queues of a link.
#[spec(Copy, Eq, Named)]
pub enum BlockingChannels {
    /// Two channels: messages change to the second one on the link that closes a ring.
    Dateline,
    /// Two channels: messages that will cross the link that closes a ring use the second one from where they
    /// enter the ring.
    Turn,
    /// One channel: messages in a ring go before messages that enter it.
    Bubble,
    /// One queue for each output of the switch: no message waits for one that goes to another output.
    Voq,
}

impl Default for BlockingSpec {
    fn default() -> Self {
        Self {
            channels: None,
            tolerance: 0.2.into(),
            renewal: 0.2.into(),
            packet_size: Bytes::PACKET.into(),
            source_queues: 1.into(),
        }
    }
}

impl BlockingSpec {
    /// Returns the mistakes in its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        let tolerance = *self.tolerance;
        if !(LEAST_TOLERANCE..1.0).contains(&tolerance) {
            let message = format!("the tolerance {tolerance} is not a fraction of a rate");
            mistakes.push(
                Diagnostic::new("wrong-value", message)
                    .at_value(&self.tolerance)
                    .label("a number from 1e-9 to below 1 is expected")
                    .help("0.2 is the default; 0.01 is closer to the fixed point and takes ten times as long"),
            );
        }
        let renewal = *self.renewal;
        if !(0.0..=10.0).contains(&renewal) {
            let message = format!("rates cannot be put off by {renewal} times a message");
            mistakes.push(
                Diagnostic::new("wrong-value", message)
                    .at_value(&self.renewal)
                    .label("a number from 0 to 10 is expected")
                    .help("0.2 is the default; 0 works rates out whenever a message comes or goes"),
            );
        }
        if !(1..=MOST_QUEUES).contains(&*self.source_queues) {
            let message = format!("a source cannot have {} queues", *self.source_queues);
            mistakes.push(
                Diagnostic::new("wrong-value", message)
                    .at_value(&self.source_queues)
                    .label(format!("a number from 1 to {MOST_QUEUES} is expected")),
            );
        }
        mistakes
    }
}

/// Largest number of queues of a source.
const MOST_QUEUES: u32 = 64;

/// Smallest tolerance; below it the solver would chase rounding errors.
const LEAST_TOLERANCE: f64 = 1e-9;

/// `[sharing.equal-share]`: no options.
#[spec(Default)]
pub struct EqualShareSpec {}

/// `[sharing.max-min]`.
#[spec(partial, Default)]
pub struct MaxMinSpec {
    /// Solver of the rates; all solvers give the same rates, up to rounding.
    #[serde(skip_serializing_if = "Solver::is_auto")]
    pub solver: Solver,
}

/// Solver of exact max-min rates.
#[spec(Copy, Eq, Default)]
pub enum Solver {
    /// By groups on tori and meshes with long sides (20 nodes on average in two dimensions, 30 in three, 40
    /// in four), and for an incast of 256 messages or more. For a program: by groups while 256 messages share
    /// a link. Otherwise flow by flow.
    #[default]
    Auto,
    /// Flow by flow: fastest where few flows share a bottleneck.
    Sweep,
    /// By groups of flows with the same bottleneck: fastest where thousands share one (an incast), and on
    /// large tori.
    Groups,
}

impl Solver {
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// `[sharing.redistribute]`.
#[spec(partial)]
pub struct RedistributeSpec {
    /// Relative growth of rates at which rounds end: no rate grows by more than this part of itself (default
    /// 0.01).
    pub threshold: Located<f64>,
}

impl Default for RedistributeSpec {
    fn default() -> Self {
        Self { threshold: 0.01.into() }
    }
}

impl Default for SharingSpec {
    fn default() -> Self {
        Self::MaxMin(MaxMinSpec::default())
    }
}

impl SharingSpec {
    /// Builds the policy on links of these capacities \[B/s\].
    pub fn build(&self, capacities: Vec<f64>) -> Box<dyn Sharing> {
        match self {
            Self::EqualShare(_) => Box::new(EqualShare::new(capacities)),
            Self::Redistribute(spec) => Box::new(Redistribute::new(capacities, *spec.threshold)),
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Box::new(Groups::new(capacities)),
            Self::MaxMin(_) => Box::new(MaxMin::new(capacities)),
            Self::Blocking(BlockingSpec { channels: Some(BlockingChannels::Voq), tolerance, .. }) => {
                Box::new(VirtualOutput::new(capacities, **tolerance))
            }
            // Without a fabric, links have one channel each.
            Self::Blocking(spec) => Box::new(Blocking::new(capacities, Channels::default(), *spec.tolerance)),
        }
    }

    /// Returns the mistakes in its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        match self {
            Self::Blocking(spec) => spec.check(),
            Self::Redistribute(spec) if !(*spec.threshold > 0.0 && *spec.threshold < 1.0) => {
                let message = format!("the threshold {} is not a fraction of a rate", *spec.threshold);
                let diagnostic = Diagnostic::new("wrong-value", message).at_value(&spec.threshold);
                let label = "a number between 0 and 1 is expected";
                vec![diagnostic.label(label).help("the published value is 0.01")]
            }
            Self::EqualShare(_) | Self::Redistribute(_) | Self::MaxMin(_) => Vec::new(),
        }
    }

    /// Returns the reason why the policy takes no flows on several paths, with weights or limits; `None` if
    /// it does.
    pub fn refuses_terms(&self) -> Option<&'static str> {
        match self {
            Self::Redistribute(_) => {
                Some("its rounds hand out left-over evenly, for flows on one path without weights")
            }
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => {
                Some("its groups are of flows with one rate, on one path and without weights")
            }
            Self::Blocking(_) => Some("its queues take messages in the order in which they come, each on one path"),
            Self::EqualShare(_) | Self::MaxMin(_) => None,
        }
    }

    /// Returns the reason why the capacities of links cannot change during a run; `None` if they can.
    pub fn refuses_changes(&self) -> Option<&'static str> {
        match self {
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Some("its groups are made for capacities that stay"),
            Self::EqualShare(_) | Self::Redistribute(_) | Self::MaxMin(_) | Self::Blocking(_) => None,
        }
    }

    /// Returns the reason why no bottleneck link of a flow, and so no culprit, can be named; `None` if one
    /// can.
    pub fn refuses_parties(&self) -> Option<&'static str> {
        match self {
            Self::Redistribute(_) => Some("its rounds hand out left-over, so that no one link holds a flow back"),
            Self::Blocking(_) => Some("what holds a flow back there may be a queue that it is not in"),
            Self::EqualShare(_) | Self::MaxMin(_) => None,
        }
    }

    /// Builds the policy for flows on several paths, with weights and limits, on links of these capacities
    /// \[B/s\], where it is defined.
    pub fn build_on_terms(&self, capacities: Vec<f64>) -> Option<Box<dyn Sharing>> {
        if self.refuses_terms().is_some() {
            return None;
        }
        Some(match self {
            Self::EqualShare(_) => Box::new(WeightedEqualShare::new(capacities)),
            Self::MaxMin(_) | Self::Redistribute(_) | Self::Blocking(_) => Box::new(WeightedMaxMin::new(capacities)),
        })
    }
}
