//! Runs, of whatever work, with what is recorded of them beside their reports.

use std::sync::Arc;

use hayase::diagnostic::{Diagnostic, Invalid, Sources};
use hayase::player::{Activity, Stuck, Transfer};
use hayase::report::replay::ReplayReport;
use hayase::report::{FarmReport, Head, JobsReport, MessageRecord, Report, Status};
use hayase::scenario::{Farm, Loaded, Scenario};
use hayase::simulation::{JobsWork, PatternWork, ProgramWork, RunOptions, Simulated, Summary};
use hayase::sweep::accuracy::known_of;
use hayase::sweep::{cost_of_noise, over_seeds};
use hayase::units::Bytes;
use hayase::workload::Blocked;
use hayase_cli::deadlock;
use hayase_output::columns;

use crate::column::{Columns, Records, table};
use crate::work::Looking;

/// What is recorded beside the report.
#[derive(Clone, Copy, Default)]
pub struct Wishes {
    /// Every message.
    pub messages: bool,
    /// Every link.
    pub links: bool,
    /// Where the time of each rank went.
    pub ranks: bool,
    /// All that ranks did.
    pub activities: bool,
    /// The critical path, step by step.
    pub path: bool,
}

impl Wishes {
    /// Takes the names of tables.
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
}

/// The report of a run.
#[expect(clippy::large_enum_variant, reason = "there is one of them, for as long as its run is looked at")]
pub enum AnyReport {
    /// Of a pattern.
    Pattern(Report),
    /// Of a program.
    Program(ReplayReport),
    /// Of several jobs.
    Jobs(JobsReport),
    /// Of a farm.
    Farm(FarmReport),
}

impl AnyReport {
    /// What every report begins with.
    pub fn head(&self) -> &Head {
        match self {
            Self::Pattern(report) => &report.head,
            Self::Program(report) => &report.head,
            Self::Jobs(report) => &report.head,
            Self::Farm(report) => &report.head,
        }
    }

    /// The report as the program writes it.
    pub fn to_json(&self) -> String {
        let text = match self {
            Self::Pattern(report) => serde_json::to_string(report),
            Self::Program(report) => serde_json::to_string(report),
            Self::Jobs(report) => serde_json::to_string(report),
            Self::Farm(report) => serde_json::to_string(report),
        };
        text.unwrap_or_default()
    }
}

/// What came of a run.
pub struct Raw {
    /// Its report.
    pub report: AnyReport,
    /// Why it does not go on, where it deadlocks.
    pub deadlock: Option<String>,
    /// Tables that were asked for, by name.
    pub tables: Vec<(&'static str, Columns)>,
}

/// Runs it with these seeds, the report being of the first.
///
/// # Errors
/// What cannot be built with one of the seeds.
pub fn play(loaded: &Loaded, seeds: &[u64], wishes: Wishes, looking: &Looking) -> Result<Raw, Invalid> {
    match loaded {
        Loaded::Pattern(scenario) => pattern(&with_first(scenario, seeds)?, seeds, wishes, looking),
        Loaded::Program(scenario) => program(&with_first(scenario, seeds)?, seeds, wishes, looking),
        Loaded::Jobs(scenario) => jobs(&with_first(scenario, seeds)?, seeds, wishes, looking),
        Loaded::Farm(farm) => of_farm(farm, seeds, looking),
    }
}

fn with_first<W: Simulated>(scenario: &Scenario<W>, seeds: &[u64]) -> Result<Scenario<W>, Invalid> {
    match seeds.first() {
        Some(&first) if first != scenario.seed() => scenario.with_seed(first),
        _ => Ok(scenario.clone()),
    }
}

/// Adds to the report of a complete run what other seeds come to, and what slow processors cost.
fn completed<W: Simulated>(
    scenario: &Scenario<W>,
    seeds: &[u64],
    summary: &Summary,
    head: &mut Head,
    looking: &Looking,
) -> Result<(), Invalid> {
    if seeds.len() > 1 && head.status == Status::Complete {
        let statistics = over_seeds(scenario, seeds, summary, looking.control())?;
        if statistics.missing > 0 {
            head.status = Status::Interrupted;
        }
        head.seeds = Some(statistics);
    }
    if head.status == Status::Complete && !scenario.system().noise().is_empty() {
        head.noise = cost_of_noise(scenario, head.seeds.as_ref(), looking.control())?.map(Box::new);
    }
    Ok(())
}

/// Bytes that a message takes in a table \[B\].
const EACH: u64 = 36;

/// Columns of the messages of a program: those that say when it was where, by their names here.
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

/// Room for the messages that are recorded; a mistake where they do not fit in the memory that is free.
fn room(messages: u64, wanted: bool) -> Result<Records<MessageRecord>, Invalid> {
    let messages = if wanted { messages } else { 0 };
    let (needed, free) = (messages.saturating_mul(EACH), hayase::base::memory::free().unwrap_or(u64::MAX));
    if needed > free {
        let (needed, free) = (Bytes(needed), Bytes(free));
        let message = format!("{messages} messages take {needed} as a table, and {free} are free");
        let help = "leave `messages=True` out, or let the program write them: Result.save(\"messages.csv\")";
        return Err(Invalid::one(Diagnostic::new("too-large", message).help(help), &Sources::default()));
    }
    Ok(Records::new(columns::messages(), usize::try_from(messages).unwrap_or(usize::MAX)))
}

fn pattern(scenario: &Scenario<PatternWork>, seeds: &[u64], wishes: Wishes, looking: &Looking) -> Result<Raw, Invalid> {
    let work = scenario.work();
    let mut messages = room(work.messages(), wishes.messages)?;
    let mut activities = Records::new(columns::activities(), 0);
    let mut outcome = {
        let mut on_message = |message: &MessageRecord| messages.add(message);
        let mut on_activity = |activity: &Activity| activities.add(activity);
        let usual = work.usual();
        scenario.run(RunOptions {
            link_use: wishes.links || usual.link_use,
            late: wishes.ranks || wishes.path || usual.late,
            on_message: if wishes.messages { Some(&mut on_message) } else { None },
            on_activity: if wishes.activities { Some(&mut on_activity) } else { None },
            keep: wishes.path,
            watch: Some(looking),
            ..RunOptions::default()
        })
    };
    let summary = outcome.summary();
    completed(scenario, seeds, &summary, &mut outcome.report.head, looking)?;
    if outcome.report.head.status == Status::Complete {
        outcome.report.head.accuracy = known_of(scenario, scenario.work()).map(Box::new);
    }
    let mut tables = Vec::new();
    if wishes.messages {
        tables.push(("messages", messages.columns()));
    }
    if wishes.links {
        tables.push(("links", table(columns::links(), outcome.links.iter())));
    }
    if wishes.ranks {
        let ranks = outcome.report.ranks.as_ref().map_or(&[][..], |of| &of.ranks);
        tables.push(("ranks", table(columns::ranks(), ranks.iter())));
    }
    if wishes.activities {
        tables.push(("activities", activities.columns()));
    }
    if wishes.path {
        tables.push(("path", table(columns::path(), outcome.path.iter().flatten())));
    }
    let Report { head, gridlock, .. } = &outcome.report;
    let deadlock = (head.status == Status::Deadlocked)
        .then(|| deadlock::explain(&outcome.blocked, gridlock.as_ref(), head.stopped, head.faults.as_deref()));
    Ok(Raw { report: AnyReport::Pattern(outcome.report), deadlock, tables })
}

fn program(scenario: &Scenario<ProgramWork>, seeds: &[u64], wishes: Wishes, looking: &Looking) -> Result<Raw, Invalid> {
    let mut activities = Records::new(columns::activities(), 0);
    let of_messages = columns::transfers(Arc::clone(&scenario.work().program)).only(&TRANSFERS);
    let mut transfers = Records::new(of_messages, 0);
    let mut outcome = {
        let mut on_activity = |activity: &Activity| activities.add(activity);
        let mut on_transfer = |transfer: &Transfer| transfers.add(transfer);
        scenario.run(RunOptions {
            on_activity: if wishes.activities { Some(&mut on_activity) } else { None },
            on_transfer: if wishes.messages { Some(&mut on_transfer) } else { None },
            late: true,
            keep: wishes.path,
            watch: Some(looking),
            ..RunOptions::default()
        })
    };
    let summary = outcome.summary();
    completed(scenario, seeds, &summary, &mut outcome.report.head, looking)?;
    let mut tables = Vec::new();
    if wishes.messages {
        tables.push(("messages", transfers.columns()));
    }
    if wishes.ranks {
        tables.push(("ranks", table(columns::ranks(), outcome.report.ranks.iter())));
    }
    if wishes.activities {
        tables.push(("activities", activities.columns()));
    }
    if wishes.path {
        tables.push(("path", table(columns::path(), outcome.path.iter().flatten())));
    }
    let deadlock = (outcome.report.head.status == Status::Deadlocked).then(|| stuck(&outcome.report, outcome.stuck));
    Ok(Raw { report: AnyReport::Program(outcome.report), deadlock, tables })
}

fn stuck(report: &ReplayReport, stuck: Vec<Stuck>) -> String {
    let Head { faults, stopped, .. } = &report.head;
    let blocked: Vec<Blocked> = stuck.into_iter().map(Blocked::from).collect();
    let lost = deadlock::without_way(faults.as_deref(), *stopped).unwrap_or_default();
    lost + &deadlock::describe(&blocked, "operation", *stopped)
}

fn jobs(scenario: &Scenario<JobsWork>, seeds: &[u64], wishes: Wishes, looking: &Looking) -> Result<Raw, Invalid> {
    let mut messages = room(scenario.work().messages(), wishes.messages)?;
    let mut outcome = {
        let mut on_message = |message: &MessageRecord| messages.add(message);
        scenario.run(RunOptions {
            alone: true,
            link_use: wishes.links,
            on_message: if wishes.messages { Some(&mut on_message) } else { None },
            watch: Some(looking),
            ..RunOptions::default()
        })
    };
    let summary = outcome.summary();
    completed(scenario, seeds, &summary, &mut outcome.report.head, looking)?;
    let mut tables = Vec::new();
    if wishes.messages {
        tables.push(("messages", messages.columns()));
    }
    if wishes.links {
        let names = scenario.work().jobs.iter().map(|job| job.name.as_str());
        tables.push(("links", table(columns::job_links(names), outcome.links.iter())));
    }
    let JobsReport { head, gridlock, .. } = &outcome.report;
    let deadlock = (head.status == Status::Deadlocked)
        .then(|| deadlock::explain(&outcome.blocked, gridlock.as_ref(), head.stopped, head.faults.as_deref()));
    Ok(Raw { report: AnyReport::Jobs(outcome.report), deadlock, tables })
}

fn of_farm(farm: &Farm, seeds: &[u64], looking: &Looking) -> Result<Raw, Invalid> {
    let mut report = farm.run_seeds(seeds, looking.control())?;
    if let ([point], [row]) = (&farm.points[..], &report.predictions[..]) {
        let mut head = Head { seeds: row.seeds.clone(), ..report.head.clone() };
        if head.status == Status::Complete && !point.system().noise().is_empty() {
            head.noise = cost_of_noise(point, head.seeds.as_ref(), looking.control())?.map(Box::new);
        }
        report.head.noise = head.noise;
    }
    Ok(Raw { report: AnyReport::Farm(report), deadlock: None, tables: Vec::new() })
}
