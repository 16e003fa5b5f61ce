//! Files of a master/slave prediction, which may have several points.

use std::num::NonZeroU32;

use super::Onlooker;
use crate::files::{leave_out, names};
use crate::options::{Offer, OutputArgs};
use crate::seeds::seeds;
use crate::{End, Failure, Voice, complain};
use hayase::diagnostic::{Diagnostic, failure};
use hayase::report::FarmReport;
use hayase::scenario::Farm;
use hayase::sweep::not_done;
use hayase_output::{csv, runner, svg, table};

/// Output options of a master/slave prediction.
pub const OFFER: Offer<&'static str> =
    Offer::new("master-slave", names!["x.json", "x.html", "x.csv", "gantt.svg", "x.svg"]);

/// Runs all points of a master/slave prediction with each seed, and writes and prints the results.
///
/// # Errors
/// Fails if an option is not supported or a file cannot be written.
pub fn play_farm(farm: &Farm, count: Option<NonZeroU32>, out: &OutputArgs, voice: Voice) -> Result<End, Failure> {
    let seeds = seeds(farm.seed(), count)?;
    out.check(&OFFER)?;
    if farm.points.len() > 1
        && let Some(path) = out.file_of(&OFFER, "gantt.svg")
    {
        let message = format!("`{}` shows one prediction, but there are {}", path.display(), farm.points.len());
        return Err(Diagnostic::new("too-many-points", message).help("give one number of workers").into());
    }
    let mut files = out.open(&OFFER)?;
    let report = runner::farm(farm, &seeds, &Onlooker::new(voice))?;
    if !report.complete {
        leave_out(&mut files, |name| name != "x.json", "predictions are missing", voice);
    }
    out.deliver(
        files,
        || table::farm(&report),
        &report,
        &[
            ("x.csv", &|w| csv::predictions(&report, w)),
            ("gantt.svg", &|w| w.write_all(gantt(farm, &report).as_bytes())),
            ("x.svg", &|w| w.write_all(svg::farm(&report).as_bytes())),
        ],
    )?;
    if let Some(row) = report.predictions.iter().find(|row| row.undone > 0) {
        let workers = table::count(row.workers.into(), "worker", "workers");
        let message = format!("all of {workers} are lost, and {}", not_done(row.undone));
        complain(failure(&message, voice.colour));
        return Ok(End::Failed);
    }
    Ok(if report.complete { End::Done } else { End::Interrupted })
}

/// Draws the activity of each worker in the one prediction.
fn gantt(farm: &Farm, report: &FarmReport) -> String {
    let [row] = report.predictions.as_slice() else { return String::new() };
    let title = format!("{}, {}", report.tasks, report.setting);
    let turns = farm.points.first().map(|point| point.work().turns(point.system())).unwrap_or_default();
    svg::gantt(&turns, row.workers as usize, row.time_s, &title)
}
