//! Gaussian elimination as the LogGPS paper ran it: waiting for receivers appears when messages pass S, and goes when S is
//! raised or messages are sent in pieces.

use std::fmt::Write;

use serde::Deserialize;

use super::{Case, Context, Outcome, Trouble};
use crate::node::NodeSpec;
use crate::player::{ActivityKind, Observers, Play, Player};
use crate::units::Bytes;
use crate::workload::program::GaussianElimination;

const SOURCE: &str = "F. Ino, N. Fujimoto, K. Hagihara: LogGPS, section 4.3 and table 7";
/// Operations that a processor does in a second: the one figure that is ours.
const FLOPS: f64 = 90e6;
/// How far from the published prediction a cell may be.
const CLOSE: f64 = 0.1;

/// A cell of the published table.
#[derive(Clone, Debug, Deserialize)]
struct Cell {
    network: String,
    n: u32,
    variant: String,
    measured_s: f64,
    predicted_s: f64,
}

/// What came out for it.
struct Run {
    cell: Cell,
    seconds: f64,
    /// Part of all ranks' time in which a sender waits for its receiver, and a receiver for its message.
    send_wait: f64,
    recv_wait: f64,
}

impl Run {
    fn error(&self) -> f64 {
        self.seconds / self.cell.predicted_s - 1.0
    }
}

pub(super) fn cases() -> Vec<Case> {
    let case = |network: &'static str| {
        Case::new(format!("loggps/gaussian-elimination-{network}"), move |context| table(network, context))
            .source(SOURCE)
            .expect("the predicted times of table 7 by one rate, 90e6 operations/s", "10 % of each, n >= 1024")
    };
    vec![
        Case::new("loggps/rendezvous-wait", rendezvous_wait)
            .source(SOURCE)
            .expect("no send wait at n = 1024; at n = 2048 a large part, and none with S = 65536 or in pieces", "none"),
        case("myrinet"),
        case("fast-ethernet"),
    ]
}

fn cells() -> Result<Vec<Cell>, Trouble> {
    let text = include_str!("../../validation/gaussian-elimination.csv");
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn node(network: &str, variant: &str) -> Result<NodeSpec, Trouble> {
    #[derive(Deserialize)]
    struct Machine {
        node: NodeSpec,
    }
    let text = match network {
        "myrinet" => include_str!("../../machines/myrinet.toml"),
        _ => include_str!("../../machines/fast-ethernet.toml"),
    };
    let mut node = toml::from_str::<Machine>(text).map_err(|error| error.to_string())?.node;
    if let NodeSpec::Loggps(spec) = &mut node
        && variant == "S=65536"
    {
        spec.sync = Bytes(65_536).into();
    }
    Ok(node)
}

fn run(context: &Context, cell: Cell) -> Result<Run, Trouble> {
    let fragment = (cell.variant == "fragmented").then_some(Bytes(16_383));
    let program =
        GaussianElimination { n: cell.n, ranks: 16, block: 8, flops: FLOPS, fragment, look_ahead: true, seed: 1 };
    let program = program.program().map_err(|mistakes| mistakes[0].message.clone())?;
    let costs = node(&cell.network, &cell.variant)?.costs().ok_or("no costs")?;
    let play = Play { program: &program, costs, expand: None, cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| context.goes_on());
    if played.interrupted {
        return Err("interrupted".into());
    }
    if !played.stuck.is_empty() {
        return Err(format!("{} ranks are stuck", played.stuck.len()));
    }
    let makespan = played.makespan().seconds();
    let part = |kind| {
        let sum: f64 = played.ranks.iter().map(|rank| rank.of(kind).seconds()).sum();
        sum / (makespan * played.ranks.len() as f64)
    };
    let (send_wait, recv_wait) = (part(ActivityKind::SendWait), part(ActivityKind::RecvWait));
    Ok(Run { cell, seconds: makespan, send_wait, recv_wait })
}

fn rendezvous_wait(context: &Context) -> Result<Outcome, Trouble> {
    let of = |n: u32, variant: &str| {
        let (network, variant) = ("myrinet".to_owned(), variant.to_owned());
        run(context, Cell { network, n, variant, measured_s: f64::NAN, predicted_s: f64::NAN })
    };
    let (below, above) = (of(1024, "original")?, of(2048, "original")?);
    let (raised, pieces) = (of(2048, "S=65536")?, of(2048, "fragmented")?);
    let good = below.send_wait == 0.0
        && (0.3..0.6).contains(&above.send_wait)
        && raised.send_wait == 0.0
        && pieces.send_wait == 0.0
        && raised.seconds < 0.65 * above.seconds
        && pieces.seconds < 0.65 * above.seconds;
    let percent = |run: &Run| format!("{:.0} %", 100.0 * run.send_wait);
    let got = format!(
        "send wait {} at n = 1024; {} at 2048, {} with S = 65536, {} in pieces; {:.2} s, {:.2} s, {:.2} s",
        percent(&below),
        percent(&above),
        percent(&raised),
        percent(&pieces),
        above.seconds,
        raised.seconds,
        pieces.seconds
    );
    Ok(Outcome::check(good, got))
}

fn table(network: &str, context: &Context) -> Result<Outcome, Trouble> {
    let largest = context.choose(2048, 4096);
    let wanted: Vec<Cell> = cells()?.into_iter().filter(|cell| cell.network == network && cell.n <= largest).collect();
    let runs = context.side_by_side(wanted, |cell| run(context, cell))?;
    let mut note =
        String::from("n, variant: ours, measured, predicted there [s]; ours against both; send wait, receive wait");
    for run in &runs {
        let Run { cell, seconds, send_wait, recv_wait } = run;
        let _ = write!(
            note,
            "\n{:>4} {:<10} {seconds:>7.3} {:>7.3} {:>7.3}  {:>+6.1} % {:>+6.1} %  {:>3.0} % {:>3.0} %",
            cell.n,
            cell.variant,
            cell.measured_s,
            cell.predicted_s,
            100.0 * (seconds / cell.measured_s - 1.0),
            100.0 * run.error(),
            100.0 * send_wait,
            100.0 * recv_wait
        );
    }
    let large: Vec<f64> = runs.iter().filter(|run| run.cell.n >= 1024).map(Run::error).collect();
    let worst =
        large.iter().copied().fold(0.0, |worst: f64, error| if error.abs() > worst.abs() { error } else { worst });
    let small = runs.iter().map(Run::error).fold(0.0, |worst: f64, e| if e.abs() > worst.abs() { e } else { worst });
    let close = large.iter().filter(|error| error.abs() <= CLOSE).count();
    let got = format!(
        "{close} of {} within 10 % for n >= 1024, worst {:+.1} %; worst of all {:+.1} %",
        large.len(),
        100.0 * worst,
        100.0 * small
    );
    Ok(Outcome::compare(close == large.len(), got).note(note))
}
