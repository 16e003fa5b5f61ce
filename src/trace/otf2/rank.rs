//! Events of one location on their way to the calls of a rank.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{RegionKind, kind_of, site_of};
use super::definitions::{Definitions, LocalDefinitions, Members, NUMBER, Region, USER};
use super::file::{Record, Records};
use super::joint::{Joints, Kind};
use super::layout::{UNDEFINED, events as known};
use super::sizes;
use crate::trace::calls::{
    Call, CallKind, Calls, Clock, Communicator, Event, Flags, Header, Item, ItemError, Mark, Site,
};
use crate::trace::fault::{Fault, fault};

/// Largest number of blocks that are made up for all alltoallv of a communicator, and of an archive. Blocks of
/// later ones are equal.
const MOST_BLOCKS: u64 = 1 << 26;

/// A record within a region of MPI: kind, offset in the file, and fields.
#[derive(Clone, Copy, Debug)]
struct Part {
    kind: u8,
    at: u64,
    numbers: [u64; 6],
}

/// Message or collective operation of a request, from where it completes.
#[derive(Clone, Copy, Debug)]
struct Completion {
    part: Part,
    /// Next completion with the same number of the request.
    next: u32,
}

/// Completions of all requests of a location that tell what was requested.
#[derive(Debug, Default)]
pub(super) struct Completions {
    listed: Vec<Completion>,
    /// First and last completion of each request.
    of: FxHashMap<u64, (u32, u32)>,
    /// Number of records of MPI.
    pub records: u64,
}

impl Completions {
    /// Reads a file of events for the first time.
    pub fn read(records: &mut Records) -> Result<Self, Fault> {
        let mut these = Self::default();
        while let Some(record) = records.next()? {
            let part = Part::of(&record);
            these.records += u64::from(matches!(record.kind, 14..=23 | 85 | 86));
            let request = match record.kind {
                kind if kind == known::IRECV.kind => part.numbers[4],
                kind if kind == known::NBC_COMPLETE.kind => part.numbers[5],
                _ => continue,
            };
            let at = these.listed.len() as u32;
            these.listed.push(Completion { part, next: u32::MAX });
            let (_, last) = these.of.entry(request).or_insert((at, at));
            if *last != at {
                these.listed[*last as usize].next = at;
                *last = at;
            }
        }
        Ok(these)
    }

    /// Takes the next completion of a request; `None` if it never completes.
    fn take(&mut self, request: u64) -> Option<Part> {
        let (first, _) = self.of.get_mut(&request)?;
        let completion = self.listed.get(*first as usize)?;
        *first = completion.next;
        Some(completion.part)
    }
}

impl Part {
    fn of(record: &Record<'_>) -> Self {
        let [a, b, c, d, e, f, ..] = record.values.numbers;
        Self { kind: record.kind, at: record.at, numbers: [a, b, c, d, e, f] }
    }
}

/// A region that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    region: u64,
    /// Place of the call, if contexts are recorded.
    place: Option<u64>,
}

/// A region of MPI that is open: the call.
#[derive(Debug)]
struct InCall {
    call: Option<Call>,
    /// Number of open regions within it, itself included.
    depth: u32,
    begin: u64,
    cpu: Option<u64>,
    site: u32,
    parts: Vec<Part>,
}

/// State of a rank while its events are read.
pub(super) struct RankEvents<'a, C> {
    pub rank: u32,
    pub definitions: &'a Definitions,
    pub local: LocalDefinitions,
    pub completions: Completions,
    pub calls: &'a mut C,
    /// Meaning of the times.
    pub clock: Clock,
    pub joints: &'a Joints,
    /// Number of blocks made up so far.
    pub made_up: &'a mut u64,
    pub state: State,
}

/// Tables of a rank.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Kinds of the regions, found once.
    kinds: FxHashMap<u64, RegionKind>,
    stack: Vec<Open>,
    call: Option<InCall>,
    /// Numbers of the open requests, by their numbers in the archive.
    open: FxHashMap<u64, u64>,
    made: u64,
    comms: FxHashSet<u64>,
    /// Number of collectives so far whose blocks have different sizes.
    unequal: FxHashMap<Kind, usize>,
    sites: FxHashMap<(u64, u64, u64), u32>,
    regions: FxHashMap<u64, u32>,
    /// Time of the last event \[ns\], and processor time that the next one carries \[ns\].
    now: u64,
    cpu: Option<u64>,
    events: u64,
}

impl<C: Calls> RankEvents<'_, C> {
    /// Passes on the calls of the rank.
    pub fn read(mut self, records: &mut Records, ranks: u32) -> Result<(), Fault> {
        let header = Header { clock: self.clock, ..Header::new(self.rank, ranks) };
        self.pass(Item::Header(&header), 0)?;
        let (mut last, mut at) = (None, 0);
        while let Some(record) = records.next()? {
            let time = self.local.clock.global(record.time);
            (last, at) = (Some(time), record.at);
            self.state.now = self.state.now.max(self.definitions.clock.ns(time));
            self.record(&record)?;
        }
        if last.is_some_and(|last| last < self.definitions.clock.start) {
            let start = self.definitions.clock.start;
            return fault(at, format!("the last event is before the start of the archive, time {start}"));
        }
        // A region that is open at the end has no time of its end.
        let now = self.state.now;
        if let Some(call) = self.state.call.take() {
            self.leave(call, now)?;
        }
        let events = self.state.events;
        self.pass(Item::End { events, lost: 0 }, at)
    }

    fn pass(&mut self, item: Item<'_>, at: u64) -> Result<(), Fault> {
        let place = self.state.events;
        let wrong = |ItemError { code, message }| Fault { code, at, what: message };
        self.calls.item(self.rank, place, item).map_err(wrong)
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), Fault> {
        let [number, attribute, kind, ..] = record.values.numbers;
        match record.kind {
            kind if kind == known::ENTER.kind => self.enter(self.local.regions.global(number), None, record.at),
            kind if kind == known::CONTEXT_ENTER.kind => {
                let context = self.local.contexts.global(number);
                let Some(&(region, place)) = self.definitions.contexts.get(&context) else {
                    return fault(record.at, format!("calling context {context} is not defined"));
                };
                self.enter(region, Some(place), record.at)
            }
            kind if kind == known::LEAVE.kind || kind == known::CONTEXT_LEAVE.kind => self.left(record.at),
            known_kind if known_kind == known::ATTRIBUTES.kind => {
                if Some(attribute) == self.definitions.cpu && kind == NUMBER {
                    self.state.cpu = Some(record.rest.clone().number()?);
                }
                Ok(())
            }
            14..=21 | 23 | 85 | 86 | 88 => {
                let part = Part::of(record);
                match &mut self.state.call {
                    Some(call) => {
                        call.parts.push(part);
                        Ok(())
                    }
                    // Archives without regions have only these records.
                    None => {
                        let (begin, cpu) = (self.state.now, self.state.cpu.take());
                        let call = InCall { call: None, depth: 0, begin, cpu, site: 0, parts: vec![part] };
                        self.leave(call, begin)
                    }
                }
            }
            _ => Ok(()),
        }
    }

    fn region(&self, region: u64, at: u64) -> Result<&Region, Fault> {
        match self.definitions.regions.get(&region) {
            Some(region) => Ok(region),
            None => fault(at, format!("region {region} is not defined")),
        }
    }

    fn enter(&mut self, region: u64, place: Option<u64>, at: u64) -> Result<(), Fault> {
        let cpu = self.state.cpu.take();
        let kind = match self.state.kinds.get(&region) {
            Some(&kind) => kind,
            None => {
                let kind = kind_of(self.definitions, self.region(region, at)?);
                self.state.kinds.insert(region, kind);
                kind
            }
        };
        if let Some(call) = &mut self.state.call {
            call.depth += 1;
            return Ok(());
        }
        let RegionKind::Mpi(call) = kind else {
            self.mark(region, true, cpu, at)?;
            self.state.stack.push(Open { region, place });
            return Ok(());
        };
        let site = self.site(region, place, at)?;
        self.state.call = Some(InCall { call, depth: 1, begin: self.state.now, cpu, site, parts: Vec::new() });
        Ok(())
    }

    fn left(&mut self, at: u64) -> Result<(), Fault> {
        let cpu = self.state.cpu.take();
        match self.state.call.take() {
            Some(mut call) if call.depth > 1 => {
                call.depth -= 1;
                self.state.call = Some(call);
                Ok(())
            }
            Some(call) => self.leave(call, self.state.now),
            None => match self.state.stack.pop() {
                Some(Open { region, .. }) => self.mark(region, false, cpu, at),
                None => fault(at, "a region is left, and none is open"),
            },
        }
    }

    /// Passes on the border of a region that the author of the program named.
    fn mark(&mut self, region: u64, begins: bool, cpu: Option<u64>, at: u64) -> Result<(), Fault> {
        let known = self.region(region, at)?;
        if known.paradigm != USER {
            return Ok(());
        }
        let name = self.definitions.text(known.name);
        let next = self.state.regions.len() as u32;
        let index = *self.state.regions.entry(region).or_insert(next);
        if index == next {
            self.pass(Item::Region(index, name), at)?;
        }
        let now = self.state.now;
        self.pass(Item::Mark(&Mark { region: index, begins, site: 0, begin: now, end: now, cpu }), at)
    }

    /// Returns the call site of a call: one more than its index, or 0 if it is unknown.
    fn site(&mut self, region: u64, place: Option<u64>, at: u64) -> Result<u32, Fault> {
        let around = self.state.stack.last().copied();
        let place = place.or(around.and_then(|around| around.place));
        let key = (region, around.map_or(UNDEFINED, |around| around.region), place.unwrap_or(UNDEFINED));
        if let Some(&site) = self.state.sites.get(&key) {
            return Ok(site);
        }
        let around = around.map(|around| self.region(around.region, at)).transpose()?;
        let name = match place.and_then(|place| self.definitions.places.get(&place)) {
            Some(&(file, line)) => {
                let known = Region { file, line, ..self.region(region, at)?.clone() };
                site_of(self.definitions, &known, around)
            }
            None => site_of(self.definitions, self.region(region, at)?, around),
        };
        let index = self.state.sites.len() as u32;
        let site = match name {
            Some(name) => {
                self.pass(Item::Site(index, &Site { name, ..Site::default() }), at)?;
                index + 1
            }
            None => 0,
        };
        self.state.sites.insert(key, site);
        Ok(site)
    }

    /// Passes on the calls of a region of MPI with the records in it.
    fn leave(&mut self, call: InCall, end: u64) -> Result<(), Fault> {
        let mut out = Output { begin: call.begin, end, cpu: call.cpu, site: call.site };
        let kind = call.call.map(Call::kind);
        if kind == Some(CallKind::Sendrecv) {
            return self.sendrecv(&call, &mut out);
        }
        let mut completed = Vec::new();
        let mut parts = call.parts.iter().peekable();
        let mut is_empty = true;
        while let Some(part) = parts.next() {
            let [a, .., last] = part.numbers;
            let event = match part.kind {
                kind if kind == known::ISEND_COMPLETE.kind => self.completed(a, part, &mut completed)?,
                kind if kind == known::IRECV.kind => self.completed(part.numbers[4], part, &mut completed)?,
                kind if kind == known::NBC_COMPLETE.kind => self.completed(last, part, &mut completed)?,
                kind if kind == known::REQUEST_TEST.kind || kind == known::CANCELLED.kind => None,
                _ => self.begun(call.call, part)?,
            };
            let next = parts.peek().map(|part| part.kind);
            let is_last = !next.is_some_and(|kind| matches!(kind, 16 | 19 | 86));
            if is_last && !completed.is_empty() {
                let waits = call.call.filter(|call| call.completes_requests() || *call == Call::RequestFree);
                let waits = Event::new(waits.unwrap_or(Call::Waitall), 0, 0);
                is_empty = false;
                self.event(Event { requests: std::mem::take(&mut completed), ..waits }, &mut out, part.at)?;
            }
            if let Some(event) = event {
                is_empty = false;
                self.event(event, &mut out, part.at)?;
            }
        }
        match call.call {
            // A region without records; without a region a record of a request that does not matter.
            known if is_empty && call.depth > 0 => {
                self.event(without_records(known), &mut out, call.parts.last().map_or(0, |part| part.at))
            }
            _ => Ok(()),
        }
    }

    /// Adds the number of a request that is complete. A message that was never received has none.
    fn completed(&mut self, request: u64, part: &Part, into: &mut Vec<u64>) -> Result<Option<Event>, Fault> {
        match self.state.open.remove(&request) {
            Some(number) => {
                into.push(number);
                Ok(None)
            }
            None => fault(part.at, format!("request {request} completes, and no record before has begun it")),
        }
    }

    /// Returns the call that begins a communication; `None` for a receive that never completes.
    fn begun(&mut self, call: Option<Call>, part: &Part) -> Result<Option<Event>, Fault> {
        let of_kind = |kind: CallKind, otherwise: Call| {
            Event::new(call.filter(|call| call.kind() == kind).unwrap_or(otherwise), 0, 0)
        };
        let [first, ..] = part.numbers;
        match part.kind {
            kind if kind == known::SEND.kind => Ok(Some(self.message(of_kind(CallKind::Send, Call::Send), part)?)),
            kind if kind == known::RECV.kind => Ok(Some(self.message(of_kind(CallKind::Recv, Call::Recv), part)?)),
            kind if kind == known::ISEND.kind => {
                let event = self.message(of_kind(CallKind::Isend, Call::Isend), part)?;
                Ok(Some(self.requested(event, part.numbers[4])))
            }
            kind if kind == known::IRECV_REQUEST.kind => {
                let Some(completion) = self.completions.take(first) else { return Ok(None) };
                if completion.kind != known::IRECV.kind {
                    return fault(completion.at, format!("request {first} is a receive, and completes as none"));
                }
                let event = self.message(of_kind(CallKind::Irecv, Call::Irecv), &completion)?;
                Ok(Some(self.requested(event, first)))
            }
            kind if kind == known::NBC_REQUEST.kind => {
                let Some(completion) = self.completions.take(first) else { return Ok(None) };
                if completion.kind != known::NBC_COMPLETE.kind {
                    return fault(completion.at, format!("request {first} is collective, and completes as none"));
                }
                let event = self.collective(call, &completion, true)?;
                Ok(Some(self.requested(event, first)))
            }
            kind if kind == known::COLLECTIVE_END.kind => Ok(Some(self.collective(call, part, false)?)),
            kind if kind == known::COMM_DESTROY.kind && call == Some(Call::CommFree) => {
                Ok(Some(Event { comm: self.comm(first, part.at)?.0, ..Event::new(Call::CommFree, 0, 0) }))
            }
            _ => Ok(None),
        }
    }

    /// Gives a call its request.
    fn requested(&mut self, mut event: Event, request: u64) -> Event {
        self.state.made += 1;
        self.state.open.insert(request, self.state.made);
        event.requests.push(self.state.made);
        event
    }

    /// Sets partner, communicator, tag and size of a message.
    fn message(&mut self, mut event: Event, part: &Part) -> Result<Event, Fault> {
        let [peer, comm, tag, bytes, ..] = part.numbers;
        (event.comm, _) = self.comm(comm, part.at)?;
        event.bytes = bytes;
        event.peer = i32::try_from(peer).unwrap_or(Event::NOBODY);
        event.tag = i32::try_from(tag).unwrap_or(-1);
        // Numbers that are not known match everything.
        let unknown = [(event.peer < 0, Flags::ANY_SOURCE), (event.tag < 0, Flags::ANY_TAG)];
        for (_, flag) in unknown.into_iter().filter(|(is_unknown, _)| *is_unknown) {
            event.flags = event.flags.and(flag);
        }
        if matches!(self.members(comm), Some(Members::Ranks(_, Some(_)))) {
            event.flags = event.flags.and(Flags::INTER);
        }
        Ok(event)
    }

    fn sendrecv(&mut self, call: &InCall, out: &mut Output) -> Result<(), Fault> {
        let null = Event::PROC_NULL;
        let mut event = Event { peer: null, peer2: null, ..Event::new(call.call.unwrap_or(Call::Sendrecv), 0, 0) };
        let mut at = 0;
        for part in &call.parts {
            at = part.at;
            let end = self.message(Event::new(Call::Send, 0, 0), part)?;
            let (comm, flags) = (end.comm, event.flags.and(end.flags));
            match part.kind {
                kind if kind == known::SEND.kind => {
                    event = Event { peer: end.peer, tag: end.tag, bytes: end.bytes, comm, flags, ..event };
                }
                kind if kind == known::RECV.kind => {
                    event = Event { peer2: end.peer, tag2: end.tag, bytes2: end.bytes, comm, flags, ..event };
                }
                kind => return fault(part.at, format!("a record of kind {kind} is in a call that sends and receives")),
            }
        }
        self.event(event, out, at)
    }

    fn collective(&mut self, call: Option<Call>, part: &Part, has_request: bool) -> Result<Event, Fault> {
        let [operation, comm, root, sent, received, _] = part.numbers;
        let Some(recorded) = sizes::call_of(operation) else {
            return fault(part.at, format!("{operation} is no collective operation; 0 to 22 are expected"));
        };
        let fits = |call: &Call| {
            sizes::operation_of(*call) == Some(operation) && call.makes_request() == has_request
                || operation == sizes::ENDED && *call == Call::CommFree
        };
        let with_request = |call: Call| match has_request {
            true => Call::ALL.iter().copied().find(|known| {
                known.makes_request() && (known.blocking() == call || call == Call::CommDup && *known == Call::CommIdup)
            }),
            false => Some(call),
        };
        let Some(call) = call.filter(fits).or_else(|| with_request(recorded)) else {
            return fault(part.at, format!("operation {operation} cannot complete later"));
        };
        let mut event = Event::new(call, 0, 0);
        let (index, ranks) = self.comm(comm, part.at)?;
        event.comm = index;
        let me = self.rank_in(comm);
        // A root of 32 bits below the undefined one is the rank itself.
        let root = if root == u64::from(u32::MAX) - 1 { me } else { root };
        if matches!(self.members(comm), Some(Members::Ranks(_, Some(_)))) {
            // Operations between two groups are not replayed. A communicator made of both takes its recorded time.
            let call = if call.kind() == CallKind::Communicator { Call::Opaque } else { call };
            return Ok(Event { call, bytes: sent, bytes2: received, flags: event.flags.and(Flags::INTER), ..event });
        }
        let kind = (self.local.comms.global(comm), operation, has_request);
        // Only the root knows the blocks of the others.
        let knows = !sizes::is_rooted(call) || root == me;
        let joint = if sizes::has_own_blocks(operation) { self.joint(kind, &event, knows) } else { Vec::new() };
        sizes::set(&mut event, ranks, root, [sent, received], &joint);
        Ok(event)
    }

    /// Returns the sums of all members of a communicator in its next collective of a kind. Returns nothing if the rank
    /// does not know them, they are not recorded, or make up too many blocks.
    fn joint(&mut self, kind: Kind, event: &Event, knows: bool) -> Vec<sizes::Sums> {
        let next = self.state.unequal.entry(kind).or_default();
        let at = std::mem::replace(next, *next + 1);
        let joint = match self.definitions.comms.get(&kind.0) {
            _ if !knows => Vec::new(),
            Some(Members::Ranks(ranks, _)) => self.joints.sums(kind, at, ranks.iter().copied()),
            Some(Members::World) => self.joints.sums(kind, at, 0..self.definitions.ranks.len() as u32),
            _ => Vec::new(),
        };
        let is_matrix = matches!(event.call.blocking(), Call::Alltoallv | Call::Alltoallw);
        *self.made_up += if is_matrix { joint.len() as u64 } else { 0 };
        // All members meet the limit of a communicator in the same operation; that of the archive is the last resort.
        let blocks = (at as u64 + 1).saturating_mul((joint.len() as u64).pow(2));
        if is_matrix && blocks.max(*self.made_up) > MOST_BLOCKS { Vec::new() } else { joint }
    }

    fn members(&self, comm: u64) -> Option<&Members> {
        self.definitions.comms.get(&self.local.comms.global(comm))
    }

    /// Returns the rank in a communicator; undefined outside of it.
    fn rank_in(&self, comm: u64) -> u64 {
        match self.members(comm) {
            Some(Members::Ranks(ranks, _)) => {
                ranks.iter().position(|&rank| rank == self.rank).map_or(UNDEFINED - 1, |at| at as u64)
            }
            Some(Members::Itself) => 0,
            _ => self.rank.into(),
        }
    }

    /// Returns index and size of a communicator, and passes it on if it is new to the rank.
    fn comm(&mut self, number: u64, at: u64) -> Result<(u32, u64), Fault> {
        let global = self.local.comms.global(number);
        let definitions = self.definitions;
        let Some(members) = definitions.comms.get(&global) else {
            return fault(at, format!("communicator {global} is not defined"));
        };
        let index = u32::try_from(global.saturating_add(1)).unwrap_or(u32::MAX);
        let (size, communicator) = match members {
            Members::World => return Ok((0, definitions.ranks.len() as u64)),
            Members::Itself => (1, (0, vec![self.rank], None)),
            Members::Ranks(ranks, other) if !self.state.comms.contains(&global) => {
                let (own, other) = match other {
                    Some(other) if !ranks.contains(&self.rank) => (other, Some(ranks)),
                    other => (ranks, other.as_ref()),
                };
                (own.len(), (u64::from(index), own.to_vec(), other))
            }
            Members::Ranks(ranks, _) => return Ok((index, ranks.len() as u64)),
        };
        if self.state.comms.insert(global) {
            let (id, members, other) = communicator;
            let remote = other.map(|other| other.to_vec()).unwrap_or_default();
            self.pass(Item::Communicator(index, &Communicator { id, members, remote }), at)?;
        }
        Ok((index, size as u64))
    }

    fn event(&mut self, mut event: Event, out: &mut Output, at: u64) -> Result<(), Fault> {
        (event.begin, event.end, event.cpu, event.site) = (out.begin, out.end, out.cpu, out.site);
        // The time of a region belongs to its first call.
        (out.begin, out.cpu) = (out.end, out.cpu.map(|_| 0));
        self.state.events += 1;
        self.pass(Item::Event(&event), at)
    }
}

/// Times and site of the calls of a region.
struct Output {
    begin: u64,
    end: u64,
    cpu: Option<u64>,
    site: u32,
}

/// Returns the call of a region in which no communication is recorded.
fn without_records(call: Option<Call>) -> Event {
    let opaque = Event::new(Call::Opaque, 0, 0);
    let Some(call) = call else { return opaque };
    let event = Event::new(call, 0, 0);
    let null = Event::PROC_NULL;
    match call.kind() {
        CallKind::Send | CallKind::Recv => Event { peer: null, ..event },
        CallKind::Local | CallKind::Wait | CallKind::WaitAny | CallKind::Test | CallKind::Iprobe => event,
        // The message that it found is not recorded: it takes no time of the program.
        CallKind::Probe => Event { call: if call == Call::Mprobe { Call::Improbe } else { Call::Iprobe }, ..event },
        _ => opaque,
    }
}
