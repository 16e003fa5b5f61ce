//! Figures of fabrics side by side: a panel for each figure, in it a bar for each fabric, from 0.

use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use crate::fabric_figures::{Figure, figures, short};
use hayase::sweep::fabrics::FabricFigures;

/// Room for the bars of a panel, and for the figures behind them [px].
const BARS: f64 = 150.0;
const NUMBERS: f64 = 120.0;
const ROW: f64 = 20.0;
const GAP: f64 = 30.0;
/// Panels side by side.
const COLUMNS: usize = 3;

/// Draws what any of the fabrics has a figure for. Bars of a panel share an axis from 0 to the largest; the best of a
/// figure is dark, where one is better than others.
pub fn fabrics(all: &[FabricFigures], subtitle: &str) -> String {
    let names: Vec<String> = all.iter().map(|of| short(&of.name)).collect();
    let widest = names.iter().map(|name| text_width(name, 12.0)).fold(60.0, f64::max).min(190.0);
    let panel = widest + 10.0 + BARS + NUMBERS;
    let width = MARGIN + panel * COLUMNS as f64 + GAP * (COLUMNS - 1) as f64 + MARGIN;
    let title = format!(
        "{} side by side",
        if all.len() == 1 { "A fabric".to_owned() } else { format!("{} fabrics", all.len()) }
    );
    let mut canvas = Canvas::new();
    let top = canvas.heading(&title, subtitle, width) + 8.0;
    let shown = figures(all);
    let height = 24.0 + ROW * all.len() as f64 + 22.0;
    for (number, figure) in shown.iter().enumerate() {
        let left = MARGIN + (panel + GAP) * (number % COLUMNS) as f64;
        let y = top + height * (number / COLUMNS) as f64;
        draw(&mut canvas, figure, &names, Point::new(left, y), widest);
    }
    let bottom = top + height * shown.len().div_ceil(COLUMNS) as f64;
    let key = "dark: the best of a figure; bars begin at 0 and are scaled to the largest of their panel";
    canvas.text(MARGIN, bottom + 4.0, 11.0, Anchor::Start, key, &format!(r#"fill="{GREY}""#));
    canvas.finish(width, bottom + 16.0 + MARGIN, &title)
}

fn draw(canvas: &mut Canvas, figure: &Figure, names: &[String], corner: Point, labels: f64) {
    let better = match figure.more_is_better {
        Some(true) => " (more is better)",
        Some(false) => " (less is better)",
        None => "",
    };
    canvas.text(corner.x, corner.y + 12.0, 12.0, Anchor::Start, figure.name, r#"font-weight="bold""#);
    let beside = corner.x + text_width(figure.name, 13.0) + 10.0;
    canvas.text(beside, corner.y + 12.0, 10.0, Anchor::Start, better, &format!(r#"fill="{GREY}""#));
    let known = || figure.values.iter().flatten().copied();
    let most = known().fold(0.0, f64::max);
    let best = match figure.more_is_better {
        Some(true) => Some(most),
        Some(false) => Some(known().fold(f64::INFINITY, f64::min)),
        None => None,
    };
    let (left, top) = (corner.x + labels + 10.0, corner.y + 22.0);
    let bottom = top + ROW * names.len() as f64;
    for part in [0.5, 1.0] {
        let x = left + BARS * part;
        canvas.line(Point::new(x, top), Point::new(x, bottom), &format!(r#"stroke="{FAINT}""#));
    }
    for (number, name) in names.iter().enumerate() {
        let y = top + ROW * number as f64;
        canvas.text(left - 6.0, y + 14.0, 12.0, Anchor::End, &fit(name, 12.0, labels), "");
        let value = figure.values[number];
        let length = value.map_or(0.0, |value| if most > 0.0 { BARS * value / most } else { 0.0 });
        let is_best = value.is_some_and(|value| best.is_some_and(|best| (value - best).abs() <= 1e-9 * best.abs()));
        let fill = if is_best { "#2f6f8f" } else { "#9dbccc" };
        canvas.open(&format!("{name}: {} {}", figure.name, figure.texts[number]));
        canvas.rect(
            left,
            y + 3.0,
            length,
            ROW - 6.0,
            &format!(r##"fill="{fill}" stroke="#2b4a5a" stroke-width="0.7""##),
        );
        canvas.close();
        let text = fit(&figure.texts[number], 11.0, NUMBERS + BARS - length);
        canvas.text(left + length + 6.0, y + 14.0, 11.0, Anchor::Start, &text, "");
    }
    canvas.line(Point::new(left, top), Point::new(left, bottom), &format!(r#"stroke="{INK}""#));
}
