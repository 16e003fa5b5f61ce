//! Values of the program's types read from tables, with structured mistakes.
//!
//! Serde hands a mistake to its error type in parts: the unknown field and the known ones, or the value and
//! the expected kind. [`Mismatch`] keeps the parts and adds the place, so that the caller can word the
//! message.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, UsizeDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::ONE_OR_LIST;
use super::tree::{Entry, Kind, Step, Table, Tree};
use crate::diagnostic::{LOCATED, Span};

/// A mismatch between a table and the type read from it.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Kind of mismatch.
    pub what: MismatchKind,
    /// Steps to the key or value.
    pub path: Vec<Step>,
    /// Place of the key or value in the text.
    pub span: Option<Span>,
}

/// Kind of mismatch of a key or a value.
#[derive(Clone, PartialEq, Debug)]
pub enum MismatchKind {
    /// The table has no such key.
    UnknownKey {
        /// The key.
        name: String,
        /// The keys that the table has.
        known: &'static [&'static str],
    },
    /// There is no such choice.
    UnknownChoice {
        /// The choice.
        name: String,
        /// The choices of the type.
        known: &'static [&'static str],
    },
    /// A table that stands for a choice has no key or several keys instead of one.
    NotOneChoice,
    /// The table lacks this required key.
    MissingKey(&'static str),
    /// The value is of another kind than expected; both are in words.
    Unfit {
        /// The value.
        found: String,
        /// The kind of value that is expected.
        wanted: String,
    },
    /// The type refuses the value, with this message.
    Refused(String),
}

/// A mismatch on its way to [`typed`]. It is behind a pointer, since each type that is read has its own code
/// to pass it on.
#[derive(Clone, Debug)]
pub(super) struct BoxedMismatch(Box<Mismatch>);

impl BoxedMismatch {
    fn new(what: MismatchKind) -> Self {
        Self(Box::new(Mismatch { what, path: Vec::new(), span: None }))
    }

    fn unfit(wanted: impl Into<String>) -> Self {
        Self::new(MismatchKind::Unfit { found: String::new(), wanted: wanted.into() })
    }

    /// Adds a step before the path of the mismatch.
    fn behind(mut self, step: Step) -> Self {
        self.0.path.insert(0, step);
        self
    }

    /// Sets a key as the place of the mismatch.
    fn of_key(mut self, key: &str, at: Span) -> Self {
        self.0.span = Some(at);
        self.behind(Step::Key(key.to_owned()))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            MismatchKind::UnknownKey { name, known } => {
                write!(f, "unknown key `{name}` (there are: {})", known.join(", "))
            }
            MismatchKind::UnknownChoice { name, known } => {
                write!(f, "unknown choice `{name}` (there are: {})", known.join(", "))
            }
            MismatchKind::NotOneChoice => f.write_str("exactly one choice is expected"),
            MismatchKind::MissingKey(name) => write!(f, "missing key `{name}`"),
            MismatchKind::Unfit { found, wanted } => write!(f, "{found} where {wanted} is expected"),
            MismatchKind::Refused(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for BoxedMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for BoxedMismatch {}

impl Error for BoxedMismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(MismatchKind::Refused(message.to_string()))
    }
    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::unfit(wanted.to_string())
    }
    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::unfit(wanted.to_string())
    }
    fn invalid_length(_: usize, wanted: &dyn Expected) -> Self {
        Self::unfit(wanted.to_string())
    }
    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(MismatchKind::UnknownChoice { name: name.to_owned(), known })
    }
    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(MismatchKind::UnknownKey { name: name.to_owned(), known })
    }
    fn missing_field(name: &'static str) -> Self {
        Self::new(MismatchKind::MissingKey(name))
    }
    fn duplicate_field(name: &'static str) -> Self {
        Self::new(MismatchKind::Refused(format!("the key `{name}` appears twice")))
    }
}

/// Reads a value of a type from a tree.
///
/// # Errors
/// The first mismatch.
pub fn typed<'a, T: Deserialize<'a>>(tree: &'a Tree) -> Result<T, Mismatch> {
    T::deserialize(Value(tree)).map_err(|mismatch| *Value(tree).at_this_value(mismatch, ExpectedWords::OfType).0)
}

/// A value that serde reads.
#[derive(Clone, Copy)]
struct Value<'a>(&'a Tree);

/// A parsed value.
enum Parsed<'a> {
    Text(&'a str),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Truth(bool),
    List(&'a [Tree]),
    Table(&'a Table),
    /// A value that no type can hold.
    Nothing,
}

/// The words for the expected kind of value in a message.
#[derive(Clone, Copy)]
enum ExpectedWords {
    /// The words of the type itself.
    OfType,
    /// Fixed words.
    Words(&'static str),
    /// A number of type `u32` that is not less than this.
    From(u32),
    /// A list of this length.
    ListOf(usize),
}

impl<'a> Value<'a> {
    fn parsed(self) -> Parsed<'a> {
        match &self.0.kind {
            Kind::Text(text) => Parsed::Text(text),
            Kind::Whole(digits) => match (digits.parse(), digits.parse()) {
                (Ok(number), _) => Parsed::Signed(number),
                (_, Ok(number)) => Parsed::Unsigned(number),
                _ => Parsed::Nothing,
            },
            Kind::Decimal(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() || !text.contains(|c: char| c.is_ascii_digit()) => {
                    Parsed::Float(number)
                }
                _ => Parsed::Nothing,
            },
            Kind::Truth(value) => Parsed::Truth(*value),
            Kind::Date(_) => Parsed::Nothing,
            Kind::List(items) => Parsed::List(items),
            Kind::Table(table) => Parsed::Table(table),
        }
    }

    /// Hands the value to a visitor, by its kind.
    fn visit<V: Visitor<'a>>(self, visitor: V, wanted: ExpectedWords) -> Result<V::Value, BoxedMismatch> {
        let visited = match self.parsed() {
            Parsed::Text(text) => visitor.visit_borrowed_str(text),
            Parsed::Signed(number) => visitor.visit_i64(number),
            Parsed::Unsigned(number) => visitor.visit_u64(number),
            Parsed::Float(number) => visitor.visit_f64(number),
            Parsed::Truth(value) => visitor.visit_bool(value),
            Parsed::List(items) => {
                let mut left = Items(items.iter().enumerate());
                visitor.visit_seq(&mut left).and_then(|value| match left.0.len() {
                    0 => Ok(value),
                    more => Err(BoxedMismatch::unfit(format!("a list of {}", items.len() - more))),
                })
            }
            Parsed::Table(table) => visitor.visit_map(Entries { entries: table.iter(), value: None }),
            Parsed::Nothing => Err(unfit_for(&visitor)),
        };
        visited.map_err(|mismatch| self.at_this_value(mismatch, wanted))
    }

    /// Returns the mismatch with this value as its place, unless it has a place inside the value already.
    fn at_this_value(self, mut mismatch: BoxedMismatch, better: ExpectedWords) -> BoxedMismatch {
        let mistake = &mut *mismatch.0;
        if mistake.span.is_none() {
            mistake.span = Some(self.0.span);
            if let MismatchKind::Unfit { found, wanted } = &mut mistake.what {
                *found = self.0.in_words();
                match better {
                    ExpectedWords::OfType => {}
                    ExpectedWords::Words(words) => words.clone_into(wanted),
                    ExpectedWords::From(least) => *wanted = format!("a whole number from {least} to 4294967295"),
                    ExpectedWords::ListOf(length) => *wanted = format!("a list of {length} in [ ]"),
                }
            }
        }
        mismatch
    }
}

/// Returns the mismatch for a value that no visitor accepts.
fn unfit_for(visitor: &dyn Expected) -> BoxedMismatch {
    BoxedMismatch::unfit(visitor.to_string())
}

macro_rules! wanted {
    ($($method:ident: $words:literal,)*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
            self.visit(visitor, ExpectedWords::Words($words))
        }
    )*};
}

impl<'a> Deserializer<'a> for Value<'a> {
    type Error = BoxedMismatch;

    /// Reads a `u32`, or a `NonZeroU32`, whose visitor says that it expects a nonzero number.
    fn deserialize_u32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        let least = u32::from((&visitor as &dyn Expected).to_string().contains("nonzero"));
        self.visit(visitor, ExpectedWords::From(least))
    }

    wanted! {
        deserialize_bool: "true or false",
        deserialize_u8: "a whole number from 0 to 255",
        deserialize_u16: "a whole number from 0 to 65535",
        deserialize_u64: "a whole number, 0 or more,",
        deserialize_u128: "a whole number, 0 or more,",
        deserialize_i8: "a whole number from -128 to 127",
        deserialize_i16: "a whole number from -32768 to 32767",
        deserialize_i32: "a whole number from -2147483648 to 2147483647",
        deserialize_i64: "a whole number",
        deserialize_i128: "a whole number",
        deserialize_f32: "a number",
        deserialize_f64: "a number",
        deserialize_char: "a character in quotes",
        deserialize_str: "a text in quotes",
        deserialize_string: "a text in quotes",
        deserialize_bytes: "a text in quotes",
        deserialize_byte_buf: "a text in quotes",
        deserialize_seq: "a list in [ ]",
        deserialize_map: "a table",
        deserialize_unit: "an empty table",
    }

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        self.visit(visitor, ExpectedWords::OfType)
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        self.visit(visitor, ExpectedWords::OfType)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        visitor.visit_unit()
    }

    /// Reads an optional value, which is present because it is written.
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, BoxedMismatch> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        match (name, &self.0.kind) {
            (LOCATED, _) => visitor.visit_seq(Placed { part: 0, of: self.0 }),
            (ONE_OR_LIST, Kind::List(_)) => self.visit(visitor, ExpectedWords::OfType),
            (ONE_OR_LIST, _) => visitor.visit_some(self).map_err(|mut mismatch| {
                if let (MismatchKind::Unfit { wanted, .. }, []) = (&mut mismatch.0.what, &mismatch.0.path[..]) {
                    wanted.push_str(", or a list of them,");
                }
                mismatch
            }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, length: usize, visitor: V) -> Result<V::Value, BoxedMismatch> {
        self.visit(visitor, ExpectedWords::ListOf(length))
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        match self.0.kind {
            // Visitors would also accept the values of a structure as a list, without names.
            Kind::List(_) => Err(self.at_this_value(BoxedMismatch::unfit("a table"), ExpectedWords::OfType)),
            _ => self.deserialize_map(visitor),
        }
    }

    /// Reads a choice: a word, or a table with one key whose name is the choice.
    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        let chosen = match &self.0.kind {
            Kind::Text(word) => visitor.visit_enum(Choice { word, of: self, entry: None }),
            Kind::Table(table) if table.len() == 1 => match table.first_key_value() {
                Some((word, entry)) => visitor.visit_enum(Choice { word, of: self, entry: Some(entry) }),
                None => Err(BoxedMismatch::unfit("a choice")),
            },
            Kind::Table(_) => Err(BoxedMismatch::new(MismatchKind::NotOneChoice)),
            _ => Err(BoxedMismatch::unfit(format!("one of {}", known.join(", ")))),
        };
        chosen.map_err(|mismatch| self.at_this_value(mismatch, ExpectedWords::OfType))
    }
}

impl<'a> IntoDeserializer<'a, BoxedMismatch> for Value<'a> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// The items of a list.
struct Items<'a>(std::iter::Enumerate<std::slice::Iter<'a, Tree>>);

impl<'a> SeqAccess<'a> for &mut Items<'a> {
    type Error = BoxedMismatch;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, BoxedMismatch> {
        let Some((i, item)) = self.0.next() else { return Ok(None) };
        seed.deserialize(Value(item))
            .map(Some)
            .map_err(|mismatch| Value(item).at_this_value(mismatch, ExpectedWords::OfType).behind(Step::Item(i)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The keys of a table.
struct Entries<'a> {
    entries: std::collections::btree_map::Iter<'a, String, Entry>,
    value: Option<(&'a String, &'a Entry)>,
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = BoxedMismatch;

    fn next_key_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, BoxedMismatch> {
        self.value = self.entries.next();
        let Some((key, entry)) = self.value else { return Ok(None) };
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
            .map_err(|mismatch: BoxedMismatch| mismatch.of_key(key, entry.key))
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, BoxedMismatch> {
        let Some((key, entry)) = self.value.take() else { return Err(BoxedMismatch::custom("a value without a key")) };
        seed.deserialize(Value(&entry.value)).map_err(|mismatch| {
            Value(&entry.value).at_this_value(mismatch, ExpectedWords::OfType).behind(Step::Key(key.clone()))
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A choice of an enum: a word, optionally with a value.
struct Choice<'a> {
    word: &'a str,
    of: Value<'a>,
    entry: Option<&'a Entry>,
}

impl<'a> Choice<'a> {
    /// Reads the value of the choice.
    fn content<T>(&self, read: impl FnOnce(Value<'a>) -> Result<T, BoxedMismatch>) -> Result<T, BoxedMismatch> {
        match self.entry {
            Some(entry) => read(Value(&entry.value)).map_err(|mismatch| {
                Value(&entry.value)
                    .at_this_value(mismatch, ExpectedWords::OfType)
                    .behind(Step::Key(self.word.to_owned()))
            }),
            None => Err(self.of.at_this_value(BoxedMismatch::unfit("a table"), ExpectedWords::OfType)),
        }
    }
}

impl<'a> EnumAccess<'a> for Choice<'a> {
    type Error = BoxedMismatch;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self), BoxedMismatch> {
        let name = BorrowedStrDeserializer::new(self.word);
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, self)),
            Err(mismatch) => Err(match self.entry {
                Some(entry) => BoxedMismatch::of_key(mismatch, self.word, entry.key),
                None => mismatch,
            }),
        }
    }
}

impl<'a> VariantAccess<'a> for Choice<'a> {
    type Error = BoxedMismatch;

    fn unit_variant(self) -> Result<(), BoxedMismatch> {
        if self.entry.is_none() {
            return Ok(());
        }
        self.content(|value| match value.0.table() {
            Some(table) if table.is_empty() => Ok(()),
            _ => Err(value.at_this_value(BoxedMismatch::unfit("an empty table"), ExpectedWords::OfType)),
        })
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, BoxedMismatch> {
        self.content(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'a>>(self, length: usize, visitor: V) -> Result<V::Value, BoxedMismatch> {
        self.content(|value| value.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        self.content(|value| value.deserialize_struct("", fields, visitor))
    }
}

/// A value with its place as three parts: first byte, one past the last byte, value
/// ([`Located`](crate::diagnostic::Located)).
struct Placed<'a> {
    part: u8,
    of: &'a Tree,
}

impl<'a> SeqAccess<'a> for Placed<'a> {
    type Error = BoxedMismatch;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, BoxedMismatch> {
        self.part += 1;
        match self.part {
            1 => seed.deserialize(UsizeDeserializer::new(self.of.span.start)).map(Some),
            2 => seed.deserialize(UsizeDeserializer::new(self.of.span.end)).map(Some),
            3 => seed.deserialize(Value(self.of)).map(Some),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
