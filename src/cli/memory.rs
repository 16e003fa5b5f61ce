//! How much memory the process has taken.

/// The peak of the memory of this process [B], where the system tells (Linux: `VmHWM`).
pub fn peak() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_status_of_the_process() {
        assert_eq!(parse("VmPeak:\t   9 kB\nVmHWM:\t    5308 kB\n"), Some(5308 * 1024));
        assert_eq!(parse("Name: x\n"), None);
    }
}
