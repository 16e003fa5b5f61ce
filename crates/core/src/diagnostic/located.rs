//! Values that remember where they are written.

#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::span::Span;

/// A value with its place in a text, if it was read from one.
///
/// Only the value is compared and serialized.
#[derive(Clone, Copy, Debug, Default)]
pub struct Located<T> {
    value: T,
    span: Option<Span>,
}

impl<T> Located<T> {
    /// Creates a value that was written at this place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span: Some(span) }
    }

    /// Returns the value by value.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Returns the place of the value; `None` for a default or a value made by a program.
    pub fn span(&self) -> Option<Span> {
        self.span
    }
}

impl<T: Default + PartialEq> Located<T> {
    /// Returns true for the value of `Default`, which need not be written.
    pub(crate) fn is_default(&self) -> bool {
        self.value == T::default()
    }
}

impl Located<f64> {
    /// Returns true for a factor that changes nothing, which need not be written.
    pub fn is_one(&self) -> bool {
        self.value == 1.0
    }
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self { value, span: None }
    }
}

impl<T> Deref for Located<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Located<T> {}

/// Name of the newtype struct under which a value asks for its place. A reader that knows the name hands over
/// three parts: the first byte, one past the last byte, and the value. Other readers hand over the value
/// alone.
pub(crate) const LOCATED: &str = "hayase::Located";

/// Reads the place only with a reader of this crate; any other reader gives the value alone.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(LOCATED, Parts(PhantomData))
    }
}

struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Located<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Located<T>, A::Error> {
        let missing = |part| Error::invalid_length(part, &"three parts");
        let start = parts.next_element()?.ok_or_else(|| missing(0))?;
        let end = parts.next_element()?.ok_or_else(|| missing(1))?;
        let value = parts.next_element()?.ok_or_else(|| missing(2))?;
        Ok(Located { value, span: Some(Span::new(start, end)) })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Located<T>, D::Error> {
        T::deserialize(deserializer).map(Located::from)
    }
}

impl<T: Serialize> Serialize for Located<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
