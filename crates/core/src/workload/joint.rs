//! Joint workload: several workloads that run as one. Each has its own ranks and start time, and may be
//! repeated.
//!
//! A part does not know the other parts: it sees the calls that it would see alone, with its own numbers of
//! ranks, messages and wakes. The engine sees one workload with the ranks of all parts, one part after
//! another. Messages are translated in batches, so a part costs what its messages cost.

use crate::ids::{Id, MessageId, RankId, WakeId};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Factory for the workload of a part; its argument is the time at which the workload begins.
pub type Factory<'a> = Box<dyn FnMut(Time) -> Box<dyn Workload + 'a> + 'a>;

/// A workload that runs beside other workloads.
pub struct Part<'a> {
    /// Number of ranks.
    pub ranks: u32,
    /// Time at which it begins for the first time.
    pub start: Time,
    /// Factory that makes the workload for each repetition; `None` for ranks that do nothing.
    pub make: Option<Factory<'a>>,
    /// True if the workload counts time from its own beginning, as workloads do that keep their own time.
    /// Workloads that only add delays to the time they are told do not need this: their times stay the same
    /// to the last bit beside any other part.
    pub own_clock: bool,
    /// Factor on the weights of its messages on links that they share with messages of other parts.
    pub weight: f64,
    /// Repetition of the workload.
    pub repeat: Repeat,
    /// Time from its end to the begin of the next repetition.
    pub think: Time,
}

/// Repetition of a part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Repeat {
    /// This number of times.
    Times(u64),
    /// Repeated as long as repetitions begin before this time.
    Until(Time),
    /// At most this number of times, and as long as repetitions begin before this time.
    TimesUntil(u64, Time),
    /// Repeated as long as any part runs that is not in the background; its last messages are waited for. It
    /// sends nothing from the given time on.
    Background(Option<Time>),
}

impl Repeat {
    /// Returns true if it runs beside the other parts until they have ended.
    pub fn is_background(self) -> bool {
        matches!(self, Self::Background(_))
    }

    /// Returns true if its n-th repetition, from 0, may begin at this time.
    fn goes_on(self, n: u64, time: Time) -> bool {
        match self {
            Self::Times(times) => n < times,
            Self::Until(until) => time < until,
            Self::TimesUntil(times, until) => n < times && time < until,
            Self::Background(until) => until.is_none_or(|until| time < until),
        }
    }
}

/// Statistics of a part's repetitions.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Runs {
    /// Number of finished repetitions.
    pub count: u64,
    /// Begin of the first repetition.
    pub begun: Time,
    /// End of the last repetition.
    pub ended: Time,
    /// Total duration of all repetitions.
    pub total: Time,
    /// Shortest duration of a repetition.
    pub min: Time,
    /// Longest duration of a repetition.
    pub max: Time,
}

impl Runs {
    fn add(&mut self, begun: Time, ended: Time, times: u64) {
        let took = ended - begun;
        if self.count == 0 {
            (self.min, self.max) = (took, took);
        }
        (self.min, self.max) = (self.min.min(took), self.max.max(took));
        self.total += Time::from_ps(took.ps() * times as f64);
        self.count += times;
        self.ended = ended;
    }

    /// Mean duration of a repetition.
    pub fn mean(&self) -> Time {
        if self.count == 1 { self.min } else { Time::from_ps(self.total.ps() / self.count.max(1) as f64) }
    }
}

/// State of a part.
#[derive(Clone, PartialEq, Debug)]
enum State {
    /// It begins when its wake comes.
    Waits,
    Running,
    Done,
    /// None of its messages is in flight, and these ranks still wait.
    Stuck(Vec<Blocked>),
}

/// A running part.
struct Playing<'a> {
    part: Part<'a>,
    /// Number of its rank 0 in the joint workload.
    first: u32,
    /// True if background parts continue until this one has ended: it is not in the background itself, or all
    /// parts are.
    is_foreground: bool,
    workload: Option<Box<dyn Workload + 'a>>,
    load: Load,
    messages: u64,
    state: State,
    /// Begin of this repetition.
    begun: Time,
    /// Time at which the last of its messages was delivered.
    last: Time,
    /// Number of messages in flight and of pending wakes.
    outstanding: u64,
    /// Numbers of each rank's first message of this repetition and of its next message; empty without
    /// repetitions.
    numbers: Vec<(u32, u32)>,
    runs: Runs,
}

/// Several workloads joined to one. See the [module](self).
pub struct Joint<'a> {
    parts: Vec<Playing<'a>>,
    ranks: u32,
    /// Wakes whose number in their part is beyond its ranks: the part, and that number.
    wakes: Vec<(u32, WakeId)>,
    free: Vec<u32>,
    /// Number of parts that are waited for and have not ended.
    left: usize,
    /// Requests of a part.
    asked: Requests,
    /// Messages with the numbers that their part knows.
    own: Vec<SendRequest>,
}

impl<'a> Joint<'a> {
    /// Number of messages of a part with an unknown number of repetitions: larger than any real number.
    pub const UNKNOWN: u64 = u64::MAX / 2;

    /// Joins these parts, with their ranks one after another.
    pub fn new(parts: Vec<Part<'a>>) -> Self {
        let mut ranks = 0;
        let all_background = parts.iter().all(|part| part.make.is_none() || part.repeat.is_background());
        let mut playing = Vec::with_capacity(parts.len());
        for mut part in parts {
            let workload = part.make.as_mut().map(|make| make(part.start));
            let first = ranks;
            ranks += part.ranks;
            let numbers = if part.repeat == Repeat::Times(1) { 0 } else { part.ranks as usize };
            let ends = part.repeat != Repeat::Background(None);
            playing.push(Playing {
                first,
                is_foreground: workload.is_some() && ends && (all_background || !part.repeat.is_background()),
                load: workload.as_ref().map_or(Load { one_at_a_time: true, ..Load::default() }, |work| work.load()),
                messages: workload.as_ref().map_or(0, |work| work.messages()),
                state: if workload.is_some() { State::Waits } else { State::Done },
                workload,
                begun: Time::ZERO,
                last: Time::ZERO,
                outstanding: 0,
                numbers: vec![(0, 0); numbers],
                runs: Runs { begun: part.start, ..Runs::default() },
                part,
            });
        }
        Self {
            left: playing.iter().filter(|part| part.is_foreground).count(),
            parts: playing,
            ranks,
            wakes: Vec::new(),
            free: Vec::new(),
            asked: Requests::default(),
            own: Vec::new(),
        }
    }

    /// Returns the statistics of each part.
    pub fn runs(&self) -> Vec<Runs> {
        self.parts.iter().map(|part| part.runs).collect()
    }

    /// Returns the part of a rank.
    fn part_of(&self, rank: u32) -> usize {
        self.parts.partition_point(|part| part.first + part.part.ranks <= rank)
    }

    /// Begins a repetition of a part, unless it is over.
    fn begin_part(&mut self, now: Time, index: usize, requests: &mut Requests) {
        let is_over = self.left == 0;
        let part = &mut self.parts[index];
        if part.part.repeat.is_background() && is_over || !part.part.repeat.goes_on(part.runs.count, now) {
            return self.end_part(index);
        }
        if part.workload.is_none() {
            part.workload = part.part.make.as_mut().map(|make| make(now));
            part.numbers.iter_mut().for_each(|(first, next)| *first = *next);
        }
        part.state = State::Running;
        (part.begun, part.last) = (now, now);
        if let Some(workload) = &mut part.workload {
            workload.begin(&mut self.asked);
        }
        self.pass_on(index, now, now, requests);
        self.check_end(now, index, requests);
    }

    fn end_part(&mut self, index: usize) {
        let part = &mut self.parts[index];
        part.state = State::Done;
        part.workload = None;
        self.left -= usize::from(part.is_foreground);
    }

    /// Checks after an event of a part if it has ended or is stuck, and schedules its next repetition.
    fn check_end(&mut self, now: Time, index: usize, requests: &mut Requests) {
        let part = &mut self.parts[index];
        if part.outstanding > 0 || part.state != State::Running {
            return;
        }
        let Some(workload) = part.workload.take() else { return };
        // A background part that is cut off may still wait for messages that it was not allowed to send.
        let is_cut = matches!(part.part.repeat, Repeat::Background(Some(until)) if now >= until);
        let is_over = is_cut || (self.left == 0 && part.part.repeat.is_background());
        let blocked = if is_over { Vec::new() } else { workload.blocked() };
        if !blocked.is_empty() {
            part.state = State::Stuck(blocked);
            // Background parts do not wait for a stuck part.
            self.left -= usize::from(part.is_foreground);
            return;
        }
        let base = if part.part.own_clock { part.begun } else { Time::ZERO };
        let ended = workload.ended().map_or(part.last, |ended| base + ended).max(part.begun);
        let took_nothing = ended == part.begun && part.part.think == Time::ZERO;
        // If a repetition takes no time, all repetitions are done at once.
        let times = match part.part.repeat {
            Repeat::Times(times) | Repeat::TimesUntil(times, _) if took_nothing => times - part.runs.count,
            _ => 1,
        };
        part.runs.add(part.begun, ended, times);
        let next = now + part.part.think;
        if took_nothing || is_over || !part.part.repeat.goes_on(part.runs.count, next) {
            self.end_part(index);
            return;
        }
        part.state = State::Waits;
        requests.wakes.push((next, WakeId(self.ranks + index as u32)));
    }

    /// Passes on the requests of a part; its wakes are counted from `base`.
    fn pass_on(&mut self, index: usize, now: Time, base: Time, requests: &mut Requests) {
        let beyond = self.ranks + self.parts.len() as u32;
        let part = &mut self.parts[index];
        let first = part.first;
        let Requests { sends, wakes } = &mut self.asked;
        if let Repeat::Background(until) = part.part.repeat
            && (self.left == 0 || until.is_some_and(|until| now >= until))
        {
            sends.clear();
            wakes.clear();
            return;
        }
        part.outstanding += (sends.len() + wakes.len()) as u64;
        requests.sends.extend(sends.drain(..).map(|send| {
            let SendRequest { id: MessageId { src, index }, dst, bytes } = send;
            let index = match part.numbers.get_mut(src.index()) {
                None => index,
                Some((first, next)) => {
                    let number = first.wrapping_add(index);
                    *next = number.wrapping_add(1).max(*next);
                    number
                }
            };
            let id = MessageId { src: RankId(first + src.0), index };
            SendRequest { id, dst: RankId(first + dst.0), bytes }
        }));
        for (time, wake) in wakes.drain(..) {
            let number = if wake.0 < part.part.ranks {
                first + wake.0
            } else {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.wakes.push((0, wake));
                    self.wakes.len() as u32 - 1
                });
                self.wakes[slot as usize] = (index as u32, wake);
                beyond + slot
            };
            requests.wakes.push((base + time, WakeId(number)));
        }
    }

    /// Tells a part of messages that have arrived or left.
    fn report(&mut self, now: Time, index: usize, arrived: bool, requests: &mut Requests) {
        let part = &mut self.parts[index];
        let base = if part.part.own_clock { part.begun } else { Time::ZERO };
        let own = (now - base).max(Time::ZERO);
        let Some(workload) = &mut part.workload else { return };
        if arrived {
            part.outstanding -= self.own.len() as u64;
            part.last = now;
            workload.delivered(own, &self.own, &mut self.asked);
        } else {
            workload.departed(own, &self.own, &mut self.asked);
        }
        self.pass_on(index, now, base, requests);
        self.check_end(now, index, requests);
    }

    /// Returns a message with the numbers that its part knows.
    fn translate(part: &Playing<'_>, send: &SendRequest) -> SendRequest {
        let id = Self::own_id(part, send.id);
        SendRequest { id, dst: RankId(send.dst.0 - part.first), bytes: send.bytes }
    }

    /// Returns the number of a message that its part knows.
    fn own_id(part: &Playing<'_>, message: MessageId) -> MessageId {
        let src = RankId(message.src.0 - part.first);
        let before = part.numbers.get(src.index()).map_or(0, |(first, _)| *first);
        MessageId { src, index: message.index.wrapping_sub(before) }
    }
}

impl Workload for Joint<'_> {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of messages; [`Self::UNKNOWN`] for parts with an unknown number of repetitions.
    fn messages(&self) -> u64 {
        let of = |part: &Playing<'_>| match part.part.repeat {
            Repeat::Times(times) => part.messages.saturating_mul(times),
            _ if part.messages == 0 => 0,
            _ => Self::UNKNOWN,
        };
        self.parts.iter().map(of).fold(0, u64::saturating_add)
    }

    fn load(&self) -> Load {
        let loads = || self.parts.iter().map(|part| part.load);
        Load {
            one_at_a_time: loads().all(|load| load.one_at_a_time),
            departures: loads().any(|load| load.departures),
            unforeseen: loads().any(|load| load.unforeseen),
            most_to_one: loads().map(|load| load.most_to_one).max().unwrap_or(0),
            weighted: self.parts.iter().any(|part| part.load.weighted || part.part.weight != self.parts[0].part.weight),
            ..Load::default()
        }
    }

    fn weight(&self, message: MessageId) -> f64 {
        let Some(part) = self.parts.get(self.part_of(message.src.0)) else { return 1.0 };
        let own = part.workload.as_ref().filter(|_| part.load.weighted);
        part.part.weight * own.map_or(1.0, |workload| workload.weight(Self::own_id(part, message)))
    }

    fn begin(&mut self, requests: &mut Requests) {
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            match part.state {
                State::Waits if part.part.start > Time::ZERO => {
                    requests.wakes.push((part.part.start, WakeId(self.ranks + index as u32)));
                }
                State::Waits => self.begin_part(Time::ZERO, index, requests),
                _ => {}
            }
        }
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        let mut rest = messages;
        while let Some(first) = rest.first() {
            let index = self.part_of(first.id.src.0);
            let part = &self.parts[index];
            let end = part.first + part.part.ranks;
            // Messages are sorted by their senders, and so by part.
            let (mine, later) = rest.split_at(rest.partition_point(|send| send.id.src.0 < end));
            rest = later;
            self.own.clear();
            self.own.extend(mine.iter().map(|send| Self::translate(part, send)));
            self.report(now, index, true, requests);
        }
    }

    fn departed(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            if !part.load.departures {
                continue;
            }
            let ranks = part.first..part.first + part.part.ranks;
            self.own.clear();
            let mine = messages.iter().filter(|send| ranks.contains(&send.id.src.0));
            self.own.extend(mine.map(|send| Self::translate(part, send)));
            if !self.own.is_empty() {
                self.report(now, index, false, requests);
            }
        }
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let beyond = self.ranks + self.parts.len() as u32;
        let (index, own_wake) = match wake.0 {
            rank if rank < self.ranks => {
                let index = self.part_of(rank);
                (index, WakeId(rank - self.parts[index].first))
            }
            number if number < beyond => return self.begin_part(now, (number - self.ranks) as usize, requests),
            number => {
                let slot = number - beyond;
                self.free.push(slot);
                let (index, wake) = self.wakes[slot as usize];
                (index as usize, wake)
            }
        };
        let part = &mut self.parts[index];
        let base = if part.part.own_clock { part.begun } else { Time::ZERO };
        part.outstanding -= 1;
        if let Some(workload) = &mut part.workload {
            workload.woke((now - base).max(Time::ZERO), own_wake, &mut self.asked);
        }
        self.pass_on(index, now, base, requests);
        self.check_end(now, index, requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        let of = |part: &Playing<'_>| {
            let first = part.first;
            let blocked = match &part.state {
                State::Stuck(blocked) => blocked.clone(),
                State::Running if !part.part.repeat.is_background() => {
                    part.workload.as_ref().map_or(Vec::new(), |workload| workload.blocked())
                }
                _ => Vec::new(),
            };
            blocked.into_iter().map(move |blocked| Blocked {
                rank: RankId(first + blocked.rank.0),
                next: MessageId { src: RankId(first + blocked.next.src.0), ..blocked.next },
                on: blocked.on.map(|rank| RankId(first + rank.0)),
                waits_for: blocked.waits_for,
            })
        };
        self.parts.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests;
