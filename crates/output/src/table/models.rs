//! Tables of transports side by side: the makespan that each predicts for the same load, and its run time.

use super::{Grid, Quantity};
use hayase::columns::Columns;
use hayase::report::ComparisonRow;

/// Choices that select the model and not the load.
const MODEL: [&str; 2] = ["transport", "sharing"];

/// Returns a table for each load that was simulated with several models. The rows of a load differ only in
/// transport and sharing.
///
/// Each row shows the makespan with its range and its ratio to each packet model. It also shows the run time,
/// the speed-up over each packet model, and the messages and packet hops simulated per second.
pub(super) fn models(rows: &[ComparisonRow]) -> Vec<(String, Grid)> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let name = model(row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() < 2 || !rows.iter().any(|row| row.transport != "flow") {
        return Vec::new();
    }
    let mut loads: Vec<(Vec<&str>, Vec<&ComparisonRow>)> = Vec::new();
    for row in rows {
        let key = load(row);
        match loads.iter_mut().find(|(known, _)| *known == key) {
            Some((_, of_load)) => of_load.push(row),
            None => loads.push((key, vec![row])),
        }
    }
    let loads = loads.into_iter().filter(|(_, rows)| rows.len() > 1);
    loads.map(|(_, rows)| (heading(rows[0]), grid(&rows))).collect()
}

/// Returns the choices that identify a load: all but transport and sharing.
fn load(row: &ComparisonRow) -> Vec<&str> {
    let choices = row.names().into_iter().zip(row.choices());
    choices.filter(|(name, _)| !MODEL.contains(name)).map(|(_, value)| value).collect()
}

fn heading(row: &ComparisonRow) -> String {
    let named = ["topology", "pattern"];
    let others = row
        .names()
        .into_iter()
        .zip(row.choices())
        .filter(|(name, value)| !MODEL.contains(name) && !named.contains(name) && !value.is_empty());
    let others: String = others.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{} on {}{others}: by model", row.pattern, row.topology)
}

/// Returns the name of a model: `packet:oq`, `flow:max-min`.
fn model(row: &ComparisonRow) -> String {
    if row.sharing.is_empty() { row.transport.clone() } else { format!("{}:{}", row.transport, row.sharing) }
}

fn grid(rows: &[&ComparisonRow]) -> Grid {
    let packet: Vec<&ComparisonRow> =
        rows.iter().copied().filter(|row| row.packet_hops.is_some() && row.makespan.mean_s > 0.0).collect();
    let per_second =
        |count: u64, row: &ComparisonRow| if row.wall_s > 0.0 { count as f64 / row.wall_s } else { f64::NAN };
    let models = Columns::<ComparisonRow>::new().words("model", model).time("mean", |row| row.makespan.mean_s);
    let models = models.when(rows.iter().any(|row| row.makespan.seeds.len() > 1), |columns| {
        columns.time("from", |row| row.makespan.min_s).time("to", |row| row.makespan.max_s)
    });
    let ratios = packet.iter().fold(models, |columns, other| {
        let mean_s = other.makespan.mean_s;
        columns.ratio(format!("/ {}", short(other)), 3, move |row| row.makespan.mean_s / mean_s)
    });
    let times = ratios.quantity("run time", Quantity::RunTime, |row| row.wall_s);
    let speeds = packet.iter().fold(times, |columns, other| {
        columns.ratio(format!("speed-up on {}", short(other)), 2, move |row| other.wall_s / row.wall_s)
    });
    let columns = speeds
        .quantity("packet-hops", Quantity::Rate, move |row| row.packet_hops.map(|hops| per_second(hops, row)))
        .quantity("messages", Quantity::Rate, move |row| per_second(row.messages, row));
    Grid::of(&columns, rows.iter().copied())
}

/// Returns the short name of a packet model: `oq` for `packet:oq`.
fn short(row: &ComparisonRow) -> &str {
    row.transport.strip_prefix("packet:").unwrap_or(&row.transport)
}
