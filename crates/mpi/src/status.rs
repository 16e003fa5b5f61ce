//! `MPI_Status`: the offsets of its fields.

use std::ffi::{c_int, c_void};

/// Layout of the status of an MPI library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusLayout {
    /// Size of a status \[B\].
    pub size: usize,
    /// Offset of `MPI_SOURCE` \[B\].
    pub source: usize,
    /// Offset of `MPI_TAG` \[B\].
    pub tag: usize,
    /// Offset of `MPI_ERROR` \[B\].
    pub error: usize,
    /// Layout of the bytes received and the cancelled mark.
    pub(crate) count: CountLayout,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CountLayout {
    /// A `size_t` at the first offset; an `int` at the second, set if the operation was cancelled.
    Whole(usize, usize),
    /// The lower 32 bits at the first offset; at the second the upper ones, shifted up by the cancelled bit.
    Split(usize, usize),
}

/// Content of a status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Sender: a rank of the communicator, or one of the constants.
    pub source: c_int,
    /// Tag of the message.
    pub tag: c_int,
    /// Error code; set only by calls that complete several requests.
    pub error: c_int,
    /// Bytes received \[B\].
    pub bytes: u64,
    /// True if the operation was cancelled.
    pub cancelled: bool,
}

/// Room that is large and aligned enough for a status of any supported MPI.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(crate) struct StatusRoom(pub [u64; 4]);

impl StatusLayout {
    /// Open MPI: `int source, tag, error, cancelled; size_t bytes`.
    pub const OPEN_MPI: Self = Self { size: 24, source: 0, tag: 4, error: 8, count: CountLayout::Whole(16, 12) };
    /// MPICH: `int count_lo, count_hi_and_cancelled, source, tag, error`.
    pub const MPICH: Self = Self { size: 20, source: 8, tag: 12, error: 16, count: CountLayout::Split(0, 4) };

    /// Reads entry `index` of an array of statuses.
    ///
    /// # Safety
    /// `statuses` points to at least `index + 1` statuses of this layout, written by the library.
    pub unsafe fn read(&self, statuses: *const c_void, index: usize) -> Status {
        // SAFETY: the caller promises that the status lies within the array.
        let at = unsafe { statuses.cast::<u8>().add(index * self.size) };
        // SAFETY: offsets of a layout lie within a status; alignment is not assumed.
        let int = |offset: usize| unsafe { at.add(offset).cast::<c_int>().read_unaligned() };
        let (bytes, cancelled) = match self.count {
            CountLayout::Whole(bytes, cancelled) => {
                // SAFETY: as above.
                (unsafe { at.add(bytes).cast::<u64>().read_unaligned() }, int(cancelled) != 0)
            }
            CountLayout::Split(low, high) => {
                let (low, high) = (int(low) as u32, int(high) as u32);
                (u64::from(low) | u64::from(high >> 1) << 32, high & 1 != 0)
            }
        };
        Status { source: int(self.source), tag: int(self.tag), error: int(self.error), bytes, cancelled }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_from_either_layout() {
        let wanted = Status { source: 3, tag: 7, error: 5, bytes: (5 << 32) + 6, cancelled: true };
        let open = [3_i32, 7, 5, 1, 6, 5];
        let mpich = [0, 0, 0, 0, 0, 6_i32, 5 << 1 | 1, 3, 7, 5];
        // SAFETY: the arrays hold a status of the layout at that index.
        let (open, mpich) = unsafe {
            (StatusLayout::OPEN_MPI.read(open.as_ptr().cast(), 0), StatusLayout::MPICH.read(mpich.as_ptr().cast(), 1))
        };
        assert_eq!((open, mpich), (wanted, wanted));
    }
}
