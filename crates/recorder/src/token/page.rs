//! The page that all ranks share: the holder of the token, the event each rank waits for, the number of
//! posted messages.
//!
//! A page of zeros is one in which nobody has joined, so the first rank to arrive may create it. Only the
//! rank that holds the token changes counts. A rank changes its state while it holds the token, or when it
//! leaves and comes back.

use std::io;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering::SeqCst};

use hayase_trace::{CallKind, Event, Flags};

use super::WaitEvent;

pub(super) const NOT_JOINED: u32 = 0;
/// State: the rank runs, or waits for its turn.
pub(super) const READY: u32 = 1;
/// State: in a call that cannot continue.
pub(super) const BLOCKED: u32 = 2;
/// State: in a call that is made without the token.
pub(super) const WITHOUT_TOKEN: u32 = 3;
pub(super) const DONE: u32 = 4;

/// Tag of a call that has none.
pub(super) const NO_TAG: i32 = i32::MIN;

/// A rank's part of the page.
#[repr(C, align(256))]
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) state: AtomicU32,
    /// Counter that increases when the rank is woken.
    pub(super) futex: AtomicU32,
    /// Event that it waits for: [`WaitEvent`], and the rank.
    kind: AtomicU32,
    source: AtomicI64,
    /// Number of messages it has taken: with one more posted, it is worth a look.
    pub(super) need: AtomicU64,
    /// Collective operation that it waits to begin.
    pub(super) comm: AtomicU64,
    pub(super) sequence: AtomicU64,
    pub(super) ready: AtomicU32,
    /// Call, partner and tag, for the report of a deadlock.
    pub(super) call: AtomicU32,
    pub(super) peer: AtomicI32,
    pub(super) tag: AtomicI32,
    /// Set when the trace is written.
    pub(super) flushed: AtomicU32,
    /// Place of the call: number and address of its site, offset in its file.
    pub(super) number: AtomicU32,
    pub(super) site: AtomicU64,
    pub(super) offset: AtomicU64,
    /// Name of that file, 8 bytes a word.
    pub(super) file: [AtomicU64; 8],
}

impl Slot {
    pub(super) fn wait(&self) -> WaitEvent {
        match self.kind.load(SeqCst) {
            0 => WaitEvent::Poll,
            1 => WaitEvent::Send,
            2 => WaitEvent::Receive(u32::try_from(self.source.load(SeqCst)).ok()),
            _ => WaitEvent::Collective,
        }
    }

    pub(super) fn block(&self, wait: WaitEvent, need: u64) {
        let (kind, source) = match wait {
            WaitEvent::Poll => (0, -1),
            WaitEvent::Send => (1, -1),
            WaitEvent::Receive(source) => (2, source.map_or(-1, i64::from)),
            WaitEvent::Collective => (3, -1),
        };
        self.kind.store(kind, SeqCst);
        self.source.store(source, SeqCst);
        self.need.store(need, SeqCst);
    }

    /// Notes the data of the call for the report of a deadlock.
    pub(super) fn describe(&self, event: &Event) {
        self.call.store(event.call.code().into(), SeqCst);
        self.peer.store(event.peer, SeqCst);
        let tagged =
            matches!(event.call.kind(), CallKind::Send | CallKind::Recv | CallKind::Sendrecv | CallKind::Probe);
        let tag = if tagged && !event.flags.has(Flags::ANY_TAG) { event.tag } else { NO_TAG };
        self.tag.store(tag, SeqCst);
    }

    pub(super) fn set_file(&self, name: &[u8]) {
        let mut bytes = [0_u8; 64];
        let name = &name[name.len().saturating_sub(63)..];
        bytes[..name.len()].copy_from_slice(name);
        for (word, part) in self.file.iter().zip(bytes.chunks_exact(8)) {
            word.store(part.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)), SeqCst);
        }
    }

    pub(super) fn file(&self) -> String {
        let bytes: Vec<u8> = self.file.iter().flat_map(|word| word.load(SeqCst).to_le_bytes()).collect();
        let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}

#[repr(C, align(256))]
#[derive(Debug)]
struct Head {
    /// Rank that holds the token, plus one; 0 if none does.
    holder: AtomicU32,
    deadlock: AtomicU32,
    /// Number of tests without result since the last progress.
    idle: AtomicU64,
    idle_since: AtomicU64,
}

/// The page.
#[derive(Debug)]
pub(super) struct Page {
    head: *const Head,
    slots: *const Slot,
    inbox: *const AtomicU64,
    sent: *const AtomicU64,
    ranks: u32,
}

// SAFETY: the page stays mapped, and holds atomic numbers only.
unsafe impl Send for Page {}

impl Page {
    pub(super) fn open(path: &Path, ranks: u32) -> io::Result<Self> {
        let count = ranks as usize;
        let slots = size_of::<Head>();
        let inbox = slots + count * size_of::<Slot>();
        let sent = inbox + count * 8;
        let size = sent + count * count * 8;
        let at = crate::shared::map(path, size)?;
        // What lies in the page is aligned, since the page is and each part is a multiple of 8 long; zeros are valid.
        Ok(Self {
            head: at.cast(),
            slots: at.wrapping_byte_add(slots).cast(),
            inbox: at.wrapping_byte_add(inbox).cast(),
            sent: at.wrapping_byte_add(sent).cast(),
            ranks,
        })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is long enough, aligned and stays.
        unsafe { &*self.head }
    }

    pub(super) fn holder(&self) -> &AtomicU32 {
        &self.head().holder
    }

    pub(super) fn deadlock(&self) -> &AtomicU32 {
        &self.head().deadlock
    }

    pub(super) fn idle(&self) -> &AtomicU64 {
        &self.head().idle
    }

    pub(super) fn idle_since(&self) -> &AtomicU64 {
        &self.head().idle_since
    }

    pub(super) fn slot(&self, rank: u32) -> &Slot {
        assert!(rank < self.ranks, "a rank of the run");
        // SAFETY: there is a slot for each rank.
        unsafe { &*self.slots.add(rank as usize) }
    }

    /// Returns the number of messages posted for a rank.
    pub(super) fn inbox(&self, rank: u32) -> &AtomicU64 {
        assert!(rank < self.ranks, "a rank of the run");
        // SAFETY: there is a number for each rank.
        unsafe { &*self.inbox.add(rank as usize) }
    }

    /// Returns the number of messages posted by one rank for another.
    pub(super) fn sent(&self, from: u32, to: u32) -> &AtomicU64 {
        assert!(from < self.ranks && to < self.ranks, "ranks of the run");
        // SAFETY: there is a number for each pair.
        unsafe { &*self.sent.add(from as usize * self.ranks as usize + to as usize) }
    }
}

/// Sleeps while the number is unchanged, for a second at most.
pub(super) fn sleep(futex: &AtomicU32, seen: u32) {
    let second = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: the address is that of a number of 32 bits that other processes share.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAIT, seen, &raw const second) };
}

/// Wakes the rank that sleeps on this number.
pub(super) fn wake(futex: &AtomicU32) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Sleeps for some time \[ns\].
pub(super) fn nap(time: i64) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: time };
    // SAFETY: sleeps, nothing else.
    unsafe { libc::nanosleep(&raw const time, null_mut()) };
}
