//! Parts that the specifications of families share: values for one level or for all, and checks that collect
//! mistakes.

use std::fmt;

use serde::Serialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, SeqAccess, Visitor};

use crate::diagnostic::{Diagnostic, Located, Sources, Span};
use crate::fabric::{Fabric, LinkRole};
use crate::reading::ONE_OR_LIST;
use crate::units::{self, Bandwidth, Time};

/// Specification of a family that can build its fabrics.
pub(super) trait Topology {
    /// Builds the fabric. Files named in the specification are read, and kept in `sources` if they are small.
    ///
    /// # Errors
    /// Every mistake of the specification and of the files it names.
    fn build(&self, sources: &mut Sources) -> Result<Fabric, Vec<Diagnostic>>;

    /// Returns the paths of files named in the specification.
    fn files(&mut self) -> Vec<&mut Located<String>> {
        Vec::new()
    }
}

/// Largest number of nodes of a fabric.
pub(super) const MOST_NODES: u64 = 1 << 22;
/// Largest number of links of a fabric: about 2 GB of memory.
pub(super) const MOST_LINKS: u64 = 1 << 25;
/// Largest number of dimensions or levels.
pub(super) const MOST_TIERS: usize = 32;

/// One value for all levels or dimensions, or a list with one for each.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum OneOrList<T> {
    /// The same everywhere.
    One(T),
    /// One value each, in order.
    List(Vec<Located<T>>),
}

/// Written by hand: an untagged enum of serde would lose the places of the values and their messages.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(std::marker::PhantomData<T>);

        macro_rules! one {
            ($($visit:ident: $type:ty),*) => {$(
                fn $visit<E: de::Error>(self, value: $type) -> Result<Self::Value, E> {
                    T::deserialize(value.into_deserializer()).map(OneOrList::One)
                }
            )*};
        }

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrList<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of values")
            }
            fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
                T::deserialize(value).map(OneOrList::One)
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
                value.deserialize_any(self)
            }
            one!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrList::List)
            }
        }
        deserializer.deserialize_newtype_struct(ONE_OR_LIST, Either(std::marker::PhantomData))
    }
}

/// Mistakes of a specification, collected while the checks go on.
#[derive(Default)]
pub(super) struct Mistakes(Vec<Diagnostic>);

impl Mistakes {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Returns all mistakes.
    pub fn all(self) -> Vec<Diagnostic> {
        self.0
    }

    /// Returns `Ok` if there are no mistakes.
    pub fn none(self) -> Result<(), Vec<Diagnostic>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }

    /// Checks that a bandwidth is above 0, and returns it.
    pub fn bandwidth(&mut self, value: &Located<Bandwidth>) -> Bandwidth {
        self.positive(**value, value.span());
        **value
    }

    /// Checks the bandwidth of a port if it is given.
    pub fn port(&mut self, value: Option<&Located<Bandwidth>>) -> Option<Bandwidth> {
        value.map(|value| self.bandwidth(value))
    }

    fn positive(&mut self, value: Bandwidth, span: Option<Span>) {
        // A number so small that its inverse overflows would make times infinite.
        let inverse = 1e12 / value.bytes_per_second();
        if !inverse.is_finite() {
            let diagnostic = Diagnostic::new("no-bandwidth", "a link without bandwidth never delivers anything")
                .label("a bandwidth above 0")
                .help("write \"1 GB/s\"; leave out the link's dimension or level if there is none");
            self.push(diagnostic.at(span));
        }
    }

    /// Checks that all sizes are at least 1, and returns them. `what` names them in messages, as in
    /// `children`.
    pub fn sizes(&mut self, values: &Located<Vec<Located<u32>>>, what: &str) -> Vec<u32> {
        if values.is_empty() || values.len() > MOST_TIERS {
            let message = format!("{} {what} given; there must be 1 to {MOST_TIERS}", values.len());
            self.push(Diagnostic::new("tiers", message).at_value(values).label("a list like [16, 16]"));
        }
        for value in values.iter() {
            self.size(value);
        }
        values.iter().map(|value| **value).collect()
    }

    /// Checks that a size is at least 1, and returns it.
    pub fn size(&mut self, value: &Located<u32>) -> u32 {
        if **value == 0 {
            self.push(Diagnostic::new("size", "a size of 0 leaves no fabric").at_value(value).label("at least 1"));
        }
        **value
    }

    /// Returns one bandwidth for each of `count` levels or dimensions; `each` names these in messages.
    pub fn bandwidths(&mut self, values: &Located<OneOrList<Bandwidth>>, count: usize, each: &str) -> Vec<Bandwidth> {
        match &**values {
            OneOrList::One(value) => self.positive(*value, values.span()),
            OneOrList::List(list) => list.iter().for_each(|value| self.positive(**value, value.span())),
        }
        self.each(values, count, each).unwrap_or_else(|| vec![Bandwidth::default(); count])
    }

    /// Returns one latency for each level or dimension, 0 if none is given.
    pub fn latencies(&mut self, values: Option<&Located<OneOrList<Time>>>, count: usize, each: &str) -> Vec<Time> {
        values.and_then(|values| self.each(values, count, each)).unwrap_or_else(|| vec![Time::ZERO; count])
    }

    /// Returns one value for each level or dimension. If the list has another length, notes a mistake and
    /// returns `None`.
    pub fn each<T: Copy>(&mut self, values: &Located<OneOrList<T>>, count: usize, each: &str) -> Option<Vec<T>> {
        match &**values {
            OneOrList::One(value) => Some(vec![*value; count]),
            OneOrList::List(list) if list.len() == count => Some(list.iter().map(|value| **value).collect()),
            OneOrList::List(list) => {
                self.push(length(list.len(), count, each).at_value(values));
                None
            }
        }
    }

    /// Checks that a fabric fits in memory. `size` holds its nodes, switches and links; it is `None` if they
    /// do not fit in 64 bits.
    pub fn check_fabric_size<T>(&mut self, size: Option<(u64, u64, u64)>, place: &Located<T>) {
        let (what, help) = match size {
            Some((nodes, _, links)) if nodes <= MOST_NODES && links <= MOST_LINKS => return,
            Some((nodes, _, links)) => {
                let sizes = [units::count(nodes, "node", "nodes"), units::count(links, "link", "links")];
                (sizes.join(" and "), "choose smaller sizes")
            }
            None => ("more parts than can be counted".to_owned(), "choose smaller sizes"),
        };
        self.push(
            Diagnostic::new("too-large", format!("this fabric has {what}"))
                .at_value(place)
                .label(format!("at most {MOST_NODES} nodes and {MOST_LINKS} links"))
                .help(help),
        );
    }

    /// Notes a mistake if a property of host links is given without `host-link = true`.
    pub fn unused_host<T>(&mut self, host_link: bool, value: Option<&Located<T>>, name: &str) {
        if let (false, Some(value)) = (host_link, value) {
            self.push(
                Diagnostic::new("no-host-links", format!("`{name}` has no meaning without host links"))
                    .at_value(value)
                    .label("there are no host links")
                    .help(format!("remove it, or write `host-link = true` beside `{name}`")),
            );
        }
    }
}

/// Returns text such as `1 value` or `3 values`.
fn values(number: u64) -> String {
    units::count(number, "value", "values")
}

/// Returns the mistake of a list with a wrong number of values.
pub(super) fn length(given: usize, count: usize, each: &str) -> Diagnostic {
    Diagnostic::new("length", format!("the list has {}, but there are {count} {each}", values(given as u64)))
        .label(values(count as u64))
        .help("give one value for all, or one each")
}

/// Returns the largest of the given sizes: the most likely mistake if the fabric is too large.
pub(super) fn largest<'a, const N: usize>(
    first: &'a Located<u32>,
    others: [&'a Option<Located<u32>>; N],
) -> &'a Located<u32> {
    others.into_iter().flatten().fold(first, |most, other| if **other > **most { other } else { most })
}

/// Bandwidth and latency of the cables of a fabric, and the output ports that feed them.
pub(super) struct Cables {
    /// Bandwidth and latency of the host links.
    pub host: (Bandwidth, Time),
    /// Bandwidth and latency by tier of [`LinkRole::Network`].
    pub network: Vec<(Bandwidth, Time)>,
    /// Capacity of the output ports of switches, if they have a limit of their own.
    pub port: Option<Bandwidth>,
}

impl Cables {
    /// Returns the capacity and latency of a link. The capacity of a link that leaves a switch is the smaller
    /// of the cable's and the port's.
    pub fn link(&self, role: LinkRole) -> (Bandwidth, Time) {
        let behind_port = |(bandwidth, latency): (Bandwidth, Time)| {
            (self.port.map_or(bandwidth, |port| port.min(bandwidth)), latency)
        };
        match role {
            LinkRole::Injection => self.host,
            LinkRole::Ejection => behind_port(self.host),
            LinkRole::Network { tier } => behind_port(self.network[usize::from(tier)]),
        }
    }
}

/// Returns text such as `3x4`.
pub(super) fn times(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}
