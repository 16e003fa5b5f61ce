//! Merged messages and collective operations of a moved version.

use std::collections::BTreeMap;

use hayase_advice::model::{Action as Change, Edit};

use super::events::Execution;
use super::moves::{Mover, Skipped, buffers};
use super::plan::{Action, Insertion, Plan, Replacement};
use super::program::CollectiveKind::{Allreduce, Bcast, Reduce, Scan};
use super::program::{Operation, Statement};

impl Mover<'_> {
    /// Returns the version in which messages or collective operations are merged.
    pub fn merged(&self, edits: &[Edit]) -> Result<Plan, Skipped> {
        // By rank and items, the iterations.
        let mut groups: BTreeMap<(usize, Vec<usize>), u32> = BTreeMap::new();
        for edit in edits {
            let Change::Merge { with, .. } = &edit.action else { return Err("another change") };
            for event in edit.events() {
                let rank = edit.rank as usize;
                let all = std::iter::once(event).chain(with.iter().map(|distance| event + distance));
                let all: Option<Vec<Execution>> = all.map(|event| self.events.at(rank, event)).collect();
                let all = all.ok_or("outside of the loop")?;
                if all.iter().any(|one| one.iteration != all[0].iteration) {
                    return Err("merged across iterations");
                }
                let items: Vec<usize> = all.iter().map(|one| one.item).collect();
                if items.windows(2).any(|two| two[0] == two[1]) {
                    return Err("several calls of a line");
                }
                *groups.entry((rank, items)).or_default() |= 1 << all[0].iteration;
            }
        }
        let mut plan = Plan::new(self.program.ranks);
        // Both ends must be found: messages by number, of which one end sends.
        let mut ends: BTreeMap<Vec<usize>, [u32; 2]> = BTreeMap::new();
        for (slot, ((rank, items), iterations)) in groups.into_iter().enumerate() {
            let mut calls = Vec::new();
            let mut numbers = Vec::new();
            let mut receives = false;
            for &item in &items {
                let Statement::Call(call) = &self.program.bodies[rank][item].statement else {
                    return Err("merged persistent requests");
                };
                match &call.operation {
                    Operation::Send { end, .. } => numbers.extend(end.message),
                    Operation::Receive(end) => {
                        receives = true;
                        numbers.extend(end.message);
                    }
                    Operation::Collective(_) => {}
                    _ => return Err("merged Sendrecv"),
                }
                if call.code.is_some() {
                    return Err("merged with return codes");
                }
                // What is merged is copied by hand; a section has no buffer of its own to copy to.
                if buffers(call).iter().any(|part| part.stride > 1) {
                    return Err("merged sections");
                }
                calls.push((call.clone(), self.program.bodies[rank][item].guard.clone()));
            }
            let is_collective = matches!(calls[0].0.operation, Operation::Collective(_));
            if !is_collective {
                if numbers.len() < items.len() {
                    return Err("merged with wildcards");
                }
                ends.entry(numbers).or_default()[usize::from(receives)] |= iterations;
            }
            if let Operation::Collective(collective) = &calls[0].0.operation
                && ![Allreduce, Bcast, Reduce, Scan].contains(&collective.kind)
            {
                return Err("merged operations with blocks");
            }
            let statuses: Vec<Option<usize>> = calls.iter().map(|(call, _)| call.status).collect();
            let mut finish = items[0];
            if calls.iter().any(|(call, _)| call.request.is_some()) {
                // Complete as soon as one of them was.
                for ((call, _), &item) in calls.iter().zip(&items) {
                    let Some(request) = call.request else { return Err("merged with and without blocking") };
                    let completed = self.completed_by(rank, item, request);
                    let (at, status, _) = completed.ok_or("it is not clear where it is complete")?;
                    if status.is_some() {
                        return Err("merged with statuses of waits");
                    }
                    finish = if finish == items[0] { at + 1 } else { finish.min(at + 1) };
                }
            }
            let insertions = &mut plan.insertions[rank];
            // A merged send has a buffer of its own: it may end whenever it likes.
            let sends = !receives && !is_collective;
            insertions.push(Insertion {
                at: items[0],
                iterations,
                action: Action::Post { slot, arguments: Vec::new(), calls },
            });
            if !sends {
                let action = Action::Finish { slot, statuses, code: None };
                insertions.push(Insertion { at: finish, iterations, action });
            }
            plan.replacements[rank].extend(items.iter().map(|&item| Replacement { item, iterations, by: None }));
        }
        if ends.values().any(|[sent, received]| sent != received) {
            return Err("the ends of merged messages differ");
        }
        Ok(plan)
    }
}
