//! `[faults]`: links and switches that fail, the times, and the treatment of messages.

use super::part::part;
use crate::diagnostic::Located;
use crate::topology::OneOrList;
use crate::units::Time;

/// `[faults]`: links and switches that fail, from the start or at a time. A link named as the program
/// prints it (`switch 0 -> switch 1`) is that direction; `switch 0 <-> switch 1` is a cable, both
/// directions. A switch that fails takes all its links down. Names are those of `hayase topology show NAME
/// -o x.csv`; a name means all parallel cables, with `#2` behind it the second one. With one seed, all that
/// fails of 1 % also fails of 5 %. Faults from the start apply to every transport, later ones to flows
/// alone (not with `solver = "groups"`).
#[spec(partial, Default)]
pub struct FaultsSpec {
    /// Cables that fail: a part of all cables between switches, drawn at random (the nearest whole number),
    /// or names.
    pub links: Option<Located<OneOrList<String>>>,
    /// Switches that fail: a part of all switches, drawn at random, or names.
    pub switches: Option<Located<OneOrList<String>>>,
    /// Also draw from the cables between nodes and switches (default false).
    pub node_links: Option<Located<bool>>,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
    /// Remaining bandwidth of these links and switches: a part of the original (`50 %`) or a bandwidth
    /// (default: none).
    pub bandwidth: Option<Located<String>>,
    /// Time of the failure (default 0 s: from the start).
    pub at: Option<Located<Time>>,
    /// Delay from the failure or recovery of a link to new routes (default 0 s).
    pub rerouting_delay: Option<Located<Time>>,
    /// Treatment of a message on a link that fails (default `resend`).
    #[serde(skip_serializing_if = "OnFailure::is_resend")]
    pub on_failure: OnFailure,
    /// Events of single links or switches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Located<EventSpec>>,
}

/// Treatment of a message on a link that fails.
#[spec(Copy, Eq, Default)]
pub enum OnFailure {
    /// The message is sent again from its first byte, when routes are new.
    #[default]
    Resend,
    /// The message never arrives, and its receiver waits for ever.
    Lost,
}

impl OnFailure {
    fn is_resend(&self) -> bool {
        *self == Self::Resend
    }
}

/// `[[faults.event]]`: a change of one link or switch at a time.
#[spec(partial, Default)]
pub struct EventSpec {
    /// Time of the event (default 0 s: from the start).
    pub at: Option<Located<Time>>,
    /// The link, or the cable.
    pub link: Option<Located<String>>,
    /// The switch, instead.
    pub switch: Option<Located<String>>,
    /// New state: `down` if it fails, `up` if it comes back.
    pub state: Option<StateSpec>,
    /// New bandwidth, instead of a state: a part of the original (`50 %`; `100 %` restores it) or a
    /// bandwidth.
    pub bandwidth: Option<Located<String>>,
}

/// New state of a link.
#[spec(Copy, Eq)]
pub enum StateSpec {
    /// It fails.
    Down,
    /// It comes back.
    Up,
}

impl FaultsSpec {
    /// Returns true if nothing fails by this specification.
    pub fn is_nothing(&self) -> bool {
        let names_none = |which: &Option<Located<OneOrList<String>>>| {
            which.as_ref().is_none_or(|which| matches!(&**which, OneOrList::One(text) if part(text) == Some(Ok(0.0))))
        };
        names_none(&self.links) && names_none(&self.switches) && self.event.is_empty()
    }

    /// Returns true if the specification is not empty; it may be wrong.
    pub fn is_given(&self) -> bool {
        let Self { node_links, bandwidth, at, .. } = self;
        node_links.is_some() || bandwidth.is_some() || at.is_some()
    }

    /// Returns true if another seed draws other links or switches.
    pub fn depends_on_seed(&self) -> bool {
        let is_drawn = |which: &Option<Located<OneOrList<String>>>| {
            which.as_ref().is_some_and(
                |which| matches!(&**which, OneOrList::One(text) if part(text).is_some_and(|part| part != Ok(0.0))),
            )
        };
        self.seed.is_none() && (is_drawn(&self.links) || is_drawn(&self.switches))
    }
}
