//! From the files of all ranks to a program.

use std::mem;

use super::groups::{Called, Groups};
use super::ignored::Ignored;
use super::kinds::{Rules, collective};
use super::rank::{self, GroupCall, RankTrace};
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::program::caveats::Caveats;
use crate::program::{
    Collective, CollectiveCall as Operation, Counts, Op, OpKind, Program, ProgramBuilder, RankProgram,
};
use crate::reading::Input;
use crate::trace::MOST_RANKS;
use crate::units::Bytes;

/// Largest number of mistakes that are listed.
const MOST: usize = 20;
/// Memory of a step of a running collective \[B\].
const PER_STEP: u64 = 24;

/// Reads the files of all ranks, in the order of ranks; `groups` is a side file with process groups.
///
/// Cost: proportional to the files; memory for the program alone, since no file is held as a whole.
///
/// # Errors
/// Mistakes of the files, with file, node and byte; groups and collectives of ranks that do not fit each other.
pub fn read(
    files: &[&dyn Fn() -> Result<Input, Diagnostic>],
    groups: Option<Input>,
    rules: Rules,
) -> Result<Program, Vec<Diagnostic>> {
    let one = |mistake| vec![mistake];
    let ranks = match (rules.ranks, files.len()) {
        (Some(ranks), 1) => ranks,
        (None, count) => count as u32,
        (Some(ranks), count) => {
            let message = format!("{ranks} ranks are asked for, and the trace has files for {count}");
            let help = "name one file alone (DIR/NAME.0.et) to let it stand for all ranks";
            return Err(one(Diagnostic::new("wrong-ranks", message).help(help)));
        }
    };
    if !(1..=MOST_RANKS).contains(&ranks) {
        return Err(one(Diagnostic::new("wrong-ranks", format!("{ranks} ranks; 1 to {MOST_RANKS} are possible"))));
    }
    let mut reader = Reader {
        builder: ProgramBuilder::new(ranks),
        groups: Groups::new(ranks),
        rules,
        ignored: Ignored::default(),
        mistakes: Vec::new(),
    };
    if let Some(mut side) = groups {
        let name = side.name().to_owned();
        let text = side.read_whole(1 << 28).map_err(one)?;
        reader.groups.of_file(&name, &text).map_err(one)?;
    }
    reader.builder.places_in("node");
    reader.builder.prefer_rings();
    for (number, open) in (0..).zip(files) {
        let input = open().map_err(one)?;
        let file = reader.builder.file(input.name());
        let mut graph = reader.builder.graph(number);
        graph.from_file(file);
        let Reader { groups, ignored, .. } = &mut reader;
        match rank::read(input, graph, (ranks, rules), groups, ignored) {
            Ok(trace) if rules.ranks.is_some() => reader.copies(&trace, ranks)?,
            Ok(mut trace) => {
                let program = mem::take(&mut trace.program);
                reader.finish(number, program, &trace, false);
            }
            Err(mistake) => reader.mistakes.push(mistake),
        }
        if reader.mistakes.len() >= MOST {
            return Err(reader.mistakes);
        }
    }
    reader.end(files.len(), ranks)
}

struct Reader {
    builder: ProgramBuilder,
    groups: Groups,
    rules: Rules,
    ignored: Ignored,
    mistakes: Vec<Diagnostic>,
}

impl Reader {
    /// Adds a rank, whose groups are known now.
    fn finish(&mut self, rank: u32, mut program: RankProgram, trace: &RankTrace, is_copy: bool) {
        // Group, number of the rank in it, and its sends and receives without another end so far.
        let mut known: Vec<Option<(usize, u32, [u32; 2])>> = vec![None; trace.names.len()];
        for call in &trace.calls {
            let name = &trace.names[call.group as usize];
            let done = match known[call.group as usize] {
                Some(group) => Ok(group),
                None => {
                    let translated = if is_copy { self.groups.translate(name, rank) } else { Ok(()) };
                    translated
                        .and_then(|()| self.groups.find(name, rank))
                        .map(|(group, member)| (group, member, [0, 0]))
                }
            };
            let done = done.and_then(|mut group| {
                let op = &mut program.ops[call.op as usize];
                match call.kind {
                    Some(kind) => self.collective(kind, (group.0, group.1), call, trace, op)?,
                    None => self.pair(&mut group, op)?,
                }
                known[call.group as usize] = Some(group);
                Ok(())
            });
            if let Err(what) = done {
                let place = trace.place(call);
                self.mistakes.push(Diagnostic::new("unlike-groups", format!("{place}: {what}")));
                // What follows on this rank would be out of step.
                return;
            }
        }
        self.builder.finish_rank((rank, program));
    }

    /// Makes an operation a call of its group.
    fn collective(
        &mut self,
        kind: u64,
        (group, member): (usize, u32),
        call: &GroupCall,
        trace: &RankTrace,
        op: &mut Op,
    ) -> Result<(), String> {
        let Some((_, operation, is_whole)) = collective(kind) else { return Ok(()) };
        let ranks = self.groups.ranks(group);
        let has_root =
            matches!(operation, Operation::Bcast | Operation::Reduce | Operation::Gather | Operation::Scatter);
        let world = call.root.filter(|_| has_root).unwrap_or(ranks[0].into());
        let Some(root) = ranks.iter().position(|&rank| u64::from(rank) == world) else {
            return Err(format!("its root {world} is not in group `{}`", trace.names[call.group as usize]));
        };
        let is_whole = is_whole || (operation == Operation::Allgather && self.rules.gathered);
        let block = if is_whole { call.bytes.div_ceil(ranks.len() as u64) } else { call.bytes };
        let called = Called { kind, bytes: call.bytes, root: root as u32 };
        let number = self.groups.join(group, member, called, &trace.place(call))?;
        let comm = self.groups.communicator(group, &mut self.builder);
        let counts = Counts::Same(block);
        let collective = Collective { call: operation, comm, root: root as u32, counts, plan: None };
        *op = Op { arg: self.builder.collective(collective), tag: number, ..*op };
        Ok(())
    }

    /// Gives a message the other rank of its group, and its number among those in its direction.
    fn pair(&mut self, (group, member, counts): &mut (usize, u32, [u32; 2]), op: &mut Op) -> Result<(), String> {
        let &[a, b] = self.groups.ranks(*group) else {
            let count = self.groups.ranks(*group).len();
            return Err(format!(
                "a message without comm_src and comm_dst is paired in a group of 2 ranks, and this one has {count}"
            ));
        };
        let count = &mut counts[usize::from(op.kind == OpKind::Recv)];
        (op.peer, op.tag) = (if *member == 0 { b } else { a }, *count);
        op.arg = self.groups.communicator(*group, &mut self.builder);
        *count += 1;
        Ok(())
    }

    /// Lets a trace stand for all ranks: groups and other ends of messages move along with the rank.
    fn copies(&mut self, trace: &RankTrace, ranks: u32) -> Result<(), Vec<Diagnostic>> {
        let graph = trace.program.graph().map_or(0, |graph| graph.bytes());
        let needed = u64::from(ranks) * (24 * trace.program.ops.len() + graph) as u64;
        self.refuse_above(needed, &format!("{ranks} copies of the trace need"))?;
        for rank in 0..ranks {
            let mut program = trace.program.clone();
            for op in program.ops.iter_mut().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Recv)) {
                op.peer = ((u64::from(op.peer) + u64::from(rank)) % u64::from(ranks)) as u32;
            }
            self.finish(rank, program, trace, true);
            if !self.mistakes.is_empty() {
                return Err(mem::take(&mut self.mistakes));
            }
        }
        Ok(())
    }

    fn end(mut self, files: usize, ranks: u32) -> Result<Program, Vec<Diagnostic>> {
        if self.mistakes.is_empty() {
            let names = self.builder.files();
            let file = |rank: u32| names[if files == ranks as usize { rank as usize } else { 0 }].to_string();
            self.mistakes = self.groups.lacking(file);
        }
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        // All ranks of the largest group may be in a ring at once, with six steps for each other rank.
        let largest = self.groups.largest();
        let needed = largest.saturating_mul(largest).saturating_mul(6 * PER_STEP);
        self.refuse_above(needed, &format!("a collective of {largest} ranks may need"))?;
        let ignored = self.ignored.paragraph().into_iter().collect();
        Ok(self.builder.build()?.with_caveats(Caveats { ignored, ..Caveats::default() }))
    }

    fn refuse_above(&self, needed: u64, what: &str) -> Result<(), Vec<Diagnostic>> {
        let Some(free) = memory::free().filter(|&free| needed > free) else { return Ok(()) };
        let message = format!("{what} about {} of memory, and {} are free", Bytes(needed), Bytes(free));
        Err(vec![Diagnostic::new("too-large", message).help("take fewer ranks")])
    }
}
