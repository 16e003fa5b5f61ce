//! Gaussian elimination as the LogGPS paper ran it. Waits for receivers appear when messages exceed S, and
//! disappear when S is raised or messages are sent in pieces.

use std::fmt::Write;

use serde::Deserialize;

use super::{Case, CaseError, Context, Outcome};
use hayase::node::NodeSpec;
use hayase::player::{ActivityKind, Observers, Play, Player};
use hayase::program::{GaussianElimination, OpKind, Program};
use hayase::reading::Input;
use hayase::reading::csv::{self, Column, Row};
use hayase::scenario::library::Shelf;
use hayase::units::Bytes;

const SOURCE: &str = "F. Ino, N. Fujimoto, K. Hagihara: LogGPS, section 4.3 and table 7";
/// Machine file of LogGP-2. The parameters of LogGP-1 are curves of figure 7 there, not numbers.
const LOGGP: &str = "myrinet-loggp";
/// Operations of a processor in a second: the only figure of our own, fitted on every third row of the table.
const FLOPS: f64 = 96e6;
/// Largest relative difference of a cell from the published prediction.
const MAX_DIFFERENCE: f64 = 0.1;
/// The same for LogGP-2, whose published predictions are shorter for shorter messages.
const CLOSE_BY_LOGGP: f64 = 0.15;
/// Longest message of the runs in pieces.
const PIECE: Bytes = Bytes(16_383);

/// A cell of the published table.
#[derive(Clone, Debug)]
struct Cell {
    network: String,
    n: u32,
    variant: String,
    measured_s: f64,
    predicted_s: f64,
    /// Time by which the run traced for this cell computed longer than that of the whole messages \[s\].
    longer_computing_s: f64,
    rate: Rate,
}

/// Use of a cell for the rate of computing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rate {
    Fitted,
    Tested,
}

impl Cell {
    /// Creates a cell that is not compared with the table.
    fn new(network: &str, n: u32, variant: &str) -> Self {
        Self {
            network: network.into(),
            n,
            variant: variant.into(),
            measured_s: f64::NAN,
            predicted_s: f64::NAN,
            longer_computing_s: 0.0,
            rate: Rate::Tested,
        }
    }
}

/// Results of a cell.
struct CellResult {
    cell: Cell,
    seconds: f64,
    /// Fractions of all ranks' time in which a sender waits for its receiver, and a receiver for its message.
    send_wait: f64,
    recv_wait: f64,
}

impl CellResult {
    fn error(&self) -> f64 {
        self.seconds / self.cell.predicted_s - 1.0
    }
}

pub(super) fn cases() -> Vec<Case> {
    let table_case = |network: &'static str| {
        Case::new(format!("loggps/gaussian-elimination-{network}"), move |context| {
            table(network, MAX_DIFFERENCE, context)
        })
        .source(SOURCE)
        .expect("the predicted times of table 7 by one rate, fitted on every third row", "10 % of each")
    };
    vec![
        Case::new("loggps/rendezvous-wait", rendezvous_wait)
            .source(SOURCE)
            .expect("no send wait at n = 1024; at n = 2048 a large part, and none with S = 65536 or in pieces", "none"),
        table_case("myrinet"),
        table_case("fast-ethernet"),
        Case::new("loggps/gaussian-elimination-loggp", |context| table(LOGGP, CLOSE_BY_LOGGP, context))
            .source("F. Ino, N. Fujimoto, K. Hagihara: LogGPS, section 4.5 and tables 9 and 10")
            .expect("the predicted times of LogGP-2 by the same rate", "15 % of each"),
        Case::new("loggps/gaussian-elimination-rate", rate)
            .source(SOURCE)
            .expect("96e6 operations/s, fitted on every third row", "1 %"),
        Case::new("loggps/gaussian-elimination-messages", messages)
            .source(SOURCE)
            .expect("what Fast Ethernet takes longer than Myrinet: messages without computing", "10 %, n <= 1024"),
        Case::new("loggps/flow-control", flow_control)
            .source(SOURCE)
            .expect("in pieces, n = 4096: +10.4 % by some room, nothing at n = 2048 by the same", "none"),
    ]
}

fn cells() -> Result<Vec<Cell>, CaseError> {
    let text = include_str!("../gaussian-elimination.csv");
    let columns = ["network", "n", "variant", "measured_s", "predicted_s", "longer_computing_s", "rate"];
    let mut cells = Vec::new();
    let mut add = |row: &mut Row<'_>| {
        let rate = match &*row.text(6)? {
            "fitted" => Rate::Fitted,
            _ => Rate::Tested,
        };
        let [measured_s, predicted_s, longer_computing_s] = [3, 4, 5].map(|column| row.decimal(column));
        cells.push(Cell {
            network: row.text(0)?.into_owned(),
            n: row.number(1, "row", u32::MAX)?,
            variant: row.text(2)?.into_owned(),
            measured_s: measured_s?,
            predicted_s: predicted_s?,
            longer_computing_s: longer_computing_s?,
            rate,
        });
        Some(())
    };
    let input = Input::from_bytes("gaussian-elimination.csv", text.into());
    let read = csv::read(input, &columns.map(Column::required), |row| {
        // A missing field is noted as a mistake of its line.
        let _ = add(row);
    });
    read.map(|_| cells).map_err(|mistakes| mistakes[0].message.clone())
}

fn node(network: &str, variant: &str, room: Option<Bytes>) -> Result<NodeSpec, CaseError> {
    #[derive(Deserialize)]
    struct Machine {
        node: NodeSpec,
    }
    let named = Shelf::Machines.find(network).map_err(|mistake| mistake.message)?;
    let mut spec = toml::from_str::<Machine>(named.text).map_err(|error| error.to_string())?.node;
    let raised = (variant == "S=65536").then_some(Bytes(65_536));
    match &mut spec {
        NodeSpec::Loggps(spec) => {
            spec.sync = raised.unwrap_or(*spec.sync).into();
            spec.eager_buffer = room.map(Into::into);
        }
        NodeSpec::Loggp(spec) => spec.sync = raised.map(Into::into).or(spec.sync.take()),
        _ => return Err(format!("{network} is no machine of the paper")),
    }
    Ok(spec)
}

/// Returns the computation of a rank, on average \[s\].
fn computing(program: &Program) -> f64 {
    let ops = program.iter().flat_map(|(_, rank)| &rank.ops).filter(|op| op.kind == OpKind::Calc);
    ops.map(|op| op.duration().seconds()).sum::<f64>() / f64::from(program.ranks())
}

fn run(context: &Context, cell: Cell) -> Result<CellResult, CaseError> {
    run_with(context, cell, FLOPS, None)
}

/// Runs a cell with this rate of computing and this room for eager messages at each receiver.
fn run_with(context: &Context, cell: Cell, flops: f64, room: Option<Bytes>) -> Result<CellResult, CaseError> {
    let fragment = (cell.variant == "fragmented").then_some(PIECE);
    let program = GaussianElimination { n: cell.n, flops, fragment, ..Default::default() };
    let program = program.program().map_err(|mistakes| mistakes[0].message.clone())?;
    let costs = node(&cell.network, &cell.variant, room)?.costs().ok_or("no costs")?;
    let whole = computing(&program);
    let cpu_speed = whole / (whole + cell.longer_computing_s);
    let play = Play { program: &program, costs, expand: None, cpu_speed, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| context.may_continue());
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
    Ok(CellResult { cell, seconds: makespan, send_wait, recv_wait })
}

fn rendezvous_wait(context: &Context) -> Result<Outcome, CaseError> {
    let of = |n: u32, variant: &str| run(context, Cell::new("myrinet", n, variant));
    let (below, above) = (of(1024, "original")?, of(2048, "original")?);
    let (raised, pieces) = (of(2048, "S=65536")?, of(2048, "fragmented")?);
    let good = below.send_wait == 0.0
        && (0.3..0.6).contains(&above.send_wait)
        && raised.send_wait == 0.0
        && pieces.send_wait == 0.0
        && raised.seconds < 0.65 * above.seconds
        && pieces.seconds < 0.65 * above.seconds;
    let percent = |run: &CellResult| format!("{:.0} %", 100.0 * run.send_wait);
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

fn largest_of(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors.into_iter().fold(0.0, |worst: f64, error| if error.abs() > worst.abs() { error } else { worst })
}

fn table(network: &str, tolerance: f64, context: &Context) -> Result<Outcome, CaseError> {
    let largest = context.choose(2048, 4096);
    let wanted: Vec<Cell> = cells()?.into_iter().filter(|cell| cell.network == network && cell.n <= largest).collect();
    let runs = context.run_parts(wanted, |cell| run(context, cell))?;
    let mut note = String::from(
        "n, variant: ours, measured, predicted there [s]; ours against both; send wait, receive wait; * fitted",
    );
    for run in &runs {
        let CellResult { cell, seconds, send_wait, recv_wait } = run;
        let _ = write!(
            note,
            "\n{:>4} {:<10} {seconds:>7.3} {:>7.3} {:>7.3}  {:>+6.1} % {:>+6.1} %  {:>3.0} % {:>3.0} %{}",
            cell.n,
            cell.variant,
            cell.measured_s,
            cell.predicted_s,
            100.0 * (seconds / cell.measured_s - 1.0),
            100.0 * run.error(),
            100.0 * send_wait,
            100.0 * recv_wait,
            if cell.rate == Rate::Fitted { " *" } else { "" }
        );
    }
    let close = runs.iter().filter(|run| run.error().abs() <= tolerance).count();
    let of = |rate| largest_of(runs.iter().filter(|run| run.cell.rate == rate).map(CellResult::error));
    let got = format!(
        "{close} of {} within {:.0} %; worst {:+.1} % where fitted, {:+.1} % of the others",
        runs.len(),
        100.0 * tolerance,
        100.0 * of(Rate::Fitted),
        100.0 * of(Rate::Tested)
    );
    Ok(Outcome::compare(close == runs.len(), got).note(note))
}

/// Returns the rate with the least squares of relative errors. Times between two rates are linear in the time
/// of an operation.
fn fitted(context: &Context, cells: &[Cell]) -> Result<f64, CaseError> {
    let rates = [85e6, 105e6];
    let times = |flops: f64| -> Result<Vec<f64>, CaseError> {
        let seconds = |cell: Cell| Ok(run_with(context, cell.clone(), flops, None)?.seconds / cell.predicted_s);
        context.run_parts(cells.to_vec(), seconds)
    };
    let (slow, fast) = (times(rates[0])?, times(rates[1])?);
    // error_i = slow_i - 1 + x (fast_i - slow_i), x from 0 at the slow rate to 1 at the fast one.
    let (mut above, mut below) = (0.0, 0.0);
    for (slow, fast) in slow.iter().zip(&fast) {
        above += (1.0 - slow) * (fast - slow);
        below += (fast - slow) * (fast - slow);
    }
    let x = above / below;
    Ok(1.0 / (1.0 / rates[0] + x * (1.0 / rates[1] - 1.0 / rates[0])))
}

fn rate(context: &Context) -> Result<Outcome, CaseError> {
    if !context.choose(false, true) {
        return Ok(Outcome::compare(true, "not fitted again; `--full` does"));
    }
    let all: Vec<Cell> = cells()?.into_iter().filter(|cell| cell.network != LOGGP).collect();
    let third = |first: usize| fitted(context, &all.iter().skip(first).step_by(3).cloned().collect::<Vec<_>>());
    let used: Vec<Cell> = all.iter().filter(|cell| cell.rate == Rate::Fitted).cloned().collect();
    let found = fitted(context, &used)?;
    let (first, second, whole) = (third(0)?, third(1)?, fitted(context, &all)?);
    let got = format!(
        "{:.1}e6; by the other two thirds {:.1}e6 and {:.1}e6, by all {:.1}e6",
        found / 1e6,
        first / 1e6,
        second / 1e6,
        whole / 1e6
    );
    Ok(Outcome::check((found / FLOPS - 1.0).abs() < 0.01, got))
}

fn messages(context: &Context) -> Result<Outcome, CaseError> {
    let all = cells()?;
    let mut note = String::from("n: difference a column, ours, predicted there, measured there [us]");
    let mut errors = Vec::new();
    for n in [256, 512, 1024] {
        let of = |network: &str| {
            let found = all.iter().find(|cell| cell.network == network && cell.n == n).cloned();
            found.ok_or_else(|| format!("no row of {network}, n = {n}"))
        };
        let (slow, fast) = (run(context, of("fast-ethernet")?)?, run(context, of("myrinet")?)?);
        let a_column = |seconds: f64| 1e6 * seconds / f64::from(n);
        let ours = a_column(slow.seconds - fast.seconds);
        let predicted = a_column(slow.cell.predicted_s - fast.cell.predicted_s);
        let measured = a_column(slow.cell.measured_s - fast.cell.measured_s);
        let _ = write!(note, "\n{n:>4} {ours:>5.0} {predicted:>5.0} {measured:>5.0}");
        errors.push(ours / predicted - 1.0);
    }
    let worst = largest_of(errors);
    Ok(Outcome::compare(worst.abs() <= MAX_DIFFERENCE, format!("worst {:+.1} %", 100.0 * worst)).note(note))
}

/// Compares the program in pieces with and without limited room for eager messages.
fn flow_control(context: &Context) -> Result<Outcome, CaseError> {
    let largest = context.choose(2048, 4096);
    let cell = |n: u32| {
        let found = cells()?.into_iter().find(|cell| (cell.n, cell.variant.as_str()) == (n, "fragmented"));
        found.ok_or_else(|| format!("no row of n = {n} in pieces"))
    };
    let rooms = [16, 32, 48, 64, 80, 88, 92, 96, 100, 104, 112, 128];
    let added = |n: u32| -> Result<Vec<f64>, CaseError> {
        let free = run(context, cell(n)?)?.seconds;
        let with = |kib: u64| Ok(run_with(context, cell(n)?, FLOPS, Some(Bytes(kib << 10)))?.seconds / free - 1.0);
        context.run_parts(rooms.to_vec(), with)
    };
    let sizes: Vec<u32> = [2048, 4096].into_iter().filter(|&n| n <= largest).collect();
    let columns = sizes.iter().map(|&n| added(n)).collect::<Result<Vec<_>, _>>()?;
    let mut note = format!("room at each receiver: longer than with any room, n = {sizes:?}, in pieces");
    for (at, room) in rooms.iter().enumerate() {
        let _ = write!(note, "\n{room:>4} KiB");
        for column in &columns {
            let _ = write!(note, " {:>+7.1} %", 100.0 * column[at]);
        }
    }
    let wanted = cell(4096).map(|cell| cell.measured_s / cell.predicted_s - 1.0)?;
    let Some(long) = columns.get(1) else {
        let got = format!("n = 2048: {:+.1} % by 32 KiB, {:+.1} % by 64", 100.0 * columns[0][1], 100.0 * columns[0][3]);
        return Ok(Outcome::check(columns[0][1] > 0.05 && columns[0][3] == 0.0, got).note(note));
    };
    let enough = long.iter().rposition(|&added| added >= wanted).ok_or("no room adds that much")?;
    let got = format!(
        "{:+.1} % by {} KiB, {:+.1} % by {}; at n = 2048 {:+.1} %",
        100.0 * long[enough],
        rooms[enough],
        100.0 * long[enough + 1],
        rooms[enough + 1],
        100.0 * columns[0][enough]
    );
    Ok(Outcome::check(columns[0][enough].abs() < 0.01, got).note(note))
}
