//! What may differ from machine to machine: run time and memory.

use std::time::Instant;

/// The wall clock, for the run time in [`Meta`](super::Meta) alone.
#[allow(clippy::disallowed_methods, reason = "goes into `meta` only, which may differ from run to run")]
pub fn wall_clock() -> Instant {
    Instant::now()
}

/// Peak memory of this process \[B\], where the system tells (Linux).
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
