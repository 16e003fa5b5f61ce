//! Plan of a collective operation: every message with its data, its round, its route and what it waits for.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

/// Collective operation of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanOperation {
    /// Every rank has a block for every other rank.
    AllToAll,
    /// The block of each rank goes to all ranks.
    AllGather,
    /// Each rank gets the sum of one block of all ranks.
    ReduceScatter,
    /// All ranks get the sum of the vectors of all ranks.
    AllReduce,
    /// The vector of one rank goes to all ranks.
    Broadcast,
    /// One rank has a block for each rank.
    Scatter,
    /// One rank gets the block of each rank.
    Gather,
}

/// Message of a plan.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanMessage {
    /// Sending rank.
    pub src: u32,
    /// Receiving rank.
    pub dst: u32,
    /// Size \[B\].
    pub bytes: u64,
    /// Round in which it goes, if the plan has rounds.
    pub slot: Option<u32>,
    /// Links of its route, as numbers; empty for the routing rule's own.
    pub path: Vec<u32>,
    /// Weight of its flow in sharing.
    pub weight: f64,
    /// Earlier messages of the plan, by index, that must have arrived first. Each is received or sent by `src`.
    pub after: Vec<u32>,
    /// First unit of its data, and number of units (see [`Plan::units`]).
    pub data: (u32, u32),
    /// True if the receiver adds the data to its own instead of replacing them.
    pub reduces: bool,
}

/// Plan of a collective operation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plan {
    /// The operation.
    pub operation: PlanOperation,
    /// Number of ranks.
    pub ranks: u32,
    /// Root of a broadcast, scatter or gather; else 0.
    pub root: u32,
    /// Number of units into which the data of the operation are divided, all of one size.
    ///
    /// All-reduce and broadcast: parts of one vector. All-gather, reduce-scatter, scatter and gather: the blocks of
    /// all ranks, rank by rank; units `r * u ..` with `u = units / ranks` are the block of rank r. All-to-all: units
    /// `(s * ranks + d) * u ..` with `u = units / ranks^2` are the block from s to d.
    pub units: u32,
    /// Messages, in an order in which each rank may send its own one after another.
    pub messages: Vec<PlanMessage>,
}

impl Plan {
    /// Returns the number of blocks into which the operation divides its data.
    fn blocks(&self) -> u64 {
        match self.operation {
            PlanOperation::AllToAll => u64::from(self.ranks) * u64::from(self.ranks),
            PlanOperation::AllReduce | PlanOperation::Broadcast => 1,
            _ => self.ranks.into(),
        }
    }

    /// Returns the number of units of a block.
    pub fn block(&self) -> u32 {
        (u64::from(self.units) / self.blocks()) as u32
    }

    /// Returns the ranks that have a unit before the operation, and those that need it, or its sum, after.
    pub fn ends(&self, unit: u32) -> (Range<u32>, Range<u32>) {
        let one = |rank: u32| rank..rank + 1;
        let (block, all, root) = (unit / self.block(), 0..self.ranks, one(self.root));
        match self.operation {
            PlanOperation::AllToAll => (one(block / self.ranks), one(block % self.ranks)),
            PlanOperation::AllGather => (one(block), all),
            PlanOperation::ReduceScatter => (all, one(block)),
            PlanOperation::AllReduce => (all.clone(), all),
            PlanOperation::Broadcast => (root, all),
            PlanOperation::Scatter => (root, one(block)),
            PlanOperation::Gather => (one(block), root),
        }
    }
}

/// Executes a plan unit by unit and verifies that every rank ends with all data of the operation.
///
/// A message carries what its sender has after all earlier messages of the plan. It must wait for those among them
/// that changed the data at its sender, by `after`, directly or through other messages; slots order nothing here.
///
/// Cost: units of all messages times ranks / 64.
///
/// # Errors
/// The first mistake: numbers out of range, data that the sender does not have, a contribution that is lost or
/// counted twice, or data missing at the end.
pub fn check(plan: &Plan) -> Result<(), String> {
    check_numbers(plan)?;
    let mut carriers = vec![Vec::new(); plan.units as usize];
    for (i, message) in plan.messages.iter().enumerate() {
        let (first, count) = message.data;
        carriers[first as usize..(first + count) as usize].iter_mut().for_each(|list| list.push(i as u32));
    }
    // Contributions to the unit at each rank, a bit each, and the messages that brought them.
    let mut held = vec![vec![0_u64; plan.ranks.div_ceil(64) as usize]; plan.ranks as usize];
    let mut arrivals = vec![Vec::new(); plan.ranks as usize];
    for (unit, carriers) in (0..).zip(&carriers) {
        let (starts, ends) = plan.ends(unit);
        let mut whole = vec![0; held[0].len()];
        for rank in starts.clone() {
            held[rank as usize][rank as usize / 64] = 1 << (rank % 64);
            whole[rank as usize / 64] |= 1 << (rank % 64);
        }
        for &i in carriers {
            let message = &plan.messages[i as usize];
            let (src, dst) = (message.src as usize, message.dst as usize);
            let data = held[src].clone();
            let pairs = || held[dst].iter().zip(&data);
            let mistake = if data.iter().all(|&word| word == 0) {
                "carries data that its sender does not have"
            } else if !arrivals[src].iter().all(|&earlier| precedes(plan, earlier, i)) {
                "does not wait for all of its data"
            } else if message.reduces && pairs().any(|(old, new)| old & new != 0) {
                "counts a contribution twice"
            } else if !message.reduces && pairs().any(|(old, new)| old & !new != 0) {
                "replaces a contribution"
            } else {
                if !message.reduces && held[dst] != data {
                    arrivals[dst].clear();
                }
                if held[dst] != data {
                    arrivals[dst].push(i);
                }
                held[dst].iter_mut().zip(data).for_each(|(old, new)| *old |= new);
                continue;
            };
            return Err(format!("message {i} from rank {src} to {dst} {mistake} (unit {unit})"));
        }
        if let Some(rank) = ends.clone().find(|&rank| held[rank as usize] != whole) {
            return Err(format!("rank {rank} ends without all of unit {unit}"));
        }
        for rank in starts.chain(carriers.iter().map(|&i| plan.messages[i as usize].dst)) {
            held[rank as usize].fill(0);
            arrivals[rank as usize].clear();
        }
    }
    Ok(())
}

/// Verifies that all ranks, units and awaited messages exist.
fn check_numbers(plan: &Plan) -> Result<(), String> {
    if plan.root >= plan.ranks || plan.units == 0 || !u64::from(plan.units).is_multiple_of(plan.blocks()) {
        return Err(format!("{} ranks cannot have {} units and root {}", plan.ranks, plan.units, plan.root));
    }
    for (index, message) in plan.messages.iter().enumerate() {
        let PlanMessage { src, dst, data: (first, count), .. } = *message;
        let before = |&i: &u32| plan.messages[..index].get(i as usize);
        let is_known = |i: &u32| before(i).is_some_and(|awaited| awaited.src == src || awaited.dst == src);
        if src.max(dst) >= plan.ranks || src == dst || first.checked_add(count).is_none_or(|end| end > plan.units) {
            return Err(format!("message {index} from rank {src} to {dst} has no such ranks or units"));
        }
        if !message.after.iter().all(is_known) {
            return Err(format!("message {index} waits for a message that is later, or not of rank {src}"));
        }
    }
    Ok(())
}

/// Returns true if message `last` waits for message `first`.
fn precedes(plan: &Plan, first: u32, last: u32) -> bool {
    let (mut open, mut visited) = (vec![last], BTreeSet::new());
    while let Some(i) = open.pop() {
        let after = &plan.messages[i as usize].after;
        if after.contains(&first) {
            return true;
        }
        open.extend(after.iter().filter(|&&earlier| earlier > first && visited.insert(earlier)));
    }
    false
}
