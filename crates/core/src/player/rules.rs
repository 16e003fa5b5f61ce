//! The rules of MPIETE as published: no events and no queue, one pass over the operations.
//!
//! ```text
//! a rank's first operation starts at 0, every other one when the one before it ends
//! a calculation takes its time; starting a transfer and waiting for a send take none
//! a wait for a receive ends at max(its start, end of the matching send + T_comm(from, to, its size))
//! the program ends with its last rank
//! ```
//! The time of a wait depends on a single send, and the choice of that send does not depend on times: the
//! n-th receive from a rank, with a tag, in a communicator takes the n-th message that was sent with these.
//! So ranks are evaluated in any order, each until it waits for a send that is not evaluated yet; the result
//! is the same for every order.
//!
//! This holds as long as no receive leaves its source or tag open. Programs with wildcards are played in
//! order of time by the [`Player`](super::Player) with the same costs, where a message that arrives first is
//! taken first. So are programs with collective operations in the background, which the rules do not have.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.5, equations 1 to 7.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::activity::{Activity, ActivityKind, Observers, RankTimes, Transfer};
use super::keys::{COLLECTIVE, STEP};
use super::played::{Played, Stuck};
use crate::ids::RankId;
use crate::node::ReceiveTable;
use crate::noise::{Processors, Work};
use crate::program::{ANY_SOURCE, ANY_TAG, Action, Communicator, Envelope, Expand, Op, OpKind, Program};
use crate::units::Time;

/// Number of operations between two calls of `keep_running`.
const OPS_PER_LOOK: u64 = 1 << 20;

/// Returns true if the rules determine the message that every receive takes.
pub fn apply(program: &Program) -> bool {
    program.iter().all(|(_, rank)| {
        let tells = |op: &Op| match op.kind {
            OpKind::Recv | OpKind::Irecv => op.peer != ANY_SOURCE && op.tag != ANY_TAG,
            OpKind::Probe | OpKind::Test | OpKind::Waitany | OpKind::Waitsome | OpKind::Icollective => false,
            _ => true,
        };
        rank.graph().is_none() && rank.threads.is_empty() && rank.ops.iter().all(tells)
    })
}

/// Evaluates a program by the rules, which must [`apply`] to it.
pub fn play(
    program: &Program,
    table: &ReceiveTable,
    expand: &dyn Expand,
    (cpu_speed, processors): (f64, Option<Processors>),
    observers: Observers<'_>,
    keep_running: &dyn Fn(Time, u64) -> bool,
) -> Played {
    let ranks = program.ranks() as usize;
    let mut rules = Rules {
        program,
        table,
        expand,
        cpu_speed,
        processors,
        observers,
        ranks: (0..ranks).map(|_| RankState::default()).collect(),
        numbers: FxHashMap::default(),
        channels: Vec::new(),
        ready: (0..ranks as u32).rev().collect(),
        sent: 0,
        played: Played { ranks: vec![RankTimes::default(); ranks], ..Played::default() },
    };
    rules.run(keep_running);
    rules.finish()
}

/// Messages of one sender, receiver, tag and communicator, in the order in which they are sent.
#[derive(Default)]
struct Channel {
    /// Messages sent and not received.
    sent: VecDeque<SentMessage>,
    /// Number of messages before the first of these.
    before: u64,
    /// Number of receives so far.
    asked: u64,
    source: RankId,
    /// Rank that waits for a message that has not been sent, and the number of that message.
    waits: Option<(u32, u64)>,
}

/// A message that has been sent and not received.
#[derive(Clone, Copy)]
struct SentMessage {
    number: u32,
    /// Operation of the sender.
    op: u32,
    bytes: u64,
    sent: Time,
    received: bool,
}

/// A request that a wait waits for.
#[derive(Clone, Copy)]
enum Request {
    Send,
    /// Message of a channel: numbers of the channel and of the message.
    Receive(u32, u64),
}

/// State of a rank's evaluation.
#[derive(Default)]
struct RankState {
    now: Time,
    next: u32,
    /// Next border of a region.
    mark: u32,
    /// Position in a list of the request that is waited for next.
    in_list: u32,
    /// Message that a blocking receive waits for.
    blocked: Option<(u32, u64)>,
    requests: FxHashMap<u32, Request>,
    /// Steps of the collective it is in; `step` is the next of them.
    steps: Vec<Op>,
    step: usize,
    ended: bool,
}

struct Rules<'a, 'o> {
    program: &'a Program,
    table: &'a ReceiveTable,
    expand: &'a dyn Expand,
    cpu_speed: f64,
    processors: Option<Processors>,
    observers: Observers<'o>,
    ranks: Vec<RankState>,
    numbers: FxHashMap<(u32, Envelope), u32>,
    channels: Vec<Channel>,
    /// Ranks that can continue, the next one last.
    ready: Vec<u32>,
    sent: u32,
    played: Played,
}

/// Tells of the borders of regions before the rank's next operation.
fn pass_marks(program: &Program, me: RankId, rank: &mut RankState, observers: &mut Observers<'_>) {
    let Some(on_mark) = &mut observers.on_mark else { return };
    for mark in &program.rank(me).marks[rank.mark as usize..] {
        if mark.at > rank.next {
            break;
        }
        rank.mark += 1;
        on_mark(me, mark, rank.now);
    }
}

impl Rules<'_, '_> {
    fn run(&mut self, keep_running: &dyn Fn(Time, u64) -> bool) {
        let mut look = OPS_PER_LOOK;
        while let Some(me) = self.ready.pop() {
            while self.next(me) {
                self.played.events += 1;
                if self.played.events >= look {
                    look += OPS_PER_LOOK;
                    if !keep_running(self.ranks[me as usize].now, self.played.messages) {
                        self.played.interrupted = true;
                        return;
                    }
                }
            }
        }
    }

    /// Evaluates one operation of a rank; returns `false` if it waits or is at its end.
    fn next(&mut self, me: u32) -> bool {
        let rank = &mut self.ranks[me as usize];
        let (key, op) = match rank.steps.get(rank.step) {
            Some(&op) => (rank.step as u32 | STEP, op),
            None => {
                pass_marks(self.program, RankId(me), rank, &mut self.observers);
                match self.program.rank(RankId(me)).ops.get(rank.next as usize) {
                    Some(&op) => (rank.next, op),
                    None => {
                        rank.ended = true;
                        return false;
                    }
                }
            }
        };
        if !self.operation(me, key, op) {
            return false;
        }
        let rank = &mut self.ranks[me as usize];
        if key & STEP != 0 {
            rank.step += 1;
            if rank.step == rank.steps.len() {
                (rank.step, rank.next) = (0, rank.next + 1);
                rank.steps.clear();
            }
        } else if rank.steps.is_empty() {
            rank.next += 1;
        }
        true
    }

    /// Evaluates an operation; returns true if it is done.
    fn operation(&mut self, me: u32, key: u32, op: Op) -> bool {
        let inside = |envelope: Envelope| match key & STEP {
            0 => envelope,
            _ => Envelope { comm: envelope.comm | COLLECTIVE, ..envelope },
        };
        match op.action() {
            Action::Calc(time) => {
                let begin = self.ranks[me as usize].now;
                let time = Time::from_ps(time.ps() / self.cpu_speed);
                let end = match &mut self.processors {
                    None => begin + time,
                    Some(processors) => processors.end(RankId(me), begin, begin, time, Work::Calculation),
                };
                self.spent(me, ActivityKind::Compute, begin, end, None);
                true
            }
            Action::Send { nonblocking, to, bytes } => {
                if nonblocking {
                    self.ranks[me as usize].requests.insert(key, Request::Send);
                }
                self.send(me, key, inside(to), bytes);
                true
            }
            Action::Recv { nonblocking, from, .. } => {
                let message = match self.ranks[me as usize].blocked.take() {
                    Some(message) => message,
                    None => self.match_receive(me, inside(from)),
                };
                if nonblocking {
                    self.ranks[me as usize].requests.insert(key, Request::Receive(message.0, message.1));
                    return true;
                }
                let done = self.receive(me, key, message);
                if !done {
                    self.ranks[me as usize].blocked = Some(message);
                }
                done
            }
            Action::Wait(started) => self.wait(me, started | key & STEP),
            Action::WaitList { first, count, .. } => {
                let list = self.program.rank(RankId(me)).list(first, count);
                while let Some(&started) = list.get(self.ranks[me as usize].in_list as usize) {
                    if !self.wait(me, started) {
                        return false;
                    }
                    self.ranks[me as usize].in_list += 1;
                }
                self.ranks[me as usize].in_list = 0;
                true
            }
            Action::Collective(number) => {
                let collective = &self.program.collectives[number as usize];
                let group: &Communicator = &self.program.communicators[collective.comm as usize];
                let rank = &mut self.ranks[me as usize];
                if let Some(place) = group.rank_of(RankId(me)) {
                    self.expand.steps(collective, group, place, &mut rank.steps);
                }
                // If there are steps, the operation is done when they are.
                true
            }
            // Programs to which the rules apply have none of these.
            Action::Probe(_) | Action::Test(_) | Action::Icollective(_) => true,
        }
    }

    fn wait(&mut self, me: u32, key: u32) -> bool {
        match self.ranks[me as usize].requests.get(&key) {
            Some(&Request::Receive(channel, message)) => {
                let done = self.receive(me, key, (channel, message));
                if done {
                    self.ranks[me as usize].requests.remove(&key);
                }
                done
            }
            Some(Request::Send) => {
                self.ranks[me as usize].requests.remove(&key);
                true
            }
            None => true,
        }
    }

    fn channel(&mut self, to: u32, envelope: Envelope) -> u32 {
        let next = self.channels.len() as u32;
        let number = *self.numbers.entry((to, envelope)).or_insert(next);
        if number == next {
            self.channels.push(Channel { source: RankId(envelope.peer), ..Channel::default() });
        }
        number
    }

    fn send(&mut self, me: u32, op: u32, to: Envelope, bytes: u64) {
        let channel = self.channel(to.peer, Envelope { peer: me, ..to });
        let op = if op & STEP == 0 { op } else { u32::MAX };
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        let sent = self.ranks[me as usize].now;
        let channel = &mut self.channels[channel as usize];
        channel.sent.push_back(SentMessage { number, op, bytes, sent, received: false });
        let last = channel.before + channel.sent.len() as u64 - 1;
        if let Some((rank, message)) = channel.waits
            && message == last
        {
            channel.waits = None;
            self.ready.push(rank);
        }
    }

    /// Returns the message that a receive will take.
    fn match_receive(&mut self, me: u32, from: Envelope) -> (u32, u64) {
        let number = self.channel(me, from);
        let channel = &mut self.channels[number as usize];
        channel.asked += 1;
        (number, channel.asked - 1)
    }

    /// Waits for the message of a receive; returns false if it has not been sent yet.
    fn receive(&mut self, me: u32, asked: u32, (number, message): (u32, u64)) -> bool {
        let channel = &mut self.channels[number as usize];
        let at = (message - channel.before) as usize;
        let Some(found) = channel.sent.get_mut(at) else {
            channel.waits = Some((me, message));
            return false;
        };
        found.received = true;
        let SentMessage { number, op, bytes, sent, .. } = *found;
        let src = channel.source;
        while channel.sent.front().is_some_and(|message| message.received) {
            channel.sent.pop_front();
            channel.before += 1;
        }
        let arrive = sent + self.table.between(src, RankId(me), bytes);
        let begin = self.ranks[me as usize].now;
        let end = begin.max(arrive);
        self.played.messages += 1;
        self.played.bytes += bytes;
        self.spent(me, ActivityKind::RecvWait, begin, end, Some((number, src)));
        if let Some(on_transfer) = &mut self.observers.on_transfer {
            on_transfer(&Transfer {
                message: number,
                src,
                dst: RankId(me),
                bytes,
                op: (op != u32::MAX).then_some(op),
                received_by: (asked & STEP == 0).then_some(asked),
                called: sent,
                begin: sent,
                waited: false,
                leave: sent,
                arrive,
                end,
            });
        }
        true
    }

    /// Books the time of a rank until `end`.
    fn spent(&mut self, me: u32, kind: ActivityKind, begin: Time, end: Time, other: Option<(u32, RankId)>) {
        if end <= begin {
            return;
        }
        let rank = &mut self.ranks[me as usize];
        rank.now = end;
        self.played.ranks[me as usize].add(kind, end - begin);
        if let Some(on_activity) = &mut self.observers.on_activity {
            let (message, peer) = other.unzip();
            on_activity(&Activity { rank: RankId(me), kind, begin, end, op: rank.next, message, peer });
        }
    }

    fn finish(mut self) -> Played {
        for (rank, times) in self.ranks.iter().zip(&mut self.played.ranks) {
            times.end = rank.now;
        }
        self.played.last = self.played.makespan();
        let waits = |channel: &Channel| channel.waits.is_some();
        debug_assert!(
            self.played.interrupted || self.ranks.iter().all(|rank| rank.ended) != self.channels.iter().any(waits)
        );
        self.played.unreceived = self.channels.iter().map(|channel| channel.sent.len() as u64).sum();
        if !self.played.interrupted {
            self.played.stuck = self.stuck();
        }
        self.played
    }

    /// Returns the ranks that wait for a message that is never sent.
    fn stuck(&self) -> Vec<Stuck> {
        let mut sources: FxHashMap<u32, u32> = FxHashMap::default();
        for ((to, envelope), &number) in &self.numbers {
            if self.channels[number as usize].waits.is_some() {
                sources.insert(*to, envelope.peer);
            }
        }
        let waiting = self.ranks.iter().enumerate().filter(|(_, rank)| !rank.ended);
        let stuck = waiting.map(|(me, rank)| {
            let id = RankId(me as u32);
            let op = self.program.rank(id).ops.get(rank.next as usize);
            Stuck {
                rank: id,
                op: rank.next,
                what: op.map_or_else(String::new, |op| self.program.describe(id, op)),
                place: self.program.place(id, rank.next),
                on: sources.get(&id.0).map(|&source| RankId(source)),
            }
        });
        stuck.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{ReceiveTime, ReceiveTimesSpec};
    use crate::program::ProgramBuilder;
    use crate::program::collectives::{CollectivesSpec, Expander};
    use crate::units::Bytes;

    /// T(k) = 1 us + k / 100 us.
    fn table() -> ReceiveTable {
        let row = |size, us: f64| ReceiveTime { size: Bytes(size), receive: Time::from_ps(us * 1e6) };
        ReceiveTimesSpec { times: vec![row(0, 1.0), row(1000, 11.0)].into(), between: Vec::new() }.table()
    }

    fn us(us: f64) -> Op {
        Op::calc(Time::from_ps(us * 1e6))
    }

    fn program(ranks: &[&[Op]]) -> Program {
        let mut program = ProgramBuilder::new(ranks.len() as u32);
        for (rank, ops) in (0..).zip(ranks) {
            let mut sequence = program.sequence(rank);
            for &op in ops.iter() {
                sequence.push(op);
            }
            program.finish_rank(sequence);
        }
        program.build().unwrap()
    }

    fn played(program: &Program) -> Played {
        assert!(apply(program));
        let expander = Expander::new(CollectivesSpec::default());
        play(program, &table(), &expander, (1.0, None), Observers::default(), &|_, _| true)
    }

    fn ends(played: &Played) -> Vec<f64> {
        played.ranks.iter().map(|rank| rank.end.ps() / 1e6).collect()
    }

    #[test]
    fn the_rules_give_what_a_hand_computes() {
        let (to, from) = (Envelope::world(1, 5), Envelope::world(0, 5));
        let (to_late, from_late) = (Envelope::world(1, 6), Envelope::world(0, 6));
        let sender = [us(10.0), Op::isend(to, 100), us(5.0), Op::wait(1), Op::send(to_late, 1000), us(1.0)];
        // The first wait starts at 3 and ends at 10 + T(100) = 12. The receive starts at 13 and ends at 15 +
        // T(1000) = 26.
        let receiver = [Op::irecv(from, 100), us(3.0), Op::wait(0), us(1.0), Op::recv(from_late, 1000), us(4.0)];
        let found = played(&program(&[&sender, &receiver]));
        assert_eq!(ends(&found), [16.0, 30.0]);
        let waited = found.ranks[1].of(ActivityKind::RecvWait).ps() / 1e6;
        assert_eq!((waited, found.ranks[1].of(ActivityKind::Compute).ps() / 1e6), (9.0 + 13.0, 8.0));
        assert_eq!((found.messages, found.bytes, found.unreceived), (2, 1100, 0));
    }

    #[test]
    fn a_message_that_has_long_been_there_is_received_in_no_time() {
        let sender = [Op::send(Envelope::world(1, 0), 100)];
        let receiver = [us(50.0), Op::recv(Envelope::world(0, 0), 100)];
        assert_eq!(ends(&played(&program(&[&sender, &receiver]))), [0.0, 50.0]);
    }

    #[test]
    fn every_message_is_by_itself_and_a_short_one_does_not_wait_for_a_long_one() {
        let sender = [Op::send(Envelope::world(1, 1), 1000), Op::send(Envelope::world(1, 2), 0)];
        let receiver = [Op::recv(Envelope::world(0, 2), 0), us(2.0), Op::recv(Envelope::world(0, 1), 1000)];
        let found = program(&[&sender, &receiver]);
        let expander = Expander::new(CollectivesSpec::default());
        let mut ended = Vec::new();
        let mut see = |activity: &Activity| ended.push((activity.kind, activity.end.ps() / 1e6));
        let table = table();
        let observers = Observers { on_activity: Some(&mut see), ..Observers::default() };
        play(&found, &table, &expander, (1.0, None), observers, &|_, _| true);
        use ActivityKind::{Compute, RecvWait};
        assert_eq!(ended, [(RecvWait, 1.0), (Compute, 3.0), (RecvWait, 11.0)]);
    }

    #[test]
    fn messages_of_one_kind_are_taken_in_the_order_in_which_they_were_sent() {
        let kind = |rank| Envelope::world(rank, 1);
        let sender = [Op::send(kind(1), 1000), us(1.0), Op::send(kind(1), 0)];
        let requests = [Op::irecv(kind(0), 0), Op::irecv(kind(0), 0), Op::wait(1), us(0.5), Op::wait(0)];
        // The second receive takes the second message: sent at 1, arrived at 2.
        let found = played(&program(&[&sender, &requests]));
        assert_eq!(ends(&found), [1.0, 11.0]);
        assert_eq!(found.ranks[1].of(ActivityKind::RecvWait).ps() / 1e6, 2.0 + 8.5);
    }

    #[test]
    fn collectives_are_spelled_out() {
        use crate::program::{Collective, CollectiveCall, Counts};
        let mut program = ProgramBuilder::new(8);
        let barrier =
            Collective { call: CollectiveCall::Barrier, comm: 0, root: 0, counts: Counts::Same(0), plan: None };
        let barrier = program.collective(barrier);
        for rank in 0..8 {
            let mut sequence = program.sequence(rank);
            sequence.push(us(f64::from(rank)));
            sequence.push(Op::collective(barrier));
            sequence.push(us(1.0));
            program.finish_rank(sequence);
        }
        // The last rank arrives at 7; three rounds.
        assert_eq!(played(&program.build().unwrap()).makespan().ps() / 1e6, 7.0 + 3.0 + 1.0);
    }

    #[test]
    fn who_waits_for_ever_is_said() {
        let waits = |from| [Op::recv(Envelope::world(from, 0), 0)];
        let found = played(&program(&[&waits(1), &waits(0)]));
        assert_eq!(found.stuck.len(), 2);
        assert_eq!(found.stuck[0].on, Some(RankId(1)));
        assert!(!apply(&program(&[&[Op::recv(Envelope::world(ANY_SOURCE, 0), 0)]])));
    }
}
