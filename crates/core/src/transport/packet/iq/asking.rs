//! Packets that choose their own paths through input queues.

use super::super::net::{NONE, Net, Packet};
use super::{InputQueues, Step};

impl<const ASKS: bool> InputQueues<ASKS> {
    /// Prepares the next packet of the message whose packet has just left its source by this link.
    pub(super) fn sent_from_source(&mut self, net: &mut Net, link: u32, packet: u32) {
        let &Packet { place, last, .. } = self.packets.at(packet);
        let flow = net.flow(place);
        if !last {
            self.prepare(net, flow);
        }
        if !self.virtual_outputs {
            return;
        }
        if !last {
            let wanted = self.steps[self.source_place(net, flow) as usize].link;
            if wanted != link {
                // The next packet leaves by another link: the message goes to the end of that queue.
                let number = self.outputs[link as usize].serves;
                self.queues[number as usize].head = self.trains.at(flow).next;
                self.trains.get(flow).next = NONE;
                let number = self.queue_for(wanted, self.sources[wanted as usize]);
                if self.append_message(number, flow) {
                    self.expose(net, number);
                    self.arbitrate(net, wanted);
                }
            }
        }
        // Added channels may have moved the queue.
        self.expose(net, self.outputs[link as usize].serves);
    }

    /// Prepares the next packet of a message at its source.
    pub(super) fn prepare(&mut self, net: &mut Net, flow: u32) {
        let place = net.enter(flow);
        self.next_packet[flow as usize] = place;
        // The place was stored before, so that it moves with the others.
        self.follow_stride(net, flow);
        self.note_way(net, self.next_packet[flow as usize], NONE, 0);
    }

    /// Renames places after routes have become longer; the place of the next packet of this message is new
    /// already.
    pub(super) fn follow_stride(&mut self, net: &Net, but: u32) {
        if self.stride != net.stride {
            let fresh = self.next_packet.get(but as usize).copied();
            self.packets.rename(net.renaming(self.stride));
            let name = net.renaming(self.stride);
            self.next_packet.iter_mut().for_each(|place| *place = name(*place));
            if let (Some(fresh), Some(place)) = (fresh, self.next_packet.get_mut(but as usize)) {
                *place = fresh;
            }
            let mut steps = vec![Step { link: NONE, request: 0 }; net.routes.len()];
            for (to, from) in steps.chunks_exact_mut(net.stride).zip(self.steps.chunks_exact(self.stride)) {
                to[..self.stride].copy_from_slice(from);
            }
            (self.steps, self.stride) = (steps, net.stride);
        }
    }

    /// Lets a packet that has come over a link ask for its path from here; returns the next step of it.
    pub(super) fn ask(&mut self, net: &mut Net, packet: u32) -> Step {
        net.ask(self.packets.at(packet).place);
        self.follow_stride(net, NONE);
        let place = self.packets.at(packet).place;
        let over = self.steps[place as usize - 1];
        self.note_way(net, place, over.link, self.lane(over));
        self.steps[place as usize]
    }
}
