//! From findings to moved versions.

use std::collections::BTreeMap;

use hayase_advice::model::{Action as Change, CallPart, Change as Changes, Edit, Finding, Point, RuleId, Side};

use super::events::{Border, Events, Execution};
use super::plan::{Action, Insertion, Plan, Replacement};
use super::program::{
    Base, Call, Completion, Expression, Guard, Item, Language, Object, Operation, Part, Program, Statement,
};
use super::source::Source;

/// Reason why a finding is not carried out.
pub type Skipped = &'static str;

/// Data needed to carry out findings.
pub struct Mover<'a> {
    pub program: &'a Program,
    pub source: &'a Source,
    pub events: &'a Events,
    pub mpi: &'a str,
}

/// New place in an iteration for a communication of an item.
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
        // MPICH's `mpi_f08` takes sections as they are; the functions that move messages here get a copy.
        let takes_sections = self.mpi == "mpich" && self.program.language == Language::Fortran08;
        if takes_sections && buffers(&call).iter().any(|part| part.copied()) {
            return Err("a section without a copy");
        }
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
            // After the call that completes it, which finds nothing and must not be the last to write the status.
            let (post, wait) = (place.post.clamp(earliest.min(number), number), place.wait.max(wait_now));
            moves |= post < number || wait > wait_now;
            *posts.entry(post).or_default() |= bit;
            *finishes.entry(wait).or_default() |= bit;
            all |= bit;
        }
        let guard = item.guard.clone();
        let insertions = &mut plan.insertions[rank];
        let chosen = waits.is_some_and(|(at, ..)| self.completes_some(rank, at));
        for (at, iterations) in posts {
            let arguments = arguments(&self.program.bodies[rank][at..number], &call, guard.as_ref());
            let action = if chosen {
                Action::Call { arguments, call: Box::new(call.clone()), guard: guard.clone() }
            } else {
                Action::Post { slot, arguments, calls: vec![(call.clone(), guard.clone())] }
            };
            insertions.push(Insertion { at, iterations, action });
        }
        if chosen {
            finishes.clear();
        }
        for (at, iterations) in finishes {
            let action = Action::Finish { slot, statuses: vec![status], code };
            insertions.push(Insertion { at, iterations, action });
        }
        plan.replacements[rank].push(Replacement { item: number, iterations: all, by });
        if let (Operation::Collective(collective), None) = (&call.operation, call.request) {
            self.others(rank, collective.number, slot, all, plan);
        }
        Ok(moves)
    }

    /// Makes the other members of a collective operation call its non-blocking form in place.
    fn others(&self, moved: usize, number: usize, slot: usize, iterations: u32, plan: &mut Plan) {
        for (rank, body) in self.program.bodies.iter().enumerate().filter(|&(rank, _)| rank != moved) {
            let found = body.iter().enumerate().find_map(|(at, item)| match &item.statement {
                Statement::Call(call) => match &call.operation {
                    Operation::Collective(collective) if collective.number == number => Some((at, call)),
                    _ => None,
                },
                _ => None,
            });
            let Some((item, call)) = found else { continue };
            let calls = vec![(call.clone(), body[item].guard.clone())];
            let post = Action::Post { slot, arguments: Vec::new(), calls };
            let finish = Action::Finish { slot, statuses: Vec::new(), code: call.code };
            plan.insertions[rank].push(Insertion { at: item, iterations, action: post });
            plan.insertions[rank].push(Insertion { at: item + 1, iterations, action: finish });
            plan.replacements[rank].push(Replacement { item, iterations, by: None });
        }
    }

    /// Returns the items whose lines stand in the way on a side.
    fn blockers(&self, finding: &Finding, rank: usize, side: Side) -> Vec<usize> {
        let on_side = finding.blockers.iter().filter(|blocker| blocker.side == side);
        let items = on_side.filter_map(|blocker| {
            let line = blocker.location.as_ref()?.line;
            self.source.lines.get(&line).filter(|&&(of, _)| of == rank).map(|&(_, item)| item)
        });
        items.collect()
    }

    /// Returns the earliest item before which it can certainly be posted.
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

    /// Returns the latest item before which it can certainly be awaited.
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

    /// Returns true if an item completes some of several requests and reports which.
    fn completes_some(&self, rank: usize, item: usize) -> bool {
        let statement = &self.program.bodies[rank][item].statement;
        let Statement::Complete { completion, .. } = statement else { return false };
        matches!(completion, Completion::Any(_) | Completion::Some(_))
    }

    /// Returns the later item that completes a request, with status and code.
    pub fn completed_by(
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
                    // The status belongs to another request.
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
        let objects = buffers(call).into_iter().map(|part| part.object);
        objects.filter_map(begins).map(|at| at + 1).max().unwrap_or(0)
    }
}

/// Returns the buffers of a call that sends, receives or is collective.
pub fn buffers(call: &Call) -> Vec<&Part> {
    match &call.operation {
        Operation::Send { end, .. } | Operation::Receive(end) => vec![&end.part],
        Operation::Collective(collective) => collective.input.iter().chain([&collective.output]).collect(),
        Operation::Exchange { send, receive } | Operation::Replace { send, receive } => vec![&send.part, &receive.part],
    }
}

/// Returns the statements that compute the arguments that a call takes by value; they move with it.
fn arguments(items: &[Item], call: &Call, guard: Option<&Guard>) -> Vec<Statement> {
    let ends = match &call.operation {
        Operation::Send { end, .. } | Operation::Receive(end) => vec![end],
        Operation::Exchange { send, receive } | Operation::Replace { send, receive } => vec![send, receive],
        Operation::Collective(_) => Vec::new(),
    };
    let mut values: Vec<&Expression> = buffers(call).into_iter().map(|part| &part.count).collect();
    values.extend(ends.into_iter().flat_map(|end| [&end.peer, &end.tag]));
    values.extend(guard.map(|guard| match guard {
        Guard::Above(value, _) | Guard::Even(value) | Guard::Odd(value) => value,
    }));
    let is_used = |variable: usize| {
        values.iter().any(|value| matches!(value.base, Base::Element(Object::Variable(used), _) if used == variable))
    };
    let computes = |item: &&Item| match &item.statement {
        Statement::Set { variable, .. } | Statement::Count { variable, .. } => {
            item.guard.is_none() && is_used(*variable)
        }
        _ => false,
    };
    items.iter().filter(computes).map(|item| item.statement.clone()).collect()
}
