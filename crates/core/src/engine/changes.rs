//! Effects of changed links and routes on the messages under way.

use super::events::Event;
use super::outages::{MAX_IDLE_CHANGES, Mishaps};
use super::{EventLoop, Observer, Stop};
use crate::fabric::LinkChange;
use crate::faults::OnFailure;
use crate::ids::{FlowId, Id};
use crate::transport::Transport;
use crate::units::Time;
use crate::workload::SendRequest;
use crate::workload::Workload;

impl<W: Workload + ?Sized, T: Transport + ?Sized, O: Observer> EventLoop<'_, '_, W, T, O> {
    /// Schedules the next change of links, if there is one.
    pub(super) fn await_next_change(&mut self) {
        let outages = self.chosen.as_ref().and_then(|chosen| chosen.outages.as_ref());
        let next = outages.map_or(Time::NEVER, |outages| outages.agenda.next_time());
        if next < Time::NEVER {
            self.events.push(next.max(self.now), Event::Links);
        }
    }

    /// Keeps a message without a path until the routes change.
    pub(super) fn wait_for_routes(&mut self, send: SendRequest, since: Time) {
        if let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) {
            outages.waiting.push((send, since));
        }
    }

    /// Handles a message whose route crosses a failed link: it waits for new routes, or is lost.
    pub(super) fn hold(&mut self, send: SendRequest, since: Time) {
        let placement = self.simulation.placement;
        let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) else { return };
        match outages.faults.on_failure() {
            OnFailure::Resend => self.wait_for_routes(send, since),
            OnFailure::Lost => {
                outages.mishaps.lost += 1;
                outages.name(placement[send.id.src], placement[send.dst]);
            }
        }
    }

    /// Applies the changes of links that are due: failures, repairs and new capacities.
    pub(super) fn links_change(&mut self) {
        let under_way = self.flights.len() > self.flights.free.len();
        let is_busy = under_way || !self.woken.is_empty() || self.events.has_work();
        let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) else { return };
        if !is_busy {
            outages.idle_changes += 1;
            if outages.waiting.is_empty() || outages.idle_changes > MAX_IDLE_CHANGES {
                // No message is left that the change could affect.
                return;
            }
        }
        let until = self.now.max(outages.agenda.next_time());
        let (mut failed, mut differs) = (Vec::new(), false);
        while let Some((track, link, change)) = outages.agenda.pop(until) {
            if let LinkChange::Bandwidth(rate) = change {
                self.wires.capacity.set(link, rate);
                self.wires.common_capacity = None;
                self.simulation.transport.set_capacity(link, rate);
            }
            match outages.states.note(track, link, change) {
                Some(true) => failed.push(link),
                Some(false) => {}
                None => continue,
            }
            differs = true;
        }
        if differs {
            let routes = outages.faults.router_around(&outages.states.failed());
            outages.routes.push(routes.map(|router| &**router));
            let number = outages.routes.len() as u32 - 1;
            let delay = outages.faults.delay();
            // A link that failed and came back within this instant breaks no message off.
            failed.retain(|&link| outages.states.is_down(link));
            if !failed.is_empty() {
                self.remove_broken();
            }
            match delay > Time::ZERO {
                true => self.events.push(self.now + delay, Event::Routes(number)),
                false => self.routes_change(number),
            }
        }
        self.await_next_change();
    }

    /// Takes the messages that cross failed links out of the network.
    fn remove_broken(&mut self) {
        let Some(chosen) = &mut self.chosen else { return };
        let Some(outages) = &mut chosen.outages else { return };
        let mut is_there = vec![true; self.flights.len()];
        for id in self.flights.free.iter().chain(&self.arrived) {
            if let Some(is_there) = is_there.get_mut(id.index()) {
                *is_there = false;
            }
        }
        let mut broken: Vec<FlowId> = (0..is_there.len())
            .filter(|&index| is_there[index] && outages.is_broken(self.flights.get(FlowId::from_index(index)).1))
            .map(FlowId::from_index)
            .collect();
        broken.sort_by_key(|&id| self.flights.get(id).0.send.id);
        // Messages that take no bandwidth, or none yet, have an event in the queue.
        let mut is_broken = vec![false; is_there.len()];
        broken.iter().for_each(|id| is_broken[id.index()] = true);
        let mut has_event = vec![false; is_there.len()];
        self.events.retain(|event| match event {
            Event::Enter(id) | Event::Arrive(id) if is_broken[id.index()] => {
                has_event[id.index()] = true;
                false
            }
            _ => true,
        });
        let mut held = Vec::with_capacity(broken.len());
        for id in broken {
            let (flight, route) = self.flights.get(id);
            if !has_event[id.index()] {
                self.simulation.transport.cancel(id);
                self.observer.left(self.now, route);
            }
            chosen.arrived(flight.send.bytes, route);
            held.push((flight.send, flight.start));
            self.flights.free.push(id);
        }
        for (send, since) in held {
            self.hold(send, since);
        }
    }

    /// Puts new routes into effect, and sends the waiting messages that now have a path.
    pub(super) fn routes_change(&mut self, number: u32) {
        let Some(chosen) = &mut self.chosen else { return };
        let Some(outages) = &mut chosen.outages else { return };
        let mut waiting = std::mem::take(&mut outages.waiting);
        if let Some(router) = outages.routes[number as usize] {
            chosen.replace_router(router);
        }
        waiting.sort_by_key(|(send, _)| send.id);
        let count = waiting.len();
        for (send, since) in waiting {
            self.launch_since(send, since);
        }
        if let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) {
            outages.mishaps.resent += (count - outages.waiting.len().min(count)) as u64;
        }
    }

    /// Reports the messages that failed links affected. A run in which a message still waits for a path is
    /// not done.
    pub(super) fn take_mishaps(&mut self) {
        let placement = self.simulation.placement;
        let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) else { return };
        outages.waiting.sort_by_key(|(send, _)| send.id);
        for (send, _) in std::mem::take(&mut outages.waiting) {
            outages.mishaps.stranded += 1;
            outages.name(placement[send.id.src], placement[send.dst]);
        }
        if outages.mishaps == Mishaps::default() {
            return;
        }
        let mishaps = std::mem::take(&mut outages.mishaps);
        if mishaps.stranded > 0 && self.outcome.stop == Stop::Done {
            self.outcome.stop = Stop::Deadlock(Vec::new());
        }
        self.outcome.mishaps = Some(Box::new(mishaps));
    }
}
