//! Writer of plans as GOAL schedules.

use std::collections::BTreeSet;
use std::io::{self, Write};

use hayase::study::schedule::Plan;

/// Writes a plan as a GOAL schedule (text), one send and one receive for each message.
///
/// Message i has the label `l<i>` at both ends, and the tag i. A send requires the receives and sends of `after`; a
/// message sent by the rank counts once it has left. With slots, a send also requires its rank's sends in the slot
/// before. The rounds of different ranks are not held together. Routes and weights are lost.
///
/// Source: T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation Assembly Language, ICPP 2009.
///
/// # Errors
/// Errors of `out`.
pub fn write(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let mut of_rank = vec![Vec::new(); plan.ranks as usize];
    for (i, message) in plan.messages.iter().enumerate() {
        of_rank[message.src as usize].push(i);
        of_rank[message.dst as usize].push(i);
    }
    writeln!(out, "num_ranks {}", plan.ranks)?;
    for (rank, messages) in of_rank.iter().enumerate() {
        writeln!(out, "rank {rank} {{")?;
        // Sends of the slot before, and of the slot that is being written.
        let (mut before, mut current, mut slot) = (Vec::new(), Vec::new(), None);
        for &i in messages {
            let message = &plan.messages[i];
            if message.dst as usize == rank {
                writeln!(out, "l{i}: recv {}b from {} tag {i}", message.bytes, message.src)?;
                continue;
            }
            writeln!(out, "l{i}: send {}b to {} tag {i}", message.bytes, message.dst)?;
            if message.slot != slot {
                before = std::mem::take(&mut current);
                slot = message.slot;
            }
            if slot.is_some() {
                current.push(i as u32);
            }
            let required: BTreeSet<u32> = message.after.iter().chain(&before).copied().collect();
            for earlier in required {
                writeln!(out, "l{i} requires l{earlier}")?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}
