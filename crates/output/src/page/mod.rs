//! Page of an answer: one HTML file that loads nothing.
//!
//! The answer in a sentence comes first, then the tables of the terminal and the pictures of `-o x.svg`, so a new table
//! or picture is on the page without work of its own. The script sorts, filters and copies tables, and enlarges
//! pictures. Names from files are text everywhere: tables and pictures escape them.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::table::{Answer, escape};

mod data;
mod flows;
mod run;
mod spans;
mod sums;
mod terms;

pub use data::in_script;
pub use run::RunData;
pub use sums::Binned;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("tables.js"),
    include_str!("figures.js"),
    include_str!("rows.js"),
    include_str!("timeline.js"),
    include_str!("strips.js"),
    include_str!("fabric.js"),
    include_str!("points.js"),
    include_str!("terms.js"),
    include_str!("main.js"),
);
/// Largest size of all pictures and data together; further pictures are named and left out \[B\].
const MOST_PICTURES: usize = 4_500_000;

/// Picture of a page.
#[derive(Clone, Debug)]
pub struct PagePicture {
    /// Output name that writes the picture as a file: `links.svg`.
    pub name: String,
    /// The picture as SVG.
    pub svg: String,
}

impl PagePicture {
    /// Creates a picture of this name.
    pub fn new(name: &str, svg: impl Into<String>) -> Self {
        Self { name: name.to_owned(), svg: svg.into() }
    }
}

/// Contents of a page.
#[derive(Debug)]
pub struct Page<'a> {
    /// Title.
    pub title: &'a str,
    /// Sentences and tables.
    pub answer: &'a Answer,
    /// Pictures.
    pub pictures: &'a [PagePicture],
    /// Command that wrote the page, for a shell.
    pub command: &'a str,
    /// Data for the script, as [`in_script`] writes them; empty if there are none.
    pub data: &'a str,
}

/// Writes the page of a result, whose report gives version, fingerprint and scenario.
///
/// # Errors
/// Fails if the writer fails or the report is not JSON.
pub fn write(page: &Page<'_>, report: &impl Serialize, w: &mut dyn Write) -> io::Result<()> {
    let report = serde_json::to_value(report)?;
    let title = escape(page.title);
    write!(
        w,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title} - Hayase</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><span class=\"brand\">Hayase</span> <h1>{title}</h1></header>\n<main>\n"
    )?;
    let lead: String = page.answer.lead().map(|sentence| format!("<p>{}</p>\n", escape(sentence))).collect();
    let figures = page.answer.to_html();
    write!(w, "<section id=\"answer\" aria-label=\"Answer\">\n{lead}</section>\n")?;
    write!(w, "<section id=\"figures\" aria-label=\"Figures\">\n{figures}</section>\n")?;
    let mut room = MOST_PICTURES.saturating_sub(page.data.len());
    for picture in page.pictures.iter().filter(|picture| !picture.svg.is_empty()) {
        let name = escape(&picture.name);
        if picture.svg.len() > room {
            writeln!(w, "<p class=\"note\">{name} is too large for this page; -o {name} writes it.</p>")?;
            continue;
        }
        room -= picture.svg.len();
        // A prolog has no place inside a page.
        let svg = picture.svg.find("<svg").map_or("", |at| &picture.svg[at..]);
        writeln!(w, "<figure data-name=\"{name}\">\n{svg}\n</figure>")?;
    }
    write!(w, "<section id=\"origin\" aria-label=\"Origin\">\n<h2>How to repeat it</h2>\n")?;
    writeln!(w, "<pre id=\"command\">{}</pre>", escape(page.command))?;
    for (name, value) in facts(&report) {
        writeln!(w, "<p class=\"fact\"><b>{name}</b> {}</p>", escape(&value))?;
    }
    let scenario = report.get("scenario").map(serde_json::to_string_pretty).transpose()?;
    let plan = report.get("plan").and_then(Value::as_str).map(str::to_owned);
    for (name, head, text) in [("scenario", "Scenario, with all defaults", scenario), ("plan", "Plan", plan)] {
        let Some(text) = text else { continue };
        writeln!(w, "<details><summary>{head}</summary>\n<pre id=\"{name}\">{}</pre></details>", escape(&text))?;
    }
    write!(w, "{}</section>\n</main>\n", terms::list(&(lead + &figures)))?;
    if !page.data.is_empty() {
        writeln!(w, "<script type=\"application/json\" id=\"data\">{}</script>", page.data)?;
    }
    write!(w, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

/// Returns version, seed, status and fingerprint of a report, as far as it has them.
fn facts(report: &Value) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let seed = report.pointer("/scenario/seed");
    let known = [("status", report.get("status")), ("seed", seed), ("fingerprint", report.get("fingerprint"))];
    let version = [("version", json!(env!("CARGO_PKG_VERSION")))];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, value?.clone())));
    version.into_iter().chain(known).map(|(name, value)| (name, text(&value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Grid};

    #[test]
    fn names_are_text_and_large_pictures_are_left_out() {
        let mut grid = Grid::new().text("rank").number("time");
        grid.row([Cell::from("<script>alert(1)</script>"), 2.0.into()]);
        let mut answer = Answer::from(grid);
        answer.say("<b> is the fastest.");
        let large = format!("<svg>{}</svg>", "x".repeat(MOST_PICTURES));
        let pictures = [("small.svg", "<?xml?><svg id='a'/>".to_owned()), ("large.svg", large)]
            .map(|(name, svg)| PagePicture::new(name, svg));
        let command = "hayase run 'a b' 'it'\\''s'";
        let page = Page { title: "</title><script>", answer: &answer, pictures: &pictures, command, data: "" };
        let mut html = Vec::new();
        write(&page, &json!({"fingerprint": "12", "scenario": {"seed": 7, "topology": "</pre>"}}), &mut html).unwrap();
        let html = String::from_utf8(html).unwrap();
        assert_eq!(html.matches("<script").count(), 1, "only the script of the page");
        assert!(
            html.contains("&lt;b&gt; is the fastest.") && html.contains("<svg id='a'/>") && !html.contains("<?xml")
        );
        assert!(html.contains("large.svg is too large") && html.len() < MOST_PICTURES);
        assert!(html.contains("hayase run 'a b' 'it'\\''s'") && html.contains("<b>seed</b> 7"), "{html}");
        assert!(html.contains("&lt;/pre&gt;"));
    }
}
