//! Small fabric with every link drawn; colour and width show the load.

use super::Loads;
use crate::svg::canvas::{Anchor, Canvas, GREY, Point};
use crate::svg::fabric::vertices;
use crate::svg::failed;
use crate::svg::layout::{Cable, Layout};
use crate::svg::scale::percent;
use crate::svg::sign::{cross, one_way};
use hayase::base::Arrange;
use hayase::ids::LinkId;
use hayase::units::Bytes;

/// Distance between the lines of a cable \[px\].
const LANE: f64 = 4.6;

/// Draws the meaning of the two lines of a cable.
pub(super) fn legend(canvas: &mut Canvas, x: f64, y: f64) {
    canvas.text(
        x,
        y + 10.0,
        11.0,
        Anchor::Start,
        "a cable is a line for each direction; traffic keeps to the right",
        "",
    );
    for (offset, backwards) in [(20.0, true), (26.0, false)] {
        let points = [Point::new(x, y + offset), Point::new(x + 90.0, y + offset)];
        canvas.line(points[0], points[1], &format!(r#"stroke="{GREY}" stroke-width="2""#));
        one_way(canvas, &points, backwards);
    }
}

/// Draws all links, the busiest on top, and the vertices over them.
pub(super) fn draw(canvas: &mut Canvas, loads: &Loads<'_>, layout: &Layout, offset: Point) {
    let mut lines: Vec<(LinkId, &Cable, f64)> = Vec::new();
    for cable in &layout.cables {
        let lanes = cable.forward.len().max(cable.back.len()) as f64;
        let lane = LANE.min(16.0 / lanes);
        // Traffic of an end keeps to the right of the cable, seen from that end.
        for (i, &link) in cable.forward.iter().enumerate() {
            lines.push((link, cable, lane * (i as f64 + 0.5)));
        }
        for (i, &link) in cable.back.iter().enumerate() {
            lines.push((link, cable, -lane * (i as f64 + 0.5)));
        }
    }
    lines.arrange_by(|a, b| loads.of(a.0).total_cmp(&loads.of(b.0)).then(a.0.cmp(&b.0)));
    for (link, cable, aside) in lines {
        let value = loads.of(link);
        let carried = loads.loads.get(link.0 as usize).map_or(0, |load| load.bytes);
        let name = loads.fabric.link_name(link);
        let state = failed::of_link(loads.fabric, link).map_or_else(String::new, |state| format!(" ({state})"));
        let tooltip = format!("{name}{state}: {} used, {}", percent(value), Bytes(carried));
        canvas.open_found("link", link.0 as usize, &tooltip);
        let is_crossed = loads.fabric.has_failed(link);
        let width = loads.scale.width(value);
        let width = if cable.forward.len().max(cable.back.len()) > 2 { width.min(2.5) } else { width };
        let attributes = format!(r#"fill="none" stroke="{}" stroke-width="{width:.2}""#, loads.scale.colour(value));
        let casing = format!(r##"fill="none" stroke="#8f99a6" stroke-width="{:.2}""##, width + 0.8);
        for run in &cable.runs {
            let points: Vec<Point> = shifted(run, aside).iter().map(|p| p.plus(offset.x, offset.y)).collect();
            canvas.polyline(&points, &casing);
            canvas.polyline(&points, &attributes);
            if let (true, Some(first), Some(last)) = (is_crossed, points.first(), points.last()) {
                // Each cross is nearer to the begin of its direction, so that the two can be told apart.
                let at = if aside < 0.0 { 0.58 } else { 0.42 };
                let at = Point::new(first.x + (last.x - first.x) * at, first.y + (last.y - first.y) * at);
                cross(canvas, at, 3.0);
            }
        }
        canvas.close();
    }
    vertices(canvas, loads.fabric, layout, offset);
}

/// Returns the line shifted sideways: to its right for positive distances, y being downwards.
fn shifted(run: &[Point], aside: f64) -> Vec<Point> {
    let (Some(&first), Some(&last)) = (run.first(), run.last()) else { return Vec::new() };
    let (dx, dy) = (last.x - first.x, last.y - first.y);
    let length = (dx * dx + dy * dy).sqrt();
    if length < 1e-6 {
        return run.to_vec();
    }
    run.iter().map(|point| point.plus(-dy / length * aside, dx / length * aside)).collect()
}
