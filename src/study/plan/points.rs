//! Points of a plan: every combination of the values of keys, enumerated without a list.

use smallvec::SmallVec;

use super::values::{Values, amount, amount_of, normal};
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{Kind, Tree};
use crate::scenario::Setting;
use crate::study::Amount;

/// Key that varies.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// Name of the key as written: `topology.torus.bandwidth`.
    pub name: String,
    /// Parts of the name.
    pub path: Vec<String>,
    /// Place in the plan.
    pub at: Span,
}

/// Keys that vary together: a single key, or the keys of a `[[zip]]`.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub keys: Vec<Key>,
    /// Values of each key; all keys have the same number of values.
    pub values: Vec<Values>,
}

impl Group {
    pub fn len(&self) -> u64 {
        self.values.first().map_or(1, Values::len)
    }
}

/// Filter of points: a point matches if all keys of the filter have one of the wanted values.
#[derive(Clone, Debug)]
pub(super) struct Filter(pub Vec<(String, Vec<FilterItem>)>);

/// Wanted value or range of a filter.
#[derive(Clone, Debug)]
pub(super) enum FilterItem {
    /// A single value.
    Value(String),
    /// A range, with both ends.
    Between(Amount, Amount),
}

impl FilterItem {
    /// Reads a value of a filter.
    pub fn of(tree: &Tree) -> Result<Self, Diagnostic> {
        let ends = tree.text().and_then(|text| text.split_once("..")).and_then(|(first, last)| {
            let last = last.strip_prefix('=').unwrap_or(last);
            let (first, last) = (amount_of(first)?, amount_of(last)?);
            first.is_like(last).then_some((first, last))
        });
        match ends {
            Some((first, last)) if first.value > last.value => {
                let message = format!("{} is empty: it ends before it begins", tree.in_words());
                Err(Diagnostic::new("wrong-value", message).at(tree.span).help("write the smaller one first"))
            }
            Some((first, last)) => Ok(Self::Between(first, last)),
            None => Ok(Self::Value(normal(tree))),
        }
    }

    /// Returns true if the value matches.
    pub fn is(&self, tree: &Tree) -> bool {
        match self {
            Self::Value(value) => *value == normal(tree),
            Self::Between(first, last) => amount(tree).is_some_and(|number| {
                number.is_like(*first) && first.value <= number.value && number.value <= last.value
            }),
        }
    }
}

impl Filter {
    fn matches(&self, values: &[(&Key, Tree)]) -> bool {
        self.0.iter().all(|(name, wanted)| {
            let value = values.iter().find(|(key, _)| key.name == *name);
            value.is_some_and(|(_, value)| wanted.iter().any(|wanted| wanted.is(value)))
        })
    }
}

/// All combinations of values.
#[derive(Clone, Debug)]
pub(super) struct Points {
    /// Groups of keys; the first one changes slowest.
    pub groups: Vec<Group>,
    /// Seeds, which change fastest.
    pub seeds: Option<(Key, Values)>,
    /// Filters of points to leave out.
    pub skip: Vec<Filter>,
    /// Filters of points to keep; if there are any, all other points are left out.
    pub only: Vec<Filter>,
}

impl Points {
    /// Counts the combinations of all keys except the seed, including those that filters leave out; `None` on
    /// overflow.
    pub fn configurations(&self) -> Option<u64> {
        self.groups.iter().try_fold(1_u64, |all, group| all.checked_mul(group.len()))
    }

    /// Returns the number of seeds of each configuration.
    pub fn seeds(&self) -> u64 {
        self.seeds.as_ref().map_or(1, |(_, seeds)| seeds.len())
    }

    /// Counts all points before filters apply; `None` on overflow.
    pub fn len(&self) -> Option<u64> {
        self.configurations()?.checked_mul(self.seeds())
    }

    /// Returns true if there are filters.
    pub fn is_filtered(&self) -> bool {
        !self.skip.is_empty() || !self.only.is_empty()
    }

    /// Returns the keys that vary, in the order of the plan.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        let seed = self.seeds.iter().map(|(key, _)| key);
        self.groups.iter().flat_map(|group| &group.keys).chain(seed)
    }

    /// Returns the keys that vary, each with all its values.
    pub fn varied(&self) -> impl Iterator<Item = (&Key, &Values)> {
        let seed = self.seeds.iter().map(|(key, values)| (key, values));
        self.groups.iter().flat_map(|group| group.keys.iter().zip(&group.values)).chain(seed)
    }

    /// Returns for each group the number of its values in this combination.
    pub fn numbers(&self, configuration: u64) -> SmallVec<[u64; 8]> {
        let mut rest = configuration;
        let mut numbers: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.groups.len());
        for (group, number) in self.groups.iter().zip(&mut numbers).rev() {
            *number = rest % group.len();
            rest /= group.len();
        }
        numbers
    }

    /// Returns the keys with their values in this combination.
    pub fn values(&self, configuration: u64) -> Vec<(&Key, Tree)> {
        let mut values = Vec::new();
        for (group, number) in self.groups.iter().zip(self.numbers(configuration)) {
            values.extend(group.keys.iter().zip(&group.values).map(|(key, all)| (key, all.value(number))));
        }
        values
    }

    /// Returns the key and value of the seed with this number.
    pub fn seed(&self, number: u64) -> Option<(&Key, Tree)> {
        self.seeds.as_ref().map(|(key, seeds)| (key, seeds.value(number)))
    }

    /// Returns the seed with this number as an integer.
    pub fn seed_number(&self, number: u64) -> Option<u64> {
        match self.seed(number)?.1.kind {
            Kind::Whole(text) => text.replace('_', "").parse().ok(),
            _ => None,
        }
    }

    /// Returns true if filters leave a combination in with the seed of this number.
    pub fn takes_with(&self, values: &[(&Key, Tree)], seed: u64) -> bool {
        if !self.is_filtered() {
            return true;
        }
        let mut values = values.to_vec();
        values.extend(self.seed(seed));
        self.matches(&values)
    }

    /// Returns true if filters leave a combination in.
    pub fn matches(&self, values: &[(&Key, Tree)]) -> bool {
        let is_wanted = self.only.is_empty() || self.only.iter().any(|filter| filter.matches(values));
        is_wanted && !self.skip.iter().any(|filter| filter.matches(values))
    }
}

/// Returns the settings of a combination.
pub(super) fn settings(values: &[(&Key, Tree)]) -> Vec<Setting> {
    let setting = |(key, value): &(&Key, Tree)| Setting { key: key.path.clone(), at: key.at, value: value.clone() };
    values.iter().map(setting).collect()
}

/// Returns the shard to which a point belongs.
///
/// It depends on the keys and values of the point, but not on their order or on how they are written, so that
/// large points are spread over all shards.
pub(super) fn shard_of(values: &[(&Key, Tree)], shards: u32) -> u32 {
    let mut named: Vec<(&str, String)> = values.iter().map(|(key, value)| (key.name.as_str(), normal(value))).collect();
    named.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for (name, value) in &named {
        hasher.update(name.as_bytes()).update(b"=").update(value.as_bytes()).update(b"\n");
    }
    let hash = hasher.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    (u64::from_le_bytes(first) % u64::from(shards.max(1))) as u32
}
