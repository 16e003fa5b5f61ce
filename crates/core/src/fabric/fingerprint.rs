//! A number that changes with any property of a fabric on which times depend.

use super::Fabric;

/// Number of links that are hashed at once.
const LINKS_AT_ONCE: usize = 1 << 10;

impl Fabric {
    /// Returns a hash of the fabric as 16 hexadecimal digits: numbers of nodes and switches, and ends, capacity and
    /// latency of each link. Failed links and changed capacities count. Cost: O(L) for L links.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.nodes.to_le_bytes()).update(&self.switches.to_le_bytes());
        let mut bytes = Vec::new();
        let all: Vec<_> = self.links.iter_ids().collect();
        for links in all.chunks(LINKS_AT_ONCE) {
            bytes.clear();
            for &(id, link) in links {
                let (from, to) = link.ends.map_or((u32::MAX, u32::MAX), |(from, to)| (from.0, to.0));
                let ends = u64::from(from) << 32 | u64::from(to);
                let (capacity, latency) = (link.capacity.bytes_per_second().to_bits(), link.latency.ps().to_bits());
                bytes.extend([ends, capacity, latency, u64::from(self.has_failed(id))].map(u64::to_le_bytes).concat());
            }
            hasher.update(&bytes);
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}
