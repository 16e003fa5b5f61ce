//! Calls of a task with their messages, in the order of their times.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::joint::Joints;
use super::records::{Called, Message, Task};
use crate::trace::calls::{Call, CallKind, Calls, Communicator, Event, Header, Item, ItemError};

/// A message on its way, by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Sends,
    Receives,
}

/// Maker of the calls of all tasks.
pub(super) struct Emitter<'a> {
    tasks: u32,
    /// Members of each communicator, by number.
    communicators: &'a BTreeMap<u64, Vec<u32>>,
    world: Vec<u32>,
    joints: &'a Joints,
    messages: &'a [Message],
    /// Ends of messages by task and time: twice the number of the message, and one more at its receiver.
    ends: Vec<usize>,
}

/// State of a task.
#[derive(Default)]
struct State {
    /// Requests made so far.
    requests: u64,
    /// Requests of sends and collectives that no call has completed, oldest first.
    open: VecDeque<u64>,
    /// Receives under way: time of their completion, request.
    receives: BTreeSet<(u64, u64)>,
    /// Collectives so far, by communicator.
    collectives: FxHashMap<u64, usize>,
}

/// Ends of messages: call, end and number, by call.
type MessagesByCall = Vec<(usize, End, usize)>;

impl State {
    fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

/// Returns task, time, kind and message of an end.
fn end_of(messages: &[Message], end: usize) -> (u32, u64, End, usize) {
    let Message { from, to, sent, received, .. } = messages[end / 2];
    match end % 2 {
        0 => (from, sent, End::Sends, end / 2),
        _ => (to, received, End::Receives, end / 2),
    }
}

impl<'a> Emitter<'a> {
    pub fn new(
        tasks: u32,
        communicators: &'a BTreeMap<u64, Vec<u32>>,
        joints: &'a Joints,
        messages: &'a [Message],
    ) -> Self {
        let mut ends: Vec<usize> = (0..2 * messages.len()).collect();
        ends.sort_unstable_by_key(|&end| end_of(messages, end));
        Self { tasks, communicators, world: (0..tasks).collect(), joints, messages, ends }
    }

    /// Passes on the calls of a task. An error has its line.
    pub fn task(&self, me: u32, task: Task, calls: &mut impl Calls) -> Result<(), (u64, ItemError)> {
        let at = |line: u64| move |wrong: ItemError| (line, wrong);
        let header = Header::new(me, self.tasks);
        calls.item(me, 0, Item::Header(&header)).map_err(at(0))?;
        let mut indices: FxHashMap<u64, u32> = FxHashMap::default();
        for (&number, members) in self.communicators {
            // A communicator of all ranks is the world, whatever its number.
            if *members == self.world || members.binary_search(&me).is_err() && !members.contains(&me) {
                continue;
            }
            let index = indices.len() as u32 + 1;
            indices.insert(number, index);
            let id = number.saturating_add(1);
            // Each task has one of its own under a number of its own.
            let communicator = Communicator { id, members: members.clone(), remote: Vec::new() };
            calls.item(me, 0, Item::Communicator(index, &communicator)).map_err(at(0))?;
        }
        let (all, of_calls) = self.with_messages(me, task.calls);
        let mut state = State::default();
        let mut sorted: Vec<usize> = (0..all.len()).collect();
        // In the order in which calls returned, as several threads of a rank are recorded.
        sorted.sort_by_key(|&call| (all[call].end, all[call].begin));
        let (mut events, mut whole) = (0, false);
        for call in sorted {
            let called = &all[call];
            let first = of_calls.partition_point(|&(of, ..)| of < call);
            let ends = of_calls[first..].partition_point(|&(of, ..)| of == call);
            for mut event in self.events(me, called, &of_calls[first..first + ends], &mut state) {
                event.thread = called.thread;
                event.comm = indices.get(&called.comm).copied().unwrap_or(0);
                calls.item(me, called.line, Item::Event(&event)).map_err(at(called.line))?;
                events += 1;
            }
            whole |= called.call == Call::Finalize;
        }
        match whole {
            true => calls.item(me, 0, Item::End { events, lost: 0 }).map_err(at(0)),
            false => Ok(()),
        }
    }

    /// Returns all calls, with those of messages outside of calls, and the messages of each.
    fn with_messages(&self, me: u32, mut all: Vec<Called>) -> (Vec<Called>, MessagesByCall) {
        let recorded = all.len();
        let mut of_calls = MessagesByCall::new();
        // By begin: calls of a thread do not overlap.
        let mut by_begin: Vec<usize> = (0..recorded).collect();
        by_begin.sort_by_key(|&call| all[call].begin);
        let first = self.ends.partition_point(|&end| end_of(self.messages, end).0 < me);
        let ends = self.ends[first..].iter().map(|&end| end_of(self.messages, end));
        for (_, time, end, message) in ends.take_while(|end| end.0 == me) {
            let after = by_begin.partition_point(|&call| all[call].begin <= time);
            let fits = |&&call: &&usize| {
                let Called { call, end: last, .. } = &all[call];
                time <= *last
                    && match (end, call.kind()) {
                        (_, CallKind::Sendrecv | CallKind::Start) => true,
                        (End::Sends, kind) => matches!(kind, CallKind::Send | CallKind::Isend),
                        (End::Receives, kind) => matches!(kind, CallKind::Recv | CallKind::Irecv),
                    }
            };
            // Calls of several threads can overlap, of which few do.
            let found = by_begin[after.saturating_sub(8)..after].iter().rfind(fits).copied();
            let call = found.unwrap_or_else(|| {
                let Message { arrived, line, .. } = self.messages[message];
                let (call, end) = match end {
                    End::Sends => (Call::Send, time),
                    End::Receives => (Call::Recv, arrived.max(time)),
                };
                let none = (0, 0, false, 0);
                let (sent, received, is_root, comm) = none;
                all.push(Called { call, thread: 0, begin: time, end, line, sent, received, is_root, comm });
                all.len() - 1
            });
            of_calls.push((call, end, message));
        }
        of_calls.sort_by_key(|&(call, ..)| call);
        (all, of_calls)
    }

    /// Returns the events of a call.
    fn events(&self, me: u32, called: &Called, ends: &[(usize, End, usize)], state: &mut State) -> Vec<Event> {
        let new = |call| Event::new(call, called.begin, called.end);
        let message = |call: Call, end: End, message: usize| {
            let Message { from, to, bytes, tag, .. } = self.messages[message];
            let peer = if end == End::Sends { to } else { from };
            Event { peer: peer as i32, tag, bytes, ..new(call) }
        };
        match called.call.kind() {
            CallKind::Sendrecv => {
                let mut event = Event { peer: Event::PROC_NULL, peer2: Event::PROC_NULL, ..new(called.call) };
                for &(_, end, at) in ends {
                    let Event { peer, tag, bytes, .. } = message(called.call, end, at);
                    match end {
                        End::Sends => (event.peer, event.tag, event.bytes) = (peer, tag, bytes),
                        End::Receives => (event.peer2, event.tag2, event.bytes2) = (peer, tag, bytes),
                    }
                }
                vec![event]
            }
            CallKind::Send | CallKind::Recv | CallKind::Isend | CallKind::Irecv | CallKind::Start => {
                let starts = called.call.kind() == CallKind::Start;
                let one = |state: &mut State, &(_, end, at): &(usize, End, usize)| {
                    let call = match end {
                        _ if !starts => called.call,
                        End::Sends => Call::Isend,
                        End::Receives => Call::Irecv,
                    };
                    let mut event = message(call, end, at);
                    if call.makes_request() {
                        let request = state.request();
                        event.requests = vec![request];
                        match end {
                            End::Sends => state.open.push_back(request),
                            End::Receives => drop(state.receives.insert((self.messages[at].arrived, request))),
                        }
                    }
                    event
                };
                let events: Vec<Event> = ends.iter().map(|end| one(state, end)).collect();
                if !events.is_empty() || starts {
                    return events;
                }
                // A call without a message has no partner; its request is complete when it is made.
                let mut event = Event { peer: Event::PROC_NULL, ..new(called.call) };
                if called.call.makes_request() {
                    event.requests = vec![state.request()];
                }
                vec![event]
            }
            CallKind::Wait | CallKind::WaitAny | CallKind::Test => {
                let mut event = new(called.call);
                let done = state.receives.extract_if((called.begin, 0)..=(called.end, u64::MAX), |_| true);
                event.requests = done.map(|(_, request)| request).collect();
                event.requests.sort_unstable();
                let is_test = called.call.kind() == CallKind::Test;
                if called.call == Call::Waitall {
                    event.requests.extend(state.open.drain(..));
                } else if event.requests.is_empty() && !is_test {
                    event.requests.extend(state.open.pop_front());
                }
                vec![event]
            }
            CallKind::Collective | CallKind::Icollective => {
                let mut event = new(called.call);
                let at = state.collectives.entry(called.comm).or_default();
                let members = self.communicators.get(&called.comm).unwrap_or(&self.world);
                self.joints.fill(called, *at, me, members, &mut event);
                *at += 1;
                if called.call.makes_request() {
                    let request = state.request();
                    event.requests = vec![request];
                    state.open.push_back(request);
                }
                vec![event]
            }
            _ => vec![new(called.call)],
        }
    }
}
