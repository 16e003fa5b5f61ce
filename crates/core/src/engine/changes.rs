//! What a change of links or routes does to the messages under way.

use super::events::Event;
use super::outages::{MOST_IN_VAIN, Mishaps};
use super::{EventLoop, Observer, Stop};
use crate::fabric::LinkChange;
use crate::faults::OnFailure;
use crate::ids::{FlowId, Id};
use crate::transport::Transport;
use crate::units::Time;
use crate::workload::SendRequest;
use crate::workload::Workload;

impl<W: Workload + ?Sized, T: Transport + ?Sized, O: Observer> EventLoop<'_, '_, W, T, O> {
    /// Asks to be told of the next change of links, if there is one.
    pub(super) fn await_next_change(&mut self) {
        let outages = self.chosen.as_ref().and_then(|chosen| chosen.outages.as_ref());
        let next = outages.map_or(Time::NEVER, |outages| outages.agenda.next_time());
        if next < Time::NEVER {
            self.events.push(next.max(self.now), Event::Links);
        }
    }

    /// Keeps a message between whose ends no path is left until there are new routes.
    pub(super) fn wait_for_routes(&mut self, send: SendRequest, since: Time) {
        if let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) {
            outages.waiting.push((send, since));
        }
    }

    /// Takes a message whose route crosses a link that is down: it waits for new routes, or is lost.
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

    /// Links fail, come back, or carry something else.
    pub(super) fn links_change(&mut self) {
        let under_way = self.flights.flights.len() > self.flights.free.len();
        let is_busy = under_way || !self.woken.is_empty() || self.events.has_work();
        let Some(outages) = self.chosen.as_mut().and_then(|chosen| chosen.outages.as_mut()) else { return };
        if !is_busy {
            outages.in_vain += 1;
            if outages.waiting.is_empty() || outages.in_vain > MOST_IN_VAIN {
                // Nobody is left whom it could concern.
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
            // What failed and came back within this instant breaks nothing.
            failed.retain(|&link| outages.states.is_down(link));
            if !failed.is_empty() {
                self.break_off();
            }
            match delay > Time::ZERO {
                true => self.events.push(self.now + delay, Event::Routes(number)),
                false => self.routes_change(number),
            }
        }
        self.await_next_change();
    }

    /// Takes the messages on links that are down out of the network.
    fn break_off(&mut self) {
        let Some(chosen) = &mut self.chosen else { return };
        let Some(outages) = &mut chosen.outages else { return };
        let mut is_there = vec![true; self.flights.flights.len()];
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
        // Those that take no bandwidth yet, or never: each has an event.
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

    /// New routes hold from now on: what has waited for them is sent, if it has a way.
    pub(super) fn routes_change(&mut self, number: u32) {
        let Some(chosen) = &mut self.chosen else { return };
        let Some(outages) = &mut chosen.outages else { return };
        let mut waiting = std::mem::take(&mut outages.waiting);
        if let Some(router) = outages.routes[number as usize] {
            chosen.adopt(router);
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

    /// Reports the messages that links failed under; a run in which one still waits for a path has not come to its end.
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
