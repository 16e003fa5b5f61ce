//! Pairs of sending and receiving ranks, as a short text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::RankId;

/// Pairs of a sending and a receiving rank.
///
/// ```text
/// 0-7:8-15      between the ranks of two sets, in both directions
/// 0-7>8-15      from ranks of the first set to ranks of the second only
/// 0-7           among the ranks of a set
/// node:8        among the first 8 ranks, among the next 8, and so on: ranks that share a node
/// ```
/// A set is ranges of ranks joined with `+`: `0-3+8+12-15`.
///
/// ```
/// # use hayase_core as hayase;
/// use hayase::ids::RankId;
/// use hayase::node::Pairs;
///
/// let between: Pairs = "0-7:8-15".parse().unwrap();
/// assert!(between.hold(RankId(3), RankId(9)) && between.hold(RankId(9), RankId(3)));
/// assert!(!between.hold(RankId(3), RankId(4)));
/// let node: Pairs = "node:8".parse().unwrap();
/// assert!(node.hold(RankId(9), RankId(15)) && !node.hold(RankId(7), RankId(8)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pairs {
    text: String,
    rule: PairRule,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PairRule {
    /// From one set to the other, and optionally back.
    Sets { from: Set, to: Set, both_ways: bool },
    /// Among consecutive ranks of each node, with this number of ranks per node.
    Nodes(u32),
}

/// Ranges of ranks, both ends included.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Set(Vec<(u32, u32)>);

impl Set {
    fn holds(&self, rank: RankId) -> bool {
        self.0.iter().any(|&(from, to)| (from..=to).contains(&rank.0))
    }

    fn read(text: &str) -> Option<Self> {
        let range = |part: &str| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            // The number of a rank has no sign, which `parse` would accept.
            let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
            Some((number(from)?, number(to)?)).filter(|(from, to)| from <= to)
        };
        text.split('+').map(range).collect::<Option<_>>().map(Self)
    }
}

impl Pairs {
    /// Returns true if messages from `src` to `dst` are included.
    #[inline]
    pub fn hold(&self, src: RankId, dst: RankId) -> bool {
        match &self.rule {
            PairRule::Sets { from, to, both_ways } => {
                from.holds(src) && to.holds(dst) || *both_ways && from.holds(dst) && to.holds(src)
            }
            PairRule::Nodes(size) => src.0 / size == dst.0 / size,
        }
    }

    /// Returns the largest rank that the text names.
    pub fn largest(&self) -> Option<u32> {
        match &self.rule {
            PairRule::Sets { from, to, .. } => from.0.iter().chain(&to.0).map(|&(_, last)| last).max(),
            PairRule::Nodes(_) => None,
        }
    }
}

impl FromStr for Pairs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` names no pairs of ranks; write 0-7:8-15 (between two sets), 0-7>8-15 (one way), 0-7 (among them) or node:8"
            )
        };
        let rule = if let Some(size) = text.strip_prefix("node:") {
            PairRule::Nodes(size.parse::<u32>().ok().filter(|&size| size > 0).ok_or_else(wrong)?)
        } else {
            let (from, to, both_ways) = match (text.split_once(':'), text.split_once('>')) {
                (Some((a, b)), _) => (a, b, true),
                (_, Some((a, b))) => (a, b, false),
                _ => (text, text, false),
            };
            let set = |text| Set::read(text).ok_or_else(wrong);
            PairRule::Sets { from: set(from)?, to: set(to)?, both_ways }
        };
        Ok(Self { text: text.to_owned(), rule })
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Pairs {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Pairs> for String {
    fn from(pairs: Pairs) -> Self {
        pairs.text
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Pairs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pairs".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> Vec<(u32, u32)> {
        let pairs: Pairs = text.parse().unwrap();
        let all = (0..4).flat_map(|src| (0..4).map(move |dst| (src, dst)));
        all.filter(|&(src, dst)| src != dst && pairs.hold(RankId(src), RankId(dst))).collect()
    }

    #[test]
    fn pairs_are_of_two_sets_of_one_or_of_those_that_share_a_node() {
        assert_eq!(held("0-1:2"), [(0, 2), (1, 2), (2, 0), (2, 1)]);
        assert_eq!(held("0-1>2"), [(0, 2), (1, 2)]);
        assert_eq!(held("0+2-3"), [(0, 2), (0, 3), (2, 0), (2, 3), (3, 0), (3, 2)]);
        assert_eq!(held("node:2"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!("0-1:2+9".parse::<Pairs>().unwrap().largest(), Some(9));
        for wrong in ["", "a", "3-2", "0:", "node:0", "0-1:2:3", "+1", "0>1:2", "-1"] {
            assert!(wrong.parse::<Pairs>().is_err(), "{wrong}");
        }
    }
}
