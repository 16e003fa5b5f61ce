//! Collective operations that go on while their ranks do something else.
//!
//! A call that only starts a collective operation makes a *strand*: its steps are played one after the other as the rank itself would
//! play them, from now on and at the same costs, but they take none of the rank's time, like everything that a non-blocking
//! call starts. The call takes what starting a message without bytes takes, the wait for it no less than a wait for a send:
//! ```text
//! the rank goes on at  tw' = max(when the last step is done, tw + o)     tw: when the wait is called
//! ```
//! What is combined on the way is combined in the background too, as by a thread that makes progress; a library that
//! moves on only inside calls is slower.
//!
//! Several strands of a rank go on side by side. Ranks call the collectives of a communicator in one order, so its n-th call
//! is the same operation everywhere, and n in the envelope keeps its messages apart from those of the others. Whether a rank does such an
//! operation at once or starts it and waits later makes no difference to the others.

use super::ActivityKind as Kind;
use super::state::{COLLECTIVE, Done, Event, Player, Request, STEP, State};
use crate::ids::RankId;
use crate::units::Time;
use crate::workload::program::{Action, Envelope, Op};

/// Keys of steps of strands, above those of the collective that a rank is in.
const STRANDS: u32 = STEP | 1 << 28;

/// A collective operation that goes on in the background.
#[derive(Debug)]
pub(super) struct Strand {
    /// The operation of the program that started it.
    pub op: u32,
    /// The key of its first step; those of the others follow.
    first: u32,
    steps: Vec<Op>,
    next: u32,
    tag: u32,
    doing: Doing,
    /// The last message that it took, and from whom.
    last: Option<(u32, RankId)>,
}

/// What a strand is about.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Doing {
    /// A timer will let it go on.
    Busy,
    /// It waits for this request, of its own blocking step.
    Blocked(u32),
    /// It waits for this request since then; for nothing.
    Waiting { request: u32, since: Time, free: bool },
}

impl Strand {
    fn has(&self, key: u32) -> bool {
        key.checked_sub(self.first).is_some_and(|step| (step as usize) < self.steps.len())
    }

    /// The step with this key.
    pub fn step(&self, key: u32) -> Option<Op> {
        self.steps.get(key.checked_sub(self.first)? as usize).copied()
    }

    /// The request that it waits for.
    pub fn waits_for(&self) -> Option<u32> {
        match self.doing {
            Doing::Busy => None,
            Doing::Blocked(request) | Doing::Waiting { request, .. } => Some(request),
        }
    }
}

/// Whether a key is that of a step in the background.
#[inline]
pub(super) fn is_background(key: u32) -> bool {
    key >= STRANDS
}

impl Player<'_> {
    /// The rank starts a collective operation; whether it may go on at once.
    pub(super) fn start_background(&mut self, rank: RankId, key: u32, number: u32) -> bool {
        let (steps, tag) = self.steps_of(rank, number);
        let state = &mut self.ranks[rank];
        state.requests.insert(key, Request { sends: false, wait: self.costs.wait_send, done: None });
        state.state = State::Busy;
        // Keys may be used again once nothing goes on.
        let end = state.strands.iter().map(|strand| strand.first + strand.steps.len() as u32).max();
        let first = end.unwrap_or(STRANDS);
        state.strands.push(Strand { op: key, first, steps, next: 0, tag, doing: Doing::Busy, last: None });
        self.run_background(rank, key);
        self.busy(rank, key, self.costs.message(0).isend, Kind::SendOverhead)
    }

    /// A strand goes on until something takes time.
    pub(super) fn run_background(&mut self, rank: RankId, of: u32) {
        loop {
            let strands = &mut self.ranks[rank].strands;
            let Some(at) = strands.iter().position(|strand| strand.op == of) else { return };
            let strand = &mut strands[at];
            let Some(&op) = strand.steps.get(strand.next as usize) else {
                let other = strand.last;
                strands.swap_remove(at);
                self.request_done(rank, of, Done { marks: [self.now; 3], end: self.now, other });
                return;
            };
            let (first, key, tag) = (strand.first, strand.first + strand.next, strand.tag);
            strand.next += 1;
            strand.doing = Doing::Busy;
            self.events += 1;
            let inside = |envelope: Envelope| Envelope { comm: envelope.comm | COLLECTIVE, tag, ..envelope };
            let within = op.is_within_call();
            let time = match op.action() {
                Action::Calc(time) => Time::from_ps(time.ps() / self.cpu_speed),
                Action::Send { nonblocking, to, bytes } => {
                    let wait = if within { Time::ZERO } else { self.costs.wait_send };
                    self.ranks[rank].requests.insert(key, Request { sends: true, wait, done: None });
                    if !nonblocking {
                        self.ranks[rank].strands[at].doing = Doing::Blocked(key);
                    }
                    self.start_send(rank, key, inside(to), bytes);
                    if !nonblocking {
                        return;
                    }
                    self.costs.message(bytes).isend
                }
                Action::Recv { nonblocking, from, bytes } => {
                    let costs = self.costs.message(bytes);
                    let wait = if within { Time::ZERO } else { costs.wait_recv };
                    self.ranks[rank].requests.insert(key, Request { sends: false, wait, done: None });
                    if !nonblocking {
                        self.ranks[rank].strands[at].doing = Doing::Blocked(key);
                    }
                    self.start_recv(rank, key, inside(from));
                    if !nonblocking {
                        return;
                    }
                    if within { Time::ZERO } else { costs.irecv }
                }
                Action::Wait(started) => {
                    let request = first + started;
                    self.ranks[rank].strands[at].doing = Doing::Waiting { request, since: self.now, free: within };
                    match self.background_waited(rank, at) {
                        Some(end) => end - self.now,
                        None => return,
                    }
                }
                // Steps are nothing else.
                _ => Time::ZERO,
            };
            if time > Time::ZERO {
                self.timers.set(self.now + time, Event::Background(rank, of));
                return;
            }
        }
    }

    /// When the wait of a strand is over; `None`: not yet.
    fn background_waited(&mut self, rank: RankId, at: usize) -> Option<Time> {
        let state = &mut self.ranks[rank];
        let Doing::Waiting { request, since, free } = state.strands[at].doing else { return Some(self.now) };
        let Some(&found) = state.requests.get(&request) else { return Some(self.now) };
        let done = found.done?;
        state.requests.remove(&request);
        state.strands[at].doing = Doing::Busy;
        let least = if free { since } else { since + found.wait };
        Some(done.end.max(least).max(self.now))
    }

    /// What a strand has started is done.
    pub(super) fn background_done(&mut self, rank: RankId, key: u32, done: Done) {
        let state = &mut self.ranks[rank];
        let Some(at) = state.strands.iter().position(|strand| strand.has(key)) else { return };
        let Some(request) = state.requests.get_mut(&key) else { return };
        request.done = Some(done);
        let of = state.strands[at].op;
        if !request.sends {
            state.strands[at].last = done.other;
        }
        match state.strands[at].doing {
            Doing::Blocked(request) if request == key => {
                state.requests.remove(&key);
                self.run_background(rank, of);
            }
            Doing::Waiting { request, .. } if request == key => match self.background_waited(rank, at) {
                Some(end) if end > self.now => self.timers.set(end, Event::Background(rank, of)),
                Some(_) => self.run_background(rank, of),
                None => {}
            },
            _ => {}
        }
    }
}
