//! How much memory this process may still take and has taken, as far as the system tells (Linux).
//!
//! ```text
//! free = min(memory of the machine that is available, what the control groups leave, what `ulimit -v` leaves)
//! ```
//! What is free is looked at before something is begun that cannot fit; what was taken goes into the `meta` of reports.
//! Results never depend on it.

use std::fs;
use std::path::{Path, PathBuf};

/// Memory that can be had without swapping and within the limits of this process \[B\]; `None` where nothing tells.
pub fn free() -> Option<u64> {
    [machine(), groups(), address_space()].into_iter().flatten().min()
}

/// The most memory that this process has had at once \[B\].
pub fn peak() -> Option<u64> {
    kib(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// What the machine has \[B\].
fn machine() -> Option<u64> {
    kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// What is left of `ulimit -v` \[B\].
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let used = kib(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(soft_limit(&limits, "Max address space")?.saturating_sub(used))
}

/// What the control groups of this process leave \[B\]: the least of the group itself and those around it.
fn groups() -> Option<u64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least = None;
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        // Version 2 has one hierarchy without a name; in version 1 memory has a hierarchy of its own.
        let (root, limit, usage) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => continue,
        };
        let root = Path::new(root);
        let mut folder = root.join(group.trim_start_matches('/'));
        while folder.starts_with(root) {
            if let (Some(limit), Some(usage)) = (number(folder.join(limit)), number(folder.join(usage))) {
                let left = limit.saturating_sub(usage);
                least = Some(least.map_or(left, |least: u64| least.min(left)));
            }
            if !folder.pop() {
                break;
            }
        }
    }
    least
}

/// The number of KiB behind a name in a file of the kernel, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of this name in `/proc/self/limits`; `None` where there is none.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_what_the_kernel_writes() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max file size             unlimited            unlimited            bytes\n\
                      Max address space         4294967296           unlimited            bytes\n";
        assert_eq!(soft_limit(limits, "Max address space"), Some(1 << 32));
        assert_eq!(soft_limit(limits, "Max file size"), None);
        assert_eq!(kib("VmPeak:\t    8 kB\nVmSize:\t    5324 kB\n", "VmSize:"), Some(5324 * 1024));
        assert_eq!(kib("VmSize:", "VmSize:"), None);
    }
}
