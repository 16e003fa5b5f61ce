//! Ranks whose operations are a sequence: calls of MPI, one after the other.

use rustc_hash::FxHashMap;

use super::activity::ActivityKind;
use super::clock::Event;
use super::keys::{COLLECTIVE, is_background, is_of_program};
use super::protocol::CallEnd;
use super::runtime::Runtime;
use super::strand::Strand;
use super::thread::{Frame, State, Thread};
use crate::ids::RankId;
use crate::program::{ANY_TAG, Action, Communicator, Envelope, Op, OpKind, Program};
use crate::units::Time;

/// A rank that makes one call after the other.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) me: RankId,
    /// Current thread.
    pub(super) at: Thread,
    /// Number of the current thread.
    pub(super) thread: u32,
    /// All threads by number, if there are several; the entry of the current thread is out of date.
    pub(super) others: Vec<Thread>,
    /// End of each finished operation that other threads wait for.
    pub(super) ended: FxHashMap<u32, Time>,
    /// Next border of a region.
    next_mark: u32,
    /// Requests that have been started and not waited for, by key.
    pub(super) requests: FxHashMap<u32, Request>,
    /// Collectives in the background.
    pub(super) strands: Vec<Strand>,
    /// Number of collectives called on each communicator; counted only if some run in the background.
    calls: FxHashMap<u32, u32>,
}

/// An operation that a rank has started and that a wait names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub sends: bool,
    /// Least duration of a wait for it.
    pub wait: Time,
    pub done: Option<CallEnd>,
}

impl Sequence {
    /// Creates a rank before its first call.
    pub fn new(me: RankId, threads: u32) -> Self {
        let several = if threads > 1 { threads } else { 0 };
        Self {
            me,
            at: Thread::default(),
            thread: 0,
            others: (0..several).map(|_| Thread::default()).collect(),
            ended: FxHashMap::default(),
            next_mark: 0,
            requests: FxHashMap::default(),
            strands: Vec::new(),
            calls: FxHashMap::default(),
        }
    }

    /// Returns the operation with this key: one of the program, or a step of a collective.
    pub fn op(&self, key: u32, program: &Program) -> Option<Op> {
        if is_of_program(key) {
            return program.rank(self.me).ops.get(key as usize).copied();
        }
        if is_background(key) {
            return self.strands.iter().find_map(|strand| strand.step(key));
        }
        self.at.frame.as_ref()?.step(key - self.base(key))
    }

    /// Returns the operation of the program that this key belongs to; inside a collective, the collective.
    pub fn in_program(&self, key: u32) -> u32 {
        self.at.in_program(key)
    }

    /// Continues the current thread until an operation takes time.
    pub fn advance(&mut self, runtime: &mut Runtime<'_>) {
        loop {
            let step = self.take_step();
            if step.is_none() && self.is_held(runtime) {
                return;
            }
            let Some((key, op)) = step.or_else(|| self.take_op(runtime)) else {
                self.at.state = State::Ended;
                runtime.ledger.ended(self.me, runtime.now());
                return;
            };
            runtime.events += 1;
            self.at.since = runtime.now();
            if !self.begin(key, op, runtime) {
                return;
            }
        }
    }

    /// Takes the next step of a collective; `None` at its end, and outside a collective.
    fn take_step(&mut self) -> Option<(u32, Op)> {
        let base = self.first_step();
        let frame = self.at.frame.as_mut()?;
        let Some(op) = frame.step(frame.next) else {
            self.at.frame = None;
            return None;
        };
        frame.next += 1;
        Some((base + frame.next - 1, op))
    }

    /// Takes the next operation; `None` at the end.
    fn take_op(&mut self, runtime: &mut Runtime<'_>) -> Option<(u32, Op)> {
        let program = runtime.program.rank(self.me);
        // Regions belong to the first thread.
        if runtime.ledger.watches_marks() && self.thread == 0 {
            // Borders of regions before the operation.
            for mark in program.marks[self.next_mark as usize..].iter().take_while(|mark| mark.at <= self.at.next) {
                self.next_mark += 1;
                runtime.ledger.mark(self.me, mark, runtime.clock.now());
            }
        }
        let key = self.at.next;
        let op = *program.ops.get(key as usize)?;
        self.at.next += 1;
        Some((key, op))
    }

    /// Starts an operation. Returns true if the rank can continue at once.
    fn begin(&mut self, key: u32, op: Op, runtime: &mut Runtime<'_>) -> bool {
        let tag = self.at.frame.as_ref().map_or(0, |frame| frame.tag);
        let inside = |envelope: Envelope| match is_of_program(key) {
            true => envelope,
            false => Envelope { comm: envelope.comm | COLLECTIVE, tag, ..envelope },
        };
        match op.action() {
            Action::Calc(time) => self.busy(key, runtime.calculation(time), ActivityKind::Compute, runtime),
            Action::Send { nonblocking, to, bytes } => {
                let wait = if op.is_within_call() { Time::ZERO } else { runtime.protocol.costs().wait_send };
                self.requests.insert(key, Request { sends: true, wait, done: None });
                runtime.send(self.me, key, inside(to), op);
                if nonblocking {
                    let time = runtime.protocol.costs().message(bytes).isend;
                    return self.busy(key, time, ActivityKind::SendOverhead, runtime);
                }
                self.at.state = State::Blocked(key);
                false
            }
            Action::Recv { nonblocking, from, bytes } => {
                let costs = runtime.protocol.costs().message(bytes);
                let (wait, start) = match op.is_within_call() {
                    true => (Time::ZERO, Time::ZERO),
                    false => (costs.wait_recv, costs.irecv),
                };
                self.requests.insert(key, Request { sends: false, wait, done: None });
                runtime.recv(self.me, key, inside(from));
                if nonblocking {
                    return self.busy(key, start, ActivityKind::RecvOverhead, runtime);
                }
                self.at.state = State::Blocked(key);
                false
            }
            Action::Probe(from) => self.probe(key, from, runtime),
            Action::Test(started) => {
                let started = started | self.base(key);
                if self.requests.get(&started).is_some_and(|request| request.done.is_some()) {
                    self.requests.remove(&started);
                }
                self.busy(key, runtime.protocol.costs().handshake, ActivityKind::RecvOverhead, runtime)
            }
            Action::Wait(_) | Action::WaitList { .. } => {
                self.at.state = State::Waiting { op: key, done: 0, last: runtime.now() };
                self.continue_wait(runtime)
            }
            Action::Collective(number) => {
                let (steps, tag) = self.steps_of(number, runtime);
                self.at.frame = Some(Box::new(Frame { steps, next: 0, tag }));
                true
            }
            Action::Icollective(number) => self.start_background(key, number, runtime),
        }
    }

    /// Keeps the rank busy for `time`. Returns true if the rank can continue at once.
    pub(super) fn busy(&mut self, key: u32, time: Time, kind: ActivityKind, runtime: &mut Runtime<'_>) -> bool {
        if time <= Time::ZERO {
            return true;
        }
        let now = runtime.now();
        let end = match kind {
            ActivityKind::Compute => runtime.clock.computed(self.me, now, time),
            _ => runtime.clock.worked(self.me, now, time),
        };
        self.spent(kind, (now, end), key, None, runtime);
        self.resume_at(end, runtime);
        false
    }

    /// Sets a timer that lets the thread continue.
    pub(super) fn resume_at(&mut self, time: Time, runtime: &mut Runtime<'_>) {
        self.at.state = State::Busy;
        runtime.set(time, Event::Resume(self.me, self.thread));
    }

    /// Books a span of its time.
    fn spent(
        &self,
        kind: ActivityKind,
        span: (Time, Time),
        key: u32,
        other: Option<(u32, RankId)>,
        runtime: &mut Runtime<'_>,
    ) {
        runtime.ledger.spent(self.me, kind, span, self.in_program(key), other);
    }

    /// Returns the steps of a collective that the rank calls now, and the tag of their messages.
    pub(super) fn steps_of(&mut self, number: u32, runtime: &Runtime<'_>) -> (Vec<Op>, u32) {
        let collective = &runtime.program.collectives[number as usize];
        let group: &Communicator = &runtime.program.communicators[collective.comm as usize];
        let mut steps = Vec::new();
        if let (Some(expand), Some(me)) = (runtime.expand, group.rank_of(self.me)) {
            expand.steps(collective, group, me, &mut steps);
        }
        if !runtime.background {
            return (steps, 0);
        }
        let calls = self.calls.entry(collective.comm).or_default();
        // The largest number means any tag.
        *calls = (*calls + 1) % ANY_TAG;
        (steps, *calls)
    }

    /// Notes that an unexpected message has arrived, which a probe may be waiting for.
    pub fn unexpected(&mut self, runtime: &mut Runtime<'_>) {
        for thread in self.numbers() {
            self.turn_to(thread);
            if let State::Probing(key) = self.at.state
                && let Some(op) = self.op(key, runtime.program)
                && self.probe(key, op.envelope(), runtime)
            {
                self.resume_at(runtime.now(), runtime);
            }
        }
    }

    /// Probes for a message. Returns true if the rank can continue at once.
    fn probe(&mut self, key: u32, from: Envelope, runtime: &mut Runtime<'_>) -> bool {
        let Some(other) = runtime.protocol.peek(self.me, from) else {
            self.at.state = State::Probing(key);
            return false;
        };
        self.spent(ActivityKind::RecvWait, (self.at.since, runtime.now()), key, Some(other), runtime);
        self.busy(key, runtime.protocol.costs().handshake, ActivityKind::RecvOverhead, runtime)
    }

    /// Notes that a request is done, and continues the threads that wait for it.
    pub fn request_done(&mut self, key: u32, done: CallEnd, runtime: &mut Runtime<'_>) {
        if is_background(key) {
            return self.background_done(key, done, runtime);
        }
        let Some(request) = self.requests.get_mut(&key) else { return };
        request.done = Some(done);
        let (sends, at_hand) = (request.sends, self.thread);
        for thread in self.numbers() {
            self.turn_to(thread);
            let goes_on = match self.at.state {
                State::Blocked(waited) if waited == key => {
                    self.requests.remove(&key);
                    self.divide(key, self.at.since, &done, sends, runtime);
                    true
                }
                State::Waiting { .. } => self.continue_wait(runtime),
                _ => false,
            };
            if goes_on {
                self.advance(runtime);
            }
        }
        self.turn_to(at_hand);
    }

    /// Books the time of a call from `since` to its end.
    fn divide(&self, key: u32, since: Time, done: &CallEnd, sends: bool, runtime: &mut Runtime<'_>) {
        use ActivityKind::{RecvOverhead, RecvWait, SendOverhead, SendWait, Sync};
        let kinds = match sends {
            true => [Sync, SendWait, Sync, SendOverhead, SendWait],
            false => [RecvWait, Sync, RecvWait, RecvOverhead, RecvWait],
        };
        let mut begin = since;
        for (kind, end) in kinds.into_iter().zip(done.marks.into_iter().chain([done.worked, done.end])) {
            self.spent(kind, (begin, end), key, done.other, runtime);
            begin = begin.max(end);
        }
    }

    /// Takes the next request of a wait, if it is done.
    ///
    /// A wait called at tw for a request started at ti ends at `max(ti + Tblk, tw + o)`: when the request is
    /// done, but not before the wait's own overhead is over. A wait for several is one wait after another.
    fn take(&mut self, wait: Op, key: u32, last: Time, runtime: &mut Runtime<'_>) -> Option<Time> {
        // A request that a test has found done, or that a wait for any has taken before, does not exist any
        // more.
        let Some(&request) = self.requests.get(&key) else { return Some(last) };
        let done = request.done?;
        self.requests.remove(&key);
        let least = match wait.is_within_call() {
            true => last,
            false => runtime.clock.worked(self.me, last, request.wait),
        };
        self.divide(key, last, &done, request.sends, runtime);
        let end = done.end.max(least);
        let kind = if request.sends { ActivityKind::SendOverhead } else { ActivityKind::RecvOverhead };
        self.spent(kind, (done.end.max(last), end), key, done.other, runtime);
        Some(end)
    }

    /// Continues a wait. Returns true if the rank can continue at once.
    fn continue_wait(&mut self, runtime: &mut Runtime<'_>) -> bool {
        let State::Waiting { op: wait, done, last } = self.at.state else { return false };
        let program = runtime.program;
        let Some(op) = self.op(wait, program) else { return false };
        let step = self.base(wait);
        let list: &[u32] = match op.action() {
            Action::WaitList { first, count, .. } => program.rank(self.me).list(first, count),
            Action::Wait(started) => {
                return match self.take(op, started | step, last, runtime) {
                    Some(end) => self.waited(end, runtime),
                    None => false,
                };
            }
            _ => return false,
        };
        if op.kind == OpKind::Waitall {
            let (mut done, mut last) = (done, last);
            while let Some(&started) = list.get(done as usize) {
                let Some(end) = self.take(op, started | step, last, runtime) else {
                    self.at.state = State::Waiting { op: wait, done, last };
                    return false;
                };
                (done, last) = (done + 1, end);
            }
            return self.waited(last, runtime);
        }
        let open = |key: &u32| self.requests.contains_key(&(key | step));
        let done = |key: &u32| Some((self.requests.get(&(key | step))?.done?.end, *key));
        let mut ready: Vec<(Time, u32)> = list.iter().filter_map(done).collect();
        if ready.is_empty() && list.iter().any(open) {
            return false;
        }
        ready.sort_unstable();
        if op.kind == OpKind::Waitany {
            ready.truncate(1);
        }
        let mut last = last;
        for (_, key) in ready {
            last = self.take(op, key | step, last, runtime).unwrap_or(last);
        }
        self.waited(last, runtime)
    }

    /// Ends a wait at `end`. Returns true if the rank can continue at once.
    fn waited(&mut self, end: Time, runtime: &mut Runtime<'_>) -> bool {
        self.at.state = State::Busy;
        if end <= runtime.now() {
            return true;
        }
        runtime.set(end, Event::Resume(self.me, self.thread));
        false
    }
}
