//! `hayase check`: checks input files without running anything.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::Value;

use super::listing::Listing;
use super::options::{Format, OutputArgs};
use super::pattern::{self, totals};
use super::{End, Failure, Voice, caveats, complain, extension, print, program, progress};
use hayase::System;
use hayase::diagnostic::{At, Diagnostic, Invalid, file_names};
use hayase::farm::{Given, TasksFile};
use hayase::pattern::FabricInfo;
use hayase::plan::{Outlook, Plan, Wrong};
use hayase::prediction::communication::Communication;
use hayase::prediction::program::{Blocks, unfold};
use hayase::program::Program;
use hayase::scenario::{Contents, Loaded, Loader, Scenario, contents};
use hayase::simulation::Simulated;
use hayase::system::{ProgramSpec, ReadProgram};
use hayase::trace::unmatched;
use hayase_output::table::{Answer, count, grouped, seconds};

const CHECK_EXAMPLES: &str = "\
Examples:
  hayase check scenario.toml
  hayase check fabric.toml messages.csv platform.xml
  hayase check machine.toml program.goal run/
  hayase check plan.toml                      build every point of a plan of `hayase sweep`, run none

You supply: all of these

Prints `ok` and the contents of each file, or all mistakes of all files; the exit code is then 2.

Files (-o), by name:
  x.csv    a line for each file: file,ok,content
  x.json   an object for each";

/// `hayase check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Files to check: scenarios, plans of sweeps, topologies, patterns, machines, presets, tasks (.toml),
    /// messages, placements, cables and other tables (.csv), SimGrid platforms (.xml), InfraGraphs (.yaml),
    /// reports (.json), data sets (.prog, .comp, .comm), traces and schedules.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Check TOML files as scenarios with this preset: a name (`hayase list presets`) or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub preset: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Largest number of fabrics of a plan that are named.
const MOST_FABRICS: usize = 4;
/// Ranks of a pattern that is checked without a fabric: a square, a cube and a power of two.
const RANKS: u32 = 64;

/// Placeholder for the fabric when a pattern is checked alone: groups of eight nodes and some permutation.
struct Sample;

impl FabricInfo for Sample {
    fn nodes(&self) -> u32 {
        RANKS
    }

    fn groups(&self) -> Option<Vec<u32>> {
        Some((0..RANKS).map(|node| node / 8).collect())
    }

    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        Ok((0..RANKS).map(|node| (node + 1) % RANKS).collect())
    }
}

/// Checks every file, also after mistakes in others.
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
    let row = |(name, what): &(String, Option<String>)| {
        vec![name.as_str().into(), what.is_some().into(), what.as_deref().map_or(Value::Null, Value::from)]
    };
    // With the table format, each line was printed when its file was read.
    Listing::new(&["file", "ok", "content"], || checked.iter().map(row)).answer(&args.out, Answer::new)?;
    Ok(end)
}

/// Returns text such as `54 ranks`.
fn ranks(ranks: u32) -> String {
    count(ranks.into(), "rank", "ranks")
}

/// Returns a line that describes the contents of a file.
fn summary(path: &Path, preset: Option<&str>, voice: Voice) -> Result<String, Invalid> {
    let loader = Loader::new().on_read(progress::reading(voice.show));
    let loader = match preset {
        Some(preset) => loader.preset(preset),
        None => loader,
    };
    let named = file_names::text_of(path);
    let mut sources = progress::sources(voice.show);
    let found = match (contents(path, &mut sources), preset) {
        // A file may have what the preset lacks, and vice versa.
        (Some(Contents::Topology | Contents::Pattern), Some(_)) if is_text(path) => Some(Contents::Scenario),
        (found, _) => found,
    };
    let Some(found) = found else {
        return Err(unknown(path).into());
    };
    match found {
        Contents::Scenario => scenario(loader.file(path)),
        Contents::Plan => plan(&Plan::read(path, loader)?.outlook()),
        Contents::Preset => {
            let preset = Loader::new().preset(&named);
            // A preset needs neither fabric nor work.
            preset.clone().check()?;
            let whole = preset.load_all().ok().map(|_| scenario(Loader::new().preset(&named))).transpose()?;
            Ok(whole.map_or_else(|| "a preset".to_owned(), |whole| format!("a preset; by itself {whole}")))
        }
        Contents::Machine => {
            let node = loader.machine(&named).load_machine()?;
            Ok(format!("a machine, nodes {}", node.name()))
        }
        Contents::Part => loader.file(path).check().map(|()| "a part of a scenario".to_owned()),
        Contents::Topology => Ok(loader.topology(&named).load_topology()?.fabric.to_string()),
        Contents::Pattern => {
            let work = loader.pattern(&named).load_workload(&Sample)?;
            let ranks = pattern::ranks(&*work.pattern);
            Ok(format!("{}, {ranks}, {}", work.workload.title(), totals(&*work.pattern)))
        }
        Contents::Tasks => {
            let spec = TasksFile::read(&named.into(), &mut sources);
            let spec = spec.map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() })?;
            let given = spec.read_tasks(System::SEED, &mut sources);
            let given = given.map_err(|diagnostics| Invalid { diagnostics, sources })?;
            Ok(match given {
                Given::Executed(executed, _) => count(executed.len() as u64, "executed task", "executed tasks"),
                Given::All(tasks) => count(tasks.len() as u64, "task", "tasks"),
            })
        }
        Contents::Trace => {
            let read = ProgramSpec::named(named.clone().into()).read(&sources);
            let ReadProgram { program, .. } = read.map_err(|diagnostics| Invalid { diagnostics, sources })?;
            fits(&program, &named, voice)?;
            let operations = count(program.operations(), "operation", "operations");
            Ok(format!("a program, {}, {operations}", ranks(program.ranks())))
        }
        Contents::Program => {
            let data = program::read_program(path, voice)?;
            let whole = unfold(&data, &Blocks::of(&data), &mut (), &named)
                .map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?;
            fits(&whole, &named, voice)?;
            let operations = count(whole.operations(), "operation", "operations");
            let steps = count(data.steps() as u64, "step", "steps");
            Ok(format!("program data, {}, {operations} in {steps}", ranks(data.ranks)))
        }
        Contents::Computation => {
            let data = program::read_computation(path, voice)?;
            let blocks = count(data.blocks.len() as u64, "block", "blocks");
            Ok(format!("computation data, {}, {} in {blocks}", ranks(data.ranks), seconds(data.total().seconds())))
        }
        Contents::Communication => {
            let data = Communication::read(&named, &mut sources)?;
            Ok(format!("communication data, {}", count(data.times.len() as u64, "size", "sizes")))
        }
        Contents::Table(kind) => {
            let lines = kind.read(&named.into(), &sources);
            let lines = lines.map_err(|diagnostics| Invalid { diagnostics, sources })?;
            Ok(format!("{}, {}", kind.name, count(lines, kind.lines[0], kind.lines[1])))
        }
    }
}

/// Describes the runs of a plan.
fn plan(outlook: &Outlook) -> Result<String, Invalid> {
    let Outlook { points, is_exact, keys, fabrics, built, configurations, wrong } = outlook;
    if !wrong.is_empty() {
        let diagnostics = wrong.iter().flat_map(|wrong| mistakes(wrong, *built)).collect();
        return Err(Invalid { diagnostics, ..Invalid::default() });
    }
    let most = if *is_exact { "" } else { "at most " };
    let keys: Vec<String> = keys.iter().map(|(key, values)| format!("{key} ({})", grouped(*values))).collect();
    let mut text = format!("a plan, {most}{}: {}", count(*points, "point", "points"), keys.join(" x "));
    if let Some(first) = fabrics.first() {
        text += &match fabrics.len() {
            1 => format!("; on {first}"),
            all if all <= MOST_FABRICS => format!("; on {}", fabrics.join(", on ")),
            all => format!("; on {} fabrics, the first of them {first}", grouped(all as u64)),
        };
    }
    if built < configurations {
        text += &format!("; {} of {} combinations were built", grouped(*built), grouped(*configurations));
    }
    Ok(text)
}

/// Returns the mistakes of the first wrong point of a plan, and names that point.
fn mistakes(wrong: &Wrong, built: u64) -> Vec<Diagnostic> {
    let values: Vec<String> = wrong.first.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let which = format!(
        "{} of {} combinations fail for this reason, first the one with {}; [[skip]] leaves points out",
        grouped(wrong.configurations),
        grouped(built),
        values.join(", ")
    );
    let Invalid { diagnostics, sources } = &wrong.mistakes;
    let placed = diagnostics.iter().map(|diagnostic| {
        let mut diagnostic = diagnostic.clone();
        if let Some(place) = diagnostic.place(sources) {
            diagnostic.at = At::Place(Box::new(place));
        }
        diagnostic
    });
    let mut placed: Vec<Diagnostic> = placed.collect();
    if let Some(first) = placed.first_mut() {
        first.help = Some(first.help.take().map_or_else(|| which.clone(), |help| format!("{help}; {which}")));
    }
    placed
}

/// Describes a whole scenario.
fn scenario(loader: Loader) -> Result<String, Invalid> {
    loader.load_all().map(|loaded| in_words(&loaded))
}

/// Describes a loaded scenario in a line: fabric, work, ranks.
pub fn in_words(loaded: &Loaded) -> String {
    match loaded {
        Loaded::Pattern(scenario) => {
            let work = scenario.work();
            let fabric = scenario.network().map(|network| network.fabric.to_string()).unwrap_or_default();
            let (name, injection) = (&work.name, work.injection);
            format!("{fabric}, {name}, {}, injection {injection}", totals(&*work.pattern))
        }
        Loaded::Program(scenario) => {
            let (name, program) = (&scenario.work().name, &scenario.work().program);
            let ranks = ranks(program.ranks());
            let operations = count(program.operations(), "operation", "operations");
            let (node, on) = (scenario.system().node().name(), scenario.network_name());
            format!("{name}, {ranks}, {operations}, nodes {node}, {on}")
        }
        Loaded::Jobs(scenario) => {
            let fabric = scenario.network().map(|network| network.fabric.to_string()).unwrap_or_default();
            let jobs = count(scenario.work().jobs.len() as u64, "job", "jobs");
            format!("{fabric}, {jobs}, {}: {}", ranks(scenario.work().ranks()), scenario.work().name())
        }
        Loaded::Farm(farm) => {
            let Some(first) = farm.points.first().map(Scenario::work) else { return "a farm".to_owned() };
            let tasks = grouped(first.listed.len() as u64);
            let tried = match farm.points.len() {
                1 => count(first.point.workers.len() as u64, "worker", "workers"),
                points => count(points as u64, "combination", "combinations"),
            };
            format!("{}, {tasks} of them, {tried}, {}", first.title, farm.setting)
        }
    }
}

/// Returns true for a TOML text, and false for a list of messages or a platform.
fn is_text(path: &Path) -> bool {
    matches!(extension(path).as_str(), "toml" | "json")
}

fn unknown(path: &Path) -> Diagnostic {
    let message = format!("`{}` does not look like anything that is read", path.display());
    let known = "texts with tables are called x.toml, tables with columns x.csv, platforms x.xml, reports x.json, data \
                 sets x.prog, x.comp, x.comm; traces are known by their first bytes";
    Diagnostic::new("unknown-file", message).help(known)
}

/// Reports messages of a program that are never received; a receive without a message is a mistake.
fn fits(program: &Program, name: &str, voice: Voice) -> Result<(), Invalid> {
    let ends = unmatched(program);
    caveats::say_unreceived(ends.unreceived(), name, voice);
    match ends.receives.is_empty() {
        true => Ok(()),
        false => Err(Invalid { diagnostics: ends.receives, ..Invalid::default() }),
    }
}
