//! A number that changes if any message arrives at another time.

use std::fmt;

use crate::ids::{Id, RankId};
use crate::units::Time;
use crate::workload::SendRequest;

/// Hash of all deliveries: sender, receiver, size and time.
///
/// For each sender the messages are mixed into a number of 64 bits in order of delivery. The numbers of all
/// senders together are hashed with BLAKE3. Two runs with the same fingerprint delivered the same messages at
/// the same times to the last bit.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    senders: Vec<u64>,
}

impl Fingerprint {
    /// Creates the fingerprint of no messages, for this number of ranks.
    pub fn new(ranks: u32) -> Self {
        Self { senders: vec![0; ranks as usize] }
    }

    /// Adds a delivered message.
    #[inline]
    pub fn add(&mut self, now: Time, send: &SendRequest) {
        mix(&mut self.senders[RankId::index(send.id.src)], now, send.id.index, send.dst, send.bytes);
    }

    /// Returns the number of each sender for its messages so far, to be updated with [`mix`].
    pub(super) fn senders(&mut self) -> &mut [u64] {
        &mut self.senders
    }
}

/// Updates the number of a sender by one message.
#[inline]
pub(super) fn mix(sender: &mut u64, now: Time, index: u32, dst: RankId, bytes: u64) {
    // One round of a multiplicative hash for each word; a rotation lets high bits reach low ones.
    for word in [now.ps().to_bits(), u64::from(index) << 32 | u64::from(dst.0), bytes] {
        *sender = (sender.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Number of senders that are hashed at once.
const SENDERS_AT_ONCE: usize = 1 << 10;

/// Writes 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = blake3::Hasher::new();
        // (Many at a time: handing over eight bytes costs more than hashing them.)
        let mut bytes = Vec::with_capacity(SENDERS_AT_ONCE * size_of::<u64>());
        for senders in self.senders.chunks(SENDERS_AT_ONCE) {
            bytes.clear();
            bytes.extend(senders.iter().flat_map(|sender| sender.to_le_bytes()));
            hasher.update(&bytes);
        }
        write!(f, "{}", &hasher.finalize().to_hex()[..16])
    }
}
