//! What a trace holds, counted by the place in the program that made the calls.

use std::collections::BTreeMap;

use super::calls::{Call, Calls, Event, Item, Kind, Wrong};
use crate::units::Time;

/// Counts calls by call site and kind of call.
#[derive(Clone, Debug, Default)]
pub struct BySite {
    /// The names of each rank's sites, by their index.
    names: BTreeMap<(u32, u32), String>,
    /// By rank and index of the site plus one, as events have it.
    counted: BTreeMap<(u32, u32, Call), SiteTally>,
}

/// What is counted of a call from a site.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SiteTally {
    /// Ranks that made it.
    pub ranks: u32,
    /// How often it was made.
    pub count: u64,
    /// What the calling rank sends or, for receives, gets \[B\].
    pub bytes: u64,
    /// Time inside it.
    pub time: Time,
}

/// Picoseconds in a nanosecond.
const PS_PER_NS: f64 = 1000.0;

impl BySite {
    /// All calls by the name of their site and the call, most often made first.
    pub fn sites(&self) -> Vec<(String, Call, SiteTally)> {
        // With the rank counted last: a line may have several sites of a rank, where a loop was unrolled.
        let mut sites: BTreeMap<(&str, Call), (SiteTally, Option<u32>)> = BTreeMap::new();
        for (&(rank, site, call), tally) in &self.counted {
            let name = site.checked_sub(1).and_then(|index| self.names.get(&(rank, index)));
            let (sum, last) = sites.entry((name.map_or("", String::as_str), call)).or_default();
            sum.ranks += u32::from(last.replace(rank) != Some(rank));
            sum.count += tally.count;
            sum.bytes = sum.bytes.saturating_add(tally.bytes);
            sum.time += tally.time;
        }
        let mut sites: Vec<_> =
            sites.into_iter().map(|((name, call), (tally, _))| (name.to_owned(), call, tally)).collect();
        sites.sort_by(|(a, call, x), (b, other, y)| y.count.cmp(&x.count).then(a.cmp(b)).then(call.cmp(other)));
        sites
    }

    fn event(&mut self, rank: u32, event: &Event) {
        let tally = self.counted.entry((rank, event.site, event.call)).or_default();
        tally.count += 1;
        let list: u64 = match event.call.kind() {
            Kind::Collective | Kind::Icollective => event.counts.iter().sum(),
            _ => 0,
        };
        tally.bytes = tally.bytes.saturating_add(event.bytes).saturating_add(list);
        tally.time += Time::from_ps(event.end.saturating_sub(event.begin) as f64 * PS_PER_NS);
    }
}

impl Calls for BySite {
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), Wrong> {
        match item {
            Item::Site(index, site) => {
                let name = if site.name.is_empty() { format!("{:#x}", site.address) } else { site.name.clone() };
                self.names.insert((rank, index), name);
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
    use crate::workload::trace::calls::Site;

    #[test]
    fn a_line_with_two_sites_is_one_place_of_each_rank() {
        let mut by_site = BySite::default();
        let site = Site { address: 1, name: "a.c:3 (main)".into() };
        let event = |site, bytes| Event { site, bytes, ..Event::new(Call::Send, 10, 15) };
        for rank in [0, 1] {
            for index in [0, 1] {
                by_site.item(rank, 0, Item::Site(index, &site)).unwrap();
                by_site.item(rank, 0, Item::Event(&event(index + 1, 8))).unwrap();
            }
        }
        by_site.item(1, 0, Item::Event(&event(0, 4))).unwrap();
        let time = Time::from_ps(5000.0);
        let named = SiteTally { ranks: 2, count: 4, bytes: 32, time: time + time + time + time };
        let unknown = SiteTally { ranks: 1, count: 1, bytes: 4, time };
        let expected = [("a.c:3 (main)".to_owned(), Call::Send, named), (String::new(), Call::Send, unknown)];
        assert_eq!(by_site.sites(), expected);
    }
}
