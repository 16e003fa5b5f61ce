//! Hash of colours.

/// Returns a hash of a hash and a word. All bits of both reach all bits of the result.
#[inline]
pub fn mix(hash: u64, word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = (hash.rotate_left(29) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^= mixed >> 32;
    mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 29
}
