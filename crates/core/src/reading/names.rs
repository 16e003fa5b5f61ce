//! Names that a type knows, asked of the type itself: the choices of an enum, the keys of a table.
//!
//! Serde tells a reader the names of a type before it asks for the first value. So a reader that only listens
//! gets exactly the names by which files are read.

use std::cell::Cell;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::typed::BoxedMismatch;

/// Names of fields or variants.
type Names = &'static [&'static str];

/// Returns the choices of an enum, in the order of their declaration.
pub fn choices<T: for<'a> Deserialize<'a>>() -> Names {
    let names = Cell::default();
    let _ = T::deserialize(Listener { choice: None, choices: &names, keys: &Cell::default() });
    names.get().unwrap_or_default()
}

/// Returns the keys of the table of a choice of an enum; `None` if there is no such choice or it has no
/// table.
pub fn keys<T: for<'a> Deserialize<'a>>(choice: &str) -> Option<Names> {
    let names = Cell::default();
    let _ = T::deserialize(Listener { choice: Some(choice), choices: &Cell::default(), keys: &names });
    names.get()
}

/// A reader that reads nothing and keeps the names.
#[derive(Clone, Copy)]
struct Listener<'l> {
    /// Choice whose keys are wanted.
    choice: Option<&'l str>,
    choices: &'l Cell<Option<Names>>,
    keys: &'l Cell<Option<Names>>,
}

/// Ends the reading.
fn end_reading<T>() -> Result<T, BoxedMismatch> {
    Err(BoxedMismatch::custom("only names were asked for"))
}

impl<'l> Deserializer<'l> for Listener<'l> {
    type Error = BoxedMismatch;

    fn deserialize_any<V: Visitor<'l>>(self, _: V) -> Result<V::Value, BoxedMismatch> {
        end_reading()
    }

    fn deserialize_option<V: Visitor<'l>>(self, visitor: V) -> Result<V::Value, BoxedMismatch> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'l>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'l>>(self, _: &'static str, keys: Names, _: V) -> Result<V::Value, BoxedMismatch> {
        self.keys.set(Some(keys));
        end_reading()
    }

    fn deserialize_enum<V: Visitor<'l>>(
        self,
        _: &'static str,
        choices: Names,
        visitor: V,
    ) -> Result<V::Value, BoxedMismatch> {
        self.choices.set(Some(choices));
        match self.choice {
            Some(_) => visitor.visit_enum(self),
            None => end_reading(),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'l>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl<'l> EnumAccess<'l> for Listener<'l> {
    type Error = BoxedMismatch;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'l>>(self, seed: S) -> Result<(S::Value, Self), BoxedMismatch> {
        let choice = BorrowedStrDeserializer::new(self.choice.unwrap_or_default());
        Ok((seed.deserialize::<BorrowedStrDeserializer<'_, BoxedMismatch>>(choice)?, Self { choice: None, ..self }))
    }
}

impl<'l> VariantAccess<'l> for Listener<'l> {
    type Error = BoxedMismatch;

    fn unit_variant(self) -> Result<(), BoxedMismatch> {
        self.keys.set(Some(&[]));
        end_reading()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'l>>(self, seed: S) -> Result<S::Value, BoxedMismatch> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'l>>(self, _: usize, _: V) -> Result<V::Value, BoxedMismatch> {
        end_reading()
    }

    fn struct_variant<V: Visitor<'l>>(self, keys: Names, _: V) -> Result<V::Value, BoxedMismatch> {
        self.keys.set(Some(keys));
        end_reading()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its names are asked for")]
    enum Shape {
        Point,
        RoundThing(Round),
        Box { width: u32, height: u32 },
    }

    #[derive(Deserialize)]
    #[serde(default, rename_all = "kebab-case")]
    #[derive(Default)]
    struct Round {
        half_width: f64,
        colour: Option<String>,
    }

    #[test]
    fn a_type_is_asked_for_its_choices_and_their_keys() {
        assert_eq!(choices::<Shape>(), ["point", "round-thing", "box"]);
        assert_eq!(keys::<Shape>("point"), Some(&[][..]));
        assert_eq!(keys::<Shape>("round-thing"), Some(&["half-width", "colour"][..]));
        assert_eq!(keys::<Shape>("box"), Some(&["width", "height"][..]));
        assert_eq!(keys::<Shape>("circle"), None);
        assert_eq!(choices::<Option<Shape>>(), ["point", "round-thing", "box"]);
        assert_eq!(choices::<u32>(), [""; 0]);
    }
}
