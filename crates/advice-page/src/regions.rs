//! Regions of the program on the page: the times of their executions.

/// Largest number of executions of all regions that the page keeps apart; above it, those close together are
/// joined.
pub(crate) const MAX_REGIONS: usize = 20_000;

/// Region of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Region {
    pub name: String,
    /// Number of executions.
    pub executions: u64,
    /// Begin and end of the time that executions cover \[ns\], in order; no interval touches the next.
    pub spans: Vec<(u64, u64)>,
}

impl Region {
    /// Creates a region from the begin and end of each execution \[ns\].
    pub fn new(name: &str, spans: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut spans: Vec<(u64, u64)> = spans.into_iter().map(|(begin, end)| (begin, end.max(begin))).collect();
        let executions = spans.len() as u64;
        spans.sort_unstable();
        Self { name: name.to_owned(), executions, spans: joined(&spans, 0) }
    }
}

/// Joins executions that are close together until at most about `most` of all regions are left.
pub(crate) fn fit(regions: &mut [Region], most: usize) {
    let each = (most / regions.len().max(1)).max(1);
    for region in regions {
        let mut distance = 1;
        while region.spans.len() > each {
            distance *= 2;
            region.spans = joined(&region.spans, distance);
        }
    }
}

/// Joins spans that are at most `distance` \[ns\] apart.
fn joined(spans: &[(u64, u64)], distance: u64) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for &(begin, end) in spans {
        match joined.last_mut() {
            Some((_, last)) if begin <= last.saturating_add(distance) => *last = end.max(*last),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;

    #[test]
    fn executions_that_touch_are_one_stretch_and_the_page_stays_small() {
        let mut run = Run::new(1);
        run.region("solve", [(10, 20), (0, 5), (20, 30), (3, 7)]);
        assert_eq!(run.regions[0].spans, [(0, 7), (10, 30)]);
        assert_eq!(run.regions[0].executions, 4);
        run.region("step", (0..100_000).map(|i| (10 * i, 10 * i + 3)));
        assert_eq!(run.regions[1].executions, 100_000);
        assert!(run.regions[1].spans.len() <= MAX_REGIONS / 2);
        let (first, last) = (run.regions[1].spans[0].0, run.regions[1].spans.last().unwrap().1);
        assert_eq!((first, last), (0, 999_993));
        run.look_at("solve");
        assert_eq!(run.looked_at, Some(0));
        run.look_at("nothing");
        assert_eq!(run.looked_at, None);
    }
}
