//! Cost of slow ranks, as lines and as a table of the delay over distance.

use super::Grid;
use super::figures::{count, fixed, percent, seconds};
use hayase::columns::Columns;
use hayase::report::{NoiseReport, Reached};

/// Number of distances shown.
const FARTHEST: usize = 12;

/// Heading of [`distances`].
pub(super) const HEADING: &str = "How far the delay travels, by messages from the nearest slow rank";

/// Returns names and values, a line each.
pub(super) fn lines(noise: &NoiseReport) -> Vec<(&'static str, String)> {
    let signed = |time: f64| if time < 0.0 { format!("-{}", seconds(-time)) } else { seconds(time) };
    let mut lines = vec![(
        "slow ranks",
        format!(
            "cost {}: {} without them, {} times as long with them",
            signed(noise.cost_s),
            seconds(noise.without_s),
            fixed(noise.slowdown, 3)
        ),
    )];
    if let Some(seeds) = &noise.seeds {
        let (mean, low, high) = (signed(seeds.mean_s), signed(seeds.low_s), signed(seeds.high_s));
        let of = count(seeds.seeds, "seed", "seeds");
        lines.push(("", format!("over {of} {mean} on average, 95 % interval {low} to {high}")));
    }
    if noise.slowed.is_some_and(|slowed| slowed.ranks == 0) {
        lines.push(("", "nobody was slowed: no processor had work while it was slow".to_owned()));
    }
    if let Some(slowed) = noise.slowed.filter(|slowed| slowed.ranks > 0) {
        // Reports of farms do not list ranks.
        let on = match noise.ranks.len() as u64 {
            0 => count(slowed.ranks.into(), "rank", "ranks"),
            all => format!("{} of {}", slowed.ranks, count(all, "rank", "ranks")),
        };
        let (rank, most, mean) = (slowed.most_rank, signed(slowed.most_s), signed(slowed.mean_s));
        lines.push(("", format!("work took longer on {on}: {mean} on average, {most} on rank {rank}")));
        if slowed.most_s > 0.0 {
            let said = match slowed.absorbed_s {
                absorbed if absorbed > 0.0 => {
                    format!("{} of that fell into slack ({})", seconds(absorbed), percent(absorbed / slowed.most_s))
                }
                _ if noise.cost_s > slowed.most_s * (1.0 + 1e-9) => {
                    let times = fixed(noise.cost_s / slowed.most_s, 3);
                    match slowed.ranks {
                        1 => format!("the cost is {times} times that: messages meet others on their ways"),
                        _ => format!("delays of several ranks add up: the cost is {times} times that"),
                    }
                }
                _ => "all of that shows in the makespan".to_owned(),
            };
            lines.push(("", said));
        }
    }
    let delayed: Vec<String> = noise
        .delayed
        .iter()
        .map(|delayed| format!("{} by more than {}", delayed.ranks, seconds(delayed.more_than_s)))
        .collect();
    if !delayed.is_empty() {
        lines.push(("", format!("ranks that end later: {}", delayed.join(", "))));
    }
    lines
}

/// Returns the delay over the distance from slow ranks. Of many distances the first ones and the last are
/// shown.
pub(super) fn distances(noise: &NoiseReport) -> Option<Grid> {
    let rows = &noise.by_distance;
    if rows.is_empty() {
        return None;
    }
    let columns = Columns::<Reached>::new()
        .id("messages", |row| row.messages)
        .when(rows.iter().any(|row| row.hops.is_some()), |columns| columns.ratio("links", 1, |row| row.hops))
        .id("ranks", |row| row.ranks)
        .id("reached", |row| row.reached)
        .time("first reached", |row| row.first_s)
        .time("mean delay", |row| row.delay_s);
    let (first, last) = if rows.len() > FARTHEST { (FARTHEST - 1, rows.len() - 1) } else { (rows.len(), rows.len()) };
    let mut grid = Grid::of(&columns, &rows[..first]);
    if first < last {
        grid.row(columns.iter().map(|_| "..."));
    }
    grid.rows(&columns, &rows[last..]);
    Some(grid)
}
