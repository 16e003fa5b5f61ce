//! Messages of NCCL's algorithms: the bytes that each rank sends, to which rank, and after which other messages.
//!
//! Ranks are numbered node by node. A connection of a channel sends one chunk after the other. The latency of a hop is
//! an empty message behind the chunk, the flag for which the receiver waits, so that it does not hold up the next chunk.
//! Channels whose rings have the same order are one. Channel c crosses between nodes at GPU c of each, on one rail.

mod nvls;
mod ring;
mod tree;

use std::collections::BTreeMap;

use super::constants::{Algorithm, Protocol};
use super::tuning::{Operation, Tuning};

pub use tree::DoubleTree;

/// Message of an algorithm.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Sending rank.
    pub src: u32,
    /// Receiving rank.
    pub dst: u32,
    /// Data \[B\], without the flags of the protocol.
    pub bytes: f64,
    /// Time from the arrival of the awaited messages to its start \[us\].
    pub delay_us: f64,
    /// Messages, by index, that must have arrived first.
    pub after: Vec<u32>,
}

/// Largest number of messages.
const MOST_MESSAGES: u64 = 1 << 20;
/// Largest number of chunks of a channel.
const MOST_CHUNKS: u64 = 512;
/// Data of a chunk \[B\].
const CHUNK: f64 = 65536.0;

/// Returns the messages of an operation of `bytes` by an algorithm with a protocol.
///
/// # Errors
/// Algorithms without messages, and more messages than can be played, in words.
pub fn messages(
    tuning: &Tuning<'_>,
    algorithm: Algorithm,
    protocol: Protocol,
    bytes: u64,
) -> Result<Vec<Message>, String> {
    let (operation, ranks, nodes) = tuning.call();
    let system = tuning.system();
    let gpus = ranks / nodes;
    let channels = system.graph(algorithm).map_or(1, |graph| *graph.channels).min(gpus);
    let mut plan = Plan {
        operation,
        nodes,
        gpus,
        channels,
        bytes: bytes as f64,
        inside_us: tuning.hop_inside(algorithm, protocol),
        between_us: tuning.hop_between(algorithm, protocol),
        messages: Vec::new(),
        last: BTreeMap::new(),
    };
    match algorithm {
        Algorithm::Ring => ring::send(&mut plan),
        Algorithm::Tree => tree::send(&mut plan),
        Algorithm::Nvls if nodes == 1 => nvls::send(&mut plan, system.architecture().nvls_efficiency()),
        Algorithm::NvlsTree => nvls::send(&mut plan, system.architecture().nvls_efficiency()),
        _ => Err(format!("there are no messages of {} yet, only its model", algorithm.name())),
    }?;
    Ok(plan.messages)
}

/// Messages under construction.
struct Plan {
    operation: Operation,
    nodes: u32,
    gpus: u32,
    channels: u32,
    bytes: f64,
    inside_us: f64,
    between_us: f64,
    messages: Vec<Message>,
    /// Last chunk of each connection: sender, receiver, channel.
    last: BTreeMap<(u32, u32, u32), u32>,
}

impl Plan {
    fn ranks(&self) -> u32 {
        self.nodes * self.gpus
    }

    /// Sends a chunk over a connection once these messages have arrived. Returns the message that tells of its arrival.
    fn send(&mut self, (src, dst, channel): (u32, u32, u32), bytes: f64, after: &[u32]) -> u32 {
        let is_inside = src / self.gpus == dst / self.gpus;
        let hop = if is_inside { self.inside_us } else { self.between_us };
        self.send_with((src, dst, channel), bytes, after, hop)
    }

    /// Sends a chunk with a hop of this latency.
    fn send_with(&mut self, (src, dst, channel): (u32, u32, u32), bytes: f64, after: &[u32], hop_us: f64) -> u32 {
        let data = self.messages.len() as u32;
        let mut after = after.to_vec();
        after.extend(self.last.insert((src, dst, channel), data));
        self.messages.push(Message { src, dst, bytes, delay_us: 0.0, after });
        if hop_us == 0.0 {
            return data;
        }
        self.messages.push(Message { src, dst, bytes: 0.0, delay_us: hop_us, after: vec![data] });
        data + 1
    }

    /// Returns the number of chunks of `bytes` of a channel, if each takes so many chunks' messages in all.
    fn chunks(&self, bytes: f64, messages: u64) -> Result<u32, String> {
        let most = MOST_MESSAGES / (2 * messages.max(1));
        if most == 0 {
            return Err(format!("the operation has {} messages, above {MOST_MESSAGES}", 2 * messages));
        }
        Ok(((bytes / CHUNK).ceil() as u64).clamp(1, most.min(MOST_CHUNKS)) as u32)
    }
}
