//! Conversion of recorded calls to a program that can be replayed.
//!
//! Each call becomes an operation, and the time between two calls a calculation. Time inside calls is
//! dropped, because a replay predicts it. The conversion is not one to one in these points:
//!
//! * The program starts when `Init` returns and ends when `Finalize` is called.
//! * A wildcard receive takes the message of the recorded run ([`Op::is_pinned`]). If that is not known it stays open.
//! * Requests are followed as [`hayase_trace::walk`] does. A test that found requests complete waits for them;
//!   `Waitany` and `Waitsome` wait for those that were complete in the recorded run, in that order.
//! * A non-blocking collective proceeds in the background.
//! * Making a communicator waits for all members of the old one, like a barrier.
//! * Facts that a rank cannot know are inferred from its calls. The blocks of other ranks in a gatherv or scatterv do
//!   not matter to it and are 0. An alltoallv with a known total alone has blocks of one size.
//! * Communicators of the same ranks, each freed before the next is used, are one ([`lives`](super::lives)).
//! * Threads of a rank are threads of the program ([`threads`]).
//! * A border of a region stays where it was set; computation before it and after it are two calculations.
//! * Opaque calls (one-sided communication, files) become plain time.

mod borders;
mod rank;
mod thread;
mod threads;

use std::collections::BTreeMap;

use hayase_trace::MessageEnd;
use hayase_trace::callers::Gather;
use hayase_trace::walk::Identity;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::calls::{Call, CallKind, Calls, Clock, Communicator, Event, Flags, Header, Item, ItemError, MOST_RANKS};
use super::lives::Lifetimes;
use crate::diagnostic::Diagnostic;
use crate::program::between::Between;
use crate::program::part::{Part, Skip};
use crate::program::{
    ANY_SOURCE, ANY_TAG, Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder,
};
use crate::units::Time;
use borders::Regions;
use rank::{PS_PER_NS, RankCalls};

/// Largest number of blocks of other ranks that are made up before a trace is refused: half a gigabyte of
/// them.
const MAX_INVENTED_BLOCKS: usize = 1 << 26;

/// Consumer of recorded calls that makes a program of them.
#[derive(Debug)]
pub struct ToProgram {
    file: String,
    unit: &'static str,
    /// State of each rank. In a map a false rank number costs nothing.
    ranks: BTreeMap<u32, RankCalls>,
    /// Number of blocks of other ranks made up so far.
    made_up: usize,
    groups: Groups,
    lives: Lifetimes,
    collectives: FxHashMap<Collective, u32>,
    /// Collectives in the order of their numbers.
    listed: Vec<Collective>,
    every_call: bool,
    /// Callers that tell sites of one place apart, if asked for.
    callers: Option<Gather>,
    regions: Regions,
}

/// Communicators of all ranks, with equal ones identified.
#[derive(Debug, Default)]
struct Groups {
    numbers: FxHashMap<Identity, u32>,
    /// Members and remote group by number less one; no members if they are not known.
    listed: Vec<Communicator>,
}

impl ToProgram {
    /// Creates a consumer for calls of this file, whose places are counted in this unit (`line`, `event`).
    pub fn new(file: &str, unit: &'static str) -> Self {
        Self {
            file: file.into(),
            unit,
            ranks: BTreeMap::new(),
            made_up: 0,
            groups: Groups::default(),
            lives: Lifetimes::default(),
            collectives: FxHashMap::default(),
            listed: Vec::new(),
            every_call: false,
            callers: None,
            regions: Regions::default(),
        }
    }

    /// Ends computation at every call, also at those that become no operation. So computation before and
    /// after a call can be distinguished.
    #[must_use]
    pub fn at_every_call(mut self) -> Self {
        self.every_call = true;
        self
    }

    /// Distinguishes places of one line by their callers: `lib.c:5 (send) called from a.c:20 (solve)`.
    #[must_use]
    pub fn with_callers(mut self) -> Self {
        self.callers = Some(Gather::default());
        self
    }

    /// Marks the region between two places, with this name.
    #[must_use]
    pub fn between(mut self, between: Option<Between>, name: &str) -> Self {
        self.regions.between(between, name);
        self
    }

    /// Marks the rest of each rank after this time as a region.
    #[must_use]
    pub fn after(mut self, time: Time, name: &str) -> Self {
        self.regions.after((time.ps() / PS_PER_NS) as u64, name);
        self
    }

    /// Marks the part that results are about, if it is given by places or by time.
    #[must_use]
    pub fn with_part(self, part: &Part) -> Self {
        let name = part.name().unwrap_or_default();
        match part.skip_start {
            Some(Skip::Time(time)) => self.after(time, &name),
            _ => self.between(part.between(), &name),
        }
    }

    /// Returns the program.
    ///
    /// # Errors
    /// A rank is missing, or a mistake that [`ProgramBuilder::build`] finds.
    pub fn finish(mut self) -> Result<Program, Vec<Diagnostic>> {
        let claimed = self.ranks.values().map(|rank| rank.world).max().unwrap_or(0);
        let present = self.ranks.len();
        if claimed == 0 {
            return Err(vec![Diagnostic::new("no-calls", format!("`{}` holds no calls", self.file))]);
        }
        if present < claimed as usize {
            let first = (0..).find(|rank| !self.ranks.contains_key(rank)).unwrap_or(0);
            let message =
                format!("`{}` has the calls of {present} of {claimed} ranks; rank {first} is missing", self.file);
            return Err(vec![
                Diagnostic::new("missing-rank", message).help("name the folder that holds the files of all ranks"),
            ]);
        }
        self.regions.check().map_err(|mistake| vec![mistake])?;
        let mut program = ProgramBuilder::new(claimed);
        for name in self.regions.names() {
            program.region(name);
        }
        let file = program.file(self.file);
        program.places_in(self.unit);
        // Number in the program, by number in the trace.
        let shared = self.lives.shared_numbers(&self.groups.listed);
        let comm = |number: u32| number.checked_sub(1).map_or(0, |at| shared[at as usize] + 1);
        let mut made = 0;
        for (group, &number) in self.groups.listed.into_iter().zip(&shared) {
            if number == made {
                program.communicator(group.members);
                made += 1;
            }
        }
        let collective =
            |collective: Collective| program.collective(Collective { comm: comm(collective.comm), ..collective });
        let collectives: Vec<u32> = self.listed.into_iter().map(collective).collect();
        let callers = self.callers.map(Gather::finish).unwrap_or_default();
        let clock = self.ranks.values().next().map_or(Clock::None, |rank| rank.clock);
        for mut rank in self.ranks.into_values() {
            rank.turn_to_first();
            self.regions.end(&mut rank);
            rank.ops.from_file(file);
            rank.ops.renumber(comm, |number| collectives[number as usize]);
            // A recorder that cannot name a site knows its address, which identifies it in this run.
            let names: FxHashMap<u32, u32> = {
                let mut known: Vec<_> = rank.sites.iter().collect();
                known.sort_unstable();
                let name = |index, name| callers.name(rank.me, index, name);
                known.into_iter().map(|(&index, known)| (index + 1, program.site(&name(index, known)))).collect()
            };
            rank.ops.renumber_sites(|site| names.get(&site).copied().unwrap_or(0));
            if rank.clock == Clock::Wall {
                let end = rank.finalize.unwrap_or(rank.last_end);
                rank.ops.measured(rank.since_start(end));
            }
            program.finish_rank(rank.ops);
        }
        let mut program = program.build()?;
        program.recorded = self.regions.recorded(clock);
        Ok(program)
    }

    fn begin(&mut self, header: &Header) -> Result<(), ItemError> {
        if header.ranks > MOST_RANKS {
            let message = format!("a trace of {} ranks; at most {} are read", header.ranks, MOST_RANKS);
            return Err(ItemError::new("too-large", message));
        }
        // All ranks before agree.
        if let Some(other) = self.ranks.values().next().filter(|other| other.world != header.ranks) {
            let message = format!("one rank says that there are {} ranks, another {}", other.world, header.ranks);
            return Err(ItemError::new("other-run", message));
        }
        if self.ranks.contains_key(&header.rank) {
            return Err(ItemError::new("repeated-rank", format!("rank {} appears twice", header.rank)));
        }
        let rank = self.ranks.entry(header.rank).or_insert(RankCalls::new(header));
        self.regions.begin(rank, header);
        Ok(())
    }

    fn event(&mut self, at: u32, place: u64, event: &Event) -> Result<(), ItemError> {
        let Self { ranks, made_up, groups, lives, collectives, listed, every_call, regions, .. } = self;
        let Some(rank) = ranks.get_mut(&at) else {
            return Err(ItemError::new("no-header", format!("rank {at} calls before its trace begins")));
        };
        if rank.finalize.is_some() {
            return Ok(());
        }
        rank.calls += 1;
        rank.turn_to(event.thread)?;
        if event.comm != 0
            && let Some(&(number, _)) = rank.communicators.get(&event.comm)
        {
            lives.note_use(number, at, rank.calls, event.call == Call::CommFree);
        }
        let gap = rank.gap(event.cpu, event.begin);
        let before = rank.ops.ops().len();
        rank.waits_for_threads(event, gap);
        rank.last_end = event.end;
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        if event.call == Call::Init {
            rank.start = event.end;
            regions.entered(rank, event, place);
            return Ok(());
        }
        rank.computed += gap;
        rank.ops.at_site(event.site);
        // Borders of regions belong to the first thread.
        if event.thread == 0 {
            rank.borders.passed();
            regions.computed(rank, gap);
            rank.leads_to(event.site);
            regions.entered(rank, event, place);
        }
        let mut call = InCall { rank, groups, event, place };
        // With several threads, others may wait for a call that becomes no operation.
        if *every_call || call.rank.has_several_threads() {
            call.compute();
        }
        match event.call.kind() {
            CallKind::Local if event.call == Call::Finalize => {
                call.compute();
                rank.finalize = Some(event.begin);
            }
            CallKind::Local if event.call == Call::RequestFree => {
                for &request in &event.requests {
                    rank.requests.free(request);
                }
            }
            CallKind::Local if event.call == Call::Compute => rank.computed += event.end.saturating_sub(event.begin),
            CallKind::Opaque => rank.computed += event.end.saturating_sub(event.begin),
            CallKind::Local | CallKind::Iprobe => {}
            CallKind::Wait | CallKind::WaitAny | CallKind::Test => call.wait()?,
            CallKind::Probe => {
                if event.peer != Event::PROC_NULL {
                    let (from, open) = call.envelope(event, event.peer, event.tag, true)?;
                    call.push(Op::probe(from).marked(open));
                }
            }
            _ => {
                let collective = |collective: Collective| {
                    *collectives.entry(collective).or_insert_with_key(|collective| {
                        listed.push(collective.clone());
                        listed.len() as u32 - 1
                    })
                };
                call.begin(made_up, collective)?;
            }
        }
        if event.thread == 0 {
            regions.left(rank, event, place);
        }
        rank.has_called(event, gap, before);
        Ok(())
    }
}

impl Calls for ToProgram {
    fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), ItemError> {
        match item {
            Item::Header(header) => self.begin(header),
            Item::Communicator(index, communicator) => {
                let Some(known) = self.ranks.get_mut(&rank) else { return Ok(()) };
                let number = self.groups.number(communicator, known.naming.identity(communicator));
                let me = communicator.members.iter().position(|&member| member == known.me);
                known.communicators.insert(index, (number, me.map(|me| me as u32)));
                Ok(())
            }
            Item::Event(event) => self.event(rank, place, event),
            Item::Site(index, site) => {
                if let Some(callers) = &mut self.callers {
                    callers.add(rank, index, site);
                }
                let Some(known) = self.ranks.get_mut(&rank) else { return Ok(()) };
                let name = match site.name.as_str() {
                    "" if site.address == 0 => return Ok(()),
                    "" => format!("0x{:x}", site.address),
                    name => name.to_owned(),
                };
                self.regions.site(&mut known.borders, index, &name);
                known.sites.insert(index, name);
                Ok(())
            }
            Item::Region(index, name) => {
                let Some(known) = self.ranks.get_mut(&rank) else { return Ok(()) };
                self.regions.name(&mut known.borders, index, name);
                Ok(())
            }
            Item::Mark(mark) => match self.ranks.get_mut(&rank) {
                Some(known) => {
                    known.turn_to(0)?;
                    self.regions.mark(known, mark, place)
                }
                None => Ok(()),
            },
            Item::Note(..) | Item::End { .. } => Ok(()),
        }
    }
}

impl Groups {
    /// Returns the number in the program of a communicator that a rank has made.
    fn number(&mut self, communicator: &Communicator, identity: Identity) -> u32 {
        let next = self.listed.len() as u32 + 1;
        let number = *self.numbers.entry(identity).or_insert(next);
        if number == next {
            self.listed.push(communicator.clone());
        }
        number
    }
}

/// A call of a rank, on its way to operations.
struct InCall<'a> {
    rank: &'a mut RankCalls,
    groups: &'a Groups,
    event: &'a Event,
    place: u32,
}

impl InCall<'_> {
    /// Records the computation before the call.
    fn compute(&mut self) {
        self.rank.compute(self.place);
    }

    fn push(&mut self, op: Op) -> u32 {
        self.compute();
        self.rank.add_pending();
        self.rank.ops.push_at(op, self.place)
    }

    /// Returns the communicator's number in the program and its members; `None` for the members of the world.
    fn group(&self, event: &Event) -> Result<(u32, Option<&Communicator>), ItemError> {
        let index = event.comm;
        match self.rank.communicators.get(&index) {
            Some(&(number, _)) => {
                let group = &self.groups.listed[number as usize - 1];
                if group.members.is_empty() {
                    let message = format!("it is not known who is in communicator {index}");
                    return Err(ItemError::new("unknown-members", message));
                }
                Ok((number, Some(group)))
            }
            None if index == 0 => Ok((0, None)),
            None => Err(ItemError::new("unknown-communicator", format!("communicator {index} has not been made"))),
        }
    }

    /// Returns peer, tag and communicator of a message, and flags for the wildcards of the program. A receive
    /// whose message is not known stays open.
    fn envelope(&self, event: &Event, peer: i32, tag: i32, receives: bool) -> Result<(Envelope, u8), ItemError> {
        let (comm, group) = self.group(event)?;
        let flags = event.flags;
        let no_rank =
            || ItemError::new("unknown-rank", format!("there is no rank {peer} in communicator {}", event.comm));
        let mut open = 0;
        if receives && flags.has(Flags::ANY_SOURCE) && peer >= 0 {
            open |= Op::OPEN_SOURCE;
        }
        if receives && flags.has(Flags::ANY_TAG) && tag >= 0 && peer >= 0 {
            open |= Op::OPEN_TAG;
        }
        let peer = if receives && flags.has(Flags::ANY_SOURCE) && peer < 0 {
            ANY_SOURCE
        } else {
            let peer = u32::try_from(peer).map_err(|_| no_rank())?;
            match group {
                None => peer,
                // The group of the side that made the communicator first is listed as its members.
                Some(group) if flags.has(Flags::INTER) && group.members.contains(&self.rank.me) => {
                    *group.remote.get(peer as usize).ok_or_else(no_rank)?
                }
                Some(group) => *group.members.get(peer as usize).ok_or_else(no_rank)?,
            }
        };
        let tag = if receives && flags.has(Flags::ANY_TAG) && open & Op::OPEN_TAG == 0 {
            ANY_TAG
        } else {
            u32::try_from(tag).map_err(|_| ItemError::new("bad-tag", format!("a message has tag {tag}")))?
        };
        Ok((Envelope { peer, tag, comm }, open))
    }

    /// Begins the communications of the call. `number` returns the number of a collective operation.
    fn begin(&mut self, made_up: &mut usize, mut number: impl FnMut(Collective) -> u32) -> Result<(), ItemError> {
        let event = self.event;
        if event.call.makes_request() && event.requests.len() != 1 {
            let message = format!("{} makes {} requests, not one", event.call.name(), event.requests.len());
            return Err(ItemError::new("bad-request", message));
        }
        self.check_requests()?;
        if matches!(event.call.kind(), CallKind::SendInit | CallKind::RecvInit) {
            // Mistakes are reported here, not where it is started.
            event.message_ends().try_for_each(|end| self.message(event, end).map(drop))?;
        }
        for begun in self.rank.requests.begun(event) {
            let begun: &Event = &begun;
            let started = match begun.call.kind() {
                CallKind::Collective | CallKind::Icollective | CallKind::Communicator => {
                    let number = number(self.collective(begun, made_up)?);
                    self.compute();
                    self.rank.require_collective(begun.comm);
                    self.push(if begun.call.makes_request() { Op::icollective(number) } else { Op::collective(number) })
                }
                _ => self.messages(begun)?,
            };
            if let Some(request) = begun.request_made() {
                self.rank.requests.keep(request, started);
            }
        }
        Ok(())
    }

    /// Returns the operation of one end of a message.
    fn message(&self, event: &Event, end: MessageEnd) -> Result<Op, ItemError> {
        let MessageEnd { sends, peer, tag, bytes } = end;
        let (envelope, open) = self.envelope(event, peer, tag, !sends)?;
        let op = match (sends, event.call.makes_request()) {
            (true, true) => Op::isend(envelope, bytes),
            (true, false) => Op::send(envelope, bytes),
            (false, true) => Op::irecv(envelope, bytes),
            (false, false) => Op::recv(envelope, bytes),
        };
        Ok(op.marked(open))
    }

    /// Adds the operations of a call that sends, receives or both, and returns the last of them.
    fn messages(&mut self, event: &Event) -> Result<u32, ItemError> {
        let mut ends = event.message_ends();
        let (first, second) = (ends.next(), ends.next());
        let first = first.map(|end| self.message(event, end)).transpose()?;
        let second = second.map(|end| self.message(event, end)).transpose()?;
        Ok(match (first, second) {
            // Both proceed at the same time.
            (Some(send), Some(receive)) => {
                let receive = Op { kind: OpKind::Irecv, ..receive }.marked(Op::WITHIN_CALL);
                let request = self.push(receive);
                self.push(send);
                self.push(Op::wait(request).marked(Op::WITHIN_CALL))
            }
            (Some(op), None) => self.push(op),
            _ => 0,
        })
    }

    /// Checks that all requests that the call names have been made.
    fn check_requests(&self) -> Result<(), ItemError> {
        match self.rank.requests.unknown(self.event) {
            None => Ok(()),
            Some(request) => {
                let name = self.event.call.name();
                let message = format!("{name} names request {request}, which no call before it has made");
                Err(ItemError::new("unknown-request", message))
            }
        }
    }

    fn wait(&mut self) -> Result<(), ItemError> {
        self.check_requests()?;
        let requests = &mut self.rank.requests;
        let completed = self.event.requests.iter().filter_map(|&request| requests.complete(request));
        let completed: SmallVec<[u32; 8]> = completed.collect();
        if !completed.is_empty() {
            self.compute();
            completed.iter().for_each(|&started| self.rank.require(started));
        }
        match completed.as_slice() {
            [] => {}
            &[one] => drop(self.push(Op::wait(one))),
            several => {
                self.rank.add_pending();
                self.rank.ops.wait_list_at(OpKind::Waitall, several, self.place);
            }
        }
        Ok(())
    }

    fn collective(&self, event: &Event, made_up: &mut usize) -> Result<Collective, ItemError> {
        let (comm, group) = self.group(event)?;
        let size = group.map_or(self.rank.world as usize, |group| group.members.len());
        let me = match self.rank.communicators.get(&event.comm) {
            None => Some(self.rank.me),
            Some(&(_, me)) => me,
        };
        let Some(me) = me else {
            let message = format!("it is not in communicator {}", event.comm);
            return Err(ItemError::new("wrong-communicator", message));
        };
        if event.flags.has(Flags::INTER) && event.call.kind() != CallKind::Communicator {
            return Err(ItemError::new(
                "inter-communicator",
                "collective operations between two groups are not replayed",
            ));
        }
        let counts = |given: &[u64]| -> Result<Option<Counts>, ItemError> {
            match given.len() {
                0 => Ok(None),
                length if length == size => Ok(Some(Counts::Each(given.into()))),
                length => {
                    let message = format!("{} has {length} counts for {size} ranks", event.call.name());
                    Err(ItemError::new("wrong-counts", message))
                }
            }
        };
        // The block of this rank alone. Only the root knows and uses the blocks of the others.
        let mut own = |bytes: u64| {
            *made_up += size;
            if *made_up > MAX_INVENTED_BLOCKS {
                return Err(ItemError::new(
                    "too-large",
                    "too many gatherv and scatterv of different sizes, of too many ranks",
                ));
            }
            let mut counts = vec![0; size];
            counts[me as usize] = bytes;
            Ok(Counts::Each(counts.into()))
        };
        let blocking = event.call.blocking();
        let (call, counts) = match blocking {
            Call::Bcast => (CollectiveCall::Bcast, Counts::Same(event.bytes)),
            Call::Reduce => (CollectiveCall::Reduce, Counts::Same(event.bytes)),
            Call::Allreduce => (CollectiveCall::Allreduce, Counts::Same(event.bytes)),
            Call::Scan => (CollectiveCall::Scan, Counts::Same(event.bytes)),
            Call::Exscan => (CollectiveCall::Exscan, Counts::Same(event.bytes)),
            Call::Gather => (CollectiveCall::Gather, Counts::Same(event.bytes)),
            Call::Scatter => (CollectiveCall::Scatter, Counts::Same(event.bytes)),
            Call::Allgather => (CollectiveCall::Allgather, Counts::Same(event.bytes)),
            Call::Alltoall => (CollectiveCall::Alltoall, Counts::Same(event.bytes)),
            Call::ReduceScatterBlock => (CollectiveCall::ReduceScatter, Counts::Same(event.bytes)),
            Call::Gatherv => (CollectiveCall::Gather, counts(&event.counts2)?.map_or_else(|| own(event.bytes), Ok)?),
            Call::Scatterv => (CollectiveCall::Scatter, counts(&event.counts)?.map_or_else(|| own(event.bytes2), Ok)?),
            Call::Allgatherv => {
                (CollectiveCall::Allgather, counts(&event.counts2)?.unwrap_or(Counts::Same(event.bytes)))
            }
            Call::ReduceScatter => {
                (CollectiveCall::ReduceScatter, counts(&event.counts)?.unwrap_or(Counts::Same(event.bytes)))
            }
            Call::Alltoallv | Call::Alltoallw => {
                let even = Counts::Same(event.bytes2 / size as u64);
                (CollectiveCall::Alltoall, counts(&event.counts)?.unwrap_or(even))
            }
            _ => (CollectiveCall::Barrier, Counts::Same(0)),
        };
        let rooted = matches!(
            call,
            CollectiveCall::Bcast | CollectiveCall::Reduce | CollectiveCall::Gather | CollectiveCall::Scatter
        );
        let root = match u32::try_from(event.peer) {
            _ if !rooted => 0,
            Ok(root) if (root as usize) < size => root,
            _ => {
                let message = format!("{} has root {}, in a communicator of {size}", event.call.name(), event.peer);
                return Err(ItemError::new("wrong-root", message));
            }
        };
        Ok(Collective { call, comm, root, counts, plan: None })
    }
}
