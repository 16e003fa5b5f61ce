//! Virtual channel in which a packet continues.

use super::net::{ASK, NONE, Net};
use super::spec::{DeadlockAvoidance, PacketSpec};
use crate::fabric::{Fabric, Ring};
use crate::routing::{ChannelOrder, Router, Steps};

/// Ring number of a link that is in no ring.
const NO_RING: u8 = u8::MAX;

/// Largest number of virtual channels; longer routes stay in the last one.
pub(super) const MAX_CHANNELS: u32 = 1024;

/// Rule by which packets change channels.
#[derive(Debug)]
pub(super) enum Lanes {
    /// One channel. `bubble`: packets that enter a ring leave room for one more.
    One { rings: Rings, bubble: bool },
    /// Two channels; packets change to the second one on the link that closes a ring.
    Dateline(Rings),
    /// Two channels; packets that cross the link that closes a ring are in the second one all along the ring.
    Turn(Rings),
    /// Many channels; packets change to the next class wherever the route does not ascend. Holds the rank of
    /// each link.
    Classes(Vec<u32>),
}

impl Lanes {
    pub(super) fn new(fabric: &Fabric, router: &dyn Router, spec: &PacketSpec) -> Self {
        match (spec.avoidance(), router.channel_order()) {
            (Some(DeadlockAvoidance::None), _) => Self::One { rings: Rings::new(fabric), bubble: false },
            (Some(DeadlockAvoidance::LocalBubble), _) => Self::One { rings: Rings::new(fabric), bubble: true },
            (Some(DeadlockAvoidance::Dateline), _) | (None, ChannelOrder::Rings) => Self::Dateline(Rings::new(fabric)),
            (Some(DeadlockAvoidance::Turn), _) => Self::Turn(Rings::new(fabric)),
            (Some(DeadlockAvoidance::Classes) | None, _) => Self::Classes(Steps::ranks(router, fabric)),
        }
    }

    /// Returns the number of channels that a link has at first.
    pub(super) fn first_count(&self) -> u32 {
        if matches!(self, Self::Dateline(_) | Self::Turn(_)) { 2 } else { 1 }
    }

    /// True if packets that enter a ring leave room for one more.
    pub(super) fn has_bubble(&self) -> bool {
        matches!(self, Self::One { bubble: true, .. })
    }

    /// Returns the channel of the buffer behind link `to` for a packet that has come over link `from`
    /// ([`NONE`]: from its source) in channel `lane`, and whose route continues from this place.
    #[inline]
    pub(super) fn next(&self, net: &Net, place: u32, from: u32, lane: u32, to: u32) -> u32 {
        match self {
            Self::One { .. } => 0,
            Self::Dateline(rings) => {
                let stays = from != NONE && rings.stays(from, to);
                u32::from(rings.closes(to) || (stays && lane == 1))
            }
            Self::Turn(rings) if from != NONE && rings.stays(from, to) => lane,
            Self::Turn(rings) => u32::from(rings.will_close(net, place)),
            Self::Classes(ranks) => match from {
                NONE => 0,
                _ => (lane + u32::from(ranks[to as usize] <= ranks[from as usize])).min(MAX_CHANNELS - 1),
            },
        }
    }

    /// True if a packet that goes from one link to the other must leave room for one more.
    #[inline]
    pub(super) fn leaves_bubble(&self, from: u32, to: u32) -> bool {
        match self {
            Self::One { rings, bubble: true } => rings.holds(to) && (from == NONE || !rings.stays(from, to)),
            _ => false,
        }
    }

    /// Returns the number of channels that the route of a packet needs from this place on, given its last
    /// link and channel.
    pub(super) fn needed(&self, net: &Net, place: u32, from: u32, lane: u32) -> u32 {
        if !matches!(self, Self::Classes(_)) {
            return 0;
        }
        let (mut from, mut lane, mut most) = (from, lane, lane);
        for place in place.. {
            let link = net.link(place);
            // Behind the last link no buffer is needed.
            if link >= ASK || net.link(place + 1) == NONE {
                break;
            }
            lane = self.next(net, place, from, lane, link);
            most = most.max(lane);
            from = link;
        }
        most + 1
    }
}

/// Rings that the fabric's family knows of: on a torus the links of each dimension whose ends are joined.
#[derive(Debug)]
pub(super) struct Rings {
    /// By link: the dimension of its ring.
    dim: Vec<u8>,
    /// By link: set if it closes its ring.
    closing: Vec<bool>,
}

impl Rings {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let links = fabric.links().len();
        let mut rings = Self { dim: vec![NO_RING; links], closing: vec![false; links] };
        for Ring { link, dimension, closes } in fabric.family().rings() {
            rings.dim[link.0 as usize] = dimension;
            rings.closing[link.0 as usize] = closes;
        }
        rings
    }

    /// True if a link is part of a ring.
    #[inline]
    fn holds(&self, link: u32) -> bool {
        self.dim[link as usize] != NO_RING
    }

    /// True if a packet that goes from one link to the other stays in its ring.
    #[inline]
    fn stays(&self, from: u32, to: u32) -> bool {
        self.dim[from as usize] == self.dim[to as usize] && self.holds(to)
    }

    /// True if a packet crosses the link that closes its ring, on the part of its route from this place on
    /// that is in that ring.
    fn will_close(&self, net: &Net, place: u32) -> bool {
        let ring = net.link(place);
        let mut along = (place..).map(|place| net.link(place)).take_while(|&link| link < ASK && self.stays(ring, link));
        along.any(|link| self.closes(link))
    }

    /// True if a link closes its ring.
    #[inline]
    fn closes(&self, link: u32) -> bool {
        self.closing[link as usize]
    }
}
