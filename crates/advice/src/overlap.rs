//! Range over which each communication of a rank could be spread: posted earlier, waited for later.
//!
//! For a communication at event `j` the paper asks, with `T_s -> T_j` for "`T_j` depends on `T_s`":
//! ```text
//! s: the last event before j with T_s -> T_j         e: the first event after j with T_j -> T_e
//! everything in between, T_(s+1) .. T_(e-1), can run while the message is under way
//! ```
//! Source: Gordini, section 4.1, figure 5.
//!
//! The paper compares every communication with every event around it. Here the buffers in use are watched
//! ([`Watch`]) while the trace is read once. An access looks up the buffers it touches and leaves two marks
//! on each: the last access that must stay before any later use of the buffer, and the first that must stay
//! after the open communications on it, which ends them. For a buffer that was not watched yet, the last
//! intervals are searched instead. Both ends are found inside a nest of loops in closed form
//! ([`crate::address`]).
//!
//! **Arguments and branches.** A call takes its arguments by value and may be in a branch; no access shows on
//! which values either depends. So nothing is posted before a call whose results were read since. Nor is it
//! posted before a write of a variable that is an argument or is read between the last loop and the call
//! ([`Dependence::Control`]). The reach without this rule is kept for a person to check ([`Spread::beyond`]).
//!
//! **Order.** Messages between two ranks on one communicator with one tag do not overtake each other, so none
//! is posted before its predecessor. Nor is a receive from any source posted before another receive, or a
//! collective operation before its predecessor. Later completion is not restricted.
//!
//! **Bounds.** A communication is followed over [`Limits::ahead`] events and traced back over
//! [`Limits::back`] intervals. A search that reaches the bound ends with [`Dependence::Limit`]. Memory: as
//! many intervals of one rank.
//!
//! Cost: O(log B) for each nest and each call with B buffers watched, and a query for each nest and buffer
//! that overlap.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use hayase_trace::walk::Requests;
use hayase_trace::{Call, CallKind, Event};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::calls::{Communication, communications};
use crate::doubts::Doubts;
use crate::model::{CallPart, Dependence};
use crate::past::Past;
use crate::stream::{Step, TraceState};
use crate::watch::{AT_EVENT, Blocker, Completion, Span, Stamp, Watch};

// Further methods of `Search`, which work on its private fields.
mod neighbourhood;
mod order;
mod results;
mod touched;
// Results of a search.
mod spread;

pub(crate) use order::needed;

pub use crate::options::Limits;
pub use spread::{Reach, Spread};

/// Receiver of the results of a search while it runs.
pub trait Listener {
    /// Receives a communication whose range is known.
    fn spread(&mut self, spread: &Spread, known: &TraceState);

    /// Receives a communication when it is posted, with its blockers by data and by order. `order` does not
    /// include `data`.
    fn posted(&mut self, at: &Posted<'_>);

    /// Receives a call of any kind after it was examined.
    fn call(&mut self, step: &Called<'_>);
}

/// Communication when it is posted.
#[derive(Debug)]
pub struct Posted<'a> {
    /// Number of the event.
    pub number: u64,
    /// Call that posts it.
    pub event: &'a Event,
    /// Line of the call.
    pub line: u32,
    /// Part of the call that is posted.
    pub communication: &'a Communication,
    /// Last access or call whose data it needs, or that uses its buffer.
    pub data: Blocker,
    /// Last call that it must not overtake.
    pub order: Blocker,
    /// Last event that no communication passes.
    pub fence: Blocker,
    /// Last call whose results were read before this one, and may decide this one.
    pub control: Blocker,
    /// Earlier communications on which its data depends, and that could end after [`data`](Self::data).
    pub needs: &'a [Completion],
    /// Earlier communications whose results were read and may decide this one, and that could end after
    /// `data`.
    pub decided_by: &'a [Completion],
    /// Buffers in use.
    pub watch: &'a Watch,
    /// State of the rank.
    pub known: &'a TraceState,
}

/// Call with its place in the stream.
#[derive(Debug)]
pub struct Called<'a> {
    /// Number of the event.
    pub number: u64,
    /// Computation before it \[ns\].
    pub gap: u64,
    /// Event of the call.
    pub event: &'a Event,
    /// Line of the call.
    pub line: u32,
    /// State of the rank.
    pub known: &'a TraceState,
}

/// Communication that is under way, or that could still be.
#[derive(Debug)]
struct OpenCommunication {
    spread: Spread,
    buffers: SmallVec<[u32; 2]>,
    spans: SmallVec<[Span; 2]>,
    /// Serial numbers of the messages of its neighbourhood collective, which end together.
    together: Range<u64>,
    /// Computation of the rank before it was opened \[ns\], and number of accesses.
    since: (u64, u64),
}

/// Largest number of accesses of one instruction that count as reading the arguments of a call on the same
/// line.
const MAX_ARGUMENT_READS: u64 = 4;

/// Search of one rank.
#[derive(Debug)]
pub struct Search {
    limits: Limits,
    watch: Watch,
    past: Past,
    /// Open communications by serial number, from `base`.
    open: VecDeque<Option<Box<OpenCommunication>>>,
    base: u64,
    /// Communications posted and not yet completed, by request.
    requests: Requests<SmallVec<[Box<OpenCommunication>; 2]>>,
    /// Last event of each envelope and of the collectives of each communicator. `wild` and `receives` hold
    /// the last wildcard receive and the last receive of each communicator.
    order: FxHashMap<(CallPart, u32, i32, i32), Blocker>,
    wild: FxHashMap<u32, Blocker>,
    receives: FxHashMap<u32, Blocker>,
    /// Last event before which nothing is posted: the begin of the program, a new communicator, or an unknown
    /// call.
    fence: Blocker,
    /// Set if code without instrumentation makes the present call.
    foreign: bool,
    /// Name of the present call in the source.
    name: &'static str,
    /// Last call whose results have been read, and the time of the last such read.
    control: Blocker,
    reading: Stamp,
    /// Communications whose results have been read, with the latest end of each.
    read: VecDeque<Completion>,
    /// Doubts about all later communications, because memory may change unseen.
    hazards: Doubts,
    /// Open send of each line, used without memory accesses.
    sent: FxHashMap<u32, u64>,
    /// Lines of calls whose buffer is freed on the same line: copies made by the compiler.
    copies: BTreeSet<u32>,
    /// Number of communications by line.
    details: Vec<u64>,
    found: Vec<u32>,
    marked: Vec<u32>,
    idle: VecDeque<(u32, u64)>,
    /// Finished communications, kept for reuse of their memory.
    #[allow(clippy::vec_box, reason = "the boxes are what is kept")]
    spare: Vec<Box<OpenCommunication>>,
}

impl Search {
    /// Creates a search for one rank.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            watch: Watch::default(),
            past: Past::new(limits.back.max(limits.ahead) as usize),
            open: VecDeque::new(),
            base: 0,
            requests: Requests::default(),
            order: FxHashMap::default(),
            wild: FxHashMap::default(),
            receives: FxHashMap::default(),
            fence: Blocker::nowhere((0, 0), Dependence::Program),
            foreign: false,
            name: "",
            control: Blocker::nowhere((0, 0), Dependence::Program),
            reading: (0, 0),
            read: VecDeque::new(),
            hazards: Doubts::default(),
            sent: FxHashMap::default(),
            copies: BTreeSet::new(),
            details: Vec::new(),
            found: Vec::new(),
            marked: Vec::new(),
            idle: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Processes the next step of the rank.
    pub fn step(&mut self, step: Step<'_>, listener: &mut impl Listener) {
        let Step { number, gap, accesses, event, known } = step;
        let line = known.line(event);
        self.foreign = accesses.end_in_foreign_code(&known.sites);
        self.name = event.name();
        self.past.begin(number, gap, accesses, known);
        self.expire(number, listener, known);
        self.accessed(number, listener, known);
        self.update_hazards(known);
        let shared = self.hazards.has(Doubts::WINDOW) && event.call.kind() != CallKind::Local;
        let here = Blocker::at_call(number, self.name, line);
        if shared {
            self.close_all(here.of(Dependence::Opaque), listener, known);
        }
        let told = self.past.take_effects();
        listener.call(&Called { number, gap, event, line, known });
        match event.call.kind() {
            CallKind::Opaque => self.set_fence(Dependence::Opaque, number, line, listener, known),
            CallKind::Local if event.call == Call::Init => {
                self.set_fence(Dependence::Program, number, line, listener, known);
            }
            CallKind::Communicator => {
                self.fence = Blocker::at_call(number, self.name, line);
            }
            CallKind::Probe | CallKind::Iprobe => {
                let block = Blocker::at_call(number, self.name, line);
                self.wild.insert(event.comm, block);
                self.receives.insert(event.comm, block);
            }
            CallKind::Local if event.call == Call::RequestFree => {
                for &request in &event.requests {
                    for open in self.requests.free(request).into_iter().flatten() {
                        self.release(&open.buffers);
                        self.spare.push(open);
                    }
                }
            }
            _ => {}
        }
        let first = self.base + self.open.len() as u64;
        for begun in self.requests.begun(event) {
            self.begin(number, &begun, line, &told, listener, known);
        }
        if event.call.completes_requests() {
            self.complete(number, event, line, listener, known);
        }
        self.record_results(here, &told, first);
        if shared {
            self.fence = here.of(Dependence::Opaque);
        }
    }

    /// Begins the communications of a call.
    fn begin(
        &mut self,
        number: u64,
        event: &Event,
        line: u32,
        told: &[Span],
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        // A buffered send is complete at once.
        if event.call == Call::Bsend {
            return;
        }
        let mut parts = communications(event, known);
        if !parts.is_empty() {
            let counts = !event.counts.is_empty() || !event.counts2.is_empty();
            // The call reads numbers at once, and arrays of numbers while it is under way.
            let (arrays, numbers): (Vec<Span>, Vec<Span>) = told
                .iter()
                .filter(|span| !span.result)
                .partition(|span| counts || span.high - span.low > order::NUMBER);
            match parts.first_mut() {
                Some(part) if !arrays.is_empty() => part.spans.extend(arrays),
                _ => self.end_possible_counts(number, event, line, listener, known),
            }
            let control = self.decided(number, &numbers, known);
            self.post(event, line, parts, control, listener, known);
        } else if event.call.kind() == CallKind::Collective {
            // A barrier moves no data, but no collective operation passes it.
            let block = Blocker::at_call(number, self.name, line);
            self.order.insert((CallPart::Collective, event.comm, 0, 0), block);
        }
    }

    /// Returns the lines of calls whose buffer is a copy made by the compiler.
    pub fn copies(&self) -> impl Iterator<Item = u32> + '_ {
        self.copies.iter().copied()
    }

    /// Ends the search at the end of the rank.
    pub fn finish(&mut self, listener: &mut impl Listener, known: &TraceState) {
        let end = Blocker::nowhere((self.past.number() + 1, 0), Dependence::Program);
        self.close_all(end, listener, known);
    }

    /// Sets a fence at a call with unknown effects: no communication passes it.
    fn set_fence(
        &mut self,
        dependence: Dependence,
        number: u64,
        line: u32,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        self.fence = Blocker::at_call(number, self.name, line).of(dependence);
        self.close_all(self.fence, listener, known);
    }

    /// Ends all open communications at `block`.
    fn close_all(&mut self, block: Blocker, listener: &mut impl Listener, known: &TraceState) {
        for serial in self.base..self.base + self.open.len() as u64 {
            self.close(serial, block, listener, known);
        }
    }

    /// Posts the communications of a call.
    fn post(
        &mut self,
        event: &Event,
        line: u32,
        parts: SmallVec<[Communication; 2]>,
        control: Blocker,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        let number = self.past.number();
        let mut opened: SmallVec<[Box<OpenCommunication>; 2]> = SmallVec::new();
        for mut part in parts {
            part.doubts.and(self.hazards);
            if self.foreign {
                part.doubts.and(Doubts::FOREIGN);
            }
            let here = Blocker::at_call(number, self.name, line);
            let mut buffers = SmallVec::new();
            let mut data = Blocker::nowhere((0, 0), Dependence::Program);
            for &span in &part.spans {
                let buffer_number = match self.watch.find(&span) {
                    Some(buffer) => buffer,
                    None => {
                        let last = self.past.last(&span, self.limits.back, known);
                        let buffer = self.watch.add(span, last, number);
                        self.idle.push_back((buffer, number));
                        buffer
                    }
                };
                if let Some(buffer) = self.watch.get(buffer_number) {
                    buffer.used = number;
                    data = data.max(buffer.last);
                }
                buffers.push(buffer_number);
            }
            // A receive may be posted as soon as its buffer is free, even if the computation before it was not seen.
            // The data of a send is most likely computed just before it.
            let mut doubts = part.doubts;
            if !known.memory {
                doubts.and(Doubts::MEMORY);
                if part.part != CallPart::Receive {
                    data = data.max(Blocker::nowhere((number, AT_EVENT - 1), Dependence::NotSeen));
                }
            }
            if doubts.has(Doubts::ADDRESS) {
                data = data.max(Blocker::nowhere((number, AT_EVENT - 1), Dependence::NotSeen));
            }
            let needs = self.needs(number, &part, &buffers, data.stamp);
            let decided_by = self.decided_by(data.stamp);
            let order = self.order(event, &part, here);
            listener.posted(&Posted {
                number,
                event,
                line,
                communication: &part,
                data,
                order,
                fence: self.fence,
                control: self.control,
                needs: &needs,
                decided_by: &decided_by,
                watch: &self.watch,
                known,
            });
            let before = data.max(order).max(self.fence);
            // A ready send must not move forward: its receive must have been posted.
            let ready = matches!(event.call, Call::Rsend | Call::Irsend | Call::RsendInit);
            // `MPI_Sendrecv_replace` writes the received data after it has read the sent data.
            let replaces = event.call == Call::SendrecvReplace && part.part == CallPart::Receive;
            let before = match (ready, replaces) {
                (true, _) => Blocker { dependence: Dependence::Order, ..here },
                (_, true) => Blocker { dependence: Dependence::Anti, ..here },
                _ => before,
            };
            let detailed = self.detailed(line);
            let early = if ready || replaces {
                Reach::none(before, (number, 1.0))
            } else {
                self.reach(number, line, before.max(control), detailed, known)
            };
            let held = !ready && !replaces && known.memory && control.stamp > before.stamp;
            let beyond = held.then(|| Box::new(self.reach(number, line, before, detailed, known)));
            let spread = Spread {
                event: number,
                completion: number,
                call: event.call,
                name: self.name,
                line,
                waits: None,
                neighbour: event.flags.neighbourhood().map(|_| 0),
                part: part.part,
                bytes: part.bytes,
                arguments: if part.wildcard { (0, 0, 0) } else { (part.peer, part.tag, part.bytes) },
                doubts,
                on_stack: part.spans.iter().any(|span| known.stack.contains(&span.low)),
                before_reading: early.block.stamp < self.reading,
                needs: needs.into_iter().chain(decided_by).filter(|need| need.until > early.block.stamp).collect(),
                early,
                late: Reach::none(Blocker::nowhere((number, AT_EVENT), Dependence::Program), (number, 1.0)),
                beyond,
                detailed,
            };
            self.past.used(&part.spans, self.name, line);
            let open = OpenCommunication { spread, buffers, spans: part.spans, together: 0..0, since: (0, 0) };
            opened.push(match self.spare.pop() {
                Some(mut room) => {
                    *room = open;
                    room
                }
                None => Box::new(open),
            });
        }
        let block = Blocker::at_call(number, self.name, line);
        for open in &opened {
            self.used(open, block, listener, known);
        }
        match event.request_made() {
            Some(request) => self.requests.keep(request, opened),
            None if event.call.makes_request() => {}
            None => opened.into_iter().for_each(|open| self.open(number, open, listener, known)),
        }
    }

    /// Returns the reach of the post of a communication of the newest event that must stay after `before`.
    fn reach(&mut self, number: u64, line: u32, before: Blocker, detailed: bool, known: &TraceState) -> Reach {
        let back = self.limits.back;
        let (post, before) = match self.past.after(&before, back) {
            Some(post) => (post, before),
            None => {
                let post = (number.saturating_sub(back), 0.0);
                (post, Blocker::nowhere((post.0, 0), Dependence::Limit))
            }
        };
        // The post never moves later.
        let post = if post.0 > number { (number, 1.0) } else { post };
        let (from, to) = (self.past.until(post), self.past.until((number, 1.0)));
        let (time, accesses) = (to.0 - from.0, to.1 - from.1);
        let named = detailed && known.memory && accesses > 0;
        let mut lines = if named { self.past.shares_before(&before, self.limits.named, known) } else { Vec::new() };
        // A line that only reads the arguments of its call has no computation to overlap.
        lines.retain(|share| share.line != line || share.of > MAX_ARGUMENT_READS);
        Reach { block: before, point: post, time, accesses, lines }
    }

    /// Completes the requests of a call.
    fn complete(&mut self, number: u64, event: &Event, line: u32, listener: &mut impl Listener, known: &TraceState) {
        let mut together = Vec::new();
        for &request in &event.requests {
            let Some(opened) = self.requests.complete(request) else { continue };
            let block = Blocker::at_call(number, self.name, line);
            for open in &opened {
                self.past.used(&open.spans, self.name, line);
                self.used(open, block, listener, known);
            }
            for mut open in opened {
                open.spread.completion = number;
                open.spread.waits = Some((self.name, line));
                // A test means that the program already overlaps it; a wait for any request completes what the
                // library chose in this run.
                if matches!(event.call.kind(), CallKind::Test | CallKind::WaitAny) {
                    open.spread.late.block = block;
                    open.spread.late.point = (number, 1.0);
                    self.release(&open.buffers);
                    listener.spread(&open.spread, known);
                    self.spare.push(open);
                } else if open.spread.neighbour.is_some() {
                    together.push(open);
                } else {
                    self.open(number, open, listener, known);
                }
            }
        }
        self.open_together(number, together, event.flags.neighbourhood().is_some(), listener, known);
    }

    /// Opens a communication: from here on it could still be under way.
    fn open(
        &mut self,
        number: u64,
        mut open: Box<OpenCommunication>,
        listener: &mut impl Listener,
        known: &TraceState,
    ) {
        let serial = self.base + self.open.len() as u64;
        let blind = !known.memory || open.spread.doubts.has(Doubts::ADDRESS);
        let overwritten = open.spread.call == Call::SendrecvReplace && open.spread.part == CallPart::Send;
        let not_seen = blind && (open.spread.part != CallPart::Send || open.spread.doubts.has(Doubts::ADDRESS));
        open.since = self.past.until((number, 1.0));
        open.spread.doubts.and(self.hazards);
        let (call, at) = open.spread.waits.unwrap_or((open.spread.name, open.spread.line));
        let brought = Blocker::at_call(number, call, at).of(Dependence::Control);
        for &buffer in &open.buffers {
            if let Some(buffer) = self.watch.get(buffer) {
                buffer.used = number;
                if buffer.span.write {
                    buffer.brought = Some(brought);
                }
                buffer.open.push(serial);
                // Drops communications that have ended for another reason.
                if buffer.open.len() >= 64 && buffer.open.len().is_power_of_two() {
                    let (base, list) = (self.base, &self.open);
                    buffer.open.retain(|&mut serial| {
                        serial.checked_sub(base).is_some_and(|at| list.get(at as usize).is_none_or(Option::is_some))
                    });
                }
            }
        }
        let line = open.spread.line;
        self.open.push_back(Some(open));
        if overwritten {
            self.close(serial, Blocker::nowhere((number, AT_EVENT), Dependence::Anti), listener, known);
        } else if not_seen {
            self.close(serial, Blocker::nowhere((number, AT_EVENT), Dependence::NotSeen), listener, known);
        } else if blind {
            // The next execution of the line most likely sends other data from the same buffer.
            if let Some(before) = self.sent.insert(line, serial) {
                self.close(before, Blocker::nowhere((number, AT_EVENT), Dependence::NotSeen), listener, known);
            }
        }
    }

    /// Ends an open communication, which must be complete before `block`; does nothing if it has ended.
    fn close(&mut self, serial: u64, block: Blocker, listener: &mut impl Listener, known: &TraceState) {
        let Some(at) = serial.checked_sub(self.base) else { return };
        let Some(mut open) = self.open.get_mut(at as usize).and_then(Option::take) else { return };
        while self.open.front().is_some_and(Option::is_none) {
            self.open.pop_front();
            self.base += 1;
        }
        self.release(&open.buffers);
        self.record_end(&open, block.stamp);
        if block.dependence == Dependence::Flow && block.call.is_none() {
            let Spread { event, part, .. } = open.spread;
            self.record_read(Completion { event, part, until: block.stamp });
        }
        let ends_there = block.line == open.spread.line && block.stamp.0 == open.spread.completion + 1;
        if ends_there
            && block.call.is_some()
            && known.sites.iter().any(|site| site.line == block.line && site.block == block.call)
        {
            self.copies.insert(block.line);
            // The compiler's accesses to the copy are no computation of the program.
            open.spread.late = Reach::none(block, (open.spread.completion, 1.0));
            listener.spread(&open.spread, known);
            self.spare.push(open);
            return;
        }
        let (since, spread) = (open.since, &mut open.spread);
        spread.late.block = block;
        spread.late.point = self.past.at(block.stamp);
        let (time, accesses) = self.past.until(spread.late.point);
        spread.late.time = time.saturating_sub(since.0);
        spread.late.accesses = accesses.saturating_sub(since.1);
        if spread.late.accesses > 0 && known.memory && spread.detailed {
            spread.late.lines = self.past.shares_after(spread.completion, &block, self.limits.named, known);
        }
        listener.spread(spread, known);
        open.together.clone().for_each(|other| self.close(other, block, listener, known));
        self.spare.push(open);
    }

    /// Marks buffers as idle, so that they are no longer watched if no use follows for long.
    fn release(&mut self, buffers: &[u32]) {
        for &buffer in buffers {
            self.idle.push_back((buffer, self.past.number()));
        }
    }

    fn expire(&mut self, number: u64, listener: &mut impl Listener, known: &TraceState) {
        // The list is only roughly in the order of completion, so communications may end a little late.
        while let Some(front) = self.open.front() {
            match front {
                None => {
                    self.open.pop_front();
                    self.base += 1;
                }
                Some(open) if open.spread.completion + self.limits.ahead >= number => break,
                Some(_) => self.close(self.base, Blocker::nowhere((number, 0), Dependence::Limit), listener, known),
            }
        }
        while let Some(&(buffer, since)) = self.idle.front() {
            // The last received data is kept as long as a communication could be posted before it.
            let ahead = self.limits.ahead.max(self.limits.back);
            if since + ahead >= number {
                break;
            }
            self.idle.pop_front();
            let base = self.base;
            let is_idle = self
                .watch
                .get(buffer)
                .is_some_and(|buffer| buffer.used + ahead < number && buffer.open.iter().all(|&serial| serial < base));
            if is_idle && !self.requests.active().flatten().any(|open| open.buffers.contains(&buffer)) {
                self.watch.remove(buffer);
            }
        }
    }

    /// Counts a communication of a line and returns true if its lines are named.
    fn detailed(&mut self, line: u32) -> bool {
        let at = line as usize;
        if self.details.len() <= at {
            self.details.resize(at + 1, 0);
        }
        self.details[at] += 1;
        let count = self.details[at];
        count <= self.limits.detailed || count.is_multiple_of(16)
    }
}

impl Blocker {
    /// Returns the block of a call that keeps its place in the order.
    fn at_call(number: u64, call: &'static str, line: u32) -> Self {
        Self { line, call: Some(call), ..Self::nowhere((number, AT_EVENT), Dependence::Order) }
    }

    /// Returns the same block with another dependence.
    fn of(self, dependence: Dependence) -> Self {
        Self { dependence, ..self }
    }

    /// Returns the later block.
    fn max(self, other: Self) -> Self {
        if other.stamp > self.stamp { other } else { self }
    }
}
