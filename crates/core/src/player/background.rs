//! Collective operations in the background: they continue while their ranks do something else.
//!
//! A call that only starts a collective operation makes a *strand*. Its steps are played one after the other
//! as the rank itself would play them, from the call on and at the same costs. But they take none of the
//! rank's time, like everything that a non-blocking call starts. The call takes the time of starting an empty
//! message, and the wait for it at least the time of a wait for a send:
//! ```text
//! the rank continues at  tw' = max(end of the last step, tw + o)     tw: time at which the wait is called
//! ```
//! Data are combined in the background too, as by a progress thread; a library that progresses only inside
//! calls is slower.
//!
//! Several strands of a rank run side by side. Ranks call the collectives of a communicator in one order, so
//! its n-th call is the same operation everywhere, and n in the envelope keeps its messages apart from those
//! of other calls. It makes no difference to other ranks if a rank calls such an operation at once, or starts
//! it and waits later.

use super::activity::ActivityKind;
use super::clock::Event;
use super::keys::{COLLECTIVE, STRANDS};
use super::protocol::CallEnd;
use super::runtime::Runtime;
use super::sequence::{Request, Sequence};
use super::strand::{Strand, StrandState};
use super::thread::State;
use crate::program::{Action, Envelope};
use crate::units::Time;

impl Sequence {
    /// Starts a collective operation in the background. Returns true if the rank can continue at once.
    pub(super) fn start_background(&mut self, key: u32, number: u32, runtime: &mut Runtime<'_>) -> bool {
        let (steps, tag) = self.steps_of(number, runtime);
        let wait = runtime.protocol.costs().wait_send;
        self.requests.insert(key, Request { sends: false, wait, done: None });
        self.at.state = State::Busy;
        // Keys may be used again once no strand is left.
        let first = self.strands.iter().map(Strand::end).max().unwrap_or(STRANDS);
        self.strands.push(Strand::new(key, first, steps, tag));
        self.run_background(key, runtime);
        self.busy(key, runtime.protocol.costs().message(0).isend, ActivityKind::SendOverhead, runtime)
    }

    /// Continues a strand until a step takes time.
    pub(super) fn run_background(&mut self, of: u32, runtime: &mut Runtime<'_>) {
        loop {
            let Some(at) = self.strands.iter().position(|strand| strand.op == of) else { return };
            let strand = &mut self.strands[at];
            let Some((key, op)) = strand.take_step() else {
                let (now, other) = (runtime.now(), strand.last);
                self.strands.swap_remove(at);
                self.request_done(of, CallEnd { marks: [now; 3], worked: now, end: now, other }, runtime);
                return;
            };
            let tag = strand.tag;
            runtime.events += 1;
            let inside = |envelope: Envelope| Envelope { comm: envelope.comm | COLLECTIVE, tag, ..envelope };
            let within = op.is_within_call();
            let time = match op.action() {
                Action::Calc(time) => runtime.calculation(time),
                Action::Send { nonblocking, to, bytes } => {
                    let wait = if within { Time::ZERO } else { runtime.protocol.costs().wait_send };
                    self.requests.insert(key, Request { sends: true, wait, done: None });
                    if !nonblocking {
                        strand.state = StrandState::Blocked(key);
                    }
                    runtime.send(self.me, key, inside(to), op);
                    if !nonblocking {
                        return;
                    }
                    runtime.protocol.costs().message(bytes).isend
                }
                Action::Recv { nonblocking, from, bytes } => {
                    let costs = runtime.protocol.costs().message(bytes);
                    let wait = if within { Time::ZERO } else { costs.wait_recv };
                    self.requests.insert(key, Request { sends: false, wait, done: None });
                    if !nonblocking {
                        strand.state = StrandState::Blocked(key);
                    }
                    runtime.recv(self.me, key, inside(from));
                    if !nonblocking {
                        return;
                    }
                    if within { Time::ZERO } else { costs.irecv }
                }
                Action::Wait(started) => {
                    let request = strand.key(started);
                    strand.state = StrandState::Waiting { request, since: runtime.now(), free: within };
                    match self.background_waited(at, runtime.now()) {
                        Some(end) => end - runtime.now(),
                        None => return,
                    }
                }
                // There are no other kinds of steps.
                _ => Time::ZERO,
            };
            if time > Time::ZERO {
                let now = runtime.now();
                let end = match op.action() {
                    Action::Calc(_) => runtime.clock.computed(self.me, now, time),
                    // A wait ends when its request is done, whatever the processor.
                    Action::Wait(_) => now + time,
                    _ => runtime.clock.worked(self.me, now, time),
                };
                runtime.set(end, Event::Background(self.me, of));
                return;
            }
        }
    }

    /// Returns the end of a strand's wait; `None` if its request is not done yet.
    fn background_waited(&mut self, at: usize, now: Time) -> Option<Time> {
        let StrandState::Waiting { request, since, free } = self.strands[at].state else { return Some(now) };
        let Some(&found) = self.requests.get(&request) else { return Some(now) };
        let done = found.done?;
        self.requests.remove(&request);
        self.strands[at].state = StrandState::Busy;
        let least = if free { since } else { since + found.wait };
        Some(done.end.max(least).max(now))
    }

    /// Notes that a request of a strand is done, and continues the strand if it waits for it.
    pub(super) fn background_done(&mut self, key: u32, done: CallEnd, runtime: &mut Runtime<'_>) {
        let Some(at) = self.strands.iter().position(|strand| strand.has(key)) else { return };
        let Some(request) = self.requests.get_mut(&key) else { return };
        request.done = Some(done);
        let strand = &mut self.strands[at];
        let of = strand.op;
        if !request.sends {
            strand.last = done.other;
        }
        match strand.state {
            StrandState::Blocked(request) if request == key => {
                self.requests.remove(&key);
                self.run_background(of, runtime);
            }
            StrandState::Waiting { request, .. } if request == key => match self.background_waited(at, runtime.now()) {
                Some(end) if end > runtime.now() => runtime.set(end, Event::Background(self.me, of)),
                Some(_) => self.run_background(of, runtime),
                None => {}
            },
            _ => {}
        }
    }
}
