//! Runs of any work, with the records of them that are not in their reports.

use std::sync::Arc;

use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::engine::Watch;
use hayase::player::{Activity, Transfer};
use hayase::report::replay::ReplayReport;
use hayase::report::{FarmReport, Head, JobsReport, MessageRecord, Report, Status};
use hayase::scenario::{Loaded, Scenario};
use hayase::simulation::RunOptions;
use hayase::sweep::Control;
use hayase::units::Bytes;
use hayase_output::runner::{self, Answering, Reported, Told};
use hayase_output::{columns, table as output};

use crate::column::{Columns, Records, table};
use crate::work::Looking;

/// Records that are made in addition to the report.
#[derive(Clone, Copy, Default)]
pub struct Wishes {
    /// Every message.
    pub messages: bool,
    /// Every link.
    pub links: bool,
    /// Time of each rank by kind of activity.
    pub ranks: bool,
    /// All activities of ranks.
    pub activities: bool,
    /// The critical path, step by step.
    pub path: bool,
}

impl Wishes {
    /// Reads the names of tables.
    pub fn of(tables: &[String]) -> Self {
        let asked = |table: &str| tables.iter().any(|asked| asked == table);
        Self {
            messages: asked("messages"),
            links: asked("links"),
            ranks: asked("ranks"),
            activities: asked("activities"),
            path: asked("path"),
        }
    }

    /// True if the table in a file of this name is requested.
    fn has(&self, name: &str) -> bool {
        match name {
            "links.csv" => self.links,
            "ranks.csv" => self.ranks,
            "path.csv" => self.path,
            _ => false,
        }
    }
}

/// Report of any work, as JSON.
pub trait AnyReport: Send + Sync {
    /// Returns the part that all reports share.
    fn head(&self) -> &Head;

    /// Returns the report as the program writes it.
    fn to_json(&self) -> String;

    /// Returns the program's table of the report as HTML.
    fn to_html(&self) -> String;
}

macro_rules! any_report {
    ($($report:ty: $table:path),*) => {
        $(impl AnyReport for $report {
            fn head(&self) -> &Head {
                Reported::head(self)
            }

            fn to_json(&self) -> String {
                serde_json::to_string(self).unwrap_or_default()
            }

            fn to_html(&self) -> String {
                $table(self).to_html()
            }
        })*
    };
}
any_report!(Report: output::run, ReplayReport: output::replay, JobsReport: output::jobs, FarmReport: output::farm);

/// Outcome of a run.
pub struct Raw {
    /// Kind of work: `pattern`, `program`, `jobs` or `farm`.
    pub kind: &'static str,
    /// Report of the run.
    pub report: Box<dyn AnyReport>,
    /// Cause of a deadlock, if the run ended in one.
    pub deadlock: Option<String>,
    /// Requested tables, by name.
    pub tables: Vec<(&'static str, Columns)>,
}

impl runner::Looking for Looking {
    fn run<T>(&self, run: impl FnOnce(&dyn Watch) -> T) -> T {
        run(self)
    }

    fn runs<T>(&self, runs: impl FnOnce(Control<'_>) -> T) -> T {
        runs(Control { progress: None, cancel: Some(self.stop) })
    }

    fn hint(&self, _: &str) {}
}

/// Runs a scenario with these seeds; the report is that of the first.
///
/// # Errors
/// Anything that cannot be built with one of the seeds.
pub fn play(loaded: &Loaded, seeds: &[u64], wishes: Wishes, looking: &Looking) -> Result<Raw, Invalid> {
    match loaded {
        Loaded::Pattern(scenario) => one("pattern", scenario, seeds, wishes, looking, |outcome| Tables {
            links: Some(table(columns::links(), outcome.links.iter())),
            ranks: Some(table(columns::ranks(), outcome.report.ranks.iter().flat_map(|of| &of.ranks))),
            path: Some(table(columns::path(), outcome.path.iter().flatten())),
        }),
        Loaded::Program(scenario) => one("program", scenario, seeds, wishes, looking, |outcome| Tables {
            links: None,
            ranks: Some(table(columns::ranks(), outcome.report.ranks.iter())),
            path: Some(table(columns::path(), outcome.path.iter().flatten())),
        }),
        Loaded::Jobs(scenario) => one("jobs", scenario, seeds, wishes, looking, |outcome| {
            let names = scenario.work().jobs.iter().map(|job| job.name.as_str());
            let links = table(columns::job_links(names), outcome.links.iter());
            Tables { links: Some(links), ranks: None, path: None }
        }),
        Loaded::Farm(farm) => {
            let report = Box::new(runner::farm(farm, seeds, looking)?);
            Ok(Raw { kind: "farm", report, deadlock: None, tables: Vec::new() })
        }
    }
}

/// Tables made from an outcome, if this kind of work has them.
struct Tables {
    links: Option<Columns>,
    ranks: Option<Columns>,
    path: Option<Columns>,
}

/// Memory of a message in a table \[B\].
const EACH: u64 = 36;

/// Columns of the messages of a program that are kept, with their names in Python.
const TRANSFERS: [(&str, &str); 8] = [
    ("message", ""),
    ("src", ""),
    ("dst", ""),
    ("bytes", ""),
    ("called", "start"),
    ("leave", ""),
    ("arrive", ""),
    ("end", ""),
];

/// Returns a table with room for the recorded messages, or a mistake if they do not fit into free memory.
fn room(messages: u64, wanted: bool) -> Result<Records<MessageRecord>, Invalid> {
    let messages = if wanted { messages } else { 0 };
    let (needed, free) = (messages.saturating_mul(EACH), hayase::base::memory::free().unwrap_or(u64::MAX));
    if needed > free {
        let (needed, free) = (Bytes(needed), Bytes(free));
        let message = format!("{messages} messages take {needed} as a table, and {free} are free");
        let help = "leave `messages=True` out, or let the program write them: Result.save(\"messages.csv\")";
        return Err(Diagnostic::new("too-large", message).help(help).into());
    }
    Ok(Records::new(columns::messages(), usize::try_from(messages).unwrap_or(usize::MAX)))
}

/// Runs work whose answer is one run.
fn one<W: Answering<Outcome: Told<Report: AnyReport>>>(
    kind: &'static str,
    scenario: &Scenario<W>,
    seeds: &[u64],
    wishes: Wishes,
    looking: &Looking,
    tables: impl FnOnce(&W::Outcome) -> Tables,
) -> Result<Raw, Invalid> {
    let program = scenario.work().program();
    let hears_messages = wishes.messages && program.is_none();
    let mut messages = room(scenario.work().messages(), hears_messages)?;
    let of_program = |program| Records::new(columns::transfers(Arc::clone(program)).only(&TRANSFERS), 0);
    let mut transfers = program.filter(|_| wishes.messages).map(of_program);
    let mut activities = Records::new(columns::activities(), 0);
    let outcome = {
        let mut on_message = |message: &MessageRecord| messages.add(message);
        let mut on_activity = |activity: &Activity| activities.add(activity);
        let mut add_transfer = transfers.as_mut().map(|table| |transfer: &Transfer| table.add(transfer));
        let run = |watch: &dyn Watch| {
            scenario.run(RunOptions {
                on_message: if hears_messages { Some(&mut on_message) } else { None },
                on_activity: if wishes.activities && W::ACTIVITIES { Some(&mut on_activity) } else { None },
                on_transfer: add_transfer.as_mut().map(|add| add as _),
                watch: Some(watch),
                ..scenario.work().observed(&|name| wishes.has(name))
            })
        };
        runner::answer(scenario, seeds, looking, run)?
    };
    let made = tables(&outcome);
    let messages = transfers.map_or_else(|| messages.columns(), Records::columns);
    let wanted = [
        ("messages", wishes.messages.then_some(messages)),
        ("links", made.links.filter(|_| wishes.links)),
        ("ranks", made.ranks.filter(|_| wishes.ranks)),
        ("activities", (wishes.activities && W::ACTIVITIES).then(|| activities.columns())),
        ("path", made.path.filter(|_| wishes.path)),
    ];
    let tables = wanted.into_iter().filter_map(|(name, columns)| Some((name, columns?))).collect();
    let deadlock = (Reported::head(outcome.report()).status == Status::Deadlocked).then(|| W::reason(&outcome));
    Ok(Raw { kind, report: Box::new(outcome.into_report()), deadlock, tables })
}
