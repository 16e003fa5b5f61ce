//! Fields of the events of collective operations: vectors, blocks, counts, operators.
//!
//! The table in `docs/internals/trace-format.md` gives the meaning of each field: the block of one rank if all
//! are alike, lists if they differ.

use std::ffi::{c_int, c_void};

use hayase_mpi::Handle;
use hayase_trace::{Flags, Op};

use crate::recorder::Recorder;

/// Datatypes of the blocks of an operation.
#[derive(Clone, Copy)]
pub(super) enum BlockTypes {
    /// One datatype for all blocks.
    One(Handle),
    /// An array with a datatype for each rank.
    Each(*const c_void),
}

impl Recorder {
    /// Records the root.
    pub(super) fn record_root(&mut self, root: c_int) {
        self.event.peer = self.peer(root);
    }

    /// Returns true if this rank is the root.
    pub(super) fn is_root(&self, root: c_int) -> bool {
        if self.event.flags.has(Flags::INTER) {
            root == self.abi.root
        } else {
            u32::try_from(root).is_ok_and(|root| self.communicators.rank() == Some(root))
        }
    }

    /// Returns true if an address is the constant for working in place, and records that.
    fn in_place(&mut self, address: *const c_void) -> bool {
        let in_place = address as usize == self.abi.in_place;
        if in_place {
            self.event.flags = self.event.flags.and(Flags::IN_PLACE);
        }
        in_place
    }

    /// Records the addresses of the data; returns true if the operation works in place.
    fn buffers(&mut self, from: *const c_void, to: *const c_void, receives: bool) -> bool {
        let in_place = self.in_place(from);
        if in_place {
            self.event.buffer = to as u64;
        } else {
            self.event.buffer = from as u64;
            if receives {
                self.event.buffer2 = to as u64;
            }
        }
        in_place
    }

    /// Records the whole vector.
    pub(super) fn record_vector(&mut self, buffer: *const c_void, count: c_int, datatype: Handle) {
        self.event.bytes = self.elements(count, datatype);
        self.event.buffer = buffer as u64;
    }

    /// Records the whole vector (or a block of it), which an operator reduces.
    pub(super) fn record_reduction(
        &mut self,
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
    ) {
        let receives = self.event.peer < 0 || self.is_root(self.event.peer);
        self.buffers(from, to, receives);
        self.event.bytes = self.elements(count, datatype);
        let op = self.abi.handle(op);
        self.event.op = match self.abi.operators.iter().position(|&known| known == op) {
            Some(position) => Op(position as u8 + 1),
            None => {
                let mut commutes = 0;
                // SAFETY: the handle is the program's; there is room for the answer.
                unsafe { (self.mpi.op_commutative)(op, &raw mut commutes) };
                if commutes != 0 { Op::USER } else { Op::USER_ORDERED }
            }
        };
    }

    /// Records the block that this rank sends; the blocks of all ranks are alike. In place, it is the block
    /// that is received.
    #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
    pub(super) fn record_block_sent(
        &mut self,
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        receives: bool,
    ) {
        let in_place = self.buffers(from, to, receives);
        // The root of an operation between two groups contributes nothing: only the block that it receives
        // can be recorded.
        let only_receives = self.event.flags.has(Flags::INTER) && receives && self.event.peer < 0 && count == 0;
        self.event.bytes =
            if in_place || only_receives { self.elements(to_count, to_type) } else { self.elements(count, datatype) };
    }

    /// Records the block that this rank receives. At the root it is the block that is sent, since the root
    /// may keep its own in place.
    #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
    pub(super) fn record_block_received(
        &mut self,
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        sends: bool,
    ) {
        let in_place = self.in_place(to);
        if sends {
            self.event.buffer = from as u64;
            self.event.buffer2 = if in_place { 0 } else { to as u64 };
            self.event.bytes = self.elements(count, datatype);
        } else {
            self.event.buffer = to as u64;
            self.event.bytes = self.elements(to_count, to_type);
        }
    }

    /// Records blocks of different sizes that the root sends: all of them at the root, and this rank's own.
    #[allow(clippy::too_many_arguments, reason = "they are those of MPI")]
    pub(super) fn record_scatter(
        &mut self,
        from: *const c_void,
        counts: *const c_int,
        datatype: Handle,
        to: *mut c_void,
        to_count: c_int,
        to_type: Handle,
        sends: bool,
    ) {
        let in_place = self.in_place(to);
        self.event.buffer2 = if in_place { 0 } else { to as u64 };
        if !in_place {
            self.event.bytes2 = self.elements(to_count, to_type);
        }
        if sends {
            self.event.buffer = from as u64;
            self.blocks_sent(counts, datatype);
            if in_place {
                let me = self.communicators.rank().unwrap_or(0) as usize;
                self.event.bytes2 = self.event.counts.get(me).copied().unwrap_or(0);
            }
        }
    }

    /// Records the bytes sent to each rank.
    pub(super) fn blocks_sent(&mut self, counts: *const c_int, datatype: Handle) {
        let mut list = std::mem::take(&mut self.event.counts);
        self.list(&mut list, counts, BlockTypes::One(datatype));
        self.event.counts = list;
    }

    /// Records the bytes received from each rank; in place, this rank's own are among them.
    pub(super) fn blocks_received(&mut self, counts: *const c_int, datatype: Handle, from: *const c_void) {
        let mut list = std::mem::take(&mut self.event.counts2);
        self.list(&mut list, counts, BlockTypes::One(datatype));
        if from as usize == self.abi.in_place {
            let me = self.communicators.rank().unwrap_or(0) as usize;
            self.event.bytes = list.get(me).copied().unwrap_or(0);
        }
        self.event.counts2 = list;
    }

    /// Records the bytes sent to and received from each rank.
    pub(super) fn all_to_all(
        &mut self,
        from: *const c_void,
        counts: *const c_int,
        types: BlockTypes,
        to: *mut c_void,
        to_counts: *const c_int,
        to_types: BlockTypes,
    ) {
        let in_place = self.buffers(from, to, true);
        let mut received = std::mem::take(&mut self.event.counts2);
        self.list(&mut received, to_counts, to_types);
        let mut sent = std::mem::take(&mut self.event.counts);
        if in_place {
            sent.extend_from_slice(&received);
        } else {
            self.list(&mut sent, counts, types);
        }
        (self.event.counts, self.event.counts2) = (sent, received);
    }

    /// Fills a list with the bytes of each block.
    fn list(&mut self, list: &mut Vec<u64>, counts: *const c_int, types: BlockTypes) {
        list.clear();
        if let BlockTypes::One(datatype) = types {
            self.elements(0, datatype);
        }
        for i in 0..self.communicators.partners() {
            // SAFETY: the program gives a count for each rank of the communicator, and a datatype if these differ.
            let (count, size) = unsafe {
                let size = match types {
                    BlockTypes::One(_) => u64::from(self.event.element),
                    BlockTypes::Each(types) => self.size_of(self.abi.read_handle(types, i)),
                };
                (*counts.add(i), size)
            };
            list.push(size * u64::try_from(count).unwrap_or(0));
        }
    }
}
