//! Members of communicators. A record that makes one names only its number, so the members follow from what all
//! ranks do.
//!
//! | call | members |
//! |---|---|
//! | `Comm_dup` | those of the old one |
//! | `Comm_split` | those that gave the same colour, by key and old rank |
//! | `Comm_create` | those of the group, which the rank's own calls have made |
//! | `Cart_create`, `Graph_create` | the first ones, as many as the topology has places; a reordering is not recorded |
//! | `Cart_sub` | those with the same coordinates in the dimensions left out |
//! | `Intercomm_create` | those of two local communicators, whose leaders name each other |
//! | `Intercomm_merge` | those of both sides, the side with `high` last |
//!
//! The ranks go through their calls; a call waits until all members of its old communicator have come to it.
//!
//! `Comm_split_type` and `Comm_idup` have no records: the first call on the new communicator names its number. If the
//! ranks asked for its size and for their ranks in it, the members are those ranks of the world, or of one host, whose
//! answers fit.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::record::Record;

/// Numbers of communicators and groups in the format.
pub(super) const COMM_NULL: i32 = 1;
pub(super) const COMM_WORLD: i32 = 2;
pub(super) const COMM_SELF: i32 = 3;
const GROUP_EMPTY: i32 = 2;
/// Largest number of members of groups and communicators that are kept: 1 GiB of them, and four for each byte of the
/// files.
const MOST_MEMBERS: usize = 1 << 28;
/// Number of members that are kept for files of any size.
const FREE_MEMBERS: usize = 1 << 20;

/// A call that makes a communicator or a group.
#[derive(Clone, Debug)]
enum Step {
    /// Makes group `new` of two others and ranks.
    Group { name: &'static str, from: [i32; 2], ranks: Box<[i32]>, new: i32 },
    /// Makes communicator `new` of `old`, together with all its members.
    Make { old: i32, new: i32, make: Make },
    /// A communicator whose members remain unknown.
    Unknown { new: i32 },
}

/// Contribution of a rank to a new communicator.
#[derive(Clone, Debug)]
enum Make {
    Dup,
    Split { colour: i32, key: i32 },
    Create { group: i32 },
    First { places: i64, dims: Box<[i32]> },
    Sub { kept: Box<[i32]> },
    Inter { leader: i32, peers: i32, other: i32, tag: i32 },
    Merge { high: bool },
}

/// Calls of a rank that make communicators and groups, in order.
#[derive(Debug, Default)]
pub(super) struct Steps {
    of: Vec<Step>,
    /// Host of the rank, and bytes of its file.
    pub host: String,
    pub bytes: usize,
    /// Numbers of the communicators that records make.
    made: FxHashSet<i32>,
    /// Size of each other communicator and own rank in it, as far as calls tell them.
    told: BTreeMap<i32, [Option<i32>; 2]>,
}

/// Returns the number of the communicator that a record makes, also of one whose members remain unknown.
pub(super) fn made_by(record: &Record) -> Option<i32> {
    let numbers = &record.numbers;
    match record.function.name {
        "Comm_dup" => Some(numbers[1]),
        "Comm_create" | "Intercomm_merge" | "Cart_sub" => Some(numbers[2]),
        "Comm_split" | "Cart_create" => Some(numbers[3]),
        "Graph_create" => Some(numbers[4]),
        "Intercomm_create" => Some(numbers[5]),
        "Comm_accept" | "Comm_connect" | "Comm_spawn" => Some(numbers[3]),
        "Comm_spawn_multiple" => Some(numbers[4]),
        "Comm_get_parent" => Some(numbers[0]),
        "Comm_join" => Some(numbers[1]),
        _ => None,
    }
}

impl Steps {
    /// Takes a record, if it makes a communicator or a group.
    pub fn take(&mut self, record: &Record) {
        let Record { numbers: n, arrays, function, .. } = record;
        let list = |array: usize| arrays[array].clone().into_boxed_slice();
        let make = match function.name {
            "Comm_dup" => Some((n[0], Make::Dup)),
            "Comm_split" => Some((n[0], Make::Split { colour: n[1], key: n[2] })),
            "Comm_create" => Some((n[0], Make::Create { group: n[1] })),
            "Cart_create" => {
                let places = arrays[0].iter().fold(1_i64, |all, &dim| all.saturating_mul(dim.max(0).into()));
                Some((n[0], Make::First { places, dims: list(0) }))
            }
            "Graph_create" => Some((n[1], Make::First { places: n[2].into(), dims: Box::default() })),
            "Cart_sub" => Some((n[1], Make::Sub { kept: list(0) })),
            "Intercomm_create" => Some((n[0], Make::Inter { leader: n[1], peers: n[2], other: n[3], tag: n[4] })),
            "Intercomm_merge" => Some((n[0], Make::Merge { high: n[1] != 0 })),
            _ => None,
        };
        let new = made_by(record);
        self.made.extend(new);
        if let fact @ ("Comm_size" | "Comm_rank") = function.name
            && n[0] > COMM_SELF
            && !self.made.contains(&n[0])
        {
            self.told.entry(n[0]).or_default()[usize::from(fact == "Comm_rank")] = Some(n[1]);
        }
        match (make, new) {
            (Some((old, make)), Some(new)) => self.of.push(Step::Make { old, new, make }),
            (_, Some(new)) => self.of.push(Step::Unknown { new }),
            _ => {
                let (from, ranks, new) = match function.name {
                    "Comm_group" | "Comm_remote_group" => ([n[0], 0], Box::default(), n[1]),
                    "Group_union" | "Group_intersection" | "Group_difference" => ([n[0], n[1]], Box::default(), n[2]),
                    "Group_incl" | "Group_excl" | "Group_range_incl" | "Group_range_excl" => ([n[0], 0], list(0), n[2]),
                    _ => return,
                };
                self.of.push(Step::Group { name: function.name, from, ranks, new });
            }
        }
    }
}

/// A communicator of the run.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Number from 1, which both sides of an inter-communicator share.
    pub id: u64,
    /// Members as ranks of the world, by rank.
    pub members: Rc<[u32]>,
    /// Remote group; empty for an intra-communicator.
    pub remote: Rc<[u32]>,
    /// Extents of a Cartesian topology.
    dims: Rc<[i32]>,
}

/// Members of a new communicator, its remote group, and the extents of its topology.
type NewComm = (Vec<u32>, Rc<[u32]>, Rc<[i32]>);

/// Communicators that a rank makes, in order: the index in the list of all, if its members are known.
pub(super) type Made = Vec<Option<usize>>;

/// Communicators of a rank that no record makes, its own among them: the index in the list of all, by number.
pub(super) type Told = FxHashMap<i32, Option<usize>>;

/// A rank on its way through its steps.
struct RankSteps {
    steps: std::vec::IntoIter<Step>,
    /// Communicators by number.
    comms: FxHashMap<i32, Option<usize>>,
    groups: FxHashMap<i32, Rc<[u32]>>,
    made: Made,
}

/// All ranks on their way through their steps.
struct Resolver {
    ranks: Vec<RankSteps>,
    known: Vec<Known>,
    /// Ranks that have come to a call on a communicator, by its number, each with its contribution.
    waiting: BTreeMap<u64, BTreeMap<u32, (i32, Make)>>,
    /// Local sides of inter-communicators that wait for the other: leaders of both, tag; the communicator.
    sides: BTreeMap<(u32, u32, i32), usize>,
    ready: Vec<u32>,
    /// Number of members kept, and the largest possible.
    kept: usize,
    most: usize,
}

/// Communicators of a rank: those that it makes, and those that it has without a record.
type OfRank = (Made, Told);

/// Returns all communicators of a run, and those of each rank.
///
/// # Errors
/// Ranks that make different calls on one communicator, and more members than memory holds.
pub(super) fn resolve(steps: Vec<Steps>) -> Result<(Vec<Known>, Vec<OfRank>), String> {
    let count = steps.len() as u32;
    let bytes = steps.iter().fold(0, |sum: usize, steps| sum.saturating_add(steps.bytes));
    let most = bytes.saturating_mul(4).clamp(FREE_MEMBERS, MOST_MEMBERS);
    let none: Rc<[u32]> = Rc::from([]);
    let one = |id: u32, members: Rc<[u32]>| Known { id: id.into(), members, remote: none.clone(), dims: Rc::from([]) };
    // The world, and one of its own for each rank.
    let mut known = vec![one(1, (0..count).collect())];
    known.extend((0..count).map(|rank| one(rank + 2, Rc::from([rank]))));
    let told = told(&steps, &mut known);
    let ranks = steps.into_iter().zip(&told).map(|(steps, told)| RankSteps {
        steps: steps.of.into_iter(),
        comms: [(COMM_WORLD, Some(0))].into_iter().chain(told.clone()).collect(),
        groups: FxHashMap::default(),
        made: Vec::new(),
    });
    let ranks: Vec<_> = ranks.collect();
    let ready = (0..count).rev().collect();
    let mut all = Resolver { ranks, known, waiting: BTreeMap::new(), sides: BTreeMap::new(), ready, kept: 0, most };
    while let Some(rank) = all.ready.pop() {
        all.advance(rank)?;
    }
    // Calls that not all members came to make communicators without members.
    for rank in &mut all.ranks {
        let rest = rank.steps.by_ref().filter(|step| !matches!(step, Step::Group { .. }));
        let rest = rest.count();
        rank.made.resize(rank.made.len() + rest, None);
    }
    for waiting in all.waiting.values() {
        for &rank in waiting.keys() {
            all.ranks[rank as usize].made.push(None);
        }
    }
    Ok((all.known, all.ranks.into_iter().map(|rank| rank.made).zip(told).collect()))
}

/// Adds the communicators that no record makes, and returns those of each rank. The n-th ones of ranks that know the
/// same size are one, if they are as many and their ranks in it are all of that size.
fn told(steps: &[Steps], known: &mut Vec<Known>) -> Vec<Told> {
    let mut groups: BTreeMap<_, Vec<(i32, u32, i32)>> = BTreeMap::new();
    for (me, steps) in (0..).zip(steps) {
        for (nth, (&number, told)) in steps.told.iter().enumerate() {
            let [Some(size), Some(rank)] = *told else { continue };
            let host = if size as usize == known[0].members.len() { "" } else { &steps.host };
            let alone = if size == 1 { me } else { 0 };
            groups.entry((nth, size, host, alone)).or_default().push((rank, me, number));
        }
    }
    let mut of: Vec<_> = (1..=steps.len()).map(|own| Told::from_iter([(COMM_SELF, Some(own))])).collect();
    for ((_, size, ..), mut members) in groups {
        members.sort_unstable();
        if members.iter().map(|&(rank, ..)| rank).ne(0..size) {
            continue;
        }
        members.iter().for_each(|&(_, me, number)| of[me as usize].extend([(number, Some(known.len()))]));
        let (id, members) = (known.len() as u64 + 1, members.into_iter().map(|(_, me, _)| me).collect());
        known.push(Known { id, members, remote: Rc::from([]), dims: Rc::from([]) });
    }
    of
}

impl Resolver {
    /// Goes on with a rank up to a call that waits for others.
    fn advance(&mut self, me: u32) -> Result<(), String> {
        loop {
            let rank = &mut self.ranks[me as usize];
            match rank.steps.next() {
                None => return Ok(()),
                Some(Step::Unknown { new }) => {
                    rank.comms.insert(new, None);
                    rank.made.push(None);
                }
                Some(Step::Group { name, from, ranks, new }) => {
                    let group = self.group(me, name, from, &ranks);
                    let groups = &mut self.ranks[me as usize].groups;
                    let before = groups.remove(&new);
                    // Members that no other group or communicator has are kept, up to the next use of the number.
                    let own = |group: &Rc<[u32]>| if Rc::strong_count(group) == 1 { group.len() } else { 0 };
                    self.kept += group.as_ref().map_or(0, own);
                    self.kept -= before.as_ref().map_or(0, own).min(self.kept);
                    groups.extend(group.map(|group| (new, group)));
                    self.check()?;
                }
                Some(Step::Make { old, new, make }) => {
                    let Some(at) = rank.comms.get(&old).copied().flatten() else {
                        rank.comms.insert(new, None);
                        rank.made.push(None);
                        continue;
                    };
                    let Known { id, members, remote, .. } = &self.known[at];
                    let waiting = self.waiting.entry(*id).or_default();
                    waiting.insert(me, (new, make));
                    if waiting.len() < members.len() + remote.len() {
                        return Ok(());
                    }
                    return self.make(at);
                }
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let most = self.most;
        match self.kept > most {
            true => Err(format!("communicators and groups of the files have more than {most} members in all")),
            false => Ok(()),
        }
    }

    /// Returns a new group of a rank.
    fn group(&self, me: u32, name: &str, from: [i32; 2], ranks: &[i32]) -> Option<Rc<[u32]>> {
        let rank = &self.ranks[me as usize];
        let of = |number: i32| match number {
            GROUP_EMPTY => Some(Rc::from([])),
            _ => rank.groups.get(&number).cloned(),
        };
        if name == "Comm_group" || name == "Comm_remote_group" {
            let known = &self.known[rank.comms.get(&from[0]).copied().flatten()?];
            return Some(if name == "Comm_group" { known.members.clone() } else { known.remote.clone() });
        }
        let first = of(from[0])?;
        let listed: Vec<usize> = match name {
            "Group_range_incl" | "Group_range_excl" => ranges(ranks, first.len())?,
            _ => ranks.iter().filter_map(|&rank| usize::try_from(rank).ok()).collect(),
        };
        let has = |group: &[u32]| group.iter().copied().collect::<BTreeSet<u32>>();
        match name {
            "Group_incl" | "Group_range_incl" => listed.iter().map(|&at| first.get(at).copied()).collect(),
            "Group_excl" | "Group_range_excl" => {
                let out: BTreeSet<usize> = listed.into_iter().collect();
                Some(first.iter().enumerate().filter(|(at, _)| !out.contains(at)).map(|(_, &rank)| rank).collect())
            }
            _ => {
                let second = of(from[1])?;
                let (in_first, in_second) = (has(&first), has(&second));
                Some(match name {
                    "Group_union" => {
                        first.iter().chain(second.iter().filter(|rank| !in_first.contains(rank))).copied().collect()
                    }
                    "Group_intersection" => first.iter().filter(|rank| in_second.contains(rank)).copied().collect(),
                    _ => first.iter().filter(|rank| !in_second.contains(rank)).copied().collect(),
                })
            }
        }
    }

    /// Makes the communicators of a call to which all members have come.
    fn make(&mut self, at: usize) -> Result<(), String> {
        let old = self.known[at].clone();
        let Some(waiting) = self.waiting.remove(&old.id) else { return Ok(()) };
        let kind = std::mem::discriminant(&waiting.values().next().map_or(Make::Dup, |(_, make)| make.clone()));
        if let Some((rank, _)) = waiting.iter().find(|(_, (_, make))| std::mem::discriminant(make) != kind) {
            let first = waiting.keys().next().copied().unwrap_or_default();
            return Err(format!(
                "ranks {first} and {rank} make different calls on the same communicator, in their order"
            ));
        }
        let of = |rank: &u32| waiting.get(rank).map(|(_, make)| make);
        // Members of each new communicator, on both sides, and its topology.
        let mut new: Vec<NewComm> = Vec::new();
        let none: Rc<[i32]> = Rc::from([]);
        let Some(Some(first)) = old.members.first().map(of) else { return Ok(()) };
        match first {
            Make::Dup => {
                new.push((old.members.to_vec(), old.remote.clone(), old.dims.clone()));
                if !old.remote.is_empty() {
                    new.push((old.remote.to_vec(), old.members.clone(), none));
                }
            }
            Make::Split { .. } => {
                let sides = [&old.members, &old.remote].map(|side| colours(side, &waiting));
                for (own, other) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
                    for (colour, members) in own {
                        let remote = other.get(colour).map_or(&[][..], Vec::as_slice);
                        new.push((members.clone(), remote.into(), none.clone()));
                    }
                }
            }
            Make::Create { .. } => {
                let group = |rank: &u32| match of(rank) {
                    Some(Make::Create { group }) => self.ranks[*rank as usize].groups.get(group).cloned(),
                    _ => None,
                };
                // A rank that is in no group may name the empty one.
                let mut done = BTreeSet::new();
                for rank in old.members.iter() {
                    if let Some(group) = group(rank).filter(|group| group.contains(rank) && !done.contains(rank)) {
                        done.extend(group.iter().copied());
                        new.push((group.to_vec(), Rc::from([]), none.clone()));
                    }
                }
            }
            Make::First { places, dims } => {
                let count = usize::try_from(*places).unwrap_or(usize::MAX).min(old.members.len());
                new.push((old.members[..count].to_vec(), Rc::from([]), Rc::from(&dims[..])));
            }
            Make::Sub { kept } => new.extend(subgrids(&old, kept)),
            Make::Merge { .. } => {
                let high = |side: &[u32]| matches!(side.first().and_then(of), Some(Make::Merge { high: true }));
                let (a, b) = (&old.members, &old.remote);
                // If both say the same, the order is that of the first members.
                let swaps = match (high(a), high(b)) {
                    (true, false) => true,
                    (false, true) => false,
                    _ => b.first() < a.first(),
                };
                let (a, b) = if swaps { (b, a) } else { (a, b) };
                new.push((a.iter().chain(b.iter()).copied().collect(), Rc::from([]), none));
            }
            Make::Inter { .. } => return self.join(at, waiting, &old),
        }
        self.give(&waiting, new)
    }

    /// Gives the ranks of a call their new communicators, and lets them go on.
    fn give(&mut self, waiting: &BTreeMap<u32, (i32, Make)>, new: Vec<NewComm>) -> Result<(), String> {
        let mut of: BTreeMap<u32, usize> = BTreeMap::new();
        let begin = self.known.len();
        for (members, remote, dims) in new {
            let at = self.known.len();
            let other = self.known[begin..].iter().find(|other| *other.members == *remote && !remote.is_empty());
            let id = other.map_or(at as u64 + 1, |other| other.id);
            self.kept += members.len() + 1;
            self.check()?;
            of.extend(members.iter().map(|&member| (member, at)));
            self.known.push(Known { id, members: members.into(), remote, dims });
        }
        for (&rank, (number, _)) in waiting {
            // A rank with a communicator of no number did not get one.
            let at = of.get(&rank).copied().filter(|_| *number != COMM_NULL);
            let state = &mut self.ranks[rank as usize];
            state.comms.insert(*number, at);
            state.made.push(at);
            self.ready.push(rank);
        }
        Ok(())
    }

    /// Joins the local side of an inter-communicator with the other, if that is there.
    fn join(&mut self, at: usize, waiting: BTreeMap<u32, (i32, Make)>, old: &Known) -> Result<(), String> {
        let leader = waiting.values().next().and_then(|(_, make)| match make {
            Make::Inter { leader, .. } => old.members.get(usize::try_from(*leader).ok()?).copied(),
            _ => None,
        });
        let found = leader.and_then(|leader| match waiting.get(&leader) {
            Some((_, Make::Inter { peers, other, tag, .. })) => {
                let peers = &self.known[self.ranks[leader as usize].comms.get(peers).copied().flatten()?];
                Some((leader, *peers.members.get(usize::try_from(*other).ok()?)?, *tag))
            }
            _ => None,
        });
        let Some((here, there, tag)) = found else { return self.give(&waiting, Vec::new()) };
        let Some(side) = self.sides.remove(&(there, here, tag)) else {
            self.sides.insert((here, there, tag), at);
            self.waiting.insert(old.id, waiting);
            return Ok(());
        };
        let members = self.known[side].members.clone();
        let mut all = self.waiting.remove(&self.known[side].id).unwrap_or_default();
        all.extend(waiting);
        let none: Rc<[i32]> = Rc::from([]);
        let here = (old.members.to_vec(), members.clone(), none.clone());
        self.give(&all, vec![here, (members.to_vec(), old.members.clone(), none)])
    }
}

/// Returns the members of a side by colour, each in the order of key and old rank.
fn colours(side: &[u32], waiting: &BTreeMap<u32, (i32, Make)>) -> BTreeMap<i32, Vec<u32>> {
    let mut colours: BTreeMap<i32, Vec<(i32, usize, u32)>> = BTreeMap::new();
    for (at, rank) in side.iter().enumerate() {
        if let Some((new, Make::Split { colour, key })) = waiting.get(rank)
            && *new != COMM_NULL
        {
            colours.entry(*colour).or_default().push((*key, at, *rank));
        }
    }
    let sorted = colours.into_iter().map(|(colour, mut members)| {
        members.sort_unstable();
        (colour, members.into_iter().map(|(_, _, rank)| rank).collect())
    });
    sorted.collect()
}

/// Returns the parts of a Cartesian communicator that keep some dimensions.
fn subgrids(old: &Known, kept: &[i32]) -> Vec<NewComm> {
    let is_kept = |dim: usize| kept.get(dim).is_some_and(|&kept| kept != 0);
    let dims: Rc<[i32]> = old.dims.iter().enumerate().filter(|&(dim, _)| is_kept(dim)).map(|(_, &dim)| dim).collect();
    let mut parts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (at, &rank) in old.members.iter().enumerate() {
        // Coordinates in row-major order, of which those left out make the number of the part.
        let (mut rest, mut part, mut factor) = (at, 0_usize, 1_usize);
        for (dim, &extent) in old.dims.iter().enumerate().rev() {
            let extent = extent.max(1) as usize;
            if !is_kept(dim) {
                part += rest % extent * factor;
                factor = factor.saturating_mul(extent);
            }
            rest /= extent;
        }
        parts.entry(part).or_default().push(rank);
    }
    parts.into_values().map(|members| (members, Rc::from([]), dims.clone())).collect()
}

/// Returns the ranks of ranges, each with first, last and stride; `None` if there are more than a group has.
fn ranges(list: &[i32], most: usize) -> Option<Vec<usize>> {
    let mut ranks = Vec::new();
    for range in list.chunks_exact(3) {
        let (first, last, stride) = (i64::from(range[0]), i64::from(range[1]), i64::from(range[2]));
        let mut rank = first;
        while stride > 0 && rank <= last || stride < 0 && rank >= last {
            ranks.push(usize::try_from(rank).ok()?);
            if ranks.len() > most {
                return None;
            }
            rank += stride;
        }
    }
    Some(ranks)
}
