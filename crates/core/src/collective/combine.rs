//! Work of a rank on the data of a collective: combining operands, copying the input, touching fresh memory.

use serde::Serialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::diagnostic::Diagnostic;
use crate::units::{Bandwidth, Bytes, PerByte};

/// Work of a rank on each byte of its data \[ps/B\].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WorkRates {
    /// Combining two operands.
    pub combine: PerByte,
    /// Copying the input of a reduction.
    pub copy: PerByte,
    /// Touching memory of a new buffer.
    pub fresh: PerByte,
    /// Copying blocks in Bruck's algorithms.
    pub pack: PerByte,
}

/// Rates at which a rank combines operands: `"2 GB/s"`, or a list by the size of the vector.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CombineRates {
    /// The same rate for all vectors.
    One(Bandwidth),
    /// Rates by ascending size; the last applies to all longer vectors.
    List(Vec<CombineRate>),
}

/// Rates for vectors up to a size.
#[spec]
pub struct CombineRate {
    /// Longest vector (left out in the last entry).
    pub to: Option<Bytes>,
    /// Rate at which operands are combined.
    pub rate: Bandwidth,
    /// Rate at which the input of a call is copied (default: it is not copied).
    pub copy: Option<Bandwidth>,
}

impl CombineRates {
    /// Returns a mistake in the rates, if there is one.
    pub(super) fn mistake(&self) -> Option<Diagnostic> {
        let wrong = |message: &str| Diagnostic::new("bad-collectives", message);
        let stands = |rate: &Bandwidth| rate.bytes_per_second() == 0.0;
        let list = match self {
            Self::One(rate) => {
                let never = wrong("operands that are combined at no speed").label("above 0");
                return stands(rate).then(|| never.help("leave it out to combine at once"));
            }
            Self::List(list) => list,
        };
        let Some((last, others)) = list.split_last() else { return Some(wrong("there are no rates")) };
        if list.iter().any(|rates| stands(&rates.rate) || rates.copy.as_ref().is_some_and(stands)) {
            return Some(wrong("operands that are combined or copied at no speed").label("rates above 0"));
        }
        if last.to.is_some() || others.iter().any(|rates| rates.to.is_none()) {
            return Some(wrong("a vector must have one rate").label("`to` in all entries but the last"));
        }
        let descends = others.windows(2).any(|pair| pair[0].to >= pair[1].to);
        descends.then(|| wrong("sizes do not ascend").label("entries by ascending `to`"))
    }

    /// Returns the rates of a call with a vector of this size.
    pub(super) fn of(&self, bytes: u64) -> WorkRates {
        let time = |rate: Bandwidth| PerByte::from_ps(1e12 / rate.bytes_per_second());
        match self {
            Self::One(rate) => WorkRates { combine: time(*rate), ..WorkRates::default() },
            Self::List(list) => {
                let found = list.iter().find(|rates| rates.to.is_none_or(|to| bytes <= to.0));
                found.map_or_else(WorkRates::default, |rates| WorkRates {
                    combine: time(rates.rate),
                    copy: rates.copy.map_or(PerByte::ZERO, time),
                    ..WorkRates::default()
                })
            }
        }
    }
}

/// Written by hand, for the messages of a derived untagged enum name no quantity.
impl<'de> Deserialize<'de> for CombineRates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = CombineRates;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a bandwidth with its unit, like \"2 GB/s\", or a list of { to, rate, copy }")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                text.parse().map(CombineRates::One).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(CombineRates::List)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::CollectivesSpec;

    fn spec(text: &str) -> CollectivesSpec {
        crate::reading::from_toml(text).unwrap()
    }

    #[test]
    fn rates_follow_the_size_of_the_vector() {
        let ps = |text: &str, bytes| {
            let spec = spec(text);
            assert!(spec.check().is_empty(), "{text}");
            let WorkRates { combine, copy, fresh, .. } = spec.rates(bytes);
            [combine, copy, fresh].map(PerByte::ps)
        };
        assert_eq!(ps("combine = \"2 GB/s\"", 1 << 30), [500.0, 0.0, 0.0]);
        let list = "combine = [{ to = \"1 KiB\", rate = \"4 GB/s\" }, { rate = \"2 GB/s\", copy = \"8 GB/s\" }]\n\
                    fresh = \"66 ps/B\"\nfresh-above = \"1 KiB\"";
        assert_eq!(ps(list, 1024), [250.0, 0.0, 0.0]);
        assert_eq!(ps(list, 1025), [500.0, 125.0, 66.0]);
        assert_eq!(ps("fresh = \"66 ps/B\"", 1), [0.0, 0.0, 66.0]);
    }

    #[test]
    fn rates_must_cover_each_size_once() {
        for wrong in [
            "combine = \"0 GB/s\"",
            "combine = []",
            "combine = [{ rate = \"0 GB/s\" }]",
            "combine = [{ rate = \"1 GB/s\", copy = \"0 GB/s\" }]",
            "combine = [{ to = \"1 KiB\", rate = \"1 GB/s\" }]",
            "combine = [{ rate = \"1 GB/s\" }, { rate = \"1 GB/s\" }]",
            "combine = [{ to = \"2 B\", rate = \"1 B/s\" }, { to = \"2 B\", rate = \"1 B/s\" }, { rate = \"1 B/s\" }]",
        ] {
            assert_eq!(spec(wrong).check().len(), 1, "{wrong}");
        }
        assert!(crate::reading::from_toml::<CollectivesSpec>("combine = 2").is_err());
    }
}
