//! Output of merged rows: CSV and JSON with values as the plan writes them, Parquet with typed values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::value::RawValue;

use super::columns::{ERROR, RESULTS, STATUS};
use super::points::Key;
use super::row::kind_of_summary;
use super::store::hex;
use super::values::{Values, amount, json};
use super::{Configuration, Plan, PlanPoint};
use crate::columns::csv;
use crate::parquet::{self, Cell, Column, ColumnKind};
use crate::reading::tree::{Kind as Form, Tree};
use crate::study::{Amount, Unit};

/// Version of the format of merged rows in JSON and Parquet.
const SCHEMA: &str = "hayase-sweep-1";

/// Format of merged rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Columns {
    /// CSV: a header, and a line for each point.
    Csv,
    /// JSON: an object with the rows as objects.
    Json,
    /// Apache Parquet: numbers as numbers, each column in one unit, which its name states.
    Parquet,
}

/// Values of a row by name.
type Figures<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Kinds of the values of kept figures.
pub(super) struct KeptColumns(Vec<Option<ColumnKind>>);

impl KeptColumns {
    /// Returns the kinds that are known before any row is seen.
    pub fn of(plan: &Plan) -> Self {
        Self(plan.settings.keep.iter().map(|key| kind_of_summary(key)).collect())
    }

    /// Returns true if all kinds are known, so that no rows need be seen.
    pub fn is_known(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Updates the kinds from a row: whole numbers and others together are numbers, any other mixture is
    /// text.
    pub fn update(&mut self, plan: &Plan, row: &str) -> io::Result<()> {
        let row: Figures<'_> = serde_json::from_str(row)?;
        for (key, kind) in plan.settings.keep.iter().zip(&mut self.0) {
            if kind_of_summary(key).is_none() {
                let seen = row.get(key.as_str()).and_then(|value| kind_of(value.get()));
                *kind = match (*kind, seen) {
                    (None, one) | (one, None) => one,
                    (Some(a), Some(b)) if a == b => Some(a),
                    (Some(ColumnKind::Whole | ColumnKind::Number), Some(ColumnKind::Whole | ColumnKind::Number)) => {
                        Some(ColumnKind::Number)
                    }
                    _ => Some(ColumnKind::Text),
                };
            }
        }
        Ok(())
    }
}

/// Returns the kind of a JSON value.
fn kind_of(value: &str) -> Option<ColumnKind> {
    match value.as_bytes().first()? {
        b'n' => None,
        b't' | b'f' => Some(ColumnKind::Truth),
        b'-' | b'0'..=b'9' if value.parse::<i64>().is_ok() => Some(ColumnKind::Whole),
        b'-' | b'0'..=b'9' => Some(ColumnKind::Number),
        _ => Some(ColumnKind::Text),
    }
}

/// Table that is being written.
pub(super) struct Table<'a> {
    /// Names of the columns, as in the plan.
    names: Vec<&'a str>,
    /// Number of key columns, which follow the id.
    keys: usize,
    plan: &'a Plan,
    written: Written<'a>,
}

enum Written<'a> {
    Csv(&'a mut dyn Write),
    /// Writer, and a flag that is true until the first row is written.
    Json(&'a mut dyn Write, bool),
    /// Writer, columns of the keys, and kinds of the columns after them.
    Parquet(parquet::Writer<&'a mut dyn Write>, Vec<Typed>, Vec<ColumnKind>),
}

impl<'a> Table<'a> {
    /// Begins a table. `kept` supplies the kinds of columns in formats with types.
    pub fn begin(plan: &'a Plan, columns: Columns, kept: &KeptColumns, writer: &'a mut dyn Write) -> io::Result<Self> {
        let keep = plan.settings.keep.iter().map(String::as_str);
        let names: Vec<&str> =
            std::iter::once("id").chain(plan.keys()).chain(RESULTS).chain(keep).chain([ERROR]).collect();
        let written = match columns {
            Columns::Csv => {
                csv::line(writer, &names, |writer, name| csv::text(writer, name))?;
                Written::Csv(writer)
            }
            Columns::Json => {
                let head = serde_json::json!({ "schema": SCHEMA, "plan": plan.name, "keys": plan.keys() }).to_string();
                write!(writer, "{},\n\"rows\": [", head.trim_end_matches('}'))?;
                Written::Json(writer, true)
            }
            Columns::Parquet => {
                let typed: Vec<Typed> = plan.points.varied().map(|(key, values)| Typed::of(key, values)).collect();
                let results = RESULTS.map(|name| if name == STATUS { ColumnKind::Text } else { ColumnKind::Number });
                // A column without any value counts as numbers.
                let kept = kept.0.iter().map(|kind| kind.unwrap_or(ColumnKind::Number));
                let kinds: Vec<ColumnKind> = results.into_iter().chain(kept).chain([ColumnKind::Text]).collect();
                let of_keys = typed.iter().map(|typed| (typed.name.clone(), typed.kind));
                let of_results =
                    names[1 + typed.len()..].iter().zip(&kinds).map(|(name, kind)| (name.to_string(), *kind));
                let all = std::iter::once(("id".to_owned(), ColumnKind::Text)).chain(of_keys).chain(of_results);
                let columns = all.map(|(name, kind)| Column { name, kind }).collect();
                Written::Parquet(parquet::Writer::new(writer, columns)?, typed, kinds)
            }
        };
        Ok(Self { keys: plan.keys().len(), names, plan, written })
    }

    /// Writes the row of a point; `line` is its line in the store.
    pub fn row(&mut self, configuration: &Configuration<'_>, visit: &PlanPoint<'_>, line: &str) -> io::Result<()> {
        let row: Figures<'_> = serde_json::from_str(line)?;
        let id = hex(visit.id);
        let keys = configuration.values.iter().chain(&visit.seed).map(|(_, value)| value);
        let results = self.names[1 + self.keys..].iter().map(|name| row.get(*name).map_or("null", |value| value.get()));
        match &mut self.written {
            Written::Csv(writer) => csv::line(writer, texts(id, keys, results), |writer, cell| plain(writer, &cell)),
            Written::Json(writer, is_first) => {
                let named = self.names.iter().zip(texts(id, keys, results));
                let cells: Vec<String> =
                    named.map(|(name, cell)| format!("{}:{cell}", serde_json::Value::from(*name))).collect();
                let comma = if std::mem::take(is_first) { "" } else { "," };
                write!(writer, "{comma}\n{{{}}}", cells.join(","))
            }
            Written::Parquet(table, typed, kinds) => {
                let keys = keys.zip(typed.iter()).map(|(value, typed)| typed.cell(value));
                let results = results.zip(kinds.iter()).map(|(value, kind)| cell(*kind, value));
                table.row(std::iter::once(Cell::Text(id.into())).chain(keys).chain(results))
            }
        }
    }

    /// Ends the table.
    pub fn end(self) -> io::Result<()> {
        match self.written {
            Written::Csv(_) => Ok(()),
            Written::Json(writer, _) => writeln!(writer, "\n]}}"),
            Written::Parquet(table, ..) => {
                let keys = serde_json::Value::from(self.plan.keys()).to_string();
                let about = [("schema", SCHEMA), ("plan", &self.plan.name), ("keys", &keys)];
                table.finish(&about).map(drop)
            }
        }
    }
}

/// Returns the cells of a row as JSON.
fn texts<'a>(
    id: String,
    keys: impl Iterator<Item = &'a Tree>,
    results: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = String> {
    let begin = std::iter::once(serde_json::Value::from(id)).chain(keys.map(json)).map(|value| value.to_string());
    begin.chain(results.map(str::to_owned))
}

/// Column of a key.
struct Typed {
    name: String,
    kind: ColumnKind,
}

impl Typed {
    /// Returns the column of a key. Numbers of one dimension are in its unit, which the name then states;
    /// flags are flags; everything else is text.
    fn of(key: &Key, values: &Values) -> Self {
        let name = key.name.clone();
        if name == "seed" {
            return Self { name, kind: ColumnKind::Unsigned };
        }
        let all = || values.representatives().map(|i| values.value(i));
        if all().all(|value| matches!(value.kind, Form::Truth(_))) {
            return Self { name, kind: ColumnKind::Truth };
        }
        let numbers: Option<Vec<Amount>> = all().map(|value| amount(&value)).collect();
        let numbers = numbers.filter(|all| all.windows(2).all(|pair| pair[0].is_like(pair[1])));
        let Some(unit) = numbers.as_ref().and_then(|all| all.first()).map(|number| number.unit) else {
            return Self { name, kind: ColumnKind::Text };
        };
        let is_whole = numbers.is_some_and(|all| all.iter().all(|number| number.unit == Unit::Whole));
        let kind = if is_whole || unit == Unit::Bytes { ColumnKind::Whole } else { ColumnKind::Number };
        let suffix = unit.names().1;
        Self { name: name + suffix, kind }
    }

    fn cell<'a>(&self, value: &'a Tree) -> Cell<'a> {
        let number = || amount(value);
        match (self.kind, &value.kind) {
            (ColumnKind::Text, Form::Text(text)) => Cell::Text(text.as_str().into()),
            (ColumnKind::Text, _) => Cell::Text(json(value).to_string().into()),
            (ColumnKind::Truth, Form::Truth(value)) => Cell::Truth(*value),
            (ColumnKind::Unsigned, Form::Whole(text)) => {
                text.replace('_', "").parse().map_or(Cell::Null, Cell::Unsigned)
            }
            (ColumnKind::Whole, Form::Whole(text)) => text.replace('_', "").parse().map_or(Cell::Null, Cell::Whole),
            (ColumnKind::Whole, _) => number().map_or(Cell::Null, |number| Cell::Whole(number.value as i64)),
            // Divided and not multiplied: 20 us are 2e-5 s to the last bit.
            (ColumnKind::Number, _) => number().map_or(Cell::Null, |number| Cell::Number(number.base())),
            _ => Cell::Null,
        }
    }
}

/// Converts a JSON value to a cell of this kind.
fn cell(kind: ColumnKind, value: &str) -> Cell<'_> {
    match kind {
        _ if value == "null" => Cell::Null,
        ColumnKind::Truth => Cell::Truth(value == "true"),
        ColumnKind::Whole => value.parse().map_or(Cell::Null, Cell::Whole),
        ColumnKind::Unsigned => value.parse().map_or(Cell::Null, Cell::Unsigned),
        ColumnKind::Number => value.parse().map_or(Cell::Null, Cell::Number),
        ColumnKind::Text => Cell::Text(serde_json::from_str::<String>(value).map_or(value.into(), Cow::Owned)),
    }
}

/// Writes a cell of CSV from the text of a value of JSON, whose numbers stay as they are.
fn plain(writer: &mut dyn Write, cell: &str) -> io::Result<()> {
    match cell.as_bytes().first() {
        Some(b'"') => csv::text(writer, &serde_json::from_str::<String>(cell).unwrap_or_default()),
        _ if cell == "null" => Ok(()),
        _ => csv::text(writer, cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;
    use crate::reading::tree;

    /// Returns name and kind of the column of these values, and the first value in it.
    fn typed(name: &str, values: &[Form]) -> (String, ColumnKind, String) {
        let at = Span::new(0, 0);
        let key = Key { name: name.to_owned(), path: Vec::new(), at };
        let values: Vec<Tree> = values.iter().map(|kind| Tree { span: at, kind: kind.clone() }).collect();
        let typed = Typed::of(&key, &Values::of(&Tree { span: at, kind: tree::Kind::List(values.clone()) }).unwrap());
        let cell = format!("{:?}", typed.cell(&values[0]));
        (typed.name, typed.kind, cell)
    }

    #[test]
    fn numbers_of_one_dimension_are_numbers_in_its_unit() {
        let texts = |texts: &[&str]| texts.iter().map(|text| Form::Text(text.to_string())).collect::<Vec<_>>();
        let is = |name: &str, kind, cell: &str| (name.to_owned(), kind, cell.to_owned());
        assert_eq!(typed("size", &texts(&["20 KB", "1 MiB"])), is("size_bytes", ColumnKind::Whole, "Whole(20000)"));
        assert_eq!(typed("jitter", &texts(&["20 us", "1 s"])), is("jitter_s", ColumnKind::Number, "Number(2e-5)"));
        assert_eq!(
            typed("topology.torus.bandwidth", &texts(&["8 Gbit/s", "2 GB/s"])),
            is("topology.torus.bandwidth_bytes_per_s", ColumnKind::Number, "Number(1000000000.0)")
        );
        assert_eq!(typed("x", &texts(&["5 %"])), is("x_percent", ColumnKind::Number, "Number(5.0)"));
        // Two dimensions, or a word among numbers: the texts stay unchanged.
        assert_eq!(typed("x", &texts(&["1 KB", "1 s"])), is("x", ColumnKind::Text, "Text(\"1 KB\")"));
        assert_eq!(typed("x", &texts(&["1 KB", "all"])), is("x", ColumnKind::Text, "Text(\"1 KB\")"));
        assert_eq!(typed("sharing", &texts(&["max-min"])), is("sharing", ColumnKind::Text, "Text(\"max-min\")"));
    }

    #[test]
    fn whole_numbers_flags_and_seeds_are_what_they_are() {
        let whole = |text: &str| Form::Whole(text.to_owned());
        let is = |name: &str, kind, cell: &str| (name.to_owned(), kind, cell.to_owned());
        assert_eq!(
            typed("p", &[whole("9_007_199_254_740_993")]),
            is("p", ColumnKind::Whole, "Whole(9007199254740993)")
        );
        assert_eq!(
            typed("p", &[whole("3"), Form::Decimal("0.5".to_owned())]),
            is("p", ColumnKind::Number, "Number(3.0)")
        );
        assert_eq!(
            typed("seed", &[whole("18446744073709551615")]),
            is("seed", ColumnKind::Unsigned, "Unsigned(18446744073709551615)")
        );
        assert_eq!(typed("p", &[Form::Truth(true), Form::Truth(false)]), is("p", ColumnKind::Truth, "Truth(true)"));
        assert_eq!(typed("p", &[Form::Truth(true), whole("1")]), is("p", ColumnKind::Text, "Text(\"true\")"));
        let pair = Form::List(vec![Tree { span: Span::new(0, 0), kind: whole("4") }]);
        assert_eq!(typed("shape", &[pair]), is("shape", ColumnKind::Text, "Text(\"[4]\")"));
    }

    #[test]
    fn what_a_figure_is_follows_from_all_rows() {
        assert_eq!(
            ["1", "-2", "1.0", "1e3", "true", "null", "\"a\"", "[1]"].map(kind_of),
            [
                Some(ColumnKind::Whole),
                Some(ColumnKind::Whole),
                Some(ColumnKind::Number),
                Some(ColumnKind::Number),
                Some(ColumnKind::Truth),
                None,
                Some(ColumnKind::Text),
                Some(ColumnKind::Text),
            ]
        );
        assert_eq!(cell(ColumnKind::Number, "3"), Cell::Number(3.0));
        assert_eq!(cell(ColumnKind::Text, "\"a\\\"b\""), Cell::Text("a\"b".into()));
        assert_eq!(cell(ColumnKind::Text, "[1,2]"), Cell::Text("[1,2]".into()));
        assert_eq!(cell(ColumnKind::Whole, "null"), Cell::Null);
    }
}
