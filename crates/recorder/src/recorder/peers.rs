//! The other ranks on this machine, and a last warning to them.
//!
//! The launcher kills all ranks if one dies, some with a signal that cannot be caught. So the dying
//! rank warns the others first: with SIGURG, which does nothing to a process that does not expect it. They write
//! their data, and the dying rank waits a moment for that.
//!
//! A page in the folder of the run, shared by all ranks, lists the processes. Ranks on other machines are not
//! reached.

use std::io;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

/// Signal of the warning.
pub(super) const WARNING: i32 = libc::SIGURG;
/// Time that the other ranks get to write their data \[ms\].
const PATIENCE: u32 = 500;

/// One rank of the run.
#[repr(C)]
#[derive(Debug)]
struct Peer {
    /// Id of its process while it records, else 0.
    process: AtomicI32,
    /// Number of its machine.
    machine: AtomicU32,
}

/// All ranks of the run.
#[derive(Debug)]
pub(super) struct Peers {
    page: *const Peer,
    ranks: u32,
    me: u32,
    machine: u32,
}

impl Peers {
    /// Joins the other ranks, in a page in the folder of the run.
    pub(super) fn join(directory: &Path, me: u32, ranks: u32) -> io::Result<Self> {
        let page = crate::shared::map(&directory.join("ranks"), ranks as usize * size_of::<Peer>())?;
        let peers = Self { page: page.cast(), ranks, me, machine: machine() };
        peers.peer(me).machine.store(peers.machine, SeqCst);
        peers.peer(me).process.store(std::process::id() as i32, SeqCst);
        Ok(peers)
    }

    fn peer(&self, rank: u32) -> &Peer {
        assert!(rank < self.ranks, "a rank of the run");
        // SAFETY: the page stays mapped and has an entry for each rank; zeros are valid ones.
        unsafe { &*self.page.add(rank as usize) }
    }

    /// Marks this rank as one that has written all its data.
    pub(super) fn leave(&self) {
        self.peer(self.me).process.store(0, SeqCst);
    }

    /// Warns the other ranks, and waits until they have written their data. May be called by a signal
    /// handler.
    pub(super) fn warn(&self) {
        let near = |rank: &u32| {
            let peer = self.peer(*rank);
            *rank != self.me && peer.machine.load(SeqCst) == self.machine && peer.process.load(SeqCst) > 0
        };
        let mut reached = false;
        for rank in (0..self.ranks).filter(near) {
            // SAFETY: the signal does nothing to a process without a handler for it.
            reached |= unsafe { libc::kill(self.peer(rank).process.load(SeqCst), WARNING) } == 0;
        }
        for _ in 0..PATIENCE {
            if !reached || !(0..self.ranks).any(|rank| near(&rank)) {
                return;
            }
            let moment = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // SAFETY: sleeps, nothing else.
            unsafe { libc::nanosleep(&raw const moment, null_mut()) };
        }
    }
}

/// Returns a number that differs between machines, and between boots.
fn machine() -> u32 {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // FNV-1a.
    text.iter().fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) | 1
}
