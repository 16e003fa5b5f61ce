//! `hayase master-slave`: predictions of master/slave programs, and plans of what to execute.

pub mod args;
mod farm;
mod plan;
mod tasks;

use std::path::Path;

use super::files::{self, named, unknown};
use super::progress::RunsMonitor;
use super::{End, Failure, Voice, complain, extension, in_threads, interrupt, print_with, range, show};
use crate::args::TableFormat;
use args::{MasterSlaveArgs, MasterSlaveVerb};
use farm::Farm;
use hayase::diagnostic::{Diagnostic, Invalid, failure};
use hayase::report::MasterSlaveReport;
use hayase::sweep::Control;
use hayase::sweep::master_slave::{Study, StudyPoint};
use hayase::workload::task_queue::master::Manner;
use hayase::workload::task_queue::{Chunking, Masters, Order, Policy};
use hayase_output::{csv, json, svg, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Json,
    Csv,
    Chart,
    Gantt,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "svg" if named(path, "gantt") => Ok(Self::Gantt),
            "svg" => Ok(Self::Chart),
            _ => Err(unknown(path, "x.json, x.csv, x.svg or gantt.svg")),
        }
    }
}

/// Predicts, or plans.
pub fn master_slave(args: &MasterSlaveArgs, voice: Voice) -> Result<End, Failure> {
    if let Some(MasterSlaveVerb::Plan(args)) = &args.verb {
        return plan::plan(args, voice);
    }
    files::check_names(&args.output, Kind::of)?;
    let study = study(args, voice)?;
    if study.points.len() > 1
        && let Some(path) = args.output.iter().find(|path| Kind::of(path) == Ok(Kind::Gantt))
    {
        let message = format!("`{}` shows one prediction, and {} are asked for", path.display(), study.points.len());
        return Err(Diagnostic::new("too-many-points", message).help("give one number of workers").into());
    }
    let files = files::open(&args.output, Kind::of)?;
    let monitor = RunsMonitor::new(voice.show);
    let progress = |done| monitor.tell(done);
    let control = Control { progress: Some(&progress), cancel: Some(interrupt::stop_flag()) };
    let report = in_threads(args.threads, study.points.len(), || study.run(control))??;
    drop(monitor);
    for (kind, file) in files {
        if !report.complete && kind != Kind::Json {
            voice.say(format_args!("`{}` is not written: predictions are missing", file.path().display()));
            continue;
        }
        let picture = match kind {
            Kind::Chart => svg::master_slave(&report),
            Kind::Gantt => gantt(&study, &report)?,
            Kind::Json | Kind::Csv => String::new(),
        };
        file.write(|w| match kind {
            Kind::Json => json::write(&report, w),
            Kind::Csv => csv::predictions(&report, w),
            Kind::Chart | Kind::Gantt => files::text(&picture)(w),
        })?;
    }
    match args.format {
        TableFormat::Table => show(&table::master_slave(&report))?,
        TableFormat::Json => print_with(|w| json::write(&report, w))?,
        TableFormat::Csv => print_with(|w| csv::predictions(&report, w))?,
    }
    let undone = report.predictions.iter().find(|row| row.undone > 0);
    if let Some(row) = undone {
        let message = format!("all of {} workers are lost, and {} tasks are not done", row.workers, row.undone);
        complain(failure(&message, voice.colour));
        return Ok(End::Failed);
    }
    Ok(if report.complete { End::Done } else { End::Interrupted })
}

/// What each worker did, in the one prediction.
fn gantt(study: &Study, report: &MasterSlaveReport) -> Result<String, Failure> {
    let (Some(point), Some(row)) = (study.points.first(), report.predictions.first()) else { return Ok(String::new()) };
    let (turns, _) = study.turns(point)?;
    Ok(svg::gantt(&turns, row.workers as usize, row.time_s, &format!("{}, {}", report.tasks, report.setting)))
}

/// What was typed, as a study.
fn study(args: &MasterSlaveArgs, voice: Voice) -> Result<Study, Failure> {
    let mut mistakes = Mistakes::default();
    let farm = mistakes.note(Farm::of(&args.farm, args.source.seed, voice));
    let seed = args.source.seed;
    let detection = mistakes.note(range::quantity("--detection", &args.detection));
    let base = mistakes.note(Way::of(args, seed));
    let varied = match &args.vary {
        Some(text) => mistakes.note(vary(text)),
        None => Some((None, vec![None])),
    };
    let losses = mistakes.note(range::losses(&args.lose));
    let tasks = mistakes.note(tasks::load(args.tasks.as_deref().unwrap_or_default(), &args.source, voice));
    let (Some(farm), Some(detection), Some(base), Some((varied, values)), Some(losses), Some((title, tasks))) =
        (farm, detection, base, varied, losses, tasks)
    else {
        return Err(mistakes.into());
    };
    let mut points = Vec::new();
    for value in values {
        let mut way = base;
        if let (Some(name), Some(value)) = (&varied, &value) {
            way.set(name, value, seed)?;
        }
        for &count in &farm.counts(way.masters().count())? {
            let mut workers = farm.workers(count)?;
            for &(worker, at) in &losses {
                if worker >= count {
                    let message = format!("worker {worker} cannot be lost: there are {count}, numbered from 0");
                    return Err(Diagnostic::new("out-of-range", message).into());
                }
                workers.losses.push(hayase::workload::task_queue::Loss { worker, at });
            }
            let manner = Manner { prefetch: way.prefetch, detection };
            let policy = Policy { masters: way.masters(), chunking: way.chunking(), manner };
            check(&policy, &workers, &farm)?;
            points.push(StudyPoint { value: value.clone(), workers, order: way.order, policy });
        }
    }
    let setting = match &varied {
        Some(name) => format!("{}, {name} varied", farm.network),
        None => format!("{}, {}", farm.network, base.title(args)),
    };
    let Farm { costs, fabric, .. } = farm;
    Ok(Study { tasks, title, setting, costs, fabric, varied, points })
}

/// What does not go together.
fn check(policy: &Policy, workers: &hayase::workload::task_queue::Workers, farm: &Farm) -> Result<(), Diagnostic> {
    let group = match policy.masters {
        Masters::One => 1,
        Masters::Partition(masters) | Masters::Hierarchy { masters, .. } => masters,
    };
    if group as usize > workers.len() {
        let message = format!("{group} masters have too few workers: {}", workers.len());
        return Err(Diagnostic::new("out-of-range", message).help("give each master a worker at least"));
    }
    let several = matches!(policy.masters, Masters::Hierarchy { .. });
    if several && (policy.manner.prefetch > 0 || !workers.losses.is_empty()) {
        return Err(Diagnostic::new("wrong-choice", "a master of masters sends nothing ahead and loses no workers")
            .help("leave out --prefetch and --lose, or --hierarchy"));
    }
    if farm.fabric.is_some() && Study::beyond_a_fabric(policy, workers) {
        let message = "over a fabric there is one master, which sends nothing ahead and loses no workers";
        return Err(Diagnostic::new("wrong-choice", message)
            .help("leave out --topology, or --masters, --hierarchy, --prefetch and --lose"));
    }
    Ok(())
}

/// How tasks are given out, as typed.
#[derive(Clone, Copy, Debug)]
struct Way {
    order: Order,
    rule: Rule,
    granularity: u32,
    prefetch: u32,
    masters: u32,
    batch: Option<u32>,
}

/// How many tasks a message has.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Fixed,
    Guided,
    Factoring,
}

impl Way {
    fn of(args: &MasterSlaveArgs, seed: u64) -> Result<Self, Diagnostic> {
        let mut way = Self {
            order: Order::Listed,
            rule: Rule::Fixed,
            granularity: args.granularity.get(),
            prefetch: args.prefetch,
            masters: args.masters.get(),
            batch: args.hierarchy.map(std::num::NonZero::get),
        };
        way.set("chunking", &args.chunking, seed)?;
        way.set("order", &args.order, seed)?;
        Ok(way)
    }

    /// Sets one of them by its name.
    fn set(&mut self, name: &str, value: &str, seed: u64) -> Result<(), Diagnostic> {
        let number = || range::whole(name, value);
        let positive = || range::positive(name, value);
        match name {
            "granularity" => self.granularity = positive()?,
            "prefetch" => self.prefetch = number()?,
            "masters" => self.masters = positive()?,
            "hierarchy" => self.batch = Some(positive()?),
            "order" => match value {
                "listed" => self.order = Order::Listed,
                "longest-first" | "longest" => self.order = Order::LongestFirst,
                "shortest-first" => self.order = Order::ShortestFirst,
                "random" => self.order = Order::Random(seed),
                "guided" => (self.order, self.rule) = (Order::Listed, Rule::Guided),
                "factoring" => (self.order, self.rule) = (Order::Listed, Rule::Factoring),
                _ => {
                    let known = ["listed", "longest-first", "shortest-first", "random", "guided", "factoring"];
                    return Err(range::unknown_word("order", value, &known));
                }
            },
            "chunking" => match value {
                "fixed" => self.rule = Rule::Fixed,
                "guided" => self.rule = Rule::Guided,
                "factoring" => self.rule = Rule::Factoring,
                _ => return Err(range::unknown_word("chunking", value, &["fixed", "guided", "factoring"])),
            },
            _ => return Err(range::unknown_word("--vary", name, VARIABLE)),
        }
        Ok(())
    }

    fn masters(&self) -> Masters {
        match (self.batch, self.masters) {
            (Some(batch), masters) => Masters::Hierarchy { masters, batch },
            (None, 1) => Masters::One,
            (None, masters) => Masters::Partition(masters),
        }
    }

    fn chunking(&self) -> Chunking {
        match self.rule {
            Rule::Fixed => Chunking::Fixed(self.granularity),
            Rule::Guided => Chunking::Guided(self.granularity),
            Rule::Factoring => Chunking::Factoring(self.granularity),
        }
    }

    /// For people.
    fn title(&self, args: &MasterSlaveArgs) -> String {
        let mut text = match self.rule {
            Rule::Fixed if self.granularity == 1 => "a task a message".to_owned(),
            Rule::Fixed => format!("{} tasks a message", self.granularity),
            Rule::Guided => "guided chunks".to_owned(),
            Rule::Factoring => "factoring chunks".to_owned(),
        };
        text += match self.order {
            Order::Listed => "",
            Order::LongestFirst => ", longest first",
            Order::ShortestFirst => ", shortest first",
            Order::Random(_) => ", in random order",
        };
        match self.masters() {
            Masters::One => {}
            Masters::Partition(masters) => text += &format!(", {masters} masters"),
            Masters::Hierarchy { masters, batch } => {
                text += &format!(", {masters} masters under one that gives out batches of {batch}");
            }
        }
        if self.prefetch > 0 {
            text += &format!(", {} sent ahead", self.prefetch);
        }
        if !args.lose.is_empty() {
            text += &format!(", lost workers: {}", args.lose.join(", "));
        }
        text
    }
}

/// What can be varied.
const VARIABLE: &[&str] = &["granularity", "prefetch", "masters", "hierarchy", "order", "chunking"];

/// `granularity=1..1024:x2`: a name and its values.
type Varied = (Option<String>, Vec<Option<String>>);

fn vary(text: &str) -> Result<Varied, Diagnostic> {
    let Some((name, values)) = text.split_once('=') else {
        return Err(Diagnostic::new("bad-range", format!("\"{text}\" does not say what to vary over which values"))
            .help("write it like --vary granularity=1..1024:x2"));
    };
    if !VARIABLE.contains(&name) {
        return Err(range::unknown_word("--vary", name, VARIABLE));
    }
    let values: Vec<String> = match name {
        "order" | "chunking" => values.split(',').map(str::to_owned).collect(),
        _ => range::numbers("--vary", values)?.into_iter().map(|number| number.to_string()).collect(),
    };
    Ok((Some(name.to_owned()), values.into_iter().map(Some).collect()))
}

/// All mistakes of what was typed, so that they are told at once.
#[derive(Default)]
struct Mistakes(Invalid);

impl Mistakes {
    /// The value, or nothing and one mistake more.
    fn note<T>(&mut self, result: Result<T, impl Into<Failure>>) -> Option<T> {
        match result.map_err(Into::into) {
            Ok(value) => Some(value),
            Err(Failure::Invalid(invalid)) => {
                // Places are places in the texts they came with: they are worked out before the texts are left behind.
                for mut diagnostic in invalid.diagnostics {
                    if let Some(place) = diagnostic.place(&invalid.sources) {
                        diagnostic = diagnostic.at_place(place);
                    }
                    self.0.diagnostics.push(diagnostic);
                }
                None
            }
            Err(other) => {
                let (Failure::Write(_, error) | Failure::Print(error)) = other else { return None };
                self.0.diagnostics.push(Diagnostic::new("unreadable-file", error.to_string()));
                None
            }
        }
    }
}

impl From<Mistakes> for Failure {
    fn from(mistakes: Mistakes) -> Self {
        mistakes.0.into()
    }
}
