//! The accesses of a file, interval by interval.

use std::io::Read;

use super::nest::{Gather, Kind, Nest, Run, Site, Totals};
use super::read::{Item, Reader};
use crate::ReadError;

/// What a rank accessed between two of its calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// It lies before the call with this index.
    pub number: u64,
    /// Accesses that follow a rule, by the position of the first.
    pub nests: Vec<Nest>,
    /// Accesses that do not, by the position of the first.
    pub gathers: Vec<Gather>,
    /// Functions that began or ended ([`Kind::Frame`]), by position; no accesses.
    pub frames: Vec<Nest>,
    /// Blocks of memory that began or ended ([`Kind::Block`]), by position; no accesses.
    pub blocks: Vec<Nest>,
    /// Reasons why memory may change unseen, from where on and up to where ([`Kind::Hazard`]), by position; no
    /// accesses.
    pub hazards: Vec<Nest>,
}

impl Interval {
    /// All accesses as runs, by the position of the first of each.
    ///
    /// Cost: as many runs as the nests have iterations of their outer loops.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = self.nests.iter().flat_map(Nest::runs).collect();
        runs.extend(self.gathers.iter().flat_map(Gather::runs));
        runs.sort_unstable_by_key(|run| run.first);
        runs
    }

    /// How many accesses it has.
    pub fn accesses(&self) -> u64 {
        let gathers = self.gathers.iter().map(|gather| gather.addresses.len() as u64);
        self.nests.iter().map(Nest::count).chain(gathers).fold(0, u64::saturating_add)
    }
}

/// Reads a file of accesses by intervals; those without any record are left out.
#[derive(Debug)]
pub struct Intervals<R> {
    reader: Reader<R>,
    sites: Vec<Site>,
    notes: Vec<(String, String)>,
    totals: Option<Totals>,
    next: Option<u64>,
}

impl<R: Read> Intervals<R> {
    /// Starts at the beginning of a file.
    pub fn new(input: R) -> Self {
        Self { reader: Reader::new(input), sites: Vec::new(), notes: Vec::new(), totals: None, next: None }
    }

    /// The sites known so far: all that the intervals up to now refer to.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// What the header says: names and values.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// What the end says; `None` before it was reached.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// The next interval; `None` after the last.
    ///
    /// # Errors
    /// The file is truncated or damaged. Asked again, what there was of the interval is lost, earlier ones are right.
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
                        Some(Kind::Frame) => &mut interval.frames,
                        Some(Kind::Block) => &mut interval.blocks,
                        Some(Kind::Hazard) => &mut interval.hazards,
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
