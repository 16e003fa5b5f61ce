//! Tables for readers: the results of a run, a comparison or a set of rates, on a terminal or as Markdown.
//!
//! A column of a [`Grid`] knows the [`Quantity`] of its figures. An [`Answer`] chooses one unit for each
//! quantity, shows it in the headings of all its tables, and fits them to the terminal.

mod accuracy;
mod answer;
mod benchmark;
mod calibration;
mod communication;
mod compared_jobs;
mod comparison;
mod difference;
mod farm;
mod figures;
mod grid;
mod jobs;
mod late;
mod layout;
mod measured;
mod models;
mod nccl;
mod noise;
mod program;
mod replay;
mod run;
mod schedule;
mod sweep;
#[cfg(test)]
mod tests;
mod training;
mod whatif;
mod written;

use crate::columns;
use hayase::report::{Rate, Status, Stopped};
use hayase::units::Bytes;

pub use accuracy::accuracy;
pub use answer::Answer;
pub use benchmark::{benchmark, loads};
pub use calibration::{calibration, steps};
pub use communication::communication;
pub use comparison::comparison;
pub use difference::difference;
pub use farm::{farm, plan};
pub use figures::{Quantity, bandwidth, count, counted, fixed, grouped, percent, rate, rate_of, seconds};
pub use grid::{Cell, Grid, printable};
pub use jobs::jobs;
pub use measured::measured;
pub use nccl::nccl;
pub use program::{program, variation};
pub use replay::replay;
pub use run::{failed, run};
pub use schedule::{operation, schedule};
pub use sweep::{best, sensitivity};
pub use training::training;
pub use whatif::whatif;
pub(crate) use written::escape;

/// Returns a line on a run that ended early, with the time from which nothing moved; `None` for a complete
/// run.
fn early(status: Status, stopped: Option<Stopped>) -> Option<String> {
    let early = match status {
        Status::Complete => return None,
        Status::Interrupted => "INTERRUPTED",
        Status::Deadlocked => "DEADLOCKED",
        Status::Undone => "NOT DONE",
    };
    let at = stopped.map_or_else(String::new, |stopped| format!(" at {}", seconds(stopped.at_s)));
    Some(format!("{early}{at}: this is what had happened by then"))
}

/// Formats the messages delivered before a run stopped: `3 messages (300 B)`.
pub fn delivered(stopped: &Stopped) -> String {
    format!("{} ({})", figures::count(stopped.messages, "message", "messages"), Bytes(stopped.bytes))
}

/// Returns the rates of the messages of a first step, in the given order, and their spread.
pub fn rates(title: &str, rates: &[Rate]) -> Answer {
    let finite = || rates.iter().map(|rate| rate.rate_bps).filter(|rate| rate.is_finite());
    let bounded = finite().count();
    let mut text = Answer::new();
    text.push_str(&format!("{}\n\n", printable(title)));
    text.table(Grid::of(&columns::rates(), rates).keys(2));
    if bounded > 0 {
        let (sum, min, max) = finite().fold((0.0, f64::INFINITY, 0.0), |(sum, min, max): (f64, f64, f64), rate| {
            (sum + rate, min.min(rate), max.max(rate))
        });
        text.push_str(&format!(
            "\n{} at once: slowest {}, mean {}, fastest {}, together {}\n",
            count(rates.len() as u64, "message", "messages"),
            bandwidth(min),
            bandwidth(sum / bounded as f64),
            bandwidth(max),
            bandwidth(sum),
        ));
    }
    if rates.iter().any(|rate| rate.bottleneck.is_some()) {
        text.push_str("where several links hold a message back equally, one of them is named\n");
    }
    text
}
