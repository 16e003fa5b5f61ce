//! Calls of a trace, counted by the place in the program that made them.

use std::collections::BTreeMap;

use super::calls::{Call, Calls, Event, Item, ItemError};
use crate::base::Arrange;
use crate::units::Time;

/// Counts calls by call site and kind of call.
#[derive(Clone, Debug, Default)]
pub struct BySite {
    /// Names of each rank's call sites and of their callers, by rank and index of the site.
    names: BTreeMap<(u32, u32), Names>,
    /// Tallies by rank, call, and index of the site plus one, as events have it.
    counted: BTreeMap<(u32, u32, Call), SiteTally>,
}

/// Name of a call site, and the names of its callers, innermost first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Names {
    site: String,
    callers: Vec<String>,
}

/// Name of a call site, names of some of its callers, and the call.
type Key<'a> = (&'a str, &'a [String], Call);

/// Calls of one kind from a site.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteCalls {
    /// Name of the site; empty if it is not known.
    pub site: String,
    /// Names of the callers, innermost first.
    pub callers: Vec<String>,
    /// Kind of call.
    pub call: Call,
    /// Count, bytes and time.
    pub tally: SiteTally,
}

/// Tally of one kind of call from one site.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SiteTally {
    /// Number of ranks that made the call.
    pub ranks: u32,
    /// Number of calls.
    pub count: u64,
    /// Bytes that the calling rank sends or, for receives, gets \[B\].
    pub bytes: u64,
    /// Time inside the calls.
    pub time: Time,
}

/// Picoseconds in a nanosecond.
const PS_PER_NS: f64 = 1000.0;

impl BySite {
    /// Returns all calls by site, by up to `depth` of its callers and by kind, the most frequent first.
    pub fn sites(&self, depth: usize) -> Vec<SiteCalls> {
        // Tallies with the rank counted last. A line may have several sites of one rank, for example if a loop was
        // unrolled.
        let mut sites: BTreeMap<Key<'_>, (SiteTally, Option<u32>)> = BTreeMap::new();
        for (&(rank, site, call), tally) in &self.counted {
            let names = site.checked_sub(1).and_then(|index| self.names.get(&(rank, index)));
            let (name, callers) = names.map_or(("", &[][..]), |names| (names.site.as_str(), &names.callers[..]));
            let (sum, last) = sites.entry((name, &callers[..depth.min(callers.len())], call)).or_default();
            sum.ranks += u32::from(last.replace(rank) != Some(rank));
            sum.count += tally.count;
            sum.bytes = sum.bytes.saturating_add(tally.bytes);
            sum.time += tally.time;
        }
        let mut sites: Vec<SiteCalls> = sites
            .into_iter()
            .map(|((site, callers, call), (tally, _))| SiteCalls {
                site: site.to_owned(),
                callers: callers.to_vec(),
                call,
                tally,
            })
            .collect();
        sites.arrange_by(|a, b| {
            let names = |of: &SiteCalls| (of.site.clone(), of.callers.clone(), of.call);
            b.tally.count.cmp(&a.tally.count).then_with(|| names(a).cmp(&names(b)))
        });
        sites
    }

    fn event(&mut self, rank: u32, event: &Event) {
        let tally = self.counted.entry((rank, event.site, event.call)).or_default();
        tally.count += 1;
        tally.bytes = tally.bytes.saturating_add(event.all_bytes());
        tally.time += Time::from_ps(event.end.saturating_sub(event.begin) as f64 * PS_PER_NS);
    }
}

impl Calls for BySite {
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), ItemError> {
        match item {
            Item::Site(index, site) => {
                let name =
                    |name: &str, address: u64| if name.is_empty() { format!("{address:#x}") } else { name.to_owned() };
                let callers = site.above().iter().map(|frame| name(&frame.name, frame.address)).collect();
                self.names.insert((rank, index), Names { site: name(&site.name, site.address), callers });
            }
            Item::Event(event) => self.event(rank, event),
            Item::Header(_)
            | Item::Communicator(..)
            | Item::Region(..)
            | Item::Mark(_)
            | Item::Note(..)
            | Item::End { .. } => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::calls::{Frame, Site};

    #[test]
    fn a_line_with_two_sites_is_one_place_of_each_rank() {
        let mut by_site = BySite::default();
        let caller = |line| Frame { address: 7, name: format!("b.c:{line} (f)") };
        let site = |line| Site { address: 1, name: "a.c:3 (main)".into(), callers: vec![caller(line)] };
        let event = |site, bytes| Event { site, bytes, ..Event::new(Call::Send, 10, 15) };
        for rank in [0, 1] {
            for index in [0, 1] {
                by_site.item(rank, 0, Item::Site(index, &site(index))).unwrap();
                by_site.item(rank, 0, Item::Event(&event(index + 1, 8))).unwrap();
            }
        }
        by_site.item(1, 0, Item::Event(&event(0, 4))).unwrap();
        let time = Time::from_ps(5000.0);
        let calling = |site: &str, callers: &[&str], tally| SiteCalls {
            site: site.into(),
            callers: callers.iter().map(|name| (*name).to_owned()).collect(),
            call: Call::Send,
            tally,
        };
        let named = SiteTally { ranks: 2, count: 4, bytes: 32, time: time + time + time + time };
        let unknown = calling("", &[], SiteTally { ranks: 1, count: 1, bytes: 4, time });
        assert_eq!(by_site.sites(0), [calling("a.c:3 (main)", &[], named), unknown.clone()]);
        let half = SiteTally { ranks: 2, count: 2, bytes: 16, time: time + time };
        let expected =
            [calling("a.c:3 (main)", &["b.c:0 (f)"], half), calling("a.c:3 (main)", &["b.c:1 (f)"], half), unknown];
        assert_eq!(by_site.sites(5), expected);
    }
}
