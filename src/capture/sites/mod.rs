//! Call sites: from the addresses that a recorder saw to files, lines and functions.
//!
//! Every process has its program and libraries elsewhere (position-independent programs, address-space layout
//! randomisation), so each rank's memory map says which place of which file an address was. The same place of the
//! same file is worked out once for all ranks.

mod maps;
mod module;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

pub use maps::Maps;

use super::folder::files;
use crate::output::AtomicFile;
use hayase_trace::{EXTENSION, Site};

/// The table of call sites of a rank's stream.
pub type Table = BTreeMap<u32, Site>;

/// What came of the call sites.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Different places of programs and libraries.
    pub places: usize,
    /// Those of them whose file and line are known.
    pub lines: usize,
    /// The tables of all ranks, with names.
    pub tables: BTreeMap<u32, Table>,
}

impl Resolved {
    /// The name of an address of a rank.
    pub fn name(&self, rank: u32, address: u64) -> Option<&str> {
        self.tables.get(&rank)?.values().find(|site| site.address == address).map(|site| site.name.as_str())
    }
}

/// Names of single addresses of a recording's processes, worked out when they are asked for and kept.
#[derive(Debug)]
pub struct Names {
    maps: BTreeMap<u32, Maps>,
    source: PathBuf,
    known: Mutex<BTreeMap<(PathBuf, u64), String>>,
}

impl Names {
    /// Of the recording in this folder; files below `source` are named from there.
    ///
    /// # Errors
    /// Those of reading the memory maps.
    pub fn open(folder: &Path, source: &Path) -> io::Result<Self> {
        let maps = files(folder, "maps")?
            .into_iter()
            .map(|(rank, path)| Ok((rank, Maps::parse(&String::from_utf8_lossy(&fs::read(path)?)))))
            .collect::<io::Result<_>>()?;
        Ok(Self { maps, source: source.to_owned(), known: Mutex::default() })
    }

    /// The place of an address of a rank's process; `None` where no file was.
    ///
    /// Cost: the module is read for each place that was not asked for before.
    pub fn name(&self, rank: u32, address: u64) -> Option<String> {
        let (path, offset) = self.maps.get(&rank)?.find(address)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry((path.clone(), offset));
        Some(entry.or_insert_with(|| module::names(path, &[offset], &self.source).swap_remove(0)).clone())
    }
}

/// Names the call sites of all ranks and writes the names into their streams.
///
/// `tables` has what the streams say; sites that have names keep them. Files below `source` are named from there.
///
/// Cost: each module is read once; each stream is copied.
///
/// # Errors
/// Those of writing streams.
pub fn resolve(folder: &Path, mut tables: BTreeMap<u32, Table>, source: &Path) -> io::Result<Resolved> {
    let maps: BTreeMap<u32, Maps> = files(folder, "maps")?
        .into_iter()
        .map(|(rank, path)| Ok((rank, Maps::parse(&String::from_utf8_lossy(&fs::read(path)?)))))
        .collect::<io::Result<_>>()?;
    // The places of each module; their names come back in the same order.
    let mut places: BTreeMap<&PathBuf, BTreeMap<u64, String>> = BTreeMap::new();
    for (rank, table) in &tables {
        for site in table.values().filter(|site| site.name.is_empty()) {
            if let Some((path, offset)) = maps.get(rank).and_then(|maps| maps.find(site.address)) {
                places.entry(path).or_default().insert(offset, String::new());
            }
        }
    }
    places.par_iter_mut().for_each(|(path, places)| {
        let offsets: Vec<u64> = places.keys().copied().collect();
        for (place, name) in places.values_mut().zip(module::names(path, &offsets, source)) {
            *place = name;
        }
    });
    let all = places.values().flat_map(BTreeMap::values);
    let lines = all.clone().filter(|name| has_line(name)).count();
    let count = all.count();

    for (rank, table) in &mut tables {
        for site in table.values_mut().filter(|site| site.name.is_empty()) {
            let place = maps.get(rank).and_then(|maps| maps.find(site.address));
            let name = place.and_then(|(path, offset)| places.get(path)?.get(&offset));
            site.name = name.cloned().unwrap_or_else(|| format!("{:#x}", site.address));
        }
    }
    files(folder, EXTENSION)?.into_par_iter().try_for_each(|(rank, path)| {
        let Some(table) = tables.get(&rank).filter(|table| !table.is_empty()) else { return Ok(()) };
        let input = BufReader::new(File::open(&path)?);
        let mut output = AtomicFile::create(&path)?;
        hayase_trace::replace_sites(input, &mut output, table.iter().map(|(index, site)| (*index, site)))?;
        output.commit()
    })?;
    Ok(Resolved { places: count, lines, tables })
}

/// Whether a name is a line of a source, not just a place in a function or module.
fn has_line(name: &str) -> bool {
    let file_and_line = name.split(" (").next().unwrap_or_default();
    file_and_line.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok())
}
