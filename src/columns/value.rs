//! Values of tables and their types.

use std::borrow::Cow;

/// Type of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// Flags.
    Truth,
    /// Whole numbers.
    Whole,
    /// Whole numbers from 0.
    Unsigned,
    /// Numbers of double precision.
    Number,
    /// Texts in UTF-8.
    Text,
}

/// Value of a column in a row.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell<'a> {
    /// Missing value.
    Null,
    /// Value of [`ColumnKind::Truth`].
    Truth(bool),
    /// Value of [`ColumnKind::Whole`].
    Whole(i64),
    /// Value of [`ColumnKind::Unsigned`].
    Unsigned(u64),
    /// Value of [`ColumnKind::Number`].
    Number(f64),
    /// Value of [`ColumnKind::Text`].
    Text(Cow<'a, str>),
}

/// Value that a column can take from a row.
pub trait Value {
    /// Type of the value.
    const KIND: ColumnKind;

    /// Converts the value to a cell.
    fn cell(self) -> Cell<'static>;
}

macro_rules! values {
    ($($type:ty: $kind:ident, $value:ident => $cell:expr;)*) => {$(
        impl Value for $type {
            const KIND: ColumnKind = ColumnKind::$kind;

            fn cell(self) -> Cell<'static> {
                let $value = self;
                $cell
            }
        }
    )*};
}

values! {
    bool: Truth, value => Cell::Truth(value);
    u32: Unsigned, value => Cell::Unsigned(value.into());
    i64: Whole, value => Cell::Whole(value);
    u64: Unsigned, value => Cell::Unsigned(value);
    usize: Unsigned, value => Cell::Unsigned(value as u64);
    f64: Number, value => Cell::Number(value);
    String: Text, value => Cell::Text(value.into());
    // An optional `u32` has the type of an optional `i64`.
    Option<u32>: Whole, value => value.map_or(Cell::Null, |value| Cell::Whole(value.into()));
    Option<i64>: Whole, value => value.map_or(Cell::Null, Cell::Whole);
    Option<u64>: Unsigned, value => value.map_or(Cell::Null, Cell::Unsigned);
    Option<f64>: Number, value => value.map_or(Cell::Null, Cell::Number);
    Option<String>: Text, value => value.map_or(Cell::Null, |value| Cell::Text(value.into()));
}

/// Value that is shown as an empty cell if it is missing. Other missing values are shown as a dash.
#[derive(Clone, Copy, Debug)]
pub struct Blank<T>(pub Option<T>);

impl<T> Value for Blank<T>
where
    Option<T>: Value,
{
    const KIND: ColumnKind = <Option<T> as Value>::KIND;

    fn cell(self) -> Cell<'static> {
        if self.0.is_some() { self.0.cell() } else { Cell::Text(Cow::Borrowed("")) }
    }
}
