//! Rows with named columns, as CSV and JSON.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Map, Value};

use super::end::Failure;
use super::files::names;
use super::options::{Offer, OutputArgs};
use hayase::columns::csv;
use hayase_output::table::{Answer, Grid};

/// Arguments of `hayase topology list` and other commands that list names.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Files (-o), by name:
  x.csv    a line for each name
  x.json   an object for each name")]
pub struct ListArgs {
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Rows of a listing: a cell for each column.
type Rows<'a> = Box<dyn Iterator<Item = Vec<Value>> + 'a>;

/// Columns with a function that makes the rows each time they are needed.
pub struct Listing<'a> {
    /// Names of the columns, with units.
    columns: &'a [&'a str],
    /// Function that makes the rows.
    rows: Box<dyn Fn() -> Rows<'a> + 'a>,
}

/// Prints and writes named objects: `name,description` as data, and a table for a terminal.
pub fn names<'a>(
    out: &OutputArgs,
    verb: &'static str,
    named: impl Iterator<Item = (&'a str, String)>,
) -> Result<(), Failure> {
    out.begin(&Listing::offer(verb))?;
    let named: Vec<(&str, String)> = named.collect();
    let rows = || named.iter().map(|(name, what)| vec![(*name).into(), what.as_str().into()]);
    Listing::new(&["name", "description"], rows).answer(out, || {
        let mut grid = Grid::new().text("name").text("what it is");
        for (name, what) in &named {
            grid.row_with_sentence([(*name).to_owned()], what);
        }
        grid.into()
    })
}

impl<'a> Listing<'a> {
    /// Creates a listing; `rows` makes the rows and may be called several times.
    pub fn new<I: Iterator<Item = Vec<Value>> + 'a>(columns: &'a [&'a str], rows: impl Fn() -> I + 'a) -> Self {
        Self { columns, rows: Box::new(move || Box::new(rows())) }
    }

    /// Returns the output options of a command whose result is a listing.
    pub const fn offer(verb: &'static str) -> Offer<&'static str> {
        Offer::new(verb, names!["x.csv", "x.json"]).on_one_thread()
    }

    /// Writes the files and prints the rows, or the table for a terminal.
    pub fn answer(&self, out: &OutputArgs, table: impl FnOnce() -> Answer) -> Result<(), Failure> {
        out.deliver(
            out.open(&Self::offer(""))?,
            table,
            &(),
            &[("x.csv", &|w| self.csv(w)), ("x.json", &|w| self.json(w))],
        )
    }

    /// Writes a header and a line for each row.
    pub fn csv(&self, mut w: impl Write) -> io::Result<()> {
        csv::line(&mut w, self.columns, |w, name| csv::text(w, name))?;
        (self.rows)().try_for_each(|row| csv::line(&mut w, &row, csv::json))
    }

    /// Writes an object for each row.
    pub fn json(&self, mut w: impl Write) -> io::Result<()> {
        w.write_all(b"[")?;
        for (number, row) in (self.rows)().enumerate() {
            let named: Map<String, Value> = self.columns.iter().map(|&name| name.to_owned()).zip(row).collect();
            w.write_all(if number == 0 { b"\n  " } else { b",\n  " })?;
            serde_json::to_writer(&mut w, &named)?;
        }
        w.write_all(b"\n]\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_have_to_be_and_rows_are_objects() {
        let rows = || [vec!["a,b".into(), 1.into()], vec!["say \"x\"".into(), Value::Null]].into_iter();
        let listing = Listing::new(&["name", "time_s"], rows);
        let (mut csv, mut json) = (Vec::new(), Vec::new());
        listing.csv(&mut csv).unwrap();
        listing.json(&mut json).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "name,time_s\n\"a,b\",1\n\"say \"\"x\"\"\",\n");
        let value: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value[1], serde_json::json!({"name": "say \"x\"", "time_s": null}));
        let mut json = Vec::new();
        Listing::new(&["name"], std::iter::empty).json(&mut json).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&json).unwrap(), serde_json::json!([]));
    }
}
