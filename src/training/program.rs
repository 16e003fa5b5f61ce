//! From the graphs of the GPUs of a training step to a program.

use std::collections::BTreeMap;

use super::gpu::Gpu;
use super::spec::Training;
use super::step::{GroupKind, RankGraph, Step, Task};
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::program::{Collective, CollectiveCall as Call, Counts, Envelope, Op, Program, ProgramBuilder};
use crate::units::{Bytes, grouped};

/// Largest number of ranks.
const MOST_RANKS: u64 = 1 << 24;
/// Memory of an operation with its dependences \[B\].
const PER_OPERATION: u64 = 64;

/// Communicators and collectives of a program, each once.
struct Calls {
    builder: ProgramBuilder,
    /// Communicator of a group, by its kind and its first member.
    communicators: BTreeMap<(GroupKind, u64), u32>,
}

impl Calls {
    /// Returns the number of a collective that a rank calls.
    fn collective(&mut self, step: &Step<'_>, (rank, group, call, bytes): (u64, GroupKind, Call, u64)) -> (u32, u32) {
        let members = step.layout.group(group, rank);
        let size = members.len() as u64;
        let key = (group, members.first().copied().unwrap_or(rank));
        let builder = &mut self.builder;
        let new = || builder.communicator(members.iter().map(|&member| member as u32).collect::<Vec<_>>());
        let comm = *self.communicators.entry(key).or_insert_with(new);
        let is_whole = matches!(call, Call::Allgather | Call::ReduceScatter | Call::Alltoall);
        let counts = Counts::Same(if is_whole { bytes.div_ceil(size) } else { bytes });
        (comm, self.builder.collective(Collective { call, comm, root: 0, counts, plan: None }))
    }

    /// Adds the operations of a rank.
    fn rank(&mut self, step: &Step<'_>, rank: u64, graph: &RankGraph) {
        let mut calls: BTreeMap<u32, u32> = BTreeMap::new();
        let mut known = BTreeMap::new();
        let mut builder = self.builder.graph(rank as u32);
        builder.reserve(graph.ops.len(), graph.edges.len());
        for &(stream, task) in &graph.ops {
            let op = match task {
                Task::Work(time) => Op::calc(time),
                // Its end is where its message begins.
                Task::Launch { time, to, tag } => Op { peer: to as u32, tag, ..Op::calc(time) },
                Task::Send { to, tag, bytes } => Op::send(Envelope::world(to as u32, tag), bytes),
                Task::Recv { from, tag, bytes } => Op::recv(Envelope::world(from as u32, tag), bytes),
                Task::Collective { call, group, bytes } => {
                    let of = (rank, group, call, bytes);
                    let (comm, number) =
                        *known.entry((group, call, bytes)).or_insert_with(|| self.collective(step, of));
                    let calls = calls.entry(comm).or_default();
                    *calls += 1;
                    Op { tag: *calls - 1, ..Op::collective(number) }
                }
            };
            builder.push(op.on(stream as u8, 0));
        }
        graph.edges.iter().for_each(|&(before, op)| builder.requires(op, before));
        self.builder.finish_rank(builder);
    }
}

impl Training {
    /// Returns the step with this number of micro-batches; with all of its own if it has no more.
    #[must_use]
    pub fn beginning(&self, micro_batches: u64) -> Self {
        let mut step = self.clone();
        step.model.batch = self.model.batch.min((self.layout.dp * self.layout.micro).saturating_mul(micro_batches));
        step
    }

    /// Returns the number of micro-batches of a beginning of at least this length that probably repeats, if the step
    /// has many more.
    pub fn repeats_from(&self, least: u64) -> Option<u64> {
        self.layout.schedule(&self.model).repeats_from(least)
    }

    /// Returns the program of the step on these GPUs. Collectives are rings unless `[collectives]` names others.
    ///
    /// # Errors
    /// More ranks or operations than fit.
    pub fn program(&self, gpu: &Gpu) -> Result<Program, Vec<Diagnostic>> {
        let step = Step::new(&self.model, &self.layout, gpu);
        let ranks = self.layout.gpus();
        let operations = step.operations();
        let needed = operations.saturating_mul(ranks).saturating_mul(PER_OPERATION);
        let too_large = |message: String| {
            let help =
                "take fewer GPUs or micro-batches, or larger ones; `hayase llm` gives the closed form of any step";
            Err(vec![Diagnostic::new("too-large", message).help(help)])
        };
        if ranks > MOST_RANKS {
            return too_large(format!(
                "a step on {} GPUs; at most {} can be played",
                grouped(ranks),
                grouped(MOST_RANKS)
            ));
        }
        let free = memory::free().unwrap_or(u64::MAX);
        if operations > 1 << 30 || needed > free {
            let each = grouped(operations);
            let message =
                format!("{} GPUs of up to {each} operations need about {} of memory", grouped(ranks), Bytes(needed));
            return too_large(format!("{message}, and {} are free", Bytes(free)));
        }
        let mut builder = ProgramBuilder::new(ranks as u32);
        builder.prefer_rings();
        let mut calls = Calls { builder, communicators: BTreeMap::new() };
        (0..ranks).for_each(|rank| calls.rank(&step, rank, &step.rank(rank)));
        calls.builder.build()
    }
}
