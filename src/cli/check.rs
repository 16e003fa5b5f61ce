//! `hayase check`: whether files say what can be run.

use std::fs;
use std::path::Path;

use super::args::CheckArgs;
use super::pattern::{self, totals};
use super::{End, Failure, Voice, complain, extension, print, progress, render};
use crate::diagnostic::{Diagnostic, Invalid};
use crate::scenario::Loader;

/// Ranks of a pattern that is checked without a fabric: a square, a cube and a power of two.
const RANKS: u32 = 64;

/// Checks every file, whatever is wrong with the others.
pub fn check(args: &CheckArgs, voice: Voice) -> Result<End, Failure> {
    let mut end = End::Done;
    for path in &args.files {
        match summary(path, voice) {
            Ok(summary) => print(&format!("{}: ok: {summary}\n", path.display()))?,
            Err(invalid) => {
                complain(format_args!("{}\n", render::invalid(&invalid, voice.colour)));
                end = End::Invalid;
            }
        }
    }
    Ok(end)
}

/// What a file holds that says of itself.
enum Content {
    Scenario,
    Topology,
    Pattern,
}

/// What is in the file, in a line.
fn summary(path: &Path, voice: Voice) -> Result<String, Invalid> {
    let loader = Loader::new().on_read(progress::reading(voice.show));
    let named = path.to_string_lossy();
    match content(path)? {
        Content::Scenario => {
            let scenario = loader.file(path).load()?;
            let injection = scenario.injection;
            let (fabric, work) = (scenario.fabric, totals(&*scenario.pattern));
            Ok(format!("{fabric}, {}, {work}, injection {injection}", scenario.workload_name))
        }
        Content::Topology => Ok(loader.topology(&named).load_topology()?.fabric.to_string()),
        Content::Pattern => {
            let work = loader.pattern(&named).load_pattern(RANKS)?;
            let ranks = pattern::ranks(&*work.pattern);
            Ok(format!("{}, {ranks}, {}", work.workload.title(), totals(&*work.pattern)))
        }
    }
}

/// A file with both a topology and a workload is a scenario, and so is one that nobody can make sense of: then the
/// mistakes are those of a scenario.
fn content(path: &Path) -> Result<Content, Invalid> {
    match extension(path).as_str() {
        "xml" => return Ok(Content::Topology),
        "csv" | "zst" => return Ok(Content::Pattern),
        "toml" | "json" => {}
        _ => {
            let message = format!("`{}` does not look like anything that can be checked", path.display());
            let known =
                "scenarios, topologies and patterns are called x.toml, lists of messages x.csv, platforms x.xml";
            return Err(Invalid {
                diagnostics: vec![Diagnostic::new("unknown-file", message).help(known)],
                ..Invalid::default()
            });
        }
    }
    // A file that cannot be read is reported by whoever reads it in earnest.
    let text = fs::read_to_string(path).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    Ok(match (table.contains_key("topology"), table.contains_key("workload")) {
        (true, false) => Content::Topology,
        (false, true) => Content::Pattern,
        _ => Content::Scenario,
    })
}
