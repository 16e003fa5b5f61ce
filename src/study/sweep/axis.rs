//! Axes of a comparison.

use crate::scenario::Loader;

/// Axis of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Axis {
    /// Topologies, by name or path.
    Topology,
    /// Machines, by name or path.
    Machine,
    /// Placements, by name or path.
    Placement,
    /// Sharing policies.
    Sharing,
    /// Transports, `flow:max-min` with its sharing policy.
    Transport,
    /// Routing rules.
    Routing,
    /// Injection rules.
    Injection,
    /// Orders of an all-to-all, or of the tasks of a farm.
    Order,
    /// Faults: parts of the cables, or names; `0` for no faults, the baseline of the others.
    Faults,
    /// Any key of a scenario.
    Key(String),
    /// Patterns, by name or path.
    Pattern,
}

impl Axis {
    /// Returns the loader with this value of the axis, one of `values`.
    pub(super) fn chosen(&self, loader: Loader, value: &str, values: &[String]) -> Loader {
        let table = match self {
            Self::Placement => "placement",
            Self::Sharing => "sharing",
            Self::Transport => "transport",
            Self::Routing => "routing",
            _ => "",
        };
        let is_listed = |choice: &str| values.iter().any(|value| value.split(':').next() == Some(choice));
        let loader = loader.for_choice(table, value, is_listed);
        match self {
            Self::Topology => loader.topology(value),
            Self::Machine => loader.machine(value),
            Self::Placement => loader.placement(value),
            Self::Sharing => loader.sharing(value),
            Self::Transport => loader.transport(value),
            Self::Routing => loader.routing(value),
            Self::Injection => loader.injection(value),
            Self::Order => loader.order(value),
            Self::Faults => loader.faults(value),
            Self::Key(key) => match key.as_str() {
                // The words of the command line, as in plans.
                "machine" => loader.machine(value),
                "pattern" => loader.pattern(value),
                "size" => loader.size(value),
                "injection" => loader.injection(value),
                "jitter" => loader.jitter(value),
                key => loader.set("--vary", &format!("{key}={value}")),
            },
            Self::Pattern => loader.pattern(value),
        }
    }
}
