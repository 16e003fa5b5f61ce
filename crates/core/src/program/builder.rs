//! Builders of programs: rank by rank, in any order, on any thread.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    ANY_SOURCE, After, Collective, Communicator, FOR_START, Graph, Mark, Op, OpKind, Order, Program, RankProgram,
};
use crate::diagnostic::Diagnostic;
use crate::ids::{Id, RankId};
use crate::program::caveats::Caveats;
use crate::units::Time;

/// Builder of a [`Program`].
///
/// [`sequence`](Self::sequence) and [`graph`](Self::graph) return a builder for one rank that borrows
/// nothing, so that ranks can be read on several threads; [`finish_rank`](Self::finish_rank) adds the
/// finished rank.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    ranks: Vec<Option<RankProgram>>,
    communicators: Vec<Communicator>,
    numbers: FxHashMap<Collective, u32>,
    collectives: Vec<Collective>,
    regions: Vec<Arc<str>>,
    sites: Vec<Arc<str>>,
    known_sites: FxHashMap<Arc<str>, u32>,
    files: Vec<Arc<str>>,
    place_unit: &'static str,
    rings: bool,
    mistakes: Vec<Diagnostic>,
}

impl ProgramBuilder {
    /// Creates a builder for a program of `ranks` ranks, none of which has been added yet.
    pub fn new(ranks: u32) -> Self {
        Self {
            ranks: vec![None; ranks as usize],
            communicators: vec![Communicator::World(ranks)],
            numbers: FxHashMap::default(),
            collectives: Vec::new(),
            regions: Vec::new(),
            sites: Vec::new(),
            known_sites: FxHashMap::default(),
            files: Vec::new(),
            place_unit: "line",
            rings: false,
            mistakes: Vec::new(),
        }
    }

    /// Adds the name of a file that ranks are read from, and returns its number.
    pub fn file(&mut self, name: impl Into<Arc<str>>) -> u32 {
        self.files.push(name.into());
        (self.files.len() - 1) as u32
    }

    /// Names of the files so far.
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    /// Returns the number of a call site, for [`SequenceBuilder::at_site`]; the same name gets the same
    /// number.
    pub fn site(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.known_sites.get(name) {
            return number;
        }
        let name: Arc<str> = name.into();
        self.sites.push(Arc::clone(&name));
        self.known_sites.insert(name, self.sites.len() as u32);
        self.sites.len() as u32
    }

    /// Returns the number of a region, for [`SequenceBuilder::mark`]; the same name gets the same number.
    pub fn region(&mut self, name: &str) -> u32 {
        let known = self.regions.iter().position(|region| &**region == name);
        known.unwrap_or_else(|| {
            self.regions.push(name.into());
            self.regions.len() - 1
        }) as u32
    }

    /// Sets the unit that places count (default: lines).
    pub fn places_in(&mut self, unit: &'static str) {
        self.place_unit = unit;
    }

    /// Makes collectives rings by default ([`Program::rings`]).
    pub fn prefer_rings(&mut self) {
        self.rings = true;
    }

    /// Adds a communicator of these ranks of the world, in this order. Returns its number.
    pub fn communicator(&mut self, ranks: impl Into<Box<[u32]>>) -> u32 {
        self.communicators.push(Communicator::Group(ranks.into()));
        (self.communicators.len() - 1) as u32
    }

    /// Returns the number of a collective, for [`Op::collective`]; the same collective gets the same number.
    pub fn collective(&mut self, collective: Collective) -> u32 {
        if let Some(&number) = self.numbers.get(&collective) {
            return number;
        }
        let number = self.collectives.len() as u32;
        self.collectives.push(collective.clone());
        self.numbers.insert(collective, number);
        number
    }

    /// Creates a builder for a rank whose operations run one after the other.
    pub fn sequence(&self, rank: u32) -> SequenceBuilder {
        SequenceBuilder { rank, program: RankProgram::default(), site: 0, thread: 0 }
    }

    /// Creates a builder for a rank whose operations run when those they require are done.
    pub fn graph(&self, rank: u32) -> GraphBuilder {
        GraphBuilder { rank, program: RankProgram::default(), edges: Vec::new() }
    }

    /// Adds a finished rank.
    pub fn finish_rank(&mut self, rank: impl Into<(u32, RankProgram)>) {
        let (number, mut program) = rank.into();
        program.ops.shrink_to_fit();
        program.places.shrink_to_fit();
        program.lists.shrink_to_fit();
        program.sites.shrink_to_fit();
        program.marks.shrink_to_fit();
        match self.ranks.get_mut(number as usize) {
            Some(place @ None) => *place = Some(program),
            Some(Some(_)) => {
                self.mistakes.push(Diagnostic::new("repeated-rank", format!("rank {number} appears twice")));
            }
            None => self.mistakes.push(Diagnostic::new("unknown-rank", format!("there is no rank {number}"))),
        }
    }

    /// Builds and checks the program.
    ///
    /// # Errors
    /// A rank is missing; an operation names a rank, a request or a communicator that does not exist;
    /// requirements form a cycle. Messages name rank and place.
    pub fn build(mut self) -> Result<Program, Vec<Diagnostic>> {
        let missing: Vec<usize> = (0..self.ranks.len()).filter(|&rank| self.ranks[rank].is_none()).collect();
        if let Some(first) = missing.first() {
            let more = if missing.len() > 1 { format!(" (and {} more)", missing.len() - 1) } else { String::new() };
            self.mistakes.push(Diagnostic::new("missing-rank", format!("rank {first} is missing{more}")));
        }
        if self.ranks.is_empty() {
            self.mistakes.push(Diagnostic::new("missing-rank", "a program without ranks"));
        }
        let program = Program {
            caveats: Caveats::default(),
            // In place: a missing rank has been reported already.
            ranks: self.ranks.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().into(),
            communicators: self.communicators,
            collectives: self.collectives,
            sites: self.sites,
            regions: self.regions,
            recorded: Vec::new(),
            files: self.files,
            place_unit: self.place_unit,
            rings: self.rings,
        };
        if self.mistakes.is_empty() {
            check(&program, &mut self.mistakes);
        }
        if self.mistakes.is_empty() { Ok(program) } else { Err(self.mistakes) }
    }
}

/// Largest number of mistakes that are reported.
const MOST: usize = 20;

/// Checks that everything that operations name exists.
fn check(program: &Program, mistakes: &mut Vec<Diagnostic>) {
    for (number, collective) in program.collectives.iter().enumerate() {
        let wrong = match program.communicators.get(collective.comm as usize) {
            None => Some("is in no communicator"),
            Some(group) if group.size() == 0 => Some("has nobody to take part"),
            Some(group) if collective.root >= group.size() => Some("has a root that is not in its communicator"),
            Some(group) => match &collective.counts {
                super::Counts::Each(counts) if counts.len() != group.size() as usize => {
                    Some("does not have one count for each rank of its communicator")
                }
                _ => None,
            },
        };
        if let Some(wrong) = wrong {
            let name = collective.call.name();
            mistakes.push(Diagnostic::new("wrong-collective", format!("{name} (number {number}) {wrong}")));
        }
    }
    for group in &program.communicators {
        if let Communicator::Group(ranks) = group
            && let Some(stray) = ranks.iter().find(|rank| **rank >= program.ranks())
        {
            mistakes.push(Diagnostic::new("unknown-rank", format!("there is no rank {stray} (in a communicator)")));
        }
    }
    for (rank, rank_program) in program.iter() {
        for (at, op) in rank_program.ops.iter().enumerate() {
            if let Some(wrong) = wrong_op(program, rank, rank_program, at, op) {
                let place = program.place(rank, at as u32).map_or(String::new(), |place| format!("{place}: "));
                let message = format!("{place}{} of rank {rank} {wrong}", op.kind.name());
                mistakes.push(Diagnostic::new("wrong-operation", message));
                if mistakes.len() >= MOST {
                    return;
                }
            }
        }
        if let Some(at) = rank_program.graph().and_then(cycle) {
            let place = program.place(rank, at).map_or(String::new(), |place| format!("{place}: "));
            let message = format!("{place}an operation of rank {rank} requires itself, by way of others");
            mistakes.push(Diagnostic::new("cyclic-requirement", message));
        }
    }
}

/// Describes the mistake of an operation; `None` if it has none.
fn wrong_op(program: &Program, rank: RankId, ops: &RankProgram, at: usize, op: &Op) -> Option<String> {
    let request = |started: u32| match ops.ops.get(started as usize) {
        Some(other) if other.kind.is_nonblocking() && (started as usize) < at => None,
        _ => Some(format!("waits for operation {started}, which starts nothing before it")),
    };
    let in_graph = ops.graph().is_some();
    match op.kind {
        OpKind::Probe if in_graph => Some("stands in a graph, which has no probes".to_owned()),
        OpKind::Calc => {
            let time = op.duration();
            (!time.is_finite() || time < Time::ZERO).then(|| "lasts less than no time, or for ever".to_owned())
        }
        OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe => {
            let receives = !matches!(op.kind, OpKind::Send | OpKind::Isend);
            if !(op.peer < program.ranks() || receives && op.peer == ANY_SOURCE) {
                Some(format!("names rank {}, but there are {} ranks", op.peer, program.ranks()))
            } else if op.arg as usize >= program.communicators.len() {
                Some(format!("is in communicator {}, which there is not", op.arg))
            } else {
                None
            }
        }
        OpKind::Collective => wrong_call(program, rank, op),
        _ if in_graph => Some("stands in a graph, where to require an operation is to wait for it".to_owned()),
        OpKind::Wait | OpKind::Test => request(op.arg),
        OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
            let end = u64::from(op.arg) + op.size;
            if end > ops.lists.len() as u64 {
                return Some("waits for a list that is too short".to_owned());
            }
            ops.list(op.arg, op.size as u32).iter().find_map(|&started| request(started))
        }
        OpKind::Icollective => wrong_call(program, rank, op),
    }
}

/// Describes the mistake of a call of a collective; `None` if it has none.
fn wrong_call(program: &Program, rank: RankId, op: &Op) -> Option<String> {
    let Some(collective) = program.collectives.get(op.arg as usize) else {
        return Some("is none of the program's collectives".to_owned());
    };
    let group = program.communicators.get(collective.comm as usize)?;
    group.rank_of(rank).is_none().then(|| "is on a communicator that the rank is not in".to_owned())
}

/// Returns an operation that can never start because it waits for itself, by Kahn's algorithm.
fn cycle(graph: &Graph) -> Option<u32> {
    if graph.is_in_order() {
        return None;
    }
    let mut required = graph.required();
    let mut ready: Vec<u32> = (0..required.len() as u32).filter(|&op| required[op as usize] == 0).collect();
    let mut done = ready.len();
    while let Some(op) = ready.pop() {
        for follower in graph.followers(op) {
            required[follower.op as usize] -= 1;
            if required[follower.op as usize] == 0 {
                ready.push(follower.op);
                done += 1;
            }
        }
    }
    if done == required.len() {
        return None;
    }
    required.iter().position(|&count| count > 0).map(|op| op as u32)
}

/// Builder of a rank whose operations run one after the other.
#[derive(Clone, Debug)]
pub struct SequenceBuilder {
    rank: u32,
    program: RankProgram,
    /// Call site of the operations appended next.
    site: u32,
    /// Thread that executes the operations appended next.
    thread: u32,
}

impl SequenceBuilder {
    /// Appends an operation and returns its position, by which a wait names it.
    pub fn push(&mut self, op: Op) -> u32 {
        if self.site != 0 || !self.program.sites.is_empty() {
            self.program.sites.resize(self.program.ops.len(), 0);
            self.program.sites.push(self.site);
        }
        self.program.threads.push(self.program.ops.len(), self.thread);
        self.program.ops.push(op);
        (self.program.ops.len() - 1) as u32
    }

    /// Sets the call site of the operations appended next: a number from [`ProgramBuilder::site`], or 0 if it
    /// is unknown.
    pub fn at_site(&mut self, site: u32) {
        self.site = site;
    }

    /// Sets the thread of the operations appended next, less than [`Threads::MOST`](super::Threads::MOST).
    pub fn at_thread(&mut self, thread: u32) {
        self.thread = thread;
    }

    /// Returns the thread that executes an operation.
    #[doc(hidden)]
    pub fn thread_of(&self, op: u32) -> u32 {
        self.program.threads.of(op)
    }

    /// Makes the operation appended next begin no earlier than `lag` after the end of operation `on` of
    /// another thread, or after [the start](After::START). Returns the number of this requirement.
    pub fn after(&mut self, on: u32, lag: Time) -> usize {
        let op = self.program.ops.len() as u32;
        let edges = self.program.threads.edges();
        edges.push(After { op, lag, on });
        edges.len() - 1
    }

    /// Lowers the lag of a requirement to at most `lag`.
    #[doc(hidden)]
    pub fn lag_at_most(&mut self, requirement: usize, lag: Time) {
        let edge = &mut self.program.threads.edges()[requirement];
        edge.lag = edge.lag.min(lag);
    }

    /// Sets the call site of the operation at this position.
    #[doc(hidden)]
    pub fn set_site(&mut self, at: u32, site: u32) {
        if site != 0 || !self.program.sites.is_empty() {
            self.program.sites.resize(self.program.ops.len(), 0);
            self.program.sites[at as usize] = site;
        }
    }

    /// Renumbers call sites.
    #[doc(hidden)]
    pub fn renumber_sites(&mut self, number: impl Fn(u32) -> u32) {
        self.program.sites.iter_mut().for_each(|site| *site = number(*site));
        self.program.marks.iter_mut().for_each(|mark| mark.site = number(mark.site));
    }

    /// Renumbers communicators and collectives.
    #[doc(hidden)]
    pub fn renumber(&mut self, comm: impl Fn(u32) -> u32, collective: impl Fn(u32) -> u32) {
        for op in &mut self.program.ops {
            match op.kind {
                OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe => op.arg = comm(op.arg),
                OpKind::Collective | OpKind::Icollective => op.arg = collective(op.arg),
                _ => {}
            }
        }
    }

    /// Appends an operation with its place in the input (from 1).
    pub fn push_at(&mut self, op: Op, place: u32) -> u32 {
        // Operations without a place get the place of the operation before them.
        let before = self.program.places.last().copied().unwrap_or(place);
        self.program.places.resize(self.program.ops.len(), before);
        self.program.places.push(place);
        self.push(op)
    }

    /// Adds the begin or the end of a region before the operation appended next, whose call is at `place` of
    /// the input.
    pub fn mark(&mut self, region: u32, begins: bool, site: u32, place: u32) {
        self.program.marks.push(Mark { at: self.program.ops.len() as u32, region, begins, site, place });
    }

    /// Appends a wait for several requests: all of them, any, or some.
    pub fn wait_list(&mut self, kind: OpKind, requests: &[u32]) -> u32 {
        let first = self.program.lists.len() as u32;
        self.program.lists.extend_from_slice(requests);
        self.push(Op::list(kind, first, requests.len() as u32))
    }

    /// Appends a wait for several requests, with its place in the input (from 1).
    pub fn wait_list_at(&mut self, kind: OpKind, requests: &[u32], place: u32) -> u32 {
        let first = self.program.lists.len() as u32;
        self.program.lists.extend_from_slice(requests);
        self.push_at(Op::list(kind, first, requests.len() as u32), place)
    }

    /// Appends a send and a receive that run at the same time, and a wait for both: three operations. The
    /// receive is posted before the send starts, at no cost of its own. Returns the position of the first
    /// operation.
    pub fn sendrecv(&mut self, to: super::Envelope, sent: u64, from: super::Envelope, received: u64) -> u32 {
        let request = self.push(Op::irecv(from, received).marked(Op::WITHIN_CALL));
        self.push(Op::send(to, sent));
        self.push(Op::wait(request).marked(Op::WITHIN_CALL));
        request
    }

    /// Sets the file that the rank is read from.
    pub fn from_file(&mut self, file: u32) {
        self.program.file = file;
    }

    /// Sets the time at which the rank ended in the recorded run, counted from its start.
    pub fn measured(&mut self, end: Time) {
        self.program.measured = Some(end);
    }

    /// Operations appended so far.
    pub fn ops(&self) -> &[Op] {
        &self.program.ops
    }
}

impl From<SequenceBuilder> for (u32, RankProgram) {
    fn from(mut builder: SequenceBuilder) -> Self {
        if let Some(&last) = builder.program.places.last() {
            builder.program.places.resize(builder.program.ops.len(), last);
        }
        builder.program.threads.finish(builder.program.ops.len());
        (builder.rank, builder.program)
    }
}

/// Builder of a rank whose operations run when those they require are done or have started.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    rank: u32,
    program: RankProgram,
    /// Edges: the required operation, and the follower with its [`FOR_START`] bit.
    edges: Vec<(u32, u32)>,
}

impl GraphBuilder {
    /// Reserves room for more operations and edges.
    pub fn reserve(&mut self, ops: usize, edges: usize) {
        self.program.ops.reserve_exact(ops);
        self.edges.reserve_exact(edges);
    }

    /// Appends an operation and returns its position.
    pub fn push(&mut self, op: Op) -> u32 {
        if self.program.numbered {
            self.write_places_down();
        }
        self.append(op)
    }

    /// Appends an operation with its place in the input (from 1).
    pub fn push_at(&mut self, op: Op, place: u32) -> u32 {
        let ops = self.program.ops.len();
        if place as usize == ops + 1 && (ops == 0 || self.program.numbered) {
            self.program.numbered = true;
            return self.append(op);
        }
        if self.program.numbered {
            self.write_places_down();
        }
        let before = self.program.places.last().copied().unwrap_or(place);
        self.program.places.resize(ops, before);
        self.program.places.push(place);
        self.append(op)
    }

    fn append(&mut self, op: Op) -> u32 {
        self.program.ops.push(op);
        (self.program.ops.len() - 1) as u32
    }

    /// Writes places down one by one, since they no longer equal the positions.
    fn write_places_down(&mut self) {
        self.program.numbered = false;
        self.program.places = (1..=self.program.ops.len() as u32).collect();
    }

    /// Makes `op` start when `required` is done. Both have been appended before.
    pub fn requires(&mut self, op: u32, required: u32) {
        debug_assert!(op.max(required) < self.program.ops.len() as u32);
        self.edges.push((required, op));
    }

    /// Makes `op` start when `required` has started. Both have been appended before.
    pub fn irequires(&mut self, op: u32, required: u32) {
        debug_assert!(op.max(required) < self.program.ops.len() as u32);
        self.edges.push((required, op | FOR_START));
    }

    /// Sets the file that the rank is read from.
    pub fn from_file(&mut self, file: u32) {
        self.program.file = file;
    }

    /// Dependences so far: the required operation, and the one that requires it.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Operations appended so far.
    pub fn ops(&self) -> &[Op] {
        &self.program.ops
    }
}

impl From<GraphBuilder> for (u32, RankProgram) {
    fn from(builder: GraphBuilder) -> Self {
        let GraphBuilder { rank, mut program, edges } = builder;
        let ops = program.ops.len();
        if let Some(&last) = program.places.last() {
            program.places.resize(ops, last);
        }
        program.order = Order::Graph(Graph::new(ops, &edges));
        (rank, program)
    }
}

impl Program {
    /// Memory of the operations and their order \[B\].
    pub fn bytes(&self) -> usize {
        let rank = |program: &RankProgram| {
            let graph = program.graph().map_or(0, Graph::bytes);
            program.ops.len() * size_of::<Op>() + 4 * (program.lists.len() + program.places.len()) + graph
        };
        self.ranks.iter().map(rank).sum::<usize>() + self.ranks.len() * size_of::<RankProgram>()
    }

    /// All ranks, by number.
    pub fn rank_ids(&self) -> impl Iterator<Item = RankId> + use<> {
        (0..self.ranks.len()).map(RankId::from_index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CollectiveCall, Counts, Envelope};
    use super::*;

    #[test]
    fn edges_are_found_from_the_operation_that_is_waited_for() {
        let mut program = ProgramBuilder::new(1);
        let mut rank = program.graph(0);
        let a = rank.push(Op::calc(Time::from_ps(1.0)));
        let b = rank.push(Op::calc(Time::from_ps(2.0)));
        let c = rank.push(Op::calc(Time::from_ps(3.0)));
        rank.requires(c, a);
        rank.irequires(c, b);
        rank.requires(b, a);
        program.finish_rank(rank);
        let program = program.build().unwrap();
        let graph = program.rank(RankId(0)).graph().unwrap();
        let followers = |op| graph.followers(op).map(|f| (f.op, f.for_start)).collect::<Vec<_>>();
        assert_eq!(followers(a), [(c, false), (b, false)]);
        assert_eq!(followers(b), [(c, true)]);
        assert_eq!(graph.required(), [0, 1, 2]);
    }

    #[test]
    fn three_million_operations_stay_below_64_bytes_each() {
        let mut program = ProgramBuilder::new(1);
        let mut rank = program.graph(0);
        for op in 0..1000_u32 {
            rank.push_at(Op::calc(Time::ZERO), op + 1);
            if op > 0 {
                rank.requires(op, op - 1);
                rank.irequires(op, op / 2);
            }
        }
        program.finish_rank(rank);
        let program = program.build().unwrap();
        let bytes = program.bytes() - size_of::<RankProgram>();
        assert!(bytes <= 40 * 1000 + 4, "{bytes} bytes for 1000 operations with two edges and a place each");
    }

    #[test]
    fn what_is_named_must_be_there() {
        let mistakes = |build: &dyn Fn(&mut ProgramBuilder)| {
            let mut program = ProgramBuilder::new(2);
            build(&mut program);
            let mistakes = program.build().unwrap_err();
            mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("\n")
        };
        let with = |ops: &[Op]| {
            mistakes(&|program| {
                let file = program.file("x.goal");
                for number in 0..2 {
                    let mut rank = program.sequence(number);
                    rank.from_file(file);
                    for (i, &op) in ops.iter().enumerate() {
                        rank.push_at(op, i as u32 + 10);
                    }
                    program.finish_rank(rank);
                }
            })
        };
        assert!(mistakes(&|_| {}).contains("rank 0 is missing (and 1 more)"));
        assert!(with(&[Op::send(Envelope::world(2, 0), 1)]).contains("x.goal:10: send of rank 0 names rank 2"));
        assert!(with(&[Op::wait(0)]).contains("waits for operation 0, which starts nothing"));
        assert!(with(&[Op::recv(Envelope { peer: 0, tag: 0, comm: 4 }, 1)]).contains("communicator 4"));
        assert!(with(&[Op::calc(Time::NEVER)]).contains("for ever"));
        assert!(with(&[Op::collective(0)]).contains("none of the program's collectives"));
        let root = |program: &mut ProgramBuilder| {
            let number = program.collective(Collective {
                call: CollectiveCall::Bcast,
                comm: 0,
                root: 9,
                counts: Counts::Same(8),
                plan: None,
            });
            for rank in 0..2 {
                let mut rank = program.sequence(rank);
                rank.push(Op::collective(number));
                program.finish_rank(rank);
            }
        };
        assert!(mistakes(&root).contains("a root that is not in its communicator"));
    }

    #[test]
    fn places_that_are_positions_take_no_memory() {
        let places = |given: &[Option<u32>]| {
            let mut program = ProgramBuilder::new(1);
            let mut rank = program.graph(0);
            for place in given {
                match place {
                    Some(place) => rank.push_at(Op::calc(Time::ZERO), *place),
                    None => rank.push(Op::calc(Time::ZERO)),
                };
            }
            program.finish_rank(rank);
            let program = program.build().unwrap();
            let rank = program.rank(RankId(0));
            (rank.places.len(), (0..=given.len()).map(|at| rank.place(at)).collect::<Vec<_>>(), rank.place_or_last(9))
        };
        assert_eq!(places(&[Some(1), Some(2)]), (0, vec![Some(1), Some(2), None], Some(2)));
        assert_eq!(places(&[Some(1), Some(3)]), (2, vec![Some(1), Some(3), None], Some(3)));
        // An operation without a place has the place of the one before it.
        assert_eq!(places(&[Some(1), None, Some(3)]), (3, vec![Some(1), Some(1), Some(3), None], Some(3)));
        assert_eq!(places(&[Some(1), Some(2), None]), (3, vec![Some(1), Some(2), Some(2), None], Some(2)));
        assert_eq!(places(&[None]), (0, vec![None, None], None));
    }

    #[test]
    fn requirements_in_a_circle_are_a_mistake() {
        let mut program = ProgramBuilder::new(1);
        program.file("x.goal");
        let mut rank = program.graph(0);
        let a = rank.push_at(Op::calc(Time::ZERO), 3);
        let b = rank.push_at(Op::calc(Time::ZERO), 4);
        rank.requires(a, b);
        rank.irequires(b, a);
        program.finish_rank(rank);
        let mistakes = program.build().unwrap_err();
        assert_eq!(mistakes[0].message, "x.goal:3: an operation of rank 0 requires itself, by way of others");
    }
}
