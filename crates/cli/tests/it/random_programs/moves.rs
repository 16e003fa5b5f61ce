//! From findings to moved versions.

use std::collections::BTreeMap;

use hayase_advice::model::{Action as Change, CallPart, Change as Changes, Edit, Finding, Point, RuleId, Side};

use super::events::{Border, Events, Execution};
use super::plan::{Action, Insertion, Plan, Replacement};
use super::program::{Call, Completion, Object, Operation, Program, Statement};
use super::source::Source;

/// Why a finding is not carried out.
pub type Skipped = &'static str;

/// What is needed to carry findings out.
pub struct Mover<'a> {
    pub program: &'a Program,
    pub source: &'a Source,
    pub events: &'a Events,
}

/// Where a communication of an item goes in an iteration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    post: usize,
    wait: usize,
}

impl Mover<'_> {
    /// Returns the moved version of a finding.
    pub fn plan(&self, finding: &Finding) -> Result<Plan, Skipped> {
        let Changes::Program { edits, left_out } = &finding.change else { return Err("no change of the program") };
        if *left_out > 0 {
            return Err("too many changes");
        }
        let mut plan = match finding.rule {
            RuleId::A001 => self.overlap(finding, edits)?,
            _ => self.merged(edits)?,
        };
        let moved = plan
            .replacements
            .iter()
            .zip(&self.program.bodies)
            .find_map(|(replaced, body)| replaced.last().map(|replacement| body[replacement.item].idiom));
        plan.idiom = moved.unwrap_or_default();
        Ok(plan)
    }

    fn overlap(&self, finding: &Finding, edits: &[Edit]) -> Result<Plan, Skipped> {
        let mut places: BTreeMap<(usize, usize, u8), Vec<(usize, Place)>> = BTreeMap::new();
        for edit in edits {
            let Change::Overlap { part, post, wait, .. } = &edit.action else { return Err("another change") };
            for event in edit.events() {
                let rank = edit.rank as usize;
                let Some(at) = self.events.at(rank, event) else { return Err("outside of the loop") };
                let of_rank = |side| self.blockers(finding, rank, side);
                let post = self.post(rank, event, *post, at, &of_rank(Side::Before));
                let wait = self.wait(rank, event, *wait, at, &of_rank(Side::After));
                let part = u8::from(*part == CallPart::Receive);
                places.entry((rank, at.item, part)).or_default().push((at.iteration, Place { post, wait }));
            }
        }
        let mut plan = Plan::new(self.program.ranks);
        let mut moves = false;
        for (slot, ((rank, item, part), executions)) in places.into_iter().enumerate() {
            let mut iterations: Vec<usize> = executions.iter().map(|&(iteration, _)| iteration).collect();
            iterations.dedup();
            if iterations.len() < executions.len() {
                return Err("several calls of a line");
            }
            moves |= self.spread(rank, item, part == 1, slot, &executions, &mut plan)?;
        }
        if moves { Ok(plan) } else { Err("nothing moves past a whole line of its iteration") }
    }

    /// Adds the moves of an item; returns true if there are any.
    fn spread(
        &self,
        rank: usize,
        number: usize,
        receives: bool,
        slot: usize,
        executions: &[(usize, Place)],
        plan: &mut Plan,
    ) -> Result<bool, Skipped> {
        let item = &self.program.bodies[rank][number];
        let (call, by) = match &item.statement {
            Statement::Call(call) => match &call.operation {
                Operation::Exchange { send, receive } => {
                    let send = Operation::Send { end: send.clone(), synchronous: false };
                    let receive = Operation::Receive(receive.clone());
                    let with = |operation| Call { operation, ..call.clone() };
                    let stays = Statement::Call(with(if receives { send.clone() } else { receive.clone() }));
                    (with(if receives { receive } else { send }), Some(stays))
                }
                Operation::Replace { .. } => return Err("Sendrecv_replace"),
                _ => (call.clone(), None),
            },
            Statement::Start(requests) => {
                let persistent = &self.program.persistent[rank];
                let started = requests.iter().filter_map(|request| {
                    let call = persistent.iter().find(|call| call.request == Some(*request))?;
                    Some((*request, call.clone()))
                });
                let is_part = |call: &Call| matches!(call.operation, Operation::Receive(_)) == receives;
                let (these, others): (Vec<_>, Vec<_>) = started.partition(|(_, call)| is_part(call));
                let [(_, call)] = these.as_slice() else { return Err("several requests are started") };
                let others: Vec<usize> = others.iter().map(|&(request, _)| request).collect();
                (call.clone(), (!others.is_empty()).then_some(Statement::Start(others)))
            }
            _ => return Err("no call of a communication"),
        };
        let waits = call.request.and_then(|request| self.completed_by(rank, number, request));
        let (status, code) = match (call.request, waits) {
            (None, _) => (call.status, call.code),
            (Some(_), None) => return Err("it is not clear where it is complete"),
            (_, Some((_, status, code))) => (status, code),
        };
        let earliest = self.lives_from(rank, number, &call);
        let wait_now = waits.map_or(number + 1, |(at, ..)| at + 1);
        let (mut posts, mut finishes) = (BTreeMap::<usize, u32>::new(), BTreeMap::<usize, u32>::new());
        let (mut all, mut moves) = (0, false);
        for &(iteration, place) in executions {
            let bit = 1 << iteration;
            // Behind the call that completes it, which finds nothing and must not be the last to write the status.
            let (post, wait) = (place.post.clamp(earliest.min(number), number), place.wait.max(wait_now));
            moves |= post < number || wait > wait_now;
            *posts.entry(post).or_default() |= bit;
            *finishes.entry(wait).or_default() |= bit;
            all |= bit;
        }
        let guard = item.guard.clone();
        let insertions = &mut plan.insertions[rank];
        for (at, iterations) in posts {
            let action = Action::Post { slot, calls: vec![(call.clone(), guard.clone())] };
            insertions.push(Insertion { at, iterations, action });
        }
        for (at, iterations) in finishes {
            let action = Action::Finish { slot, statuses: vec![status], code };
            insertions.push(Insertion { at, iterations, action });
        }
        plan.replacements[rank].push(Replacement { item: number, iterations: all, by });
        Ok(moves)
    }

    /// Items whose lines stand in the way on a side.
    fn blockers(&self, finding: &Finding, rank: usize, side: Side) -> Vec<usize> {
        let on_side = finding.blockers.iter().filter(|blocker| blocker.side == side);
        let items = on_side.filter_map(|blocker| {
            let line = blocker.location.as_ref()?.line;
            self.source.lines.get(&line).filter(|&&(of, _)| of == rank).map(|&(_, item)| item)
        });
        items.collect()
    }

    /// The item in front of which it can be posted: as early as is certain from the point and the lines in the way.
    fn post(&self, rank: usize, event: u64, point: Point, at: Execution, blockers: &[usize]) -> usize {
        let number = event.saturating_add_signed(point.interval);
        let gap = self.events.between(rank, number, at.iteration);
        let low = match gap.low {
            Border::InFront => 0,
            Border::At(item) => item + 1,
            Border::Behind => return at.item,
        };
        let high = match gap.high {
            Border::InFront => return 0,
            Border::At(item) => item,
            Border::Behind => return at.item,
        };
        if point.fraction <= 0.0 || low > high {
            return low;
        }
        if point.fraction >= 1.0 {
            return high;
        }
        if number < event && blockers.contains(&high) {
            return high + 1;
        }
        let here = blockers.iter().copied().filter(|blocker| (low..high).contains(blocker)).max();
        here.map_or(high, |blocker| blocker + 1)
    }

    /// The item in front of which it can be waited for: as late as is certain.
    fn wait(&self, rank: usize, event: u64, point: Point, at: Execution, blockers: &[usize]) -> usize {
        let number = event.saturating_add_signed(point.interval);
        let end = self.program.bodies[rank].len();
        let gap = self.events.between(rank, number, at.iteration);
        let low = match gap.low {
            Border::InFront => return at.item,
            Border::At(item) => item + 1,
            Border::Behind => return end,
        };
        let high = match gap.high {
            Border::InFront => return at.item,
            Border::At(item) => item,
            Border::Behind => end,
        };
        if point.fraction >= 1.0 || low > high {
            return high;
        }
        if point.fraction <= 0.0 {
            return low;
        }
        if blockers.contains(&(low - 1)) {
            return low - 1;
        }
        let here = blockers.iter().copied().filter(|blocker| (low..high).contains(blocker)).min();
        let later = gap.other.is_some_and(|other| blockers.iter().any(|&blocker| blocker < other));
        here.unwrap_or(if later { high } else { low })
    }

    /// Returns the item that completes a request behind an item, with status and code.
    fn completed_by(
        &self,
        rank: usize,
        number: usize,
        request: usize,
    ) -> Option<(usize, Option<usize>, Option<usize>)> {
        let behind = self.program.bodies[rank].iter().enumerate().skip(number + 1);
        behind.into_iter().find_map(|(at, item)| match &item.statement {
            Statement::Complete { completion, requests, status, code } => {
                let place = requests.iter().position(|&other| other == request)?;
                let status = match completion {
                    Completion::Wait | Completion::Test => *status,
                    Completion::All => status.map(|first| first + place),
                    // The status is that of another.
                    Completion::Any(_) | Completion::Some(_) => None,
                };
                Some((at, status, *code))
            }
            _ => None,
        })
    }

    /// Returns the first place at which the buffer of a call has a name.
    fn lives_from(&self, rank: usize, number: usize, call: &Call) -> usize {
        let begins = |object: Object| {
            let body = &self.program.bodies[rank][..number];
            body.iter().rposition(|item| match (&item.statement, object) {
                (Statement::ScopeOpen { scope, .. }, Object::Scope(this)) => *scope == this,
                (Statement::Allocate { heap, .. } | Statement::Reallocate { heap, .. }, Object::Heap(this)) => {
                    *heap == this
                }
                _ => false,
            })
        };
        let objects = match &call.operation {
            Operation::Send { end, .. } | Operation::Receive(end) => vec![end.part.object],
            Operation::Collective(collective) => {
                collective.input.iter().chain([&collective.output]).map(|part| part.object).collect()
            }
            Operation::Exchange { .. } | Operation::Replace { .. } => Vec::new(),
        };
        objects.into_iter().filter_map(begins).map(|at| at + 1).max().unwrap_or(0)
    }

    fn merged(&self, edits: &[Edit]) -> Result<Plan, Skipped> {
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
                calls.push((call.clone(), self.program.bodies[rank][item].guard.clone()));
            }
            let is_collective = matches!(calls[0].0.operation, Operation::Collective(_));
            if !is_collective {
                if numbers.len() < items.len() {
                    return Err("merged with wildcards");
                }
                ends.entry(numbers).or_default()[usize::from(receives)] |= iterations;
            }
            if let Operation::Collective(collective) = &calls[0].0.operation {
                use super::program::CollectiveKind::{Allreduce, Bcast, Reduce, Scan};
                if ![Allreduce, Bcast, Reduce, Scan].contains(&collective.kind) {
                    return Err("merged operations with blocks");
                }
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
            insertions.push(Insertion { at: items[0], iterations, action: Action::Post { slot, calls } });
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
