//! `hayase compare a.json b.json`: two saved reports beside each other.

use std::io::Write;
use std::path::Path;

use super::options::{self, Offer, OutputArgs};
use super::{End, Failure, Voice, files::outputs, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, file_names};
use hayase::reading::json::tree;
use hayase::report::Difference;
use hayase_output::{csv, json, table};
use serde_json::Value;

outputs! {
    /// Content of an output file, by its name.
    enum Kind {
        Csv: "x.csv",
        Json: "x.json",
        Page: "x.html",
        Markdown: "x.md",
    }
}

const OFFER: Offer<Kind> = Offer::new("compare", Kind::NAMES).on_one_thread();

/// Shows the differences of two reports.
///
/// # Errors
/// Files that are no reports of one kind, and files that cannot be written.
pub fn differences(paths: [&Path; 2], out: &OutputArgs, voice: Voice) -> Result<End, Failure> {
    out.begin(&OFFER)?;
    let mut sources = progress::sources(voice.show);
    let read = paths.map(|path| report(path, &mut sources));
    let diagnostics: Vec<Diagnostic> = read.iter().filter_map(|read| read.as_ref().err().cloned()).collect();
    let [Ok(first), Ok(second)] = read else { return Err(Invalid { diagnostics, sources }.into()) };
    let names = paths.map(file_names::text_of);
    let difference = Difference::new([(&names[0], &first), (&names[1], &second)]).map_err(|[first, second]| {
        let message = format!("the reports are of two kinds, {first} and {second}");
        Diagnostic::new("wrong-file", message).help("compare two runs, two replays, two comparisons ...")
    })?;
    for (kind, file) in out.open(&OFFER)? {
        file.write(|w| match kind {
            Kind::Csv => csv::difference(&difference, w),
            Kind::Json => json::write(&difference, w),
            Kind::Page => {
                let title = format!("{} and {}", names[0], names[1]);
                options::page(&title, &table::difference(&difference), &[], &difference, w)
            }
            Kind::Markdown => w.write_all(table::difference(&difference).to_markdown().as_bytes()),
        })?;
    }
    let rows = |w: &mut dyn Write| csv::difference(&difference, w);
    out.print_rows(|| table::difference(&difference), &difference, rows)?;
    Ok(End::Done)
}

/// Reads a report.
fn report(path: &Path, sources: &mut Sources) -> Result<Value, Diagnostic> {
    let (base, text) = sources.read_text(&Located::from(file_names::text_of(path)))?;
    let report = match serde_json::from_str::<Value>(&text) {
        Ok(report) => report,
        // The tree knows the place of the mistake.
        Err(_) => tree(&text, base).map(|_| Value::Null)?,
    };
    if report.get("schema").is_none() {
        let message = format!("`{}` is no report: it has no `schema`", path.display());
        return Err(
            Diagnostic::new("wrong-file", message).help("two files are compared if both are reports of -o x.json")
        );
    }
    Ok(report)
}
