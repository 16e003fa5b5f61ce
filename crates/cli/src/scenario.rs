//! Scenarios from what was typed.

use std::num::NonZeroU32;

use super::Failure;
use super::args::ScenarioArgs;
use hayase::diagnostic::Diagnostic;
use hayase::scenario::Loader;

impl ScenarioArgs {
    /// The texts of the scenario; options override files.
    pub fn loader(&self) -> Loader {
        let mut loader = Loader::new();
        if let Some(path) = &self.scenario {
            loader = loader.file(path);
        }
        type Set = fn(Loader, &str) -> Loader;
        let options: [(&Option<String>, Set); 12] = [
            (&self.preset, Loader::preset),
            (&self.machine, Loader::machine),
            (&self.node, Loader::node),
            (&self.topology, Loader::topology),
            (&self.pattern, Loader::pattern),
            (&self.size, Loader::size),
            (&self.placement, Loader::placement),
            (&self.sharing, Loader::sharing),
            (&self.transport, Loader::transport),
            (&self.injection, Loader::injection),
            (&self.routing, Loader::routing),
            (&self.jitter, Loader::jitter),
        ];
        for (value, add) in options {
            if let Some(value) = value {
                loader = add(loader, value);
            }
        }
        if let Some(seed) = self.seed {
            loader = loader.seed(seed);
        }
        self.set.iter().fold(loader, |loader, assignment| loader.set("--set", assignment))
    }
}

/// Seeds of one run or comparison at most: more are several runs.
const MOST_SEEDS: u64 = 1 << 20;

/// So many seeds from the first on.
pub fn seeds(first: u64, count: Option<NonZeroU32>) -> Result<Vec<u64>, Failure> {
    let count = u64::from(count.map_or(1, NonZeroU32::get));
    if count > MOST_SEEDS {
        return Err(Diagnostic::new("too-large", format!("--seeds {count}: at most {MOST_SEEDS} seeds at once")).into());
    }
    // TOML has no larger integers.
    match first.checked_add(count - 1).filter(|last| i64::try_from(*last).is_ok()) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Diagnostic::new("wrong-value", format!("there are no {count} seeds from {first} on"))
            .help("the largest seed is 9223372036854775807")
            .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_each_other_as_far_as_there_are_any() {
        assert_eq!(seeds(3, NonZeroU32::new(3)).unwrap(), [3, 4, 5]);
        assert_eq!(seeds(7, None).unwrap(), [7]);
        assert!(seeds(i64::MAX as u64, NonZeroU32::new(2)).is_err());
        assert!(seeds(u64::MAX, NonZeroU32::new(2)).is_err());
    }
}
