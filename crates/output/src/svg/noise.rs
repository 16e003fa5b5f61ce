//! Delay caused by slow ranks: for each rank, the time at which it arrives and the delay of the rank's end.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::chart::{Chart, Column, Series};
use super::picture::Picture;
use super::sign::{Fill, Mark, Pen, Sign};
use hayase::report::NoiseReport;
use hayase::units::Time;

const INSIDE: (f64, f64) = (760.0, 210.0);
/// Largest number of ranks whose bars have tooltips, and of slow ranks that are named.
const MOST_TOLD: usize = 190;
const MOST_NAMED: u32 = 4;
const LATE: Fill = Fill("#5b8db0", "");
/// Fill of own work: a dark outline over the pale bars, so that they differ without colour.
const OWN: Fill = Fill("none", r##"stroke="#a03c1e" stroke-width="1.5""##);
const REACHED: Pen = Pen::new(INK, 1.0).marked(Mark::Disc);
const SLOW: Pen = Pen::new("#a03c1e", 1.0).marked(Mark::Square);

fn seconds(value: f64) -> String {
    Time::from_seconds(value.abs()).to_string()
}

/// Draws two charts over the ranks. The upper one shows when the delay reached each rank. The lower one shows
/// how much later the rank ended, and how much longer its own work took.
pub fn noise(noise: &NoiseReport, title: &str) -> String {
    let sign = if noise.cost_s < 0.0 { "-" } else { "" };
    let subtitle = format!(
        "slow ranks cost {sign}{} ({:.3} times {} without them)",
        seconds(noise.cost_s),
        noise.slowdown,
        seconds(noise.without_s)
    );
    let legend = [
        (Sign::Line(SLOW), "slow rank"),
        (Sign::Line(REACHED), "first message later than without"),
        (Sign::Box(LATE, 0.1, 0.9), "ends later"),
        (Sign::Box(OWN, 0.1, 0.9), "own work took longer"),
    ];
    let none = noise.ranks.iter().filter(|rank| rank.reached_s.is_none()).count();
    let remarks = (none > 0).then(|| format!("{none} of {} ranks not reached", noise.ranks.len()));
    Picture::new(title, subtitle).legend(legend).remarks(remarks).with(reached(noise)).with(later(noise)).draw()
}

fn reached(noise: &NoiseReport) -> Chart {
    let end = noise.ranks.iter().map(|rank| rank.end_s).fold(0.0, f64::max);
    let of = |is_source: bool| {
        let ranks = noise.ranks.iter().filter(move |rank| (rank.messages == Some(0)) == is_source);
        ranks.filter_map(|rank| Some((rank.rank, f64::from(rank.rank) + 0.5, rank.reached_s?)))
    };
    let points = |is_source: bool| of(is_source).map(|(_, at, reached)| (at, reached)).collect();
    let few = noise.by_distance.first().is_some_and(|first| first.ranks <= MOST_NAMED);
    let names = of(true).filter(|_| few).map(|(rank, at, reached)| (at, reached, format!("slow rank {rank}")));
    let series =
        vec![Series::Marks(REACHED, points(false)), Series::Marks(SLOW, points(true)), Series::Texts(names.collect())];
    Chart::new(INSIDE, (Axis::ranks(noise.ranks.len()), "rank"), (Axis::new(end, 5, SECONDS), "reached at"), series)
}

fn later(noise: &NoiseReport) -> Chart {
    let most = noise.ranks.iter().map(|rank| rank.delay_s.max(rank.slowed_s.unwrap_or(0.0))).fold(0.0, f64::max);
    let column = |rank: u32, up: (f64, f64), tooltip: String| Column {
        across: (f64::from(rank) + 0.1, f64::from(rank) + 0.9),
        up,
        tooltip,
    };
    let (mut late, mut own) = (Vec::new(), Vec::new());
    let is_told = noise.ranks.len() <= MOST_TOLD;
    let few = noise.by_distance.first().is_some_and(|first| first.ranks <= MOST_NAMED);
    for rank in &noise.ranks {
        let (delay, slowed) = (rank.delay_s.max(0.0), rank.slowed_s.unwrap_or(0.0).max(0.0));
        let told = format!(
            "rank {}: ends {} later, own work {} longer",
            rank.rank,
            seconds(rank.delay_s),
            seconds(rank.slowed_s.unwrap_or(0.0))
        );
        if delay > 0.0 {
            late.push(column(rank.rank, (0.0, delay), if is_told { told } else { String::new() }));
        }
        if slowed > 0.0 {
            // Outlines of adjacent narrow bars would hide their inside, so only the tops are drawn.
            let foot = if is_told || few { 0.0 } else { (slowed - 0.005 * most).max(0.0) };
            own.push(column(rank.rank, (foot, slowed), String::new()));
        }
    }
    let series = vec![Series::Columns(LATE, late), Series::Columns(OWN, own)];
    Chart::new(INSIDE, (Axis::ranks(noise.ranks.len()), "rank"), (Axis::new(most, 5, SECONDS), "later by"), series)
}
