//! End of the recording: writes waiting events, and the data needed to read the trace.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use hayase_mpi::objects;

use super::{OFF, Process, STATE, signals, threads};
use crate::floating;

/// Reason of a recording that was asked to end early.
pub(super) const STOPPED: &str = "stopped as asked";

/// Ends the recording of a process that is still sound. `why` is the reason, empty for a regular end. A
/// signal that arrives meanwhile ends the process once the trace is complete.
#[cold]
pub fn finish(process: &mut Process, why: &str) {
    if STATE.load(Ordering::Relaxed) == OFF {
        return;
    }
    let inside = threads::holds();
    if !inside {
        threads::lock();
    }
    floating::apart(|| end(process, why));
    // With the token, a rank that is no longer recorded must still take its turns.
    if why != STOPPED || process.token.is_none() {
        STATE.store(OFF, Ordering::Relaxed);
    }
    signals::restore();
    // Inside a call, a pending signal waits for the end of the call.
    if !inside {
        threads::unlock();
        if signals::pending() {
            signals::late();
        }
    }
}

fn end(process: &mut Process, why: &str) {
    if let Some(memory) = process.memory.take() {
        // SAFETY: the function is the runtime's, with this signature.
        unsafe { (memory.stop)() };
    }
    process.note_scheduling("end");
    let Process { queue, polls, writer, opaque, scheduling, spent, .. } = process;
    let Some(mut writer) = writer.take() else { return };
    let write = || {
        for poll in polls.iter_mut().filter_map(Option::take) {
            queue.add(&poll, &mut writer)?;
        }
        queue.close(&mut writer)?;
        if !opaque.is_empty() {
            let mut text = String::new();
            for (name, count) in opaque {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{name} {count}");
            }
            writer.note("opaque", text.as_bytes())?;
        }
        if !scheduling.text().is_empty() {
            writer.note("scheduling", scheduling.text().as_bytes())?;
        }
        writer.note("outside", spent.text().as_bytes())?;
        if !why.is_empty() {
            writer.note("ended", why.as_bytes())?;
        }
        writer.finish().map(drop)
    };
    if let Err(error) = write() {
        eprintln!("hayase: rank {}: the trace is not complete: {error}", process.rank);
    }
    if let Err(error) = process.write_maps() {
        eprintln!("hayase: rank {}: the memory map is not complete: {error}", process.rank);
    }
    if let Some(peers) = &process.peers {
        peers.leave();
        if ends_other_ranks(why) {
            peers.warn();
        }
    }
}

/// Returns true if a rank that ends for this reason takes the other ranks with it.
fn ends_other_ranks(why: &str) -> bool {
    !matches!(why, "" | STOPPED | "deadlock")
}

impl Process {
    /// Removes the data that the ranks share. MPI is finalised everywhere.
    pub(crate) fn clean_up(&self) {
        if self.rank == 0 {
            for name in ["ranks", "token"] {
                // The file may not exist.
                let _ = std::fs::remove_file(self.directory.join(name));
            }
        }
    }

    /// Writes the memory map of the process and the build ids of its files.
    fn write_maps(&self) -> std::io::Result<()> {
        let mut text = Vec::new();
        File::open("/proc/self/maps")?.read_to_end(&mut text)?;
        for (name, id) in build_ids() {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(text, "build-id {hex} {name}")?;
        }
        File::create(self.directory.join(format!("rank-{:05}.maps", self.rank)))?.write_all(&text)
    }
}

/// Returns the build ids of the loaded files.
fn build_ids() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    objects::find(|info, segments| {
        // SAFETY: the loader's description has a name that ends with a zero.
        let name = unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
        let id = segments.iter().filter(|segment| segment.p_type == libc::PT_NOTE).find_map(|segment| {
            let at = (info.dlpi_addr + segment.p_vaddr) as *const u8;
            // SAFETY: notes that are loaded can be read over their whole length.
            build_id(unsafe { std::slice::from_raw_parts(at, segment.p_memsz as usize) })
        });
        if let Some(id) = id {
            let program = || std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned());
            let name = if name.is_empty() { program().unwrap_or_default() } else { name };
            found.push((name, id.to_vec()));
        }
        None::<()>
    });
    found
}

/// Finds the build id among notes: length of the name, length of the content, type (3), `GNU`, the id; each
/// padded to 4 bytes.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    while notes.len() >= 12 {
        let word = |i: usize| u32::from_ne_bytes([notes[i], notes[i + 1], notes[i + 2], notes[i + 3]]) as usize;
        let (name, content, kind) = (word(0), word(4), word(8));
        let content_at = 12 + name.next_multiple_of(4);
        let id = notes.get(content_at..content_at + content)?;
        if kind == 3 && notes[12..].starts_with(b"GNU\0") {
            return Some(id);
        }
        notes = notes.get(content_at + content.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let mut notes = Vec::new();
        for (kind, content) in [(5_u32, &[1, 2, 3, 4, 5][..]), (3, &[9, 8, 7, 6])] {
            for word in [4, content.len() as u32, kind] {
                notes.extend(word.to_ne_bytes());
            }
            notes.extend(b"GNU\0");
            notes.extend(content);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id(&notes), Some(&[9, 8, 7, 6][..]));
        assert_eq!(build_id(&notes[..20]), None);
        assert_eq!(build_id(&[]), None);
    }
}
