//! Workload text of SimAI: the layers of a model, with times and collectives of each pass.
//!
//! ```text
//! HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 32 checkpoints: 0 ..
//! 1
//! attention -1 1000 ALLREDUCE 4096 1000 ALLREDUCE 4096 500 ALLREDUCE_EP 8192 100
//! ```
//! A layer is a name, -1, and {time \[ns\], collective, bytes} of the forward pass, of the gradients of inputs and of
//! those of weights, then the time of the update. Every rank plays all layers forward, then backward. Collectives hold
//! up their pass; those of weights do so only at the end. The gradients of weights are computed while the collective
//! for those of inputs is under way.
//!
//! Ranks of a tensor group (T) are neighbours. Members of an expert group are T apart, those of a data group too, over
//! the pipeline stage. Collectives without a suffix are of the tensor group, those of weights of the data group.
//! All-gathers, reduce-scatters and all-to-alls have the size of all blocks.
//!
//! Source: SimAI (`astra-sim-alibabacloud`, `Workload.cc`, `MockNcclGroup.cc`).

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::MOST_RANKS;
use super::lines::{Line, each_line, whole};
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::program::caveats::Caveats;
use crate::program::{Collective, CollectiveCall as Call, Counts, GraphBuilder, Op, Program, ProgramBuilder};
use crate::reading::Input;
use crate::units::{Bytes, Time};

/// First words of a workload.
pub const SIGNATURES: [&str; 2] = ["MICRO", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"];

/// Longest time of a part of a layer \[ns\]. Beyond it, picoseconds are no longer exact.
const MOST_NS: u64 = (1 << 53) / 1000;

/// Memory of a layer of a rank \[B\].
const PER_LAYER: u64 = 400;

/// Group of a collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GroupKind {
    Tensor,
    Data,
    Expert,
    /// Data group of an expert.
    ExpertData,
}

/// Pass of a layer: its time, and a collective behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    time: Time,
    collective: Option<(Call, GroupKind, u64)>,
}

/// Numbers of the first line, by name.
type Numbers = FxHashMap<String, u64>;

/// Reads a workload for the ranks that it names, or for `ranks` of them.
///
/// # Errors
/// All mistakes, with line and column; a number of ranks that is missing or that the groups do not divide.
pub fn read(input: Input, ranks: Option<u32>) -> Result<Program, Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let (mut numbers, mut count, mut layers) = (None, None, Vec::new());
    each_line(input, |line| {
        let words = words(&line);
        match (&words[..], numbers.is_some(), count.is_some()) {
            ([], ..) => {}
            (_, false, _) => numbers = Some(header(&line, &words)?),
            ([word], true, false) => count = Some(number(&line, word, "a number of layers", u64::MAX)?),
            _ => layers.push(layer(&line, &words)?),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let wrong =
        |code, message: String, help: &str| Err(vec![Diagnostic::new(code, format!("{file}: {message}")).help(help)]);
    let Some(numbers) = numbers.filter(|_| !layers.is_empty()) else {
        return wrong("empty-trace", "the workload has no layers".into(), "write a line of 12 columns for each");
    };
    let known = numbers.get("all_gpus").and_then(|&all| u32::try_from(all).ok());
    let Some(ranks) = ranks.or(known).filter(|ranks| (1..=MOST_RANKS).contains(ranks)) else {
        let message = "the number of ranks is not known; expected is `all_gpus: N` in the first line".into();
        return wrong("wrong-ranks", message, "write it there, or give --ranks N");
    };
    let size = |key: &str, absent| numbers.get(key).map_or(absent, |&size| size.clamp(1, MOST_RANKS.into()) as u32);
    let (tensor, expert, stages) = (size("model_parallel_NPU_group", ranks), size("ep", 1), size("pp", 1));
    let parts = (u64::from(tensor) * u64::from(expert)).saturating_mul(stages.into());
    if !u64::from(ranks).is_multiple_of(parts) {
        let message = format!("{ranks} ranks are no multiple of {tensor} (tensor) x {expert} (ep) x {stages} (pp)");
        return wrong("wrong-ranks", message, "the sizes of the groups divide the number of ranks");
    }
    let needed = u64::from(ranks) * layers.len() as u64 * PER_LAYER;
    if let Some(free) = memory::free().filter(|&free| needed > free) {
        let message = format!("{ranks} ranks need about {} of memory, and {} are free", Bytes(needed), Bytes(free));
        return wrong("too-large", message, "take fewer ranks");
    }
    let mut caveats = Caveats::default();
    if let Some(count) = count.filter(|&count| count != layers.len() as u64) {
        caveats.ignored.push(format!("ignored: the number of layers, {count}, since the file has {}", layers.len()));
    }
    let sent = numbers.get("pp_comm").copied().unwrap_or(0);
    if stages > 1 {
        let what = format!("ignored: messages between pipeline stages ({sent} B each); all stages play at once");
        caveats.ignored.push(what);
    }
    let mut builder = ProgramBuilder::new(ranks);
    builder.prefer_rings();
    let number = builder.file(file.as_str());
    let layout = Layout { tensor, expert, data: ranks / tensor / stages };
    let mut communicators = FxHashMap::default();
    for rank in 0..ranks {
        let mut graph = builder.graph(rank);
        graph.from_file(number);
        let groups = [GroupKind::Tensor, GroupKind::Data, GroupKind::Expert, GroupKind::ExpertData].map(|kind| {
            let group @ (begin, count, stride) = layout.group(kind, rank);
            let members = || (0..count).map(|member| begin + member * stride).collect::<Vec<_>>();
            let known = communicators.entry(group);
            let new = || if count == 1 || count == ranks { 0 } else { builder.communicator(members()) };
            (*known.or_insert_with(new), u64::from(count))
        });
        let calls = FxHashMap::default();
        let mut player = Player { graph: &mut graph, builder: &mut builder, groups, calls };
        player.play(&layers);
        builder.finish_rank(graph);
    }
    Ok(builder.build()?.with_caveats(caveats))
}

/// Sizes of groups within a pipeline stage.
struct Layout {
    tensor: u32,
    expert: u32,
    data: u32,
}

impl Layout {
    /// Returns first rank, size and stride of the group of this kind that a rank is in.
    fn group(&self, kind: GroupKind, rank: u32) -> (u32, u32, u32) {
        let (count, stride) = match kind {
            GroupKind::Tensor => (self.tensor, 1),
            GroupKind::Data => (self.data, self.tensor),
            GroupKind::Expert => (self.expert, self.tensor),
            GroupKind::ExpertData => (self.data / self.expert, self.tensor * self.expert),
        };
        (rank / (count * stride) * (count * stride) + rank % stride, count, stride)
    }
}

/// Operations of a rank under construction.
struct Player<'a> {
    graph: &'a mut GraphBuilder,
    builder: &'a mut ProgramBuilder,
    /// Communicator and size of each kind of group.
    groups: [(u32, u64); 4],
    /// Number of calls on each communicator.
    calls: FxHashMap<u32, u32>,
}

impl Player<'_> {
    fn play(&mut self, layers: &[(u64, [Pass; 3], Time)]) {
        let (mut before, mut at_end) = (None, Vec::new());
        for &(line, [forward, ..], _) in layers {
            before = self.pass(&forward, line, before).1;
        }
        for &(line, [_, inputs, weights], update) in layers.iter().rev() {
            let (computed, sent) = self.pass(&inputs, line, before);
            let (worked, reduced) = self.pass(&weights, line, computed);
            at_end.push(self.push(Op::calc(update), line, &[reduced]));
            before = self.push(Op::calc(Time::ZERO), line, &[sent, worked]);
        }
        at_end.push(before);
        let line = layers.last().map_or(0, |layer| layer.0);
        self.push(Op::calc(Time::ZERO), line, &at_end);
    }

    /// Adds a pass behind an operation. Returns its calculation, and its collective if it has one.
    fn pass(&mut self, pass: &Pass, line: u64, before: Option<u32>) -> (Option<u32>, Option<u32>) {
        let computed = self.push(Op::calc(pass.time), line, &[before]);
        let Some((call, kind, bytes)) = pass.collective else { return (computed, computed) };
        let (comm, ranks) = self.groups[kind as usize];
        if ranks == 1 {
            return (computed, computed);
        }
        let is_whole = matches!(call, Call::Allgather | Call::ReduceScatter | Call::Alltoall);
        let counts = Counts::Same(if is_whole { bytes.div_ceil(ranks) } else { bytes });
        let number = self.builder.collective(Collective { call, comm, root: 0, counts, plan: None });
        let calls = self.calls.entry(comm).or_default();
        let op = Op { tag: *calls, ..Op::collective(number) }.on(1, 0);
        *calls += 1;
        (computed, self.push(op, line, &[computed]))
    }

    fn push(&mut self, op: Op, line: u64, required: &[Option<u32>]) -> Option<u32> {
        let at = self.graph.push_at(op, u32::try_from(line).unwrap_or(u32::MAX));
        required.iter().flatten().for_each(|&before| self.graph.requires(at, before));
        Some(at)
    }
}

/// Returns the begin and end of each word of a line.
fn words(line: &Line<'_>) -> Vec<(usize, usize)> {
    let mut at = 0;
    let parts = line.text.split(u8::is_ascii_whitespace).map(|part| {
        at += part.len() + 1;
        (at - part.len() - 1, at - 1)
    });
    parts.filter(|(from, to)| from < to).collect()
}

fn number(line: &Line<'_>, &(from, to): &(usize, usize), what: &str, most: u64) -> Result<u64, Diagnostic> {
    let value = whole(&line.text[from..to]).filter(|&value| value <= most);
    value.ok_or_else(|| {
        let message = format!("`{}` is not {what}", line.show(from..to));
        line.mistake(from..to, "syntax", message).help("a whole number from 0 on is expected")
    })
}

fn header(line: &Line<'_>, words: &[(usize, usize)]) -> Result<Numbers, Diagnostic> {
    let text = |&(from, to): &(usize, usize)| String::from_utf8_lossy(&line.text[from..to]).into_owned();
    let first = words.first().map(&text).unwrap_or_default();
    if !SIGNATURES.contains(&first.as_str()) {
        let message = format!("`{first}` is no parallelism that is known");
        let help = format!("the first word is {}", SIGNATURES.join(" or "));
        return Err(line.mistake(0..first.len().max(1), "syntax", message).help(help));
    }
    let mut numbers = Numbers::default();
    for (key, value) in words.iter().skip(1).zip(words.iter().skip(2)) {
        let name = text(key);
        if name.ends_with(':') || name == "pp_comm" {
            let name = name.trim_end_matches(':');
            numbers.insert(name.to_owned(), number(line, value, &format!("a number for {name}"), u64::MAX)?);
        }
    }
    Ok(numbers)
}

/// Reads a layer: its line, its passes, and the time of its update.
fn layer(line: &Line<'_>, words: &[(usize, usize)]) -> Result<(u64, [Pass; 3], Time), Diagnostic> {
    if words.len() != 12 {
        let message = format!("a layer of {} columns", words.len());
        let help = "12 are expected: name, -1, {time, collective, bytes} three times, and the time of the update";
        return Err(line.mistake(0..line.text.len().max(1), "syntax", message).help(help));
    }
    let time = |at: usize| Ok(Time::from_ps(number(line, &words[at], "a time in ns", MOST_NS)? as f64 * 1e3));
    let mut passes = [Pass::default(); 3];
    for (at, pass) in passes.iter_mut().enumerate() {
        let first = 2 + 3 * at;
        pass.time = time(first)?;
        let bytes = number(line, &words[first + 2], "a number of bytes", 1 << 53)?;
        let usual = if at == 2 { GroupKind::Data } else { GroupKind::Tensor };
        pass.collective = collective(line, words[first + 1], usual)?.map(|(call, group)| (call, group, bytes));
    }
    Ok((line.number, passes, time(11)?))
}

fn collective(
    line: &Line<'_>,
    (from, to): (usize, usize),
    usual: GroupKind,
) -> Result<Option<(Call, GroupKind)>, Diagnostic> {
    let word = String::from_utf8_lossy(&line.text[from..to]);
    let suffixes = [("_DP_EP", GroupKind::ExpertData), ("_EP", GroupKind::Expert)];
    let suffix = suffixes.into_iter().find_map(|(suffix, group)| Some((word.strip_suffix(suffix)?, group)));
    let (name, group) = suffix.unwrap_or((&word, usual));
    let call = match name {
        "NONE" => return Ok(None),
        "ALLREDUCE" => Call::Allreduce,
        "ALLGATHER" => Call::Allgather,
        "REDUCESCATTER" => Call::ReduceScatter,
        "ALLTOALL" => Call::Alltoall,
        "BROADCAST" => Call::Bcast,
        _ => {
            let message = format!("`{}` is no collective", line.show(from..to));
            let help = "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL and BROADCAST are expected, also with _EP and _DP_EP";
            return Err(line.mistake(from..to, "syntax", message).help(help));
        }
    };
    Ok(Some((call, group)))
}
