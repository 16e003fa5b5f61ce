//! Breakdown of the time of ranks: a stacked bar for each rank, and one for their mean.

use super::axis::{Axis, SECONDS};
use super::chart::{Chart, Column, Series};
use super::picture::Picture;
use super::replay::colour;
use super::sign::{Fill, Sign};
use crate::table::{percent, seconds};
use hayase::player::ActivityKind;
use hayase::report::replay::RankReport;

/// Largest number of bars; with more ranks, neighbours share a bar.
const MOST_BARS: usize = 380;

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

/// Draws a stacked bar of time by kind for each rank, and the mean of all ranks with the fraction of each
/// kind.
pub fn breakdown(ranks: &[RankReport], title: &str, subtitle: &str) -> String {
    let each = ranks.len().div_ceil(MOST_BARS).max(1);
    let count = ranks.len().max(1) as f64;
    let all = mean(ranks);
    // Bars with their begins and ends, in ranks; the mean stands after the last.
    let mut bars = vec![(1.05 * count, 1.1 * count, all)];
    bars.extend(ranks.chunks(each).enumerate().map(|(number, chunk)| {
        let from = (number * each) as f64;
        let gap = if count > 150.0 { 0.0 } else { 0.06 };
        (from + gap, from + chunk.len() as f64 - gap, mean(chunk))
    }));
    let most = bars.iter().map(|bar| bar.2.iter().sum()).fold(0.0, f64::max);
    let fill = |kind: usize| Fill(colour(ActivityKind::ALL[kind]), r#"shape-rendering="crispEdges""#);
    let shown = (0..all.len()).filter(|&kind| all[kind] > 0.0);
    let series = shown.clone().map(|kind| {
        let column = |&(from, to, times): &(f64, f64, Times)| {
            let below: f64 = times[..kind].iter().sum();
            Column { across: (from, to), up: (below, below + times[kind]), tooltip: String::new() }
        };
        Series::Columns(fill(kind), bars.iter().filter(|bar| bar.2[kind] > 0.0).map(column).collect())
    });
    let sum: f64 = all.iter().sum();
    let entry = |kind: usize| {
        let name = ActivityKind::ALL[kind].name();
        let text = format!("{name}: {}, {}", percent(all[kind] / sum), seconds(all[kind]));
        (Sign::Box(fill(kind), 0.1, 0.9), text)
    };
    let mut across = Axis::ranks(ranks.len());
    across.end = 1.12 * count;
    across.ticks.push((1.075 * count, "mean".to_owned()));
    let what = if each > 1 { format!("rank (a bar is the mean of {each})") } else { "rank".to_owned() };
    let up = (Axis::new(most, 6, SECONDS), "time");
    let chart = Chart::new((880.0, 320.0), (across, &what), up, series.collect());
    Picture::new(title, subtitle).legend(shown.map(entry)).with(chart).draw()
}
