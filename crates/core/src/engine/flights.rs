//! Messages under way.

use super::observer::Flight;
use crate::base::prefetch::fetch;
use crate::ids::{FlowId, Id, LinkId, MessageId, RankId};
use crate::units::Time;
use crate::workload::SendRequest;

/// Prefetch distance, in messages that start or arrive at one instant.
pub(super) const PREFETCH_DISTANCE: usize = 8;

/// Messages under way, by flow.
#[derive(Default)]
pub(super) struct Flights {
    flights: Vec<UnderWay>,
    /// Links of all flights, in pieces of [`PIECE`] links.
    links: Vec<LinkId>,
    pub(super) free: Vec<FlowId>,
}

/// Slot of a message under way, in use or free, with the place of its links: one cache line.
#[repr(align(64))]
struct UnderWay {
    flight: Flight,
    /// First piece of its links, and the number of links that fit there.
    piece: u32,
    room: u32,
    /// Number of its links.
    length: u32,
}

/// Number of links in a piece: half a cache line.
const PIECE: usize = 8;

impl Flights {
    /// Returns the number of ids, in use or free.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.flights.len()
    }

    /// Returns an id that no message under way has.
    #[inline]
    pub(super) fn new_id(&mut self) -> FlowId {
        self.free.pop().unwrap_or_else(|| {
            let send = SendRequest { id: MessageId { src: RankId(0), index: 0 }, dst: RankId(0), bytes: 0 };
            let flight = Flight { send, start: Time::ZERO, alone: Time::ZERO };
            self.flights.push(UnderWay { flight, piece: 0, room: 0, length: 0 });
            FlowId::from_index(self.flights.len() - 1)
        })
    }

    /// Stores a message and its links under an id that [`Flights::new_id`] returned.
    #[inline]
    pub(super) fn put(&mut self, id: FlowId, flight: Flight, route: &[LinkId]) {
        let Self { flights, links, .. } = self;
        let place = &mut flights[id.index()];
        place.flight = flight;
        place.length = route.len() as u32;
        if place.room < place.length {
            // (The old place, which was too small, is abandoned. Room at least doubles, so abandoned room is
            // less than used room.)
            let room = route.len().max(2 * place.room as usize).next_multiple_of(PIECE);
            (place.piece, place.room) = ((links.len() / PIECE) as u32, room as u32);
            links.resize(links.len() + room, LinkId(0));
        }
        links[place.piece as usize * PIECE..][..route.len()].copy_from_slice(route);
    }

    #[inline]
    pub(super) fn get(&self, id: FlowId) -> (&Flight, &[LinkId]) {
        let place = &self.flights[id.index()];
        (&place.flight, &self.links[place.piece as usize * PIECE..][..place.length as usize])
    }

    /// Prefetches a message that will soon be looked at.
    #[inline]
    pub(super) fn fetch(&self, id: FlowId) {
        if let Some(place) = self.flights.get(id.index()) {
            fetch(place);
        }
    }

    /// Prefetches data of messages behind this place in a list that is gone through.
    #[inline]
    pub(super) fn fetch_ahead(&self, list: &[FlowId], index: usize) {
        if let Some(&soon) = list.get(index + PREFETCH_DISTANCE) {
            self.fetch_links(soon);
        }
        if let Some(&later) = list.get(index + 2 * PREFETCH_DISTANCE) {
            self.fetch(later);
        }
    }

    /// Prefetches the links of a message that has been prefetched.
    #[inline]
    pub(super) fn fetch_links(&self, id: FlowId) {
        if let Some(link) = self.flights.get(id.index()).and_then(|place| self.links.get(place.piece as usize * PIECE))
        {
            fetch(link);
        }
    }
}
