//! Application of a piece of advice to a program.
//!
//! A [`Change`](hayase_advice::model::Change) names events, the recorded calls of a rank; the program has
//! operations. The operations of event n have place n + 1, and the calculation before them is interval n.
//! There are three kinds of edits:
//!
//! * **Overlap.** A call that blocks becomes its non-blocking form at one point and a wait at another. For a
//!   non-blocking call, both move. A calculation is divided where a point lies inside it; the pieces take as long as
//!   the whole. A change gives the earliest post and the latest wait; a [`Placement`] chooses points in between.
//! * **Merge.** The first message or collective gets the payload of all, and the others go. Bytes to copy become
//!   computation, before a message is sent and after it is received.
//! * **Replace.** A collective among some ranks takes the place of each rank's first call, and all the calls go.
//!
//! No call is edited twice: a second edit is skipped. A change of several calls that belong together is made
//! as a whole or not at all, since half of it would deadlock.
//!
//! **Order.** In any combination, a communication is posted after the end of those that it needs (`order`).
//!
//! Source: Gordini, sections 2.1 (overlap), 2.2 (aggregation), 2.3 (collectives).

mod order;
mod placement;

use std::collections::BTreeMap;

use hayase::base::Arrange;
use hayase_advice::model::{Action, CallPart, Edit, Needed, Point};
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::order::Refused;
use self::order::{InsertOrder, OpMove, Order};
pub use self::placement::Placement;
use hayase::ids::RankId;
use hayase::program::{Collective, CollectiveCall, Communicator, Counts, Mark, Op, OpKind, Program, RankProgram};
use hayase::units::Time;

/// Numbers of applied and skipped edits of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Calls that change.
    pub made: u64,
    /// Calls that an earlier change has changed.
    pub taken: u64,
    /// Calls that are no operation of the program, so that the simulator cannot play their changed form.
    pub unknown: u64,
}

/// Program under change.
#[derive(Debug)]
pub struct Changed<'a> {
    program: &'a Program,
    /// Time that a rank takes to copy a byte \[ps/B\].
    copy: f64,
    ranks: BTreeMap<u32, RankEdit<'a>>,
    communicators: Vec<Communicator>,
    collectives: Vec<Collective>,
    numbers: FxHashMap<Collective, u32>,
    /// Number of changes made.
    changes: usize,
}

impl<'a> Changed<'a> {
    /// Creates an unchanged copy; copying takes `copy` \[ps/B\].
    pub fn new(program: &'a Program, copy: f64) -> Self {
        Self {
            program,
            copy,
            ranks: BTreeMap::new(),
            communicators: Vec::new(),
            collectives: Vec::new(),
            numbers: FxHashMap::default(),
            changes: 0,
        }
    }

    /// Applies a change.
    ///
    /// If communications of the change would cross, the later one is posted after the end of the earlier.
    ///
    /// Cost: O(c log o) for c calls that change and o operations of their rank.
    ///
    /// # Errors
    /// No edit can be applied, or the change crosses an earlier one. The reason is the end of a sentence. The
    /// program must not be used after an error.
    pub fn add(&mut self, edits: &[Edit], placement: Placement) -> Result<Applied, Refused> {
        let whole = edits.iter().any(|edit| !matches!(edit.action, Action::Overlap { .. }));
        if whole && edits.iter().any(|edit| self.meets_another(edit)) {
            return Err("another piece of advice changes the same calls".to_owned().into());
        }
        let mut applied = Applied::default();
        let mut plans: BTreeMap<u32, Vec<OpMove>> = BTreeMap::new();
        for edit in edits {
            if edit.rank >= self.program.ranks() {
                return Err(format!("there is no rank {}", edit.rank).into());
            }
            match &edit.action {
                Action::Overlap { part, post, wait, needs } => {
                    let rank = self.rank(edit.rank);
                    let plans = plans.entry(edit.rank).or_default();
                    for event in edit.events() {
                        match rank.overlap(event, *part, (*post, *wait), placement) {
                            EditOutcome::Made(plan) => {
                                let needs = rank.needed(event, needs);
                                plans.push(OpMove { needs, ..plan });
                                applied.made += 1;
                            }
                            EditOutcome::Taken => applied.taken += 1,
                            EditOutcome::Unknown => applied.unknown += 1,
                        }
                    }
                }
                Action::Merge { with, bytes, copy, needs } => {
                    for event in edit.events() {
                        let at = self.merge(edit.rank, event, with, *bytes, *copy)?;
                        let rank = self.rank(edit.rank);
                        let needs = rank.needed(event, needs);
                        plans.entry(edit.rank).or_default().push(OpMove::stays(at, needs));
                        applied.made += 1 + with.len() as u64;
                    }
                }
                Action::Replace { collective, members, root, bytes, calls, needs } => {
                    let number = self.new_collective(collective, members, *root, *bytes)?;
                    let mut first = FxHashSet::default();
                    for &(rank, event) in calls {
                        if rank >= self.program.ranks() {
                            return Err(format!("there is no rank {rank}").into());
                        }
                        let is_first = first.insert(rank);
                        let at = self.rank(rank).replace(event, is_first.then_some(number))?;
                        if is_first {
                            let own = needs.iter().filter(|need| need.0 == rank);
                            let needs = own.filter_map(|&(_, event, part)| self.rank(rank).part(event, part)).collect();
                            plans.entry(rank).or_default().push(OpMove::stays(at, needs));
                        }
                        applied.made += 1;
                    }
                    if let Some(absent) = members.iter().find(|member| !first.contains(member)) {
                        return Err(
                            format!("rank {absent} calls nothing that the collective operation replaces").into()
                        );
                    }
                }
            }
        }
        for (number, plans) in plans {
            let (program, change) = (self.program, self.changes);
            self.rank(number).carry_out(plans, change).map_err(|crossing| crossing.refused(program, number))?;
        }
        self.changes += 1;
        match applied {
            Applied { made: 0, taken: 0, .. } => {
                Err("the simulator cannot play it: the calls are no operations of the program".to_owned().into())
            }
            Applied { made: 0, .. } => Err("another piece of advice changes the same calls".to_owned().into()),
            applied => Ok(applied),
        }
    }

    /// Builds the changed program.
    ///
    /// # Errors
    /// A wait would come before the call that it waits for: the change makes no sense.
    pub fn build(self) -> Result<Program, String> {
        let mut program = self.program.clone();
        program.communicators.extend(self.communicators);
        program.collectives.extend(self.collectives);
        for (number, rank) in self.ranks {
            *program.rank_mut(RankId(number)) = rank
                .build()
                .ok_or_else(|| format!("on rank {number} a wait would come before the call that it waits for"))?;
        }
        Ok(program)
    }

    fn rank(&mut self, number: u32) -> &mut RankEdit<'a> {
        let program = self.program;
        self.ranks.entry(number).or_insert_with(|| RankEdit::new(program.rank(RankId(number))))
    }

    /// True if an earlier change has changed a call of the edit.
    fn meets_another(&self, edit: &Edit) -> bool {
        let taken = |rank: u32, event: u64| {
            self.ranks.get(&rank).is_some_and(|rank| rank.calls(event).any(|op| rank.is_taken(op)))
        };
        match &edit.action {
            Action::Overlap { .. } => edit.events().any(|event| taken(edit.rank, event)),
            Action::Merge { with, .. } => edit
                .events()
                .any(|event| taken(edit.rank, event) || with.iter().any(|distance| taken(edit.rank, event + distance))),
            Action::Replace { calls, .. } => calls.iter().any(|&(rank, event)| taken(rank, event)),
        }
    }

    /// Merges several calls into one and returns its operation.
    fn merge(&mut self, rank: u32, event: u64, with: &[u64], bytes: u64, copy: u64) -> Result<u32, String> {
        let copying = (copy > 0).then(|| Op::calc(Time::from_ps(copy as f64 * self.copy)));
        let one = |rank: &RankEdit<'_>, event: u64| {
            let mut calls = rank.calls(event).filter(|&op| is_communication(rank.of.ops[op as usize].kind));
            match (calls.next(), calls.next()) {
                (Some(op), None) if !rank.is_taken(op) => Ok(op),
                _ => Err(format!("call {event} is not one message or collective operation")),
            }
        };
        let program = self.program;
        let first = one(self.rank(rank), event)?;
        let mut op = program.rank(RankId(rank)).ops[first as usize];
        if op.kind.is_collective() {
            let counts = Counts::Same(bytes);
            let merged = Collective { counts, ..program.collectives[op.arg as usize].clone() };
            op.arg = self.number(merged);
        } else {
            op.size = bytes;
        }
        let rank = self.rank(rank);
        let class = |kind: OpKind| match kind {
            OpKind::Send | OpKind::Isend => 0,
            OpKind::Recv | OpKind::Irecv => 1,
            _ => 2,
        };
        // The merged call must be complete at the first completion of its parts.
        let nonblocking = op.kind.is_nonblocking();
        let own = rank.waits_for(first);
        let mut end = own;
        for distance in with {
            let other = one(rank, event + distance)?;
            if class(rank.of.ops[other as usize].kind) != class(op.kind) {
                return Err(format!("calls {event} and {} are of different kinds", event + distance));
            }
            end = end.zip(rank.waits_for(other)).map(|(one, other)| one.min(other));
            rank.remove(other);
            rank.without_wait.insert(other);
        }
        if nonblocking {
            let end =
                end.ok_or_else(|| format!("not all that would be one with call {event} is waited for at one place"))?;
            if Some(end) != own {
                rank.without_wait.insert(first);
                rank.insert((end, 0.0), InsertOrder::Wait, first, InsertedOp::Wait);
            }
        }
        rank.replaced.insert(first, op);
        if let Some(copying) = copying {
            let at = match op.kind {
                OpKind::Recv => first + 1,
                OpKind::Irecv => end.unwrap_or(first) + 1,
                _ => first,
            };
            rank.insert((at, 0.0), InsertOrder::Post, first, InsertedOp::Op(copying));
        }
        Ok(first)
    }

    /// Adds a collective operation of these ranks; operations with the same members and root share a
    /// communicator.
    fn new_collective(&mut self, name: &str, members: &[u32], root: Option<u32>, bytes: u64) -> Result<u32, String> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        let wanted = plain(name);
        let known = CollectiveCall::ALL.into_iter().find(|call| plain(call.name()) == wanted);
        // Blocks of different sizes are played as blocks of one size.
        let known = known.or_else(|| {
            let wanted = wanted.strip_suffix('v')?;
            CollectiveCall::ALL.into_iter().find(|call| plain(call.name()) == wanted)
        });
        let call = known.ok_or_else(|| format!("there is no collective operation {name}"))?;
        if let Some(stray) = members.iter().find(|&&member| member >= self.program.ranks()) {
            return Err(format!("there is no rank {stray}"));
        }
        let root = match root {
            None => 0,
            Some(root) => members.iter().position(|&member| member == root).ok_or("the root takes no part")? as u32,
        };
        let group = Communicator::Group(members.into());
        let first = self.program.communicators.len();
        // All ranks make the calls on one communicator in one order; calls with another root may come in another
        // order.
        let same = |at: &usize| {
            self.communicators[*at] == group
                && self
                    .collectives
                    .iter()
                    .filter(|other| other.comm as usize == first + at)
                    .all(|other| other.call == call && other.root == root)
        };
        let at = (0..self.communicators.len()).find(same).unwrap_or_else(|| {
            self.communicators.push(group.clone());
            self.communicators.len() - 1
        });
        Ok(self.number(Collective { call, comm: (first + at) as u32, root, counts: Counts::Same(bytes), plan: None }))
    }

    fn number(&mut self, collective: Collective) -> u32 {
        let next = (self.program.collectives.len() + self.collectives.len()) as u32;
        let number = *self.numbers.entry(collective.clone()).or_insert(next);
        if number == next {
            self.collectives.push(collective);
        }
        number
    }
}

/// Returns the operations of an event of a rank, including its computation.
pub(super) fn calls(of: &RankProgram, event: u64) -> std::ops::Range<u32> {
    let place = u32::try_from(event + 1).unwrap_or(u32::MAX);
    let first = of.places.partition_point(|&other| other < place);
    let last = of.places.partition_point(|&other| other <= place);
    first as u32..last as u32
}

fn is_communication(kind: OpKind) -> bool {
    matches!(kind, OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv) || kind.is_collective()
}

/// Outcome of the edit of one call.
enum EditOutcome {
    Made(OpMove),
    Taken,
    Unknown,
}

/// Operation to insert.
#[derive(Clone, Copy, Debug)]
enum InsertedOp {
    /// Start of the original operation in its new form.
    Post(Op),
    /// Wait for the original operation.
    Wait,
    /// Another operation.
    Op(Op),
}

#[derive(Clone, Copy, Debug)]
struct Insert {
    /// Operation before which it is inserted; in a calculation, the part of it that comes before.
    at: (u32, f64),
    turn: InsertOrder,
    /// Index of the original operation.
    of: u32,
    new: InsertedOp,
}

/// Rank under change; operations are named by their original positions.
#[derive(Debug)]
struct RankEdit<'a> {
    of: &'a RankProgram,
    removed: FxHashSet<u32>,
    replaced: FxHashMap<u32, Op>,
    /// Operations whose waits are removed.
    without_wait: FxHashSet<u32>,
    inserts: Vec<Insert>,
    /// Waiting operation of each operation that is waited for; built on first use.
    waiters: Option<FxHashMap<u32, u32>>,
    /// Moved operations, and the order that they must keep.
    order: Order,
}

impl<'a> RankEdit<'a> {
    fn new(of: &'a RankProgram) -> Self {
        Self {
            of,
            removed: FxHashSet::default(),
            replaced: FxHashMap::default(),
            without_wait: FxHashSet::default(),
            inserts: Vec::new(),
            waiters: None,
            order: Order::default(),
        }
    }

    /// Returns the operations of an event, including its computation.
    fn calls(&self, event: u64) -> std::ops::Range<u32> {
        calls(self.of, event)
    }

    fn is_taken(&self, op: u32) -> bool {
        self.removed.contains(&op) || self.replaced.contains_key(&op)
    }

    fn remove(&mut self, op: u32) {
        self.removed.insert(op);
    }

    fn insert(&mut self, at: (u32, f64), turn: InsertOrder, of: u32, new: InsertedOp) {
        self.inserts.push(Insert { at, turn, of, new });
    }

    /// Returns the operation that waits for this one.
    fn waiter(&mut self, op: u32) -> Option<u32> {
        let of = self.of;
        let waiters = self.waiters.get_or_insert_with(|| {
            let mut waiters = FxHashMap::default();
            for (at, op) in (0..).zip(&of.ops) {
                match op.kind {
                    OpKind::Wait => drop(waiters.insert(op.arg, at)),
                    OpKind::Waitall => {
                        waiters.extend(of.list(op.arg, op.size as u32).iter().map(|&started| (started, at)));
                    }
                    _ => {}
                }
            }
            waiters
        });
        waiters.get(&op).copied()
    }

    /// Returns the operation that completes this one; `None` if it is not known because of a test or several
    /// waits.
    fn waits_for(&mut self, op: u32) -> Option<u32> {
        if self.of.ops[op as usize].kind.is_nonblocking() { self.waiter(op) } else { Some(op) }
    }

    /// Returns the position of a point given relative to an event.
    ///
    /// Borders of regions divide the computation before a call into several calculations.
    fn position(&self, event: u64, point: Point) -> (u32, f64) {
        let interval = event.saturating_add_signed(point.interval);
        let calls = self.calls(interval);
        let computed = |at: &u32| self.of.ops[*at as usize].kind == OpKind::Calc;
        let calcs = calls.start..calls.start + calls.clone().take_while(computed).count() as u32;
        let fraction = f64::from(point.fraction).max(0.0);
        if fraction >= 1.0 {
            // The end of the computation is the position before the next operation.
            return (calcs.end, 0.0);
        }
        let duration = |at: u32| self.of.ops[at as usize].duration();
        let mut left = Time::from_ps(calcs.clone().map(duration).sum::<Time>().ps() * fraction);
        let only = calcs.len() == 1;
        for at in calcs.clone() {
            if only || left < duration(at) {
                return (at, if only { fraction } else { left.ps() / duration(at).ps() });
            }
            left = left - duration(at);
        }
        (calcs.end, 0.0)
    }

    /// Returns the operation that completes this one, or this one if that is not known.
    fn end(&mut self, op: u32) -> u32 {
        self.waits_for(op).unwrap_or(op)
    }

    /// Returns the position after the longest calculation between the end of a call and `end`.
    fn behind_longest(&mut self, call: u32, end: (u32, f64)) -> (u32, f64) {
        let of = self.of;
        let from = self.end(call);
        let (last, part) = end;
        let mut longest = (Time::ZERO, end);
        for at in from + 1..=last.min(of.ops.len().saturating_sub(1) as u32) {
            let op = &of.ops[at as usize];
            if op.kind == OpKind::Calc {
                let (time, behind) = match at == last {
                    true => (Time::from_ps(op.duration().ps() * part), end),
                    false => (op.duration(), (at + 1, 0.0)),
                };
                if time > longest.0 {
                    longest = (time, behind);
                }
            }
        }
        longest.1
    }

    /// Returns the operation of a part of an event.
    fn part(&self, event: u64, part: CallPart) -> Option<u32> {
        let wanted = |kind: OpKind| match part {
            CallPart::Send => matches!(kind, OpKind::Send | OpKind::Isend),
            CallPart::Receive => matches!(kind, OpKind::Recv | OpKind::Irecv),
            CallPart::Collective => kind.is_collective(),
        };
        self.calls(event).find(|&op| wanted(self.of.ops[op as usize].kind))
    }

    /// Returns the operations that an edited event needs.
    fn needed(&self, event: u64, needs: &[Needed]) -> Vec<u32> {
        needs.iter().filter_map(|need| self.part(event.checked_sub(need.distance)?, need.part)).collect()
    }

    /// Removes a part of an event from its place and returns its new place.
    fn overlap(
        &mut self,
        event: u64,
        part: CallPart,
        (post, wait): (Point, Point),
        placement: Placement,
    ) -> EditOutcome {
        let Some(op) = self.part(event, part) else { return EditOutcome::Unknown };
        if self.is_taken(op) {
            return EditOutcome::Taken;
        }
        let (mut post, mut wait) = (self.position(event, post), self.position(event, wait));
        if placement.late_post {
            post = (op, 0.0);
        }
        // The wait never moves earlier: both halves of a sendrecv wait at the end of the call.
        let end = self.end(op);
        if wait.0 <= end {
            wait = (end + 1, 0.0);
        }
        if placement.early_wait {
            wait = self.behind_longest(op, wait);
        }
        let mut new = self.of.ops[op as usize];
        let waited = match new.kind {
            OpKind::Send | OpKind::Recv | OpKind::Collective => true,
            // An operation without a wait does not get one.
            _ => self.waiter(op).is_some(),
        };
        new.kind = match part {
            CallPart::Send => OpKind::Isend,
            CallPart::Receive => OpKind::Irecv,
            CallPart::Collective => OpKind::Icollective,
        };
        new.marks &= !Op::WITHIN_CALL;
        self.remove(op);
        self.without_wait.insert(op);
        EditOutcome::Made(OpMove { op, post, moved: Some(new), wait: waited.then_some(wait), needs: Vec::new() })
    }

    /// Inserts the moved operations at their new places.
    fn carry_out(&mut self, plans: Vec<OpMove>, change: usize) -> Result<(), order::Crossing> {
        for OpMove { op, post, moved, wait, .. } in self.order.add(plans, change)? {
            let Some(new) = moved else { continue };
            self.insert(post, InsertOrder::Post, op, InsertedOp::Post(new));
            if let Some(wait) = wait {
                let turn = if post == wait { InsertOrder::LateWait } else { InsertOrder::Wait };
                self.insert(wait, turn, op, InsertedOp::Wait);
            }
        }
        Ok(())
    }

    /// Removes the communication of an event, inserts `collective` in its place if given, and returns the
    /// place.
    fn replace(&mut self, event: u64, collective: Option<u32>) -> Result<u32, String> {
        let calls: Vec<u32> = self.calls(event).filter(|&op| is_communication(self.of.ops[op as usize].kind)).collect();
        let Some(&first) = calls.first() else {
            return Err(format!("call {event} communicates with nobody"));
        };
        for op in calls {
            self.remove(op);
            self.without_wait.insert(op);
        }
        if let Some(number) = collective {
            self.insert((first, 0.0), InsertOrder::Post, first, InsertedOp::Op(Op::collective(number)));
        }
        Ok(first)
    }

    /// Builds the changed rank; `None` if a wait comes before its operation.
    fn build(mut self) -> Option<RankProgram> {
        self.inserts.arrange_by(|a, b| {
            let place = |insert: &Insert| (insert.at.0, insert.at.1.to_bits());
            // Fractions are not negative, so the order of their bits is their order.
            place(a).cmp(&place(b)).then(a.turn.cmp(&b.turn)).then(a.of.cmp(&b.of))
        });
        let of = self.of;
        let mut out = Writer {
            from: of,
            to: RankProgram { file: of.file, measured: of.measured, ..RankProgram::default() },
            positions: vec![u32::MAX; of.ops.len()],
            failed: false,
        };
        let mut inserts = self.inserts.iter().peekable();
        let mut marks = of.marks.iter().peekable();
        for (at, op) in (0..).zip(&of.ops) {
            while let Some(mark) = marks.next_if(|mark| mark.at <= at) {
                out.mark(mark);
            }
            let mut done = 0.0;
            while let Some(insert) = inserts.next_if(|insert| insert.at.0 == at) {
                let part = insert.at.1;
                if op.kind == OpKind::Calc && part > done {
                    out.piece(at, op, part - done);
                    done = part;
                }
                out.insert(insert);
            }
            match op.kind {
                _ if self.removed.contains(&at) => {}
                OpKind::Calc if done > 0.0 => {
                    if done < 1.0 {
                        out.piece(at, op, 1.0 - done);
                    }
                }
                OpKind::Wait | OpKind::Test if self.without_wait.contains(&op.arg) => {}
                OpKind::Wait | OpKind::Test => out.wait(at, op, op.arg),
                OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => out.wait_list(at, op, &self.without_wait),
                _ => {
                    let op = self.replaced.get(&at).unwrap_or(op);
                    out.positions[at as usize] = out.to.ops.len() as u32;
                    out.push(at, *op);
                }
            }
        }
        for insert in inserts {
            out.insert(insert);
        }
        marks.for_each(|mark| out.mark(mark));
        (!out.failed).then_some(out.to)
    }
}

/// Writer of a changed rank.
struct Writer<'a> {
    from: &'a RankProgram,
    to: RankProgram,
    /// New positions of the original operations.
    positions: Vec<u32>,
    failed: bool,
}

impl Writer<'_> {
    /// Appends an operation with the place and site of the original operation `like`.
    fn push(&mut self, like: u32, op: Op) {
        self.to.ops.push(op);
        self.to.places.extend(self.from.place(like as usize));
        self.to.sites.extend(self.from.sites.get(like as usize));
    }

    /// Appends a border of a region at the same place among the operations.
    fn mark(&mut self, mark: &Mark) {
        self.to.marks.push(Mark { at: self.to.ops.len() as u32, ..*mark });
    }

    fn piece(&mut self, at: u32, op: &Op, part: f64) {
        self.push(at, Op::calc(Time::from_ps(op.duration().ps() * part)));
    }

    fn wait(&mut self, at: u32, op: &Op, started: u32) {
        let arg = self.positions[started as usize];
        self.failed |= arg == u32::MAX;
        self.push(at, Op { arg, ..*op });
    }

    fn wait_list(&mut self, at: u32, op: &Op, without_wait: &FxHashSet<u32>) {
        let first = self.to.lists.len();
        for started in self.from.list(op.arg, op.size as u32) {
            if !without_wait.contains(started) {
                let position = self.positions[*started as usize];
                self.failed |= position == u32::MAX;
                self.to.lists.push(position);
            }
        }
        let count = self.to.lists.len() - first;
        if count > 0 {
            self.push(at, Op { arg: first as u32, size: count as u64, ..*op });
        }
    }

    fn insert(&mut self, insert: &Insert) {
        match insert.new {
            InsertedOp::Post(op) => {
                self.positions[insert.of as usize] = self.to.ops.len() as u32;
                self.push(insert.of, op);
            }
            InsertedOp::Wait => self.wait(insert.of, &Op::wait(0), insert.of),
            InsertedOp::Op(op) => self.push(insert.of, op),
        }
    }
}

#[cfg(test)]
mod tests;
