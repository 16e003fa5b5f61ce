//! Collectives of a program as operations: what the player asks for.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

use super::{Collective, CollectiveCall, Communicator, Counts, Envelope, Expand, Op};
use crate::collective::{Blocks, Call, CollectivesSpec, Expansion, Operation, Sizes, Step};
use crate::units::{Bandwidth, Time};

/// Turns collectives into operations by the algorithms of `[collectives]`.
///
/// Of an alltoallv a rank knows what it sends, not what it receives: all blocks are sent, also empty ones. The size of
/// an element is not known either: vectors are split every 8 bytes where that comes out even, else 4, else anywhere.
/// Operators are taken to commute.
#[derive(Debug)]
pub struct Expander {
    spec: CollectivesSpec,
    /// Block sizes that ranks share, as sums: by the sizes' address, which a program does not change.
    sums: Mutex<FxHashMap<(usize, usize), Arc<Blocks>>>,
}

impl Expander {
    /// By these algorithms; [`CollectivesSpec::check`] has found nothing wrong with them.
    pub fn new(spec: CollectivesSpec) -> Self {
        Self { spec, sums: Mutex::default() }
    }

    /// The call that a rank makes.
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
                // Another program's sizes may have stood at this address.
                if !known.are(counts) {
                    *known = Arc::new(Blocks::new(counts));
                }
                Sizes::Counts(Arc::clone(known))
            }
        }
    }
}

/// Which operation of MPI a collective is.
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

/// How long it takes to combine so many bytes.
fn combining(bytes: u64, rate: Option<Bandwidth>) -> Option<Time> {
    let rate = rate.map(Bandwidth::bytes_per_second).filter(|&rate| rate > 0.0)?;
    Some(Time::from_seconds(bytes as f64 / rate))
}

impl Expand for Expander {
    fn steps(&self, collective: &Collective, group: &Communicator, me: u32, steps: &mut Vec<Op>) {
        let call = self.call(collective, group);
        let expansion = Expansion::of(&call, self.spec.plan(&call));
        let rate = self.spec.combine.as_ref().map(|rate| **rate);
        let with = |peer: u32| Envelope { peer: group.world_rank(peer), tag: 0, comm: collective.comm };
        let start = steps.len();
        let mut started = Vec::new();
        for step in expansion.steps(me) {
            let here = (steps.len() - start) as u32;
            match step {
                Step::Send { to, bytes } => steps.push(Op::send(with(to), bytes)),
                Step::Receive { from, bytes } => steps.push(Op::recv(with(from), bytes)),
                Step::Exchange { to, send_bytes, from, receive_bytes } => {
                    steps.push(Op::irecv(with(from), receive_bytes).marked(Op::WITHIN_CALL));
                    steps.push(Op::send(with(to), send_bytes));
                    steps.push(Op::wait(here).marked(Op::WITHIN_CALL));
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
                Step::Reduce { bytes } => steps.extend(combining(bytes, rate).map(Op::calc)),
            }
        }
    }
}
