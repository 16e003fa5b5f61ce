//! Program data from a program: ranks are folded, equal ranks are grouped, and loops are named.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::fold::{Element, Folder, Form, Forms};
use super::sequence::{self, CountTable, Key};
use super::{Base, Group, Lines, Loop, Meaning, Number, Operation, OperationKind, Peer, ProgramData, Statement};
use crate::diagnostic::Diagnostic;
use crate::program::{Communicator, Program};
use crate::units::Time;

/// Program in its two halves: operations and times.
#[derive(Clone, PartialEq, Debug)]
pub struct Folded {
    /// Operations of the ranks.
    pub data: ProgramData,
    /// Times of the blocks of each rank in the order in which they ran, ending with the block after the last
    /// operation.
    pub times: Vec<Vec<Time>>,
}

/// Folds a program.
///
/// Cost: near linear in the number of operations.
///
/// # Errors
/// The operations of a rank are not a sequence.
pub fn fold(program: &Program) -> Result<Folded, Diagnostic> {
    let ranks = program.ranks();
    let mut forms: Forms<Key> = Forms::new();
    let mut counts = CountTable::default();
    let mut times = Vec::with_capacity(ranks as usize);
    let mut groups: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut gathered: Vec<RankGroup> = Vec::new();
    let sizes: Vec<u32> = program.communicators.iter().map(Communicator::size).collect();
    let moduli = |(_, what): &Key| -> Box<[u32]> {
        let modulus = |meaning: &Meaning| match (meaning, what) {
            (Meaning::Peer, _) => ranks,
            (Meaning::Root, OperationKind::Collective { comm, .. }) => sizes.get(*comm as usize).copied().unwrap_or(0),
            _ => 0,
        };
        what.meanings().iter().map(modulus).collect()
    };
    for (rank, _) in program.iter() {
        let mut spent = Vec::new();
        let mut leaves = Vec::new();
        let last = sequence::leaves(program, rank, &mut counts, |key, numbers, gap| {
            leaves.push((forms.leaf(key, moduli), numbers));
            spent.push(gap);
        })?;
        spent.push(last);
        spent.shrink_to_fit();
        times.push(spent);
        let mut folder = Folder::new(&mut forms);
        for (form, numbers) in leaves {
            folder.push(form, numbers);
        }
        let elements = folder.finish();
        let key: Vec<u32> = elements.iter().map(|element| element.form).collect();
        let group = *groups.entry(key).or_insert_with_key(|key| {
            gathered.push(RankGroup { forms: key.clone(), ranks: Vec::new(), numbers: Vec::new() });
            gathered.len() - 1
        });
        let of_rank = &mut gathered[group];
        of_rank.ranks.push(rank.0);
        of_rank.numbers.push(elements.into_iter().flat_map(|Element { numbers, .. }| numbers).collect());
    }
    let groups = gathered.iter().map(|group| group.build(&forms, ranks)).collect();
    let mut data = ProgramData {
        lines: Lines::default(),
        notes: Vec::new(),
        ranks,
        sites: program.sites.clone(),
        regions: program.regions.clone(),
        communicators: program.communicators[1..].to_vec(),
        counts: counts.listed,
        loops: 0,
        groups,
    };
    name_loops(&mut data);
    Ok(Folded { data, times })
}

/// Ranks whose folded sequences have the same forms.
struct RankGroup {
    forms: Vec<u32>,
    ranks: Vec<u32>,
    /// Numbers of each rank, one after another.
    numbers: Vec<Vec<i64>>,
}

/// Loop around the statement that is being built.
struct EnclosingLoop<'a> {
    steps: &'a [i64],
    /// Position of the first number of its body.
    start: usize,
}

impl RankGroup {
    fn build(&self, forms: &Forms<Key>, ranks: u32) -> Group {
        let mut at = 0;
        let mut around = Vec::new();
        let body = self.forms.iter().map(|&form| self.step(forms, ranks, form, &mut at, &mut around)).collect();
        Group { ranks: self.ranks.clone(), body }
    }

    fn step<'a>(
        &self,
        forms: &'a Forms<Key>,
        ranks: u32,
        form: u32,
        at: &mut usize,
        around: &mut Vec<EnclosingLoop<'a>>,
    ) -> Statement {
        match forms.form(form) {
            Form::Leaf((site, what)) => {
                let mut peer = Peer::Relative;
                let numbers = what.meanings().iter().map(|&meaning| {
                    let number = self.number(*at, around);
                    *at += 1;
                    if meaning == Meaning::Peer { self.peer(number, ranks, &mut peer) } else { number }
                });
                let numbers = numbers.collect();
                Statement::Op(Operation { site: *site, what: what.clone(), peer, numbers })
            }
            Form::Loop { body, steps } => {
                let count = self.number(*at, around);
                *at += 1;
                around.push(EnclosingLoop { steps, start: *at });
                let body = body.iter().map(|&part| self.step(forms, ranks, part, at, around)).collect();
                around.pop();
                Statement::Loop(Loop { name: 0, count, body })
            }
        }
    }

    fn number(&self, at: usize, around: &[EnclosingLoop<'_>]) -> Number {
        let first = self.numbers[0][at];
        let same = self.numbers.iter().all(|numbers| numbers[at] == first);
        let base = match same {
            true => Base::Same(first),
            false => Base::Each(self.numbers.iter().map(|numbers| numbers[at]).collect()),
        };
        let steps = around.iter().enumerate().filter_map(|(depth, around)| {
            let step = around.steps[at - around.start];
            (step != 0).then_some((depth as u8, step))
        });
        Number { base, steps: steps.collect::<SmallVec<_>>() }
    }

    /// Rewrites the peer of a message in another form, if that form is the same for all ranks.
    fn peer(&self, number: Number, ranks: u32, peer: &mut Peer) -> Number {
        let Base::Each(distances) = &number.base else { return number };
        let peers = || {
            self.ranks.iter().zip(distances).map(|(&rank, distance)| {
                let peer = (i64::from(rank) + distance).rem_euclid(i64::from(ranks));
                (i64::from(rank), peer)
            })
        };
        let Some((rank, first)) = peers().next() else { return number };
        if peers().all(|(_, other)| other == first) {
            *peer = Peer::Absolute;
            return Number { base: Base::Same(first), steps: number.steps };
        }
        if number.steps.is_empty() && peers().all(|(rank_of, other)| rank_of ^ other == rank ^ first) {
            *peer = Peer::Xor;
            return Number::same(rank ^ first);
        }
        number
    }
}

/// Names loops: loops of several groups that are the same loop of the program get the same name.
///
/// Two loops belong together if they stand at the same place of loops that belong together, and have the same
/// number of iterations and calls in common. The calls may be in common by way of other ranks: a corner of a
/// stencil only receives, the opposite corner only sends. Of several such loops, the first belongs with the
/// first.
fn name_loops(data: &mut ProgramData) {
    let mut joined = SiteSets::default();
    for group in &data.groups {
        joined.join(&group.body, 0);
    }
    type Place = (usize, u32, u32, i64);
    let mut names: FxHashMap<(Place, u32), u32> = FxHashMap::default();
    fn name(
        steps: &mut [Statement],
        depth: usize,
        parent: u32,
        joined: &mut SiteSets,
        seen: &mut FxHashMap<Place, u32>,
        names: &mut FxHashMap<(Place, u32), u32>,
    ) {
        for step in steps {
            let Statement::Loop(found) = step else { continue };
            let count = if let Base::Same(count) = found.count.base { count } else { -1 };
            let place = (depth, parent, joined.of(&found.body, depth), count);
            let ordinal = seen.entry(place).or_default();
            let key = (place, *ordinal);
            *ordinal += 1;
            let next = names.len() as u32;
            found.name = *names.entry(key).or_insert(next);
            name(&mut found.body, depth + 1, found.name, joined, seen, names);
        }
    }
    for group in &mut data.groups {
        name(&mut group.body, 0, u32::MAX, &mut joined, &mut FxHashMap::default(), &mut names);
    }
    data.loops = names.len() as u32;
}

/// Sets of call sites that loops of one depth have in common, as a union-find.
#[derive(Default)]
struct SiteSets {
    /// For a depth and a site, another site of the same set.
    parent: FxHashMap<(usize, u32), u32>,
}

impl SiteSets {
    fn find(&mut self, depth: usize, site: u32) -> u32 {
        let mut site = site;
        while let Some(&parent) = self.parent.get(&(depth, site)) {
            site = parent;
        }
        site
    }

    fn join(&mut self, steps: &[Statement], depth: usize) {
        for step in steps {
            let Statement::Loop(found) = step else { continue };
            if let Some(first) = first_site(&found.body) {
                self.join_all(&found.body, depth, first);
            }
            self.join(&found.body, depth + 1);
        }
    }

    fn join_all(&mut self, steps: &[Statement], depth: usize, with: u32) {
        for step in steps {
            match step {
                Statement::Op(op) if op.site != 0 => {
                    let (a, b) = (self.find(depth, with), self.find(depth, op.site));
                    if a != b {
                        self.parent.insert((depth, a.max(b)), a.min(b));
                    }
                }
                Statement::Op(_) => {}
                Statement::Loop(inner) => self.join_all(&inner.body, depth, with),
            }
        }
    }

    fn of(&mut self, body: &[Statement], depth: usize) -> u32 {
        first_site(body).map_or(0, |site| self.find(depth, site))
    }
}

fn first_site(steps: &[Statement]) -> Option<u32> {
    steps.iter().find_map(|step| match step {
        Statement::Op(op) => (op.site != 0).then_some(op.site),
        Statement::Loop(inner) => first_site(&inner.body),
    })
}
