//! End of a deadlocked program: reports which rank waits for which, writes the traces, ends the program.

use std::fmt::Write as _;
use std::sync::atomic::Ordering::SeqCst;

use hayase_mpi::objects;
use hayase_trace::Call;

use super::page::{BLOCKED, NO_TAG, nap};
use super::{Token, WaitEvent};
use crate::recorder::{Recorder, finish};

/// Exit code of a program that deadlocks.
const CODE: i32 = 3;
/// Variable: with `1`, a deadlock is reported only in the file `deadlock`.
const QUIET: &str = "HAYASE_CAPTURE_QUIET";
/// Time that ranks get to write their traces, and the first to report the deadlock \[ms\].
const PATIENCE: u32 = 5_000;
/// States in the page: a rank has found the deadlock; it has reported it.
const FOUND: u32 = 1;
const SAID: u32 = 2;

/// Ends a rank. Every rank calls this; the first one reports for all.
#[cold]
pub(super) fn end(recorder: &mut Recorder) -> ! {
    let address = recorder.address();
    let mut first = false;
    if let Some(token) = &recorder.token {
        first = token.page.deadlock().compare_exchange(0, FOUND, SeqCst, SeqCst).is_ok();
        let slot = token.page.slot(token.me);
        let (file, offset) = place(address);
        slot.set_file(file.as_bytes());
        slot.offset.store(offset, SeqCst);
        slot.site.store(address as u64, SeqCst);
        slot.number.store(recorder.event.site, SeqCst);
        if first {
            (0..token.ranks()).for_each(|rank| token.wake(rank));
        }
    }
    finish(recorder, "deadlock");
    if let Some(token) = &recorder.token {
        token.page.slot(token.me).flushed.store(1, SeqCst);
        let blocked: Vec<u32> = (0..token.ranks()).filter(|&rank| token.state(rank) == BLOCKED).collect();
        wait_until(|| blocked.iter().all(|&rank| token.page.slot(rank).flushed.load(SeqCst) != 0));
        if first {
            let report = token.report();
            // A launcher that reports the deadlock itself asks for silence.
            if std::env::var_os(QUIET).is_none_or(|value| value != "1") {
                eprint!("{report}");
            }
            if let Err(error) = std::fs::write(token.directory.join("deadlock"), &report) {
                eprintln!("hayase: {}: {error}", token.directory.join("deadlock").display());
            }
            token.page.deadlock().store(SAID, SeqCst);
        } else {
            wait_until(|| token.page.deadlock().load(SeqCst) == SAID);
            nap(500_000_000);
        }
    }
    // A rank that ends before it has finalised MPI takes the other ranks with it. (`MPI_Abort` would too, but
    // hangs in some libraries when another rank is in `MPI_Finalize`.) The first rank ends first. SAFETY:
    // ends the process.
    unsafe { libc::_exit(CODE) }
}

/// Waits until a condition holds, or the time is up.
fn wait_until(so: impl Fn() -> bool) {
    let mut naps = 0;
    while !so() && naps < PATIENCE {
        nap(1_000_000);
        naps += 1;
    }
}

/// Returns the file of the process that contains an address, and the offset in it.
fn place(address: usize) -> (String, u64) {
    let Some((base, name)) = objects::at(address) else { return (String::new(), address as u64) };
    let short = name.rsplit('/').next().unwrap_or(&name).to_owned();
    (short, (address - base) as u64)
}

impl Token {
    /// Reports which rank waits for which, a line a rank: `rank 3: Recv from rank 2, tag 7, at gauss+0x1234
    /// (0x5555...)`.
    fn report(&self) -> String {
        let mut text = String::from("hayase: the program is deadlocked: no rank can go on\n");
        for rank in 0..self.ranks() {
            let slot = self.page.slot(rank);
            if slot.state.load(SeqCst) != BLOCKED {
                // Writing to a string does not fail.
                let _ = writeln!(text, "  rank {rank}: has ended");
                continue;
            }
            let call = Call::from_code(slot.call.load(SeqCst).into()).map_or("a call", Call::name);
            let _ = write!(text, "  rank {rank}: {call}");
            let (peer, tag) = (slot.peer.load(SeqCst), slot.tag.load(SeqCst));
            match slot.wait() {
                WaitEvent::Receive(Some(source)) => {
                    let _ = write!(text, " waits for a message of rank {source}");
                }
                WaitEvent::Receive(None) => text.push_str(" waits for a message of any rank"),
                WaitEvent::Collective => text.push_str(" waits for the other ranks of its communicator"),
                WaitEvent::Send | WaitEvent::Poll if peer >= 0 => {
                    let _ = write!(text, " waits for rank {peer} of its communicator to receive");
                }
                WaitEvent::Send => text.push_str(" waits for a message to be received"),
                WaitEvent::Poll => text.push_str(" waits for its requests"),
            }
            if tag != NO_TAG {
                let _ = write!(text, ", tag {tag}");
            }
            let (file, offset, site) = (slot.file(), slot.offset.load(SeqCst), slot.site.load(SeqCst));
            let number = slot.number.load(SeqCst);
            let _ = writeln!(text, ", at {file}+{offset:#x} ({site:#x}, site {number})");
        }
        text
    }
}
