//! What happened as packed numbers: spans, messages, the critical path, and what they have in common.

use std::collections::BTreeMap;

use crate::pack;
use crate::run::{Kept, Run};
use crate::span::Message;

/// What many spans have in common: kind (its number in `Activity::ALL`), call, place, peer (-1: none), whether it is
/// several.
pub(crate) type Class = (u8, u32, u32, i64, u8);
/// What many messages have in common: receiver, where sent, where received.
pub(crate) type Link = (u32, u32, u32);

/// What spans and messages have in common, numbered as it turns up.
#[derive(Default)]
pub(crate) struct Tables {
    classes: BTreeMap<Class, usize>,
    links: BTreeMap<Link, usize>,
}

/// Keys in the order of their numbers.
fn in_order<K: Copy>(table: &BTreeMap<K, usize>) -> Vec<K> {
    let mut keys: Vec<(usize, K)> = table.iter().map(|(&key, &number)| (number, key)).collect();
    keys.sort_unstable_by_key(|&(number, _)| number);
    keys.into_iter().map(|(_, key)| key).collect()
}

fn number_of<K: Ord>(table: &mut BTreeMap<K, usize>, key: K) -> u64 {
    let next = table.len();
    *table.entry(key).or_insert(next) as u64
}

impl Tables {
    /// What spans have in common, by number.
    pub fn classes(&self) -> Vec<Class> {
        in_order(&self.classes)
    }

    /// The same of messages.
    pub fn links(&self) -> Vec<Link> {
        in_order(&self.links)
    }

    /// About how long they are as JSON.
    pub fn classes_size(&self) -> usize {
        self.classes.len() * 18
    }

    /// The same of what messages have in common.
    pub fn links_size(&self) -> usize {
        self.links.len() * 17
    }

    /// For other messages.
    pub fn forget_links(&mut self) {
        self.links.clear();
    }

    /// The spans of a rank. Each is: its class, whether bytes or tag differ from those of the span before, and how its
    /// event follows from the one before, in one number; its distance from the span before; its length; what differs.
    pub fn spans(&mut self, spans: &[Kept]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(spans.len() * 6);
        let (mut end, mut event, mut last) = (0, u64::MAX, (0, 0));
        for span in spans {
            let peer = span.peer.map_or(-1, i64::from);
            let class = (span.kind as u8, span.call, span.place.0, peer, u8::from(span.several));
            let class = number_of(&mut self.classes, class);
            let changed = (span.bytes, span.tag) != last;
            let step = match span.event {
                None => 0,
                Some(number) if number == event.wrapping_add(1) => 1,
                Some(number) if number == event => 2,
                Some(_) => 3,
            };
            pack::number(&mut bytes, class * 8 + u64::from(changed) * 4 + step);
            pack::number(&mut bytes, span.begin - end);
            pack::number(&mut bytes, span.end - span.begin);
            if changed {
                last = (span.bytes, span.tag);
                pack::number(&mut bytes, span.bytes);
                pack::signed(&mut bytes, span.tag.into());
            }
            if let Some(number) = span.event {
                event = number;
                if step == 3 {
                    pack::number(&mut bytes, number);
                }
            }
            end = span.end;
        }
        bytes
    }

    /// How many messages each rank sends, and they: in the order of sending, each as its link and whether bytes or tag
    /// differ in one number; its distance from the message before; how long it was under way; what differs.
    pub fn messages(&mut self, run: &Run) -> (Vec<usize>, Vec<String>) {
        let mut by_sender: Vec<Vec<&Message>> = vec![Vec::new(); run.spans.len()];
        for message in run.messages.iter().chain(&run.named_messages) {
            by_sender[message.from as usize].push(message);
        }
        let sent = by_sender.iter().map(Vec::len).collect();
        let mut packed = Vec::with_capacity(by_sender.len());
        for mut messages in by_sender {
            messages.sort_by_key(|message| (message.sent, message.arrived, message.to));
            let mut bytes = Vec::with_capacity(messages.len() * 7);
            let (mut sent, mut last) = (0, (0, 0));
            for message in messages {
                let link = (message.to, message.from_place.0, message.to_place.0);
                let changed = (message.bytes, message.tag) != last;
                pack::number(&mut bytes, number_of(&mut self.links, link) * 2 + u64::from(changed));
                pack::number(&mut bytes, message.sent - sent);
                // Clocks of different nodes can differ by more than a message takes.
                pack::signed(&mut bytes, message.arrived.wrapping_sub(message.sent) as i64);
                if changed {
                    last = (message.bytes, message.tag);
                    pack::number(&mut bytes, message.bytes);
                    pack::signed(&mut bytes, message.tag.into());
                }
                sent = message.sent;
            }
            packed.push(pack::base64(&bytes));
        }
        (sent, packed)
    }
}

/// The critical path: of each piece its rank and whether it is a message in one number, the sender of a message, its
/// distance from the piece before, its length.
pub(crate) fn path(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.path.len() * 5);
    let mut end = 0;
    for piece in &run.path {
        pack::number(&mut bytes, u64::from(piece.rank) * 2 + u64::from(piece.from.is_some()));
        if let Some(from) = piece.from {
            pack::number(&mut bytes, from.into());
        }
        pack::number(&mut bytes, piece.begin - end);
        pack::number(&mut bytes, piece.end - piece.begin);
        end = piece.end;
    }
    bytes
}
