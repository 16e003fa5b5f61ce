//! Texts checked and run.

use std::cell::RefCell;
use std::error::Error;

use hayase::diagnostic::Invalid;
use hayase::engine::{Progress, Watch};
use hayase::report::{Comparison, Status};
use hayase::scenario::{Farm, Loaded, Loader, Scenario};
use hayase::simulation::{JobsWork, Simulated, Summary};
use hayase::sweep::{Axis, Control, Sweep, SweepError, SweepProgress, seeds_from};
use hayase_output::page::{self, Page, PagePicture};
use hayase_output::runner::{self, Looking, Reported, Told};
use hayase_output::shown::{Shown, write_page};
use hayase_output::{deadlock, json as report_json, pictures, svg, table};
use serde::Serialize;
use serde_json::{Value, json};

use crate::SCENARIO;
use crate::command::{self, Asked};
use crate::mistakes::answer;

/// Function that is told the progress of a run: the work done, and all work.
pub type Tell = fn(f64, f64);

/// Checks a text without running it; returns its mistakes, and a line that describes it.
pub fn check(text: &str) -> Value {
    let checked = read(text).and_then(|asked| match asked {
        Asked::Run { loader, seeds, .. } => {
            let loaded = loader.load_all()?;
            seeds_from(1, seeds)?;
            Ok(describe(&loaded))
        }
        Asked::Compare(sweep) => {
            let points = sweep.points_until(&Control::default())?;
            Ok(table::count(points.len() as u64, "combination", "combinations"))
        }
    });
    match checked {
        Ok(words) => json!({"mistakes": [], "words": words}),
        Err(invalid) => answer(&invalid, text),
    }
}

/// Runs a text; returns the page of its answer, or its mistakes.
pub fn run(text: &str, tell: Tell) -> Value {
    let looking = Onlooker { tell, hints: RefCell::default() };
    let played = read(text).map_err(Into::into).and_then(|asked| match asked {
        Asked::Run { loader, seeds, interference } => one(&loader, seeds, interference, &words(text), &looking),
        Asked::Compare(sweep) => comparison(&sweep, &words(text), &looking),
    });
    match played {
        Ok(mut played) => {
            played["hints"] = looking.hints.into_inner().into();
            played
        }
        Err(error) => match error.downcast::<Invalid>() {
            Ok(invalid) => answer(&invalid, text),
            Err(error) => json!({"error": error.to_string()}),
        },
    }
}

fn read(text: &str) -> Result<Asked, Invalid> {
    if command::is_meant(text) {
        return command::read(text);
    }
    let loader = Box::new(Loader::new().text(SCENARIO, text));
    Ok(Asked::Run { loader, seeds: 1, interference: false })
}

/// Returns the command that repeats a run.
fn words(text: &str) -> String {
    match command::is_meant(text) {
        true => text.trim().to_owned(),
        false => format!("hayase run {SCENARIO}"),
    }
}

fn describe(loaded: &Loaded) -> String {
    fn of<W: Simulated>(scenario: &Scenario<W>) -> String {
        let (work, ranks) = (scenario.work(), u64::from(scenario.work().ranks()));
        let messages = table::count(work.messages(), "message", "messages");
        format!("{} on {}, {}, {messages}", work.name(), scenario.network_name(), table::count(ranks, "rank", "ranks"))
    }
    match loaded {
        Loaded::Pattern(scenario) => of(scenario),
        Loaded::Program(scenario) => of(scenario),
        Loaded::Jobs(scenario) => of(scenario),
        Loaded::Farm(farm) => table::count(farm.points.len() as u64, "prediction", "predictions"),
    }
}

/// Observer of runs, which tells their progress and keeps hints.
struct Onlooker {
    tell: Tell,
    hints: RefCell<Vec<String>>,
}

struct Teller(Tell);

impl Watch for Teller {
    fn tick(&self, progress: Progress) -> bool {
        (self.0)(progress.delivered as f64, progress.total as f64);
        true
    }
}

impl Looking for Onlooker {
    fn run<T>(&self, run: impl FnOnce(&dyn Watch) -> T) -> T {
        run(&Teller(self.tell))
    }

    fn runs<T>(&self, runs: impl FnOnce(Control<'_>) -> T) -> T {
        let tell = self.tell;
        let progress = move |at: SweepProgress| tell(at.messages as f64, at.total_messages as f64);
        runs(Control { progress: Some(&progress), cancel: None })
    }

    fn hint(&self, text: &str) {
        self.hints.borrow_mut().push(text.to_owned());
    }
}

type Played = Result<Value, Box<dyn Error>>;

fn one(loader: &Loader, seeds: u64, interference: bool, command: &str, looking: &Onlooker) -> Played {
    let loaded = loader.clone().load_all()?;
    let more: &[&'static str] = if interference { &["interference.svg"] } else { &[] };
    match &loaded {
        Loaded::Pattern(_) | Loaded::Program(_) | Loaded::Farm(_) if interference => {
            Err(Invalid::from(JobsWork::needs_several()).into())
        }
        Loaded::Pattern(scenario) => shown(scenario, seeds, &[], command, looking),
        Loaded::Program(scenario) => shown(scenario, seeds, &[], command, looking),
        Loaded::Jobs(scenario) => {
            if interference {
                scenario.work().tells_interference(scenario.system()).map_err(Invalid::from)?;
            }
            shown(scenario, seeds, more, command, looking)
        }
        Loaded::Farm(farm) => predicted(farm, seeds, command, looking),
    }
}

fn shown<W: Shown>(
    scenario: &Scenario<W>,
    seeds: u64,
    more: &[&'static str],
    command: &str,
    looking: &Onlooker,
) -> Played {
    let seeds = seeds_from(scenario.seed(), seeds).map_err(Invalid::from)?;
    let mut html = Vec::new();
    let outcome = write_page(scenario, &seeds, more, command, looking, &mut html)?;
    let status = outcome.report().head().status;
    let mut played = finished(&html, outcome.report())?;
    if status == Status::Deadlocked {
        played["deadlock"] = W::reason(&outcome).trim_end().into();
    }
    let Summary { makespan_s, .. } = W::summary(&outcome);
    played["makespan"] = table::seconds(makespan_s).into();
    played["makespan_s"] = makespan_s.into();
    Ok(played)
}

fn predicted(farm: &Farm, seeds: u64, command: &str, looking: &Onlooker) -> Played {
    let seeds = seeds_from(farm.seed(), seeds).map_err(Invalid::from)?;
    let report = runner::farm(farm, &seeds, looking)?;
    let answer = table::farm(&report);
    let pictures = [PagePicture::new("x.svg", svg::farm(&report))];
    let title = answer.first_line();
    of_page(&Page { title: &title, answer: &answer, pictures: &pictures, command, data: "" }, &report)
}

fn comparison(sweep: &Sweep, command: &str, looking: &Onlooker) -> Played {
    let ran = looking.runs(|control| sweep.run(control));
    let comparison: Comparison = match ran {
        Ok(comparison) => comparison,
        Err(SweepError::Invalid(invalid)) => return Err(invalid.into()),
        Err(SweepError::Deadlocked { point, seed, blocked, gridlock, stopped, faults }) => {
            let reason = deadlock::explain(&blocked, gridlock.as_deref(), stopped, faults.as_deref());
            return Err(format!("{point} with seed {seed} deadlocks\n{}", reason.trim_end()).into());
        }
        Err(undone) => return Err(undone.into()),
    };
    let fails = sweep.axes.iter().any(|(axis, values)| *axis == Axis::Faults && !values.is_empty());
    let draw = |name: &str, draw: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut svg = Vec::new();
        draw(&mut svg).map(|()| PagePicture::new(name, String::from_utf8_lossy(&svg)))
    };
    let mut drawn = vec![draw("x.svg", &|w| pictures::comparison(&comparison, w))?];
    if fails {
        drawn.push(draw("faults.svg", &|w| pictures::faults(&comparison, w))?);
    }
    let answer = table::comparison(&comparison);
    of_page(&Page { title: &comparison.title, answer: &answer, pictures: &drawn, command, data: "" }, &comparison)
}

fn of_page(page: &Page<'_>, report: &impl Serialize) -> Played {
    let mut html = Vec::new();
    page::write(page, report, &mut html)?;
    finished(&html, report)
}

fn finished(html: &[u8], report: &impl Serialize) -> Played {
    let mut text = Vec::new();
    report_json::write(report, &mut text)?;
    let value = serde_json::to_value(report)?;
    Ok(json!({
        "html": String::from_utf8_lossy(html),
        "report": String::from_utf8_lossy(&text),
        "fingerprint": value.get("fingerprint"),
    }))
}
