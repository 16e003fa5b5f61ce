//! Load of links over time: kinds of links, and the busiest links.

use super::cells::{Cell, Cells, Ramp};
use super::link_loads::LinkLoad;
use super::picture::Picture;
use super::scale::{LoadScale, percent};
use crate::table::seconds;
use hayase::base::Arrange;
use hayase::fabric::Fabric;
use hayase::ids::LinkId;
use hayase::simulation::LinkUses;
use hayase::units::Time;

/// Number of links with a row each.
const BUSIEST: usize = 24;
/// Width of a row and height of a cell \[px\].
const ROW: f64 = 780.0;
const HEIGHT: f64 = 16.0;

/// Draws the load of links over time, from left to right: the mean of each kind of link, and the busiest links.
pub fn link_series(fabric: &Fabric, links: &LinkUses, title: &str, subtitle: &str) -> String {
    let kinds = fabric.family().link_groups(fabric).into_iter().filter(|kind| !kind.links.is_empty());
    let kinds = kinds.map(|kind| {
        let count = kind.links.len() as f64;
        let mut mean: Vec<f64> = Vec::new();
        for &link in &kind.links {
            let loads = links.loads(link);
            mean.resize(loads.len(), 0.0);
            mean.iter_mut().zip(&loads).for_each(|(sum, load)| *sum += load / count);
        }
        (format!("{} ({count})", kind.name), mean)
    });
    let mut busiest: Vec<(LinkLoad, LinkId)> = Vec::new();
    for (link, id) in links.iter().zip((0..).map(LinkId)).filter(|(link, _)| link.bytes > 0) {
        busiest.push((LinkLoad::from(&link), id));
    }
    let used = busiest.len();
    let order =
        |a: &LinkLoad, b: &LinkLoad| b.delay_s.total_cmp(&a.delay_s).then(b.utilisation.total_cmp(&a.utilisation));
    busiest.arrange_by(|(a, first), (b, second)| order(a, b).then(first.cmp(second)));
    busiest.truncate(BUSIEST);
    let single = busiest.iter().map(|&(_, link)| (fabric.link_name(link), links.loads(link)));
    let scale = LoadScale::up_to(1.0);
    let ramp = Ramp {
        caption: "load: bytes over those that the link can carry in this time".to_owned(),
        colour: |place| LoadScale::up_to(1.0).colour(place),
        ticks: scale.ticks(),
    };
    let name = if used > BUSIEST { format!("the {BUSIEST} busiest of {used} links") } else { "links".to_owned() };
    Picture::new(title, subtitle)
        .with(ramp)
        .with(field("kinds of links, on average".to_owned(), kinds.collect(), links.span()))
        .with(field(name, single.collect(), links.span()))
        .notes(["The bytes of a message are spread evenly over the time that it is under way.".to_owned()])
        .draw()
}

/// Returns a row of cells for each series of loads.
fn field(name: String, rows: Vec<(String, Vec<f64>)>, span: Time) -> Cells {
    let count = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
    // Whole numbers of a unit that tells neighbouring columns apart.
    let units = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)];
    let (unit, size) = units.into_iter().find(|(_, size)| span.seconds() >= 5.0 * size).unwrap_or(("ps", 1e-12));
    let begins = |column: usize| span.seconds() * column as f64;
    let cell = |row: usize, name: &str, column: usize, load: f64| {
        let (from, to) = (seconds(begins(column)), seconds(begins(column + 1)));
        Cell {
            row,
            column,
            colour: LoadScale::up_to(1.0).colour(load),
            is_dark: false,
            text: String::new(),
            is_strong: false,
            tooltip: format!("{name}, {from} to {to}: {}", percent(load.min(1.0))),
            point: None,
        }
    };
    let of_row = |(row, (name, loads)): (usize, &(String, Vec<f64>))| {
        loads.iter().enumerate().map(|(column, &load)| cell(row, name, column, load)).collect::<Vec<_>>()
    };
    Cells {
        name,
        cells: rows.iter().enumerate().flat_map(of_row).collect(),
        rows: rows.into_iter().map(|row| row.0).collect(),
        columns: (0..count).map(|column| format!("{:.0}", begins(column) / size)).collect(),
        captions: (String::new(), format!("simulated time [{unit}]")),
        cell: (ROW / count.max(1) as f64, HEIGHT),
        ..Cells::default()
    }
}
