//! The other ranks on this machine, and a last warning to them.
//!
//! When one rank dies, whoever started the program kills the others, some with a signal that cannot be caught. So the
//! rank that dies tells them first: with SIGURG, which means nothing to a process that does not expect it. They write
//! what they have, and the dying rank gives them a moment for it.
//!
//! Who they are stands in a page that all ranks of the run share, in its folder. Ranks on other machines are not
//! reached.

use std::io;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

/// The warning.
pub(super) const WARNING: i32 = libc::SIGURG;
/// How long the others are given \[ms\].
const PATIENCE: u32 = 500;

/// One rank of the run.
#[repr(C)]
#[derive(Debug)]
struct Peer {
    /// Its process, while it records; else 0.
    process: AtomicI32,
    /// Which machine it is on.
    machine: AtomicU32,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Peers {
    page: *const Peer,
    ranks: u32,
    me: u32,
    machine: u32,
}

impl Peers {
    /// Joins the others, in a page of this name in the folder of the run.
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

    /// This rank has written all it has.
    pub(super) fn leave(&self) {
        self.peer(self.me).process.store(0, SeqCst);
    }

    /// Warns the others, and waits until they have written what they have. May be called by the handler of a signal.
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

/// A number that differs from machine to machine, and from boot to boot.
fn machine() -> u32 {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // FNV-1a.
    text.iter().fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) | 1
}
