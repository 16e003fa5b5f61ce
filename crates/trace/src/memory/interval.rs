//! The accesses of a file, interval by interval.

use std::io::Read;

use super::nest::{AccessKind, Gather, Nest, Run, Site, Totals};
use super::read::{Item, Reader};
use crate::ReadError;

/// Accesses of a rank between two of its calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Index of the call after the interval.
    pub number: u64,
    /// Accesses that follow a rule, by the position of the first.
    pub nests: Vec<Nest>,
    /// Accesses that follow no rule, by the position of the first.
    pub gathers: Vec<Gather>,
    /// Functions that began or ended ([`AccessKind::Frame`]), by position; no accesses.
    pub frames: Vec<Nest>,
    /// Blocks of memory that began or ended ([`AccessKind::Block`]), by position; no accesses.
    pub blocks: Vec<Nest>,
    /// Reasons why memory may change unseen, with their begin and end ([`AccessKind::Hazard`]), by position; no
    /// accesses.
    pub hazards: Vec<Nest>,
}

impl Interval {
    /// Returns all accesses as runs, by the position of the first of each.
    ///
    /// Cost: as many runs as the nests have iterations of their outer loops.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = self.nests.iter().flat_map(Nest::runs).collect();
        runs.extend(self.gathers.iter().flat_map(Gather::runs));
        runs.sort_unstable_by_key(|run| run.first);
        runs
    }

    /// Number of accesses.
    pub fn accesses(&self) -> u64 {
        let gathers = self.gathers.iter().map(|gather| gather.addresses.len() as u64);
        self.nests.iter().map(Nest::count).chain(gathers).fold(0, u64::saturating_add)
    }
}

/// Reads a file of accesses by intervals; intervals without any record are left out.
#[derive(Debug)]
pub struct Intervals<R> {
    reader: Reader<R>,
    sites: Vec<Site>,
    notes: Vec<(String, String)>,
    totals: Option<Totals>,
    next: Option<u64>,
}

impl<R: Read> Intervals<R> {
    /// Creates a reader at the beginning of a file.
    pub fn new(input: R) -> Self {
        Self { reader: Reader::new(input), sites: Vec::new(), notes: Vec::new(), totals: None, next: None }
    }

    /// Sites known so far: all that the intervals up to now refer to.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Names and values in the header.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// Totals at the end of the file; `None` before it was reached.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// Reads the next interval; `None` after the last.
    ///
    /// # Errors
    /// The file is truncated or damaged. Records of the present interval are lost, earlier intervals are
    /// right.
    #[allow(clippy::should_implement_trait, reason = "an error is no item")]
    pub fn next(&mut self) -> Result<Option<Interval>, ReadError> {
        let mut interval: Option<Interval> = self.next.take().map(|number| Interval { number, ..Interval::default() });
        while let Some(item) = self.reader.next()? {
            match item {
                Item::Header(notes) => self.notes = notes.to_vec(),
                Item::Site(_, site) => self.sites.push(site.clone()),
                Item::Interval(number) if interval.is_none() => {
                    interval = Some(Interval { number, ..Interval::default() });
                }
                Item::Interval(number) => {
                    self.next = Some(number);
                    break;
                }
                Item::Nest(nest) => {
                    let interval = interval.get_or_insert_default();
                    let list = match self.sites.get(nest.site as usize).map(|site| site.kind) {
                        Some(AccessKind::Frame) => &mut interval.frames,
                        Some(AccessKind::Block) => &mut interval.blocks,
                        Some(AccessKind::Hazard) => &mut interval.hazards,
                        _ => &mut interval.nests,
                    };
                    list.push(*nest);
                }
                Item::Gather(gather) => interval.get_or_insert_default().gathers.push(gather.clone()),
                Item::End(totals) => self.totals = Some(totals),
            }
        }
        if let Some(interval) = &mut interval {
            interval.gathers.sort_by_key(|gather| gather.first);
            let Interval { nests, frames, blocks, hazards, .. } = interval;
            for list in [nests, frames, blocks, hazards] {
                list.sort_by_key(|nest| nest.first);
            }
        }
        Ok(interval)
    }
}
