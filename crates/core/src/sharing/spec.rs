//! The sharing policy of a scenario: `[sharing.max-min]` and so on.

use super::{
    Blocking, Channels, EqualShare, Groups, MaxMin, Redistribute, Sharing, VirtualOutput, WeightedEqualShare,
    WeightedMaxMin,
};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

/// The sharing policy of a scenario.
#[spec(Named)]
pub enum SharingSpec {
    /// Each link is divided evenly; a flow gets the least of its links.
    EqualShare(EqualShareSpec),
    /// Equal share, then rounds that hand out what flows throttled elsewhere leave unused.
    Redistribute(RedistributeSpec),
    /// Exact max-min fairness (the default).
    MaxMin(MaxMinSpec),
    /// What queues at the inputs of switches let through, with finite buffers: head-of-line blocking and backpressure.
    Blocking(BlockingSpec),
}

/// `[sharing.blocking]`.
#[spec(partial)]
pub struct BlockingSpec {
    /// The queues of a link: on tori under dimension-order its virtual channels (default dateline); on other fabrics
    /// those that keep routes from waiting in a circle, in classes; `voq` has a queue for each output on any fabric.
    pub channels: Option<BlockingChannels>,
    /// How far what a queue lets through may be off, as a part of it (default 0.2).
    pub tolerance: Located<f64>,
    /// How long rates are put off when a message comes or goes, as a part of the time it takes by itself (default 0.2).
    pub renewal: Located<f64>,
    /// Bytes of the last packet of a message, which is stored and forwarded at each link behind the rest (default 1500
    /// B; 0 B: none is).
    pub packet_size: Located<Bytes>,
}

/// The queues of a link.
#[spec(Copy, Eq, Named)]
pub enum BlockingChannels {
    /// Two: messages change to the second one on the link that closes a ring.
    Dateline,
    /// Two: messages that will cross the link that closes a ring are in the second one from where they turn into it.
    Turn,
    /// One: what is in a ring goes before what enters it.
    Bubble,
    /// One for each output of the switch: nothing waits for what wants another output.
    Voq,
}

impl Default for BlockingSpec {
    fn default() -> Self {
        Self { channels: None, tolerance: 0.2.into(), renewal: 0.2.into(), packet_size: Bytes::PACKET.into() }
    }
}

impl BlockingSpec {
    /// What is wrong with it.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        let tolerance = *self.tolerance;
        if !(LEAST_TOLERANCE..1.0).contains(&tolerance) {
            let message = format!("the tolerance {tolerance} is no part of a rate");
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
        mistakes
    }
}

/// The least tolerance: below it rounding would be looked for.
const LEAST_TOLERANCE: f64 = 1e-9;

/// `[sharing.equal-share]`: no options.
#[spec(Default)]
pub struct EqualShareSpec {}

/// `[sharing.max-min]`.
#[spec(partial, Default)]
pub struct MaxMinSpec {
    /// How the rates are worked out; they are the same, up to rounding.
    #[serde(skip_serializing_if = "Solver::is_auto")]
    pub solver: Solver,
}

/// How exact max-min rates are worked out.
#[spec(Copy, Eq, Default)]
pub enum Solver {
    /// By groups on tori and meshes with long sides (20 nodes on average in two dimensions, 30 in three, 40 in four)
    /// and for an incast of 256 messages and more, of a program while 256 messages share a link, else by flows.
    #[default]
    Auto,
    /// Flow by flow: fastest where few flows share a bottleneck.
    Sweep,
    /// By groups of flows with the same bottleneck: fastest where thousands do (an incast), and on large tori.
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
    /// Rounds go on until no rate grows by more than this part of itself (default 0.01).
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
    /// The policy on links of these capacities \[B/s\].
    pub fn build(&self, capacities: Vec<f64>) -> Box<dyn Sharing> {
        match self {
            Self::EqualShare(_) => Box::new(EqualShare::new(capacities)),
            Self::Redistribute(spec) => Box::new(Redistribute::new(capacities, *spec.threshold)),
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Box::new(Groups::new(capacities)),
            Self::MaxMin(_) => Box::new(MaxMin::new(capacities)),
            Self::Blocking(BlockingSpec { channels: Some(BlockingChannels::Voq), tolerance, .. }) => {
                Box::new(VirtualOutput::new(capacities, **tolerance))
            }
            // Links without a fabric: one channel each.
            Self::Blocking(spec) => Box::new(Blocking::new(capacities, Channels::default(), *spec.tolerance)),
        }
    }

    /// Returns what is wrong with its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        match self {
            Self::Blocking(spec) => spec.check(),
            Self::Redistribute(spec) if !(*spec.threshold > 0.0 && *spec.threshold < 1.0) => {
                let message = format!("the threshold {} is no part of a rate", *spec.threshold);
                let diagnostic = Diagnostic::new("wrong-value", message).at_value(&spec.threshold);
                let label = "a number between 0 and 1 is expected";
                vec![diagnostic.label(label).help("the published value is 0.01")]
            }
            Self::EqualShare(_) | Self::Redistribute(_) | Self::MaxMin(_) => Vec::new(),
        }
    }

    /// Why flows on several paths, with weights or limits cannot be shared so, if they cannot.
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

    /// Why the capacities of links cannot change while flows share them so, if they cannot.
    pub fn refuses_changes(&self) -> Option<&'static str> {
        match self {
            Self::MaxMin(MaxMinSpec { solver: Solver::Groups }) => Some("its groups are made for capacities that stay"),
            Self::EqualShare(_) | Self::Redistribute(_) | Self::MaxMin(_) | Self::Blocking(_) => None,
        }
    }

    /// Why it cannot be said which link holds a flow back, and so whose flows, if it cannot.
    pub fn refuses_parties(&self) -> Option<&'static str> {
        match self {
            Self::Redistribute(_) => Some("its rounds hand out left-over, so that no one link holds a flow back"),
            Self::Blocking(_) => Some("what holds a flow back there may be a queue that it is not in"),
            Self::EqualShare(_) | Self::MaxMin(_) => None,
        }
    }

    /// The policy for flows on several paths, with weights and limits, on links of these capacities \[B/s\], where it
    /// is defined.
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
