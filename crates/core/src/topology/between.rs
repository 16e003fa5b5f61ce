//! Cables between groups of switches, by an arrangement or from a file.

use super::common::{MOST_LINKS, Mistakes};
use super::direct::{Cable, wrong};
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::reading::Input;
use crate::reading::csv::{self, Column};
use crate::rng::Stream;
use crate::units::count;

/// Rule that says to which group each global port leads.
#[spec(Copy, Eq, Default, Named)]
pub enum Arrangement {
    /// Slot s of group G leads to group s if s < G, else to group s + 1.
    #[default]
    Absolute,
    /// Slot s of group G leads to group G + s + 1.
    Relative,
    /// Slot s of group G leads to group G - s - 1.
    Palmtree,
    /// Slots 2i and 2i + 1 of group G lead to groups G + i + 1 and G - i - 1.
    Circulant,
    /// The ports of each pair of groups are drawn at random.
    Random,
}

/// Global ports of a fabric: the ports that lead to other groups.
#[derive(Clone, Debug)]
pub(super) struct GlobalPorts {
    /// Switches of a group that have global ports.
    pub a: u32,
    /// Global ports of each of these switches.
    pub h: u32,
    /// Number of groups.
    pub g: u32,
    /// Cables between two groups under an arrangement.
    pub links: u32,
    /// All switches of a group, and the number of those before the first with global ports.
    pub stride: u32,
    pub first: u32,
    /// Tier of the cables.
    pub tier: u8,
}

impl GlobalPorts {
    /// Returns the switch that has a port of a group.
    fn switch(&self, group: u32, port: u32) -> u32 {
        group * self.stride + self.first + port / self.h
    }
}

/// Keys of a specification that describe the cables between groups.
pub(super) struct GlobalCableKeys<'a> {
    pub arrangement: Option<&'a Located<Arrangement>>,
    pub file: Option<&'a Located<String>>,
    pub seed: Option<&'a Located<u64>>,
    /// Key that gives the number of global ports of a switch.
    pub ports: &'static str,
}

impl GlobalCableKeys<'_> {
    /// Returns the name of the arrangement, or `file`.
    pub fn name(&self) -> &'static str {
        if self.file.is_some() { "file" } else { self.rule().name() }
    }

    fn rule(&self) -> Arrangement {
        self.arrangement.map_or_else(Arrangement::default, |given| **given)
    }

    /// Returns the number of groups, and of cables between two groups, for groups of a switches with h ports
    /// each.
    ///
    /// Mistakes are shown at `place`, the number of ports, if these numbers are not given.
    pub fn groups(
        &self,
        a: u32,
        h: u32,
        (g, links): (Option<&Located<u32>>, Option<&Located<u32>>),
        place: &Located<u32>,
        mistakes: &mut Mistakes,
    ) -> (u32, u32) {
        let ports = u64::from(a) * u64::from(h);
        if ports > MOST_LINKS {
            let message = format!("a group of {} is too large", of_ports(ports));
            mistakes.push(wrong(place, message, format!("at most {MOST_LINKS} a group")));
        }
        let given = (g.map(|g| mistakes.size(g)), links.map(|links| mistakes.size(links)));
        let groups = given.0.unwrap_or(u32::try_from(ports + 1).unwrap_or(u32::MAX));
        let others = u64::from(groups.saturating_sub(1));
        let most = ports.checked_div(others).unwrap_or(0);
        if self.file.is_none() && others > ports {
            let others = count(others, "other group", "other groups");
            let reach = if ports == 1 { "does not reach" } else { "do not reach" };
            let message = format!("{} of a group {reach} {others}", of_ports(ports));
            let most = count(ports + 1, "group", "groups");
            mistakes.push(
                wrong(g.unwrap_or(place), message, format!("at most {most}, one more than ports"))
                    .help(format!("raise `{}`, or name the cables one by one: `cables = \"FILE.csv\"`", self.ports)),
            );
        }
        if let Some(given) = links.filter(|given| u64::from(***given) > most && (1..=ports).contains(&others)) {
            let cables = count((**given).into(), "cable", "cables");
            let others = count(others, "other group", "other groups");
            let message = format!("{cables} to each of {others} need more than {}", of_ports(ports));
            mistakes.push(wrong(given, message, format!("at most {most}")));
        }
        if let (Some(_), Some(given)) = (self.file, self.arrangement) {
            let message = "the cables between groups are given both by a file and by an arrangement";
            mistakes.push(wrong(given, message, "either this or `cables`").help("remove one of them"));
        }
        if let (Some(_), Some(given)) = (self.file, links) {
            let message = "the cables between groups are given both by a file and by their number";
            mistakes.push(wrong(given, message, "either this or `cables`").help("remove one of them"));
        }
        let is_random = self.arrangement.is_some_and(|given| **given == Arrangement::Random);
        if let (false, Some(given)) = (is_random, self.seed) {
            let message = "`seed` has no meaning without `arrangement = \"random\"`";
            mistakes.push(wrong(given, message, "nothing is drawn").help("remove it"));
        }
        (groups, given.1.unwrap_or(u32::try_from(most).unwrap_or(u32::MAX)))
    }

    /// Appends the cables between groups.
    pub fn cables(
        &self,
        at: &GlobalPorts,
        sources: &mut Sources,
        cables: &mut Vec<Cable>,
    ) -> Result<(), Vec<Diagnostic>> {
        match (self.file, self.rule()) {
            (Some(path), _) => {
                let input = sources.open(path).map_err(|diagnostic| vec![diagnostic])?;
                read(input, (at, self.ports), cables)?;
            }
            (None, Arrangement::Random) => draw(at, self.seed.map_or(1, |seed| **seed), cables),
            (None, rule) => arrange(at, rule, cables),
        }
        Ok(())
    }
}

/// Returns the other group, and the slot there, that slot s of group G leads to in a dragonfly of g groups.
/// The function is an involution with one slot for each other group.
pub(super) fn partner(arrangement: Arrangement, g: u32, group: u32, slot: u32) -> (u32, u32) {
    let after = |steps: u32| ((u64::from(group) + u64::from(steps)) % u64::from(g)) as u32;
    match arrangement {
        Arrangement::Absolute | Arrangement::Random => {
            let other = if slot < group { slot } else { slot + 1 };
            (other, if group < other { group } else { group - 1 })
        }
        Arrangement::Relative => (after(slot + 1), g - 2 - slot),
        Arrangement::Palmtree => (after(g - 1 - slot), g - 2 - slot),
        // With an even number of groups the last slot leads to the opposite group, from both sides.
        Arrangement::Circulant if slot.is_multiple_of(2) => {
            (after(slot / 2 + 1), if slot + 2 == g { slot } else { slot + 1 })
        }
        Arrangement::Circulant => (after(g - (slot / 2 + 1)), slot - 1),
    }
}

/// Appends the cables of an arrangement.
fn arrange(at: &GlobalPorts, arrangement: Arrangement, cables: &mut Vec<Cable>) {
    let slots = at.g - 1;
    for group in 0..at.g {
        for port in 0..at.links * slots {
            let (round, slot) = (port / slots, port % slots);
            let (other, back) = partner(arrangement, at.g, group, slot);
            if group < other {
                let ends = (at.switch(group, port), at.switch(other, round * slots + back));
                cables.push(Cable { ends, tier: at.tier });
            }
        }
    }
}

/// Appends the cables of each pair of groups, at ports drawn at random.
fn draw(at: &GlobalPorts, seed: u64, cables: &mut Vec<Cable>) {
    let mut stream = Stream::new(seed, "topology.dragonfly");
    let mut free: Vec<Vec<u32>> = (0..at.g)
        .map(|group| {
            let mut ports: Vec<u32> = (0..at.a * at.h).map(|port| at.switch(group, port)).collect();
            stream.shuffle(&mut ports);
            ports
        })
        .collect();
    for group in 0..at.g as usize {
        for other in group + 1..at.g as usize {
            for _ in 0..at.links {
                if let (Some(from), Some(to)) = (free[group].pop(), free[other].pop()) {
                    cables.push(Cable { ends: (from, to), tier: at.tier });
                }
            }
        }
    }
}

/// Cables of each pair of groups, for routes.
///
/// Memory: 4 bytes a pair of groups and 16 bytes a direction of a cable.
#[derive(Clone, Debug)]
pub(super) struct CablesByPair {
    g: u32,
    /// First cable of each pair of groups (from, to), as an index into `cables`.
    starts: Vec<u32>,
    /// Switch that the cable leaves, switch it leads to, its number, and true if this is against its
    /// direction.
    cables: Vec<(u32, u32, u32, bool)>,
}

impl CablesByPair {
    /// Sorts the cables of this tier by pair of groups. Returns `None` if a pair of groups has no cable.
    /// `group` maps a switch to its group.
    pub fn new(g: u32, tier: u8, cables: &[Cable], group: impl Fn(u32) -> u32) -> Option<Self> {
        let slot = |from: u32, to: u32| group(from) as usize * g as usize + group(to) as usize;
        let of_tier = || (0..).zip(cables).filter(|(_, cable)| cable.tier == tier);
        let mut starts = vec![0u32; g as usize * g as usize + 1];
        for (_, Cable { ends: (a, b), .. }) in of_tier() {
            starts[slot(*a, *b) + 1] += 1;
            starts[slot(*b, *a) + 1] += 1;
        }
        let joined = |pair: usize| pair / g as usize == pair % g as usize || starts[pair + 1] > 0;
        if !(0..starts.len() - 1).all(joined) {
            return None;
        }
        for pair in 1..starts.len() {
            starts[pair] += starts[pair - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0, 0, false); starts.last().copied().unwrap_or(0) as usize];
        for (number, &Cable { ends: (a, b), .. }) in of_tier() {
            for (from, to, back) in [(a, b, false), (b, a, true)] {
                let at = &mut next[slot(from, to)];
                sorted[*at as usize] = (from, to, number, back);
                *at += 1;
            }
        }
        Some(Self { g, starts, cables: sorted })
    }

    /// Returns the largest number of cables between two groups.
    pub fn most(&self) -> u32 {
        self.starts.windows(2).map(|starts| starts[1] - starts[0]).max().unwrap_or(0)
    }

    /// Returns the cables from one group to another.
    #[inline]
    pub fn between(&self, from: u32, to: u32) -> &[(u32, u32, u32, bool)] {
        let pair = from as usize * self.g as usize + to as usize;
        &self.cables[self.starts[pair] as usize..self.starts[pair + 1] as usize]
    }
}

/// Columns of a table of cables between switches.
pub const COLUMNS: [Column; 5] = [
    Column::required("from-group"),
    Column::required("from-switch"),
    Column::required("to-group"),
    Column::required("to-switch"),
    Column::optional("cables"),
];

/// Appends the cables listed in a file. `ports` is the key that gives the number of global ports of a switch.
fn read(input: Input, (at, ports): (&GlobalPorts, &str), cables: &mut Vec<Cable>) -> Result<(), Vec<Diagnostic>> {
    let mut used = vec![0u32; (at.a * at.g) as usize];
    csv::read(input, &COLUMNS, |row| {
        let from = row.number(0, "group", at.g).zip(row.number(1, "switch", at.a));
        let to = row.number(2, "group", at.g).zip(row.number(3, "switch", at.a));
        let count = if row.bytes(4).is_empty() { Some(1) } else { row.count(4, "cable") };
        let (Some(from), Some(to), Some(count)) = (from, to, count) else { return };
        if from.0 == to.0 {
            let diagnostic = Diagnostic::new("loop", format!("a cable leads from group {} to itself", from.0));
            row.mistake(2, diagnostic.label("another group").help("the links inside groups follow from their size"));
            return;
        }
        // Both ends are checked, so that both mistakes are reported.
        let free = [(1, from), (3, to)].map(|(column, end)| match take_ports(end, count, at, &mut used) {
            Ok(()) => true,
            Err(mistake) => {
                row.mistake(column, mistake.label("no port is free here").help(format!("raise `{ports}`")));
                false
            }
        });
        if free == [true; 2] {
            let ends = (at.switch(from.0, from.1 * at.h), at.switch(to.0, to.1 * at.h));
            cables.extend((0..count).map(|_| Cable { ends, tier: at.tier }));
        }
    })?;
    Ok(())
}

/// Takes `count` ports of a switch.
///
/// # Errors
/// Fails if the switch has too few free ports.
fn take_ports((group, switch): (u32, u32), count: u32, at: &GlobalPorts, used: &mut [u32]) -> Result<(), Diagnostic> {
    let used = &mut used[(group * at.a + switch) as usize];
    *used = used.saturating_add(count);
    if *used <= at.h {
        return Ok(());
    }
    let ports = of_ports(at.h.into());
    Err(Diagnostic::new(
        "ports",
        format!("switch {switch} of group {group} has {ports}, and this would be cable {used}"),
    ))
}

/// Returns text such as `1 global port`.
fn of_ports(ports: u64) -> String {
    count(ports, "global port", "global ports")
}
