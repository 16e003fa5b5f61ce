//! The points of a plan: every combination of what is varied, one after another, without a list of them.

use smallvec::SmallVec;

use super::values::{Values, amount, amount_of, normal};
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{Kind, Tree};
use crate::scenario::Setting;
use crate::study::Amount;

/// A key that is varied.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// As it is written: `topology.torus.bandwidth`.
    pub name: String,
    /// Its names.
    pub path: Vec<String>,
    /// Where it stands.
    pub at: Span,
}

/// Keys that vary together; one, or those of a `[[zip]]`.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub keys: Vec<Key>,
    /// Of each key; all equally many.
    pub values: Vec<Values>,
}

impl Group {
    pub fn len(&self) -> u64 {
        self.values.first().map_or(1, Values::len)
    }
}

/// What a point must be, or must not be, to be left out: all of its keys.
#[derive(Clone, Debug)]
pub(super) struct Filter(pub Vec<(String, Vec<Wanted>)>);

/// A value that is wanted.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// This one.
    Value(String),
    /// From the one to the other.
    Between(Amount, Amount),
}

impl Wanted {
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

    /// Returns true if a value is meant.
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
    fn takes(&self, values: &[(&Key, Tree)]) -> bool {
        self.0.iter().all(|(name, wanted)| {
            let value = values.iter().find(|(key, _)| key.name == *name);
            value.is_some_and(|(_, value)| wanted.iter().any(|wanted| wanted.is(value)))
        })
    }
}

/// All combinations.
#[derive(Clone, Debug)]
pub(super) struct Points {
    /// The first one changes slowest.
    pub groups: Vec<Group>,
    /// The seeds, which change fastest.
    pub seeds: Option<(Key, Values)>,
    /// What is left out.
    pub skip: Vec<Filter>,
    /// What is taken alone, where there is any.
    pub only: Vec<Filter>,
}

impl Points {
    /// Combinations of everything but the seed, those that filters leave out as well; nothing where that is no number.
    pub fn configurations(&self) -> Option<u64> {
        self.groups.iter().try_fold(1_u64, |all, group| all.checked_mul(group.len()))
    }

    /// Seeds of each.
    pub fn seeds(&self) -> u64 {
        self.seeds.as_ref().map_or(1, |(_, seeds)| seeds.len())
    }

    /// All of them, filters aside.
    pub fn len(&self) -> Option<u64> {
        self.configurations()?.checked_mul(self.seeds())
    }

    /// Whether anything is left out.
    pub fn is_filtered(&self) -> bool {
        !self.skip.is_empty() || !self.only.is_empty()
    }

    /// The keys that are varied, in the order of the plan.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        let seed = self.seeds.iter().map(|(key, _)| key);
        self.groups.iter().flat_map(|group| &group.keys).chain(seed)
    }

    /// The same with all the values of each.
    pub fn varied(&self) -> impl Iterator<Item = (&Key, &Values)> {
        let seed = self.seeds.iter().map(|(key, values)| (key, values));
        self.groups.iter().flat_map(|group| group.keys.iter().zip(&group.values)).chain(seed)
    }

    /// Of each group the number of its values in the combination of this number.
    pub fn numbers(&self, configuration: u64) -> SmallVec<[u64; 8]> {
        let mut rest = configuration;
        let mut numbers: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.groups.len());
        for (group, number) in self.groups.iter().zip(&mut numbers).rev() {
            *number = rest % group.len();
            rest /= group.len();
        }
        numbers
    }

    /// The values of the combination of this number.
    pub fn values(&self, configuration: u64) -> Vec<(&Key, Tree)> {
        let mut values = Vec::new();
        for (group, number) in self.groups.iter().zip(self.numbers(configuration)) {
            values.extend(group.keys.iter().zip(&group.values).map(|(key, all)| (key, all.value(number))));
        }
        values
    }

    /// The seed of this number.
    pub fn seed(&self, number: u64) -> Option<(&Key, Tree)> {
        self.seeds.as_ref().map(|(key, seeds)| (key, seeds.value(number)))
    }

    /// The number that a seed is.
    pub fn seed_number(&self, number: u64) -> Option<u64> {
        match self.seed(number)?.1.kind {
            Kind::Whole(text) => text.replace('_', "").parse().ok(),
            _ => None,
        }
    }

    /// Whether filters leave a combination in with the seed of this number.
    pub fn takes_with(&self, values: &[(&Key, Tree)], seed: u64) -> bool {
        if !self.is_filtered() {
            return true;
        }
        let mut values = values.to_vec();
        values.extend(self.seed(seed));
        self.takes(&values)
    }

    /// Whether filters leave it in.
    pub fn takes(&self, values: &[(&Key, Tree)]) -> bool {
        let is_wanted = self.only.is_empty() || self.only.iter().any(|filter| filter.takes(values));
        is_wanted && !self.skip.iter().any(|filter| filter.takes(values))
    }
}

/// The settings of a combination.
pub(super) fn settings(values: &[(&Key, Tree)]) -> Vec<Setting> {
    let setting = |(key, value): &(&Key, Tree)| Setting { key: key.path.clone(), at: key.at, value: value.clone() };
    values.iter().map(setting).collect()
}

/// Which of so many shards a point belongs to: by its keys and values, whatever their order and however they are
/// written, so that no shard has only the large ones.
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
