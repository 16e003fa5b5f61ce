//! Figures of fabrics side by side: a panel for each figure, with a bar for each fabric, from 0.

use super::axis::Axis;
use super::lanes::{Lane, Lanes, Span};
use super::picture::{Picture, Tiles};
use super::sign::{PALE, STRONG};
use crate::fabric_figures::{Figure, figures, short};
use hayase::sweep::fabrics::FabricFigures;

/// Panels side by side.
const COLUMNS: usize = 3;

/// Draws every figure that is known for at least one fabric. Bars of a panel share an axis from 0 to the
/// largest. The best bar is dark if one end of the scale is better.
pub fn fabrics(all: &[FabricFigures], subtitle: &str) -> String {
    let names: Vec<String> = all.iter().map(|of| short(&of.name)).collect();
    let title = match all.len() {
        1 => "A fabric side by side".to_owned(),
        count => format!("{count} fabrics side by side"),
    };
    let panels = figures(all).iter().map(|figure| panel(figure, &names)).collect();
    let key = "dark: the best of a figure; bars begin at 0 and are scaled to the largest of their panel";
    Picture::new(title, subtitle).with(Tiles(panels, COLUMNS)).notes([key.to_owned()]).draw()
}

fn panel(figure: &Figure, names: &[String]) -> Lanes {
    let known = || figure.values.iter().flatten().copied();
    let most = known().fold(0.0, f64::max);
    let (better, best) = match figure.more_is_better {
        Some(true) => (" (more is better)", Some(most)),
        Some(false) => (" (less is better)", Some(known().fold(f64::INFINITY, f64::min))),
        None => ("", None),
    };
    let lane = |(name, (value, text)): (&String, (&Option<f64>, &String))| {
        let is_best = |value: f64| best.is_some_and(|best| (value - best).abs() <= 1e-9 * best.abs());
        let fill = if value.is_some_and(is_best) { STRONG } else { PALE };
        Lane {
            name: name.clone(),
            height: 20.0,
            spans: vec![Span::bar(0.0, value.unwrap_or(0.0), fill, (0.1, 0.9))],
            behind: text.clone(),
            tooltip: format!("{name}: {} {text}", figure.name),
            ..Lane::default()
        }
    };
    let lanes = names.iter().zip(figure.values.iter().zip(&figure.texts)).map(lane).collect();
    let axis = Axis::linear(0.0, most.max(f64::MIN_POSITIVE), "", Vec::new());
    Lanes { name: (figure.name.to_owned(), better), ..Lanes::new(axis, "", 150.0, lanes) }
}
