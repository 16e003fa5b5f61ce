//! All ranks together, as if the network took no time: which send meets which receive, and who waits for whom.
//!
//! Every rank has a clock that counts its computation. A call that needs another rank sets it to when that one got there:
//! ```text
//! receive:                     t = max(t, ts)      ts: when the message was sent
//! send that waits (k > S):     t = max(t, tr)      tr: when the receive was posted
//! collective operation:        t = max over those it needs
//! ```
//! So every wait that remains is one that no network can shorten: another rank was not there yet. Its cause is the computation of that rank, or
//! whatever that rank waited for itself. Clocks of different hosts are never compared.
//!
//! The n-th send of a rank to another with one communicator and tag meets the n-th receive there, as MPI demands; receives from
//! anyone are recorded with whom they got. The streams are read side by side, each until it waits.
//!
//! Memory: the messages under way and the requests not yet waited for. Cost: a look-up for each message.

use std::collections::VecDeque;
use std::io::Read;

use hayase_trace::{Call, Event, Flags, Kind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::stream::{Error, Known, Step, Steps};

/// One end of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Half {
    /// The rank.
    pub rank: u32,
    /// Its event.
    pub event: u64,
    /// The call.
    pub call: Call,
    /// Its line, a number of the rank's table.
    pub line: u32,
    /// When \[ns\], by the rank's clock.
    pub time: u64,
    /// Payload \[B\].
    pub bytes: u64,
    /// The computation of the rank before it.
    pub cause: Cause,
    /// Why the rank waited last.
    pub inherited: Cause,
    /// How many messages hang on each other, up to this one.
    pub chain: u32,
}

/// Whose computation made a rank late, between which of its calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cause {
    /// The rank.
    pub rank: u32,
    /// Line of the call before the computation, of that rank.
    pub from: u32,
    /// Line of the call after it.
    pub to: u32,
    /// When the computation began to be all that the rank did \[ns\].
    pub since: u64,
}

/// A wait.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// Where it shows: the call that waited.
    pub call: Call,
    /// Its line.
    pub line: u32,
    /// Who waited.
    pub rank: u32,
    /// The event that waited, or began what was waited for.
    pub event: u64,
    /// How long \[ns\].
    pub time: u64,
    /// Why.
    pub cause: Cause,
    /// The end of the message that waited, and the one that came late; none of a collective operation.
    pub message: Option<(Half, Half)>,
}

/// Hears what happens.
pub trait Watcher {
    /// A message found its receive.
    fn matched(&mut self, send: &Half, receive: &Half);

    /// A rank has waited.
    fn waited(&mut self, waited: &Waited);

    /// A rank has taken a message, after so much computation of its own in all.
    fn taken(&mut self, rank: u32, computed: u64, send: &Half, receive: &Half);

    /// All members of a communicator are in the `ordinal`-th collective operation on it: rank and event of each.
    fn met(&mut self, comm: u64, ordinal: u64, members: &[Half]);
}

/// What a walk of all ranks says at its end.
#[derive(Debug, Default)]
pub struct Walked {
    /// By rank, its clock \[ns\].
    pub clocks: Vec<u64>,
    /// By rank, the event at which it still waits.
    pub stuck: Vec<(u32, u64)>,
    /// By rank, what is known of it.
    pub known: Vec<Known>,
}

type Key = (u64, u32, u32, i32);

/// An operation that a rank may wait for.
#[derive(Clone, Copy, Debug)]
struct Operation {
    mine: Half,
    /// When it was complete, and who made it so.
    done: Option<(u64, Option<Half>)>,
    /// A receive; else a send or a collective operation.
    receives: bool,
    /// Someone is waiting.
    awaited: bool,
}

struct Rank<'a, R: Read, M: Read> {
    steps: Steps<'a, R, M>,
    clock: u64,
    computed: u64,
    /// Line of the last call.
    line: u32,
    /// Since when it has not waited, why it waited last, and the longest computation since.
    since: u64,
    inherited: Cause,
    longest: (u64, u32, u32),
    chain: u32,
    requests: FxHashMap<u64, u32>,
    ordinals: FxHashMap<u64, u64>,
    /// Persistent requests.
    persistent: FxHashMap<u64, Event>,
    /// Operations it waits for, and where.
    waits: SmallVec<[u32; 8]>,
    at: (Call, u32, u64),
    missing: usize,
    over: bool,
}

#[derive(Debug, Default)]
struct Channel {
    sends: VecDeque<(Half, Option<u32>)>,
    receives: VecDeque<(Half, u32)>,
}

/// The walk.
pub struct Walk<'a, 'w, R: Read, M: Read, W: Watcher> {
    ranks: Vec<Rank<'a, R, M>>,
    channels: FxHashMap<Key, Channel>,
    meetings: FxHashMap<(u64, u64), Vec<(Half, u32)>>,
    operations: Vec<Option<Operation>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    eager: Option<u64>,
    watcher: &'w mut W,
}

/// Computation that breaks a chain of messages: it is not latency that counts there \[ns\].
const BREAKS_CHAIN: u64 = 20_000;

impl<'a, 'w, R: Read, M: Read, W: Watcher> Walk<'a, 'w, R, M, W> {
    /// Of these ranks, in order; messages larger than `eager` \[B\] wait for their receivers.
    pub fn new(steps: Vec<Steps<'a, R, M>>, eager: Option<u64>, watcher: &'w mut W) -> Self {
        let ready = (0..steps.len() as u32).collect();
        let rank = |steps| Rank {
            steps,
            clock: 0,
            computed: 0,
            line: 0,
            since: 0,
            inherited: Cause::default(),
            longest: (0, 0, 0),
            chain: 0,
            requests: FxHashMap::default(),
            ordinals: FxHashMap::default(),
            persistent: FxHashMap::default(),
            waits: SmallVec::new(),
            at: (Call::Init, 0, 0),
            missing: 0,
            over: false,
        };
        let ranks = steps.into_iter().map(rank).collect();
        Self {
            ranks,
            channels: FxHashMap::default(),
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
    /// Those of reading.
    pub fn run(mut self) -> Result<Walked, Error> {
        while let Some(rank) = self.ready.pop_front() {
            self.advance(rank)?;
        }
        let stuck = self.ranks.iter().zip(0..).filter(|(rank, _)| !rank.over).map(|(rank, i)| (i, rank.at.2)).collect();
        let clocks = self.ranks.iter().map(|rank| rank.clock).collect();
        Ok(Walked { clocks, stuck, known: self.ranks.into_iter().map(|rank| rank.steps.finish()).collect() })
    }

    /// Lets a rank go on until it waits.
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
            if gap > BREAKS_CHAIN {
                state.chain = 0;
            }
            state.line = line;
            let own = state.longest;
            // What it has done since it last waited, if that is more than what it waited for.
            let cause = Cause { rank: me, from: own.1, to: own.2, since: state.since };
            let (time, chain) = (state.clock, state.chain);
            let inherited = state.inherited;
            let half =
                |bytes| Half { rank: me, event: number, call: event.call, line, time, bytes, cause, inherited, chain };
            let comm = known.id(event.comm);
            let mut posts: SmallVec<[(bool, Key, Half, bool); 2]> = SmallVec::new();
            let eager = self.eager;
            let mut post = |call: Call, event: &Event, sends: bool, peer: i32, tag: i32, bytes: u64, known: &Known| {
                let Some(peer) = known.world(event, peer) else { return };
                let key = if sends { (comm, me, peer, tag) } else { (comm, peer, me, tag) };
                let waits =
                    matches!(call, Call::Ssend | Call::Issend | Call::SsendInit) || eager.is_some_and(|s| bytes > s);
                let buffered = matches!(call, Call::Bsend | Call::Ibsend | Call::BsendInit);
                posts.push((sends, key, half(bytes), waits && !buffered));
            };
            let mut meets = None;
            let kind = event.call.kind();
            match kind {
                Kind::Send | Kind::Isend => post(event.call, event, true, event.peer, event.tag, event.bytes, known),
                Kind::Recv | Kind::Irecv => post(event.call, event, false, event.peer, event.tag, event.bytes, known),
                Kind::Sendrecv => {
                    post(event.call, event, true, event.peer, event.tag, event.bytes, known);
                    post(event.call, event, false, event.peer2, event.tag2, event.bytes2, known);
                }
                Kind::SendInit | Kind::RecvInit => {
                    if let Some(&request) = event.requests.first() {
                        state.persistent.insert(request, event.clone());
                    }
                }
                Kind::Start => {
                    for request in &event.requests {
                        if let Some(made) = state.persistent.get(request) {
                            let sends = made.call.kind() == Kind::SendInit;
                            post(made.call, made, sends, made.peer, made.tag, made.bytes, known);
                        }
                    }
                }
                Kind::Collective | Kind::Icollective | Kind::Communicator
                    if event.call != Call::CommCreateGroup && !event.flags.has(Flags::INTER) =>
                {
                    let ordinal = state.ordinals.entry(comm).or_default();
                    let root = known.world(event, event.peer);
                    meets = Some((*ordinal, half(event.bytes), known.size(event.comm), root));
                    *ordinal += 1;
                }
                _ => {}
            }
            let requests: SmallVec<[u64; 8]> = SmallVec::from_slice(&event.requests);
            let (makes, call) = (event.call.makes_request() || kind == Kind::Start, event.call);
            let mut made: SmallVec<[u32; 8]> = SmallVec::new();
            for (sends, key, half, waits) in posts {
                made.push(self.post(sends, key, half, waits));
            }
            if let Some((ordinal, half, size, root)) = meets {
                made.push(self.meet(comm, ordinal, half, size, root));
            }
            let state = &mut self.ranks[me as usize];
            let mut waits: SmallVec<[u32; 8]> = SmallVec::new();
            if makes {
                for (request, operation) in requests.iter().zip(&made) {
                    state.requests.insert(*request, *operation);
                }
            } else if matches!(kind, Kind::Wait | Kind::WaitAny | Kind::Test) {
                waits.extend(requests.iter().filter_map(|request| state.requests.remove(request)));
            } else {
                waits = made;
            }
            state.at = (call, line, number);
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

    fn post(&mut self, sends: bool, key: Key, mine: Half, waits: bool) -> u32 {
        let done = (sends && !waits).then_some((mine.time, None));
        let number = self.add(Operation { mine, done, receives: !sends, awaited: false });
        let channel = self.channels.entry(key).or_default();
        if sends {
            channel.sends.push_back((mine, waits.then_some(number)));
        } else {
            channel.receives.push_back((mine, number));
        }
        if channel.sends.is_empty() || channel.receives.is_empty() {
            return number;
        }
        if let (Some((send, sender)), Some((receive, receiver))) =
            (channel.sends.pop_front(), channel.receives.pop_front())
        {
            self.watcher.matched(&send, &receive);
            self.complete(receiver, send.time.max(receive.time), Some(send));
            if let Some(sender) = sender {
                self.complete(sender, send.time.max(receive.time), Some(receive));
            }
        }
        number
    }

    fn meet(&mut self, comm: u64, ordinal: u64, mine: Half, size: u32, root: Option<u32>) -> u32 {
        let number = self.add(Operation { mine, done: None, receives: false, awaited: false });
        let meeting = self.meetings.entry((comm, ordinal)).or_default();
        meeting.push((mine, number));
        if meeting.len() < size as usize {
            return number;
        }
        let mut meeting = self.meetings.remove(&(comm, ordinal)).unwrap_or_default();
        meeting.sort_by_key(|(half, _)| half.rank);
        let halves: Vec<Half> = meeting.iter().map(|(half, _)| *half).collect();
        self.watcher.met(comm, ordinal, &halves);
        // Who has to be there: the root of what it gives, everybody for the root of what it gets, else all.
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

    fn complete(&mut self, number: u32, time: u64, by: Option<Half>) {
        let Some(Some(operation)) = self.operations.get_mut(number as usize) else { return };
        operation.done = Some((time, by));
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

    /// All that the rank waits for is complete.
    fn resume(&mut self, me: u32) {
        let state = &mut self.ranks[me as usize];
        let waits = std::mem::take(&mut state.waits);
        let (call, line, _) = state.at;
        let before = state.clock;
        let mut last: Option<(u64, Operation, Half)> = None;
        for &number in &waits {
            let Some(operation) = self.operations.get_mut(number as usize).and_then(Option::take) else { continue };
            self.free.push(number);
            let Some((time, by)) = operation.done else { continue };
            if let Some(by) = by {
                if operation.receives {
                    self.watcher.taken(me, state.computed, &by, &operation.mine);
                    // The message was needed when it came, or later: the chain goes on.
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
            // It was late by its own work, or because it waited itself.
            let own = time.saturating_sub(by.cause.since.max(before));
            let cause = if 2 * own >= wait { by.cause } else { by.inherited };
            let is_message =
                !matches!(operation.mine.call.kind(), Kind::Collective | Kind::Icollective | Kind::Communicator);
            let message = is_message.then_some((operation.mine, by));
            let event = operation.mine.event;
            self.watcher.waited(&Waited { call, line, rank: me, event, time: wait, cause, message });
            let state = &mut self.ranks[me as usize];
            (state.since, state.inherited, state.longest) = (time, cause, (0, line, line));
        }
    }
}
