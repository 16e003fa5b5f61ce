//! Keys: numbers by which a rank identifies the operation of a request or a message.
//!
//! ```text
//! 0 .. 2^31                   the operation of the program at this position
//! 2^31 .. 2^31 + 2^28         a step of the collective that the rank is in
//! from 2^31 + 2^28 on         a step of a collective in the background
//! ```

/// Bit that distinguishes steps of an expanded collective from operations of the program.
pub(super) const STEP: u32 = 1 << 31;

/// First key of steps in the background, above those of the collective that a rank is in.
pub(super) const STRANDS: u32 = STEP | 1 << 28;

/// Bit of a communicator's number that keeps messages of collectives apart from the program's own.
pub(super) const COLLECTIVE: u32 = 1 << 31;

/// Returns true for the key of an operation of the program.
#[inline]
pub(super) fn is_of_program(key: u32) -> bool {
    key & STEP == 0
}

/// Returns true for the key of a step in the background.
#[inline]
pub(super) fn is_background(key: u32) -> bool {
    key >= STRANDS
}
