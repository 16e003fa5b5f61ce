//! One call of a collective as a pattern.

use super::options::{finish, too_many};
use super::ring::next;
use super::rule::BuildResult;
use crate::collective::{Algorithm, Call, Plan, Schedule};
use crate::diagnostic::Located;
use crate::ids::RankId;
use crate::pattern::{After, Block, Message, Needs, Pattern};
use crate::units::Bytes;
use crate::workload::{Lockstep, PassedOn};

/// Messages of one call of a collective on all ranks: the same as in a program.
///
/// Steps are the rounds of the algorithm. A message depends on all messages to its sender in earlier rounds;
/// these are exactly the messages that its sender has received by then in the order of its calls.
#[derive(Debug)]
pub(super) struct Scheduled {
    schedule: Schedule,
    /// Plan by which the call is made; `None` if no plan gives these messages.
    plan: Option<Plan>,
    steps: u32,
    after: After,
    /// True if a rank that starts several messages waits for these before it starts more.
    waits_for_sends: bool,
}

impl Scheduled {
    /// Builds the pattern of a call with the algorithm of this name, if its rounds can be counted.
    pub fn of(call: &Call, algorithm: &str, size: &Located<Bytes>) -> BuildResult {
        let known = Algorithm::ALL.iter().find(|known| known.name() == algorithm);
        let algorithm = *known.expect("the algorithms of patterns are known to collectives");
        let plan = Plan::plain(algorithm);
        Self::finished(Schedule::of(call, plan), Some(plan), size)
    }

    /// Builds the pattern of a schedule, if its messages and bytes can be counted.
    pub fn finished(schedule: Schedule, plan: Option<Plan>, size: &Located<Bytes>) -> BuildResult {
        let rounds = u128::from(schedule.rounds());
        match Self::new(schedule, plan) {
            Some(pattern) => finish(pattern, size),
            None => Err(vec![too_many(size, "steps", rounds)]),
        }
    }

    /// Creates the pattern of a schedule; `None` if its rounds are too many to count.
    pub fn new(schedule: Schedule, plan: Option<Plan>) -> Option<Self> {
        let after = if schedule.waits() { After::EarlierSteps } else { After::Nothing };
        Some(Self { steps: u32::try_from(schedule.rounds()).ok()?, schedule, plan, after, waits_for_sends: false })
    }

    /// Sets if ranks wait for their own messages as the algorithm requires, whatever the injection rule
    /// allows.
    pub fn with_waits(self, waits_for_sends: bool) -> Self {
        Self { waits_for_sends, ..self }
    }
}

impl Pattern for Scheduled {
    fn ranks(&self) -> u32 {
        self.schedule.ranks()
    }

    fn sends(&self, rank: RankId) -> u32 {
        // A rank sends one message a round, or one to each other rank.
        self.schedule.sends(rank.0) as u32
    }

    fn message(&self, rank: RankId, index: u32) -> Message {
        let Some(message) = self.schedule.message(rank.0, u64::from(index)) else {
            unreachable!("{rank} sends fewer than {index} messages");
        };
        Message::new(message.to, message.bytes, message.round as u32, self.after.clone())
    }

    fn receives(&self, rank: RankId, step: u32) -> u32 {
        self.schedule.receives(rank.0, u64::from(step)) as u32
    }

    fn steps(&self) -> u32 {
        self.steps
    }

    fn needs(&self) -> Needs {
        Needs { steps: self.schedule.waits(), messages: false }
    }

    fn call(&self) -> Option<(&Call, Plan)> {
        Some((self.schedule.call(), self.plan?))
    }

    fn waits_for_sends(&self) -> bool {
        self.waits_for_sends
    }

    fn most_to_one(&self) -> u32 {
        self.schedule.most_to_one()
    }

    fn lockstep(&self) -> Option<Lockstep<'_>> {
        let ring = self.schedule.ring()?;
        let (ranks, steps) = (self.ranks(), self.steps);
        let destinations = Box::new(move |_, destinations: &mut Vec<RankId>| destinations.extend(next(ranks)));
        let sent = move |rank: RankId| self.schedule.sent_on_ring(rank.0);
        let passed_on: Option<Box<PassedOn<'_>>> = if ring.is_even { None } else { Some(Box::new(sent)) };
        Some(Lockstep { ranks, steps, bytes: ring.largest, alike: steps.max(1), destinations, passed_on })
    }

    fn carries(&self, rank: RankId, index: u32) -> Vec<Block> {
        let carried = self.schedule.carries(rank.0, u64::from(index));
        carried.into_iter().map(|(origin, part)| Block { origin: RankId(origin), part }).collect()
    }

    fn bytes(&self) -> u128 {
        self.schedule.bytes()
    }
}
