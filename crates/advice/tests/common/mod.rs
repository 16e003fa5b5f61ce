//! Programs made by hand: accesses and calls of one rank, recorded as the recorders would.
#![allow(dead_code, reason = "every test uses a part")]

use hayase_advice::model::Dependence;
use hayase_advice::overlap::{Called, Limits, Listener, Posted, Search, Spread};
use hayase_advice::stream::{Known, Steps};
use hayase_trace::memory::{Folder, Run, Site, Writer as MemoryWriter};
use hayase_trace::{Event, Header, Site as CallSite, Writer};

/// An access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub site: u32,
    pub address: u64,
    pub size: u64,
    pub write: bool,
}

/// Interval, and position or `None` for the event after it.
pub type Place = (u64, Option<u64>);
pub type Spreads = ((Dependence, Place), (Dependence, Place));

/// Sites 0 and 2 read, 1 and 3 write.
pub fn access(site: u32, address: u64, size: u64) -> Access {
    Access { site, address, size, write: site % 2 == 1 }
}

/// A rank: what it accesses before each of its calls.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub intervals: Vec<Vec<Access>>,
    pub events: Vec<Event>,
}

impl Recorded {
    /// Its stream and its file of accesses.
    pub fn files(&self, rank: u32, ranks: u32) -> (Vec<u8>, Vec<u8>) {
        let mut stream = Vec::new();
        let mut writer = Writer::new(&mut stream, &Header::new(rank, ranks)).unwrap();
        for line in 0..40 {
            writer.site(line, &CallSite { address: 0, name: format!("program.c:{}", 100 + line) }).unwrap();
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
            // As the recorder does: a run a site, continued while address and position follow its rule.
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

/// Keeps everything.
#[derive(Default)]
pub struct All(pub Vec<Spread>);

impl Listener for All {
    fn spread(&mut self, spread: &Spread, _: &Known) {
        self.0.push(spread.clone());
    }

    fn posted(&mut self, _: &Posted<'_>) {}

    fn call(&mut self, _: &Called<'_>) {}
}

/// Names of addresses: their numbers as lines.
pub fn names(_: u32, address: u64) -> Option<String> {
    Some(format!("program.c:{address}"))
}

/// All communications of a rank.
pub fn run_of(recorded: &Recorded, limits: Limits) -> Vec<Spread> {
    let (stream, memory) = recorded.files(0, 4);
    let mut steps = Steps::new(stream.as_slice(), Some(memory.as_slice()), &names);
    let (mut search, mut all) = (Search::new(limits), All::default());
    while let Some(step) = steps.next().unwrap() {
        search.step(step, &mut all);
    }
    search.finish(&mut all, &steps.finish());
    all.0.sort_by_key(|spread| spread.event);
    all.0
}
