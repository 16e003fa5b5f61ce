//! Synthesised slots: messages packed so that no link carries more than it can at a time.

use super::attempt::{Attempt, Choice, NONE, Waiting};
use super::messages::Messages;
use crate::rng::Stream;

/// Effort of packing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// One try a slot.
    Greedy,
    /// Two tries a slot, each improved by ejections.
    Pack,
}

/// Slots and routes of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slots {
    /// First slot of each message, from 0.
    pub slot: Vec<u32>,
    /// Route of each message, as numbered in [`Messages`].
    pub route: Vec<u32>,
    /// Number of slots.
    pub slots: u32,
}

/// Returns the most memory \[B\] that [`Messages`] and [`pack`] take for `messages` of `routes` routes each with
/// `links` links each, on average.
pub fn bytes_needed(messages: u64, routes: f64, links: f64) -> u64 {
    const WORD: f64 = size_of::<u32>() as f64;
    let packing = 2.0 * size_of::<Waiting>() as f64 + 3.0 * WORD + size_of::<bool>() as f64;
    // Vectors of messages grow by doubling.
    let stored = 2.0 * (2.0 * WORD + routes * (size_of::<usize>() as f64 + links * WORD));
    (messages as f64 * (packing + stored)) as u64
}

/// Packs messages into slots: in each slot a link carries at most `room[link]` messages, at least 1.
///
/// With `left` the work of waiting messages on a link ([`Messages::work`]), a link is worth `(left / largest
/// left)^8` and a message the sum over its links, on average over its routes. In each slot messages are taken in the
/// order of their worth, while they fit. Of several routes that fit, the one worth least is taken. A message of
/// weight w keeps its links for w slots.
///
/// [`Effort::Pack`] keeps the better of two tries with different ties. In each, a message is exchanged for two or
/// more that it alone keeps out and that are worth more together.
///
/// `go_on` gets the number of messages done and returns false to stop; the result is then `None`.
///
/// Cost: `O(slots * links of all routes of waiting messages)`; [`Effort::Pack`] takes 4 times as long on trees and 10
/// times on lattices with long routes.
pub fn pack(
    messages: &Messages,
    room: &[u32],
    effort: Effort,
    seed: u64,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Option<Slots> {
    let mut packing = Packing::new(messages, room, seed);
    let (mut now, mut done) = (0, 0);
    while !packing.waiting.is_empty() {
        if !go_on(done) {
            return None;
        }
        let best = packing.choose(effort);
        packing.start(&best, now);
        (now, done) = (now + 1, done + best.len());
        packing.release(now);
    }
    Some(packing.result)
}

/// Number of classes of worth by which messages are sorted.
const CLASSES: usize = 1024;
/// Largest number of passes of ejection in a try.
const PASSES: usize = 2;

struct Packing<'a> {
    messages: &'a Messages,
    /// Messages that each link can take in this slot; one link without limit follows the fabric's.
    room: Vec<u32>,
    capacity: &'a [u32],
    left: Vec<f64>,
    worth_of_link: Vec<f32>,
    worth: Vec<f32>,
    waiting: Vec<Waiting>,
    sorted: Vec<Waiting>,
    /// End and route of messages that keep their links beyond this slot.
    busy: Vec<(u32, u32)>,
    result: Slots,
    ties: Stream,
}

impl<'a> Packing<'a> {
    fn new(messages: &'a Messages, capacity: &'a [u32], seed: u64) -> Self {
        let unlimited = capacity.len() as u32;
        let waiting = |message| {
            let mut routes = messages.routes(message).map(|route| messages.route(route));
            let first = routes.next().unwrap_or_default();
            let mut ends = [first.first(), first.last()].map(|link| link.copied().unwrap_or(unlimited));
            for route in routes {
                ends = ends.map(|link| if route.contains(&link) { link } else { unlimited });
            }
            Waiting { message, ends }
        };
        let count = messages.count();
        Self {
            messages,
            room: [capacity, &[u32::MAX]].concat(),
            capacity,
            left: messages.work(capacity),
            worth_of_link: vec![0.0; capacity.len()],
            worth: vec![0.0; count],
            waiting: (0..count as u32).map(waiting).collect(),
            sorted: Vec::new(),
            busy: Vec::new(),
            result: Slots { slot: vec![NONE; count], route: vec![NONE; count], slots: 0 },
            ties: Stream::new(seed, "slots"),
        }
    }

    /// Returns the messages of the next slot.
    fn choose(&mut self, effort: Effort) -> Vec<Choice> {
        let most = self.left.iter().fold(f64::MIN_POSITIVE, |most, &left| most.max(left));
        for (worth, left) in self.worth_of_link.iter_mut().zip(&self.left) {
            let part = (left / most) as f32;
            let fourth = (part * part) * (part * part);
            *worth = fourth * fourth;
        }
        let mut best = self.attempt(effort);
        if effort == Effort::Pack {
            let other = self.attempt(effort);
            let total = |chosen: &[Choice]| chosen.iter().map(|&(m, _)| f64::from(self.worth[m as usize])).sum::<f64>();
            if total(&other) > total(&best) {
                best = other;
            }
        }
        best
    }

    /// Lets messages start in slot `now`.
    fn start(&mut self, chosen: &[Choice], now: u32) {
        for &(message, route) in chosen {
            let end = now + self.messages.weight(message);
            self.result.slot[message as usize] = now;
            self.result.route[message as usize] = route;
            self.result.slots = self.result.slots.max(end);
            self.busy.push((end, route));
            self.messages.route(route).iter().for_each(|&link| self.room[link as usize] -= 1);
            let part = self.messages.part(message);
            for &link in self.messages.links(message) {
                self.left[link as usize] -= part / f64::from(self.capacity[link as usize]);
            }
        }
        self.waiting.retain(|waiting| self.result.slot[waiting.message as usize] == NONE);
    }

    /// Frees the links of messages that end before slot `now`.
    fn release(&mut self, now: u32) {
        self.busy.retain(|&(end, route)| {
            if end == now {
                self.messages.route(route).iter().for_each(|&link| self.room[link as usize] += 1);
            }
            end > now
        });
    }

    /// Sorts the waiting messages by class of worth, largest first; ties follow a random cyclic order.
    fn sort(&mut self) {
        let mut top = f32::MIN_POSITIVE;
        for &Waiting { message, .. } in &self.waiting {
            let worth = self.worth_of(self.messages.links(message)) / self.messages.routes(message).len() as f32;
            self.worth[message as usize] = worth;
            top = top.max(worth);
        }
        let scale = (CLASSES - 1) as f32 / top;
        let class =
            |waiting: &Waiting| (CLASSES - 1).saturating_sub((self.worth[waiting.message as usize] * scale) as usize);
        let mut start = [0; CLASSES + 1];
        self.waiting.iter().for_each(|waiting| start[class(waiting) + 1] += 1);
        for i in 0..CLASSES {
            start[i + 1] += start[i];
        }
        self.sorted.resize(self.waiting.len(), Waiting { message: 0, ends: [0; 2] });
        let (late, early) = self.waiting.split_at(self.ties.below(self.waiting.len() as u64) as usize);
        for waiting in early.iter().chain(late) {
            let next = &mut start[class(waiting)];
            self.sorted[*next] = *waiting;
            *next += 1;
        }
    }

    fn worth_of(&self, links: &[u32]) -> f32 {
        links.iter().map(|&link| self.worth_of_link[link as usize]).sum()
    }

    /// Returns the messages that one try chooses.
    fn attempt(&mut self, effort: Effort) -> Vec<Choice> {
        self.sort();
        let mut this =
            Attempt { chosen: Vec::new(), taken: vec![false; self.messages.count()], open: self.room.clone() };
        self.fill(&mut this);
        let passes = if effort == Effort::Pack { PASSES } else { 0 };
        for _ in 0..passes {
            if !this.eject(self.messages, &self.sorted, &self.worth) {
                break;
            }
            self.fill(&mut this);
        }
        this.chosen
    }

    /// Takes each message that fits.
    fn fill(&self, this: &mut Attempt) {
        for &Waiting { message, ends } in &self.sorted {
            if this.fits(&ends) && !this.taken[message as usize] {
                let worth = |route: u32| self.worth_of(self.messages.route(route));
                let fits = |&route: &u32| this.fits(self.messages.route(route));
                let fitting = self.messages.routes(message).filter(fits);
                if let Some(route) = fitting.min_by(|&a, &b| worth(a).total_cmp(&worth(b))) {
                    this.take(self.messages, (message, route));
                }
            }
        }
    }
}
