//! Numbers of ranks or nodes as users write them: `3`, `[3, 17]`, `"0-7,12"`.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers as ranges that include both ends, in the order in which they were written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Numbers(Vec<(u32, u32)>);

impl Numbers {
    /// Reads `3`, `0-7` or `0-7,12`.
    ///
    /// # Errors
    /// The text is none of these. The message says what is wrong and, after a semicolon, what to write
    /// instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |part: &str| format!("`{part}` is not a number or range of numbers; write \"3\", \"0-7\" or \"0-7,12\"");
        let number = |part: &str, of: &str| part.trim().parse::<u32>().map_err(|_| wrong(of));
        let range = |part: &str| {
            let part = part.trim();
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first, part)?, number(last, part)?),
                None => (number(part, part)?, number(part, part)?),
            };
            if first <= last {
                Ok((first, last))
            } else {
                Err(format!("`{part}` runs backwards; write \"{last}-{first}\""))
            }
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the ranges, which include both ends.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Returns the largest number.
    pub fn largest(&self) -> Option<u32> {
        self.0.iter().map(|(_, last)| *last).max()
    }

    /// Returns a number that occurs twice.
    pub fn repeated(&self) -> Option<u32> {
        let mut ranges = self.0.clone();
        ranges.sort_unstable();
        ranges.windows(2).find(|pair| pair[1].0 <= pair[0].1).map(|pair| pair[1].0)
    }

    /// Returns all numbers. Check the [largest](Numbers::largest) first: a range may be long.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a list of numbers, or a text like \"0-7\"")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Numbers, E> {
                let one = u32::try_from(value).map_err(|_| E::custom(format!("{value} is too large a number")))?;
                Ok(Numbers(vec![(one, one)]))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Numbers, E> {
                let one = u64::try_from(value).map_err(|_| E::custom(format!("{value} is below 0")))?;
                self.visit_u64(one)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Numbers, E> {
                Numbers::parse(text).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Numbers, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = items.next_element::<u32>()? {
                    all.push((one, one));
                }
                Ok(Numbers(all))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Numbers {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Numbers".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string" },
            { "type": "integer", "minimum": 0 },
            { "type": "array", "items": { "type": "integer", "minimum": 0 } },
        ] })
    }
}
