//! Writer of plans as MSCCL algorithms.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use hayase::study::schedule::{Plan, PlanOperation};

/// Largest number of channels.
const MOST_CHANNELS: u32 = 32;
/// Largest number of steps of a thread block.
const MOST_STEPS: u32 = 256;
/// Largest number of peers of a GPU to which it sends, or from which it receives, on one channel.
const MOST_PEERS: u32 = 32;
/// Largest number of thread blocks of a GPU; a step names the awaited one in a signed byte.
const MOST_BLOCKS: u32 = 128;
/// Largest number of chunks of a step.
const MOST_COUNT: u32 = 71;
/// Largest number of chunks of a buffer; offsets are signed 16-bit numbers.
const MOST_CHUNKS: u32 = 1 << 15;
/// Largest number of XML elements that a rank reads: the GPUs, and its own thread blocks and steps.
const MOST_ELEMENTS: u32 = 4094;

/// Reason why a plan cannot be written as an MSCCL algorithm.
#[derive(Debug, thiserror::Error)]
pub enum MscclError {
    /// A number is above the limit of the runtimes: the number, its things, the limit.
    #[error("{0} {1}, and MSCCL has at most {2}; use fewer chunks, trees or ranks")]
    TooMany(u32, &'static str, u32),
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns an error if there are too many of something.
fn at_most(most: u32, count: u32, what: &'static str) -> Result<(), MscclError> {
    if count > most { Err(MscclError::TooMany(count, what, most)) } else { Ok(()) }
}

/// Buffer (`i`, `o` or `s`) and chunk; -1 for none.
type Place = (char, i32);

/// Part of a message that one step sends and one step receives.
struct Piece {
    message: usize,
    /// First of its units, and their number.
    unit: u32,
    count: u32,
    /// Place at the sender and at the receiver.
    from: Place,
    to: Place,
}

/// Thread block: GPU, true if it sends, peer, and channel.
type Block = (u32, bool, u32, u32);

/// Step of a thread block: its number, after a `nop` step for each wait but the last.
type Step = (Block, u32);

/// Steps of a thread block.
#[derive(Default)]
struct Steps {
    /// Number and piece of each step, and the steps of other blocks that it awaits.
    steps: Vec<(u32, usize, BTreeMap<Block, u32>)>,
    /// Last awaited step of each other block.
    awaited: BTreeMap<Block, u32>,
}

/// Writes a plan as an MSCCL algorithm, with a thread block for each peer, direction and channel.
///
/// A step waits for the last write of its data on its GPU; a receive also waits for the reads before it, a send for
/// `after`. Pairs with too many steps for a thread block use several channels. All-to-all is out of place, and its
/// forwarding ranks use the scratch buffer; all else is in place. Rounds, routes and weights are lost.
///
/// The plan has passed [`check`](hayase::study::schedule::check). `name` keeps letters, digits, `-`, `.` and `_`.
///
/// Source: M. Cowan et al., MSCCLang, ASPLOS 2023; limits as in microsoft/msccl.
///
/// Cost: units of all messages times the logarithm of the units in use.
///
/// # Errors
/// Limits of MSCCL that the plan exceeds, and errors of `out`.
pub fn write(plan: &Plan, name: &str, out: &mut dyn Write) -> Result<(), MscclError> {
    let is_all_to_all = plan.operation == PlanOperation::AllToAll;
    let chunks = if is_all_to_all { plan.units / plan.ranks } else { plan.units };
    let (pieces, scratch) = pieces(plan);
    at_most(MOST_CHUNKS, scratch.iter().copied().fold(chunks, u32::max), "chunks in a buffer")?;
    let blocks = layout(plan, &pieces)?;
    let awaited: BTreeSet<Step> =
        blocks.values().flat_map(|block| &block.steps).flat_map(|step| step.2.clone()).collect();
    let channels = blocks.keys().map(|block| block.3 + 1).max().unwrap_or(1);
    let name = name.replace(|c: char| !(c.is_ascii_alphanumeric() || "-._".contains(c)), "_");
    let (coll, inplace, ranks) = (collective(plan.operation).0, u32::from(!is_all_to_all), plan.ranks);
    write!(out, r#"<algo name="{name}" proto="Simple" nchannels="{channels}" nchunksperloop="{chunks}""#)?;
    write!(out, r#" ngpus="{ranks}" coll="{coll}" inplace="{inplace}" outofplace="{}""#, 1 - inplace)?;
    writeln!(out, r#" minBytes="0" maxBytes="{}">"#, i64::MAX)?;
    let input = if plan.operation == PlanOperation::AllGather { plan.block() } else { chunks };
    let output = if plan.operation == PlanOperation::ReduceScatter { plan.block() } else { chunks };
    for (gpu, scratch) in (0..ranks).zip(scratch) {
        writeln!(out, r#"  <gpu id="{gpu}" i_chunks="{input}" o_chunks="{output}" s_chunks="{scratch}">"#)?;
        let of_gpu = || blocks.range((gpu, false, 0, 0)..(gpu + 1, false, 0, 0));
        let ids: BTreeMap<&Block, i64> = of_gpu().map(|(block, _)| block).zip(0..).collect();
        for (block @ &(_, sends, peer, channel), of_block) in of_gpu() {
            let (send, recv) = if sends { (i64::from(peer), -1) } else { (-1, i64::from(peer)) };
            writeln!(out, r#"    <tb id="{}" send="{send}" recv="{recv}" chan="{channel}">"#, ids[block])?;
            for &(number, piece, ref waits) in &of_block.steps {
                let piece = &pieces[piece];
                let (kind, from) = match plan.messages[piece.message].reduces {
                    _ if sends => ("s", piece.from),
                    false => ("r", piece.from),
                    true => ("rrc", piece.to),
                };
                let mut waits: Vec<_> = waits.iter().map(|(block, step)| (ids[block], i64::from(*step))).collect();
                let last = waits.pop();
                for (wait, number) in waits.iter().zip(number - waits.len() as u32..) {
                    write_step(out, number, &transfer("nop", ('i', -1), ('o', -1), 0), Some(*wait), false)?;
                }
                let is_awaited = awaited.contains(&(*block, number));
                write_step(out, number, &transfer(kind, from, piece.to, piece.count), last, is_awaited)?;
            }
            writeln!(out, "    </tb>")?;
        }
        if is_all_to_all {
            // The block of the rank for itself.
            writeln!(out, r#"    <tb id="{}" send="-1" recv="-1" chan="0">"#, ids.len())?;
            for (first, number) in (0..plan.block()).step_by(MOST_COUNT as usize).zip(0..) {
                let (chunk, count) = ((gpu * plan.block() + first) as i32, MOST_COUNT.min(plan.block() - first));
                write_step(out, number, &transfer("cpy", ('i', chunk), ('o', chunk), count), None, false)?;
            }
            writeln!(out, "    </tb>")?;
        }
        writeln!(out, "  </gpu>")?;
    }
    writeln!(out, "</algo>")?;
    Ok(())
}

/// Returns the attributes of a transfer.
fn transfer(kind: &str, (srcbuf, srcoff): Place, (dstbuf, dstoff): Place, count: u32) -> String {
    let places = format!(r#"srcbuf="{srcbuf}" srcoff="{srcoff}" dstbuf="{dstbuf}" dstoff="{dstoff}""#);
    format!(r#"type="{kind}" {places} cnt="{count}""#)
}

/// Writes a step, and the block and step for which it waits.
fn write_step(out: &mut dyn Write, s: u32, transfer: &str, wait: Option<(i64, i64)>, awaited: bool) -> io::Result<()> {
    let ((depid, deps), hasdep) = (wait.unwrap_or((-1, -1)), u32::from(awaited));
    writeln!(out, r#"      <step s="{s}" {transfer} depid="{depid}" deps="{deps}" hasdep="{hasdep}"/>"#)
}

/// Returns the name of an operation, and the buffer that holds its vector.
fn collective(operation: PlanOperation) -> (&'static str, char) {
    match operation {
        PlanOperation::AllToAll => ("alltoall", 'i'),
        PlanOperation::AllGather => ("allgather", 'o'),
        PlanOperation::ReduceScatter => ("reduce_scatter", 'i'),
        PlanOperation::AllReduce => ("allreduce", 'i'),
        PlanOperation::Broadcast => ("broadcast", 'o'),
        PlanOperation::Scatter | PlanOperation::Gather => ("custom", 'o'),
    }
}

/// Cuts the messages into pieces of consecutive chunks. Also returns the chunks of scratch of each GPU.
fn pieces(plan: &Plan) -> (Vec<Piece>, Vec<u32>) {
    let (mut scratch, mut kept) = (vec![0; plan.ranks as usize], BTreeMap::new());
    let mut place = |gpu: u32, unit: u32| {
        let (source, target, part) = (plan.ends(unit).0.start, plan.ends(unit).1.start, unit % plan.block());
        let (buffer, chunk) = match plan.operation {
            PlanOperation::AllToAll if gpu == source => ('i', target * plan.block() + part),
            PlanOperation::AllToAll if gpu == target => ('o', source * plan.block() + part),
            PlanOperation::AllToAll => {
                let next = &mut scratch[gpu as usize];
                let chunk = *kept.entry((gpu, unit)).or_insert(*next);
                *next = (*next).max(chunk + 1);
                ('s', chunk)
            }
            operation => (collective(operation).1, unit),
        };
        (buffer, chunk as i32)
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for (message, i) in plan.messages.iter().zip(0..) {
        for unit in message.data.0..message.data.0 + message.data.1 {
            let (from, to) = (place(message.src, unit), place(message.dst, unit));
            let follows = |place: Place, count: u32, next: Place| (place.0, place.1 + count as i32) == next;
            match pieces.last_mut().filter(|last| {
                let continues = last.message == i && last.count < MOST_COUNT;
                continues && follows(last.from, last.count, from) && follows(last.to, last.count, to)
            }) {
                Some(last) => last.count += 1,
                None => pieces.push(Piece { message: i, unit, count: 1, from, to }),
            }
        }
    }
    (pieces, scratch)
}

/// Deals the pieces to thread blocks, in the plan's order. Where a block of a pair is full, the pair goes on to its
/// next channel.
fn layout(plan: &Plan, pieces: &[Piece]) -> Result<BTreeMap<Block, Steps>, MscclError> {
    let mut blocks: BTreeMap<Block, Steps> = BTreeMap::new();
    // Last steps of each message, at its sender and at its receiver.
    let mut ends: Vec<Option<[Step; 2]>> = vec![None; plan.messages.len()];
    // Last write of a unit on a GPU, and the reads since then.
    let mut accesses: BTreeMap<(u32, u32), (Option<Step>, Vec<Step>)> = BTreeMap::new();
    let mut channels = BTreeMap::new();
    for (p, piece) in pieces.iter().enumerate() {
        let message = &plan.messages[piece.message];
        let (src, dst) = (message.src, message.dst);
        let mut waits = [Vec::new(), Vec::new()];
        for &earlier in &message.after {
            let end = usize::from(plan.messages[earlier as usize].dst == src);
            waits[0].extend(ends[earlier as usize].map(|ends| ends[end]));
        }
        for unit in piece.unit..piece.unit + piece.count {
            waits[0].extend(accesses.entry((src, unit)).or_default().0);
            let (write, reads) = accesses.entry((dst, unit)).or_default();
            waits[1].extend(if reads.is_empty() { write.as_slice() } else { reads });
        }
        // The distance of a pair chooses its first channel, as a GPU has a limited number of peers on one.
        let distance = (dst + plan.ranks - src) % plan.ranks;
        let channel = channels.entry((src, dst)).or_insert(distance / MOST_PEERS);
        let steps = loop {
            at_most(MOST_CHANNELS, *channel + 1, "channels")?;
            let ends = [(src, true, dst, *channel), (dst, false, src, *channel)];
            let next = [0, 1].map(|end| blocks.entry(ends[end]).or_default().next(ends[end], &waits[end]));
            let steps = [(ends[0], next[0].0), (ends[1], next[1].0)];
            if steps.iter().all(|step| step.1 < MOST_STEPS) {
                for (block, (number, waits)) in ends.iter().zip(next) {
                    let block = blocks.entry(*block).or_default();
                    block.awaited.extend(&waits);
                    block.steps.push((number, p, waits));
                }
                break steps;
            }
            *channel += plan.ranks.div_ceil(MOST_PEERS);
        };
        ends[piece.message] = Some(steps);
        for unit in piece.unit..piece.unit + piece.count {
            accesses.entry((src, unit)).or_default().1.push(steps[0]);
            accesses.insert((dst, unit), (Some(steps[1]), Vec::new()));
        }
    }
    let own = u32::from(plan.operation == PlanOperation::AllToAll);
    let elements = plan.ranks + own * (1 + plan.block().div_ceil(MOST_COUNT));
    let mut sizes = vec![(own, elements); plan.ranks as usize];
    for (block, steps) in &blocks {
        let (count, elements) = &mut sizes[block.0 as usize];
        (*count, *elements) = (*count + 1, *elements + 1 + steps.next(*block, &[]).0);
    }
    for (count, elements) in sizes {
        at_most(MOST_BLOCKS, count, "thread blocks on a GPU")?;
        at_most(MOST_ELEMENTS, elements, "GPUs, thread blocks and steps")?;
    }
    Ok(blocks)
}

impl Steps {
    /// Returns the number of the next step, and those of its waits that nothing before implies.
    fn next(&self, block: Block, waits: &[Step]) -> (u32, BTreeMap<Block, u32>) {
        let mut kept = BTreeMap::new();
        for &(other, number) in waits {
            if other != block && self.awaited.get(&other).is_none_or(|&last| last < number) {
                let last = kept.entry(other).or_insert(number);
                *last = number.max(*last);
            }
        }
        let number = self.steps.last().map_or(0, |last| last.0 + 1);
        (number + (kept.len() as u32).saturating_sub(1), kept)
    }
}

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod tests;
