//! Several pieces of advice in one program: which are compatible, their gain, and its explanation.
//!
//! 1. In the order of gain, each piece is taken that keeps all dependences with those before it ([`super::edit`]). A
//!    piece that crosses another is left out, with the reason. This costs no simulation.
//! 2. All pieces taken are simulated as one program. If that is slower than the best piece alone, they are added one by
//!    one, each that does not make the program slower.
//! 3. The gain of all should be the sum of the single gains or less, since pieces hide behind the same time. If it is
//!    more, some pieces pay only in company: two ranks that wait for each other gain nothing while one is still late.
//!    These pieces are searched for as a smallest group that saves more than its parts,
//!    ```text
//!    gain(group) - sum of gain(piece) = the excess, nearly all of it
//!    ```
//!    and shown next to the sum. If no small group is found, the gain is not explained and not shown: pieces are left
//!    out, the least first, until it is.
//!
//! The number of simulations is limited (`Trials`), except for a *thorough* judge. Explanations that need
//! more are not found.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use hayase_advice::model::Change;
use serde::Serialize;

use super::edit::Changed;
use super::gain::{Judge, Judged, LEAST_GAIN, Simulated, scenario, with_program};

/// Largest number of pieces that a thorough judge adds one by one.
const MOST_TRIED: usize = 40;

/// Largest number of pieces that any other judge adds one by one.
const FEW_TRIED: usize = 5;

/// Largest number of simulations of several pieces, unless the judge is thorough.
const TRIALS: usize = 7;

/// Number of these simulations reserved for leaving out unexplained pieces.
const RESERVED_TRIALS: usize = 2;

/// Reason for a missing simulation: the limit was reached.
const NOT_TRIED: &str = "it was not tried";

/// Largest number of pieces in a group that explains a gain.
const MAX_GROUP: usize = 4;

/// Largest number of groups that explain a gain.
const GROUPS: usize = 3;

/// Smallest share of the excess that the groups must explain.
const MIN_EXPLAINED: f64 = 0.9;

/// Several changes in one program.
#[derive(Clone, PartialEq, Debug)]
pub struct Together {
    /// Simulated run of the combined program.
    pub changed: Simulated,
    /// Findings that are included, by id, in the order in which they were taken.
    pub taken: Vec<String>,
    /// Findings that are left out, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Sum of the times that each included finding saves alone \[s\].
    pub sum_s: f64,
    /// Groups that explain why all together save more than their sum.
    pub only_together: Vec<Group>,
}

/// Findings that save more together than the sum of each alone.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Group {
    /// Ids of the findings, in the order of their gains.
    pub findings: Vec<String>,
    /// Time that they save together \[s\].
    pub gain_s: f64,
    /// Time that each saves alone \[s\].
    pub alone_s: Vec<f64>,
}

impl Group {
    /// Lists the findings in words, without times.
    pub fn names(&self) -> String {
        match self.findings.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            all => all.join(", "),
        }
    }
}

/// Finding and the time it saves alone.
#[derive(Clone, Copy)]
struct Piece<'j> {
    /// Index among the findings that save time.
    number: usize,
    judged: &'j Judged,
    saved_s: f64,
}

/// Simulated programs of several pieces, and the number of simulations left.
struct Trials<'t> {
    judge: &'t Judge<'t>,
    base: &'t Simulated,
    left: Cell<usize>,
    /// Results by the numbers of their pieces, ascending.
    known: RefCell<BTreeMap<Vec<usize>, Result<Simulated, String>>>,
}

impl<'t> Trials<'t> {
    fn new(judge: &'t Judge<'t>, base: &'t Simulated) -> Self {
        let left = if judge.thorough { usize::MAX } else { TRIALS };
        Self { judge, base, left: Cell::new(left), known: RefCell::default() }
    }

    /// Simulates all pieces at once, in the order of their gains; a single piece is known already.
    ///
    /// `untouched` simulations are held in reserve.
    fn all(&self, pieces: &[Piece<'_>], untouched: usize) -> Result<Simulated, String> {
        if let [only] = pieces {
            return only.judged.changed.clone();
        }
        let mut pieces = pieces.to_vec();
        pieces.sort_unstable_by_key(|piece| piece.number);
        let numbers: Vec<usize> = pieces.iter().map(|piece| piece.number).collect();
        if let Some(known) = self.known.borrow().get(&numbers) {
            return known.clone();
        }
        if self.left.get() <= untouched {
            return Err(NOT_TRIED.to_owned());
        }
        self.left.set(self.left.get() - 1);
        let simulated = self.judge.all(self.base, &pieces);
        self.known.borrow_mut().insert(numbers, simulated.clone());
        simulated
    }

    /// Returns the time that the pieces save together \[s\].
    fn saved(&self, pieces: &[Piece<'_>], untouched: usize) -> Option<f64> {
        self.all(pieces, untouched).ok().map(|changed| self.base.makespan_s - changed.makespan_s)
    }
}

impl Judge<'_> {
    /// Combines the findings that save time in one program.
    ///
    /// Cost: one simulation, or more if pieces conflict or save more than their sum, [`TRIALS`] at most.
    pub(super) fn together(&self, base: &Simulated, judged: &[Judged]) -> Option<Together> {
        let saves = |judged| Judged::saved_s(judged, base).filter(|&saved| saved > 0.0);
        let good = judged.iter().filter_map(|judged| Some((judged, saves(judged)?)));
        let good: Vec<Piece<'_>> =
            good.enumerate().map(|(number, (judged, saved_s))| Piece { number, judged, saved_s }).collect();
        if good.len() < 2 {
            return None;
        }
        let mut left_out = Vec::new();
        let trials = Trials::new(self, base);
        let (taken, changed) = trials.add_up(&self.compatible(good, &mut left_out), &mut left_out)?;
        let (taken, changed, only_together) = trials.explained(taken, changed, &mut left_out)?;
        let sum_s = taken.iter().map(|piece| piece.saved_s).sum();
        let taken = taken.into_iter().map(|piece| piece.judged.finding.id.clone()).collect();
        Some(Together { changed, taken, left_out, sum_s, only_together })
    }

    /// Returns the pieces that keep all dependences with those before them.
    fn compatible<'j>(&self, good: Vec<Piece<'j>>, left_out: &mut Vec<(String, String)>) -> Vec<Piece<'j>> {
        let mut taken: Vec<Piece<'j>> = Vec::new();
        let mut changed = Changed::new(&self.replay.work().program, self.copy);
        // Finding of each change of the program, in their order.
        let mut changes: Vec<&str> = Vec::new();
        for piece in good {
            let Judged { finding, placement, .. } = piece.judged;
            if let Change::Program { edits, .. } = &finding.change {
                if let Err(refused) = changed.add(edits, *placement) {
                    let with = refused.with.and_then(|with| changes.get(with));
                    let beside = with.map_or_else(String::new, |id| format!("beside {id}, "));
                    left_out.push((finding.id.clone(), beside + &refused.why));
                    // The refused change may be half applied, so the program is built anew.
                    changed = Changed::new(&self.replay.work().program, self.copy);
                    for Piece { judged, .. } in &taken {
                        if let Change::Program { edits, .. } = &judged.finding.change {
                            // These changes were compatible before.
                            let _ = changed.add(edits, judged.placement);
                        }
                    }
                    continue;
                }
                changes.push(&finding.id);
            }
            taken.push(piece);
        }
        taken
    }

    /// Simulates all pieces at once.
    fn all(&self, base: &Simulated, pieces: &[Piece<'_>]) -> Result<Simulated, String> {
        let mut changed = Changed::new(&self.replay.work().program, self.copy);
        let mut replay = self.replay.clone();
        for Piece { judged, .. } in pieces {
            match &judged.finding.change {
                Change::None => {}
                Change::Program { edits, .. } => {
                    changed.add(edits, judged.placement).map_err(|refused| refused.why)?;
                }
                Change::Scenario(change) => replay = scenario(&replay, change)?,
            }
        }
        self.play(&with_program(&replay, changed.build()?)?, base.unreceived)
    }
}

impl Trials<'_> {
    /// Returns the pieces that save more and more, with their program: all at once if that works, else one by
    /// one.
    fn add_up<'j>(
        &self,
        good: &[Piece<'j>],
        left_out: &mut Vec<(String, String)>,
    ) -> Option<(Vec<Piece<'j>>, Simulated)> {
        let (first, rest) = good.split_first()?;
        let mut changed = first.judged.changed.clone().ok()?;
        match self.all(good, 0) {
            Ok(all) if all.makespan_s <= changed.makespan_s => return Some((good.to_vec(), all)),
            _ => {}
        }
        let mut taken = vec![*first];
        let most = if self.judge.thorough { MOST_TRIED } else { FEW_TRIED };
        for &piece in rest.iter().take(most) {
            taken.push(piece);
            let why = match self.all(&taken, 0) {
                Ok(all) if all.makespan_s <= changed.makespan_s => {
                    changed = all;
                    continue;
                }
                Ok(_) => "it brings nothing beside those before it".to_owned(),
                Err(why) => why,
            };
            taken.pop();
            left_out.push((piece.judged.finding.id.clone(), why));
        }
        let more = rest.iter().skip(most);
        left_out.extend(more.map(|piece| (piece.judged.finding.id.clone(), NOT_TRIED.to_owned())));
        Some((taken, changed))
    }

    /// Returns the pieces that save no more than their sum, or whose excess a few groups explain.
    fn explained<'j>(
        &self,
        mut taken: Vec<Piece<'j>>,
        mut changed: Simulated,
        left_out: &mut Vec<(String, String)>,
    ) -> Option<(Vec<Piece<'j>>, Simulated, Vec<Group>)> {
        let kept_back = if self.judge.thorough { 0 } else { RESERVED_TRIALS };
        let saved = |pieces: &[Piece<'j>]| self.saved(pieces, kept_back);
        let least = LEAST_GAIN * self.base.makespan_s;
        let all = self.base.makespan_s - changed.makespan_s;
        let alone: Vec<f64> = taken.iter().map(|piece| piece.saved_s).collect();
        let of = |numbers: &[usize]| numbers.iter().map(|&number| taken[number]).collect::<Vec<_>>();
        if let Some(groups) = groups(&alone, all, least, &|numbers| saved(&of(numbers))) {
            let groups = groups.iter().map(|group| self.group(&of(group))).collect();
            return Some((taken, changed, groups));
        }
        // Finds the longest prefix that saves no more than its sum.
        let (mut low, mut high) = (1, taken.len());
        while high - low > 1 {
            let half = low.midpoint(high);
            let sum: f64 = taken[..half].iter().map(|piece| piece.saved_s).sum();
            match self.all(&taken[..half], 0) {
                Ok(all) if self.base.makespan_s - all.makespan_s <= sum + least => (low, changed) = (half, all),
                _ => high = half,
            }
        }
        for piece in taken.drain(low..) {
            let why =
                "with it they would save more than each does alone, and no few of them were found to explain that";
            left_out.push((piece.judged.finding.id.clone(), why.to_owned()));
        }
        if low == 1 {
            changed = taken[0].judged.changed.clone().ok()?;
        }
        Some((taken, changed, Vec::new()))
    }

    fn group(&self, pieces: &[Piece<'_>]) -> Group {
        let gain_s = self.saved(pieces, 0).unwrap_or(0.0);
        Group {
            findings: pieces.iter().map(|piece| piece.judged.finding.id.clone()).collect(),
            gain_s,
            alone_s: pieces.iter().map(|piece| piece.saved_s).collect(),
        }
    }
}

/// Returns groups of pieces that explain why `all` save more than the sum of each `alone`.
///
/// There are none if the excess is at most `least`; `None` if no small groups explain it.
fn groups(alone: &[f64], all: f64, least: f64, saved: &impl Fn(&[usize]) -> Option<f64>) -> Option<Vec<Vec<usize>>> {
    let excess = |pieces: &[usize]| {
        let sum: f64 = pieces.iter().map(|&piece| alone[piece]).sum();
        saved(pieces).map_or(0.0, |saved| saved - sum)
    };
    let whole = all - alone.iter().sum::<f64>();
    let mut left = whole;
    let mut open: Vec<usize> = (0..alone.len()).collect();
    let mut groups = Vec::new();
    while left > least.max((1.0 - MIN_EXPLAINED) * whole) {
        if groups.len() == GROUPS {
            return None;
        }
        let mut group = smallest(&open, least, &excess)?;
        left -= excess(&group);
        open.retain(|piece| !group.contains(piece));
        group.sort_unstable();
        groups.push(group);
    }
    Some(groups)
}

/// Returns a few pieces with half of the excess of all.
///
/// The last piece of the shortest prefix with this excess belongs to the group. With the group in front, the
/// shortest prefix of the pieces before it gives the next one, until the group alone has the excess.
///
/// Cost: log2(n) simulations for each piece of the group.
fn smallest(open: &[usize], least: f64, excess: &impl Fn(&[usize]) -> f64) -> Option<Vec<usize>> {
    let all = excess(open);
    let enough = all / 2.0;
    let mut group: Vec<usize> = Vec::new();
    let mut rest = open.to_vec();
    if all <= least {
        return None;
    }
    while group.len() < 2 || excess(&group) < enough {
        if group.len() == MAX_GROUP || rest.is_empty() {
            return None;
        }
        let (mut low, mut high) = (0, rest.len());
        while high - low > 1 {
            let half = low.midpoint(high);
            if excess(&[&group[..], &rest[..half]].concat()) >= enough { high = half } else { low = half }
        }
        group.push(rest[high - 1]);
        rest.truncate(high - 1);
    }
    Some(group)
}

#[cfg(test)]
mod tests;
