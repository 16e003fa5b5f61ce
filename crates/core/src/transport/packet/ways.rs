//! Routes of packets that choose their own paths. Each packet has its route in a slot, asks the rule when it
//! comes to its first switch, and gives the slot back when it arrives.

use super::asking::{MERGE_FROM, PacketRouting, RoutedMessage, Slot, merge};
use super::net::{ASK, NONE, Net};
use crate::ids::LinkId;
use crate::routing::{Path, StartingMessage};

impl Net {
    /// Starts a message whose packets ask, unless their path is given.
    pub(super) fn begin(&mut self, flow: u32, start: StartingMessage, given: &[LinkId], bytes: u64) {
        let packets = bytes.div_ceil(u64::from(self.packet_bytes));
        let Some(asking) = &mut self.asking else { return };
        if asking.messages.len() <= flow as usize {
            asking.messages.resize(flow as usize + 1, RoutedMessage::default());
        }
        let message = &mut asking.messages[flow as usize];
        message.carried.clear();
        *message = RoutedMessage {
            start: Some(start),
            given: given.to_vec(),
            entered: 0,
            to_leave: packets,
            to_arrive: packets,
            carried: std::mem::take(&mut message.carried),
        };
    }

    /// Returns the link by which all packets of a message leave its node; [`NONE`] if there are several.
    pub(super) fn only_link(&self, flow: u32) -> u32 {
        let start = |asking: &PacketRouting| {
            asking.messages[flow as usize].start.map(|start| asking.only[start.src.0 as usize])
        };
        self.asking.as_deref().and_then(start).unwrap_or(NONE)
    }

    /// Gives the next packet of a message a route of its own: up to its first switch, where it asks, or all
    /// of it if its node has several links, or its only one leads to the destination. Returns its first place. The
    /// stride may have grown.
    pub(super) fn enter(&mut self, flow: u32) -> u32 {
        let only = self.only_link(flow);
        let Some(asking) = &mut self.asking else { return 0 };
        let number = asking.messages[flow as usize].entered;
        asking.messages[flow as usize].entered += 1;
        let slot = asking.free.pop().unwrap_or_else(|| {
            asking.slots.push(Slot::default());
            asking.slots.len() as u32 - 1
        });
        asking.slots[slot as usize] = Slot { flow, number };
        if only != NONE {
            let arrives = asking.arrives(flow, only);
            self.set_route(slot, &[LinkId(only), LinkId(ASK)][..if arrives { 1 } else { 2 }]);
        } else {
            let again = asking.choose(slot, None, 0);
            self.write_path(slot, 0, again);
        }
        self.place(slot)
    }

    /// Asks for the path of a packet from this place on. The stride may have grown: then the place has moved.
    pub(super) fn ask(&mut self, place: u32) {
        let (slot, hop) = (place >> self.stride.trailing_zeros(), place as usize & (self.stride - 1));
        let over = LinkId(self.routes[place as usize - 1]);
        if let Some(asking) = &mut self.asking {
            let again = asking.choose(slot, Some(over), hop as u64);
            self.write_path(slot, hop, again);
        }
    }

    /// Writes the chosen path to a slot, from this hop on; only its first link if the packet asks again.
    fn write_path(&mut self, slot: u32, hop: usize, again: bool) {
        let Some(asking) = &mut self.asking else { return };
        let mut links = std::mem::take(&mut asking.path.links);
        if again {
            links.truncate(1);
            links.push(LinkId(ASK));
        }
        if hop == 0 {
            self.set_route(slot, &links);
        } else {
            self.widen(hop + links.len() + 1);
            let first = slot as usize * self.stride + hop;
            for (entry, link) in self.routes[first..].iter_mut().zip(&links) {
                *entry = link.0;
            }
            self.routes[first + links.len()] = NONE;
        }
        if let Some(asking) = &mut self.asking {
            asking.path.links = links;
        }
    }

    /// Adds to the number of packets that wait for a link.
    #[inline]
    pub(super) fn count(&mut self, link: u32, by: i32) {
        if let Some(asking) = &mut self.asking {
            asking.count(link, by);
        }
    }

    /// Records that the last byte of a packet at this place has left its source. Returns true if its message
    /// has left, too, and departures are asked for.
    pub(super) fn packet_departed(&mut self, place: u32) -> bool {
        let flow = self.flow(place);
        let all = self.asking.as_mut().is_some_and(|asking| {
            let message = &mut asking.messages[flow as usize];
            message.to_leave -= 1;
            message.to_leave == 0
        });
        all && self.departed(place)
    }

    /// Records that a packet of `bytes` bytes has arrived, and frees its slot. Returns true if its message
    /// has arrived.
    pub(super) fn packet_arrived(&mut self, place: u32, bytes: u32) -> bool {
        let slot = place >> self.stride.trailing_zeros();
        let flow = self.flow(place);
        let first = slot as usize * self.stride;
        let route = &self.routes[first..place as usize];
        let Some(asking) = &mut self.asking else { return false };
        asking.free.push(slot);
        let message = &mut asking.messages[flow as usize];
        message.carried.extend(route.iter().map(|&link| (link, u64::from(bytes))));
        if message.carried.len() >= MERGE_FROM && message.carried.len().is_power_of_two() {
            merge(&mut message.carried);
        }
        message.to_arrive -= 1;
        let all = message.to_arrive == 0;
        if all {
            self.arrivals.push(flow);
        }
        all
    }

    /// Writes the links that the packets of a message have crossed, and the part of its bytes on each.
    pub(super) fn way_of(&mut self, flow: u32, bytes: u64, path: &mut Path) {
        path.clear();
        let Some(asking) = &mut self.asking else { return };
        let Some(message) = asking.messages.get_mut(flow as usize) else { return };
        merge(&mut message.carried);
        for (link, carried) in message.carried.drain(..) {
            path.links.push(LinkId(link));
            path.parts.push(carried as f64 / bytes as f64);
        }
    }
}
