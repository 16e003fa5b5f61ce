//! Handmade programs: accesses and calls of ranks, recorded as the recorders would.
#![allow(dead_code, reason = "every test uses a part")]

use hayase_advice::model::{Advice, Dependence, Finding, RuleId};
use hayase_advice::overlap::{Called, Limits, Listener, Posted, Search, Spread};
use hayase_advice::search::{Options, put_together, search_rank};
use hayase_advice::stream::{Steps, TraceState};
use hayase_trace::memory::{Folder, Run, Site, Writer as MemoryWriter};
use hayase_trace::{Call, Event, Header, Site as CallSite, Writer};

/// Memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub site: u32,
    pub address: u64,
    pub size: u64,
    pub write: bool,
}

/// Interval, and position in it; `None` for the event after the interval.
pub type Place = (u64, Option<u64>);
pub type Spreads = ((Dependence, Place), (Dependence, Place));

/// Creates an access; sites 0 and 2 read, 1 and 3 write.
pub fn access(site: u32, address: u64, size: u64) -> Access {
    Access { site, address, size, write: site % 2 == 1 }
}

/// Calls of a rank, with the accesses before each.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub intervals: Vec<Vec<Access>>,
    pub events: Vec<Event>,
}

impl Recorded {
    /// Returns its stream and its file of accesses.
    pub fn files(&self, rank: u32, ranks: u32) -> (Vec<u8>, Vec<u8>) {
        let mut stream = Vec::new();
        let mut writer = Writer::new(&mut stream, &Header::new(rank, ranks)).unwrap();
        for line in 0..40 {
            writer.site(line, &CallSite { name: format!("program.c:{}", 100 + line), ..CallSite::default() }).unwrap();
        }
        for event in &self.events {
            writer.event(event).unwrap();
        }
        writer.finish().unwrap();

        let mut memory = Vec::new();
        let mut writer = MemoryWriter::new(&mut memory, &[]).unwrap();
        for site in 0..4 {
            writer.site(&Site { address: 10 + site, write: site % 2 == 1, ..Site::default() });
        }
        for (number, accesses) in self.intervals.iter().enumerate() {
            writer.interval(number as u64).unwrap();
            // As the recorder does: a run for each site, continued while address and position follow its rule.
            let mut folders: Vec<Folder> = (0..4).map(|_| Folder::default()).collect();
            let mut open: Vec<Option<Run>> = vec![None; 4];
            for (position, one) in accesses.iter().enumerate() {
                let (site, position) = (one.site as usize, position as u64);
                if let Some(run) = &mut open[site]
                    && run.size == one.size
                {
                    if run.count == 1 {
                        (run.stride, run.step) = (one.address as i64 - run.base as i64, position - run.first);
                        run.count = 2;
                        continue;
                    }
                    let next = Run { count: run.count + 1, ..*run };
                    if next.access(run.count) == Some((one.address, position)) {
                        *run = next;
                        continue;
                    }
                }
                let new = Run {
                    site: one.site,
                    size: one.size,
                    base: one.address,
                    first: position,
                    count: 1,
                    ..Run::default()
                };
                if let Some(run) = open[site].replace(new) {
                    folders[site].run(&run, &mut writer).unwrap();
                }
            }
            for (folder, run) in folders.iter_mut().zip(open) {
                if let Some(run) = run {
                    folder.run(&run, &mut writer).unwrap();
                }
                folder.flush(&mut writer).unwrap();
            }
        }
        writer.finish(Default::default()).unwrap();
        (stream, memory)
    }
}

/// Listener that keeps all communications.
#[derive(Default)]
pub struct AllSpreads(pub Vec<Spread>);

impl Listener for AllSpreads {
    fn spread(&mut self, spread: &Spread, _: &TraceState) {
        self.0.push(spread.clone());
    }

    fn posted(&mut self, _: &Posted<'_>) {}

    fn call(&mut self, _: &Called<'_>) {}
}

/// Names an address by its number, as a line.
pub fn names(_: u32, address: u64) -> Option<String> {
    Some(format!("program.c:{address}"))
}

/// Returns all communications of a rank.
pub fn run_of(recorded: &Recorded, limits: Limits) -> Vec<Spread> {
    let (stream, memory) = recorded.files(0, 4);
    let mut steps = Steps::new(stream.as_slice(), Some(memory.as_slice()), &names);
    let (mut search, mut all) = (Search::new(limits), AllSpreads::default());
    while let Some(step) = steps.next().unwrap() {
        search.step(step, &mut all);
    }
    search.finish(&mut all, &steps.finish());
    all.0.sort_by_key(|spread| spread.event);
    all.0
}

/// Program of a rank, call by call; the first is `Init`, the last `Finalize`.
#[derive(Clone, Debug, Default)]
pub struct Program(pub Vec<(Vec<Access>, Event)>);

impl Program {
    /// Adds a call after these accesses, which take 10 us.
    pub fn then(mut self, accesses: Vec<Access>, event: Event) -> Self {
        let cpu = Some(if accesses.is_empty() { 0 } else { 10_000 });
        self.0.push((accesses, Event { cpu, ..event }));
        self
    }

    /// Adds a call after `cpu` \[ns\] of computation without accesses.
    pub fn after(mut self, cpu: u64, event: Event) -> Self {
        self.0.push((Vec::new(), Event { cpu: Some(cpu), ..event }));
        self
    }

    fn recorded(&self) -> Recorded {
        let mut steps = vec![(Vec::new(), Event::new(Call::Init, 0, 0))];
        steps.extend(self.0.iter().cloned());
        steps.push((Vec::new(), Event { cpu: Some(0), ..Event::new(Call::Finalize, 0, 0) }));
        let (intervals, events) = steps.into_iter().unzip();
        Recorded { intervals, events }
    }
}

/// Creates a message of 8-byte elements at line 100 + `line`.
pub fn message(call: Call, line: u32, buffer: u64, bytes: u64, peer: i32) -> Event {
    Event { peer, tag: 1, bytes, element: 8, buffer, site: line + 1, ..Event::new(call, 0, 0) }
}

/// Searches the ranks.
pub fn advise(ranks: &[Program], memory: bool, options: &Options) -> Advice {
    let files: Vec<_> =
        (0..).zip(ranks).map(|(rank, program)| program.recorded().files(rank, ranks.len() as u32)).collect();
    let steps = |(stream, accesses): &'static (Vec<u8>, Vec<u8>), memory: bool| {
        Steps::new(stream.as_slice(), memory.then_some(accesses.as_slice()), &names)
    };
    let files: &'static Vec<_> = Box::leak(Box::new(files));
    let found = files.iter().map(|files| search_rank(steps(files, memory), options).unwrap()).collect();
    let advice = put_together(found, files.iter().map(|files| steps(files, false)).collect(), options).unwrap();
    advice.findings.iter().for_each(has_one_unit);
    advice
}

/// Checks that all times of a finding are written in its unit.
fn has_one_unit(finding: &Finding) {
    let plain = |word: &str| word.trim_matches(|c: char| "(),;:.".contains(c)).to_owned();
    for text in finding.text.iter().chain(&finding.caveats).chain([&finding.title]) {
        let words: Vec<String> = text.split_whitespace().map(plain).collect();
        for pair in words.windows(2).filter(|pair| pair[0].parse::<f64>().is_ok()) {
            let is_time = ["ps", "ns", "us", "ms", "s"].contains(&pair[1].as_str());
            assert!(!is_time || pair[1] == finding.unit.name(), "{}: {text}", finding.unit.name());
        }
    }
}

/// Returns the findings of a rule.
pub fn of(advice: &Advice, rule: RuleId) -> Vec<Finding> {
    advice.findings.iter().filter(|finding| finding.rule == rule).cloned().collect()
}
