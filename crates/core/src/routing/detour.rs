//! Detours through intermediate groups or switches, one drawn or all of them.

use rustc_hash::FxHashMap;

use super::counting::{LoadPart, in_parts};
use super::demand::Columns;
use super::graph::{Graph, Target};
use crate::diagnostic::Diagnostic;
use crate::ids::{IdVec, LinkId};
use crate::rng::Draws;
use crate::units::Time;

/// Most memory that counting may need \[B\].
const MOST_MEMORY: u64 = 4 << 30;

/// Groups or switches that messages may be sent to before they go to their destination.
///
/// Switches are in *zones*: the groups of the fabric, or each switch by itself if it has none. The
/// intermediate has nodes and is in another zone than source and destination. Within one zone, and if there
/// is no such intermediate, messages take shortest paths.
#[derive(Debug)]
pub(super) struct Detours {
    /// True if the intermediate is a group: then the second half begins at its switch nearest to the source.
    pub to_groups: bool,
    /// Zone of each place.
    zone: Vec<u32>,
    /// Intermediates that may be drawn: groups or places.
    all: Vec<u32>,
    /// Number of intermediates in each zone.
    inside: Vec<u32>,
}

impl Detours {
    pub fn new(graph: &Graph, to_groups: bool) -> Self {
        let lonely = |place| graph.group(place).unwrap_or(graph.group_count() + place);
        let zone: Vec<u32> = if graph.group_count() > 0 {
            (0..graph.places()).map(lonely).collect()
        } else {
            (0..graph.places()).collect()
        };
        let mut all = graph.places_with_nodes();
        if to_groups {
            all = all.into_iter().filter_map(|place| graph.group(place)).collect();
            all.sort_unstable();
            all.dedup();
        }
        let mut detours = Self { to_groups, inside: Vec::new(), zone, all: Vec::new() };
        let zones = detours.zone.iter().max().map_or(0, |&most| most + 1);
        detours.inside = vec![0; zones as usize];
        for &one in &all {
            let zone = detours.zone_of(one) as usize;
            detours.inside[zone] += 1;
        }
        detours.all = all;
        detours
    }

    /// Returns the zone of an intermediate.
    fn zone_of(&self, intermediate: u32) -> u32 {
        if self.to_groups { intermediate } else { self.zone[intermediate as usize] }
    }

    /// Number of intermediates between places of two zones.
    fn between(&self, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        self.all.len() as u32 - self.inside[from as usize] - self.inside[to as usize]
    }

    /// Number of intermediates between two places.
    pub fn count(&self, from: u32, to: u32) -> u32 {
        self.between(self.zone[from as usize], self.zone[to as usize])
    }

    pub fn target(&self, intermediate: u32) -> Target {
        if self.to_groups { Target::Group(intermediate) } else { Target::Place(intermediate) }
    }

    /// Returns all intermediates between two places.
    pub fn each(&self, from: u32, to: u32) -> impl Iterator<Item = Target> {
        let (from, to) = (self.zone[from as usize], self.zone[to as usize]);
        let fits = move |one: &&u32| from != to && ![from, to].contains(&self.zone_of(**one));
        self.all.iter().filter(fits).map(|&one| self.target(one))
    }

    /// Returns all intermediates.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        self.all.iter().map(|&one| self.target(one))
    }

    /// Draws an intermediate between two places, each with the same probability. Returns `None` if there is
    /// none.
    pub fn draw(&self, from: u32, to: u32, draws: &mut Draws) -> Option<Target> {
        if self.count(from, to) == 0 {
            return None;
        }
        let ends = [self.zone[from as usize], self.zone[to as usize]];
        loop {
            let one = self.all[draws.below(self.all.len() as u64) as usize];
            if !ends.contains(&self.zone_of(one)) {
                return Some(self.target(one));
            }
        }
    }

    /// Follows shortest paths to the intermediate, if there is one, and on to a place, drawing one link where
    /// several lead on. Returns `false` if there is no path.
    pub fn walk(
        &self,
        graph: &Graph,
        (from, via, to): (u32, Option<Target>, u32),
        mut pick: impl FnMut(u32) -> u32,
        mut visit: impl FnMut(LinkId),
    ) -> bool {
        let via = match via {
            Some(via) => graph.walk(from, via, &mut pick, &mut visit),
            None => Some(from),
        };
        via.and_then(|via| graph.walk(via, Target::Place(to), pick, visit)).is_some()
    }

    /// Checks that counting loads fits in memory.
    pub fn check_size(&self, graph: &Graph) -> Result<(), Diagnostic> {
        let memory = 8 * u64::from(graph.places()) * self.inside.len() as u64;
        if memory <= MOST_MEMORY {
            return Ok(());
        }
        let message = format!("counting detours on `{}` would need {} GB", graph.fabric.name(), memory >> 30);
        Err(Diagnostic::new("too-large", message)
            .help("count shortest paths (minimal, spray), or take a smaller fabric"))
    }

    /// Adds the loads if all traffic goes through intermediates with equal probability, and in equal parts
    /// over the links that lead on.
    ///
    /// Traffic between two zones is the sum over intermediates of its path to and from the intermediate. Both
    /// halves are added up by their ends first, so that each is counted once for each pair of switches.
    pub fn count_loads(&self, graph: &Graph, columns: &Columns<'_>, loads: &mut IdVec<LinkId, f64>) {
        let (places, zones) = (graph.places() as usize, self.inside.len());
        // By place and zone: amount sent there through each possible intermediate [B/s].
        let mut sent = vec![0.0; places * zones];
        let mut column = vec![0.0; places];
        for to in 0..graph.places() {
            if columns.column(to, &mut column) {
                let zone = self.zone[to as usize];
                for (from, amount) in column.iter().enumerate() {
                    let count = self.between(self.zone[from], zone);
                    if count > 0 {
                        sent[from * zones + zone as usize] += amount / f64::from(count);
                    }
                }
            }
        }
        // The sum over zones is the amount for each intermediate that is in none of them.
        let sums: Vec<f64> = (0..places).map(|from| sent[from * zones..][..zones].iter().sum()).collect();
        in_parts(self.all.len() as u32, loads, |number, part| {
            part.make_room(graph);
            let via = self.all[number as usize];
            let zone = self.zone_of(via) as usize;
            for (from, amount) in part.amounts.iter_mut().enumerate() {
                let own = self.zone[from] as usize == zone;
                *amount = if own { 0.0 } else { (sums[from] - sent[from * zones + zone]).max(0.0) };
            }
            part.spread(graph, self.target(via));
        });
        let entries = self.to_groups.then(|| Entries::new(self, graph));
        in_parts(graph.places(), loads, |to, part| {
            part.make_room(graph);
            let LoadPart { column, amounts, .. } = &mut *part;
            if !columns.column(to, column) {
                return;
            }
            let zone = self.zone[to as usize];
            let mut by_zone = vec![0.0; zones];
            let mut by_class = vec![0.0; entries.as_ref().map_or(0, Entries::classes)];
            for (from, amount) in column.iter_mut().enumerate() {
                match self.between(self.zone[from], zone) {
                    0 => amounts[from] += *amount,
                    count => {
                        let each = *amount / f64::from(count);
                        by_zone[self.zone[from] as usize] += each;
                        if let Some(entries) = &entries {
                            by_class[entries.class_of[from] as usize] += each;
                        }
                    }
                }
            }
            if let Some(entries) = &entries {
                for (class, &each) in by_class.iter().enumerate().filter(|(_, each)| **each > 0.0) {
                    entries.of(class).iter().filter(|entry| entry.group != zone).for_each(|entry| {
                        amounts[entry.place as usize] += each * entry.part;
                    });
                }
            } else {
                let sum: f64 = by_zone.iter().sum();
                for &via in self.all.iter().filter(|&&via| self.zone[via as usize] != zone) {
                    amounts[via as usize] += (sum - by_zone[self.zone[via as usize] as usize]).max(0.0);
                }
            }
            part.spread(graph, Target::Place(to));
        });
    }
}

/// Entry places of messages into groups, by their source place and the group, with the part that enters at
/// each.
///
/// Sources with the same entries form a class that is examined once; often these are all places of a group.
struct Entries {
    /// Class of each place.
    class_of: Vec<u32>,
    /// Start of the entries of each class, and their end.
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    group: u32,
    place: u32,
    part: f64,
}

impl Entries {
    fn new(detours: &Detours, graph: &Graph) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        let mut path = super::path::Path::default();
        let mut classes: FxHashMap<Vec<(u32, u32, u64)>, u32> = FxHashMap::default();
        let mut class_of = vec![0; graph.places() as usize];
        let mut sends = vec![false; graph.places() as usize];
        graph.fabric.node_ids().for_each(|node| sends[graph.home(node).place as usize] = true);
        let mut row = Vec::new();
        for from in (0..graph.places()).filter(|&place| sends[place as usize]) {
            row.clear();
            for &group in detours.all.iter().filter(|&&group| group != detours.zone[from as usize]) {
                path.clear();
                graph.split((from, 1.0, Time::ZERO), Target::Group(group), &mut path, |place, part, _| {
                    row.push(Entry { group, place, part });
                });
            }
            let key = row.iter().map(|entry| (entry.group, entry.place, entry.part.to_bits())).collect();
            class_of[from as usize] = *classes.entry(key).or_insert_with(|| {
                entries.extend_from_slice(&row);
                starts.push(entries.len());
                starts.len() as u32 - 2
            });
        }
        Self { class_of, starts, entries }
    }

    fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, class: usize) -> &[Entry] {
        &self.entries[self.starts[class]..self.starts[class + 1]]
    }
}
