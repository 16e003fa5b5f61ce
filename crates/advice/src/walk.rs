//! Walk of all ranks together over a network that takes no time: matches sends with receives, and finds
//! waits.
//!
//! Every rank has a clock that counts its computation. A call that needs another rank sets it to the time at
//! which that rank arrived:
//! ```text
//! receive:                     t = max(t, ts)      ts: when the message was sent
//! send that waits (k > S):     t = max(t, tr)      tr: when the receive was posted
//! collective operation:        t = max over those it needs
//! ```
//! So no network can shorten a wait that remains: another rank was late. Its cause is the computation of that
//! rank, or the cause of that rank's own wait. Clocks of different hosts are never compared.
//!
//! [`hayase_trace::walk`] follows requests and matches sends with receives; a wildcard receive is recorded
//! with the source it got. The streams are read side by side, each until its rank waits.
//!
//! Memory: the messages under way and the requests not yet waited for. Cost: a look-up for each message.

use std::collections::VecDeque;
use std::io::Read;

use hayase_trace::walk::{Channel, Channels, Requests};
use hayase_trace::{Call, CallKind, Flags};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::stream::{Error, Step, Steps, TraceState};

/// End of a message, or a rank's part in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallEnd {
    /// Rank of this end.
    pub rank: u32,
    /// Event of the call.
    pub event: u64,
    /// Call that sends or receives.
    pub call: Call,
    /// Name of the call in the source.
    pub name: &'static str,
    /// Line of the call, as a number in the rank's table.
    pub line: u32,
    /// Time of the call \[ns\], by the rank's clock.
    pub time: u64,
    /// Payload \[B\].
    pub bytes: u64,
    /// Computation of the rank before the call.
    pub cause: Cause,
    /// Cause of the rank's last wait.
    pub inherited: Cause,
    /// Number of dependent messages up to this one.
    pub chain: u32,
}

/// Computation that made a rank late, between two of its calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cause {
    /// Rank that computes.
    pub rank: u32,
    /// Line of the call before the computation.
    pub from: u32,
    /// Line of the call after the computation.
    pub to: u32,
    /// Time since which the rank has not waited \[ns\].
    pub since: u64,
}

/// Wait of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Name of the call that waited.
    pub name: &'static str,
    /// Line of the call that waited.
    pub line: u32,
    /// Rank that waited.
    pub rank: u32,
    /// Event that began the communication.
    pub event: u64,
    /// Length of the wait \[ns\].
    pub time: u64,
    /// Cause of the wait.
    pub cause: Cause,
    /// End of the message that waited, and the end that was late; `None` for a collective operation.
    pub message: Option<(CallEnd, CallEnd)>,
}

/// Receiver of the events of a walk.
pub trait Watcher {
    /// Receives a message that met its receive.
    fn matched(&mut self, send: &CallEnd, receive: &CallEnd);

    /// Receives a wait of a rank.
    fn waited(&mut self, waited: &Wait);

    /// Receives a message that a rank has taken; `computed` is the rank's total computation so far \[ns\].
    fn taken(&mut self, rank: u32, computed: u64, send: &CallEnd, receive: &CallEnd);

    /// Receives the `ordinal`-th collective operation on a communicator, when all members have called it.
    fn collective_met(&mut self, comm: u64, ordinal: u64, members: &[CallEnd]);
}

/// Result of a walk of all ranks.
#[derive(Debug, Default)]
pub struct WalkResult {
    /// Clock of each rank at the end \[ns\].
    pub clocks: Vec<u64>,
    /// Ranks that still wait, with their events.
    pub stuck: Vec<(u32, u64)>,
    /// State of each rank's trace.
    pub known: Vec<TraceState>,
}

/// Operation that a rank may wait for.
#[derive(Clone, Copy, Debug)]
struct Operation {
    mine: CallEnd,
    /// Time of completion \[ns\], and the other end that completed it.
    done: Option<(u64, Option<CallEnd>)>,
    /// True for a receive; false for a send or a collective operation.
    receives: bool,
    /// Set if a rank waits for it.
    awaited: bool,
    /// Set if the request was freed, so that no rank will wait for it.
    forgotten: bool,
}

/// State of a rank during the walk.
struct Progress<'a, R: Read, M: Read> {
    steps: Steps<'a, R, M>,
    clock: u64,
    computed: u64,
    /// Line of the last call.
    line: u32,
    /// Time since which it has not waited, cause of its last wait, and its longest computation since then.
    since: u64,
    inherited: Cause,
    longest: (u64, u32, u32),
    chain: u32,
    requests: Requests<u32>,
    ordinals: FxHashMap<u64, u64>,
    /// Operations it waits for, and the waiting call.
    waits: SmallVec<[u32; 8]>,
    at: (&'static str, u32, u64),
    missing: usize,
    over: bool,
}

/// Message that a call sends or receives.
struct Post {
    /// Request that the message completes; `None` if the call itself waits.
    request: Option<u64>,
    sends: bool,
    channel: Channel,
    half: CallEnd,
    /// Set for a send that waits for its receiver.
    waits: bool,
}

/// Collective operation in which a call takes part.
struct CollectivePost {
    request: Option<u64>,
    comm: u64,
    ordinal: u64,
    half: CallEnd,
    size: u32,
    root: Option<u32>,
}

/// Walk of all ranks.
pub struct Walk<'a, 'w, R: Read, M: Read, W: Watcher> {
    ranks: Vec<Progress<'a, R, M>>,
    /// Unmatched sends, with their operation if they wait, and unmatched receives.
    channels: Channels<(CallEnd, Option<u32>), (CallEnd, u32)>,
    meetings: FxHashMap<(u64, u64), Vec<(CallEnd, u32)>>,
    operations: Vec<Option<Operation>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    eager: Option<u64>,
    watcher: &'w mut W,
}

/// Shortest computation that breaks a chain of messages, because latency no longer counts \[ns\].
const MIN_CHAIN_BREAK: u64 = 20_000;

impl<'a, 'w, R: Read, M: Read, W: Watcher> Walk<'a, 'w, R, M, W> {
    /// Creates a walk of these ranks, in order; messages larger than `eager` \[B\] wait for their receivers.
    pub fn new(steps: Vec<Steps<'a, R, M>>, eager: Option<u64>, watcher: &'w mut W) -> Self {
        let ready = (0..steps.len() as u32).collect();
        let rank = |steps| Progress {
            steps,
            clock: 0,
            computed: 0,
            line: 0,
            since: 0,
            inherited: Cause::default(),
            longest: (0, 0, 0),
            chain: 0,
            requests: Requests::default(),
            ordinals: FxHashMap::default(),
            waits: SmallVec::new(),
            at: ("", 0, 0),
            missing: 0,
            over: false,
        };
        let ranks = steps.into_iter().map(rank).collect();
        Self {
            ranks,
            channels: Channels::default(),
            meetings: FxHashMap::default(),
            operations: Vec::new(),
            free: Vec::new(),
            ready,
            eager,
            watcher,
        }
    }

    /// Walks to the end, or until every rank waits for something that never comes.
    ///
    /// # Errors
    /// A stream cannot be read.
    pub fn run(mut self) -> Result<WalkResult, Error> {
        while let Some(rank) = self.ready.pop_front() {
            self.advance(rank)?;
        }
        let stuck = self.ranks.iter().zip(0..).filter(|(rank, _)| !rank.over).map(|(rank, i)| (i, rank.at.2)).collect();
        let clocks = self.ranks.iter().map(|rank| rank.clock).collect();
        Ok(WalkResult { clocks, stuck, known: self.ranks.into_iter().map(|rank| rank.steps.finish()).collect() })
    }

    /// Advances a rank until it waits.
    fn advance(&mut self, me: u32) -> Result<(), Error> {
        loop {
            let state = &mut self.ranks[me as usize];
            let Some(Step { number, gap, event, known, .. }) = state.steps.next()? else {
                state.over = true;
                return Ok(());
            };
            let line = known.line(event);
            let gap = if event.call == Call::Init { 0 } else { gap };
            state.clock += gap;
            state.computed += gap;
            if gap > state.longest.0 {
                state.longest = (gap, state.line, line);
            }
            if gap > MIN_CHAIN_BREAK {
                state.chain = 0;
            }
            state.line = line;
            let own = state.longest;
            // Possible cause of later waits: the rank's longest computation since its last wait.
            let cause = Cause { rank: me, from: own.1, to: own.2, since: state.since };
            let (time, chain) = (state.clock, state.chain);
            let inherited = state.inherited;
            let name = event.name();
            let half = |call, bytes| CallEnd {
                rank: me,
                event: number,
                call,
                name,
                line,
                time,
                bytes,
                cause,
                inherited,
                chain,
            };
            let mut posts: SmallVec<[Post; 2]> = SmallVec::new();
            let mut part = None;
            for begun in state.requests.begun(event) {
                let (call, request) = (begun.call, begun.request_made());
                for end in begun.message_ends() {
                    let Some(channel) = known.communicators.channel(&begun, &end) else { continue };
                    let synchronous = matches!(call, Call::Ssend | Call::Issend | Call::SsendInit);
                    let buffered = matches!(call, Call::Bsend | Call::Ibsend | Call::BsendInit);
                    let waits = (synchronous || self.eager.is_some_and(|s| end.bytes > s)) && !buffered;
                    posts.push(Post { request, sends: end.sends, channel, half: half(call, end.bytes), waits });
                }
                let collective =
                    matches!(call.kind(), CallKind::Collective | CallKind::Icollective | CallKind::Communicator);
                if collective && !begun.flags.has(Flags::INTER) {
                    let comm = known.communicators.id(begun.comm);
                    let ordinal = state.ordinals.entry(comm).or_default();
                    let root = known.communicators.world(&begun, begun.peer);
                    let (half, size) = (half(call, begun.bytes), known.communicators.size(begun.comm));
                    part = Some(CollectivePost { request, comm, ordinal: *ordinal, half, size, root });
                    *ordinal += 1;
                }
            }
            let mut waits: SmallVec<[u32; 8]> = SmallVec::new();
            if event.call.completes_requests() {
                waits.extend(event.requests.iter().filter_map(|&request| state.requests.complete(request)));
            }
            let mut freed: SmallVec<[u32; 2]> = SmallVec::new();
            if event.call == Call::RequestFree {
                freed.extend(event.requests.iter().filter_map(|&request| state.requests.free(request)));
            }
            let mut begun: SmallVec<[(Option<u64>, u32); 2]> = SmallVec::new();
            for post in &posts {
                begun.push((post.request, self.post(post)));
            }
            if let Some(part) = &part {
                begun.push((part.request, self.meet(part)));
            }
            freed.iter().for_each(|&operation| self.forget(operation));
            let state = &mut self.ranks[me as usize];
            for &(request, operation) in &begun {
                match request {
                    Some(request) => state.requests.keep(request, operation),
                    None => waits.push(operation),
                }
            }
            state.at = (name, line, number);
            state.missing = 0;
            for &operation in &waits {
                if let Some(Some(operation)) = self.operations.get_mut(operation as usize)
                    && operation.done.is_none()
                {
                    operation.awaited = true;
                    state.missing += 1;
                }
            }
            state.waits = waits;
            if state.missing > 0 {
                return Ok(());
            }
            self.resume(me);
        }
    }

    fn add(&mut self, operation: Operation) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.operations[number as usize] = Some(operation);
                number
            }
            None => {
                self.operations.push(Some(operation));
                self.operations.len() as u32 - 1
            }
        }
    }

    fn post(&mut self, &Post { sends, channel, half: mine, waits, .. }: &Post) -> u32 {
        let done = (sends && !waits).then_some((mine.time, None));
        let number = self.add(Operation { mine, done, receives: !sends, awaited: false, forgotten: false });
        let met = match sends {
            true => self.channels.send(channel, (mine, waits.then_some(number))),
            false => self.channels.receive(channel, (mine, number)),
        };
        if let Some(((send, sender), (receive, receiver))) = met {
            self.watcher.matched(&send, &receive);
            self.complete(receiver, send.time.max(receive.time), Some(send));
            if let Some(sender) = sender {
                self.complete(sender, send.time.max(receive.time), Some(receive));
            }
        }
        number
    }

    fn meet(&mut self, &CollectivePost { comm, ordinal, half: mine, size, root, .. }: &CollectivePost) -> u32 {
        let number = self.add(Operation { mine, done: None, receives: false, awaited: false, forgotten: false });
        let meeting = self.meetings.entry((comm, ordinal)).or_default();
        meeting.push((mine, number));
        if meeting.len() < size as usize {
            return number;
        }
        let mut meeting = self.meetings.remove(&(comm, ordinal)).unwrap_or_default();
        meeting.sort_by_key(|(half, _)| half.rank);
        let halves: Vec<CallEnd> = meeting.iter().map(|(half, _)| *half).collect();
        self.watcher.collective_met(comm, ordinal, &halves);
        // A rank that receives from the root waits for the root, the root that receives from all waits for all, and
        // in other operations each rank waits for all.
        let last = halves.iter().copied().reduce(|a, b| if b.time > a.time { b } else { a });
        let of_root = halves.iter().copied().find(|half| Some(half.rank) == root);
        for (half, operation) in meeting {
            let needed = match half.call.blocking() {
                Call::Bcast | Call::Scatter | Call::Scatterv => of_root.or(last),
                Call::Reduce | Call::Gather | Call::Gatherv if Some(half.rank) != root => Some(half),
                _ => last,
            };
            let time = needed.map_or(half.time, |needed| needed.time.max(half.time));
            self.complete(operation, time, needed.filter(|needed| needed.rank != half.rank));
        }
        number
    }

    fn complete(&mut self, number: u32, time: u64, by: Option<CallEnd>) {
        let Some(Some(operation)) = self.operations.get_mut(number as usize) else { return };
        operation.done = Some((time, by));
        if operation.forgotten {
            self.forget(number);
            return;
        }
        if !operation.awaited {
            return;
        }
        let rank = operation.mine.rank;
        let state = &mut self.ranks[rank as usize];
        state.missing -= 1;
        if state.missing == 0 {
            self.resume(rank);
            self.ready.push_back(rank);
        }
    }

    /// Drops an operation that no rank waits for, now or when it is complete.
    fn forget(&mut self, number: u32) {
        let Some(operation) = self.operations.get_mut(number as usize) else { return };
        match operation {
            Some(under_way) if under_way.done.is_none() => under_way.forgotten = true,
            _ => {
                if operation.take().is_some() {
                    self.free.push(number);
                }
            }
        }
    }

    /// Resumes a rank when all operations it waits for are complete.
    fn resume(&mut self, me: u32) {
        let state = &mut self.ranks[me as usize];
        let waits = std::mem::take(&mut state.waits);
        let (name, line, _) = state.at;
        let before = state.clock;
        let mut last: Option<(u64, Operation, CallEnd)> = None;
        for &number in &waits {
            let Some(operation) = self.operations.get_mut(number as usize).and_then(Option::take) else { continue };
            self.free.push(number);
            let Some((time, by)) = operation.done else { continue };
            if let Some(by) = by {
                if operation.receives {
                    self.watcher.taken(me, state.computed, &by, &operation.mine);
                    // The receiver already waited for the message when it was sent: the chain continues.
                    if by.time >= operation.mine.time {
                        state.chain = state.chain.max(by.chain + 1);
                    }
                }
                if time > before && last.is_none_or(|(latest, ..)| time > latest) {
                    last = Some((time, operation, by));
                }
            }
            state.clock = state.clock.max(time);
        }
        if let Some((time, operation, by)) = last {
            let wait = time - before;
            // The other rank was late by its own work, or because it waited itself.
            let own = time.saturating_sub(by.cause.since.max(before));
            let cause = if 2 * own >= wait { by.cause } else { by.inherited };
            let is_message = !matches!(
                operation.mine.call.kind(),
                CallKind::Collective | CallKind::Icollective | CallKind::Communicator
            );
            let message = is_message.then_some((operation.mine, by));
            let event = operation.mine.event;
            self.watcher.waited(&Wait { name, line, rank: me, event, time: wait, cause, message });
            let state = &mut self.ranks[me as usize];
            (state.since, state.inherited, state.longest) = (time, cause, (0, line, line));
        }
    }
}
