//! LogGOPSim's model, played as that simulator plays it: equal to the nanosecond.
//!
//! Every host has processors, and network interfaces that send and receive at the same time; each has a time
//! at which it is next free. Events are taken in order of (time, number of creation):
//!
//! | event at t | needs | processor is free at | interface is free at |
//! |---|---|---|---|
//! | calc of d | processor | t + d | |
//! | send of s bytes | processor, sending interface | t + o + (s-1) O | t + g + (s-1) G |
//! | receive | nothing | | |
//! | message of s bytes | processor, receiving interface | t + o + max((s-1) O, (s-1) G) | t + g + (s-1) G |
//!
//! A message that is sent at t is at the receiver at t + o + L. A message is matched with a receive that waits for
//! it, or kept; a receive takes a message that has arrived, or waits for one. A send above S is done when its
//! message is matched.
//!
//! An event whose resources are busy comes again when they are free, under its old number. Matching a message
//! above S raises the sender's processor and interface to the time of the match. Operations that an event has
//! made ready enter at the time at which their own processor (and interface) is free: hosts in ascending
//! order, sends before receives before calculations. A host ends when its last processor is free.
//!
//! # Speed with many waiting messages
//!
//! A waiting event that comes again and again costs time for each attempt: a linear all-to-all of P ranks
//! would take P^3 steps. Instead, events that wait for the same resources of a host are in a queue of their
//! own, by number, and only the first of them is among the events that are tried. All of them would come
//! again at the same time, when the resource is free, and the first would take it; so the rest can stay in
//! the queue. Matching is hashed if many messages wait ([`Mailboxes`]), and events of the same time are not
//! compared with each other (`agenda`).
//!
//! Source: the behaviour of LogGOPSim (Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010).

mod agenda;
mod lower;
mod queues;
mod required;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;

use super::activity::{Activity, ActivityKind, Observers, RankTimes, Transfer};
use super::played::{Played, Stuck};
use crate::ids::RankId;
use crate::node::HostCosts;
use crate::noise::{Processors, Work};
use crate::program::mailboxes::Mailboxes;
use crate::program::{Envelope, Op, OpKind, Program};
use crate::units::Time;

use agenda::{Agenda, Entry, MESSAGE};
pub use lower::as_graphs;
use queues::{Fifo, Pool, Waiting};
use required::Required;

/// Number of events between two calls of `keep_running`.
const EVENTS_PER_LOOK: u64 = 65_536;

/// A message from its sending until it is matched: data of the sending operation that the receiver needs.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Number in order of sending.
    number: u32,
    src: RankId,
    /// Operation that sends it.
    op: u32,
    tag: u32,
    comm: u32,
    cpu: u8,
    nic: u8,
    size: u64,
}

/// Times of a message's transfer, recorded only for observers.
#[derive(Clone, Copy, Debug, Default)]
struct TransferTimes {
    begin: Time,
    leave: Time,
    /// Begin and end of the receiver's overhead.
    arrive: Time,
    end: Time,
}

/// A processor of a host.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    /// Time at which it is next free.
    free: Time,
    calcs: Fifo,
    recvs: Fifo,
}

/// An interface of a host: times at which it can next send and receive.
#[derive(Clone, Copy, Debug, Default)]
struct Nic {
    send: Time,
    recv: Time,
}

/// Queues of events that need both a processor and an interface.
#[derive(Clone, Debug, Default)]
struct SharedQueues {
    sends: Fifo,
    arrivals: Waiting,
}

/// State of a run: all hosts.
struct Hosts<'a, 'o> {
    program: &'a Program,
    costs: HostCosts,
    speed: f64,
    /// Processors of the hosts, if some are slow.
    processors: Option<Processors>,
    /// Numbers of processors and interfaces of a host.
    lanes: (usize, usize),
    /// Processors, by host and processor.
    cpus: Vec<Cpu>,
    /// Interfaces, by host and interface.
    nics: Vec<Nic>,
    /// Queues, by host, processor and interface.
    both: Vec<SharedQueues>,
    /// Entries of the queues of processors and interfaces.
    queued: Pool,
    agenda: Agenda,
    created: u64,
    required: Required,
    left: u64,
    mailboxes: Mailboxes,
    messages: Vec<Sent>,
    /// Times of each message's transfer, if there is an observer.
    transfers: Vec<TransferTimes>,
    free_messages: Vec<u32>,
    ready: SmallVec<[(RankId, u8, u32); 8]>,
    times: Vec<RankTimes>,
    observers: Observers<'o>,
    /// Next border of a region, by host.
    marks: Vec<u32>,
    sent: u32,
    delivered: u64,
    bytes: u64,
    events: u64,
}

/// Plays a program of graphs ([`as_graphs`] converts any program).
///
/// From time to time it calls `keep_running` with simulated time and the number of messages received so far; the run
/// ends if that returns `false`.
pub fn play(
    program: &Program,
    costs: &HostCosts,
    (cpu_speed, processors): (f64, Option<Processors>),
    observers: Observers<'_>,
    keep_running: &dyn Fn(Time, u64) -> bool,
) -> Played {
    let mut run = Hosts::new(program, *costs, cpu_speed, observers);
    run.processors = processors;
    for (host, rank) in program.iter() {
        let open = (0..).zip(&rank.ops).filter(|&(at, _)| run.required.is_open(host, at));
        run.ready.extend(open.map(|(at, op)| (host, class(op), at)));
        run.enter_ready();
    }
    let mut interrupted = false;
    let mut last = Time::ZERO;
    while let Some(entry) = run.agenda.pop() {
        run.execute(entry);
        last = entry.time();
        run.events += 1;
        if run.events.is_multiple_of(EVENTS_PER_LOOK) && !keep_running(entry.time(), run.delivered) {
            interrupted = true;
            break;
        }
    }
    run.played(interrupted, last)
}

/// Order of operations that become ready together: sends before receives before calculations.
const SEND: u8 = 0;
const RECV: u8 = 1;
const CALC: u8 = 2;

#[inline]
fn class(op: &Op) -> u8 {
    match op.kind {
        OpKind::Send | OpKind::Isend => SEND,
        OpKind::Calc => CALC,
        _ => RECV,
    }
}

impl<'a, 'o> Hosts<'a, 'o> {
    fn new(program: &'a Program, costs: HostCosts, speed: f64, observers: Observers<'o>) -> Self {
        let hosts = program.ranks() as usize;
        let (cpus, nics) = program.lanes();
        let (cpus, nics) = (cpus as usize, nics as usize);
        Self {
            program,
            costs,
            speed,
            processors: None,
            lanes: (cpus, nics),
            cpus: vec![Cpu::default(); hosts * cpus],
            nics: vec![Nic::default(); hosts * nics],
            both: vec![SharedQueues::default(); hosts * cpus * nics],
            queued: Pool::default(),
            agenda: Agenda::default(),
            created: 0,
            required: Required::new(program),
            left: program.operations(),
            mailboxes: Mailboxes::new(hosts),
            messages: Vec::new(),
            transfers: Vec::new(),
            free_messages: Vec::new(),
            ready: SmallVec::new(),
            times: vec![RankTimes::default(); hosts],
            marks: if observers.on_mark.is_some() { vec![0; hosts] } else { Vec::new() },
            observers,
            sent: 0,
            delivered: 0,
            bytes: 0,
            events: 0,
        }
    }

    #[inline]
    fn at_cpu(&self, host: RankId, cpu: u8) -> usize {
        host.0 as usize * self.lanes.0 + usize::from(cpu)
    }

    #[inline]
    fn at_nic(&self, host: RankId, nic: u8) -> usize {
        host.0 as usize * self.lanes.1 + usize::from(nic)
    }

    /// Returns the index of the queues for a processor and an interface.
    #[inline]
    fn at_both(&self, host: RankId, cpu: u8, nic: u8) -> usize {
        self.at_cpu(host, cpu) * self.lanes.1 + usize::from(nic)
    }

    fn create(&mut self) -> u64 {
        self.created += 1;
        self.created
    }

    /// Returns the end of a host's work that begins at this time.
    #[inline]
    fn worked(&mut self, host: RankId, now: Time, begin: Time, time: Time, work: Work) -> Time {
        match &mut self.processors {
            None => begin + time,
            Some(processors) => processors.end(host, now, begin, time, work),
        }
    }

    /// Enters the operations that have become ready, in their order.
    fn enter_ready(&mut self) {
        if self.ready.len() > 1 {
            self.ready.sort_unstable();
        }
        let mut ready = std::mem::take(&mut self.ready);
        for (host, class, op) in ready.drain(..) {
            let Op { cpu, nic, .. } = self.program.rank(host).ops[op as usize];
            let number = self.create();
            let at = self.at_cpu(host, cpu);
            let free = self.cpus[at].free;
            if self.observers.on_mark.is_some() {
                self.pass_marks(host, op, free);
            }
            let (time, queue) = match class {
                SEND => {
                    let both = self.at_both(host, cpu, nic);
                    (free.max(self.nics[self.at_nic(host, nic)].send), &mut self.both[both].sends)
                }
                CALC => (free, &mut self.cpus[at].calcs),
                _ => (free, &mut self.cpus[at].recvs),
            };
            if let Some(entry) = self.queued.enter(queue, Entry::new(time, number, host, op)) {
                self.agenda.push(entry);
            }
        }
        self.ready = ready;
    }

    /// Tells of the borders of regions before an operation that has become ready: the host's processor is
    /// free at `time`.
    fn pass_marks(&mut self, host: RankId, op: u32, time: Time) {
        let Some(on_mark) = &mut self.observers.on_mark else { return };
        let next = &mut self.marks[host.0 as usize];
        for mark in &self.program.rank(host).marks[*next as usize..] {
            if mark.at != op {
                break;
            }
            *next += 1;
            on_mark(host, mark, time);
        }
    }

    #[inline]
    fn execute(&mut self, entry: Entry) {
        let host = entry.host;
        if entry.item & MESSAGE != 0 {
            self.message(entry);
        } else {
            let op = self.program.rank(host).ops[entry.item as usize];
            match class(&op) {
                SEND => self.send(entry, op),
                CALC => self.calc(entry, op),
                _ => self.recv(entry, op),
            }
        }
        if !self.ready.is_empty() {
            self.enter_ready();
        }
    }

    fn calc(&mut self, entry: Entry, op: Op) {
        let (host, at) = (entry.host, self.at_cpu(entry.host, op.cpu));
        let free = self.cpus[at].free;
        if free > entry.time() {
            self.agenda.push(entry.later(free));
            return;
        }
        let (begin, time) = (entry.time(), Time::from_ps(op.duration().ps() / self.speed));
        let end = self.worked(host, begin, begin, time, Work::Calculation);
        self.cpus[at].free = end;
        self.spent(host, entry.item, ActivityKind::RecvWait, (free, entry.time()), None);
        self.spent(host, entry.item, ActivityKind::Compute, (entry.time(), end), None);
        if let Some(next) = self.queued.next(&mut self.cpus[at].calcs, host, end) {
            self.agenda.push(next);
        }
        self.finish(host, entry.item, true);
    }

    fn send(&mut self, entry: Entry, op: Op) {
        let (host, now) = (entry.host, entry.time());
        let (at, nic, both) =
            (self.at_cpu(host, op.cpu), self.at_nic(host, op.nic), self.at_both(host, op.cpu, op.nic));
        let idle = self.cpus[at].free;
        let free = idle.max(self.nics[nic].send);
        if free > now {
            self.agenda.push(entry.later(free));
            return;
        }
        let costs = self.costs;
        let more = op.size as f64 - 1.0;
        let sent_off = self.worked(host, now, now, costs.processor, Work::Overhead);
        let leave = self.worked(host, now, sent_off, costs.processor_per_byte * more, Work::Overhead);
        self.cpus[at].free = leave;
        self.nics[nic].send = now + costs.interface + costs.interface_per_byte * more;
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        // It waited for another operation of its host, or for its interface.
        self.spent(host, entry.item, ActivityKind::SendWait, (idle, now), None);
        self.spent(host, entry.item, ActivityKind::SendOverhead, (now, leave), Some((number, RankId(op.peer))));
        let free = leave.max(self.nics[nic].send);
        if let Some(next) = self.queued.next(&mut self.both[both].sends, host, free) {
            self.agenda.push(next);
        }
        let Op { tag, arg: comm, cpu, nic, size, .. } = op;
        let sent = Sent { number, src: host, op: entry.item, tag, comm, cpu, nic, size };
        let message = match self.free_messages.pop() {
            Some(message) => {
                self.messages[message as usize] = sent;
                message
            }
            None => {
                self.messages.push(sent);
                (self.messages.len() - 1) as u32
            }
        };
        if self.observers.on_transfer.is_some() {
            self.transfers.resize(self.messages.len(), TransferTimes::default());
            self.transfers[message as usize] = TransferTimes { begin: now, leave, ..TransferTimes::default() };
        }
        let number = self.create();
        let arrival = sent_off + costs.latency;
        self.agenda.push(Entry::new(arrival, number, RankId(op.peer), message | MESSAGE));
        if size <= costs.eager_limit.0 {
            self.finish(host, entry.item, true);
        } else {
            self.release(host, entry.item, true, false);
        }
    }

    fn recv(&mut self, entry: Entry, op: Op) {
        let (host, at) = (entry.host, self.at_cpu(entry.host, op.cpu));
        if let Some(next) = self.queued.next_as_entered(&mut self.cpus[at].recvs, host) {
            self.agenda.push(next);
        }
        match self.mailboxes.post(host, op.envelope(), entry.item) {
            Some(message) => {
                self.matched(message, host, entry.time());
                self.finish(host, entry.item, true);
            }
            None => self.release(host, entry.item, true, false),
        }
    }

    fn message(&mut self, entry: Entry) {
        let (host, now) = (entry.host, entry.time());
        let number = entry.item & !MESSAGE;
        let Sent { number: order, src, op: sent, tag, comm, cpu, nic, size } = self.messages[number as usize];
        // The numbers of the sender's processor and interface select those of the receiver.
        let (at, nic, both) = (self.at_cpu(host, cpu), self.at_nic(host, nic), self.at_both(host, cpu, nic));
        let idle = self.cpus[at].free;
        let free = idle.max(self.nics[nic].recv);
        if free > now {
            if let Some(entry) = self.both[both].arrivals.wait(entry.later(free)) {
                self.agenda.push(entry);
            }
            return;
        }
        let costs = self.costs;
        let more = size as f64 - 1.0;
        let taken_up = self.worked(host, now, now, costs.processor, Work::Overhead);
        let copied = self.worked(host, now, taken_up, costs.processor_per_byte * more, Work::Overhead);
        // G belongs to the network: a slow processor does not delay the bytes.
        let end = copied.max(taken_up + costs.interface_per_byte * more);
        self.cpus[at].free = end;
        self.nics[nic].recv = now + costs.interface + costs.interface_per_byte * more;
        let receive = self.mailboxes.arrive(host, Envelope { peer: src.0, tag, comm }, number);
        // If no receive has taken it yet, the time counts for the sender's operation.
        let (by, other) = (receive.unwrap_or(sent), Some((order, src)));
        self.spent(host, by, ActivityKind::RecvWait, (idle, now), other);
        self.spent(host, by, ActivityKind::RecvOverhead, (now, end), other);
        if let Some(way) = self.transfers.get_mut(number as usize) {
            (way.arrive, way.end) = (now, end);
        }
        let free = end.max(self.nics[nic].recv);
        if let Some(next) = self.both[both].arrivals.taken(entry, free) {
            self.agenda.push(next);
        }
        self.delivered += 1;
        self.bytes += size;
        if let Some(receive) = receive {
            self.matched(number, host, now);
            self.finish(host, receive, false);
        }
    }

    /// Notes that a message has been matched: above S its sending operation is done.
    fn matched(&mut self, message: u32, dst: RankId, now: Time) {
        let Sent { number, src, op: sent, cpu, nic, size: bytes, .. } = self.messages[message as usize];
        self.free_messages.push(message);
        if let Some(on_transfer) = &mut self.observers.on_transfer {
            let TransferTimes { begin, leave, arrive, end } = self.transfers[message as usize];
            let waited = false;
            let op = Some(sent);
            let called = begin;
            on_transfer(&Transfer {
                message: number,
                src,
                dst,
                bytes,
                op,
                received_by: None,
                called,
                begin,
                waited,
                leave: leave.min(arrive),
                arrive,
                end,
            });
        }
        if bytes > self.costs.eager_limit.0 {
            let (at, nic) = (self.at_cpu(src, cpu), self.at_nic(src, nic));
            let free = self.cpus[at].free;
            self.spent(src, sent, ActivityKind::SendWait, (free, now), Some((number, dst)));
            self.cpus[at].free = free.max(now);
            self.nics[nic].send = self.nics[nic].send.max(now);
            self.finish(src, sent, false);
        }
    }

    /// Marks an operation as done; with `starts_now` it also starts at this moment, else it has started
    /// before.
    fn finish(&mut self, host: RankId, op: u32, starts_now: bool) {
        self.required.done(host, op);
        self.left -= 1;
        self.release(host, op, starts_now, true);
    }

    /// Releases the operations that waited for the start or the end of an operation, or both.
    fn release(&mut self, host: RankId, op: u32, start: bool, end: bool) {
        let rank = self.program.rank(host);
        let Some(graph) = rank.graph() else { return };
        for follower in graph.followers(op) {
            let released = if follower.for_start { start } else { end };
            if released && self.required.less(host, follower.op) {
                self.ready.push((host, class(&rank.ops[follower.op as usize]), follower.op));
            }
        }
    }

    #[inline]
    fn spent(&mut self, rank: RankId, op: u32, kind: ActivityKind, span: (Time, Time), other: Option<(u32, RankId)>) {
        let (begin, end) = span;
        if end > begin {
            self.times[rank.0 as usize].add(kind, end - begin);
            if let Some(on_activity) = &mut self.observers.on_activity {
                let (message, peer) = other.unzip();
                on_activity(&Activity { rank, kind, begin, end, op, message, peer });
            }
        }
    }

    fn played(mut self, interrupted: bool, last: Time) -> Played {
        for (times, cpus) in self.times.iter_mut().zip(self.cpus.chunks_exact(self.lanes.0)) {
            times.end = cpus.iter().map(|cpu| cpu.free).max().unwrap_or_default();
        }
        let hosts = if self.left == 0 { self.times.len() as u32 } else { 0 };
        for host in (0..hosts).map(RankId) {
            let (end, ops) = (self.times[host.0 as usize].end, self.program.rank(host).ops.len() as u32);
            self.pass_marks(host, ops, end);
        }
        let stuck = if interrupted || self.left == 0 { Vec::new() } else { self.stuck() };
        Played {
            unreceived: self.mailboxes.unexpected(),
            last: self.times.iter().map(|times| times.end).fold(last, Time::max),
            ranks: self.times,
            messages: self.delivered,
            bytes: self.bytes,
            events: self.events,
            stuck,
            interrupted,
        }
    }

    /// Returns, for each rank, the first operation that waits for no other of its rank and is not done.
    fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for rank in self.program.rank_ids() {
            let ops = &self.program.rank(rank).ops;
            let mut open = (0..ops.len()).filter(|&at| self.required.is_open(rank, at as u32));
            let Some(at) = open.next() else { continue };
            let op = &ops[at];
            let place = self.program.place(rank, at as u32);
            let mut what = self.program.describe(rank, op);
            if let Some(place) = &place {
                what += &format!(" ({place})");
            }
            let more = open.count();
            if more > 0 {
                what += &format!(", and {more} more");
            }
            let on = if op.kind == OpKind::Calc { None } else { op.envelope().rank() };
            stuck.push(Stuck { rank, op: at as u32, what, place, on });
        }
        stuck
    }
}
