//! Executes a collective on names of data instead of data.
//!
//! Data is a row of slots: the bytes of the vector or of all blocks, or in an all-to-all the pairs (source, destination).
//! In each slot a rank has nothing, or the ranks whose contributions are combined there, in the order in which they were
//! combined. A message takes along what its sender has in its slots when it is sent.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::workload::program::collectives::alltoall::at_places;
use crate::workload::program::collectives::data::{Data, Then};
use crate::workload::program::collectives::phase::{Action, Phase};
use crate::workload::program::collectives::{Call, Expansion, Operation, Sizes};

/// Whose contributions are combined, from left to right.
pub type Combined = Rc<[u8]>;
/// What a rank has in each slot.
pub type Row = Vec<Option<Combined>>;

/// Whether a blocking send waits until its receive is posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sends {
    Buffered,
    Synchronous,
}

/// What a rank has in the end.
#[derive(Clone, Debug)]
pub struct Held {
    pub row: Row,
    /// The result of a scan, where that is kept apart.
    pub result: Row,
    /// From whom it has heard, directly or not: bit by rank.
    pub heard: u64,
}

struct Message {
    content: Vec<Option<Combined>>,
    bytes: u64,
    heard: u64,
    number: usize,
}

/// A rank on its way.
struct Runner {
    held: Held,
    phase: usize,
    index: u64,
    /// The action that it is in, and the number of the message that it has sent in it.
    current: Option<(Action, Option<usize>)>,
    /// Receives that were started: from whom, the phase and the data.
    posted: VecDeque<(u32, usize, Data)>,
    /// Messages whose sending was started.
    started: Vec<usize>,
}

pub struct Machine<'a> {
    name: &'a str,
    call: &'a Call,
    phases: &'a [Phase],
    sends: Sends,
    runners: Vec<Runner>,
    /// Messages under way, by sender and receiver.
    channels: Vec<VecDeque<Message>>,
    /// Whether each message has met its receive.
    taken: Vec<bool>,
    pub messages: u64,
    pub bytes: u64,
    /// Whether somebody may be given what it has already.
    repeats: bool,
}

/// Runs a call on all ranks and returns what they have in the end.
pub fn run<'a>(
    name: &'a str,
    call: &'a Call,
    expansions: &'a [Expansion],
    sends: Sends,
    repeats: bool,
    slots: usize,
    start: impl Fn(u32, usize) -> Option<u32>,
) -> (Vec<Held>, u64, u64) {
    let ranks = call.ranks;
    let runner = |rank: u32| {
        let row: Row = (0..slots).map(|slot| start(rank, slot).map(|who| Rc::from([who as u8].as_slice()))).collect();
        let result = if call.collective == Operation::Exscan { vec![None; slots] } else { row.clone() };
        Runner {
            held: Held { row, result, heard: 1 << rank },
            phase: 0,
            index: 0,
            current: None,
            posted: VecDeque::new(),
            started: Vec::new(),
        }
    };
    let mut machine = Machine {
        name,
        call,
        phases: &expansions[0].phases,
        sends,
        runners: (0..ranks).map(runner).collect(),
        channels: (0..ranks * ranks).map(|_| VecDeque::new()).collect(),
        taken: Vec::new(),
        messages: 0,
        bytes: 0,
        repeats,
    };
    // All ranks of an all-to-all with different blocks know their own sizes only.
    let own: Vec<&[Phase]> = (0..ranks as usize).map(|r| &*expansions[r % expansions.len()].phases).collect();
    let mut moved = true;
    while moved {
        moved = false;
        for rank in 0..ranks {
            moved |= machine.advance(rank, own[rank as usize]);
        }
    }
    for (rank, runner) in machine.runners.iter().enumerate() {
        assert!(
            runner.current.is_none() && runner.phase == machine.phases.len(),
            "{name}: rank {rank} is stuck in {:?} (phase {}, index {})",
            runner.current,
            runner.phase,
            runner.index
        );
    }
    assert!(machine.channels.iter().all(VecDeque::is_empty), "{name}: a message nobody receives");
    (machine.runners.into_iter().map(|runner| runner.held).collect(), machine.messages, machine.bytes)
}

impl Machine<'_> {
    fn slots(&self, phase: &Phase, data: Data) -> Vec<usize> {
        let ranks = self.call.ranks;
        let pair = |(src, dst): (u32, u32)| (src * ranks + dst) as usize;
        match data {
            Data::Token => Vec::new(),
            Data::Blocks { first, count } => {
                let ranges = phase.layout().expect("blocks have a layout").ranges(first, count);
                ranges.into_iter().flatten().map(|slot| slot as usize).collect()
            }
            Data::Strided { first, stride } => {
                let layout = phase.layout().expect("blocks have a layout");
                let blocks = (first..layout.blocks()).step_by(stride as usize);
                blocks.flat_map(|block| layout.ranges(block, 1)).flatten().map(|slot| slot as usize).collect()
            }
            Data::Pair { src, dst } => vec![pair((src, dst))],
            Data::Places { sender, bit } => at_places(ranks, sender, bit).into_iter().map(pair).collect(),
        }
    }

    fn send(&mut self, rank: u32, to: u32, phase: &Phase, data: Data) -> usize {
        assert_ne!(rank, to, "{}: rank {rank} sends to itself", self.name);
        let bytes = phase.bytes(rank, data);
        let slots = self.slots(phase, data);
        let held = &self.runners[rank as usize].held;
        let content: Vec<Option<Combined>> = slots
            .iter()
            .map(|&slot| {
                let what = held.row[slot].clone();
                assert!(what.is_some(), "{}: rank {rank} sends {data:?} to {to} without having slot {slot}", self.name);
                what
            })
            .collect();
        if !matches!(self.call.collective, Operation::Alltoall | Operation::Alltoallv) {
            assert_eq!(bytes, slots.len() as u64, "{}: the size of {data:?}", self.name);
        }
        let number = self.taken.len();
        self.taken.push(false);
        self.messages += 1;
        self.bytes += bytes;
        let heard = held.heard;
        self.channels[(rank * self.call.ranks + to) as usize].push_back(Message { content, bytes, heard, number });
        number
    }

    /// Receives a message, if it has been sent.
    fn receive(&mut self, rank: u32, from: u32, phase: &Phase, data: Data, then: Then) -> bool {
        let Some(message) = self.channels[(from * self.call.ranks + rank) as usize].pop_front() else {
            return false;
        };
        self.taken[message.number] = true;
        let what = format!("{}: rank {rank} receives {data:?} from {from}", self.name);
        let known = !matches!(&self.call.sizes, Sizes::Own { receive: None, .. });
        assert!(!known || phase.bytes(rank, data) == message.bytes, "{what}: of another size");
        let slots = self.slots(phase, data);
        assert_eq!(slots.len(), message.content.len(), "{what}");
        let held = &mut self.runners[rank as usize].held;
        held.heard |= message.heard;
        for (slot, came) in slots.into_iter().zip(message.content) {
            let came = came.expect("what is sent is something");
            let join = |left: &Combined, right: &Combined| -> Combined {
                assert!(!left.iter().any(|who| right.contains(who)), "{what}: {left:?} and {right:?}");
                left.iter().chain(right.iter()).copied().collect()
            };
            let own = || held.row[slot].clone().unwrap_or_else(|| panic!("{what}: nothing to combine with"));
            match then {
                Then::Keep => {
                    assert!(self.repeats || held.row[slot].is_none(), "{what}: it has slot {slot} already");
                    held.row[slot] = Some(came);
                }
                Then::Left => held.row[slot] = Some(join(&came, &own())),
                Then::Right => held.row[slot] = Some(join(&own(), &came)),
                Then::Both => {
                    let result = held.result[slot].clone().unwrap_or_else(|| panic!("{what}: no result yet"));
                    held.result[slot] = Some(join(&came, &result));
                    held.row[slot] = Some(join(&came, &own()));
                }
                Then::First => {
                    assert!(held.result[slot].is_none(), "{what}: it has a result");
                    held.row[slot] = Some(join(&came, &own()));
                    held.result[slot] = Some(came);
                }
                Then::Result => held.result[slot] = Some(came),
            }
        }
        true
    }

    /// Lets a rank go as far as it can; whether it went anywhere.
    fn advance(&mut self, rank: u32, phases: &[Phase]) -> bool {
        let mut moved = false;
        loop {
            // Receives that were started match whenever their message comes.
            let posted = std::mem::take(&mut self.runners[rank as usize].posted);
            for (from, phase, data) in posted {
                if self.receive(rank, from, &phases[phase], data, Then::Keep) {
                    moved = true;
                } else {
                    self.runners[rank as usize].posted.push_back((from, phase, data));
                }
            }
            let runner = &mut self.runners[rank as usize];
            let Some(phase) = phases.get(runner.phase) else { return moved };
            let at = runner.phase;
            let (action, sent) = match runner.current.take() {
                Some(current) => current,
                None => {
                    moved = true;
                    let Some(action) = phase.action(rank, runner.index) else {
                        (runner.phase, runner.index) = (runner.phase + 1, 0);
                        continue;
                    };
                    runner.index += 1;
                    (action, None)
                }
            };
            let is_through = |machine: &Self, number: usize| machine.sends == Sends::Buffered || machine.taken[number];
            let waits = match action {
                Action::Nothing => None,
                Action::Send { to, data } => {
                    let number = sent.unwrap_or_else(|| self.send(rank, to, phase, data));
                    (!is_through(self, number)).then_some((action, Some(number)))
                }
                Action::Receive { from, data, then } => {
                    (!self.receive(rank, from, phase, data, then)).then_some((action, None))
                }
                Action::Exchange { to, sent: out, from, received, then } => {
                    let number = sent.unwrap_or_else(|| self.send(rank, to, phase, out));
                    // What remains once the message has come is to wait for one's own.
                    let rest = Action::Send { to, data: out };
                    match self.receive(rank, from, phase, received, then) {
                        false => Some((action, Some(number))),
                        true => (!is_through(self, number)).then_some((rest, Some(number))),
                    }
                }
                Action::StartSend { to, data } => {
                    let number = self.send(rank, to, phase, data);
                    self.runners[rank as usize].started.push(number);
                    None
                }
                Action::StartReceive { from, data } => {
                    self.runners[rank as usize].posted.push_back((from, at, data));
                    None
                }
                Action::WaitAll => {
                    let runner = &self.runners[rank as usize];
                    let done =
                        runner.posted.is_empty() && runner.started.iter().all(|&number| is_through(self, number));
                    (!done).then_some((action, None))
                }
            };
            if let Some(waits) = waits {
                self.runners[rank as usize].current = Some(waits);
                return moved;
            }
            moved = true;
        }
    }
}
