//! Writer of execution traces.

use std::io::{self, Write};

use super::kinds::TYPES;
use super::node::{NodeType, number as field};
use crate::base::Arrange;
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, ANY_TAG, Communicator, Counts, Op, OpKind, Program};
use crate::trace::goal::{self, NotGoal, Schedule};

/// Version of the format in the metadata.
const VERSION: &[u8] = b"0.0.4";

/// Message under construction.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, number: u32, value: u64) {
        self.varint(u64::from(number) << 3);
        self.varint(value);
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.varint(u64::from(number) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Adds an attribute of a node.
    fn attribute(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        let mut attribute = Self::default();
        attribute.bytes(1, name.as_bytes());
        value(&mut attribute);
        self.bytes(field::ATTRIBUTE, &attribute.0);
    }

    /// Begins a node.
    fn node(id: u64, name: &str, kind: NodeType) -> Self {
        let mut node = Self::default();
        node.number(field::ID, id);
        node.bytes(field::NAME, name.as_bytes());
        node.number(field::TYPE, kind as u64);
        node
    }

    /// Writes the message with its length.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut length = Self::default();
        length.varint(self.0.len() as u64);
        out.write_all(&length.0)?;
        out.write_all(&self.0)
    }
}

/// Writes the operations of a rank. Operation n is node n, from 1; node 0 defines the groups of the rank.
///
/// Chakra has no dependence on the begin of an operation: in its place stands what that operation requires itself.
/// Times are whole microseconds; the attribute `duration_ps` keeps the rest.
///
/// # Errors
/// Those of `out`, and operations that the format does not have: probes, receives from any rank or of any tag, waits
/// for any of several, scans.
pub fn write(program: &Program, rank: RankId, out: &mut dyn Write) -> Result<(), NotGoal> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let Schedule { ops, mut edges } = goal::schedule(program, rank, program.rank(rank), true)?;
    let span = goal::span(program)?;
    let mut metadata = Fields::default();
    metadata.bytes(1, VERSION);
    metadata.write(&mut out)?;
    if let Some(groups) = groups(program, rank) {
        let mut node = Fields::node(0, "process_group:init", NodeType::Metadata);
        let mut inputs = Fields::default();
        inputs.bytes(1, groups.as_bytes());
        node.bytes(field::INPUTS, &inputs.0);
        node.write(&mut out)?;
    }
    edges.arrange_by_key(|&(op, ..)| op);
    let mut edges = edges.into_iter().peekable();
    // Operations that each operation requires, one list after another, and where each list begins.
    let (mut required, mut begins) = (Vec::<u32>::new(), vec![0]);
    for (at, op) in (0..).zip(&ops) {
        let begin = required.len();
        while let Some((_, before, for_start)) = edges.next_if(|edge| edge.0 == at) {
            match for_start && before < at {
                true => required.extend_from_within(begins[before as usize]..begins[before as usize + 1]),
                false => required.push(before),
            }
        }
        required[begin..].sort_unstable();
        let mut last = None;
        let list: Vec<u32> = required.drain(begin..).filter(|&before| last.replace(before) != Some(before)).collect();
        required.extend_from_slice(&list);
        begins.push(required.len());
        node(program, rank, (at, op), &list, span)?.write(&mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the groups of a rank other than that of all ranks, as the inputs of a METADATA node have them.
fn groups(program: &Program, rank: RankId) -> Option<String> {
    let mut groups = Vec::new();
    for (number, group) in program.communicators.iter().enumerate().skip(1) {
        if let Communicator::Group(ranks) = group
            && group.rank_of(rank).is_some()
        {
            groups.push(format!("{{\"pg_name\": \"{number}\", \"ranks\": {ranks:?}}}"));
        }
    }
    (!groups.is_empty()).then(|| format!("['[{}]']", groups.join(", ")))
}

fn node(program: &Program, rank: RankId, (at, op): (u32, &Op), required: &[u32], span: u32) -> Result<Fields, NotGoal> {
    let missing = || {
        let place = program.place(rank, at).unwrap_or_else(|| format!("rank {rank}, operation {at}"));
        NotGoal::Operation { format: "Chakra", place, what: program.describe(rank, op) }
    };
    let (kind, name) = match op.kind {
        OpKind::Send => (NodeType::Send, "send"),
        OpKind::Recv => (NodeType::Recv, "recv"),
        OpKind::Collective => (NodeType::Collective, program.collectives[op.arg as usize].call.name()),
        _ => (NodeType::Compute, "comp"),
    };
    let mut node = Fields::node(u64::from(at) + 1, name, kind);
    if !required.is_empty() {
        let mut packed = Fields::default();
        required.iter().for_each(|&before| packed.varint(u64::from(before) + 1));
        node.bytes(field::DATA, &packed.0);
    }
    node.attribute("is_cpu_op", |value| value.number(field::BOOL, 0));
    let mut integer = |name: &str, number: u32, value: u64| node.attribute(name, |to| to.number(number, value));
    match op.kind {
        OpKind::Send | OpKind::Recv => {
            if op.peer == ANY_SOURCE || op.tag == ANY_TAG {
                return Err(missing());
            }
            let sends = op.kind == OpKind::Send;
            integer("comm_size", field::INT64, op.size);
            integer("comm_src", field::INT32, if sends { rank.0 } else { op.peer }.into());
            integer("comm_dst", field::INT32, if sends { op.peer } else { rank.0 }.into());
            integer("comm_tag", field::INT32, goal::tag(op, span).into());
        }
        OpKind::Collective => {
            let collective = &program.collectives[op.arg as usize];
            let group = &program.communicators[collective.comm as usize];
            let found = TYPES.iter().enumerate().find(|(_, (_, call, _))| *call == collective.call);
            let (number, &(.., is_whole)) = found.ok_or_else(missing)?;
            let ranks = u64::from(group.size());
            let block = match &collective.counts {
                Counts::Same(bytes) => *bytes,
                Counts::Each(each) => each.iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes)).div_ceil(ranks),
            };
            integer("comm_type", field::INT64, number as u64);
            integer("comm_size", field::INT64, if is_whole { block.saturating_mul(ranks) } else { block });
            if collective.root > 0 {
                integer("comm_root", field::INT32, group.world_rank(collective.root).into());
            }
            node.attribute("pg_name", |to| to.bytes(field::STRING, collective.comm.to_string().as_bytes()));
        }
        _ => {
            let time = op.duration().ps();
            let whole = (time / 1e6).round();
            node.number(field::DURATION, whole as u64);
            if whole * 1e6 != time {
                node.attribute("duration_ps", |to| {
                    to.varint(u64::from(field::DOUBLE) << 3 | 1);
                    to.0.extend_from_slice(&time.to_bits().to_le_bytes());
                });
            }
            if op.cpu > 0 {
                node.attribute("stream", |to| to.number(field::INT64, op.cpu.into()));
            }
        }
    }
    Ok(node)
}
