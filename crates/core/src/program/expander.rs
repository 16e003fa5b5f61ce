//! Expansion of the collectives of a program into operations, for the player.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

use super::{Collective, CollectiveCall, Communicator, Counts, Envelope, Expand, Op, Program};
use crate::collective::{Algorithm, Blocks, Call, CollectivesSpec, Expansion, Operation, Plan, Schedule, Sizes, Step};
use crate::units::{PerByte, Time};

/// Turns collectives into operations by the algorithms of `[collectives]`.
///
/// In an alltoallv a rank knows the sizes it sends, but not those it receives: all blocks are sent, even
/// empty ones. The size of an element is unknown as well: vectors are split at multiples of 8 bytes if that
/// is even, else of 4 bytes, else anywhere. Operators are assumed to commute.
#[derive(Debug)]
pub struct Expander {
    spec: CollectivesSpec,
    /// Set if a ring is preferred to the choice by rules.
    rings: bool,
    /// Prefix sums of block sizes that ranks share, by the address of the sizes, which a program does not
    /// change.
    sums: Mutex<FxHashMap<(usize, usize), Arc<Blocks>>>,
}

impl Expander {
    /// Creates an expander with these algorithms, which [`CollectivesSpec::check`] has accepted.
    pub fn new(spec: CollectivesSpec) -> Self {
        Self { spec, rings: false, sums: Mutex::default() }
    }

    /// Returns the expander for a program, which may prefer rings ([`Program::rings`]).
    #[must_use]
    pub fn of(self, program: &Program) -> Self {
        Self { rings: program.rings, ..self }
    }

    /// Returns the plan of a call: its own, the named algorithm, a ring if the program prefers one, or that of the
    /// rules.
    fn plan(&self, own: Option<Plan>, call: &Call) -> Plan {
        let preferred = match call.collective {
            Operation::Alltoall | Operation::Alltoallv => Algorithm::Linear,
            // No data travel around.
            Operation::Barrier => Algorithm::Dissemination,
            _ => Algorithm::Ring,
        };
        let is_open = self.rings && !self.spec.names(call.collective);
        let is_there = is_open && Algorithm::of(call.collective).contains(&preferred);
        let preferred = is_there.then(|| Plan::of(call, preferred));
        own.or(preferred).unwrap_or_else(|| self.spec.plan(call))
    }

    /// Returns the call that a rank makes.
    fn call(&self, collective: &Collective, group: &Communicator) -> Call {
        let (operation, sizes) = (operation(collective), self.sizes(collective));
        let call = Call { sizes, ..Call::equal(operation, group.size(), 0).rooted(collective.root) };
        call.of_usual_elements()
    }

    fn sizes(&self, collective: &Collective) -> Sizes {
        match &collective.counts {
            Counts::Same(bytes) => Sizes::Equal(*bytes),
            Counts::Each(counts) if collective.call == CollectiveCall::Alltoall => {
                Sizes::Own { send: Arc::from(&counts[..]), receive: None }
            }
            Counts::Each(counts) => {
                let key = (counts.as_ptr() as usize, counts.len());
                let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
                let known = sums.entry(key).or_insert_with(|| Arc::new(Blocks::new(counts)));
                // The sizes of another program may have been at this address before.
                if !known.are(counts) {
                    *known = Arc::new(Blocks::new(counts));
                }
                Sizes::Counts(Arc::clone(known))
            }
        }
    }
}

/// Returns the MPI operation of a collective.
pub fn operation(collective: &Collective) -> Operation {
    let differ = matches!(collective.counts, Counts::Each(_));
    match (collective.call, differ) {
        (CollectiveCall::Barrier, _) => Operation::Barrier,
        (CollectiveCall::Bcast, _) => Operation::Bcast,
        (CollectiveCall::Reduce, _) => Operation::Reduce,
        (CollectiveCall::Allreduce, _) => Operation::Allreduce,
        (CollectiveCall::Gather, false) => Operation::Gather,
        (CollectiveCall::Gather, true) => Operation::Gatherv,
        (CollectiveCall::Scatter, false) => Operation::Scatter,
        (CollectiveCall::Scatter, true) => Operation::Scatterv,
        (CollectiveCall::Allgather, false) => Operation::Allgather,
        (CollectiveCall::Allgather, true) => Operation::Allgatherv,
        (CollectiveCall::Alltoall, false) => Operation::Alltoall,
        (CollectiveCall::Alltoall, true) => Operation::Alltoallv,
        (CollectiveCall::ReduceScatter, false) => Operation::ReduceScatterBlock,
        (CollectiveCall::ReduceScatter, true) => Operation::ReduceScatter,
        (CollectiveCall::Scan, _) => Operation::Scan,
        (CollectiveCall::Exscan, _) => Operation::Exscan,
    }
}

/// Returns a calculation over `bytes` that takes this time per byte; `None` if it is free.
fn work(bytes: u64, per_byte: PerByte) -> Option<Op> {
    let time = per_byte * bytes as f64;
    (time > Time::ZERO).then(|| Op::calc(time))
}

impl Expand for Expander {
    fn is_cyclic(&self, collective: &Collective, group: &Communicator) -> bool {
        let call = self.call(collective, group);
        let ring = Schedule::of(&call, self.plan(collective.plan, &call)).ring();
        ring.is_some_and(|ring| ring.is_even)
    }

    fn steps(&self, collective: &Collective, group: &Communicator, me: u32, steps: &mut Vec<Op>) {
        let call = self.call(collective, group);
        let plan = self.plan(collective.plan, &call);
        let expansion = Expansion::of(&call, plan);
        let rates = self.spec.rates(call.total());
        // Buffers that the call allocates: for blocks of other ranks, for each vector of a tree, or for all its work.
        // That of a gather is charged when it is full and is sent on.
        let holds_others = |bytes: u64| match call.collective {
            Operation::Reduce => plan.algorithm != Algorithm::Linear,
            Operation::Gather | Operation::Scatter => me != call.root && bytes > call.mean(),
            _ => false,
        };
        let fresh = |bytes: u64| work(bytes, rates.fresh).filter(|_| holds_others(bytes));
        let with = |peer: u32| Envelope { peer: group.world_rank(peer), tag: 0, comm: collective.comm };
        let start = steps.len();
        if call.collective.reduces() {
            steps.extend(work(call.total(), rates.copy));
            steps.extend(work(call.total(), rates.fresh).filter(|_| call.collective != Operation::Reduce));
        }
        let packs = plan.algorithm == Algorithm::Bruck && call.collective == Operation::Alltoall;
        let pack = |bytes: u64| work(bytes, rates.pack).filter(|_| packs);
        steps.extend(pack(call.total()));
        // Trees of Open MPI call for the next child's message before they wait for the last one's.
        let calls_ahead = call.collective == Operation::Reduce
            && matches!(plan.algorithm, Algorithm::Binary | Algorithm::InOrderBinary | Algorithm::Chain);
        let mut wait_before = None;
        let mut started = Vec::new();
        for step in expansion.steps(me) {
            let here = (steps.len() - start) as u32;
            let waits = wait_before.take();
            match step {
                Step::Send { to, bytes } => {
                    steps.extend(fresh(bytes).filter(|_| call.collective == Operation::Gather));
                    steps.push(Op::send(with(to), bytes));
                }
                Step::Post { to, bytes } => steps.push(Op::send(with(to), bytes).marked(Op::POSTED)),
                Step::Receive { from, bytes } if calls_ahead => {
                    let call_at = waits.unwrap_or(here);
                    steps.insert(start + call_at as usize, Op::irecv(with(from), bytes).marked(Op::WITHIN_CALL));
                    wait_before = Some((steps.len() - start) as u32);
                    steps.push(Op::wait(call_at).marked(Op::WITHIN_CALL));
                    steps.extend(fresh(bytes));
                }
                Step::Receive { from, bytes } => {
                    steps.push(Op::recv(with(from), bytes));
                    steps.extend(fresh(bytes).filter(|_| call.collective != Operation::Gather));
                }
                Step::Exchange { to, send_bytes, from, receive_bytes } => {
                    steps.extend(pack(send_bytes));
                    let here = (steps.len() - start) as u32;
                    steps.push(Op::irecv(with(from), receive_bytes).marked(Op::WITHIN_CALL));
                    steps.push(Op::send(with(to), send_bytes).receiving(with(from).peer));
                    steps.push(Op::wait(here).marked(Op::WITHIN_CALL));
                    steps.extend(pack(receive_bytes));
                }
                Step::StartSend { to, bytes } => {
                    started.push(here);
                    steps.push(Op::isend(with(to), bytes));
                }
                Step::StartReceive { from, bytes } => {
                    started.push(here);
                    steps.push(Op::irecv(with(from), bytes));
                }
                Step::WaitAll => steps.extend(started.drain(..).map(Op::wait)),
                Step::Reduce { bytes } => {
                    steps.extend(work(bytes, rates.combine));
                    wait_before = waits;
                }
            }
        }
        steps.extend(pack(call.total()));
        if plan.algorithm == Algorithm::Bruck && call.collective == Operation::Allgather && me != 0 {
            // The blocks of higher ranks go through a buffer, the others move to the front.
            let blocks = 2 * group.size() - me;
            steps.extend(work(u64::from(blocks) * call.mean(), rates.pack));
        }
    }
}
