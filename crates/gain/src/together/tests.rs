use super::*;

/// Returns the time that pieces save of a run whose ranks each take 10 s.
///
/// Each piece shortens some ranks by the given times; the slowest rank counts.
fn slowest(pieces: &[&[(usize, f64)]], ranks: usize) -> impl Fn(&[usize]) -> Option<f64> {
    move |taken| {
        let left = |rank: usize| {
            let of = taken.iter().flat_map(|&piece| pieces[piece]).filter(|(other, _)| *other == rank);
            10.0 - of.map(|(_, saved)| saved).sum::<f64>()
        };
        Some(10.0 - (0..ranks).map(left).fold(0.0, f64::max))
    }
}

fn found(pieces: &[&[(usize, f64)]], ranks: usize) -> Option<Vec<Vec<usize>>> {
    let saved = slowest(pieces, ranks);
    let alone: Vec<f64> = (0..pieces.len()).map(|piece| saved(&[piece]).unwrap()).collect();
    let all: Vec<usize> = (0..pieces.len()).collect();
    groups(&alone, saved(&all).unwrap(), 0.01, &saved)
}

#[test]
fn what_adds_up_needs_no_explanation() {
    // Pieces one after the other on the only rank; and two that hide behind the same time.
    assert_eq!(found(&[&[(0, 2.0)], &[(0, 1.0)], &[(0, 0.5)]], 1), Some(Vec::new()));
    assert_eq!(groups(&[2.0, 2.0], 2.5, 0.01, &|_| None), Some(Vec::new()));
}

#[test]
fn two_ranks_that_are_both_late_explain_each_other() {
    // Pieces 1 and 4 shorten ranks 0 and 1; the other pieces shorten both alike.
    let both: &[(usize, f64)] = &[(0, 0.5), (1, 0.5)];
    let pieces = [both, &[(0, 3.0)], both, both, &[(1, 3.0)], both];
    assert_eq!(found(&pieces, 2), Some(vec![vec![1, 4]]));
}

#[test]
fn several_groups_may_have_it() {
    // Two phases one after the other, each with two ranks that are both late.
    let phase = |taken: &[usize], a, b| if taken.contains(&a) && taken.contains(&b) { 2.0 } else { 0.0 };
    let saved = |taken: &[usize]| Some(phase(taken, 0, 3) + phase(taken, 1, 2) + 0.1 * taken.len() as f64);
    let mut groups = groups(&[0.1; 4], 4.4, 0.01, &saved).unwrap();
    groups.sort();
    assert_eq!(groups, [[0, 3], [1, 2]]);
}

#[test]
fn what_takes_many_is_not_explained() {
    // Eight ranks, each shortened by a different piece.
    let pieces: Vec<Vec<(usize, f64)>> = (0..8).map(|rank| vec![(rank, 2.0)]).collect();
    let pieces: Vec<&[(usize, f64)]> = pieces.iter().map(Vec::as_slice).collect();
    assert_eq!(found(&pieces, 8), None);
    // A missing simulation explains nothing either.
    assert_eq!(groups(&[0.1, 0.1], 5.0, 0.01, &|_| None), None);
}
