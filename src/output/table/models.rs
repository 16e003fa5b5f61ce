//! Transports side by side: what each says of the same load, and what it costs to ask.

use super::Grid;
use super::figures::{Scale, fixed, grouped};
use crate::report::ComparisonRow;

/// One table for each load (all rows that differ in transport and sharing alone), where there are several models.
///
/// Each model has its makespans as a band, the ratio of its mean to that of every packet model, its run time, how many
/// times faster it ran than each packet model did, and what it did a second.
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
    let mut loads: Vec<([&str; 5], Vec<&ComparisonRow>)> = Vec::new();
    for row in rows {
        let key = load(row);
        match loads.iter_mut().find(|(known, _)| *known == key) {
            Some((_, of_load)) => of_load.push(row),
            None => loads.push((key, vec![row])),
        }
    }
    let loads = loads.into_iter().filter(|(_, rows)| rows.len() > 1);
    loads.map(|(key, rows)| (heading(&key), grid(&rows))).collect()
}

/// What rows of one load share.
fn load(row: &ComparisonRow) -> [&str; 5] {
    [&row.pattern, &row.topology, &row.placement, &row.routing, &row.injection]
}

fn heading([pattern, topology, placement, routing, injection]: &[&str; 5]) -> String {
    format!("{pattern} on {topology}, placement {placement}, routing {routing}, injection {injection}: by model")
}

/// `packet:oq`, `flow:max-min`.
fn model(row: &ComparisonRow) -> String {
    if row.sharing.is_empty() { row.transport.clone() } else { format!("{}:{}", row.transport, row.sharing) }
}

fn grid(rows: &[&ComparisonRow]) -> Grid {
    let time = Scale::time(rows.iter().map(|row| row.makespan.max_s));
    let wall = Scale::time(rows.iter().map(|row| row.wall_s));
    let packet: Vec<&ComparisonRow> =
        rows.iter().copied().filter(|row| row.packet_hops.is_some() && row.makespan.mean_s > 0.0).collect();
    let mut grid = Grid::new().text("model").number(format!("mean [{}]", time.unit));
    let spread = rows.iter().any(|row| row.makespan.seeds.len() > 1);
    if spread {
        grid = grid.number(format!("from [{}]", time.unit)).number(format!("to [{}]", time.unit));
    }
    for row in &packet {
        grid = grid.number(format!("/ {}", short(row)));
    }
    grid = grid.number(format!("run time [{}]", wall.unit));
    for row in &packet {
        grid = grid.number(format!("speed-up on {}", short(row)));
    }
    grid = grid.number("packet-hops/s").number("messages/s");
    let per_second = |count: u64, row: &ComparisonRow| match row.wall_s {
        wall if wall > 0.0 => grouped((count as f64 / wall) as u64),
        _ => "-".to_owned(),
    };
    for row in rows {
        let mut cells = vec![model(row), time.show(row.makespan.mean_s)];
        if spread {
            cells.extend([time.show(row.makespan.min_s), time.show(row.makespan.max_s)]);
        }
        cells.extend(packet.iter().map(|other| fixed(row.makespan.mean_s / other.makespan.mean_s, 3)));
        cells.push(wall.show(row.wall_s));
        cells.extend(packet.iter().map(|other| fixed(other.wall_s / row.wall_s, 2)));
        cells.push(row.packet_hops.map_or("-".to_owned(), |hops| per_second(hops, row)));
        cells.push(per_second(row.messages, row));
        grid.row(cells);
    }
    grid
}

/// `oq` of `packet:oq`.
fn short(row: &ComparisonRow) -> &str {
    row.transport.strip_prefix("packet:").unwrap_or(&row.transport)
}
