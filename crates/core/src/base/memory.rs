//! Free memory and peak memory of this process, as far as the system reports them (Linux).
//!
//! ```text
//! free = min(available memory of the machine, rest of the control groups' limits, rest of `ulimit -v`)
//! ```
//! Free memory is checked before work starts that might not fit. Peak memory goes into the `meta` of reports.
//! Results never depend on either.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the memory that this process can get without swapping and within its limits \[B\], or `None` if
/// unknown.
pub fn free() -> Option<u64> {
    [machine(), groups(), address_space()].into_iter().flatten().min()
}

/// Returns the peak memory of this process \[B\].
pub fn peak() -> Option<u64> {
    kib(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the available memory of the machine \[B\].
fn machine() -> Option<u64> {
    kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Returns the rest of `ulimit -v` \[B\].
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let used = kib(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(soft_limit(&limits, "Max address space")?.saturating_sub(used))
}

/// Returns the rest of the memory limits of the control groups \[B\]: the least over the group of this
/// process and all groups around it.
fn groups() -> Option<u64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least = None;
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        // Version 2 has one hierarchy without a name. In version 1 the memory controller has its own hierarchy.
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

/// Reads a number of KiB after a name in a file of the kernel, and returns it in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Reads the soft limit with this name from the text of `/proc/self/limits`; `None` if there is no limit.
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
