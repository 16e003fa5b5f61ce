//! State of packets that choose their own paths.

use std::sync::Arc;

use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, MessageId, VertexId};
use crate::rng::Mix;
use crate::routing::{Path, Router, StartingMessage, UnderWay};

/// No link.
const NONE: u32 = u32::MAX;

/// State of packets that choose their own paths.
#[derive(Debug)]
pub(super) struct PacketRouting {
    router: Arc<dyn Router>,
    /// By link: number of packets that wait for it at its switch, are on it, or are in the buffer behind it.
    known: UnderWay,
    /// By node: the one link by which packets leave it; [`NONE`] if there are several.
    pub(super) only: Vec<u32>,
    /// By link: its start and its end.
    ends: Vec<Option<(VertexId, VertexId)>>,
    /// Messages by flow.
    pub(super) messages: Vec<RoutedMessage>,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<u32>,
    draws: Mix,
    pub(super) path: Path,
}

/// Message whose packets choose their own paths.
#[derive(Clone, Debug, Default)]
pub(super) struct RoutedMessage {
    pub(super) start: Option<StartingMessage>,
    /// Path of all packets, if it is given; else empty.
    pub(super) given: Vec<LinkId>,
    /// Number of packets that have a slot, or had one.
    pub(super) entered: u64,
    /// Number of packets that have not left their source.
    pub(super) to_leave: u64,
    /// Number of packets that have not arrived.
    pub(super) to_arrive: u64,
    /// Links that packets have crossed, with the bytes of each packet; a link may occur several times.
    pub(super) carried: Vec<(u32, u64)>,
}

/// Slot that holds the route of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) flow: u32,
    /// Index of the packet in its message.
    pub(super) number: u64,
}

/// Smallest number of entries in [`RoutedMessage::carried`] at which those of one link are merged.
pub(super) const MERGE_FROM: usize = 256;

impl PacketRouting {
    /// Creates the state with nothing under way; `None` if the rule has one route for each pair.
    pub(super) fn new(fabric: &Fabric, router: &Arc<dyn Router>) -> Option<Box<Self>> {
        router.choice()?;
        let mut only = vec![NONE; fabric.nodes() as usize];
        for node in fabric.node_ids() {
            let mut links = fabric.graph().edges(petgraph::graph::NodeIndex::new(node.0 as usize));
            if let (Some(link), None) = (links.next(), links.next()) {
                only[node.0 as usize] = link.weight().0;
            }
        }
        Some(Box::new(Self {
            router: Arc::clone(router),
            known: IdVec::filled(fabric.links().len(), 0),
            only,
            ends: fabric.links().iter().map(|link| link.ends).collect(),
            messages: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            draws: Mix::new(0, "transport.packet"),
            path: Path::default(),
        }))
    }

    pub(super) fn owner(&self, slot: u32) -> u32 {
        self.slots[slot as usize].flow
    }

    /// Returns true if a link leads to the destination of a message.
    pub(super) fn arrives(&self, flow: u32, link: u32) -> bool {
        let destination = self.messages[flow as usize].start.map(|start| start.dst.into());
        self.ends[link as usize].map(|(_, end)| end) == destination
    }

    /// Adds to the number of packets that wait for a link.
    #[inline]
    pub(super) fn count(&mut self, link: u32, by: i32) {
        let known = &mut self.known[LinkId(link)];
        *known = known.wrapping_add_signed(by);
    }

    /// Has the rule write the path of a packet to `path`, as one path; returns true if the packet asks again
    /// behind its first link.
    pub(super) fn choose(&mut self, slot: u32, over: Option<LinkId>, hop: u64) -> bool {
        let Slot { flow, number } = self.slots[slot as usize];
        let (Some(choice), Some(start)) = (self.router.choice(), self.messages[flow as usize].start) else {
            return false;
        };
        self.path.clear();
        let given = &self.messages[flow as usize].given;
        if !given.is_empty() {
            self.path.links.extend_from_slice(&given[usize::from(over.is_some())..]);
            return false;
        }
        // Each packet has its own random draws each time that it asks.
        let MessageId { src, index } = start.message;
        let index = self.draws.two(u64::from(index) | hop << 32, number) as u32;
        let start = StartingMessage { message: MessageId { src, index }, ..start };
        let again = choice.choose_for_packet(start, over, &self.known, &mut self.path);
        if self.path.parts.is_empty() {
            return again;
        }
        let key = u64::from(src.0) << 32 | u64::from(index);
        self.draw_path(over.and_then(|link| self.ends[link.0 as usize]).map_or(start.src.into(), |ends| ends.1), key);
        false
    }

    /// Draws one of several paths from this vertex, link by link, with the parts as weights.
    fn draw_path(&mut self, from: VertexId, key: u64) {
        let path = std::mem::take(&mut self.path);
        let (mut at, mut draws) = (from, 0);
        // A path that is drawn from longer ones may pass a switch twice, but not for ever.
        while draws < 16 * path.links.len() as u64 {
            let out: Vec<(LinkId, VertexId, f64)> = path
                .links
                .iter()
                .zip(&path.parts)
                .filter_map(|(&link, &part)| {
                    let (start, end) = self.ends[link.0 as usize]?;
                    (start == at).then_some((link, end, part))
                })
                .collect();
            let whole: f64 = out.iter().map(|(_, _, part)| part).sum();
            draws += 1;
            let mut left = whole * (self.draws.two(key, draws) >> 11) as f64 / (1u64 << 53) as f64;
            let chosen = out.iter().find(|(_, _, part)| {
                left -= part;
                left < 0.0
            });
            let Some(&(link, end, _)) = chosen.or(out.last()) else { break };
            self.path.links.push(link);
            at = end;
        }
    }
}

#[cfg(test)]
impl PacketRouting {
    /// Asserts that no packet waits for anything, and every slot is free.
    pub(super) fn assert_idle(&self) {
        assert!(self.known.iter().all(|&packets| packets == 0), "{:?}", self.known);
        assert_eq!(self.free.len(), self.slots.len());
    }
}

/// Merges the entries of each link into one.
pub(super) fn merge(carried: &mut Vec<(u32, u64)>) {
    carried.sort_unstable();
    carried.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
}
