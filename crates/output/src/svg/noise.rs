//! How far the delay of slow ranks travels: by rank, when it arrives there and how much later the rank ends.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point};
use super::chart::ranks_below;
use hayase::report::NoiseReport;
use hayase::units::Time;

const CHART: f64 = 760.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = MARGIN + 64.0;
const GAP: f64 = 58.0;
const OWN: &str = "#a03c1e";
const LATE: &str = "#5b8db0";

fn seconds(value: f64) -> String {
    Time::from_seconds(value.abs()).to_string()
}

/// Draws two charts over the ranks: above, when the delay reached each; below, how much later each ended, beside how
/// much longer its own work took.
pub fn noise(noise: &NoiseReport, title: &str) -> String {
    let width = LEFT + CHART + MARGIN;
    let mut canvas = Canvas::new();
    let times = format!("{:.3}", noise.slowdown);
    let sign = if noise.cost_s < 0.0 { "-" } else { "" };
    let subtitle = format!(
        "slow ranks cost {sign}{} ({times} times {} without them)",
        seconds(noise.cost_s),
        seconds(noise.without_s)
    );
    let y = canvas.heading(title, &subtitle, width);
    // Own work is a dark outline over the pale bars, so that they are told apart without colour.
    canvas.circle(Point::new(LEFT + 5.0, y - 4.0), 2.5, &format!(r#"fill="{INK}""#));
    canvas.text(LEFT + 14.0, y, 11.0, Anchor::Start, "first message later than without", "");
    canvas.rect(LEFT + 200.0, y - 9.0, 14.0, 9.0, &format!(r#"fill="{LATE}""#));
    canvas.text(LEFT + 220.0, y, 11.0, Anchor::Start, "ends later", "");
    canvas.rect(LEFT + 300.0, y - 9.0, 14.0, 9.0, &format!(r#"fill="none" stroke="{OWN}" stroke-width="1.5""#));
    canvas.text(LEFT + 320.0, y, 11.0, Anchor::Start, "own work took longer", "");

    let ranks = noise.ranks.len().max(1);
    let column = CHART / ranks as f64;
    let x = |rank: u32| LEFT + (f64::from(rank) + 0.5) * column;
    let frame = |canvas: &mut Canvas, axis: &Axis, top: f64, what: &str| {
        let bottom = top + HEIGHT;
        axis.draw_left(canvas, LEFT, CHART, top, bottom, what);
        ranks_below(canvas, ranks, (LEFT, CHART), bottom, "rank");
    };

    let top = y + 22.0;
    let end = noise.ranks.iter().map(|rank| rank.end_s).fold(0.0, f64::max);
    let axis = Axis::new(end, 5, SECONDS);
    frame(&mut canvas, &axis, top, "reached at");
    let height = |axis: &Axis, value: f64| HEIGHT * axis.place(value);
    let radius = (column * 0.35).clamp(0.8, 3.0);
    let mut none = 0;
    for rank in &noise.ranks {
        let Some(reached) = rank.reached_s else {
            none += 1;
            continue;
        };
        let at = Point::new(x(rank.rank), top + HEIGHT - height(&axis, reached));
        let is_source = rank.messages == Some(0);
        let (r, fill) = if is_source { (radius + 1.5, OWN) } else { (radius, INK) };
        canvas.circle(at, r, &format!(r#"fill="{fill}""#));
        if is_source && noise.by_distance.first().is_some_and(|first| first.ranks <= 4) {
            let text = format!("slow rank {}", rank.rank);
            // Below it, where the wave leaves room, unless the axis is near.
            let below = at.y + 16.0 < top + HEIGHT;
            canvas.text(at.x, if below { at.y + 14.0 } else { at.y - 8.0 }, 10.0, Anchor::Middle, &text, "");
        }
    }
    if none > 0 {
        let text = format!("{none} of {ranks} ranks not reached");
        canvas.text(LEFT + CHART, top - 6.0, 10.0, Anchor::End, &text, &format!(r#"fill="{GREY}""#));
    }

    let top = top + HEIGHT + GAP;
    let most = noise.ranks.iter().map(|rank| rank.delay_s.max(rank.slowed_s.unwrap_or(0.0))).fold(0.0, f64::max);
    let axis = Axis::new(most, 5, SECONDS);
    frame(&mut canvas, &axis, top, "later by");
    let bar = (column * 0.8).max(0.5);
    let few = noise.by_distance.first().is_some_and(|first| first.ranks <= 4);
    for rank in &noise.ranks {
        let (from, delay) = (x(rank.rank) - bar / 2.0, height(&axis, rank.delay_s.max(0.0)));
        let own = height(&axis, rank.slowed_s.unwrap_or(0.0).max(0.0));
        if delay <= 0.0 && own <= 0.0 {
            continue;
        }
        if column >= 4.0 {
            let text = format!(
                "rank {}: ends {} later, own work {} longer",
                rank.rank,
                seconds(rank.delay_s),
                seconds(rank.slowed_s.unwrap_or(0.0))
            );
            canvas.open(&text);
        }
        canvas.rect(from, top + HEIGHT - delay, bar, delay, &format!(r#"fill="{LATE}""#));
        if own > 0.0 {
            let level = top + HEIGHT - own;
            match column >= 4.0 || few {
                true => {
                    canvas.rect(from, level, bar, own, &format!(r#"fill="none" stroke="{OWN}" stroke-width="1.5""#))
                }
                false => {
                    let (left, right) = (Point::new(from, level), Point::new(from + bar.max(1.0), level));
                    canvas.line(left, right, &format!(r#"stroke="{OWN}" stroke-width="1.5""#));
                }
            }
        }
        if column >= 4.0 {
            canvas.close();
        }
    }
    canvas.line(Point::new(LEFT, top), Point::new(LEFT + CHART, top), &format!(r#"stroke="{FAINT}""#));
    canvas.finish(width, top + HEIGHT + 44.0, title)
}
