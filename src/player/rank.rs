//! Ranks whose operations are a sequence: calls of MPI, one after the other.

use super::ActivityKind as Kind;
use super::background::is_background;
use super::state::{COLLECTIVE, Done, Event, Frame, Player, Request, STEP, State};
use crate::ids::RankId;
use crate::units::Time;
use crate::workload::program::{ANY_TAG, Action, Communicator, Envelope, Op, OpKind};

impl Player<'_> {
    /// The operation with this key: of the program, or a step of a collective.
    pub(super) fn op(&self, rank: RankId, key: u32) -> Option<Op> {
        if key & STEP == 0 {
            return self.program.rank(rank).ops.get(key as usize).copied();
        }
        if is_background(key) {
            return self.ranks[rank].strands.iter().find_map(|strand| strand.step(key));
        }
        self.ranks[rank].frame.as_ref()?.steps.get((key & !STEP) as usize).copied()
    }

    /// Takes the next operation; `None` at the end.
    fn next_op(&mut self, rank: RankId) -> Option<(u32, Op)> {
        let state = &mut self.ranks[rank];
        if let Some(frame) = &mut state.frame {
            if let Some(&op) = frame.steps.get(frame.next as usize) {
                let key = frame.next | STEP;
                frame.next += 1;
                return Some((key, op));
            }
            state.frame = None;
        }
        self.pass_marks(rank);
        let state = &mut self.ranks[rank];
        let key = state.next;
        let op = *self.program.rank(rank).ops.get(key as usize)?;
        state.next += 1;
        Some((key, op))
    }

    /// A rank goes on until something takes time.
    pub(super) fn advance(&mut self, rank: RankId) {
        loop {
            let Some((key, op)) = self.next_op(rank) else {
                let state = &mut self.ranks[rank];
                state.state = State::Ended;
                state.times.end = self.now;
                return;
            };
            self.events += 1;
            self.ranks[rank].since = self.now;
            if !self.begin(rank, key, op) {
                return;
            }
        }
    }

    /// Starts an operation; whether the rank may go on at once.
    fn begin(&mut self, rank: RankId, key: u32, op: Op) -> bool {
        let tag = self.ranks[rank].frame.as_ref().map_or(0, |frame| frame.tag);
        let inside = |envelope: Envelope| match key & STEP {
            0 => envelope,
            _ => Envelope { comm: envelope.comm | COLLECTIVE, tag, ..envelope },
        };
        match op.action() {
            Action::Calc(time) => {
                let time = Time::from_ps(time.ps() / self.cpu_speed);
                self.busy(rank, key, time, Kind::Compute)
            }
            Action::Send { nonblocking, to, bytes } => {
                let wait = if op.is_within_call() { Time::ZERO } else { self.costs.wait_send };
                self.ranks[rank].requests.insert(key, Request { sends: true, wait, done: None });
                self.start_send(rank, key, inside(to), bytes);
                if nonblocking {
                    return self.busy(rank, key, self.costs.message(bytes).isend, Kind::SendOverhead);
                }
                self.ranks[rank].state = State::Blocked(key);
                false
            }
            Action::Recv { nonblocking, from, bytes } => {
                let costs = self.costs.message(bytes);
                let wait = if op.is_within_call() { Time::ZERO } else { costs.wait_recv };
                self.ranks[rank].requests.insert(key, Request { sends: false, wait, done: None });
                self.start_recv(rank, key, inside(from));
                if nonblocking {
                    let time = if op.is_within_call() { Time::ZERO } else { costs.irecv };
                    return self.busy(rank, key, time, Kind::RecvOverhead);
                }
                self.ranks[rank].state = State::Blocked(key);
                false
            }
            Action::Probe(_) => self.probe(rank, key),
            Action::Test(started) => {
                let started = started | key & STEP;
                if self.ranks[rank].requests.get(&started).is_some_and(|request| request.done.is_some()) {
                    self.ranks[rank].requests.remove(&started);
                }
                self.busy(rank, key, self.costs.handshake, Kind::RecvOverhead)
            }
            Action::Wait(_) | Action::WaitList { .. } => {
                self.ranks[rank].state = State::Waiting { op: key, done: 0, last: self.now };
                self.go_on_waiting(rank)
            }
            Action::Collective(number) => {
                let (steps, tag) = self.steps_of(rank, number);
                self.ranks[rank].frame = Some(Box::new(Frame { steps, next: 0, tag }));
                true
            }
            Action::Icollective(number) => self.start_background(rank, key, number),
        }
    }

    /// The rank is busy for a while; whether it may go on at once.
    pub(super) fn busy(&mut self, rank: RankId, key: u32, time: Time, kind: Kind) -> bool {
        if time <= Time::ZERO {
            return true;
        }
        self.spent(rank, kind, (self.now, self.now + time), key, None);
        self.ranks[rank].state = State::Busy;
        self.timers.set(self.now + time, Event::Resume(rank));
        false
    }

    /// The steps of a collective that a rank calls now, and the tag of their messages.
    pub(super) fn steps_of(&mut self, rank: RankId, number: u32) -> (Vec<Op>, u32) {
        let collective = &self.program.collectives[number as usize];
        let group: &Communicator = &self.program.communicators[collective.comm as usize];
        let mut steps = Vec::new();
        if let (Some(expand), Some(me)) = (self.expand, group.rank_of(rank)) {
            expand.steps(collective, group, me, &mut steps);
        }
        if !self.background {
            return (steps, 0);
        }
        let calls = self.ranks[rank].calls.entry(collective.comm).or_default();
        // The largest stands for any tag.
        *calls = (*calls + 1) % ANY_TAG;
        (steps, *calls)
    }

    /// Looks for a message; whether the rank may go on at once.
    pub(super) fn probe(&mut self, rank: RankId, key: u32) -> bool {
        let Some(op) = self.op(rank, key) else { return true };
        let blocked = matches!(self.ranks[rank].state, State::Probing(_));
        let Some(message) = self.mailboxes[rank].peek(op.envelope()) else {
            self.ranks[rank].state = State::Probing(key);
            return false;
        };
        let since = self.ranks[rank].since;
        let found = self.messages.get(message);
        let other = Some((found.number, found.src));
        self.spent(rank, Kind::RecvWait, (since, self.now), key, other);
        let goes_on = self.busy(rank, key, self.costs.handshake, Kind::RecvOverhead);
        if goes_on && blocked {
            self.resume_at(rank, self.now);
        }
        goes_on
    }

    /// What a rank has started is done.
    pub(super) fn request_done(&mut self, rank: RankId, key: u32, done: Done) {
        if is_background(key) {
            return self.background_done(rank, key, done);
        }
        let state = &mut self.ranks[rank];
        let Some(request) = state.requests.get_mut(&key) else { return };
        request.done = Some(done);
        let goes_on = match state.state {
            State::Blocked(waited) if waited == key => {
                let sends = request.sends;
                let since = state.since;
                state.requests.remove(&key);
                self.divide(rank, key, since, &done, sends);
                true
            }
            State::Waiting { .. } => self.go_on_waiting(rank),
            _ => false,
        };
        if goes_on {
            self.advance(rank);
        }
    }

    /// Books the time of a call from `since` to its end.
    fn divide(&mut self, rank: RankId, key: u32, since: Time, done: &Done, sends: bool) {
        let kinds = if sends {
            [Kind::Sync, Kind::SendWait, Kind::Sync, Kind::SendOverhead]
        } else {
            [Kind::RecvWait, Kind::Sync, Kind::RecvWait, Kind::RecvOverhead]
        };
        let mut begin = since;
        for (kind, end) in kinds.into_iter().zip(done.marks.into_iter().chain([done.end])) {
            self.spent(rank, kind, (begin, end), key, done.other);
            begin = begin.max(end);
        }
    }

    /// Takes the next request of a wait, if it is done.
    ///
    /// A wait that is called at tw for what was started at ti ends at `max(ti + Tblk, tw + o)`: when the request is done, but not
    /// before the wait itself has taken its time. A wait for several is one wait after another.
    fn take(&mut self, rank: RankId, wait: u32, key: u32, last: Time) -> Option<Time> {
        let free = self.op(rank, wait).is_some_and(|op| op.is_within_call());
        // A request that a test has found done, or that a wait for any has taken before, is not there any more.
        let Some(request) = self.ranks[rank].requests.get(&key).copied() else { return Some(last) };
        let done = request.done?;
        self.ranks[rank].requests.remove(&key);
        let least = if free { last } else { last + request.wait };
        self.divide(rank, key, last, &done, request.sends);
        let end = done.end.max(least);
        let kind = if request.sends { Kind::SendOverhead } else { Kind::RecvOverhead };
        self.spent(rank, kind, (done.end.max(last), end), key, done.other);
        Some(end)
    }

    /// Goes on with a wait; whether the rank may go on at once.
    fn go_on_waiting(&mut self, rank: RankId) -> bool {
        let State::Waiting { op: wait, done, last } = self.ranks[rank].state else { return false };
        let Some(op) = self.op(rank, wait) else { return false };
        let step = wait & STEP;
        let program = self.program;
        let list: &[u32] = match op.action() {
            Action::WaitList { first, count, .. } => program.rank(rank).list(first, count),
            Action::Wait(started) => {
                return match self.take(rank, wait, started | step, last) {
                    Some(end) => self.waited(rank, end),
                    None => false,
                };
            }
            _ => return false,
        };
        match op.kind {
            OpKind::Waitall => {
                let (mut done, mut last) = (done, last);
                while let Some(&started) = list.get(done as usize) {
                    let Some(end) = self.take(rank, wait, started | step, last) else {
                        self.ranks[rank].state = State::Waiting { op: wait, done, last };
                        return false;
                    };
                    (done, last) = (done + 1, end);
                }
                self.waited(rank, last)
            }
            _ => {
                let is_there = |player: &Self, key: u32| {
                    player.ranks[rank].requests.get(&(key | step)).map(|request| request.done.map(|done| done.end))
                };
                let active = list.iter().filter(|key| is_there(self, **key).is_some()).count();
                let mut ready: Vec<(Time, u32)> =
                    list.iter().filter_map(|key| is_there(self, *key).flatten().map(|end| (end, *key))).collect();
                if active > 0 && ready.is_empty() {
                    return false;
                }
                ready.sort_unstable();
                if op.kind == OpKind::Waitany {
                    ready.truncate(1);
                }
                let mut last = last;
                for (_, key) in ready {
                    last = self.take(rank, wait, key | step, last).unwrap_or(last);
                }
                self.waited(rank, last)
            }
        }
    }

    /// A wait is over at `end`; whether the rank may go on at once.
    fn waited(&mut self, rank: RankId, end: Time) -> bool {
        self.ranks[rank].state = State::Busy;
        if end <= self.now {
            return true;
        }
        self.timers.set(end, Event::Resume(rank));
        false
    }

    fn resume_at(&mut self, rank: RankId, time: Time) {
        self.ranks[rank].state = State::Busy;
        self.timers.set(time, Event::Resume(rank));
    }
}
