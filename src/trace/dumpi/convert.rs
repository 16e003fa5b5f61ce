//! Records of a rank on their way to calls.

use rustc_hash::FxHashMap;

use super::members::{COMM_NULL, COMM_SELF, COMM_WORLD, Known, Made, Told, made_by};
use super::record::{Record, Span, Status};
use super::requests::{REQUEST_NULL, Results, completed, started};
use super::types::Types;
use crate::trace::calls::{Call, CallKind, Calls, Clock, Communicator, Event, Flags, Item, Op};
use crate::trace::fault::{Fault, fault, mistake};

/// Largest step back of a clock that is taken for none \[ns\]. Real time is corrected while programs run.
const CLOCK_STEP: u64 = 1_000_000;
/// Number of the first operator that the program makes; lower ones are those of MPI from 1 on.
const FIRST_OWN_OP: i32 = 15;
/// Operators of MPI by number.
const OPS: &str = "- max min sum prod land band lor bor lxor bxor minloc maxloc replace -";
/// Peer of a receive from any source, and tag of one with any tag.
const ANY: i32 = -1;

/// First id of the sides of inter-communicators.
const LOCAL_SIDES: u64 = 1 << 40;
/// Number of all requests for files.
const FILE: u64 = 0;

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// Number among the requests of the rank, from 1.
    number: u64,
    /// Receive that each start of it begins.
    receive: Option<Receive>,
    is_persistent: bool,
}

/// Arguments of a receive.
#[derive(Clone, Copy, Debug)]
struct Receive {
    source: i32,
    tag: i32,
    /// Room for the message \[B\].
    room: u64,
    /// Number of possible senders, and the rank of the first.
    senders: usize,
    offset: i32,
}

/// A communicator of the rank.
#[derive(Clone, Copy, Debug)]
struct Comm {
    /// Index in the table of the rank.
    index: u32,
    /// Number of possible partners.
    peers: usize,
    is_inter: bool,
    /// Rank of the first partner. An inter-communicator is one of both sides, for its messages.
    offset: i32,
    /// Index of the own side of an inter-communicator.
    local: u32,
}

/// State of a rank.
pub(super) struct Converter<'a> {
    pub rank: u32,
    pub clock: Clock,
    pub types: Types,
    /// Communicators of the run, those that this rank makes, and those that it has without a record.
    pub known: &'a [Known],
    pub made: &'a Made,
    pub told: &'a Told,
    pub results: Results,
    /// Number of calls passed on, and of those that are not in the trace.
    pub events: u64,
    pub lost: u64,
    /// Begin of the stream \[ns\].
    begin: Option<u64>,
    /// Processor time so far, if there is no other clock \[ns\].
    computed: u64,
    /// Number and last exit of each thread \[ns\].
    threads: FxHashMap<u16, (u32, u64)>,
    comms: FxHashMap<i32, Comm>,
    next_comm: u32,
    next_made: usize,
    requests: FxHashMap<i32, Request>,
    requests_made: u64,
    receives: usize,
    /// Operators that the program makes.
    ops: FxHashMap<i32, Op>,
}

impl<'a> Converter<'a> {
    /// Starts at the begin of a rank.
    pub fn new(
        rank: u32,
        clock: Clock,
        types: Types,
        (known, made, told): (&'a [Known], &'a Made, &'a Told),
        results: Results,
    ) -> Self {
        let world = Comm { index: 0, peers: known[0].members.len(), is_inter: false, offset: 0, local: 0 };
        Self {
            rank,
            clock,
            types,
            known,
            made,
            told,
            results,
            events: 0,
            lost: 0,
            begin: None,
            computed: 0,
            threads: FxHashMap::default(),
            comms: [(COMM_WORLD, world)].into_iter().collect(),
            next_comm: 1,
            next_made: 0,
            requests: FxHashMap::default(),
            requests_made: 0,
            receives: 0,
            ops: FxHashMap::default(),
        }
    }

    /// Passes on the call of a record.
    pub fn take(&mut self, record: &Record, calls: &mut impl Calls) -> Result<(), Fault> {
        let at = record.at;
        let (thread, gap, begin, end) = self.times(record)?;
        self.types.take(record);
        match record.function.name {
            "Op_create" => {
                let op = if record.numbers[0] != 0 { Op::USER } else { Op::USER_ORDERED };
                self.ops.insert(record.numbers[1], op);
            }
            // Requests for files are of no interest to those who wait for messages.
            name if name.starts_with("File_i") => {
                let id = record.numbers[record.function.arguments.len() - 1];
                self.requests.insert(id, Request { number: FILE, receive: None, is_persistent: false });
            }
            _ => {}
        }
        let made = made_by(record);
        if let Some(call) = record.function.call {
            let mut event = Event { thread, ..Event::new(call, begin, end) };
            if self.clock == Clock::Cpu {
                event.cpu = Some(gap);
            }
            self.fill(record, &mut event, calls)?;
            self.events += 1;
            let passed = calls.item(self.rank, at as u64, Item::Event(&event));
            passed.map_err(|wrong| Fault::of_item(wrong, at as u64))?;
            let exit = self.span(record).map_or(0, |(_, exit)| exit);
            if let Some((_, last)) = self.threads.get_mut(&record.thread) {
                *last = exit.max(*last);
            }
        }
        if let Some(number) = made {
            let known = self.made.get(self.next_made).copied().flatten();
            self.next_made += 1;
            if number != COMM_NULL {
                self.announce(number, known, at, calls)?;
            }
        }
        if record.function.name == "Comm_free" {
            self.comms.remove(&record.numbers[0]);
        }
        Ok(())
    }

    fn span(&self, record: &Record) -> Option<Span> {
        match self.clock {
            Clock::Wall => record.wall,
            Clock::Cpu => record.cpu,
            Clock::None => None,
        }
    }

    /// Returns the thread of a record, the time since its last call, and the times of the call in the stream.
    /// Calls within calls, and clocks set back a little, have no time of their own.
    fn times(&mut self, record: &Record) -> Result<(u32, u64, u64, u64), Fault> {
        let next = self.threads.len() as u32;
        let begin = self.begin;
        let first = begin.or(self.span(record).map(|(entry, _)| entry)).unwrap_or(0);
        let &mut (thread, last) = self.threads.entry(record.thread).or_insert((next, first));
        let Some((entry, exit)) = self.span(record) else {
            let now = last.saturating_sub(first);
            return Ok((thread, 0, now, now));
        };
        self.begin = Some(first);
        if exit + CLOCK_STEP < entry {
            return fault(record.at as u64, format!("the call returns {} ns before it begins", entry - exit));
        }
        if exit + CLOCK_STEP < last {
            let what =
                format!("the call returns {} ns before the call before it: its clock runs backwards", last - exit);
            return fault(record.at as u64, what);
        }
        let (entry, exit) = (entry.max(last), exit.max(entry).max(last));
        let gap = entry - last;
        if self.clock == Clock::Cpu {
            // Only the time between calls counts, and that of calls which are computation.
            if record.function.call.is_some() {
                self.computed += gap;
            }
            return Ok((thread, gap, self.computed, self.computed));
        }
        Ok((thread, gap, entry - first, exit - first))
    }

    /// Tells the members of a communicator, which gets the next index.
    fn announce(&mut self, number: i32, known: Option<usize>, at: usize, calls: &mut impl Calls) -> Result<(), Fault> {
        let mut pass = |index: u32, communicator: &Communicator| {
            let passed = calls.item(self.rank, at as u64, Item::Communicator(index, communicator));
            passed.map_err(|wrong| Fault::of_item(wrong, at as u64))
        };
        let index = self.next_comm;
        let mut comm = Comm { index, peers: 0, is_inter: false, offset: 0, local: 0 };
        let mut communicator = Communicator::default();
        if let Some(known_at) = known {
            let Known { id, members, remote, .. } = &self.known[known_at];
            communicator = Communicator { id: *id, members: members.to_vec(), remote: Vec::new() };
            comm.peers = if remote.is_empty() { members.len() } else { remote.len() };
            if !remote.is_empty() {
                (comm.is_inter, comm.local) = (true, index + 1);
                let id = LOCAL_SIDES | known_at as u64;
                pass(comm.local, &Communicator { id, ..communicator.clone() })?;
                // Both sides have the same order: that of their first members.
                let (low, high) = if members.first() < remote.first() { (members, remote) } else { (remote, members) };
                communicator.members = low.iter().chain(high.iter()).copied().collect();
                comm.offset = if std::ptr::eq(low, members) { low.len() as i32 } else { 0 };
            }
        }
        pass(index, &communicator)?;
        self.next_comm = index.max(comm.local) + 1;
        self.comms.insert(number, comm);
        Ok(())
    }

    /// Returns a communicator by its number in the format. One that no record makes is announced at its first use.
    fn comm(&mut self, number: i32, event: &mut Event, at: usize, calls: &mut impl Calls) -> Result<Comm, Fault> {
        if !self.comms.contains_key(&number) {
            // The call that made it was not recorded.
            self.lost += u64::from(number != COMM_SELF);
            self.announce(number, self.told.get(&number).copied().flatten(), at, calls)?;
        }
        let comm = self.comms[&number];
        event.comm = comm.index;
        if comm.is_inter && event.call.kind() == CallKind::Collective {
            event.flags = event.flags.and(Flags::INTER);
        }
        Ok(comm)
    }

    /// Returns the bytes of elements of a datatype.
    fn bytes(&self, record: &Record, count: i32, datatype: i32) -> Result<u64, Fault> {
        match (u64::try_from(count), self.types.size(datatype)) {
            (Err(_), _) => fault(record.at as u64, format!("MPI_{} has {count} elements", record.function.name)),
            (Ok(0), _) => Ok(0),
            (Ok(count), Some(size)) => Ok(count.saturating_mul(size)),
            (Ok(_), None) => {
                let what =
                    format!("the size of datatype {datatype} is not known: neither the file nor a call tells it");
                mistake("unknown-size", record.at as u64, what)
            }
        }
    }

    fn list(&self, record: &Record, array: usize, datatype: i32) -> Result<Vec<u64>, Fault> {
        record.arrays[array].iter().map(|&count| self.bytes(record, count, datatype)).collect()
    }

    /// Adds a request under a number that may have been used before, and returns its own number.
    fn make_request(&mut self, id: i32, receive: Option<Receive>, is_persistent: bool) -> u64 {
        self.requests_made += 1;
        self.requests.insert(id, Request { number: self.requests_made, receive, is_persistent });
        self.requests_made
    }

    /// Sets source, tag and size of a receive, from its result if there is one.
    fn received(event: &mut Event, receive: Receive, status: Option<Status>) -> (i32, i32, u64) {
        let Receive { source, tag, room, senders, offset } = receive;
        let shifted = |source: i32| if source < 0 { Event::NOBODY } else { source.saturating_add(offset) };
        let given = status;
        // A result that the program ignored may hold anything.
        let status = status.filter(|status| {
            let is_sender = usize::try_from(status.source).is_ok_and(|sender| sender < senders);
            let fits = u64::try_from(status.bytes).is_ok_and(|bytes| bytes <= room);
            let is_asked = |asked: i32, got: i32| asked < 0 || asked == got || got < 0;
            !status.cancelled && is_sender && fits && is_asked(source, status.source) && is_asked(tag, status.tag)
        });
        let mut flag = |flag| event.flags = event.flags.and(flag);
        if source < ANY || given.is_some_and(|given| given.cancelled || source == ANY && given.source < 0) {
            return (Event::PROC_NULL, tag, 0);
        }
        if source == ANY {
            flag(Flags::ANY_SOURCE);
        }
        if tag == ANY {
            flag(Flags::ANY_TAG);
        }
        match status {
            Some(status) => (shifted(status.source), if tag == ANY { status.tag } else { tag }, status.bytes as u64),
            None => {
                flag(Flags::CAPACITY);
                (shifted(source), tag, room)
            }
        }
    }

    /// Sets the arguments of a call.
    fn fill(&mut self, record: &Record, event: &mut Event, calls: &mut impl Calls) -> Result<(), Fault> {
        let (n, at) = (&record.numbers, record.at);
        let peer = |comm: Comm, dest: i32| match dest {
            dest if dest < 0 => Ok(Event::PROC_NULL),
            dest if comm.is_inter && dest as usize >= comm.peers => {
                fault(at as u64, format!("there is no rank {dest} on the other side, which has {} ranks", comm.peers))
            }
            dest => Ok(dest.saturating_add(comm.offset)),
        };
        match event.call.kind() {
            CallKind::Send | CallKind::Isend | CallKind::SendInit => {
                let comm = self.comm(n[4], event, at, calls)?;
                (event.peer, event.tag, event.bytes) = (peer(comm, n[2])?, n[3], self.bytes(record, n[0], n[1])?);
                self.element(event, n[1]);
                if event.call.makes_request() {
                    let is_persistent = event.call.kind() == CallKind::SendInit;
                    event.requests = vec![self.make_request(n[5], None, is_persistent)];
                }
            }
            CallKind::Recv | CallKind::Irecv | CallKind::RecvInit => {
                let Comm { peers: senders, offset, .. } = self.comm(n[4], event, at, calls)?;
                let receive =
                    Receive { source: n[2], tag: n[3], room: self.bytes(record, n[0], n[1])?, senders, offset };
                self.element(event, n[1]);
                let mut status = record.statuses.first().copied();
                if event.call.makes_request() {
                    let is_persistent = event.call.kind() == CallKind::RecvInit;
                    event.requests = vec![self.make_request(n[5], Some(receive), is_persistent)];
                    status = if is_persistent { None } else { self.next_result() };
                }
                (event.peer, event.tag, event.bytes) = Self::received(event, receive, status);
            }
            CallKind::Sendrecv => {
                let replaces = event.call == Call::SendrecvReplace;
                let (room, source, tag, comm) =
                    if replaces { ((n[0], n[1]), n[4], n[5], n[6]) } else { ((n[4], n[5]), n[6], n[7], n[8]) };
                let comm = self.comm(comm, event, at, calls)?;
                (event.peer, event.tag, event.bytes) = (peer(comm, n[2])?, n[3], self.bytes(record, n[0], n[1])?);
                self.element(event, n[1]);
                let receive = Receive {
                    source,
                    tag,
                    room: self.bytes(record, room.0, room.1)?,
                    senders: comm.peers,
                    offset: comm.offset,
                };
                let status = record.statuses.first().copied();
                (event.peer2, event.tag2, event.bytes2) = Self::received(event, receive, status);
                // The flag would be that of the message sent, too.
                event.flags = Flags(event.flags.0 & !Flags::CAPACITY.0);
            }
            CallKind::Probe | CallKind::Iprobe => {
                let Comm { peers: senders, offset, .. } = self.comm(n[2], event, at, calls)?;
                let receive = Receive { source: n[0], tag: n[1], room: u64::MAX, senders, offset };
                let status = record.statuses.first().copied();
                (event.peer, event.tag, event.bytes) = Self::received(event, receive, status);
                if event.flags.has(Flags::CAPACITY) {
                    event.flags = Flags(event.flags.0 & !Flags::CAPACITY.0);
                    event.bytes = 0;
                }
            }
            CallKind::Start => self.start(record, event),
            CallKind::Wait | CallKind::WaitAny | CallKind::Test => {
                if !matches!(event.call, Call::Wait | Call::Waitall | Call::Test | Call::Testall) {
                    let offered = record.arrays[0].iter().filter_map(|request| self.requests.get(request));
                    event.offered = offered.map(|request| request.number).collect();
                }
                for (id, _) in completed(record) {
                    match self.requests.get(&id).copied() {
                        Some(request) => {
                            if !request.is_persistent {
                                self.requests.remove(&id);
                            }
                            if request.number != FILE {
                                event.requests.push(request.number);
                            }
                        }
                        None => self.lost += u64::from(id > REQUEST_NULL),
                    }
                }
            }
            CallKind::Collective => self.collective(record, event, calls)?,
            CallKind::Communicator => {
                let old = match event.call {
                    Call::GraphCreate | Call::CartSub => n[1],
                    _ => n[0],
                };
                let comm = self.comm(old, event, at, calls)?;
                // The sides of an inter-communicator wait each for itself.
                if comm.is_inter {
                    event.comm = comm.local;
                    event.flags = Flags::default();
                }
            }
            CallKind::Local if event.call == Call::CommFree => drop(self.comm(n[0], event, at, calls)?),
            CallKind::Local if event.call == Call::RequestFree => {
                event.requests = self.requests.remove(&n[0]).map(|request| request.number).into_iter().collect();
            }
            _ => {}
        }
        Ok(())
    }

    fn element(&self, event: &mut Event, datatype: i32) {
        event.element = self.types.size(datatype).and_then(|size| u32::try_from(size).ok()).unwrap_or(0);
    }

    /// Returns the result of the next receive.
    fn next_result(&mut self) -> Option<Status> {
        self.receives += 1;
        self.results.get(self.receives - 1)
    }

    /// Sets the requests of a start, and the message of a receive that it begins alone.
    fn start(&mut self, record: &Record, event: &mut Event) {
        for id in started(record) {
            let Some(request) = self.requests.get(id).copied().filter(|request| request.is_persistent) else {
                self.lost += 1;
                continue;
            };
            event.requests.push(request.number);
            let Some(receive) = request.receive else { continue };
            let status = self.next_result();
            if started(record).len() == 1 && status.is_some() {
                let (peer, tag, bytes) = Self::received(event, receive, status);
                if !event.flags.has(Flags::CAPACITY) || peer == Event::PROC_NULL {
                    (event.peer, event.tag, event.bytes) = (peer, tag, bytes);
                }
                event.flags = Flags(event.flags.0 & !Flags::CAPACITY.0);
            }
        }
    }

    /// Sets the arguments of a collective operation. A block is that of the side which `MPI_IN_PLACE` leaves
    /// valid.
    fn collective(&mut self, record: &Record, event: &mut Event, calls: &mut impl Calls) -> Result<(), Fault> {
        let (n, at) = (&record.numbers, record.at);
        let op = |event: &mut Event, number: i32| {
            let name = OPS.split(' ').nth(usize::try_from(number).unwrap_or(0)).filter(|_| number < FIRST_OWN_OP);
            event.op = name.map_or(Op::USER, |name| Op::from_name(name).unwrap_or(Op::NONE));
        };
        let (comm, element) = match event.call {
            Call::Barrier => (n[0], None),
            Call::Bcast => {
                (event.bytes, event.peer) = (self.bytes(record, n[0], n[1])?, n[2]);
                (n[3], Some(n[1]))
            }
            Call::Reduce => {
                (event.bytes, event.peer) = (self.bytes(record, n[0], n[1])?, n[3]);
                op(event, n[2]);
                (n[4], Some(n[1]))
            }
            Call::Allreduce | Call::Scan | Call::Exscan => {
                event.bytes = self.bytes(record, n[0], n[1])?;
                op(event, n[2]);
                (n[3], Some(n[1]))
            }
            Call::ReduceScatter => {
                event.counts = self.list(record, 0, n[1])?;
                op(event, n[2]);
                (n[3], Some(n[1]))
            }
            Call::Gather | Call::Scatter => {
                event.peer = n[3];
                let (count, datatype) = if n[0] == n[3] { (n[5], n[6]) } else { (n[1], n[2]) };
                event.bytes = self.bytes(record, count, datatype)?;
                (n[4], Some(datatype))
            }
            Call::Gatherv => {
                event.peer = n[4];
                if n[0] == n[4] {
                    event.counts2 = self.list(record, 0, n[6])?;
                    event.bytes = usize::try_from(n[0]).ok().and_then(|me| event.counts2.get(me)).copied().unwrap_or(0);
                } else {
                    event.bytes = self.bytes(record, n[2], n[3])?;
                }
                (n[5], Some(n[6]))
            }
            Call::Scatterv => {
                event.peer = n[5];
                event.bytes2 = self.bytes(record, n[3], n[4])?;
                if n[0] == n[5] {
                    event.counts = self.list(record, 0, n[2])?;
                    event.bytes2 = usize::try_from(n[0]).ok().and_then(|me| event.counts.get(me)).copied().unwrap_or(0);
                }
                (n[6], Some(n[4]))
            }
            Call::Allgather | Call::Alltoall => {
                event.bytes = self.bytes(record, n[2], n[3])?;
                (n[4], Some(n[3]))
            }
            Call::Allgatherv => {
                event.counts2 = self.list(record, 0, n[3])?;
                event.bytes = self.bytes(record, n[1], n[2])?;
                (n[4], Some(n[3]))
            }
            Call::Alltoallv => {
                event.counts = self.list(record, 0, n[1])?;
                event.counts2 = self.list(record, 2, n[2])?;
                (n[3], Some(n[1]))
            }
            Call::Alltoallw => {
                let each = |counts: usize, types: usize| {
                    let pairs = record.arrays[counts].iter().zip(&record.arrays[types]);
                    pairs.map(|(&count, &datatype)| self.bytes(record, count, datatype)).collect::<Result<_, _>>()
                };
                (event.counts, event.counts2) = (each(0, 2)?, each(3, 5)?);
                (n[1], None)
            }
            _ => return Ok(()),
        };
        if event.op == Op::USER
            && let Some(&own) = self.ops.get(&n[2])
        {
            event.op = own;
        }
        self.comm(comm, event, at, calls)?;
        if let Some(datatype) = element {
            self.element(event, datatype);
        }
        // A call in place may leave the side sent empty.
        if event.call == Call::Alltoallv && event.counts.iter().all(|&bytes| bytes == 0) {
            event.counts.clone_from(&event.counts2);
        }
        Ok(())
    }
}
