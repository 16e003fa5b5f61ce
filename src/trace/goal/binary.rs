//! The binary form of GOAL, as LogGOPSim's converter writes it.
//!
//! ```text
//! u64 magic = 4223
//! -- offsets count from here --
//! u32 ranks; u8 largest cpu; u8 largest nic; ranks x { u64 start; u64 end }
//! each rank: u32 operations; u32 roots; u32 root[roots]; operations x 39 bytes; u32 edges[]
//! an operation: u32 number of operations that it requires; u8 kind (1 send, 2 recv, 3 calc); u32 peer;
//!               u64 bytes or ns; u32 tag; u8 cpu; u8 nic; u32 followers; u32 first follower;
//!               u32 followers of its start; u32 first of those
//! ```
//! All little-endian and packed; followers are runs of `edges`.

use std::io::{self, BufReader, Read, Write};

use super::write::{NotGoal, PS_PER_UNIT, Schedule, nanoseconds, schedule, span, tag};
use crate::base::Arrange;
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::program::{ANY_SOURCE, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::reading::Input;
use crate::trace::MOST_RANKS;
use crate::units::{Bytes, Time};

/// First bytes of a binary schedule.
pub const MAGIC: [u8; 8] = 4223_u64.to_le_bytes();
/// First bytes of a schedule used up by a run that kept its memory in the file.
const USED_UP_MAGIC: [u8; 8] = 2342_u64.to_le_bytes();

/// Size of an operation \[B\].
const NODE: usize = 39;

/// Reads a binary schedule. If ranks stand one after another, as converters write them, it is read rank by
/// rank and the file is never in memory as a whole.
///
/// # Errors
/// Damage, with the byte where it is.
pub fn read_binary(mut input: Input) -> Result<Program, Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let most = memory::free().map_or(u64::MAX / 2, |free| free / 2);
    program(&mut input, &file, most).map_err(|failure| match failure {
        Failure::Damaged(at, what) => {
            vec![Diagnostic::new("damaged-trace", format!("{file}, byte {at}: {what}"))]
        }
        Failure::Unreadable(diagnostic) => vec![diagnostic],
        Failure::Wrong(mistakes) => mistakes,
    })
}

enum Failure {
    /// Damage at this byte.
    Damaged(usize, String),
    Unreadable(Diagnostic),
    Wrong(Vec<Diagnostic>),
}

/// A part of the file.
struct Slice<'a> {
    /// Position of the first byte in the file.
    from: usize,
    bytes: &'a [u8],
}

fn damaged<T>(at: usize, what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Damaged(at, what.into()))
}

/// Position of the table of ranks.
const TABLE: usize = 8 + 6;

/// Largest memory that is reserved for the contents that a schedule claims, before they are read \[B\].
const RESERVED: u64 = 1 << 20;

fn program(input: &mut Input, file: &str, most: u64) -> Result<Program, Failure> {
    let mut head = Vec::new();
    let mut bytes = BufReader::with_capacity(1 << 16, input);
    // Appends the next bytes, up to the end of the file.
    let mut more = |count: u64, into: &mut Vec<u8>| {
        into.reserve_exact(count.min(RESERVED) as usize);
        let read = bytes.by_ref().take(count).read_to_end(into);
        read.map_err(|error| Failure::Unreadable(Input::failed(file, &error)))
    };
    more(TABLE as u64, &mut head)?;
    let binary = Slice { from: 0, bytes: &head };
    match binary.array::<8>(0)? {
        MAGIC => {}
        USED_UP_MAGIC => {
            return damaged(0, "a run that kept its state in this file has used it up; convert the text again");
        }
        _ => return damaged(0, "this is not a binary schedule"),
    }
    let ranks = binary.u32(8)?;
    if ranks == 0 || ranks > MOST_RANKS {
        return damaged(8, format!("a schedule of {ranks} ranks; 1 to {MOST_RANKS} are possible"));
    }
    more(16 * u64::from(ranks), &mut head)?;
    let mut places = Vec::new();
    for rank in 0..ranks {
        let entry = TABLE + 16 * rank as usize;
        // The table of ranks is present, so the number of ranks is credible.
        let binary = Slice { from: 0, bytes: &head };
        places.push((binary.u64(entry)?.saturating_add(8), binary.u64(entry + 8)?.saturating_add(8)));
    }
    let behind = TABLE as u64 + 16 * u64::from(ranks);
    let one_after_another = places.iter().try_fold(behind, |at, &(start, end)| {
        // If ranks do not follow one another, the whole file is needed at once.
        (at <= start && start <= end && end - start <= most).then_some(end)
    });
    let whole = match one_after_another {
        Some(_) => None,
        None => {
            more(most.saturating_add(1), &mut head)?;
            if head.len() as u64 > most {
                let message =
                    format!("`{file}` is larger than {}, and its ranks do not follow each other", Bytes(most));
                return Err(Failure::Unreadable(Diagnostic::new("too-large", message)));
            }
            Some(std::mem::take(&mut head))
        }
    };
    drop(head);
    let mut program = ProgramBuilder::new(ranks);
    let number = program.file(file);
    program.places_in("operation");
    let (mut at, mut part) = (behind, Vec::new());
    for (rank, (start, end)) in (0..ranks).zip(places) {
        let entry = TABLE + 16 * rank as usize;
        let binary = match &whole {
            Some(bytes) => Slice { from: 0, bytes },
            None => {
                // Bytes between two ranks are skipped.
                while at < start {
                    part.clear();
                    more((start - at).min(1 << 16), &mut part)?;
                    at += part.len() as u64;
                    if part.is_empty() {
                        break;
                    }
                }
                part.clear();
                more(end - start, &mut part)?;
                at = start + part.len() as u64;
                Slice { from: usize::try_from(start).unwrap_or(usize::MAX), bytes: &part }
            }
        };
        let length = binary.from.saturating_add(binary.bytes.len());
        let bound = |value: u64| match usize::try_from(value) {
            Ok(value) if value <= length => Ok(value),
            _ => damaged(entry, format!("rank {rank} lies beyond the end of the file")),
        };
        let (start, end) = (bound(start)?, bound(end)?);
        if start > end {
            return damaged(entry, format!("rank {rank} ends before it starts"));
        }
        let mut builder = program.graph(rank);
        builder.from_file(number);
        binary.rank(rank, ranks, start, end, &mut builder)?;
        program.finish_rank(builder);
    }
    program.build().map_err(Failure::Wrong)
}

impl Slice<'_> {
    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N], Failure> {
        let from = at.checked_sub(self.from);
        match from.and_then(|from| self.bytes.get(from..from.checked_add(N)?)) {
            Some(bytes) => Ok(bytes.try_into().unwrap_or([0; N])),
            None => damaged(self.from + self.bytes.len(), "the schedule ends in the middle of something"),
        }
    }

    fn u32(&self, at: usize) -> Result<u32, Failure> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Result<u64, Failure> {
        self.array(at).map(u64::from_le_bytes)
    }

    fn rank(
        &self,
        rank: u32,
        ranks: u32,
        start: usize,
        end: usize,
        builder: &mut crate::program::GraphBuilder,
    ) -> Result<(), Failure> {
        let (count, roots) = (self.u32(start)? as usize, self.u32(start + 4)? as usize);
        let nodes = roots.checked_mul(4).and_then(|roots| roots.checked_add(start + 8)).unwrap_or(usize::MAX);
        let edges = count.checked_mul(NODE).and_then(|length| length.checked_add(nodes)).unwrap_or(usize::MAX);
        if edges > end || count > i32::MAX as usize {
            return damaged(start, format!("rank {rank} claims to have {count} operations, which are not there"));
        }
        let edge_count = (end - edges) / 4;
        builder.reserve(count, edge_count);
        for i in 0..count {
            let at = nodes + i * NODE;
            let (peer, size, tag) = (self.u32(at + 5)?, self.u64(at + 9)?, self.u32(at + 17)?);
            let [kind] = self.array(at + 4)?;
            let [cpu, nic] = self.array(at + 21)?;
            let op = match kind {
                1 | 2 if peer >= ranks && !(kind == 2 && peer == ANY_SOURCE) => {
                    return damaged(at + 5, format!("an operation of rank {rank} names rank {peer} of {ranks}"));
                }
                1 => Op::send(Envelope::world(peer, tag), size),
                2 => Op::recv(Envelope::world(peer, tag), size),
                3 => Op::calc(Time::from_ps(size as f64 * PS_PER_UNIT)),
                kind => return damaged(at + 4, format!("an operation of rank {rank} has kind {kind}")),
            };
            builder.push_at(op.on(cpu, nic), i as u32 + 1);
        }
        let mut total = 0_usize;
        for i in 0..count {
            let at = nodes + i * NODE + 23;
            for (at, for_start) in [(at, false), (at + 8, true)] {
                let (followers, first) = (self.u32(at)? as usize, self.u32(at + 4)? as usize);
                total += followers;
                // Runs do not overlap, so their lengths add up to at most the number of edges.
                if followers > 0 && (first + followers > edge_count || total > edge_count) {
                    return damaged(at, format!("operation {i} of rank {rank} has followers that are not there"));
                }
                for edge in first..first + followers {
                    let at = edges + 4 * edge;
                    let follower = self.u32(at)?;
                    if follower as usize >= count || follower as usize == i {
                        return damaged(
                            at,
                            format!("operation {i} of rank {rank} is followed by operation {follower}"),
                        );
                    }
                    match for_start {
                        false => builder.requires(follower, i as u32),
                        true => builder.irequires(follower, i as u32),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Writes a schedule in binary.
///
/// # Errors
/// As [`write_text`](super::write_text).
pub fn write_binary(program: &Program, out: &mut dyn Write) -> Result<(), NotGoal> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let (cpus, nics) = program.lanes();
    let span = span(program)?;
    out.write_all(&MAGIC)?;
    out.write_all(&program.ranks().to_le_bytes())?;
    out.write_all(&[(cpus - 1) as u8, (nics - 1) as u8])?;
    let mut at = 6 + 16 * u64::from(program.ranks());
    for (rank, ops) in program.iter() {
        let Schedule { ops, edges } = schedule(program, rank, ops, false)?;
        let roots = required(ops.len(), &edges).iter().filter(|&&count| count == 0).count();
        let length = 8 + 4 * roots + NODE * ops.len() + 4 * edges.len();
        out.write_all(&at.to_le_bytes())?;
        at += length as u64;
        out.write_all(&at.to_le_bytes())?;
    }
    for (rank, ops) in program.iter() {
        write_rank(schedule(program, rank, ops, false)?, span, &mut out)?;
    }
    out.flush()?;
    Ok(())
}

fn write_rank(schedule: Schedule, span: u32, out: &mut dyn Write) -> io::Result<()> {
    let Schedule { ops, mut edges } = schedule;
    let required = required(ops.len(), &edges);
    let roots = || (0..ops.len() as u32).filter(|&op| required[op as usize] == 0);
    out.write_all(&(ops.len() as u32).to_le_bytes())?;
    out.write_all(&(roots().count() as u32).to_le_bytes())?;
    for root in roots() {
        out.write_all(&root.to_le_bytes())?;
    }
    // For each operation, first the followers of its end, then those of its start.
    edges.arrange_by_key(|&(_, required, for_start)| (required, for_start));
    let mut first = 0_usize;
    for (i, op) in ops.iter().enumerate() {
        let (kind, peer, size, tag) = match op.kind {
            OpKind::Send => (1, op.peer, op.size, tag(op, span)),
            OpKind::Recv => (2, op.peer, op.size, tag(op, span)),
            _ => (3, 0, nanoseconds(op), 0),
        };
        let of = |start: usize, for_start: bool| {
            edges[start..].iter().take_while(|edge| edge.1 == i as u32 && edge.2 == for_start).count()
        };
        let ends = of(first, false);
        let starts = of(first + ends, true);
        let mut node = [0; NODE];
        node[0..4].copy_from_slice(&required[i].to_le_bytes());
        node[4] = kind;
        node[5..9].copy_from_slice(&peer.to_le_bytes());
        node[9..17].copy_from_slice(&size.to_le_bytes());
        node[17..21].copy_from_slice(&tag.to_le_bytes());
        (node[21], node[22]) = (op.cpu, op.nic);
        for (at, number) in [(23, ends), (27, first), (31, starts), (35, first + ends)] {
            node[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        out.write_all(&node)?;
        first += ends + starts;
    }
    for (follower, ..) in edges {
        out.write_all(&follower.to_le_bytes())?;
    }
    Ok(())
}

/// Returns the number of operations that each operation waits for.
fn required(ops: usize, edges: &[super::write::Edge]) -> Vec<u32> {
    let mut required = vec![0; ops];
    for &(op, ..) in edges {
        required[op as usize] += 1;
    }
    required
}
