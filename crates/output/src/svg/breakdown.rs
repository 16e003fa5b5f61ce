//! Breakdown of the time of ranks: a stacked bar for each rank, and one for their mean.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, GREY, MARGIN, Point};
use super::chart::ranks_below;
use super::replay::colour;
use crate::table::{percent, seconds};
use hayase::player::ActivityKind;
use hayase::report::replay::RankReport;

const CHART: (f64, f64) = (760.0, 320.0);
const LEFT: f64 = MARGIN + 64.0;
/// Bars at most: of more ranks, neighbours share one.
const MOST_BARS: usize = 380;
/// From the chart to the bar of the mean, its width, and from there to the names.
const MEAN: (f64, f64, f64) = (36.0, 34.0, 26.0);
const NAMES: f64 = 250.0;
const ROW: f64 = 20.0;

/// Time by kind \[s\], in the order of [`ActivityKind::ALL`].
type Times = [f64; 6];

fn times(rank: &RankReport) -> Times {
    let &RankReport { compute_s, send_overhead_s, recv_overhead_s, send_wait_s, recv_wait_s, sync_s, .. } = rank;
    [compute_s, send_overhead_s, recv_overhead_s, send_wait_s, recv_wait_s, sync_s]
}

fn mean(ranks: &[RankReport]) -> Times {
    let mut mean = Times::default();
    for rank in ranks {
        mean.iter_mut().zip(times(rank)).for_each(|(sum, time)| *sum += time / ranks.len() as f64);
    }
    mean
}

/// Draws a bar for each rank, kinds of time one above the other, and the mean of all ranks with the part of each kind.
pub fn breakdown(ranks: &[RankReport], title: &str, subtitle: &str) -> String {
    let width = LEFT + CHART.0 + MEAN.0 + MEAN.1 + MEAN.2 + NAMES + MARGIN;
    let mut canvas = Canvas::new();
    let top = canvas.heading(title, subtitle, width) + 4.0;
    let bottom = top + CHART.1;
    let each = ranks.len().div_ceil(MOST_BARS).max(1);
    let bars: Vec<Times> = ranks.chunks(each).map(mean).collect();
    let most = bars.iter().map(|bar| bar.iter().sum()).fold(0.0, f64::max);
    let axis = Axis::new(most, 6, SECONDS);
    axis.draw_left(&mut canvas, LEFT, CHART.0, top, bottom, "time");
    let what = if each > 1 { format!("rank (a bar is the mean of {each})") } else { "rank".to_owned() };
    ranks_below(&mut canvas, ranks.len(), (LEFT, CHART.0), bottom, &what);
    let column = CHART.0 / ranks.len().max(1) as f64 * each as f64;
    let gap = if column > 5.0 { 0.12 * column } else { 0.0 };
    let height = |time: f64| CHART.1 * axis.place(time);
    for (number, bar) in bars.iter().enumerate() {
        let x = LEFT + number as f64 * column;
        let column = column.min(LEFT + CHART.0 - x); // the last may stand for fewer ranks
        stack(&mut canvas, bar, (x + gap / 2.0, bottom, column - gap), height);
    }
    let all = mean(ranks);
    let x = LEFT + CHART.0 + MEAN.0;
    let middles = stack(&mut canvas, &all, (x, bottom, MEAN.1), height);
    canvas.text(x + MEAN.1 / 2.0, bottom + 15.0, 10.0, Anchor::Middle, "mean", "");
    let (sum, names) = (all.iter().sum::<f64>(), x + MEAN.1 + MEAN.2);
    let shown: Vec<usize> = (0..all.len()).rev().filter(|&kind| all[kind] > 0.0).collect();
    let mut y = top - ROW / 2.0;
    for (row, &kind) in shown.iter().enumerate() {
        // Beside its part, as far as those above and below leave room.
        y = middles[kind].max(y + ROW).min(bottom - ROW * (shown.len() - row) as f64);
        let line = format!(r#"stroke="{GREY}" stroke-width="0.7""#);
        canvas.line(Point::new(x + MEAN.1, middles[kind]), Point::new(names - 4.0, y), &line);
        let name = ActivityKind::ALL[kind];
        canvas.rect(names, y - 5.0, 12.0, 10.0, &format!(r#"fill="{}""#, colour(name)));
        let text = format!("{}: {}, {}", name.name(), percent(all[kind] / sum), seconds(all[kind]));
        canvas.text(names + 18.0, y + 4.0, 11.0, Anchor::Start, &text, "");
    }
    canvas.finish(width, bottom + 34.0 + MARGIN, title)
}

/// Draws kinds of time one above the other from `bottom`; returns the height of the middle of each.
fn stack(canvas: &mut Canvas, bar: &Times, (x, bottom, width): (f64, f64, f64), height: impl Fn(f64) -> f64) -> Times {
    let (mut middles, mut below) = (Times::default(), 0.0);
    for (kind, &time) in bar.iter().enumerate() {
        let (low, high) = (bottom - height(below), bottom - height(below + time));
        if time > 0.0 {
            let fill = format!(r#"fill="{}" shape-rendering="crispEdges""#, colour(ActivityKind::ALL[kind]));
            canvas.rect(x, high, width, low - high, &fill);
        }
        (middles[kind], below) = ((low + high) / 2.0, below + time);
    }
    middles
}
