//! Writes a run to measure the search with: `generate FOLDER CALLS RANKS [memory|gathers]`.
//!
//! Each rank exchanges halos with two neighbours: it starts two receives and two sends, computes, and waits.
//! Every tenth step all ranks add up a number. With `memory`, every step reads and writes arrays in two nests
//! of loops (22,000 accesses). With `gathers`, it also reads a thousand addresses without a rule.

use std::fs::{self, File};
use std::io::{self, BufWriter};

use hayase_trace::memory::{Gather, Level, Nest, Sink, Site as MemorySite, Writer as MemoryWriter};
use hayase_trace::{Call, Event, Header, Op, Site, Writer};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(calls), Some(ranks)) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: generate FOLDER CALLS RANKS [memory|gathers]");
        std::process::exit(2);
    };
    let (Ok(calls), Ok(ranks)) = (calls.parse::<u64>(), ranks.parse::<u32>()) else {
        eprintln!("CALLS and RANKS are numbers");
        std::process::exit(2);
    };
    let memory = match arguments.next().as_deref() {
        None => Memory::None,
        Some("memory") => Memory::Nests,
        Some(_) => Memory::Gathers,
    };
    fs::create_dir_all(&folder)?;
    for rank in 0..ranks {
        write(&folder, rank, ranks, calls / u64::from(ranks), memory)?;
    }
    Ok(())
}

/// Kind of memory accesses that are written.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    None,
    Nests,
    Gathers,
}

fn write(folder: &str, rank: u32, ranks: u32, calls: u64, memory: Memory) -> io::Result<()> {
    let out = BufWriter::new(File::create(format!("{folder}/rank-{rank:05}.hyt"))?);
    let mut writer = Writer::new(out, &Header::new(rank, ranks))?;
    for line in 0..8 {
        writer.site(line, &Site { name: format!("halo.c:{}", 10 + line), ..Site::default() })?;
    }
    let mut accesses = if memory != Memory::None {
        let out = BufWriter::new(File::create(format!("{folder}/rank-{rank:05}.mem"))?);
        let mut accesses = MemoryWriter::new(out, &[])?;
        for (address, write) in [(30, false), (31, true), (32, true), (33, false)] {
            accesses.site(&MemorySite { address, write, ..MemorySite::default() });
        }
        Some(accesses)
    } else {
        None
    };
    let (mut number, mut time, mut request, mut step) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut call = |event: Event, cpu: u64| {
        time += cpu;
        let event = Event { begin: time, end: time + 500, cpu: Some(cpu), ..event };
        time += 500;
        writer.event(&event)
    };
    let field = 1_u64 << 32;
    call(Event::new(Call::Init, 0, 0), 0)?;
    number += 1;
    while number + 7 < calls {
        let neighbours = [(rank + 1) % ranks, (rank + ranks - 1) % ranks];
        for (line, kind) in [(0, Call::Irecv), (2, Call::Isend)] {
            for (side, peer) in neighbours.into_iter().enumerate() {
                // A rank sends to the right what it receives from the left.
                let tag = if kind == Call::Irecv { 1 - side as i32 } else { side as i32 };
                let buffer = field + 8 * 1000 * (line + side as u64);
                request += 1;
                let (bytes, element, peer) = (8000, 8, peer as i32);
                let requests = vec![request];
                let site = 1 + line as u32 + side as u32;
                call(Event { peer, tag, bytes, element, buffer, requests, site, ..Event::new(kind, 0, 0) }, 300)?;
                number += 1;
            }
        }
        if let Some(accesses) = &mut accesses {
            accesses.interval(number)?;
            let rows = |stride| [Level { count: 100, stride: 8, step: 2 }, Level { count: 100, stride, step: 200 }];
            accesses.nest(&Nest::new(0, 8, field + 100_000, 0, &rows(800)))?;
            accesses.nest(&Nest::new(1, 8, field + 900_000, 1, &rows(800)))?;
            accesses.nest(&Nest::new(2, 8, field + 16_000, 20_000, &[Level { count: 2000, stride: 8, step: 1 }]))?;
            if memory == Memory::Gathers {
                let mut random = number + 1;
                let mut address = || {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    field + 2_000_000 + 8 * (random >> 44)
                };
                let addresses = (0..1000).map(|_| address()).collect();
                accesses.gather(&Gather { site: 3, size: 8, first: 22_000, step: 1, addresses })?;
            }
        }
        let requests = (request - 3..=request).collect();
        let uneven = 50_000 + 1000 * (step * 7 + u64::from(rank) * 13) % 10_000;
        call(Event { requests, site: 5, ..Event::new(Call::Waitall, 0, 0) }, uneven)?;
        number += 1;
        step += 1;
        if step.is_multiple_of(10) {
            let (op, bytes, element) = (Op::from_name("sum").unwrap_or_default(), 8, 8);
            let (buffer, buffer2) = (field - 64, field - 32);
            call(Event { op, bytes, element, buffer, buffer2, site: 6, ..Event::new(Call::Allreduce, 0, 0) }, 1000)?;
            number += 1;
        }
    }
    call(Event::new(Call::Finalize, 0, 0), 0)?;
    writer.finish()?;
    if let Some(accesses) = accesses {
        accesses.finish(Default::default())?;
    }
    Ok(())
}
