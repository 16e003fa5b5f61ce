//! Symbolic execution of a collective, on names of data instead of data.
//!
//! The data are a row of slots: the bytes of the vector or of all blocks, in an all-to-all the pairs (source,
//! destination), or the blocks of a pattern. In each slot a rank has nothing, or the ranks whose
//! contributions are combined there, in the order of combination. A message carries the content of its
//! sender's slots at the time of sending.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::collective::ReceivedUse;

/// Ranks whose contributions are combined, from left to right.
pub type Combined = Rc<[u8]>;
/// Content of each slot of a rank.
pub type Row = Vec<Option<Combined>>;

/// Slots in a message, and its size \[B\].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cargo {
    pub slots: Vec<usize>,
    pub bytes: u64,
}

/// Next action of a rank.
#[derive(Clone, Debug)]
pub enum Act {
    Nothing,
    Send { to: u32, cargo: Cargo },
    Receive { from: u32, cargo: Cargo, then: ReceivedUse },
    Exchange { to: u32, sent: Cargo, from: u32, received: Cargo, then: ReceivedUse },
    StartSend { to: u32, cargo: Cargo },
    StartReceive { from: u32, cargo: Cargo },
    WaitAll,
}

/// Actions of all ranks.
pub trait Script {
    /// Number of ranks.
    fn ranks(&self) -> u32;
    /// Number of slots.
    fn slots(&self) -> usize;
    /// Returns the `number`-th action of a rank, from 0; `None` when it is done.
    fn act(&self, rank: u32, number: usize) -> Option<Act>;
    /// Returns the content of a slot of a rank at the start.
    fn start(&self, rank: u32, slot: usize) -> Option<u32>;
    /// Size of a slot \[B\], if messages must be as large as their slots together.
    fn size(&self, slot: usize) -> Option<u64>;
    /// Returns true if a rank may be given data that it has already.
    fn repeats(&self) -> bool;
    /// Returns true if a rank has no result at the start, not even its own contribution.
    fn is_exclusive(&self) -> bool {
        false
    }
}

/// Blocking sends that are buffered, or that wait until their receive is posted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sends {
    Buffered,
    Synchronous,
}

/// Data of a rank at the end.
#[derive(Clone, Debug)]
pub struct Held {
    pub row: Row,
    /// Result of a scan, if it is kept apart.
    pub result: Row,
    /// Ranks that it has heard from, directly or not, as bits.
    pub heard: u64,
}

/// A message that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub from: u32,
    pub cargo: Cargo,
    /// Content of its slots.
    pub content: Vec<Combined>,
    heard: u64,
    /// True if it has been matched with its receive.
    taken: bool,
}

/// State of a rank during the execution.
struct Runner {
    held: Held,
    next: usize,
    /// Current action, and the number of the message that it has sent in it.
    current: Option<(Act, Option<usize>)>,
    done: bool,
    /// Receives that were started.
    posted: VecDeque<(u32, Cargo)>,
    /// Messages that it has started to send.
    started: Vec<usize>,
}

struct Machine<'a> {
    name: &'a str,
    script: &'a dyn Script,
    sends: Sends,
    runners: Vec<Runner>,
    /// Messages in flight, by sender and receiver.
    channels: Vec<VecDeque<usize>>,
    sent: Vec<Sent>,
}

/// Runs all ranks; returns their data at the end, and all messages.
pub fn run(name: &str, script: &dyn Script, sends: Sends) -> (Vec<Held>, Vec<Sent>) {
    let ranks = script.ranks();
    let runner = |rank: u32| {
        let start = |slot| script.start(rank, slot).map(|who| Rc::from([who as u8].as_slice()));
        let row: Row = (0..script.slots()).map(start).collect();
        let result = if script.is_exclusive() { vec![None; row.len()] } else { row.clone() };
        Runner {
            held: Held { row, result, heard: 1 << rank },
            next: 0,
            current: None,
            done: false,
            posted: VecDeque::new(),
            started: Vec::new(),
        }
    };
    let mut machine = Machine {
        name,
        script,
        sends,
        runners: (0..ranks).map(runner).collect(),
        channels: (0..ranks * ranks).map(|_| VecDeque::new()).collect(),
        sent: Vec::new(),
    };
    let mut moved = true;
    while moved {
        moved = false;
        for rank in 0..ranks {
            moved |= machine.advance(rank);
        }
    }
    for (rank, runner) in machine.runners.iter().enumerate() {
        assert!(runner.done, "{name}: rank {rank} is stuck in {:?} (action {})", runner.current, runner.next);
    }
    assert!(machine.channels.iter().all(VecDeque::is_empty), "{name}: a message nobody receives");
    (machine.runners.into_iter().map(|runner| runner.held).collect(), machine.sent)
}

impl Machine<'_> {
    fn send(&mut self, rank: u32, to: u32, cargo: &Cargo) -> usize {
        assert_ne!(rank, to, "{}: rank {rank} sends to itself", self.name);
        let held = &self.runners[rank as usize].held;
        let content = cargo.slots.iter().map(|&slot| match held.row[slot].clone() {
            Some(what) => what,
            None => panic!("{}: rank {rank} sends {cargo:?} to {to} without having slot {slot}", self.name),
        });
        let content = content.collect();
        let sizes: Option<Vec<u64>> = cargo.slots.iter().map(|&slot| self.script.size(slot)).collect();
        if let Some(sizes) = sizes {
            assert_eq!(cargo.bytes, sizes.iter().sum::<u64>(), "{}: the size of {cargo:?}", self.name);
        }
        let number = self.sent.len();
        let heard = held.heard;
        self.sent.push(Sent { from: rank, cargo: cargo.clone(), content, heard, taken: false });
        self.channels[(rank * self.script.ranks() + to) as usize].push_back(number);
        number
    }

    /// Receives a message, if it has been sent.
    fn receive(&mut self, rank: u32, from: u32, cargo: &Cargo, then: ReceivedUse) -> bool {
        let Some(number) = self.channels[(from * self.script.ranks() + rank) as usize].pop_front() else {
            return false;
        };
        self.sent[number].taken = true;
        let message = &self.sent[number];
        let what = || format!("{}: rank {rank} receives {cargo:?} from {from}", self.name);
        assert_eq!(cargo.bytes, message.cargo.bytes, "{}: of another size", what());
        assert_eq!(cargo.slots.len(), message.content.len(), "{}", what());
        let held = &mut self.runners[rank as usize].held;
        held.heard |= message.heard;
        for (&slot, came) in cargo.slots.iter().zip(message.content.iter().cloned()) {
            let join = |left: &Combined, right: &Combined| -> Combined {
                assert!(!left.iter().any(|who| right.contains(who)), "{}: {left:?} and {right:?}", what());
                left.iter().chain(right.iter()).copied().collect()
            };
            let own = || held.row[slot].clone().unwrap_or_else(|| panic!("{}: nothing to combine with", what()));
            match then {
                ReceivedUse::Keep => {
                    assert!(self.script.repeats() || held.row[slot].is_none(), "{}: it has {slot} already", what());
                    held.row[slot] = Some(came);
                }
                ReceivedUse::Left => held.row[slot] = Some(join(&came, &own())),
                ReceivedUse::Right => held.row[slot] = Some(join(&own(), &came)),
                ReceivedUse::Both => {
                    let result = held.result[slot].clone().unwrap_or_else(|| panic!("{}: no result yet", what()));
                    held.result[slot] = Some(join(&came, &result));
                    held.row[slot] = Some(join(&came, &own()));
                }
                ReceivedUse::First => {
                    assert!(held.result[slot].is_none(), "{}: it has a result", what());
                    held.row[slot] = Some(join(&came, &own()));
                    held.result[slot] = Some(came);
                }
                ReceivedUse::Result => held.result[slot] = Some(came),
            }
        }
        true
    }

    /// Lets a rank continue as far as it can; returns true if it made progress.
    fn advance(&mut self, rank: u32) -> bool {
        let mut moved = false;
        loop {
            // Receives that were started match whenever their message comes.
            let posted = std::mem::take(&mut self.runners[rank as usize].posted);
            for (from, cargo) in posted {
                if self.receive(rank, from, &cargo, ReceivedUse::Keep) {
                    moved = true;
                } else {
                    self.runners[rank as usize].posted.push_back((from, cargo));
                }
            }
            let runner = &mut self.runners[rank as usize];
            if runner.done {
                return moved;
            }
            let (act, sent) = match runner.current.take() {
                Some(current) => current,
                None => {
                    moved = true;
                    let Some(act) = self.script.act(rank, runner.next) else {
                        runner.done = true;
                        continue;
                    };
                    runner.next += 1;
                    (act, None)
                }
            };
            let is_through =
                |machine: &Self, number: usize| machine.sends == Sends::Buffered || machine.sent[number].taken;
            let waits = match act {
                Act::Nothing => None,
                Act::Send { to, ref cargo } => {
                    let number = sent.unwrap_or_else(|| self.send(rank, to, cargo));
                    (!is_through(self, number)).then_some((act, Some(number)))
                }
                Act::Receive { from, ref cargo, then } => {
                    (!self.receive(rank, from, cargo, then)).then_some((act, None))
                }
                Act::Exchange { to, sent: ref out, from, ref received, then } => {
                    let number = sent.unwrap_or_else(|| self.send(rank, to, out));
                    match self.receive(rank, from, received, then) {
                        false => Some((act, Some(number))),
                        // Once the message has arrived, the rank only waits for its own send.
                        true => {
                            let rest = Act::Send { to, cargo: out.clone() };
                            (!is_through(self, number)).then_some((rest, Some(number)))
                        }
                    }
                }
                Act::StartSend { to, ref cargo } => {
                    let number = self.send(rank, to, cargo);
                    self.runners[rank as usize].started.push(number);
                    None
                }
                Act::StartReceive { from, cargo } => {
                    self.runners[rank as usize].posted.push_back((from, cargo));
                    None
                }
                Act::WaitAll => {
                    let runner = &self.runners[rank as usize];
                    let done =
                        runner.posted.is_empty() && runner.started.iter().all(|&number| is_through(self, number));
                    (!done).then_some((act, None))
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
