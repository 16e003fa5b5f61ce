//! Explanation of a deadlock for the author of the program: who waits for whom.

use hayase::ids::RankId;
use hayase::report::{FaultsReport, Gridlock, Stopped};
use hayase::workload::Blocked;

use crate::table::{self, Grid, printable};

/// Largest number of ranks shown.
const MOST: usize = 20;
/// Largest number of cycles named.
const CYCLES: usize = 5;
/// Largest number of ranks named of a cycle.
const LINKS: usize = 12;

/// Explains why a run cannot continue: the channels or the ranks that wait for each other.
pub fn explain(
    blocked: &[Blocked],
    gridlock: Option<&Gridlock>,
    stopped: Option<Stopped>,
    faults: Option<&FaultsReport>,
) -> String {
    match (gridlock, without_way(faults, stopped)) {
        (Some(gridlock), _) => channels(gridlock, stopped),
        (None, Some(text)) if blocked.is_empty() => text,
        (None, text) => text.unwrap_or_default() + &describe(blocked, "next message", stopped),
    }
}

/// Describes messages that were lost on failed links or had no route left.
pub fn without_way(faults: Option<&FaultsReport>, stopped: Option<Stopped>) -> Option<String> {
    let faults = faults.filter(|faults| faults.lost + faults.stranded > 0)?;
    let messages = |count: u64| if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
    let mut parts = Vec::new();
    if faults.lost > 0 {
        parts.push(format!("{} lost on links that failed", messages(faults.lost)));
    }
    if faults.stranded > 0 {
        parts.push(format!("{} cut off by failures", messages(faults.stranded)));
    }
    let mut text = format!("{}: {}\n", headline(stopped), parts.join(", "));
    for pair in &faults.without_way {
        text.push_str(&format!("  {}\n", printable(pair)));
    }
    if faults.lost + faults.stranded > faults.without_way.len() as u64 {
        text.push_str("  ... (each pair once, the first few)\n");
    }
    text.push_str("help: let fewer links fail, or draw others with another seed");
    text.push_str(if faults.lost > 0 { "; `on-failure = \"resend\"` resends lost messages\n" } else { "\n" });
    Some(text)
}

/// Returns the headline: the time of the last progress, and the messages delivered until then.
fn headline(stopped: Option<Stopped>) -> String {
    let when = |stopped: Stopped| {
        let at = table::seconds(stopped.at_s);
        format!("deadlock at {at}, with {} delivered", table::delivered(&stopped))
    };
    stopped.map_or_else(|| "deadlock".to_owned(), when)
}

/// Describes the cycle of channels.
fn channels(gridlock: &Gridlock, stopped: Option<Stopped>) -> String {
    let Gridlock { packets, cycle } = gridlock;
    if cycle.is_empty() {
        return format!("{packets} packets cannot go on: their times are larger than can be counted\n");
    }
    let mut text =
        format!("{}: {packets} packets wait; these channels wait for each other in a circle:\n", headline(stopped));
    for name in cycle.iter().take(MOST) {
        text.push_str(&format!("  {}\n", printable(name)));
    }
    if cycle.len() > MOST {
        text.push_str(&format!("  ... and {} more\n", cycle.len() - MOST));
    }
    text.push_str(
        "the buffer behind each is full, and its first packet waits for the next; the last waits for the first\n",
    );
    text.push_str(
        "help: [transport.packet] deadlock-avoidance = \"classes\" prevents this on any fabric under any rule; ",
    );
    text.push_str("on a torus in dimension-order \"local-bubble\" and \"dateline\" do, too\n");
    text
}

/// Returns the table of blocked ranks, and the cycles among them.
///
/// `next` names the objects that [`Blocked::next`] counts.
pub fn describe(blocked: &[Blocked], next: &str, stopped: Option<Stopped>) -> String {
    let count = blocked.len();
    let wait = if count == 1 { "rank waits" } else { "ranks wait" };
    let mut text = format!("{}: {count} {wait} for messages that never come\n\n", headline(stopped));
    let mut grid = Grid::new().number("rank").number(next).text("waits for");
    for one in blocked.iter().take(MOST) {
        grid.row([one.rank.to_string(), one.next.index.to_string(), one.waits_for.clone()]);
    }
    text.push_str(&grid.to_text());
    if count > MOST {
        text.push_str(&format!("... and {} more\n", count - MOST));
    }
    let cycles = cycles(blocked);
    if !cycles.is_empty() {
        text.push('\n');
    }
    for cycle in cycles.iter().take(CYCLES) {
        let mut names: Vec<String> = cycle.iter().take(LINKS).map(|rank| format!("rank {rank}")).collect();
        if cycle.len() > LINKS {
            names.push(format!("... ({} ranks in all)", cycle.len()));
        }
        names.push(format!("rank {}", cycle[0]));
        text.push_str(&format!("cycle: {}\n", names.join(" waits for ")));
    }
    if cycles.len() > CYCLES {
        text.push_str(&format!("... and {} cycles more\n", cycles.len() - CYCLES));
    }
    text
}

/// Returns the cycles of the "waits for" relation, each from its lowest rank. A rank waits for one other at
/// most, so no two cycles overlap.
fn cycles(blocked: &[Blocked]) -> Vec<Vec<RankId>> {
    let mut waits: Vec<(RankId, RankId)> = blocked.iter().filter_map(|one| Some((one.rank, one.on?))).collect();
    waits.sort_unstable();
    waits.dedup_by_key(|(rank, _)| *rank);
    let next = |rank: RankId| waits.binary_search_by_key(&rank, |(rank, _)| *rank).ok();
    // By position in `waits`: number of the first walk that passed, from 1.
    let mut visited = vec![0_usize; waits.len()];
    let mut cycles = Vec::new();
    for start in 0..waits.len() {
        let walk = start + 1;
        let mut at = Some(start);
        while let Some(i) = at.filter(|&i| visited[i] == 0) {
            visited[i] = walk;
            at = next(waits[i].1);
        }
        // The walk met its own path, so the rest of it is a cycle.
        if let Some(first) = at.filter(|&i| visited[i] == walk) {
            let mut cycle = vec![waits[first].0];
            let mut i = next(waits[first].1);
            while let Some(j) = i.filter(|&j| j != first) {
                cycle.push(waits[j].0);
                i = next(waits[j].1);
            }
            let lowest = cycle.iter().enumerate().min_by_key(|(_, rank)| **rank).map_or(0, |(i, _)| i);
            cycle.rotate_left(lowest);
            cycles.push(cycle);
        }
    }
    cycles.sort();
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase::ids::MessageId;

    fn blocked(rank: u32, on: Option<u32>) -> Blocked {
        let waits_for = on.map_or("message 3 of a rank that sends none".into(), |on| format!("message 0 of rank {on}"));
        Blocked { rank: RankId(rank), next: MessageId { src: RankId(rank), index: 1 }, waits_for, on: on.map(RankId) }
    }

    #[test]
    fn cycles_are_named_once_and_tails_are_not_part_of_them() {
        let list = [
            blocked(5, Some(3)),
            blocked(0, Some(2)),
            blocked(1, Some(0)),
            blocked(2, Some(1)),
            blocked(3, Some(2)),
            blocked(4, None),
            blocked(6, Some(6)),
            blocked(7, Some(99)),
        ];
        assert_eq!(cycles(&list), [vec![RankId(0), RankId(2), RankId(1)], vec![RankId(6)]]);
        insta::assert_snapshot!(describe(&list, "next message", None), @"
        deadlock: 8 ranks wait for messages that never come

        rank  next message  waits for
        ───────────────────────────────────────────────────────
           5             1  message 0 of rank 3
           0             1  message 0 of rank 2
           1             1  message 0 of rank 0
           2             1  message 0 of rank 1
           3             1  message 0 of rank 2
           4             1  message 3 of a rank that sends none
           6             1  message 0 of rank 6
           7             1  message 0 of rank 99

        cycle: rank 0 waits for rank 2 waits for rank 1 waits for rank 0
        cycle: rank 6 waits for rank 6
        ");
    }

    #[test]
    fn a_large_deadlock_is_cut_short() {
        let ring: Vec<Blocked> = (0..1000).map(|rank| blocked(rank, Some((rank + 1) % 1000))).collect();
        let text = describe(&ring, "next message", None);
        assert!(text.lines().count() < 30, "{text}");
        assert!(text.contains("rank 11 waits for ... (1000 ranks in all) waits for rank 0"), "{text}");
    }
}
