//! Messages of NCCL's algorithms: the bytes that each rank sends, to which rank, and after which other messages.
//!
//! Ranks are numbered node by node. A connection of a channel sends one chunk after the other. Latencies of hops are
//! not part of the messages: chunks follow each other, so they count once, as in the cost model. Channels whose rings
//! have the same order are one. Channel c crosses between nodes at GPU c of each, on one rail.

mod collnet;
mod nvls;
mod pat;
mod ring;
mod tree;

use std::collections::BTreeMap;

use super::kinds::Algorithm;
use super::tuning::{Operation, Tuning};

#[cfg(test)]
mod tests;

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
    /// Messages, by index, that must have arrived first.
    pub after: Vec<u32>,
}

/// Largest number of messages.
const MOST_MESSAGES: u64 = 1 << 20;
/// Largest number of chunks of a channel.
const MOST_CHUNKS: u64 = 512;
/// Data of a chunk \[B\].
const CHUNK: f64 = 32768.0;

/// Returns the messages of an operation of `bytes` by an algorithm.
///
/// # Errors
/// Algorithms without messages, and more messages than can be played, in words.
pub fn messages(tuning: &Tuning<'_>, algorithm: Algorithm, bytes: u64) -> Result<Vec<Message>, String> {
    let mut plan = Plan::new(tuning, algorithm, bytes);
    let (gpus, system) = (plan.gpus, tuning.system());
    match algorithm {
        Algorithm::Ring => ring::send(&mut plan),
        Algorithm::Tree => tree::send(&mut plan),
        Algorithm::Nvls if plan.nodes == 1 => nvls::send(&mut plan, system.architecture().nvls_efficiency()),
        Algorithm::NvlsTree => nvls::send(&mut plan, system.architecture().nvls_efficiency()),
        Algorithm::CollnetDirect => {
            collnet::direct(&mut plan, system.collnet_heads.as_deref().copied().unwrap_or(gpus))
        }
        Algorithm::CollnetChain => collnet::chain(&mut plan),
        Algorithm::Pat => pat::send(&mut plan, system.graph(algorithm).map_or(1, |graph| *graph.channels)),
        Algorithm::Nvls => Err("NVLS over several nodes has no messages, only its model".to_owned()),
    }?;
    Ok(plan.messages)
}

/// Returns the rings of an operation: the ranks of each, the data of a block \[B\], and the number of steps. `None` for
/// algorithms that are no rings and for operations that pass chunks on.
pub fn rings(tuning: &Tuning<'_>, algorithm: Algorithm, bytes: u64) -> Option<(Vec<Vec<u32>>, f64, u64)> {
    if algorithm == Algorithm::Ring { ring::rings(&Plan::new(tuning, algorithm, bytes)) } else { None }
}

/// Messages under construction.
struct Plan {
    operation: Operation,
    nodes: u32,
    gpus: u32,
    channels: u32,
    bytes: f64,
    messages: Vec<Message>,
    /// Last chunk of each connection: sender, receiver, channel.
    last: BTreeMap<(u32, u32, u32), u32>,
}

impl Plan {
    fn new(tuning: &Tuning<'_>, algorithm: Algorithm, bytes: u64) -> Self {
        let (operation, ranks, nodes) = tuning.call();
        let gpus = ranks / nodes;
        let channels = tuning.system().graph(algorithm).map_or(1, |graph| *graph.channels).min(gpus);
        Self { operation, nodes, gpus, channels, bytes: bytes as f64, messages: Vec::new(), last: BTreeMap::new() }
    }

    fn ranks(&self) -> u32 {
        self.nodes * self.gpus
    }

    /// Sends a chunk over a connection (sender, receiver, channel) once these messages have arrived. Returns its
    /// number.
    fn send(&mut self, connection: (u32, u32, u32), bytes: f64, after: &[u32]) -> u32 {
        let number = self.messages.len() as u32;
        let mut after = after.to_vec();
        after.extend(self.last.insert(connection, number));
        let (src, dst, _) = connection;
        self.messages.push(Message { src, dst, bytes, after });
        number
    }

    /// Returns the number of chunks of `bytes` of a channel, if each takes `messages` messages.
    fn chunks(&self, bytes: f64, messages: u64) -> Result<u32, String> {
        let most = MOST_MESSAGES / messages.max(1);
        if most == 0 {
            return Err(format!("the operation has {messages} messages, above {MOST_MESSAGES}"));
        }
        Ok(((bytes / CHUNK).ceil() as u64).clamp(1, most.min(MOST_CHUNKS)) as u32)
    }
}
