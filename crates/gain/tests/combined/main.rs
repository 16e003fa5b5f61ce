//! Tests that proven advice, alone and in any combination, keeps every dependence of random small programs.
//! The check does not know how the advice was found ([`dependences`]).
//!
//! `COMBINED_FIRST=2000 COMBINED_CASES=20000 cargo test combined` tests more cases.

mod dependences;
mod programs;
#[path = "../../../advice/tests/it/common/mod.rs"]
mod recorded;

use hayase::program::Program;
use hayase::trace::ToProgram;
use hayase::trace::calls::Calls;
use hayase_advice::model::{Action, Certainty, Change, Edit, Finding};
use hayase_advice::search::{Options, put_together, search_rank};
use hayase_advice::stream::Steps;
use hayase_gain::edit::{Changed, Placement, Refused};
use hayase_trace::{Event, Reader};

use programs::Dice;
use recorded::{Recorded, names};

/// Returns the findings and the recorded program.
fn advised(ranks: &[Recorded]) -> (Vec<Finding>, Program) {
    let files: Vec<_> = (0..).zip(ranks).map(|(rank, one)| one.files(rank, ranks.len() as u32)).collect();
    let options = Options::default();
    let steps = |(stream, accesses): &'_ (Vec<u8>, Vec<u8>)| {
        // The streams are leaked: some megabytes for the process of the test.
        let (stream, accesses): (&'static [u8], &'static [u8]) = (stream.clone().leak(), accesses.clone().leak());
        Steps::new(stream, Some(accesses), &names)
    };
    let found = files.iter().map(|files| search_rank(steps(files), &options).unwrap()).collect();
    let advice = put_together(found, files.iter().map(steps).collect(), &options).unwrap();
    let mut program = ToProgram::new("random", "event").at_every_call();
    for (rank, (stream, _)) in (0..).zip(&files) {
        let mut reader = Reader::new(stream.as_slice());
        let mut place = 0;
        while let Some(item) = reader.next().unwrap() {
            place += u64::from(matches!(item, hayase_trace::Item::Event(_)));
            program.item(rank, place, item).unwrap();
        }
    }
    (advice.findings, program.finish().unwrap())
}

/// Counts of findings and their combinations.
#[derive(Default, Debug)]
struct Counts {
    findings: u64,
    alone: u64,
    together: u64,
    crossing: u64,
    merges: u64,
    replaced: u64,
}

/// Program and its proven advice.
struct Case {
    ranks: Vec<Recorded>,
    program: Program,
    proven: Vec<Vec<Edit>>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let ranks = programs::program(&mut Dice(seed));
        let (findings, program) = advised(&ranks);
        let proven = findings
            .into_iter()
            .filter(|finding| finding.certainty() == Certainty::Proven)
            .filter_map(|finding| match finding.change {
                Change::Program { edits, .. } if !edits.is_empty() => Some(edits),
                _ => None,
            })
            .collect();
        Self { ranks, program, proven }
    }

    /// Applies as many of the changes as are compatible, checks the result, and counts those that cross
    /// others.
    fn check(&self, wanted: &[(usize, Placement)], edits: &[Vec<Edit>]) -> Result<u64, String> {
        let mut taken: Vec<(usize, Placement)> = Vec::new();
        let mut crossing = 0;
        for &one in wanted {
            taken.push(one);
            if let Err(refused) = self.changed(&taken, edits) {
                taken.pop();
                crossing += u64::from(refused.with.is_some());
            }
        }
        let after = self.changed(&taken, edits).unwrap().build()?;
        let made: Vec<Edit> = taken.iter().flat_map(|&(number, _)| edits[number].iter().cloned()).collect();
        let places = dependences::places(&made, &self.ranks);
        for (rank, recorded) in (0..).zip(&self.ranks) {
            let all = self.ranks.len() as u64;
            dependences::broken(&self.program, &after, rank, recorded, all, &places)?;
        }
        dependences::unequal(&after)?;
        Ok(crossing)
    }

    /// Writes the calls, the accesses before each, and the edits.
    fn described(&self) -> String {
        let mut text = String::new();
        for (rank, one) in self.ranks.iter().enumerate() {
            for (number, (accesses, event)) in one.intervals.iter().zip(&one.events).enumerate() {
                let accesses: Vec<String> = accesses
                    .iter()
                    .map(|one| format!("{}{}", if one.write { "w" } else { "r" }, one.address))
                    .collect();
                let Event { call, peer, tag, bytes, buffer, buffer2, requests, .. } = event;
                text += &format!(
                    "{rank}.{number}: {}; {call:?} peer {peer} tag {tag} {bytes} B {buffer} {buffer2} {requests:?}\n",
                    accesses.join(" ")
                );
            }
        }
        for (number, edits) in self.proven.iter().enumerate() {
            text += &edits.iter().map(|edit| format!("{number}: {edit:?}\n")).collect::<String>();
        }
        text
    }

    fn changed(&self, wanted: &[(usize, Placement)], edits: &[Vec<Edit>]) -> Result<Changed<'_>, Refused> {
        // Copies take no time, because calculations stand for accesses.
        let mut changed = Changed::new(&self.program, 0.0);
        for &(number, placement) in wanted {
            changed.add(&edits[number], placement)?;
        }
        Ok(changed)
    }

    /// Returns the combinations to try: each alone with every placement, pairs, and all in some order.
    fn combinations(&self, dice: &mut Dice) -> Vec<Vec<(usize, Placement)>> {
        let count = self.proven.len();
        let mut all: Vec<Vec<(usize, Placement)>> = Vec::new();
        for number in 0..count {
            all.extend(Placement::ALL.map(|placement| vec![(number, placement)]));
        }
        if count < 2 {
            return all;
        }
        let any = |dice: &mut Dice| (dice.roll(count as u64) as usize, Placement::ALL[dice.roll(4) as usize]);
        for _ in 0..12 {
            let pair = vec![any(dice), any(dice)];
            if pair[0].0 != pair[1].0 {
                all.push(pair);
            }
        }
        for _ in 0..4 {
            let mut order: Vec<usize> = (0..count).collect();
            for i in 0..count {
                order.swap(i, dice.roll(count as u64) as usize);
            }
            all.push(order.into_iter().map(|number| (number, any(dice).1)).collect());
        }
        all
    }
}

fn cases() -> u64 {
    std::env::var("COMBINED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}

#[test]
fn proven_advice_keeps_every_dependence_alone_and_together() {
    let mut counts = Counts::default();
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first: u64 = number("COMBINED_FIRST").unwrap_or(0);
    for seed in first..first + cases() {
        let case = Case::new(seed);
        counts.findings += case.proven.len() as u64;
        for edits in &case.proven {
            counts.merges += u64::from(edits.iter().any(|edit| matches!(edit.action, Action::Merge { .. })));
            counts.replaced += u64::from(edits.iter().any(|edit| matches!(edit.action, Action::Replace { .. })));
        }
        for wanted in case.combinations(&mut Dice(!seed)) {
            match case.check(&wanted, &case.proven) {
                Ok(crossing) => {
                    let one = wanted.len() == 1;
                    counts.alone += u64::from(one);
                    counts.together += u64::from(!one);
                    counts.crossing += crossing;
                }
                Err(why) => panic!("seed {seed}, {wanted:?}: {why}\n{}", case.described()),
            }
        }
    }
    // The test has seen enough cases of each kind.
    let Counts { findings, alone, together, crossing, merges, replaced } = counts;
    let cases = cases();
    assert!(findings > cases && alone > 4 * cases && together > 4 * cases, "{counts:?}");
    assert!(crossing > cases / 10 && merges > cases / 20 && replaced > cases / 100, "{counts:?}");
}

#[test]
fn without_what_each_needs_combinations_break_dependences_and_the_check_sees_it() {
    let mut broken = (0, 0);
    for seed in 0..cases().min(200) {
        let case = Case::new(seed);
        let mut edits = case.proven.clone();
        for edit in edits.iter_mut().flatten() {
            match &mut edit.action {
                Action::Overlap { needs, .. } | Action::Merge { needs, .. } => needs.clear(),
                Action::Replace { needs, .. } => needs.clear(),
            }
        }
        for wanted in case.combinations(&mut Dice(!seed)) {
            let wrong = case.check(&wanted, &edits).is_err();
            broken.0 += u64::from(wrong && wanted.len() == 1);
            broken.1 += u64::from(wrong && wanted.len() > 1);
        }
    }
    // In a loop, a repeated piece of advice can break a dependence alone.
    assert!(broken.0 > 0 && broken.1 > 20, "{broken:?}");
}
