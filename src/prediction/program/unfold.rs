//! Programs that can be played, from program data and times.

use super::blocks::Blocks;
use super::size::{self, MOST_OPERATIONS};
use super::{Group, Meaning, Operation, OperationKind, Peer, ProgramData, sequence};
use crate::diagnostic::Diagnostic;
use crate::program::caveats::Caveats;
use crate::program::{
    ANY_SOURCE, ANY_TAG, After, Collective, Communicator, Counts, Op, OpKind, Program, ProgramBuilder, SequenceBuilder,
};
use crate::units::Time;

/// Source of the times of blocks.
pub trait Timing {
    /// Selects the rank of the blocks that follow.
    fn rank(&mut self, rank: u32);

    /// Returns the time of a block (from 0) when it runs for the n-th time (from 0) on this rank.
    fn time(&mut self, block: u32, execution: u64) -> Time;
}

/// Timing in which every block takes no time.
impl Timing for () {
    fn rank(&mut self, _rank: u32) {}

    fn time(&mut self, _block: u32, _execution: u64) -> Time {
        Time::ZERO
    }
}

/// Builds a program from program data and times. `name` is the file's name, for messages; the place of an
/// operation is the number of the block that it ends.
///
/// # Errors
/// An impossible number: a size below 0, or a request that was never made.
pub fn unfold(
    data: &ProgramData,
    blocks: &Blocks,
    timing: &mut impl Timing,
    name: &str,
) -> Result<Program, Vec<Diagnostic>> {
    size::check(data).map_err(|diagnostic| vec![diagnostic])?;
    let mut program = ProgramBuilder::new(data.ranks);
    let file = program.file(name);
    program.places_in("block");
    for group in &data.communicators {
        if let Communicator::Group(ranks) = group {
            program.communicator(ranks.clone());
        }
    }
    let sites: Vec<u32> = data.sites.iter().map(|site| program.site(site)).collect();
    let regions: Vec<u32> = data.regions.iter().map(|region| program.region(region)).collect();
    let mut mistakes = Vec::new();
    for (number, group) in data.groups.iter().enumerate() {
        for (position, &rank) in group.ranks.iter().enumerate() {
            let ops = program.sequence(rank);
            let mut unfolding = Unfolding {
                data,
                sites: &sites,
                regions: &regions,
                rank,
                position,
                program: &mut program,
                ops,
                started: Vec::new(),
                called: None,
                collective: None,
            };
            unfolding.ops.from_file(file);
            match unfolding.group((number, group), name, blocks, timing) {
                Ok(()) => {
                    let ops = unfolding.ops;
                    program.finish_rank(ops);
                }
                Err(mistake) => mistakes.push(mistake),
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(program.build()?.with_caveats(Caveats::of_notes(&data.notes)))
}

struct Unfolding<'a> {
    data: &'a ProgramData,
    sites: &'a [u32],
    regions: &'a [u32],
    rank: u32,
    position: usize,
    program: &'a mut ProgramBuilder,
    ops: SequenceBuilder,
    /// Positions of the operations that made requests.
    started: Vec<u32>,
    /// Positions of the operations that are not calculations, if there are several threads.
    called: Option<Vec<u32>>,
    /// Last collective: its operation in the data, its root and bytes, and its number in the program.
    collective: Option<(*const Operation, i64, i64, u32)>,
}

impl Unfolding<'_> {
    fn group(
        &mut self,
        (number, group): (usize, &Group),
        name: &str,
        blocks: &Blocks,
        timing: &mut impl Timing,
    ) -> Result<(), Diagnostic> {
        let range = blocks.of_group(number);
        let mut executions = vec![0_u64; range.len()];
        let first = blocks.first(number);
        timing.rank(self.rank);
        let mut next = |block: u32| {
            let execution = &mut executions[(block - range.start) as usize];
            let time = timing.time(block, *execution);
            *execution += 1;
            time
        };
        let spend = |ops: &mut SequenceBuilder, time: Time, place: u32| {
            if time > Time::ZERO {
                ops.push_at(Op::calc(time), place);
            }
        };
        let mut place = 0;
        group.walk(self.position, &mut |leaf, level, op, indices| {
            place = first[leaf] + 1;
            self.ops.at_site(op.site.checked_sub(1).map_or(0, |site| self.sites[site as usize]));
            let time = next(first[leaf] + level);
            if op.what == OperationKind::After {
                let done = self.after(op, indices, time);
                return done.map_err(|mistake| self.in_line(mistake, name, number, leaf));
            }
            spend(&mut self.ops, time, place);
            if self.ops.ops().len() >= MOST_OPERATIONS {
                let message = format!("rank {} has more than {MOST_OPERATIONS} operations", self.rank);
                return Err(Diagnostic::new("too-large", message).help("give loops fewer iterations"));
            }
            self.op(op, indices, place).map_err(|mistake| self.in_line(mistake, name, number, leaf))
        })?;
        self.ops.at_site(0);
        spend(&mut self.ops, next(range.end - 1), place + 1);
        Ok(())
    }

    /// Makes the next operation begin at least `lag` after an operation of another thread.
    fn after(&mut self, op: &Operation, indices: &[u64], lag: Time) -> Result<(), Diagnostic> {
        let back = op.numbers[0].value(self.position, indices);
        let called = self.called.as_deref().unwrap_or_default();
        let on = match usize::try_from(back).ok().and_then(|back| called.len().checked_sub(back)) {
            _ if back == 0 => After::START,
            Some(at) => called[at],
            None => return Err(self.impossible(op, Meaning::Back, back)),
        };
        self.ops.after(on, lag);
        Ok(())
    }

    /// Switches to this thread for the operations that follow.
    fn turn_to(&mut self, thread: u32) {
        self.ops.at_thread(thread);
        let calls = || (0..).zip(self.ops.ops()).filter(|(_, op)| op.kind != OpKind::Calc).map(|(at, _)| at).collect();
        self.called.get_or_insert_with(calls);
    }

    /// Records that the operation at this position is not a calculation.
    fn has_called(&mut self, at: u32) {
        if let Some(called) = &mut self.called {
            called.push(at);
        }
    }

    fn op(&mut self, op: &Operation, indices: &[u64], place: u32) -> Result<(), Diagnostic> {
        let mut values = [0_i64; 3];
        for ((value, number), &meaning) in values.iter_mut().zip(&op.numbers).zip(op.what.meanings()) {
            *value = number.value(self.position, indices);
            let (least, most) = match meaning {
                Meaning::Peer | Meaning::Root => continue,
                Meaning::Tag => (0, i64::from(ANY_TAG) - 1),
                // Constant sizes may use all 64 bits; sizes that change must not fall below 0.
                Meaning::Bytes => (if number.steps.is_empty() { i64::MIN } else { 0 }, i64::MAX),
                Meaning::Age => (1, self.started.len() as i64),
                Meaning::Back => continue,
            };
            if !(least..=most).contains(value) {
                return Err(self.impossible(op, meaning, *value));
            }
        }
        let age = |age: i64| self.started[self.started.len() - age as usize];
        let done = match &op.what {
            &OperationKind::Message { kind, marks, comm, any_source, any_tag } => {
                let mut next = values.into_iter();
                let mut take = || next.next().unwrap_or_default();
                let peer = if any_source { ANY_SOURCE } else { self.peer(op.peer, take()) };
                let tag = if any_tag { ANY_TAG } else { take() as u32 };
                sequence::message(kind, marks, comm, peer, tag, take() as u64)
            }
            &OperationKind::Wait { kind, marks } => match kind {
                OpKind::Test => Op::test(age(values[0])),
                _ => Op::wait(age(values[0])),
            }
            .marked(marks),
            &OperationKind::Border { region, begins } => {
                let site = op.site.checked_sub(1).map_or(0, |site| self.sites[site as usize]);
                self.ops.mark(self.regions[region as usize], begins, site, place);
                return Ok(());
            }
            &OperationKind::Thread(thread) => {
                self.turn_to(thread);
                return Ok(());
            }
            // A dependence is not an operation.
            OperationKind::After => return Ok(()),
            &OperationKind::WaitRange { kind } => {
                let requests: Vec<u32> = (values[1]..=values[0]).rev().map(age).collect();
                let at = self.ops.wait_list_at(kind, &requests, place);
                self.has_called(at);
                return Ok(());
            }
            OperationKind::WaitList { kind, ages } => {
                let known = |age: &&u32| (1..=self.started.len()).contains(&(**age as usize));
                if let Some(&unknown) = ages.iter().find(|age| !known(age)) {
                    return Err(self.impossible(op, Meaning::Age, unknown.into()));
                }
                let requests: Vec<u32> = ages.iter().map(|&found| age(found.into())).collect();
                let at = self.ops.wait_list_at(*kind, &requests, place);
                self.has_called(at);
                return Ok(());
            }
            &OperationKind::Collective { call, comm, counts, background } => {
                let size = self.data.comm_size(comm).max(1);
                let root = values[0].rem_euclid(size.into());
                let number = match self.collective {
                    Some((same, r, bytes, number)) if std::ptr::eq(same, op) && (r, bytes) == (root, values[1]) => {
                        number
                    }
                    _ => {
                        let counts = match counts.map(|counts| &self.data.counts[counts as usize]) {
                            Some(counts) => Counts::Each(counts.clone()),
                            None => Counts::Same(values[1] as u64),
                        };
                        self.program.collective(Collective { call, comm, root: root as u32, counts, plan: None })
                    }
                };
                self.collective = Some((op, root, values[1], number));
                if background { Op::icollective(number) } else { Op::collective(number) }
            }
        };
        let at = self.ops.push_at(done, place);
        self.has_called(at);
        if op.what.starts() {
            self.started.push(at);
        }
        Ok(())
    }

    fn peer(&self, peer: Peer, value: i64) -> u32 {
        let ranks = i64::from(self.data.ranks);
        (match peer {
            Peer::Relative => (i64::from(self.rank) + value).rem_euclid(ranks),
            Peer::Absolute => value.rem_euclid(ranks),
            Peer::Xor => i64::from(self.rank) ^ value,
        }) as u32
    }

    /// Adds the line of the file to the mistake of an operation.
    #[cold]
    fn in_line(&self, mut mistake: Diagnostic, file: &str, group: usize, leaf: usize) -> Diagnostic {
        if let Some(line) = self.data.lines.0.get(group).and_then(|lines| lines.get(leaf)) {
            mistake.message = format!("{file}:{line}: {}", mistake.message);
        }
        mistake
    }

    #[cold]
    fn impossible(&self, op: &Operation, meaning: Meaning, value: i64) -> Diagnostic {
        let site = self.data.site(op.site).map_or(String::new(), |site| format!(" at {site}"));
        let (what, help) = match meaning {
            Meaning::Tag => (
                format!("has tag {value}"),
                "a tag that grows with a loop leaves its range: give the loop fewer iterations",
            ),
            Meaning::Bytes => (
                format!("is of {value} B"),
                "a size that shrinks with a loop ends below 0: give the loop fewer iterations",
            ),
            Meaning::Back => (
                format!("waits for the operation {value} back, which there is not"),
                "program data is written by `hayase program fold`",
            ),
            _ => (
                format!("asks for the request of age {value}, and {} have been made", self.started.len()),
                "program data is written by `hayase program fold`",
            ),
        };
        let message = format!("{}{site} of rank {} {what}", op.what.name(), self.rank);
        Diagnostic::new("impossible-number", message).help(help)
    }
}
