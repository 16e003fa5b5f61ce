//! Leaves for folding from a rank of a program: requests by age, peers by distance, blocks separate.

use rustc_hash::FxHashMap;

use super::OperationKind;
use super::fold::nearest;
use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, ANY_TAG, After, Counts, Mark, Op, OpKind, Program};
use crate::units::Time;

/// Key of a leaf: its call site and its kind.
pub(super) type Key = (u32, OperationKind);

/// Numbers of a leaf; there are few.
pub(super) type Numbers = Box<[i64]>;

/// Table of the counts of collective operations, each once.
#[derive(Default)]
pub(super) struct CountTable {
    numbers: FxHashMap<Box<[u64]>, u32>,
    pub listed: Vec<Box<[u64]>>,
}

impl CountTable {
    fn number(&mut self, counts: &[u64]) -> u32 {
        if let Some(&number) = self.numbers.get(counts) {
            return number;
        }
        let number = self.listed.len() as u32;
        self.listed.push(counts.into());
        self.numbers.insert(counts.into(), number);
        number
    }
}

/// Calls `leaf` for each leaf of a rank, with the time of the block before it. Returns the time of the block
/// after the last leaf.
///
/// # Errors
/// The operations of the rank are a graph, so there is no sequence to fold.
pub(super) fn leaves(
    program: &Program,
    rank: RankId,
    counts: &mut CountTable,
    mut leaf: impl FnMut(Key, Numbers, Time),
) -> Result<Time, Diagnostic> {
    let ops = program.rank(rank);
    if ops.graph().is_some() {
        let file = program.files.get(ops.file as usize).map_or("the program", |file| file);
        let message = format!("`{file}` is a schedule: its operations stand in no sequence that could be folded");
        return Err(Diagnostic::new("no-sequence", message)
            .help("program data is made of recorded calls: Hayase's own traces, time-independent traces, text traces of the NAS benchmarks"));
    }
    let ranks = program.ranks();
    let relative = |peer: u32| nearest(i64::from(peer) - i64::from(rank.0), ranks);
    // For each position, the number of the request that the operation makes.
    let mut ordinals = vec![0_u32; ops.ops.len()];
    let mut started = 0_u32;
    let mut gap = Time::ZERO;
    // With several threads: the current thread, and for each position the number of operations up to there.
    let (threads, mut thread, mut called) = (&ops.threads, 0, Vec::new());
    let mut marks = ops.marks.iter().peekable();
    let border = |mark: &Mark| {
        let what = OperationKind::Border { region: mark.region, begins: mark.begins };
        let numbers: Numbers = [].into();
        ((mark.site, what), numbers)
    };
    for (at, op) in ops.ops.iter().enumerate() {
        while let Some(mark) = marks.next_if(|mark| mark.at as usize <= at) {
            let (key, numbers) = border(mark);
            leaf(key, numbers, std::mem::take(&mut gap));
        }
        if !threads.is_empty() {
            let site = ops.sites.get(at).copied().unwrap_or(0);
            let (of, after) = (threads.of(at as u32), threads.after(at as u32));
            if of != thread || (gap > Time::ZERO && !after.is_empty()) {
                leaf((site, OperationKind::Thread(of)), [].into(), std::mem::take(&mut gap));
                thread = of;
            }
            let so_far = called.last().copied().unwrap_or(0_i64);
            for &After { on, lag, .. } in after {
                // The operation itself, or the last operation before it.
                let back = called.get(on as usize).map_or(0, |&up_to| if up_to == 0 { 0 } else { so_far - up_to + 1 });
                leaf((site, OperationKind::After), [back].into(), lag);
            }
            called.push(so_far + i64::from(op.kind != OpKind::Calc));
        }
        if op.kind == OpKind::Calc {
            gap += op.duration();
            continue;
        }
        let age = |request: u32| started - ordinals[request as usize];
        let (what, numbers): (OperationKind, Numbers) = match op.kind {
            OpKind::Calc => continue,
            OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe => {
                let (any_source, any_tag) = (op.peer == ANY_SOURCE, op.tag == ANY_TAG);
                let mut numbers = Vec::with_capacity(3);
                if !any_source {
                    numbers.push(relative(op.peer));
                }
                if !any_tag {
                    numbers.push(i64::from(op.tag));
                }
                numbers.push(op.size as i64);
                let what = OperationKind::Message { kind: op.kind, marks: op.marks, comm: op.arg, any_source, any_tag };
                (what, numbers.into())
            }
            OpKind::Wait | OpKind::Test => {
                (OperationKind::Wait { kind: op.kind, marks: op.marks }, [i64::from(age(op.arg))].into())
            }
            OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
                let ages: Vec<u32> = ops.list(op.arg, op.size as u32).iter().map(|&request| age(request)).collect();
                let falling = ages.windows(2).all(|pair| pair[0] == pair[1] + 1);
                match (ages.first(), ages.last()) {
                    (Some(&first), Some(&last)) if falling => {
                        (OperationKind::WaitRange { kind: op.kind }, [i64::from(first), i64::from(last)].into())
                    }
                    _ => (OperationKind::WaitList { kind: op.kind, ages: ages.into() }, [].into()),
                }
            }
            OpKind::Collective | OpKind::Icollective => {
                let background = op.kind == OpKind::Icollective;
                let Some(collective) = program.collectives.get(op.arg as usize) else { continue };
                let (comm, call) = (collective.comm, collective.call);
                let root = i64::from(collective.root);
                match &collective.counts {
                    Counts::Same(bytes) => (
                        OperationKind::Collective { call, comm, counts: None, background },
                        [root, *bytes as i64].into(),
                    ),
                    Counts::Each(each) => (
                        OperationKind::Collective { call, comm, counts: Some(counts.number(each)), background },
                        [root].into(),
                    ),
                }
            }
        };
        if op.kind.is_nonblocking() {
            ordinals[at] = started;
            started += 1;
        }
        leaf((ops.sites.get(at).copied().unwrap_or(0), what), numbers, std::mem::take(&mut gap));
    }
    for mark in marks {
        let (key, numbers) = border(mark);
        leaf(key, numbers, std::mem::take(&mut gap));
    }
    Ok(gap)
}

/// Creates a message operation of this kind.
pub(super) fn message(kind: OpKind, marks: u8, comm: u32, peer: u32, tag: u32, bytes: u64) -> Op {
    let envelope = crate::program::Envelope { peer, tag, comm };
    let op = match kind {
        OpKind::Send => Op::send(envelope, bytes),
        OpKind::Isend => Op::isend(envelope, bytes),
        OpKind::Irecv => Op::irecv(envelope, bytes),
        OpKind::Probe => Op::probe(envelope),
        _ => Op::recv(envelope, bytes),
    };
    op.marked(marks)
}
