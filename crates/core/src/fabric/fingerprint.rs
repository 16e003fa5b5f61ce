//! A number that changes with any property of a fabric on which times depend.

use super::Fabric;

impl Fabric {
    /// Returns a hash of the fabric as 16 hexadecimal digits: numbers of nodes and switches, and ends, capacity and
    /// latency of each link. Failed links and changed capacities count. Cost: O(L) for L links.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.nodes.to_le_bytes()).update(&self.switches.to_le_bytes());
        for (id, link) in self.links.iter_ids() {
            let ends = link.ends.map_or(u64::MAX, |(from, to)| u64::from(from.0) << 32 | u64::from(to.0));
            let numbers = [link.capacity.bytes_per_second(), link.latency.ps()].map(f64::to_bits);
            let words = [ends, numbers[0], numbers[1], self.has_failed(id).into()];
            hasher.update(words.map(u64::to_le_bytes).as_flattened());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}
