//! Places of the program that access memory, for runs recorded with `--memory`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use hayase::base::Arrange;
use hayase_trace::memory::{AccessKind, Item, Reader, Site};
use serde::Serialize;

use crate::Failure;
use hayase::diagnostic::Diagnostic;

/// Accesses from a site, in one direction.
#[derive(Serialize)]
pub struct AccessSite {
    /// Place: `file:line (function)`, the called function, or an address.
    pub site: String,
    /// Kind of access: `read`, `write`, or `call` for a function whose accesses are unknown.
    pub access: &'static str,
    /// Number of ranks with such accesses.
    pub ranks: u32,
    /// Number of executions.
    pub count: u64,
}

/// Accesses of all ranks.
#[derive(Default)]
pub struct Accesses {
    /// Sites, most often executed first.
    pub sites: Vec<AccessSite>,
    /// Number of accesses.
    pub count: u64,
    /// Size of their files \[B\].
    pub bytes: u64,
}

/// Reads the accesses recorded in a folder; returns `None` if there are none.
///
/// Memory: buffers for reading ahead, and the sites.
///
/// # Errors
/// Fails if a file cannot be read or is damaged. A truncated file ends there.
pub fn of(folder: &Path) -> Result<Option<Accesses>, Failure> {
    let files = files(folder);
    if files.is_empty() {
        return Ok(None);
    }
    let mut by_rank: Vec<(u32, Vec<(Site, u64)>)> = Vec::new();
    let mut accesses = Accesses::default();
    for (rank, path) in files {
        let wrong = |what: String| {
            Failure::from(Diagnostic::new("unreadable-accesses", format!("cannot read `{}`: {what}", path.display())))
        };
        let file = File::open(&path).map_err(|error| wrong(error.to_string()))?;
        accesses.bytes += file.metadata().map_or(0, |metadata| metadata.len());
        let mut reader = Reader::new(BufReader::with_capacity(1 << 16, file));
        let mut sites: Vec<(Site, u64)> = Vec::new();
        loop {
            let (site, count) = match reader.next() {
                Ok(None) => break,
                Ok(Some(Item::Site(_, site))) => {
                    sites.push((site.clone(), 0));
                    continue;
                }
                Ok(Some(Item::Nest(nest))) => (nest.site, nest.count()),
                Ok(Some(Item::Gather(gather))) => (gather.site, gather.addresses.len() as u64),
                Ok(Some(_)) => continue,
                Err(hayase_trace::ReadError::Truncated { .. }) => break,
                Err(error) => return Err(wrong(error.to_string())),
            };
            // Beginnings and ends of functions and blocks are not accesses.
            if let Some((_, known)) = sites.get_mut(site as usize).filter(|(site, _)| site.kind.is_access()) {
                *known = known.saturating_add(count);
            }
        }
        by_rank.push((rank, sites));
    }
    accesses.sites = named(folder, &by_rank);
    accesses.count = accesses.sites.iter().fold(0, |sum, site| sum.saturating_add(site.count));
    Ok(Some(accesses))
}

fn files(folder: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let rank = |path: &Path| path.file_name()?.to_str()?.strip_prefix("rank-")?.strip_suffix(".mem")?.parse().ok();
    let mut files: Vec<(u32, PathBuf)> =
        entries.flatten().filter_map(|entry| Some((rank(&entry.path())?, entry.path()))).collect();
    files.sort();
    files
}

/// Combines sites with the same place and direction.
fn named(folder: &Path, by_rank: &[(u32, Vec<(Site, u64)>)]) -> Vec<AccessSite> {
    let name = names(folder);
    let mut places: BTreeMap<(String, &'static str), BTreeMap<u32, u64>> = BTreeMap::new();
    for (rank, sites) in by_rank {
        for (site, count) in sites.iter().filter(|(_, count)| *count > 0) {
            let mut place = name(*rank, site.address).unwrap_or_else(|| format!("{:#x}", site.address));
            if !site.name.is_empty() {
                place = format!("{place}: {}", site.name);
            }
            let access = match (site.kind, site.write) {
                (AccessKind::Opaque, _) => "call",
                (_, true) => "write",
                (_, false) => "read",
            };
            let known = places.entry((place, access)).or_default().entry(*rank).or_default();
            *known = known.saturating_add(*count);
        }
    }
    let site = |((site, access), ranks): ((String, &'static str), BTreeMap<u32, u64>)| AccessSite {
        site,
        access,
        ranks: ranks.len() as u32,
        count: ranks.values().fold(0, |sum, count| sum.saturating_add(*count)),
    };
    let mut sites: Vec<AccessSite> = places.into_iter().map(site).collect();
    // The sort is stable: sites with equal counts stay in the order of their places.
    sites.arrange_by_key(|site| std::cmp::Reverse(site.count));
    sites
}

/// Function that names an address of a rank.
pub type Names = Box<dyn Fn(u32, u64) -> Option<String> + Sync>;

/// Returns a function that names addresses of the recorded processes.
#[cfg(target_os = "linux")]
pub fn names(folder: &Path) -> Names {
    use hayase_capture::folder::Provenance;
    let source = Provenance::read(folder).map(|provenance| PathBuf::from(provenance.folder)).unwrap_or_default();
    match hayase_capture::sites::Names::open(folder, &source) {
        Ok(names) => Box::new(move |rank, address| names.name(rank, address)),
        Err(_) => Box::new(|_, _| None),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn names(_: &Path) -> Names {
    Box::new(|_, _| None)
}
