//! Patterns that depend on groups.

use std::collections::BTreeSet;

use super::{Pattern, spec};
use crate::diagnostic::{Diagnostic, Sources};
use crate::ids::RankId;
use crate::pattern::FabricInfo;

/// Groups of these sizes, one after another.
pub struct Sizes(pub Vec<u32>);

impl FabricInfo for Sizes {
    fn nodes(&self) -> u32 {
        self.0.iter().sum()
    }

    fn groups(&self) -> Option<Vec<u32>> {
        Some((0..).zip(&self.0).flat_map(|(group, &size)| std::iter::repeat_n(group, size as usize)).collect())
    }

    fn worst_case(&self) -> Result<Vec<u32>, Diagnostic> {
        Ok((0..self.nodes()).map(|node| (node + 3) % self.nodes()).collect())
    }
}

fn build(table: &str, lines: &str, sizes: &[u32]) -> Result<std::sync::Arc<dyn Pattern>, Vec<Diagnostic>> {
    spec(table, lines).build(&Sizes(sizes.to_vec()), 1, &mut Sources::default())
}

fn destinations(pattern: &dyn Pattern) -> Vec<Vec<u32>> {
    let of = |rank: u32| (0..pattern.sends(RankId(rank))).map(move |index| (rank, index));
    let dst = |(rank, index)| pattern.message(RankId(rank), index).dst.0;
    (0..pattern.ranks()).map(|rank| of(rank).map(dst).collect()).collect()
}

/// Checks that the receives of each step match its sends.
fn check_receives(pattern: &dyn Pattern) {
    for step in 0..pattern.steps() {
        let mut counts = vec![0; pattern.ranks() as usize];
        for rank in (0..pattern.ranks()).map(RankId) {
            let sent = (0..pattern.sends(rank)).map(|index| pattern.message(rank, index));
            sent.filter(|message| message.step == step).for_each(|message| counts[message.dst.0 as usize] += 1);
        }
        let received: Vec<u32> = (0..pattern.ranks()).map(|rank| pattern.receives(RankId(rank), step)).collect();
        assert_eq!(received, counts);
    }
}

#[test]
fn adversarial_messages_go_to_all_ranks_of_the_group_k_on() {
    let sizes = [3, 5, 1, 4];
    for (k, shift) in [(1, 1), (-1, 3), (6, 2), (3, 3)] {
        let pattern = build("adv", &format!("k = {k}; messages = 60; size = '7 B'"), &sizes).unwrap();
        let groups = Sizes(sizes.to_vec()).groups().unwrap();
        for (src, sent) in destinations(&*pattern).iter().enumerate() {
            let wanted = (groups[src] + shift) % 4;
            let members: BTreeSet<u32> = (0..13).filter(|&node| groups[node as usize] == wanted).collect();
            assert_eq!(sent.iter().copied().collect::<BTreeSet<_>>(), members, "rank {src}, k = {k}");
        }
        check_receives(&*pattern);
        assert_eq!((pattern.messages(), pattern.bytes()), (13 * 60, 13 * 60 * 7));
    }
}

#[test]
fn a_hot_group_gets_its_part_and_nobody_sends_to_itself() {
    let pattern = build("hot-group", "fraction = 0.3; group = 1; messages = 400; size = '7 B'", &[8, 4, 8]).unwrap();
    let sent = destinations(&*pattern);
    assert!(sent.iter().enumerate().all(|(src, sent)| sent.iter().all(|&dst| dst as usize != src)));
    let hot = sent.iter().flatten().filter(|dst| (8..12).contains(*dst)).count() as f64 / 8000.0;
    // 0.3, and of the rest 4 of 19 (16 ranks) or 3 of 19 (4 ranks): 0.44; sd 0.0056.
    let expected = 0.3 + 0.7 * (0.8 * 4.0 / 19.0 + 0.2 * 3.0 / 19.0);
    assert!((hot - expected).abs() < 0.025, "{hot} and not {expected}");
    check_receives(&*pattern);
    // A group of one has no other rank to send to.
    let one = build("hot-group", "fraction = 1.0; messages = 5; size = '7 B'", &[1, 3]).unwrap();
    assert!(destinations(&*one)[0].iter().all(|&dst| dst > 0));
    assert!(destinations(&*one)[1].iter().all(|&dst| dst == 0));
}

#[test]
fn group_permutations_are_permutations_that_leave_no_group_that_has_a_like() {
    for sizes in [&[4, 4, 4, 4][..], &[3, 5, 3, 5, 3], &[2, 7, 2], &[1, 1]] {
        let pattern = build("group-permutation", "size = '7 B'; rounds = 2", sizes).unwrap();
        let groups = Sizes(sizes.to_vec()).groups().unwrap();
        let mut to: Vec<u32> = Vec::new();
        for (src, sent) in destinations(&*pattern).iter().enumerate() {
            let alike = sizes.iter().filter(|&&size| size == sizes[groups[src] as usize]).count();
            assert_eq!(sent.len(), if alike > 1 { 2 } else { 0 });
            to.push(sent.first().copied().unwrap_or(src as u32));
            assert!(alike == 1 || groups[to[src] as usize] != groups[src]);
        }
        for pair in (0..to.len()).flat_map(|a| (0..to.len()).map(move |b| (a, b))) {
            assert!(groups[pair.0] != groups[pair.1] || groups[to[pair.0] as usize] == groups[to[pair.1] as usize]);
        }
        to.sort_unstable();
        assert!(to.into_iter().eq(0..groups.len() as u32), "{sizes:?}");
        check_receives(&*pattern);
    }
}

#[test]
fn the_worst_case_is_what_the_fabric_says() {
    let pattern = build("worst-case", "size = '7 B'", &[5]).unwrap();
    assert_eq!(destinations(&*pattern), [[3], [4], [0], [1], [2]]);
}

#[test]
fn groups_that_make_no_sense_are_refused() {
    let wrong = |table: &str, lines: &str, sizes: &[u32]| build(table, lines, sizes).unwrap_err()[0].message.clone();
    assert_eq!(wrong("adv", "size = '1 B'; k = 4", &[2, 2]), "4 groups on, of 2, every group sends to itself");
    assert_eq!(wrong("adv", "size = '1 B'; k = 0", &[2, 2]), "0 groups on, of 2, every group sends to itself");
    assert_eq!(wrong("adv", "size = '1 B'", &[4]), "1 groups on, of 1, every group sends to itself");
    assert_eq!(wrong("adv", "size = '1 B'; group-size = 0", &[4]), "a group has at least one rank");
    let hot = "size = '1 B'; messages = 1; fraction = ";
    assert_eq!(wrong("hot-group", &format!("{hot}1.5"), &[4]), "1.5 is not a fraction of all messages");
    assert_eq!(wrong("hot-group", &format!("{hot}0.5; group = 1"), &[4]), "there is no group 1 among 1");
    let none = "no two of 2 groups have as many ranks, so that none can send to another";
    assert_eq!(wrong("group-permutation", "size = '1 B'", &[1, 2]), none);
    assert_eq!(wrong("worst-case", "size = '1 B'; ranks = 3", &[4]), "the worst permutation is one of all 4 nodes");
    // Without a fabric, groups are unknown unless their size is given.
    let bare = |lines: &str| spec("adv", lines).build(&16, 1, &mut Sources::default());
    assert_eq!(bare("size = '1 B'").unwrap_err()[0].code, "no-groups");
    assert!(bare("size = '1 B'; group-size = 5").is_ok());
    assert_eq!(
        spec("worst-case", "size = '1 B'").build(&16, 1, &mut Sources::default()).unwrap_err()[0].code,
        "no-fabric"
    );
}
