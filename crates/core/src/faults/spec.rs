//! `[faults]`: what fails, when, and what becomes of messages.

use super::part::part;
use crate::diagnostic::Located;
use crate::topology::OneOrList;
use crate::units::Time;

/// `[faults]`: links and switches that fail, from the start or at a time. A link that is named by what the program
/// prints (`switch 0 -> switch 1`) is that direction; `switch 0 <-> switch 1` is a cable, both directions. A switch
/// that fails takes all its links along.
#[spec(partial, Default)]
pub struct FaultsSpec {
    /// Cables that fail: a part of all cables between switches, drawn at random; or names.
    pub links: Option<Located<OneOrList<String>>>,
    /// Switches that fail: a part of all, drawn at random; or names.
    pub switches: Option<Located<OneOrList<String>>>,
    /// Whether cables are also drawn from those between nodes and switches (default false).
    pub node_links: Option<Located<bool>>,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
    /// What these links and switches still carry, a part of what they did (`50 %`) or a bandwidth (default: nothing).
    pub bandwidth: Option<Located<String>>,
    /// When they fail (default 0 s: from the start).
    pub at: Option<Located<Time>>,
    /// How long after a link fails or comes back routes are new (default 0 s).
    pub rerouting_delay: Option<Located<Time>>,
    /// What becomes of a message on a link that fails (default `resend`).
    #[serde(skip_serializing_if = "OnFailure::is_resend")]
    pub on_failure: OnFailure,
    /// What happens to one link or switch at a time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Located<EventSpec>>,
}

/// What becomes of a message on a link that fails.
#[spec(Copy, Eq, Default)]
pub enum OnFailure {
    /// It is sent again from its first byte, when routes are new.
    #[default]
    Resend,
    /// It never arrives, and who waits for it waits for ever.
    Lost,
}

impl OnFailure {
    fn is_resend(&self) -> bool {
        *self == Self::Resend
    }
}

/// `[[faults.event]]`: what happens to one link or switch at a time.
#[spec(partial, Default)]
pub struct EventSpec {
    /// When (default 0 s: from the start).
    pub at: Option<Located<Time>>,
    /// The link, or the cable.
    pub link: Option<Located<String>>,
    /// The switch, instead.
    pub switch: Option<Located<String>>,
    /// Whether it fails or comes back.
    pub state: Option<StateSpec>,
    /// What it carries from now on, instead: a part of what it did (`50 %`) or a bandwidth.
    pub bandwidth: Option<Located<String>>,
}

/// Whether a link fails or comes back.
#[spec(Copy, Eq)]
pub enum StateSpec {
    /// It fails.
    Down,
    /// It comes back.
    Up,
}

impl FaultsSpec {
    /// Whether it says that nothing fails.
    pub fn is_nothing(&self) -> bool {
        let names_none = |which: &Option<Located<OneOrList<String>>>| {
            which.as_ref().is_none_or(|which| matches!(&**which, OneOrList::One(text) if part(text) == Some(Ok(0.0))))
        };
        names_none(&self.links) && names_none(&self.switches) && self.event.is_empty()
    }

    /// Whether anything is written at all, which may be wrong.
    pub fn says_anything(&self) -> bool {
        let Self { node_links, bandwidth, at, .. } = self;
        node_links.is_some() || bandwidth.is_some() || at.is_some()
    }

    /// Whether another seed draws other links or switches.
    pub fn depends_on_seed(&self) -> bool {
        let is_drawn = |which: &Option<Located<OneOrList<String>>>| {
            which.as_ref().is_some_and(
                |which| matches!(&**which, OneOrList::One(text) if part(text).is_some_and(|part| part != Ok(0.0))),
            )
        };
        self.seed.is_none() && (is_drawn(&self.links) || is_drawn(&self.switches))
    }
}
