//! Packed numbers of a run: spans, messages, the critical path, and tables of their common properties.

use std::collections::BTreeMap;

use crate::pack;
use crate::run::{Run, StoredSpan};
use crate::span::Message;

/// Common properties of many spans: kind (its number in `Activity::ALL`), call, place, peer (-1 if none), and
/// 1 if each stands for several.
pub(crate) type Class = (u8, u32, u32, i64, u8);
/// Common properties of many messages: receiver, place of the send, place of the receive.
pub(crate) type Link = (u32, u32, u32);

/// Tables of common properties, numbered in the order of their first use.
#[derive(Default)]
pub(crate) struct Tables {
    classes: BTreeMap<Class, usize>,
    links: BTreeMap<Link, usize>,
}

/// Returns the keys in the order of their numbers.
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
    /// Returns the classes of spans, by number.
    pub fn classes(&self) -> Vec<Class> {
        in_order(&self.classes)
    }

    /// Returns the links of messages, by number.
    pub fn links(&self) -> Vec<Link> {
        in_order(&self.links)
    }

    /// Estimates the size of the classes as JSON \[B\].
    pub fn classes_size(&self) -> usize {
        self.classes.len() * 18
    }

    /// Estimates the size of the links as JSON \[B\].
    pub fn links_size(&self) -> usize {
        self.links.len() * 17
    }

    /// Clears the links before messages are packed again.
    pub fn forget_links(&mut self) {
        self.links.clear();
    }

    /// Packs the spans of a rank.
    ///
    /// The first number of a span holds its class, a flag for changed bytes or tag, and the step from the
    /// event before. Then follow its distance from the span before, its length, and the changed values.
    pub fn spans(&mut self, spans: &[StoredSpan]) -> Vec<u8> {
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

    /// Packs the messages of each rank in the order of sending, and returns their numbers and the packed
    /// texts.
    ///
    /// The first number of a message holds its link and a flag for changed bytes or tag. Then follow its
    /// distance from the message before, its time under way, and the changed values.
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
                // Clocks of different nodes can differ by more than the time of a message.
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

/// Packs the critical path.
///
/// The first number of a piece holds its rank and a flag for a message. Then follow the sender of a message,
/// the distance from the piece before, and the length.
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
