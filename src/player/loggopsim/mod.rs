//! LogGOPSim's model, played as that simulator plays it: equal to the nanosecond.
//!
//! Every host has processors, and network interfaces that send and receive at the same time; of each is known when it
//! is next free. Events are taken in order of (time, number of creation):
//!
//! | event at t | needs | effect |
//! |---|---|---|
//! | calc of d | processor | processor free at t + d |
//! | send of s bytes | processor, sending interface | processor free at t + o + (s-1) O, interface at t + g + (s-1) G; the message is at the receiver at t + o + L; above S the operation is done when the message is matched |
//! | receive | nothing | takes a message that has come, or waits for one |
//! | message of s bytes | processor, receiving interface | processor free at t + o + max((s-1) O, (s-1) G), interface at t + g + (s-1) G; is matched or kept |
//!
//! An event whose resources are taken comes again when they are free, under its old number. Matching a message above S
//! raises the sender's processor and interface to the time of the match. What an event has made ready enters at the
//! time at which its own processor (and interface) is free: hosts in ascending order, sends before receives before
//! calculations. A host ends when its last processor is free.
//!
//! # How this stays fast when messages wait
//!
//! A waiting event that comes again and again costs time for each attempt: a linear all-to-all of P ranks would take
//! P^3 steps. Events that wait for the same resources of a host stand in a queue of their own instead, by number, and
//! only the first of them is among the events that are tried. All of them would come again at the same time, when the
//! resource is free, and the first would take it: so the others can stay where they are. Matching is hashed
//! ([`Mailbox`]).
//!
//! Source: the behaviour of LogGOPSim (Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010).

mod lower;
mod queues;
#[cfg(test)]
mod tests;

use std::collections::BinaryHeap;

use smallvec::SmallVec;

use super::activity::{Activity, ActivityKind, Observers, RankTimes, Transfer};
use super::played::{Played, Stuck};
use crate::ids::{IdVec, RankId};
use crate::node::HostCosts;
use crate::noise::{Processors, Work};
use crate::units::Time;
use crate::workload::program::matching::Mailbox;
use crate::workload::program::{Envelope, Op, OpKind, Program};

pub use lower::as_graphs;
use queues::{Entry, Fifo, MESSAGE, Waiting};

/// Events between two looks at whoever may stop the run.
const EVENTS_PER_LOOK: u64 = 65_536;

/// An operation that is done, in the place of the number of those it waits for.
const DONE: u32 = u32::MAX;

/// A message from its sending until it is matched.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// In order of sending.
    number: u32,
    src: RankId,
    /// The operation that sends it.
    op: u32,
    begin: Time,
    leave: Time,
    /// When its receiver comes to it, and is done.
    arrive: Time,
    end: Time,
}

/// All hosts in a run under way.
struct Hosts<'a, 'o> {
    program: &'a Program,
    costs: HostCosts,
    speed: f64,
    /// The processors of hosts, where some are slow.
    processors: Option<Processors>,
    /// Processors and interfaces of a host.
    lanes: (usize, usize),
    /// By host and processor: when it is free.
    cpu: Vec<Time>,
    /// By host and interface.
    nic_send: Vec<Time>,
    nic_recv: Vec<Time>,
    heap: BinaryHeap<Entry>,
    created: u64,
    /// By host: for how many others each operation waits.
    required: Vec<Vec<u32>>,
    left: u64,
    mailboxes: IdVec<RankId, Mailbox>,
    /// By host, processor and interface.
    sends: Vec<Fifo>,
    arrivals: Vec<Waiting>,
    /// By host and processor.
    calcs: Vec<Fifo>,
    recvs: Vec<Fifo>,
    messages: Vec<Sent>,
    free_messages: Vec<u32>,
    ready: SmallVec<[(RankId, u8, u32); 8]>,
    times: Vec<RankTimes>,
    observers: Observers<'o>,
    /// By host: the next border of a region.
    marks: Vec<u32>,
    sent: u32,
    delivered: u64,
    bytes: u64,
    events: u64,
}

/// Plays a program of graphs ([`as_graphs`] makes one of any); `go_on` is asked now and then, with simulated time and
/// messages received so far, and ends the run with `false`.
pub fn play(
    program: &Program,
    costs: &HostCosts,
    (cpu_speed, processors): (f64, Option<Processors>),
    observers: Observers<'_>,
    go_on: &dyn Fn(Time, u64) -> bool,
) -> Played {
    let mut run = Hosts::new(program, *costs, cpu_speed, observers);
    run.processors = processors;
    for host in program.rank_ids() {
        let required = &run.required[host.0 as usize];
        let ops = &program.rank(host).ops;
        run.ready.extend(
            required
                .iter()
                .zip(ops)
                .enumerate()
                .filter(|(_, (count, _))| **count == 0)
                .map(|(at, (_, op))| (host, class(op), at as u32)),
        );
        run.enter_ready();
    }
    let mut interrupted = false;
    let mut last = Time::ZERO;
    while let Some(entry) = run.heap.pop() {
        run.happens(entry);
        last = entry.time();
        run.events += 1;
        if run.events.is_multiple_of(EVENTS_PER_LOOK) && !go_on(entry.time(), run.delivered) {
            interrupted = true;
            break;
        }
    }
    run.played(interrupted, last)
}

/// Sends come before receives before calculations.
fn class(op: &Op) -> u8 {
    match op.kind {
        OpKind::Send | OpKind::Isend => 0,
        OpKind::Calc => 2,
        _ => 1,
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
            cpu: vec![Time::ZERO; hosts * cpus],
            nic_send: vec![Time::ZERO; hosts * nics],
            nic_recv: vec![Time::ZERO; hosts * nics],
            heap: BinaryHeap::new(),
            created: 0,
            required: program
                .iter()
                .map(|(_, rank)| rank.graph().map(|graph| graph.required()).unwrap_or_default())
                .collect(),
            left: program.operations(),
            mailboxes: IdVec::filled(hosts, Mailbox::default()),
            sends: vec![Fifo::default(); hosts * cpus * nics],
            arrivals: vec![Waiting::default(); hosts * cpus * nics],
            calcs: vec![Fifo::default(); hosts * cpus],
            recvs: vec![Fifo::default(); hosts * cpus],
            messages: Vec::new(),
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
    fn at_cpu(&self, host: RankId, op: &Op) -> usize {
        host.0 as usize * self.lanes.0 + usize::from(op.cpu)
    }

    #[inline]
    fn at_nic(&self, host: RankId, op: &Op) -> usize {
        host.0 as usize * self.lanes.1 + usize::from(op.nic)
    }

    /// The queue of what needs both.
    #[inline]
    fn at_both(&self, host: RankId, op: &Op) -> usize {
        self.at_cpu(host, op) * self.lanes.1 + usize::from(op.nic)
    }

    fn create(&mut self) -> u64 {
        self.created += 1;
        self.created
    }

    /// When a host is done with work that begins at this time.
    #[inline]
    fn worked(&mut self, host: RankId, now: Time, begin: Time, time: Time, work: Work) -> Time {
        match &mut self.processors {
            None => begin + time,
            Some(processors) => processors.end(host, now, begin, time, work),
        }
    }

    /// What has become ready enters, in its order.
    fn enter_ready(&mut self) {
        self.ready.sort_unstable();
        let mut ready = std::mem::take(&mut self.ready);
        for (host, _, op) in ready.drain(..) {
            let found = self.program.rank(host).ops[op as usize];
            let number = self.create();
            let cpu = self.cpu[self.at_cpu(host, &found)];
            if self.observers.on_mark.is_some() {
                self.pass_marks(host, op, cpu);
            }
            let (time, queue) = match found.kind {
                OpKind::Send | OpKind::Isend => {
                    let queue = self.at_both(host, &found);
                    (cpu.max(self.nic_send[self.at_nic(host, &found)]), &mut self.sends[queue])
                }
                OpKind::Calc => {
                    let queue = self.at_cpu(host, &found);
                    (cpu, &mut self.calcs[queue])
                }
                _ => {
                    let queue = self.at_cpu(host, &found);
                    (cpu, &mut self.recvs[queue])
                }
            };
            if let Some(entry) = queue.enter(Entry::new(time, number, host, op)) {
                self.heap.push(entry);
            }
        }
        self.ready = ready;
    }

    /// A host comes to the borders of regions before an operation, which is ready: its processor is free then.
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

    fn happens(&mut self, entry: Entry) {
        let host = entry.host;
        if entry.item & MESSAGE != 0 {
            self.message(entry);
        } else {
            let op = self.program.rank(host).ops[entry.item as usize];
            match op.kind {
                OpKind::Send | OpKind::Isend => self.send(entry, op),
                OpKind::Calc => self.calc(entry, op),
                _ => self.recv(entry, op),
            }
        }
        if !self.ready.is_empty() {
            self.enter_ready();
        }
    }

    fn calc(&mut self, entry: Entry, op: Op) {
        let (host, at) = (entry.host, self.at_cpu(entry.host, &op));
        if self.cpu[at] > entry.time() {
            self.heap.push(entry.later(self.cpu[at]));
            return;
        }
        let (begin, time) = (entry.time(), Time::from_ps(op.duration().ps() / self.speed));
        let (free, end) = (self.cpu[at], self.worked(host, begin, begin, time, Work::Calculation));
        self.cpu[at] = end;
        self.spent(host, entry.item, ActivityKind::RecvWait, (free, entry.time()), None);
        self.spent(host, entry.item, ActivityKind::Compute, (entry.time(), end), None);
        if let Some(next) = self.calcs[at].next(end) {
            self.heap.push(next);
        }
        self.finish(host, entry.item, true);
    }

    fn send(&mut self, entry: Entry, op: Op) {
        let (host, now) = (entry.host, entry.time());
        let (at, nic, both) = (self.at_cpu(host, &op), self.at_nic(host, &op), self.at_both(host, &op));
        let free = self.cpu[at].max(self.nic_send[nic]);
        if free > now {
            self.heap.push(entry.later(free));
            return;
        }
        let costs = self.costs;
        let more = op.size as f64 - 1.0;
        let idle = self.cpu[at];
        let sent_off = self.worked(host, now, now, costs.processor, Work::Overhead);
        self.cpu[at] = self.worked(host, now, sent_off, costs.processor_per_byte * more, Work::Overhead);
        self.nic_send[nic] = now + costs.interface + costs.interface_per_byte * more;
        let sent = self.sent;
        self.sent = self.sent.wrapping_add(1);
        // What it waited for is another operation of its own, or its interface.
        self.spent(host, entry.item, ActivityKind::SendWait, (idle, now), None);
        self.spent(host, entry.item, ActivityKind::SendOverhead, (now, self.cpu[at]), Some((sent, RankId(op.peer))));
        let sent = Sent {
            number: sent,
            src: host,
            op: entry.item,
            begin: now,
            leave: self.cpu[at],
            arrive: Time::ZERO,
            end: Time::ZERO,
        };
        let free = self.cpu[at].max(self.nic_send[nic]);
        if let Some(next) = self.sends[both].next(free) {
            self.heap.push(next);
        }
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
        let number = self.create();
        let arrival = sent_off + costs.latency;
        self.heap.push(Entry::new(arrival, number, RankId(op.peer), message | MESSAGE));
        if op.size <= costs.eager_limit.0 {
            self.finish(host, entry.item, true);
        } else {
            self.release(host, entry.item, true, false);
        }
    }

    fn recv(&mut self, entry: Entry, op: Op) {
        let (host, at) = (entry.host, self.at_cpu(entry.host, &op));
        if let Some(next) = self.recvs[at].next_as_entered() {
            self.heap.push(next);
        }
        match self.mailboxes[host].post(op.envelope(), entry.item) {
            Some(message) => {
                self.matched(message, entry.time());
                self.finish(host, entry.item, true);
            }
            None => self.release(host, entry.item, true, false),
        }
    }

    fn message(&mut self, entry: Entry) {
        let (host, now) = (entry.host, entry.time());
        let number = entry.item & !MESSAGE;
        let Sent { number: order, src, op: sent, .. } = self.messages[number as usize];
        let op = self.program.rank(src).ops[sent as usize];
        // The sender's processor and interface say which of the receiver's are meant.
        let (at, nic, both) = (self.at_cpu(host, &op), self.at_nic(host, &op), self.at_both(host, &op));
        let free = self.cpu[at].max(self.nic_recv[nic]);
        if free > now {
            if let Some(entry) = self.arrivals[both].wait(entry.later(free)) {
                self.heap.push(entry);
            }
            return;
        }
        let costs = self.costs;
        let more = op.size as f64 - 1.0;
        let idle = self.cpu[at];
        let taken_up = self.worked(host, now, now, costs.processor, Work::Overhead);
        let rest = (costs.processor_per_byte * more).max(costs.interface_per_byte * more);
        self.cpu[at] = self.worked(host, now, taken_up, rest, Work::Overhead);
        self.nic_recv[nic] = now + costs.interface + costs.interface_per_byte * more;
        let from = Envelope { peer: src.0, tag: op.tag, comm: op.arg };
        let receive = self.mailboxes[host].arrive(from, number);
        // Where nobody has asked for it yet, the operation is that of the sender.
        let (by, other) = (receive.unwrap_or(sent), Some((order, src)));
        self.spent(host, by, ActivityKind::RecvWait, (idle, now), other);
        self.spent(host, by, ActivityKind::RecvOverhead, (now, self.cpu[at]), other);
        let end = self.cpu[at];
        let found = &mut self.messages[number as usize];
        (found.arrive, found.end) = (now, end);
        let free = self.cpu[at].max(self.nic_recv[nic]);
        if let Some(next) = self.arrivals[both].taken(entry, free) {
            self.heap.push(next);
        }
        self.delivered += 1;
        self.bytes += op.size;
        if let Some(receive) = receive {
            self.matched(number, now);
            self.finish(host, receive, false);
        }
    }

    /// A message has been matched: above S its sender is done.
    fn matched(&mut self, message: u32, now: Time) {
        let Sent { number, src, op: sent, begin, leave, arrive, end } = self.messages[message as usize];
        self.free_messages.push(message);
        let op = self.program.rank(src).ops[sent as usize];
        let dst = RankId(op.peer);
        if let Some(on_transfer) = &mut self.observers.on_transfer {
            let waited = false;
            let (bytes, op) = (op.size, Some(sent));
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
        if op.size > self.costs.eager_limit.0 {
            let (at, nic) = (self.at_cpu(src, &op), self.at_nic(src, &op));
            let free = self.cpu[at];
            self.spent(src, sent, ActivityKind::SendWait, (free, now), Some((number, dst)));
            self.cpu[at] = free.max(now);
            self.nic_send[nic] = self.nic_send[nic].max(now);
            self.finish(src, sent, false);
        }
    }

    /// An operation is done, and has started just now or earlier.
    fn finish(&mut self, host: RankId, op: u32, starts_now: bool) {
        self.required[host.0 as usize][op as usize] = DONE;
        self.left -= 1;
        self.release(host, op, starts_now, true);
    }

    /// What waited for the start or the end of an operation, or both, waits no longer.
    fn release(&mut self, host: RankId, op: u32, start: bool, end: bool) {
        let rank = self.program.rank(host);
        let Some(graph) = rank.graph() else { return };
        let required = &mut self.required[host.0 as usize];
        for follower in graph.followers(op) {
            if if follower.for_start { start } else { end } {
                let count = &mut required[follower.op as usize];
                *count -= 1;
                if *count == 0 {
                    self.ready.push((host, class(&rank.ops[follower.op as usize]), follower.op));
                }
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
        for (times, cpus) in self.times.iter_mut().zip(self.cpu.chunks_exact(self.lanes.0)) {
            times.end = cpus.iter().copied().max().unwrap_or_default();
        }
        let hosts = if self.left == 0 { self.times.len() as u32 } else { 0 };
        for host in (0..hosts).map(RankId) {
            let (end, ops) = (self.times[host.0 as usize].end, self.program.rank(host).ops.len() as u32);
            self.pass_marks(host, ops, end);
        }
        let stuck = if interrupted || self.left == 0 { Vec::new() } else { self.stuck() };
        Played {
            unreceived: self.mailboxes.iter().map(|mailbox| mailbox.unexpected() as u64).sum(),
            last: self.times.iter().map(|times| times.end).fold(last, Time::max),
            ranks: self.times,
            messages: self.delivered,
            bytes: self.bytes,
            events: self.events,
            stuck,
            interrupted,
        }
    }

    /// Of each rank the first operation that waits for no other of its rank and is not done.
    fn stuck(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for rank in self.program.rank_ids() {
            let mut open = self.required[rank.0 as usize].iter().enumerate().filter(|(_, count)| **count == 0);
            let Some((at, _)) = open.next() else { continue };
            let op = &self.program.rank(rank).ops[at];
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
