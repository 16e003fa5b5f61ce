//! Interface between the player and the engine: messages for the fabric, and wakes.

use rustc_hash::FxHashMap;

use super::clock::MessageEvent;
use crate::ids::{MessageId, RankId, WakeId};
use crate::units::Time;
use crate::workload::{Requests, SendRequest};

/// The player's side of the engine.
#[derive(Debug, Default)]
pub(super) struct Port {
    /// Messages to hand over.
    outbox: Vec<SendRequest>,
    /// Event of the player that the delivery of each message in flight causes.
    under_way: FxHashMap<MessageId, MessageEvent>,
    /// Number of messages handed over so far, by rank.
    handed: Vec<u32>,
    /// Pending wakes, the earliest last.
    asked: Vec<(Time, WakeId)>,
    /// Number of wakes requested so far.
    wakes: u32,
}

impl Port {
    pub fn new(ranks: usize) -> Self {
        Self { handed: vec![0; ranks], ..Self::default() }
    }

    /// Queues a message for the engine; `arrival` is the event of its delivery.
    pub fn send(&mut self, src: RankId, dst: RankId, bytes: u64, arrival: MessageEvent) {
        let index = &mut self.handed[src.0 as usize];
        let id = MessageId { src, index: *index };
        *index = index.wrapping_add(1);
        self.under_way.insert(id, arrival);
        self.outbox.push(SendRequest { id, dst, bytes });
    }

    /// Returns the event that the delivery of this message will cause.
    pub fn arrival(&self, message: MessageId) -> Option<MessageEvent> {
        self.under_way.get(&message).copied()
    }

    /// Takes the event that the delivery of this message causes.
    pub fn delivered(&mut self, message: MessageId) -> Option<MessageEvent> {
        self.under_way.remove(&message)
    }

    /// Takes the time for which this wake was requested.
    pub fn woke(&mut self, wake: WakeId) -> Option<Time> {
        let at = self.asked.iter().rposition(|(_, asked)| *asked == wake)?;
        Some(self.asked.remove(at).0)
    }

    /// Hands over the queued messages, and requests a wake at `next` unless an earlier or equal one is
    /// pending. So the pending wakes form a stack.
    pub fn request(&mut self, next: Time, requests: &mut Requests) {
        requests.sends.append(&mut self.outbox);
        if next < Time::NEVER && self.asked.last().is_none_or(|&(pending, _)| next < pending) {
            let wake = WakeId(self.wakes);
            self.wakes = self.wakes.wrapping_add(1);
            requests.wakes.push((next, wake));
            self.asked.push((next, wake));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_is_asked_for_when_none_is_pending_that_comes_as_early() {
        let (mut port, mut requests) = (Port::new(2), Requests::default());
        for time in [9.0, 9.0, 12.0, 4.0] {
            port.request(Time::from_ps(time), &mut requests);
        }
        port.request(Time::NEVER, &mut requests);
        let asked: Vec<(f64, WakeId)> = requests.wakes.iter().map(|&(time, wake)| (time.ps(), wake)).collect();
        assert_eq!(asked, [(9.0, WakeId(0)), (4.0, WakeId(1))]);
        assert_eq!(port.woke(WakeId(1)), Some(Time::from_ps(4.0)));
        assert_eq!(port.woke(WakeId(1)), None);
    }

    #[test]
    fn messages_are_numbered_by_sender_and_come_back_once() {
        let (mut port, mut requests) = (Port::new(2), Requests::default());
        port.send(RankId(1), RankId(0), 8, MessageEvent::Arrive(5));
        port.send(RankId(1), RankId(0), 0, MessageEvent::RequestArrives(6));
        port.send(RankId(0), RankId(1), 0, MessageEvent::AnswerArrives(6));
        port.request(Time::NEVER, &mut requests);
        let ids: Vec<(u32, u32)> = requests.sends.iter().map(|send| (send.id.src.0, send.id.index)).collect();
        assert_eq!(ids, [(1, 0), (1, 1), (0, 0)]);
        assert_eq!(port.delivered(requests.sends[1].id), Some(MessageEvent::RequestArrives(6)));
        assert_eq!(port.delivered(requests.sends[1].id), None);
    }
}
