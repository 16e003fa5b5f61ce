//! Call sites: from the addresses that a recorder saw to files, lines and functions.
//!
//! Every process has its program and libraries at other addresses (position-independent programs,
//! address-space layout randomisation). So each rank's memory map tells the file and the offset of an
//! address. The same place of the same file is looked up once for all ranks.

mod maps;
mod module;
mod path;
mod symbols;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

pub use maps::Maps;
use module::Module;

use super::folder::files;
use hayase::atomic_file::AtomicFile;
use hayase_trace::names::{has_line, object_without_line};
use hayase_trace::{EXTENSION, Site};

/// The table of call sites of a rank's stream.
pub type Table = BTreeMap<u32, Site>;

/// Results of naming the call sites.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Number of different places of programs and libraries.
    pub places: usize,
    /// Number of places with a known file and line.
    pub lines: usize,
    /// Tables of all ranks, with names.
    pub tables: BTreeMap<u32, Table>,
}

impl Resolved {
    /// Returns the name of a call site of a rank, by its number from 1, or else by its address.
    pub fn name(&self, rank: u32, number: Option<u32>, address: u64) -> Option<&str> {
        let table = self.tables.get(&rank)?;
        let numbered = number.and_then(|number| table.get(&number.checked_sub(1)?));
        let site = numbered.or_else(|| table.values().find(|site| site.address == address))?;
        Some(site.name.as_str())
    }

    /// Returns the programs and libraries that have places without a known line.
    pub fn objects_without_lines(&self) -> BTreeSet<&str> {
        let sites = self.tables.values().flat_map(BTreeMap::values);
        sites.filter_map(|site| object_without_line(&site.name)).collect()
    }
}

/// Names of single addresses of a recording's processes, looked up on demand and kept.
#[derive(Debug)]
pub struct Names {
    maps: BTreeMap<u32, Maps>,
    source: PathBuf,
    known: Mutex<NameCache>,
}

#[derive(Debug, Default)]
struct NameCache {
    modules: BTreeMap<PathBuf, Module>,
    names: BTreeMap<(PathBuf, u64), String>,
}

impl Names {
    /// Opens the names of the recording in this folder; files below `source` are named relative to it.
    ///
    /// # Errors
    /// Those of reading the memory maps.
    pub fn open(folder: &Path, source: &Path) -> io::Result<Self> {
        Ok(Self { maps: maps(folder)?, source: source.to_owned(), known: Mutex::default() })
    }

    /// Returns the place of an address of a rank's process; `None` if no file was there.
    ///
    /// Cost: a module is read when it is first needed.
    pub fn name(&self, rank: u32, address: u64) -> Option<String> {
        let (path, offset) = self.maps.get(&rank)?.find(address)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let NameCache { modules, names } = &mut *known;
        let name = || {
            let module = modules.entry(path.clone()).or_insert_with(|| Module::open(path));
            module.names(offset, &self.source).swap_remove(0)
        };
        Some(names.entry((path.clone(), offset)).or_insert_with(name).clone())
    }
}

/// Returns the memory maps of all ranks.
fn maps(folder: &Path) -> io::Result<BTreeMap<u32, Maps>> {
    let map = |(rank, path)| Ok((rank, Maps::parse(&String::from_utf8_lossy(&fs::read(path)?))));
    files(folder, "maps")?.into_iter().map(map).collect()
}

/// Names the call sites of all ranks and the callers above them, and writes the names into their streams.
///
/// `tables` holds the sites of the streams; sites with a name keep it. Files below `source` are named
/// relative to it.
///
/// Cost: each module is read once; each stream is copied.
///
/// # Errors
/// Those of writing streams.
pub fn resolve(folder: &Path, mut tables: BTreeMap<u32, Table>, source: &Path) -> io::Result<Resolved> {
    let maps = maps(folder)?;
    let place = |rank: u32, address: u64| maps.get(&rank).and_then(|maps| maps.find(address));
    // Places of each module, each with its names: those of inlined functions come first.
    let mut places: BTreeMap<&PathBuf, BTreeMap<u64, Vec<String>>> = BTreeMap::new();
    for (rank, table) in &tables {
        for site in table.values().filter(|site| site.name.is_empty()) {
            let callers = site.callers.iter().filter(|frame| frame.name.is_empty()).map(|frame| frame.address);
            for (path, offset) in callers.chain([site.address]).filter_map(|address| place(*rank, address)) {
                places.entry(path).or_default().insert(offset, Vec::new());
            }
        }
    }
    places.par_iter_mut().for_each(|(path, places)| {
        let module = Module::open(path);
        for (offset, names) in places {
            *names = module.names(*offset, source);
        }
    });
    for (rank, table) in &mut tables {
        for site in table.values_mut().filter(|site| site.name.is_empty()) {
            let names = |address| {
                place(*rank, address).and_then(|(path, offset)| Some((path, places.get(path)?.get(&offset)?)))
            };
            path::name(site, source, names);
        }
    }
    let sites = || tables.iter().flat_map(|(rank, table)| table.values().map(|site| (*rank, site)));
    // A place is a place of the source if that is known: one instruction of an interpreter stands for many.
    let known: BTreeSet<&str> = sites().map(|(_, site)| site.name.as_str()).filter(|name| has_line(name)).collect();
    let unknown = sites().filter(|(_, site)| !has_line(&site.name));
    let unknown: BTreeSet<_> = unknown.filter_map(|(rank, site)| place(rank, site.address)).collect();
    let (lines, count) = (known.len(), known.len() + unknown.len());
    files(folder, EXTENSION)?.into_par_iter().try_for_each(|(rank, path)| {
        let Some(table) = tables.get(&rank).filter(|table| !table.is_empty()) else { return Ok(()) };
        let input = BufReader::new(File::open(&path)?);
        let mut output = AtomicFile::create(&path)?;
        hayase_trace::replace_sites(input, &mut output, table.iter().map(|(index, site)| (*index, site)))?;
        output.commit()
    })?;
    Ok(Resolved { places: count, lines, tables })
}
