//! Random small programs: ranks that compute on few bytes, send, receive and call collective operations,
//! blocking or not, in loops.
//!
//! The programs are correct: no access touches a buffer in use, every wait ends if sends do not wait, and all
//! ranks call the collective operations of a communicator in one order.

use hayase_trace::{Call, Event, Op};

use super::recorded::{Access, Recorded, access};

/// Pseudo-random numbers, the same on all machines (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// Returns the next number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// First byte, one past the last, and true if they are written.
pub type Bytes = (u64, u64, bool);

/// True if two accesses to these bytes must keep their order.
pub fn conflict(a: Bytes, b: Bytes) -> bool {
    a.0 < b.1 && b.0 < a.1 && (a.2 || b.2)
}

/// Step of the program on all ranks.
#[derive(Clone, Debug)]
enum Step {
    Compute { rank: usize, accesses: Vec<Access> },
    Message { from: usize, to: usize, tag: i32, bytes: u64, buffers: [u64; 2], later: [Option<u64>; 2], by_hand: bool },
    Exchange { a: usize, b: usize, bytes: u64, buffers: [u64; 4], replace: bool },
    Reduce { from: u64, to: u64, later: Option<u64> },
    Broadcast { root: usize, buffer: u64, bytes: u64 },
    Barrier,
}

/// Communication of an event: its part (0: send, 1: receive, 2: collective) and its bytes.
pub type Part = (usize, Vec<Bytes>);

/// Returns the communications of an event.
pub fn parts(event: &Event, rank: i32, ranks: u64) -> Vec<Part> {
    let span = |low: u64, bytes: u64, write| (low, low + bytes, write);
    let Event { buffer, buffer2, bytes, bytes2, .. } = *event;
    match event.call {
        Call::Send | Call::Isend => vec![(0, vec![span(buffer, bytes, false)])],
        Call::Recv | Call::Irecv => vec![(1, vec![span(buffer, bytes, true)])],
        Call::Sendrecv => vec![(0, vec![span(buffer, bytes, false)]), (1, vec![span(buffer2, bytes2, true)])],
        Call::SendrecvReplace => vec![(0, vec![span(buffer, bytes, false)]), (1, vec![span(buffer, bytes2, true)])],
        Call::Allreduce | Call::Iallreduce => {
            vec![(2, vec![span(buffer, bytes, false), span(buffer2, bytes, true)])]
        }
        Call::Bcast => vec![(2, vec![span(buffer, bytes, event.peer != rank)])],
        Call::Alltoall => {
            vec![(2, vec![span(buffer, bytes * ranks, false), span(buffer2, bytes * ranks, true)])]
        }
        _ => Vec::new(),
    }
}

/// Writer of a rank.
#[derive(Default)]
struct Writer {
    accesses: Vec<Access>,
    recorded: Vec<(Vec<Access>, Event)>,
    /// Requests not yet waited for: their bytes, and the number of steps until their wait.
    pending: Vec<(u64, Vec<Bytes>, u64)>,
    requests: u64,
}

impl Writer {
    fn call(&mut self, event: Event) {
        let accesses = std::mem::take(&mut self.accesses);
        let cpu = Some(1000 * accesses.len() as u64);
        self.recorded.push((accesses, Event { cpu, ..event }));
    }

    /// Waits for the matching requests, one by one or all at once.
    fn wait(&mut self, at_once: bool, which: impl Fn(&[Bytes], u64) -> bool) {
        let (done, pending) = std::mem::take(&mut self.pending).into_iter().partition(|(_, b, left)| which(b, *left));
        self.pending = pending;
        let done: Vec<(u64, Vec<Bytes>, u64)> = done;
        let numbers: Vec<u64> = done.into_iter().map(|(number, ..)| number).collect();
        let lists: Vec<Vec<u64>> = match at_once {
            true if !numbers.is_empty() => vec![numbers],
            true => Vec::new(),
            // In reverse order, so that waits are not in the order of posts.
            false => numbers.into_iter().rev().map(|number| vec![number]).collect(),
        };
        for requests in lists {
            let call = if requests.len() > 1 { Call::Waitall } else { Call::Wait };
            self.call(Event { requests, site: 30, ..Event::new(call, 0, 0) });
        }
    }

    /// Waits for all requests that use these bytes.
    fn free(&mut self, bytes: &[Bytes]) {
        self.wait(false, |used, _| used.iter().any(|&one| bytes.iter().any(|&other| conflict(one, other))));
    }

    fn compute(&mut self, accesses: &[Access]) {
        for one in accesses {
            self.free(&[(one.address, one.address + one.size, one.write)]);
            self.accesses.push(*one);
        }
    }

    /// Adds a communication; with `later`, it is waited for after that number of steps.
    fn communicate(&mut self, event: Event, rank: i32, ranks: u64, later: Option<u64>) {
        let bytes: Vec<Bytes> = parts(&event, rank, ranks).into_iter().flat_map(|(_, bytes)| bytes).collect();
        self.free(&bytes);
        let Some(steps) = later else { return self.call(event) };
        self.requests += 1;
        self.pending.push((self.requests, bytes, steps));
        let call = match event.call {
            Call::Send => Call::Isend,
            Call::Recv => Call::Irecv,
            _ => Call::Iallreduce,
        };
        self.call(Event { call, requests: vec![self.requests], ..event });
    }
}

/// Generates a program of a few ranks.
pub fn program(dice: &mut Dice) -> Vec<Recorded> {
    let ranks = 2 + dice.roll(3) as usize;
    // Few buffers cause many dependences.
    let buffers = 1 + dice.roll(5);
    let buffer = |dice: &mut Dice| 1000 + 64 * dice.roll(buffers) + 4 * dice.roll(3);
    let tidy = dice.one_in(2);
    let mut steps = Vec::new();
    for _ in 0..1 + dice.roll(7) {
        let later = |dice: &mut Dice| dice.one_in(2).then(|| dice.roll(4));
        let bytes = 4 + 4 * dice.roll(3);
        steps.push(match dice.roll(16) {
            0..=4 => {
                let mut accesses = Vec::new();
                for _ in 0..dice.roll(7) {
                    let at = if dice.one_in(3) { 5000 } else { buffer(dice) } + 4 * dice.roll(4);
                    accesses.push(access(dice.roll(4) as u32, at, 4));
                }
                Step::Compute { rank: dice.roll(ranks as u64) as usize, accesses }
            }
            5..=11 => {
                let from = dice.roll(ranks as u64) as usize;
                let to = (from + 1 + dice.roll(ranks as u64 - 1) as usize) % ranks;
                let tag = dice.roll(2) as i32;
                let buffers = [buffer(dice), buffer(dice)];
                let bytes = if tidy { 8 } else { bytes };
                Step::Message { from, to, tag, bytes, buffers, later: [later(dice), later(dice)], by_hand: false }
            }
            12 => Step::Exchange {
                a: 0,
                b: 1,
                bytes,
                buffers: [buffer(dice), 2000 + buffer(dice), buffer(dice), 2000 + buffer(dice)],
                replace: dice.one_in(2),
            },
            13 => Step::Reduce { from: buffer(dice), to: 2000 + buffer(dice), later: later(dice) },
            14 => Step::Broadcast { root: dice.roll(ranks as u64) as usize, buffer: buffer(dice), bytes },
            _ => Step::Barrier,
        });
    }
    if dice.one_in(4) {
        // A collective operation by hand: the same data to all other ranks, or a block to and from each.
        let (root, at) = (dice.roll(ranks as u64) as usize, buffer(dice));
        let everybody = dice.one_in(2);
        let apart = dice.roll(2);
        let pairs = (0..ranks).flat_map(|a| (0..ranks).map(move |b| (a, b)));
        for (from, to) in pairs.filter(|&(from, to)| from != to && (everybody || from == root)) {
            let (to_there, from_there) = (apart * 8 * to as u64, 8 * from as u64);
            let buffers = [at + to_there, 3000 + from_there];
            let later = everybody.then_some(20);
            steps.push(Step::Message { from, to, tag: 7, bytes: 8, buffers, later: [later, later], by_hand: true });
        }
    }
    write(dice, ranks, &steps)
}

/// Writes the steps several times.
fn write(dice: &mut Dice, ranks: usize, steps: &[Step]) -> Vec<Recorded> {
    let all = ranks as u64;
    let mut writers: Vec<Writer> = (0..ranks).map(|_| Writer::default()).collect();
    let sum = Op::from_name("sum").unwrap();
    let at_once = dice.one_in(2);
    for _ in 0..1 + dice.roll(4) {
        for (line, step) in (0_u32..).zip(steps) {
            let base = Event { element: 4, site: 2 * line + 1, ..Event::new(Call::Barrier, 0, 0) };
            match *step {
                Step::Compute { rank, ref accesses } => writers[rank].compute(accesses),
                Step::Message { from, to, tag, bytes, buffers, later, by_hand } => {
                    // All calls of a collective operation by hand are on one line.
                    let site = if by_hand { 31 } else { base.site };
                    let message = Event { tag, bytes, site, ..base };
                    let sent = Event { call: Call::Send, peer: to as i32, buffer: buffers[0], ..message.clone() };
                    writers[from].communicate(sent, from as i32, all, later[0]);
                    let site = site + 1;
                    let got = Event { call: Call::Recv, peer: from as i32, buffer: buffers[1], site, ..message };
                    writers[to].communicate(got, to as i32, all, later[1]);
                }
                Step::Exchange { a, b, bytes, buffers, replace } => {
                    for (me, other, [from, to]) in [(a, b, [buffers[0], buffers[1]]), (b, a, [buffers[2], buffers[3]])]
                    {
                        let call = if replace { Call::SendrecvReplace } else { Call::Sendrecv };
                        let (peer, into) = (other as i32, if replace { 0 } else { to });
                        let event =
                            Event { call, peer, peer2: peer, bytes, bytes2: bytes, tag: 3, tag2: 3, ..base.clone() };
                        let event = Event { buffer: from, buffer2: into, ..event };
                        writers[me].communicate(event, me as i32, all, None);
                    }
                }
                Step::Reduce { from, to, later } => {
                    for (rank, writer) in (0..).zip(&mut writers) {
                        let event = Event { call: Call::Allreduce, op: sum, bytes: 8, ..base.clone() };
                        writer.communicate(Event { buffer: from, buffer2: to, ..event }, rank, all, later);
                    }
                }
                Step::Broadcast { root, buffer, bytes } => {
                    for (rank, writer) in (0..).zip(&mut writers) {
                        let event = Event { call: Call::Bcast, peer: root as i32, bytes, buffer, ..base.clone() };
                        writer.communicate(event, rank, all, None);
                    }
                }
                Step::Barrier => writers.iter_mut().for_each(|writer| writer.call(base.clone())),
            }
            for writer in &mut writers {
                writer.wait(at_once, |_, left| left == 0);
                writer.pending.iter_mut().for_each(|(_, _, left)| *left -= 1);
            }
        }
    }
    let finished = |mut writer: Writer| {
        writer.wait(at_once, |_, _| true);
        writer.call(Event::new(Call::Finalize, 0, 0));
        let (mut intervals, mut events) = (vec![Vec::new()], vec![Event::new(Call::Init, 0, 0)]);
        for (accesses, event) in writer.recorded {
            intervals.push(accesses);
            events.push(event);
        }
        Recorded { intervals, events }
    };
    writers.into_iter().map(finished).collect()
}
