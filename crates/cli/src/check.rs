//! `hayase check`: whether files say what can be run, or predicted from.

use std::path::Path;
use std::sync::Arc;

use super::args::CheckArgs;
use super::pattern::{self, totals};
use super::{End, Failure, Voice, complain, extension, print, program, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, file_names};
use hayase::prediction::communication::Communication;
use hayase::prediction::program::{Blocks, unfold};
use hayase::scenario::{Loaded, Loader, Scenario};
use hayase::workload::ALONE;
use hayase::workload::trace::unmatched;
use hayase_output::table::{grouped, seconds};

/// Ranks of a pattern that is checked without a fabric: a square, a cube and a power of two.
const RANKS: u32 = 64;

/// Checks every file, whatever is wrong with the others.
pub fn check(args: &CheckArgs, voice: Voice) -> Result<End, Failure> {
    let mut end = End::Done;
    for path in &args.files {
        match summary(path, args.preset.as_deref(), voice) {
            Ok(summary) => print(&format!("{}: ok: {summary}\n", path.display()))?,
            Err(invalid) => {
                complain(format_args!("{}\n", invalid.show(voice.colour)));
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
    Program,
    Computation,
    Communication,
}

/// What is in the file, in a line.
fn summary(path: &Path, preset: Option<&str>, voice: Voice) -> Result<String, Invalid> {
    let loader = Loader::new().on_read(progress::reading(voice.show));
    let loader = match preset {
        Some(preset) => loader.preset(preset),
        None => loader,
    };
    let named = file_names::text_of(path);
    match content(path, preset.is_some())? {
        Content::Scenario => match loader.file(path).load_all()? {
            Loaded::Pattern(scenario) => {
                let work = scenario.work();
                let fabric = scenario.network().map(|network| network.fabric.to_string()).unwrap_or_default();
                let (name, injection) = (&work.name, work.injection);
                Ok(format!("{fabric}, {name}, {}, injection {injection}", totals(&*work.pattern)))
            }
            Loaded::Program(scenario) => {
                let (name, program) = (&scenario.work().name, &scenario.work().program);
                let (ranks, operations) = (program.ranks(), grouped(program.operations()));
                let (node, on) = (scenario.system().node().name(), scenario.network_name());
                Ok(format!("{name}, {ranks} ranks, {operations} operations, nodes {node}, {on}"))
            }
            Loaded::Farm(farm) => {
                let Some(first) = farm.points.first().map(Scenario::work) else { return Ok("a farm".to_owned()) };
                let tasks = grouped(first.listed.len() as u64);
                let tried = match farm.points.len() {
                    1 => format!("{} workers", grouped(first.point.workers.len() as u64)),
                    points => format!("{points} combinations"),
                };
                Ok(format!("{}, {tasks} of them, {tried}, {}", first.title, farm.setting))
            }
        },
        Content::Topology => Ok(loader.topology(&named).load_topology()?.fabric.to_string()),
        Content::Pattern => {
            let work = loader.pattern(&named).load_workload(RANKS)?;
            let ranks = pattern::ranks(&*work.pattern);
            Ok(format!("{}, {ranks}, {}", work.workload.title(), totals(&*work.pattern)))
        }
        Content::Program => {
            let data = program::read_program(path, voice)?;
            let whole = unfold(&data, &Blocks::of(&data), &mut (), &named)
                .map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?;
            let mistakes = unmatched(&whole);
            if !mistakes.is_empty() {
                return Err(Invalid { diagnostics: mistakes, ..Invalid::default() });
            }
            let (operations, steps) = (grouped(whole.operations()), grouped(data.steps() as u64));
            Ok(format!("program data, {} ranks, {operations} operations in {steps} steps", data.ranks))
        }
        Content::Computation => {
            let data = program::read_computation(path, voice)?;
            let blocks = grouped(data.blocks.len() as u64);
            Ok(format!(
                "computation data, {} ranks, {} in {blocks} blocks",
                data.ranks,
                seconds(data.total().seconds())
            ))
        }
        Content::Communication => {
            let data = Communication::read(&named, &mut progress::sources(voice.show))?;
            Ok(format!("communication data, {} sizes", data.times.len()))
        }
    }
}

/// A file with both a topology and a workload is a scenario, or with one of them and a preset; and so is one that
/// nobody can make sense of: then the mistakes are those of a scenario.
fn content(path: &Path, has_preset: bool) -> Result<Content, Invalid> {
    let plain = if extension(path) == "zst" { path.with_extension("") } else { path.to_owned() };
    match extension(&plain).as_str() {
        "prog" => return Ok(Content::Program),
        "comp" => return Ok(Content::Computation),
        "comm" => return Ok(Content::Communication),
        _ => {}
    }
    match extension(path).as_str() {
        "xml" => return Ok(Content::Topology),
        "csv" | "zst" => return Ok(Content::Pattern),
        "toml" | "json" => {}
        _ => {
            let message = format!("`{}` does not look like anything that can be checked", path.display());
            let known = "scenarios, topologies and patterns are called x.toml, lists of messages x.csv, platforms x.xml, data sets x.prog, x.comp, x.comm";
            return Err(Invalid {
                diagnostics: vec![Diagnostic::new("unknown-file", message).help(known)],
                ..Invalid::default()
            });
        }
    }
    // A file that cannot be read is reported by whoever reads it in earnest.
    let named: Located<String> = file_names::text_of(path).into();
    let text = Sources::default().read_text(&named).map_or_else(|_| Arc::from(""), |(_, text)| text);
    let table: toml::Table = text.parse().unwrap_or_default();
    if has_preset || table.contains_key("preset") {
        return Ok(Content::Scenario);
    }
    let alone = table
        .get("workload")
        .and_then(toml::Value::as_table)
        .is_some_and(|workload| ALONE.iter().any(|name| workload.contains_key(*name)));
    Ok(match (table.contains_key("topology"), table.contains_key("workload")) {
        (true, false) => Content::Topology,
        (false, true) if !alone => Content::Pattern,
        _ => Content::Scenario,
    })
}
