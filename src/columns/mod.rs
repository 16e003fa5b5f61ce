//! Columns of tables: the name, the unit and the value of each, described once for all uses (CSV, tables of a
//! terminal and Markdown, arrays of NumPy and Arrow).
//!
//! ```
//! use hayase::columns::{Columns, csv};
//!
//! let columns = Columns::<(String, f64)>::new().text("link", |row| &row.0).time("busy_s", |row| row.1);
//! let mut text = Vec::new();
//! csv::write(columns, [("a -> b".to_owned(), 0.5)], &mut text).unwrap();
//! assert_eq!(text, b"link,busy_s\na -> b,0.5\n");
//! ```

pub mod csv;
mod value;

use std::borrow::Cow;

pub use value::{Blank, Cell, ColumnKind, Value};

/// Quantity that a column measures. It decides in which units the figures can be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Simulated, predicted or measured time \[s\].
    Time,
    /// Wall-clock time of the simulation itself \[s\].
    RunTime,
    /// Amounts of data \[B\].
    Bytes,
    /// Bandwidth \[B/s\].
    Bandwidth,
    /// Frequency \[1/s\].
    Rate,
    /// Part of a whole \[1\], shown in percent.
    Part,
    /// Relative change \[1\], shown in percent with its sign.
    Change,
}

impl Quantity {
    /// All quantities, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Time, Self::RunTime, Self::Bytes, Self::Bandwidth, Self::Rate, Self::Part, Self::Change];

    /// Returns the suffix of column names that gives their unit.
    fn suffix(self) -> &'static str {
        match self {
            Self::Time | Self::RunTime => "_s",
            Self::Bandwidth => "_Bps",
            Self::Rate => "_per_s",
            Self::Bytes | Self::Part | Self::Change => "",
        }
    }
}

/// Form in which the values of a column are shown to users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Text without changes.
    Text,
    /// Identifying number below 2^32, such as that of a rank or a block.
    Id,
    /// Count, with its digits in groups of three.
    Count,
    /// Figure without a unit, with this number of decimals.
    Ratio(usize),
    /// Figure in the base unit of a quantity.
    Quantity(Quantity),
}

type Get<'a, R> = Box<dyn for<'r> Fn(&'r R) -> Cell<'r> + Send + Sync + 'a>;

/// Column of a table whose rows are `R`.
pub struct Column<'a, R> {
    name: Cow<'a, str>,
    label: Option<Cow<'a, str>>,
    /// Form in which values are shown to users.
    pub form: Form,
    /// Type of the values.
    pub kind: ColumnKind,
    get: Get<'a, R>,
}

impl<R> Column<'_, R> {
    /// Returns the name in files, with its unit: `busy_s`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name without its unit: the label that [`Columns::only`] gives it, or `busy`.
    pub fn label(&self) -> &str {
        let unit = if let Form::Quantity(quantity) = self.form { quantity.suffix() } else { "" };
        self.label.as_deref().unwrap_or_else(|| self.name.strip_suffix(unit).unwrap_or(&self.name))
    }

    /// Returns the value in a row.
    #[inline]
    pub fn value<'r>(&self, row: &'r R) -> Cell<'r> {
        (self.get)(row)
    }
}

/// Columns of a table whose rows are `R`, from the left. Each method adds a column and takes its name with
/// its unit.
pub struct Columns<'a, R> {
    list: Vec<Column<'a, R>>,
    has_exponents: bool,
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Self { list: Vec::new(), has_exponents: true }
    }
}

impl<'a, R> Columns<'a, R> {
    /// Returns a list without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of texts that rows hold.
    #[must_use]
    pub fn text(
        self,
        name: impl Into<Cow<'a, str>>,
        get: impl for<'r> Fn(&'r R) -> &'r str + Send + Sync + 'a,
    ) -> Self {
        self.with(name, Form::Text, ColumnKind::Text, Box::new(move |row| Cell::Text(get(row).into())))
    }

    /// Adds a column of texts that are computed from rows.
    #[must_use]
    pub fn words<V: Value>(self, name: impl Into<Cow<'a, str>>, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.of(name, Form::Text, get)
    }

    /// Adds a column of identifying numbers.
    #[must_use]
    pub fn id<V: Value>(self, name: impl Into<Cow<'a, str>>, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.of(name, Form::Id, get)
    }

    /// Adds a column of counts.
    #[must_use]
    pub fn count<V: Value>(self, name: impl Into<Cow<'a, str>>, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.of(name, Form::Count, get)
    }

    /// Adds a column of figures without a unit, shown to users with this number of decimals.
    #[must_use]
    pub fn ratio<V: Value>(
        self,
        name: impl Into<Cow<'a, str>>,
        decimals: usize,
        get: impl Fn(&R) -> V + Send + Sync + 'a,
    ) -> Self {
        self.of(name, Form::Ratio(decimals), get)
    }

    /// Adds a column of times \[s\].
    #[must_use]
    pub fn time<V: Value>(self, name: impl Into<Cow<'a, str>>, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.quantity(name, Quantity::Time, get)
    }

    /// Adds a column of parts of a whole \[1\].
    #[must_use]
    pub fn part<V: Value>(self, name: impl Into<Cow<'a, str>>, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.quantity(name, Quantity::Part, get)
    }

    /// Adds a column of figures of a quantity, in its base unit.
    #[must_use]
    pub fn quantity<V: Value>(
        self,
        name: impl Into<Cow<'a, str>>,
        quantity: Quantity,
        get: impl Fn(&R) -> V + Send + Sync + 'a,
    ) -> Self {
        self.of(name, Form::Quantity(quantity), get)
    }

    fn of<V: Value>(self, name: impl Into<Cow<'a, str>>, form: Form, get: impl Fn(&R) -> V + Send + Sync + 'a) -> Self {
        self.with(name, form, V::KIND, Box::new(move |row| get(row).cell()))
    }

    fn with(mut self, name: impl Into<Cow<'a, str>>, form: Form, kind: ColumnKind, get: Get<'a, R>) -> Self {
        self.list.push(Column { name: name.into(), label: None, form, kind, get });
        self
    }

    /// Lets files show all digits of numbers, however small or large they are.
    #[must_use]
    pub fn without_exponents(self) -> Self {
        Self { has_exponents: false, ..self }
    }

    /// Applies `add` if `condition` holds.
    #[must_use]
    pub fn when(self, condition: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if condition { add(self) } else { self }
    }

    /// Adds the columns of a value that rows hold.
    #[must_use]
    pub fn join<S: 'static>(
        mut self,
        part: impl for<'r> Fn(&'r R) -> &'r S + Copy + Send + Sync + 'a,
        columns: Columns<'a, S>,
    ) -> Self {
        self.list.extend(columns.list.into_iter().map(|Column { name, label, form, kind, get }| {
            let get: Get<'a, R> = Box::new(move |row| get(part(row)));
            Column { name, label, form, kind, get }
        }));
        self
    }

    /// Returns the columns of these names, in this order. A name is a label or a name in files. A column
    /// takes the label after its name, if there is one.
    #[must_use]
    pub fn only(mut self, names: &[(&str, &'static str)]) -> Self {
        let mut list = Vec::with_capacity(names.len());
        for (name, label) in names {
            if let Some(at) = self.position(name) {
                let mut column = self.list.remove(at);
                if !label.is_empty() {
                    column.label = Some((*label).into());
                }
                list.push(column);
            }
        }
        Self { list, ..self }
    }

    /// Returns all columns except the one of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        if let Some(at) = self.position(name) {
            self.list.remove(at);
        }
        self
    }

    /// Returns the position of the column of this name, which is its label or its name in files.
    pub fn position(&self, name: &str) -> Option<usize> {
        let labelled = self.list.iter().position(|column| column.label() == name);
        labelled.or_else(|| self.list.iter().position(|column| column.name == name))
    }

    /// Returns the columns from the left.
    pub fn iter(&self) -> std::slice::Iter<'_, Column<'a, R>> {
        self.list.iter()
    }
}

impl<'c, 'a, R> IntoIterator for &'c Columns<'a, R> {
    type Item = &'c Column<'a, R>;
    type IntoIter = std::slice::Iter<'c, Column<'a, R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns<'a>() -> Columns<'a, (u32, Option<f64>)> {
        Columns::<(u32, Option<f64>)>::new().id("link", |row| row.0).time("busy_s", |row| row.1)
    }

    fn csv(columns: Columns<'_, (u32, Option<f64>)>, rows: &[(u32, Option<f64>)]) -> String {
        let mut text = Vec::new();
        csv::write(columns, rows, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_missing_is_empty_and_the_unit_is_no_part_of_a_label() {
        assert_eq!(csv(columns(), &[(3, Some(2e-7)), (4, None)]), "link,busy_s\n3,2e-7\n4,\n");
        let plain = csv(columns().without_exponents(), &[(3, Some(2e-7))]);
        assert_eq!(plain, "link,busy_s\n3,0.0000002\n");
        assert_eq!(columns().iter().map(Column::label).collect::<Vec<_>>(), ["link", "busy"]);
    }

    #[test]
    fn columns_are_chosen_by_their_labels_or_their_names_in_files() {
        let chosen = columns().only(&[("busy_s", "time"), ("link", ""), ("unknown", "")]);
        assert_eq!(chosen.iter().map(Column::label).collect::<Vec<_>>(), ["time", "link"]);
        assert_eq!(chosen.iter().map(Column::name).collect::<Vec<_>>(), ["busy_s", "link"]);
        assert_eq!((chosen.position("time"), columns().without("busy").position("busy_s")), (Some(0), None));
    }

    #[test]
    fn columns_of_a_part_of_a_row_join_those_of_the_row() {
        let pairs = Columns::<(&str, (u32, Option<f64>))>::new().text("job", |row| row.0).join(|row| &row.1, columns());
        let mut text = Vec::new();
        csv::write(pairs, [("a,b", (1, Some(f64::INFINITY)))], &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "job,link,busy_s\n\"a,b\",1,inf\n");
    }
}
