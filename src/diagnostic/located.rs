//! A value that remembers where it was written.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Span;

/// A value together with the place it was read from, if it was read from a text.
///
/// Equality looks at the value alone, and it is written as the value alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Located<T> {
    value: T,
    span: Option<Span>,
}

impl<T> Located<T> {
    /// A value that was written at this place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span: Some(span) }
    }

    /// The value, by value.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Where it was written; `None` for a default or a value made by a program.
    pub fn span(&self) -> Option<Span> {
        self.span
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

/// Only from TOML, whose reader knows places.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_spanned::Spanned::<T>::deserialize(deserializer)?;
        let range = spanned.span();
        Ok(Self { value: spanned.into_inner(), span: Some(Span::new(range.start, range.end)) })
    }
}

impl<T: Serialize> Serialize for Located<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

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
