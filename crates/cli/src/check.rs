//! `hayase check`: whether files say what can be run, or predicted from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueHint};
use serde_json::Value;

use super::listing::Listing;
use super::options::{Format, OutputArgs};
use super::pattern::{self, totals};
use super::{End, Failure, Voice, complain, extension, print, program, progress};
use hayase::diagnostic::{Diagnostic, Invalid, Located, Sources, file_names};
use hayase::prediction::communication::Communication;
use hayase::prediction::program::{Blocks, unfold};
use hayase::scenario::{Loaded, Loader, Scenario};
use hayase::simulation::Simulated;
use hayase::workload::ALONE;
use hayase::workload::trace::unmatched;
use hayase_output::table::{Answer, count, grouped, seconds};

const CHECK_EXAMPLES: &str = "\
Examples:
  hayase check scenario.toml
  hayase check fabric.toml messages.csv platform.xml

Yours: all of these

Says `ok` and what is in each file, or shows all mistakes of all files; then the exit code is 2.

Files (-o), by name:
  x.csv    a line for each file: file,ok,content
  x.json   an object for each";

/// `hayase check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Scenarios, topologies and patterns (.toml), messages (.csv), SimGrid platforms (.xml), reports (.json), data
    /// sets (.prog, .comp, .comm).
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Check TOML files as scenarios with this preset: a name (`hayase preset list`) or a file like those.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Ranks of a pattern that is checked without a fabric: a square, a cube and a power of two.
const RANKS: u32 = 64;

/// Checks every file, whatever is wrong with the others.
pub fn check(args: &CheckArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&Listing::offer("check"))?;
    let mut end = End::Done;
    let mut checked: Vec<(String, Option<String>)> = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        match summary(path, args.preset.as_deref(), voice) {
            Ok(summary) => {
                if args.out.format == Format::Table {
                    print(&format!("{name}: ok: {summary}\n"))?;
                }
                checked.push((name, Some(summary)));
            }
            Err(invalid) => {
                complain(format_args!("{}\n", invalid.show(voice.colour)));
                checked.push((name, None));
                end = End::Invalid;
            }
        }
    }
    let rows = || -> Box<dyn Iterator<Item = Vec<Value>>> {
        let row = |(name, what): &(String, Option<String>)| {
            vec![name.as_str().into(), what.is_some().into(), what.as_deref().map_or(Value::Null, Value::from)]
        };
        Box::new(checked.iter().map(row))
    };
    // As a table each line has been printed where its file was read.
    Listing { columns: &["file", "ok", "content"], rows: &rows }.answer(&args.out, Answer::new)?;
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

/// `54 ranks`.
fn ranks(ranks: u32) -> String {
    count(ranks.into(), "rank", "ranks")
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
                let ranks = ranks(program.ranks());
                let operations = count(program.operations(), "operation", "operations");
                let (node, on) = (scenario.system().node().name(), scenario.network_name());
                Ok(format!("{name}, {ranks}, {operations}, nodes {node}, {on}"))
            }
            Loaded::Jobs(scenario) => {
                let fabric = scenario.network().map(|network| network.fabric.to_string()).unwrap_or_default();
                let jobs = count(scenario.work().jobs.len() as u64, "job", "jobs");
                Ok(format!("{fabric}, {jobs}, {}: {}", ranks(scenario.work().ranks()), scenario.work().name()))
            }
            Loaded::Farm(farm) => {
                let Some(first) = farm.points.first().map(Scenario::work) else { return Ok("a farm".to_owned()) };
                let tasks = grouped(first.listed.len() as u64);
                let tried = match farm.points.len() {
                    1 => count(first.point.workers.len() as u64, "worker", "workers"),
                    points => count(points as u64, "combination", "combinations"),
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
            let operations = count(whole.operations(), "operation", "operations");
            let steps = count(data.steps() as u64, "step", "steps");
            Ok(format!("program data, {}, {operations} in {steps}", ranks(data.ranks)))
        }
        Content::Computation => {
            let data = program::read_computation(path, voice)?;
            let blocks = count(data.blocks.len() as u64, "block", "blocks");
            Ok(format!("computation data, {}, {} in {blocks}", ranks(data.ranks), seconds(data.total().seconds())))
        }
        Content::Communication => {
            let data = Communication::read(&named, &mut progress::sources(voice.show))?;
            Ok(format!("communication data, {}", count(data.times.len() as u64, "size", "sizes")))
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
    if has_preset || table.contains_key("preset") || table.contains_key("job") {
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
