//! Interpreter of MSCCL algorithms: reads XML as the runtimes do, executes all thread blocks, and compares the buffers
//! with the operation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hayase::study::schedule::{Plan, PlanOperation};

/// Contributions in a chunk: pairs of the rank and its unit (of an all-to-all, destination and part).
pub type Chunk = BTreeSet<(u32, u32)>;

pub struct Step {
    pub kind: String,
    src: (char, i64),
    dst: (char, i64),
    pub count: i64,
    /// Awaited block and step, or -1.
    pub wait: (i64, i64),
    is_awaited: bool,
}

pub struct Block {
    pub send: i64,
    pub recv: i64,
    pub channel: i64,
    pub steps: Vec<Step>,
}

impl Block {
    /// Returns the first chunks of the steps of a kind.
    pub fn offsets(&self, kind: &str) -> Vec<i64> {
        self.steps.iter().filter(|step| step.kind == kind).map(|step| step.dst.1).collect()
    }
}

pub struct Algorithm {
    pub head: BTreeMap<String, String>,
    /// Thread blocks, and chunks of the input, output and scratch buffers, of each GPU.
    pub gpus: Vec<(Vec<Block>, [i64; 3])>,
}

/// Reads an algorithm and checks the rules of the runtimes' readers.
pub fn read(text: &str) -> Algorithm {
    let mut algorithm = Algorithm { head: BTreeMap::new(), gpus: Vec::new() };
    let mut open = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(' ');
        if let Some(name) = line.strip_prefix("</") {
            assert_eq!(open.pop().as_deref(), name.strip_suffix('>'));
            continue;
        }
        let body = line.strip_prefix('<').unwrap();
        let is_single = body.ends_with("/>");
        let body = body.trim_end_matches('>').trim_end_matches('/');
        let (name, rest) = body.split_once(' ').unwrap();
        let mut values = BTreeMap::new();
        // One blank before each attribute and none after the last, as the runtimes require.
        for part in format!("{rest} ").split_terminator("\" ") {
            let (key, value) = part.split_once("=\"").unwrap();
            assert!(key.chars().all(|c| c.is_ascii_alphabetic() || c == '_'), "{line}");
            assert!(values.insert(key.to_owned(), value.to_owned()).is_none());
        }
        let number = |key: &str| values[key].parse::<i64>().unwrap();
        let place = |buffer: &str, offset: &str| (values[buffer].parse::<char>().unwrap(), number(offset));
        match name {
            "algo" => algorithm.head = values.clone(),
            "gpu" => {
                assert_eq!(number("id"), algorithm.gpus.len() as i64);
                algorithm.gpus.push((Vec::new(), ["i_chunks", "o_chunks", "s_chunks"].map(number)));
            }
            "tb" => {
                let blocks = &mut algorithm.gpus.last_mut().unwrap().0;
                assert_eq!(number("id"), blocks.len() as i64);
                let (send, recv, channel) = (number("send"), number("recv"), number("chan"));
                let same = |block: &&Block| block.channel == channel;
                assert!(!blocks.iter().filter(same).any(|block| send >= 0 && block.send == send));
                assert!(!blocks.iter().filter(same).any(|block| recv >= 0 && block.recv == recv));
                assert!(blocks.iter().filter(same).filter(|block| block.send >= 0).count() <= 32);
                blocks.push(Block { send, recv, channel, steps: Vec::new() });
            }
            "step" => {
                let steps = &mut algorithm.gpus.last_mut().unwrap().0.last_mut().unwrap().steps;
                assert_eq!(number("s"), steps.len() as i64);
                assert!(steps.len() < 256 && number("cnt") < 72);
                let wait = (number("depid"), number("deps"));
                if steps.last().is_some_and(|step: &Step| step.kind == "nop") {
                    assert!(wait.0 >= 0, "the step after a nop waits too");
                }
                steps.push(Step {
                    kind: values["type"].clone(),
                    src: place("srcbuf", "srcoff"),
                    dst: place("dstbuf", "dstoff"),
                    count: number("cnt"),
                    wait,
                    is_awaited: number("hasdep") == 1,
                });
            }
            other => panic!("{other}"),
        }
        if !is_single {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty());
    check_rules(&algorithm);
    algorithm
}

fn check_rules(algorithm: &Algorithm) {
    let chunks: i64 = algorithm.head["nchunksperloop"].parse().unwrap();
    let channels: i64 = algorithm.head["nchannels"].parse().unwrap();
    let ranks = algorithm.gpus.len() as i64;
    assert_eq!(algorithm.head["ngpus"], ranks.to_string());
    let coll = algorithm.head["coll"].as_str();
    for (gpu, (blocks, sizes)) in algorithm.gpus.iter().enumerate() {
        assert_eq!(sizes[0] * if coll == "allgather" { ranks } else { 1 }, chunks);
        assert_eq!(sizes[1] * if coll == "reduce_scatter" { ranks } else { 1 }, chunks);
        assert!(blocks.len() <= 128);
        for block in blocks {
            assert!(block.send != gpu as i64 && block.recv != gpu as i64 && block.channel < channels);
            assert!(!block.steps.is_empty() && block.steps.last().unwrap().kind != "nop");
            for step in &block.steps {
                let inside = |(buffer, first): (char, i64)| {
                    first >= 0 && first + step.count <= sizes["ios".find(buffer).unwrap()]
                };
                match step.kind.as_str() {
                    "s" => assert!(block.send >= 0 && inside(step.src)),
                    "r" => assert!(block.recv >= 0 && inside(step.dst)),
                    "rrc" => assert!(block.recv >= 0 && inside(step.src) && inside(step.dst)),
                    "cpy" => assert!(inside(step.src) && inside(step.dst)),
                    kind => assert!(kind == "nop" && step.wait.0 >= 0 && !step.is_awaited),
                }
                if step.wait.0 >= 0 {
                    let awaited = &blocks[step.wait.0 as usize].steps[step.wait.1 as usize];
                    assert!(awaited.is_awaited, "an awaited step says so");
                }
            }
        }
    }
}

type Buffers = Vec<BTreeMap<(char, i64), Chunk>>;

/// State of a thread block: its next step, its last awaited step, and the data of a step that has started.
#[derive(Default)]
struct State {
    next: usize,
    flag: Option<i64>,
    data: Option<Vec<Chunk>>,
}

struct Machine<'a> {
    algorithm: &'a Algorithm,
    states: Vec<Vec<State>>,
    buffers: Buffers,
    /// Messages under way, by sender, receiver and channel, and their largest number.
    channels: BTreeMap<(i64, i64, i64), VecDeque<Vec<Chunk>>>,
    capacity: usize,
}

/// Executes an algorithm in a random order of its thread blocks. A step reads when it starts and writes when it ends,
/// and other steps may run in between. A channel holds `capacity` messages.
pub fn execute(algorithm: &Algorithm, plan: &Plan, capacity: usize, seed: u64) -> Result<(), String> {
    let states = algorithm.gpus.iter().map(|(blocks, _)| blocks.iter().map(|_| State::default()).collect()).collect();
    let mut machine = Machine { algorithm, states, buffers: initial(plan), channels: BTreeMap::new(), capacity };
    let mut live: Vec<(usize, usize)> = (0..)
        .zip(&algorithm.gpus)
        .flat_map(|(gpu, (blocks, _))| (0..blocks.len()).map(move |block| (gpu, block)))
        .collect();
    let (mut random, mut idle) = (seed, 0);
    while !live.is_empty() {
        // After long idleness, each block is tried once.
        if idle > 20 * live.len() {
            if live.iter().all(|&(gpu, block)| !machine.advance(gpu, block)) {
                return Err("deadlock".into());
            }
            idle = 0;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = (random >> 33) as usize % live.len();
        let (gpu, block) = live[pick];
        idle = if machine.advance(gpu, block) { 0 } else { idle + 1 };
        if machine.states[gpu][block].next == algorithm.gpus[gpu].0[block].steps.len() {
            live.swap_remove(pick);
        }
    }
    if machine.channels.values().any(|channel| !channel.is_empty()) {
        return Err("messages are left".into());
    }
    compare(plan, &machine.buffers)
}

impl Machine<'_> {
    /// Starts or ends the next step of a block, and returns true if it could.
    fn advance(&mut self, gpu: usize, b: usize) -> bool {
        let block = &self.algorithm.gpus[gpu].0[b];
        let next = self.states[gpu][b].next;
        let Some(step) = block.steps.get(next) else { return false };
        let Some(data) = self.states[gpu][b].data.take() else {
            let is_free = step.wait.0 < 0 || self.states[gpu][step.wait.0 as usize].flag >= Some(step.wait.1);
            let data = if is_free { self.start(gpu, block, step) } else { None };
            let is_started = data.is_some();
            self.states[gpu][b].data = data;
            return is_started;
        };
        match step.kind.as_str() {
            "nop" => {}
            "s" => {
                let channel = self.channels.entry((gpu as i64, block.send, block.channel)).or_default();
                if channel.len() >= self.capacity {
                    self.states[gpu][b].data = Some(data);
                    return false;
                }
                channel.push_back(data);
            }
            _ => (step.dst.1..).zip(data).for_each(|(k, chunk)| {
                self.buffers[gpu].insert((step.dst.0, k), chunk);
            }),
        }
        if step.is_awaited {
            self.states[gpu][b].flag = Some(next as i64);
        }
        self.states[gpu][b].next += 1;
        true
    }

    /// Returns the data of a step that starts, or none if it has to wait for a message.
    fn start(&mut self, gpu: usize, block: &Block, step: &Step) -> Option<Vec<Chunk>> {
        let chunk = |k| self.buffers[gpu].get(&(step.src.0, step.src.1 + k)).cloned().unwrap_or_default();
        let own: Vec<Chunk> = (0..step.count).map(chunk).collect();
        if !step.kind.starts_with('r') {
            return Some(own);
        }
        let mut data = self.channels.get_mut(&(block.recv, gpu as i64, block.channel))?.pop_front()?;
        assert_eq!(data.len(), own.len(), "both ends have the same chunks");
        for (new, old) in data.iter_mut().zip(own).filter(|_| step.kind == "rrc") {
            // A contribution that is counted twice leaves a mark.
            let twice: Vec<_> = new.intersection(&old).map(|&(rank, unit)| (rank + 1_000_000, unit)).collect();
            new.extend(old);
            new.extend(twice);
        }
        Some(data)
    }
}

fn vector_buffer(operation: PlanOperation) -> char {
    if matches!(operation, PlanOperation::ReduceScatter | PlanOperation::AllReduce) { 'i' } else { 'o' }
}

/// Returns the buffers before the operation.
fn initial(plan: &Plan) -> Buffers {
    use PlanOperation as Op;
    let (ranks, units) = (plan.ranks, plan.units);
    let chunks = |rank: u32| -> std::ops::Range<u32> {
        let block = units / ranks;
        match plan.operation {
            Op::AllToAll => 0..block,
            Op::AllGather | Op::Gather => rank * block..(rank + 1) * block,
            Op::ReduceScatter | Op::AllReduce => 0..units,
            Op::Broadcast | Op::Scatter => 0..if rank == plan.root { units } else { 0 },
        }
    };
    let buffer = if plan.operation == Op::AllToAll { 'i' } else { vector_buffer(plan.operation) };
    let fill = |rank: u32| chunks(rank).map(|c| ((buffer, c.into()), BTreeSet::from([(rank, c)]))).collect();
    (0..ranks).map(fill).collect()
}

/// Compares the buffers with those after the operation.
fn compare(plan: &Plan, buffers: &Buffers) -> Result<(), String> {
    use PlanOperation as Op;
    let (ranks, units) = (plan.ranks, plan.units);
    let block = units / ranks;
    for rank in 0..ranks {
        let own = rank * block..(rank + 1) * block;
        let expected: Vec<(u32, Chunk)> = match plan.operation {
            Op::AllToAll => {
                let part = block / ranks;
                (0..block).map(|c| (c, BTreeSet::from([(c / part, rank * part + c % part)]))).collect()
            }
            Op::AllGather => (0..units).map(|c| (c, BTreeSet::from([(c / block, c)]))).collect(),
            Op::Gather if rank == plan.root => (0..units).map(|c| (c, BTreeSet::from([(c / block, c)]))).collect(),
            Op::Gather => Vec::new(),
            Op::AllReduce => (0..units).map(|c| (c, (0..ranks).map(|r| (r, c)).collect())).collect(),
            Op::ReduceScatter => own.map(|c| (c, (0..ranks).map(|r| (r, c)).collect())).collect(),
            Op::Broadcast => (0..units).map(|c| (c, BTreeSet::from([(plan.root, c)]))).collect(),
            Op::Scatter => own.map(|c| (c, BTreeSet::from([(plan.root, c)]))).collect(),
        };
        for (chunk, contributions) in expected {
            let held = buffers[rank as usize].get(&(vector_buffer(plan.operation), chunk.into()));
            if held != Some(&contributions) {
                return Err(format!("rank {rank}, chunk {chunk}: {held:?} instead of {contributions:?}"));
            }
        }
    }
    Ok(())
}
