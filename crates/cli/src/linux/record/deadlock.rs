//! Deadlock of a program during its recording: the recorder's report with source lines.

use std::fs;
use std::path::Path;

use hayase_capture::sites::Resolved;

/// Returns the recorder's report of a deadlock, if it found one: a line for each rank, `rank 3: Recv waits
/// for ..., at a+0x12 (0x5512, site 4)`.
pub fn read(folder: &Path, sites: &Resolved) -> Option<String> {
    let text = fs::read_to_string(folder.join("deadlock")).ok()?;
    let lines: Vec<String> = text.trim_end().lines().map(|line| named(line, sites)).collect();
    let first = lines.first().map(|line| line.trim_start_matches("hayase: ").to_owned());
    Some(first.into_iter().chain(lines.into_iter().skip(1)).collect::<Vec<_>>().join("\n"))
}

/// Returns the line with the name of its place, if the place is known.
fn named(line: &str, sites: &Resolved) -> String {
    let name = || {
        let rank = line.trim_start().strip_prefix("rank ")?.split(':').next()?.parse().ok()?;
        let (before, place) = line.rsplit_once(", at ")?;
        let known = place.rsplit_once("(0x")?.1.strip_suffix(')')?;
        let (address, number) = known.split_once(", site ").unwrap_or((known, ""));
        let name = sites.name(rank, number.parse().ok(), u64::from_str_radix(address, 16).ok()?)?;
        Some(format!("{before}, at {name}"))
    };
    name().unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hayase_trace::Site;

    use super::*;

    #[test]
    fn who_waits_is_said_with_the_line_of_the_call() {
        let table = BTreeMap::from([(0, Site { address: 0x5512, name: "ring.c:7 (main)".into(), ..Site::default() })]);
        let sites = Resolved { tables: BTreeMap::from([(1, table)]), ..Resolved::default() };
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path(), &sites), None);
        let text = "hayase: the program is deadlocked: no rank can go on\n  rank 0: Recv, tag 1, at ring+0x1 (0x5512)\n  \
                    rank 1: Recv, tag 1, at ring+0x12 (0x5512, site 1)\n";
        fs::write(folder.path().join("deadlock"), text).unwrap();
        let expected = "the program is deadlocked: no rank can go on\n  rank 0: Recv, tag 1, at ring+0x1 (0x5512)\n  \
                        rank 1: Recv, tag 1, at ring.c:7 (main)";
        assert_eq!(read(folder.path(), &sites).as_deref(), Some(expected));
    }
}
