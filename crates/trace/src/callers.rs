//! Callers that tell call sites apart: one line of a library is called from many places of a program.

use std::collections::BTreeMap;
use std::io::Read;

use rustc_hash::FxHashMap;

use crate::names::place;
use crate::{Frame, Item, ReadError, Reader, Site};

/// Callers by which the call sites of a program are told apart.
///
/// Sites of all ranks at one place with the same callers need none. If the callers differ, a site is known by
/// the first caller that differs: those before it are common, those after it are not needed.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    /// Number of the caller, by rank and index of the site.
    of: FxHashMap<(u32, u32), u32>,
    names: Vec<String>,
}

/// Collects the call sites of a program.
#[derive(Clone, Debug, Default)]
pub struct Gather {
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
    sites: BTreeMap<(u32, u32), Vec<u32>>,
}

impl Gather {
    /// Adds a site of a rank by its index; a site added again is replaced. A site without a name is not told
    /// apart, since its address is different in every process.
    pub fn add(&mut self, rank: u32, index: u32, site: &Site) {
        if site.name.is_empty() {
            return;
        }
        let mut names = vec![self.number(&name_of(site.address, &site.name))];
        names.extend(site.above().iter().map(|Frame { address, name }| self.number(&name_of(*address, name))));
        self.sites.insert((rank, index), names);
    }

    /// Adds all sites of a stream and skips its calls. A stream that was cut short is read as far as it goes.
    /// `names` finds the name of a place of a rank that has none yet.
    ///
    /// # Errors
    /// Those of reading.
    pub fn add_stream(
        &mut self,
        input: impl Read,
        names: impl Fn(u32, u64) -> Option<String>,
    ) -> Result<(), ReadError> {
        let (mut reader, mut rank) = (Reader::of_sites(input), 0);
        loop {
            match reader.next() {
                Ok(Some(Item::Header(header))) => rank = header.rank,
                Ok(Some(Item::Site(index, site))) if !site.name.is_empty() => self.add(rank, index, site),
                Ok(Some(Item::Site(index, site))) => {
                    let name = |address| names(rank, address).unwrap_or_default();
                    let frame = |frame: &Frame| match frame.name.is_empty() {
                        true => Frame { address: frame.address, name: name(frame.address) },
                        false => frame.clone(),
                    };
                    let callers = site.callers.iter().map(frame).collect();
                    self.add(rank, index, &Site { address: site.address, name: name(site.address), callers });
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(ReadError::Truncated { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the callers that tell the sites apart.
    pub fn finish(self) -> Callers {
        let Self { names, sites, .. } = self;
        // Number of the place of each name: a line is one place, whatever functions it became part of.
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let places: Vec<u32> =
            names.iter().zip(0..).map(|(name, number)| *known.entry(place(name)).or_insert(number)).collect();
        // For each place, the callers that its first site has; once they differ, the distance of the first
        // difference.
        let mut common: FxHashMap<u32, &[u32]> = FxHashMap::default();
        let mut distance: FxHashMap<u32, usize> = FxHashMap::default();
        for names in sites.values() {
            let Some((&first, callers)) = names.split_first() else { continue };
            let at = places[first as usize];
            let other = *common.entry(at).or_insert(callers);
            let same = |(a, b): &(&u32, &u32)| places[**a as usize] == places[**b as usize];
            let shared = other.iter().zip(callers).take_while(same).count();
            if shared < other.len().max(callers.len()) {
                let least = distance.entry(at).or_insert(shared);
                *least = (*least).min(shared);
            }
        }
        let mut of = FxHashMap::default();
        for (&site, names) in &sites {
            let Some((&first, callers)) = names.split_first() else { continue };
            let caller = distance.get(&places[first as usize]).and_then(|&distance| callers.get(distance));
            of.extend(caller.map(|&caller| (site, caller)));
        }
        Callers { of, names }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

fn name_of(address: u64, name: &str) -> String {
    if name.is_empty() { format!("{address:#x}") } else { name.to_owned() }
}

impl Callers {
    /// Returns the caller that a site of a rank is known by; `None` if the place alone identifies it.
    pub fn get(&self, rank: u32, index: u32) -> Option<&str> {
        Some(&self.names[*self.of.get(&(rank, index))? as usize])
    }

    /// Returns the name of a site with its caller, if it is known by one: `comm.cpp:512 (forward_comm) called
    /// from verlet.cpp:203 (run)`.
    pub fn name(&self, rank: u32, index: u32, name: &str) -> String {
        match self.get(rank, index) {
            Some(caller) => format!("{name}{CALLED_FROM}{caller}"),
            None => name.to_owned(),
        }
    }
}

/// Words between the name of a place and that of its caller.
pub const CALLED_FROM: &str = " called from ";

#[cfg(test)]
mod tests {
    use super::*;

    fn site(names: &[&str]) -> Site {
        let frame = |name: &&str| Frame { address: 1, name: (*name).into() };
        Site { address: 1, name: names[0].into(), callers: names[1..].iter().map(frame).collect() }
    }

    #[test]
    fn sites_of_one_place_are_known_by_the_first_caller_that_differs() {
        let mut gather = Gather::default();
        let sites: [(u32, &[&str]); 7] = [
            (0, &["lib.c:5 (send)", "lib.c:9 (exchange)", "a.c:20 (solve)", "a.c:70 (main)"]),
            (0, &["lib.c:5 (send)", "lib.c:9 (exchange)", "a.c:20 (solve)", "a.c:80 (main)"]),
            (0, &["lib.c:5 (send.constprop.0)", "lib.c:9 (exchange)", "b.c:3 (setup)", "a.c:60 (main)"]),
            (1, &["lib.c:5 (send)", "lib.c:9 (exchange)"]),
            (1, &["a.c:33 (main)"]),
            (1, &["a.c:40 (f)", "a.c:41 (main)"]),
            (2, &["a.c:40 (f)", "a.c:41 (main)"]),
        ];
        for (index, (rank, names)) in (0..).zip(sites) {
            gather.add(rank, index, &site(names));
        }
        let callers = gather.finish();
        let known: Vec<Option<&str>> = (0..).zip(sites).map(|(index, (rank, _))| callers.get(rank, index)).collect();
        let solve = Some("a.c:20 (solve)");
        assert_eq!(known, [solve, solve, Some("b.c:3 (setup)"), None, None, None, None]);
        assert_eq!(callers.name(0, 2, "lib.c:5 (send)"), "lib.c:5 (send) called from b.c:3 (setup)");
        assert_eq!(callers.name(1, 4, "a.c:33 (main)"), "a.c:33 (main)");
    }

    #[test]
    fn a_site_that_is_said_again_is_what_was_said_last() {
        let mut gather = Gather::default();
        gather.add(0, 0, &site(&["a.c:1", "a.c:2"]));
        gather.add(0, 1, &site(&["a.c:1", "a.c:3"]));
        gather.add(0, 0, &site(&["b.c:1", "a.c:2"]));
        let callers = gather.finish();
        assert_eq!((callers.get(0, 0), callers.get(0, 1)), (None, None));
    }
}
